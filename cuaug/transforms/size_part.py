"""The part of a recipe that runs one transform whose results have sizes of their own (`SizeTransform`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import ImageBatch
from .._check import BackendError, prefix_message
from .._detection.box_formats import to_edges
from .._fusion.host_draws import HostDraws
from .._gpu import streams
from . import point_map
from .boxes import Boxes
from .keypoints import Keypoints
from .moves import Move, canvas_edges
from .placement import Placement, Sampling, edges_of, placed_arrays
from .sample import describe_masks, id_array
from .sample_structure import ParsedSample, parse_sample
from .sample_target import Target, UnstackedBatch
from .several_sizes import SizeTransform
from .single_images import single_images
from .targets import transform_targets


class SizePart:
    """One `SizeTransform` of a recipe. `position`: that of the transform in the recipe."""

    def __init__(self, transform: SizeTransform, position: int, boxes: Boxes, keypoints: Keypoints) -> None:
        self.transform: SizeTransform = transform
        self._draws = HostDraws(transform.write_draws, transform.title, position)
        self._boxes, self._keypoints = boxes, keypoints

    @property
    def title(self) -> str:
        return self.transform.title

    def __call__(
        self, sample: Any, ids: Any, step: int | None, layout: str | None, get_key: Callable[[Any, int | None], Any]
    ) -> Any:
        """Transform images, or a sample of any structure, as `FusedPart`."""
        parsed = parse_sample(sample)
        seed, step = get_key(ids, step)
        try:
            draw = functools.partial(self._draw, ids=id_array(ids, parsed.samples), seed=seed, step=step)
            return parsed.rebuild(*self._results(parsed, layout, draw)) if parsed.samples else sample
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise

    def _draw(self, samples: np.ndarray, repetition: int, ids: np.ndarray, seed: int, step: int) -> np.ndarray:
        return self._draws.table(ids[samples], seed, step, repetition)

    def _results(self, parsed: ParsedSample, layout: str | None, draw: Any) -> tuple[dict[str, Any], Any]:
        """The results and sizes for `ParsedSample.rebuild`."""
        image_targets = parsed.targets_of("images")
        images_by_target = [single_images(target, layout, parsed.is_single) for target in image_targets]
        images = images_by_target[0][1]
        sizes = [image.size for image in images]
        _check_equal_sizes(image_targets, [[image.size for image in entry[1]] for entry in images_by_target])
        if any(streams.is_capturing(i.library.current_stream(i.device)) for i in images[:1] if i.device >= 0):
            raise BackendError(f"{self.title} cannot be captured: the graph would repeat the drawn sizes")
        edges = self._box_edges(parsed) if self.transform.reads_boxes else []
        placement = self.transform.place(np.array(sizes, np.int64), draw, edges)
        results: dict[str, Any] = {"images": []}
        for target, (arrays, descriptions) in zip(image_targets, images_by_target, strict=True):
            placed = placed_arrays(arrays, descriptions, placement, self.transform.sampling)
            if "T" in descriptions[0].axes.layout:
                placed = [array[0] for array in placed]
            results["images"].append(_like_target(target, placed, parsed.is_single))
        if parsed.targets_of("masks"):
            masks = [
                _placed_masks(target, images, placement, parsed.is_single) for target in parsed.targets_of("masks")
            ]
            results["masks"] = masks
        if parsed.targets_of("boxes") or parsed.targets_of("keypoints"):
            masks_per_object = () if "T" in images[0].axes.layout else results.get("masks", ())
            results |= self._moved_targets(parsed, sizes, placement, masks_per_object)
        return results, placement.size

    def _moved_targets(
        self,
        parsed: ParsedSample,
        sizes: Sequence[tuple[int, int]],
        placement: Placement,
        masks: Sequence[Any],
    ) -> dict[str, Any]:
        """Boxes, their validity masks, keypoints, and what `transform_targets` compacts with them."""
        if self.transform.reads_boxes:
            parsed = self._without_lost_boxes(parsed, sizes, placement)
        canvas = canvas_edges(tuple(placement.size[0].tolist()) if len(sizes) == 1 else placement.size)
        moves = [Move(placement.matrices(), canvas)]
        results: dict[str, Any] = transform_targets(parsed, moves, placement.size, self._boxes, self._keypoints, masks)
        return results

    def _box_edges(self, parsed: ParsedSample) -> list[np.ndarray]:
        """Left, top, right, bottom of the boxes of each sample, on the host: waits for a device on which they are."""
        targets = parsed.targets_of("boxes")
        if not targets:
            raise TypeError("the sample must have boxes, got none")
        value = targets[0].value
        if isinstance(value, list):
            lengths = [len(entry) for entry in value]
            rows = _host(convert.namespace(*value).concatenate(value))
            entries = np.split(rows, np.cumsum(lengths)[:-1])
        else:
            entries = list(_host(value))
        for entry in entries:
            _check.shape("boxes", entry, (None, 4))
        return [to_edges(entry, targets[0].format or self._boxes.format) for entry in entries]

    def _without_lost_boxes(
        self, parsed: ParsedSample, sizes: Sequence[tuple[int, int]], placement: Placement
    ) -> ParsedSample:
        """The sample, with (0, 0, 0, 0), which is not valid, in place of the boxes that the transform does not keep."""
        edges = edges_of(placement.box).astype(np.float64)
        unchanged = (placement.box[:, :2] == 0).all(1) & (placement.box[:, 2:] == sizes).all(1)
        edges[unchanged] = -np.inf, -np.inf, np.inf, np.inf

        def kept(target: Target, boxes: Any, sample_edges: np.ndarray) -> Any:
            values = to_edges(boxes, target.format or self._boxes.format)
            dtype = "float64" if point_map.is_integer(boxes.dtype) else convert.dtype_name(boxes.dtype)
            is_kept = self.transform.keeps(values, convert.asarray(sample_edges, like=boxes, dtype=dtype))
            return boxes * is_kept[..., None]  # keeps an array's type, which may state a format

        def replaced(target: Target) -> Target:
            if target.kind != "boxes":
                return target
            if isinstance(target.value, list):
                pairs = zip(target.value, edges[:, None], strict=True)
                return target._replace(value=[kept(target, *pair) for pair in pairs])
            return target._replace(value=kept(target, target.value, edges[:, None]))

        return parsed._replace(targets=tuple(replaced(target) for target in parsed.targets))


def _host(boxes: Any) -> np.ndarray:
    """Boxes as float64 on the host."""
    return convert.to_host(boxes) if not convert.is_host(boxes) else convert.host_array("boxes", boxes)


def _like_target(target: Target, arrays: list[Any], is_single: bool) -> Any:
    """The results of a target: one for the only sample, or a list."""
    if is_single and not target.sample_axis_added:
        return arrays[0]
    is_list = target.sample_axis_added or isinstance(target.value, list)
    return arrays if is_list and not isinstance(target.original, UnstackedBatch) else UnstackedBatch(arrays)


def _placed_masks(target: Target, images: Sequence[ImageBatch], placement: Placement, is_single: bool) -> Any:
    """Masks of the images: nearest neighbour, 0 outside."""
    masks = [target.value] if is_single else list(target.value)
    entries = [_mask_array(mask, image) for mask, image in zip(masks, images, strict=True)]
    filled = [i for i, (array, _, _) in enumerate(entries) if 0 not in array.shape]
    rows = Placement(placement.box[filled], placement.size[filled])
    arrays, descriptions = [entries[i][0] for i in filled], [entries[i][1] for i in filled]
    placed = dict(zip(filled, placed_arrays(arrays, descriptions, rows, Sampling()), strict=True))
    results = []
    for i, (array, _, axes) in enumerate(entries):
        if i in placed:
            results.append(placed[i][axes])
        else:
            results.append(_empty_masks(array, placement.size[i].tolist()))
    return _like_target(target, results, is_single)


def _mask_array(mask: Any, image: ImageBatch) -> tuple[Any, ImageBatch, Any]:
    """Masks with the axes that their description has, the description, and the index that removes added axes."""
    if tuple(getattr(mask, "shape", ())) == (0,):
        mask = mask.reshape((0, *image.size))
    description, is_plane = describe_masks(mask, image, "")
    has_time = "T" in image.axes.layout
    array = mask[..., None, :, :] if is_plane else mask
    index = (*((0,) if has_time else ()), ..., *((0, slice(None), slice(None)) if is_plane else ()))
    return (array[None] if has_time else array), description, index


def _empty_masks(masks: Any, size: Sequence[int]) -> Any:
    """A stack without masks, for images of this size: [0, H, W], or [H, W, 0]."""
    shape = tuple(masks.shape)
    first = len(shape) - (2 if shape[-1] else 3)  # the axis of H; W follows
    return masks.reshape((*shape[:first], *size, *shape[first + 2 :]))


def _check_equal_sizes(targets: Sequence[Target], sizes_by_target: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Several images of one sample share their draws, which depend on the size."""
    for target, sizes in zip(targets, sizes_by_target, strict=True):
        differing = [pair for pair in zip(sizes_by_target[0], sizes, strict=True) if pair[0] != pair[1]]
        if differing:
            expected, size = differing[0]
            raise ValueError(f"images of one sample must have one size, got {expected} and {size} ({target.name})")
