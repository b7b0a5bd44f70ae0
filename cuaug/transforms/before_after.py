"""`before_and_after`: a figure of samples before and after a call of a recipe, with their targets drawn on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import describe_images, with_channel_axis
from .._arrays.registry import library_of
from .._detection.box_shapes import box_shape
from .._figure import BoxLayer, MaskLayer, Picture, PointLayer, draw
from ..show import rgb
from .sample_kinds import is_array
from .sample_masks import describe_masks
from .sample_structure import ParsedSample
from .sample_target import REMOVED, Target, image_layout
from .targets import are_siblings, boxes_of
from .visible_pixels import visible_pixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 4
_MAX_LABEL = 24  # characters; a longer label would make the title wider than the image
_NUMBERS = "numbers of the objects"  # key of the target that `_with_object_numbers` adds


class _Frame(NamedTuple):
    """An image on the host; of a video, its first frame."""

    array: np.ndarray
    layout: str
    is_video: bool

    @property
    def planes(self) -> np.ndarray:
        """[C, H, W]"""
        planes = self.array.transpose([self.layout.index(axis) for axis in "CHW" if axis in self.layout])
        return planes if "C" in self.layout else planes[None]


def before_and_after(
    recipe: Any,
    parsed: ParsedSample,
    transform: Callable[[ParsedSample], tuple[Any, Any]],
    n: int,
    layout: str | None,
) -> Figure:
    """Two pictures for each image of the first `n` samples.

    `transform`: runs the recipe on a sample and returns the arguments of `ParsedSample.rebuild`.
    """
    samples = range(min(_check.integer("n", n, 1), parsed.samples))
    if not samples:
        raise ValueError("images must hold at least one image")
    before = _with_object_numbers(parsed)
    after = before.with_results(transform(before)[0])
    rows: list[list[Picture]] = [[] for _ in samples]
    for old, new in zip(before.targets_of("images"), after.targets_of("images"), strict=True):
        layouts = [_layout(old, i, layout) for i in samples]
        old_frames = [_frame(_entry(before, old, i), layouts[i]) for i in samples]
        results = [_entry(after, new, i) for i in samples]
        new_frames = [_frame(results[i], _result_layout(results[i], layouts[i])) for i in samples]
        old_pixels, new_pixels = visible_pixels(
            [frame.planes for frame in old_frames], [frame.planes for frame in new_frames], list(recipe.flattened())
        )
        for i in samples:
            rows[i].append(_picture(before, i, "before", old_frames[i], old_pixels[i], recipe.boxes.format))
            rows[i].append(_picture(after, i, "after", new_frames[i], new_pixels[i], recipe.boxes.format))
    pictures, per_sample = [picture for row in rows for picture in row], len(rows[0])
    columns = per_sample if len(rows) == 1 else max(_COLUMNS, per_sample)
    return draw(pictures, columns, "cuaug.transforms.Compose.show")


def _with_object_numbers(parsed: ParsedSample) -> ParsedSample:
    """The sample with one more target beside each target of boxes: the numbers of the boxes, which choose colours.

    A recipe that removes invalid boxes removes their numbers, as it removes areas.
    """
    targets = []
    for boxes in parsed.targets_of("boxes"):
        # The count of an array without axes is 1; the call refuses such boxes with its own message.
        counts = [math.prod(entry.shape[:1]) for entry in boxes.value]
        numbers: Any = [np.arange(count) for count in counts]
        numbers = numbers if isinstance(boxes.value, list) else np.stack(numbers)
        targets.append(Target("area", numbers, tuple((*path[:-1], _NUMBERS) for path in boxes.paths), None))
    return parsed.with_targets((*parsed.targets, *targets))


def _entry(parsed: ParsedSample, target: Target, i: int) -> Any:
    """The target's value for one sample."""
    has_sample_axis = not parsed.is_single or target.sample_axis_added or isinstance(target.value, list)
    return target.value[i] if has_sample_axis else target.value


def _layout(images: Target, i: int, layout: str | None) -> str:
    """The layout of the image of one sample."""
    array = images.value[i] if isinstance(images.value, list) else images.value
    return describe_images(array, images.layout or image_layout(images.original, layout)).axes.layout.replace("N", "")


def _result_layout(image: Any, layout: str) -> str:
    """The layout of a result; with an axis of channels if an image [H, W] has become RGB."""
    library = library_of(type(image))
    return layout if library is None or image.ndim == len(layout) else with_channel_axis(layout, library)


def _frame(image: Any, layout: str) -> _Frame:
    array = convert.host_values("images", image)
    if "T" not in layout:
        return _Frame(array, layout, False)
    return _Frame(array.take(0, layout.index("T")), layout.replace("T", ""), True)


def _picture(sample: ParsedSample, i: int, name: str, frame: _Frame, pixels: np.ndarray, box_format: str) -> Picture:
    """The image of sample `i`, with the sample's targets drawn on it."""
    boxes = [_box_layer(sample, target, i, box_format) for target in sample.targets_of("boxes")]
    masks = [
        _mask_layer(masks, frame, _numbers(sample, target, i))
        for target in sample.targets_of("masks")
        if (masks := _entry(sample, target, i)) is not REMOVED
    ]
    points = [
        PointLayer(convert.host_values("keypoints", _entry(sample, target, i)), _numbers(sample, target, i))
        for target in sample.targets_of("keypoints")
    ]
    labels = [
        _label_text(_entry(sample, target, i)) for target in _labels(sample) if not _is_per_box(sample, target, i)
    ]
    return Picture(rgb(pixels, 255), ", label ".join([f"{i} {name}", *labels]), boxes, masks, points)


def _numbers(sample: ParsedSample, target: Target, i: int) -> Any:
    """The numbers of the sample's boxes to which a target belongs; None if it belongs to none."""
    boxes = boxes_of(sample, target)
    numbers = [
        _entry(sample, area, i)
        for area in sample.targets_of("area")
        if boxes is not None and area.paths[0][-1] == _NUMBERS and are_siblings(area, boxes)
    ]
    return numbers[0] if numbers else None


def _box_layer(sample: ParsedSample, boxes: Target, i: int, box_format: str) -> BoxLayer:
    """The valid boxes; the others are NaN."""
    shape = box_shape(boxes.format or box_format)
    rows = shape.rows(convert.host_values("boxes", _entry(sample, boxes, i)).astype(np.float64))
    valid = (shape.sizes(rows) > 0).all(-1)
    validity = next(v for v, b in zip(sample.validity_targets, sample.targets_of("boxes"), strict=True) if b is boxes)
    if sample.has(validity):
        valid &= convert.host_values("valid", _entry(sample, validity, i)).astype(bool)
    labels = [
        target for target in _labels(sample) if boxes_of(sample, target) is boxes and _is_per_box(sample, target, i)
    ]
    captions = [_label_text(label) for label in _entry(sample, labels[0], i)] if labels else []
    corners = shape.corners(rows).reshape(-1, 4, 2)
    return BoxLayer(np.where(valid[:, None, None], corners, np.nan), _numbers(sample, boxes, i), captions)


def _mask_layer(masks: Any, frame: _Frame, numbers: Any) -> MaskLayer:
    """The masks of one image: one label map, or a stack of one mask per object, whose `numbers` choose the colours."""
    array = convert.host_values("masks", masks)
    array = array[0] if frame.is_video else array
    if not array.size:
        return MaskLayer(np.zeros((0, *frame.planes.shape[1:]), np.uint8))
    batch, is_plane = describe_masks(array, describe_images(frame.array, frame.layout), "")
    if is_plane:
        return MaskLayer(array[None])
    return MaskLayer(array if batch.axes.layout == "CHW" else np.moveaxis(array, -1, 0), numbers)


def _labels(sample: ParsedSample) -> list[Target]:
    """The targets that have a label, or labels, for each sample."""
    return [
        target
        for target in sample.targets_of("labels")
        if _is_sequence(target.value) and len(target.value) == sample.samples
    ]


def _is_per_box(sample: ParsedSample, labels: Target, i: int) -> bool:
    boxes, entry = boxes_of(sample, labels), _entry(sample, labels, i)
    return boxes is not None and _is_sequence(entry) and len(entry) == len(_entry(sample, boxes, i))


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (is_array(value) and value.ndim > 0)


def _label_text(label: Any) -> str:
    """A label as text: one class, several classes, or the two largest of the weights of all classes."""
    if is_array(label):
        texts = _array_texts(convert.host_values("labels", label))
    else:
        texts = [_label_text(entry) for entry in label] if _is_sequence(label) else [str(label)]
    text = ", ".join(texts)
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 3]}..."


def _array_texts(values: np.ndarray) -> list[str]:
    is_float = values.dtype.kind == "f"
    if is_float and values.ndim == 1 and values.min(initial=0) >= 0 and np.isclose(values.sum(), 1, atol=0.01):
        largest = np.argsort(-values)[:2]
        return [f"{index}: {values[index]:.0%}" for index in largest if values[index] > 0]
    return [f"{value:g}" if is_float else str(value) for value in values.reshape(-1).tolist()]
