"""`PadBatch`: images of several sizes as one batch, and the part of a recipe that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import ImageBatch, with_channel_axis
from .._check import prefix_message
from .._fusion.fill import FillByKind
from .._fusion.recipe import Recipe
from .._sizes import square_or_size
from ..typing import FillByType, PerChannel, Size
from . import assigned_attributes, ranges
from .boxes import Boxes
from .fused_part import FusedPart, GetKey
from .keypoints import Keypoints
from .sample_kinds import is_array
from .sample_rebuild import value_at
from .sample_structure import ParsedSample, parse_sample
from .sample_target import GatheredValues, Target, UnstackedBatch
from .single_images import single_images
from .transform import Transform

__all__ = ["PadBatch"]

_MAX_SIZES = 64  # a planned part is kept for at most this many (H, W); then all are dropped


class PadBatch(Transform):
    """Pad images of several sizes at the right and at the bottom, and make one batch of them.

    Masks are padded with 0, or their ``fill``. A list of masks [H, W] becomes a batch, too. Images that are in a dict
    gain ``"pixel_mask"`` beside them, a mask that is True on the pixels of an image: [N, H, W]. In a call with (images,
    targets), each image's dict of targets gains the mask of the image, [H, W]. Samples without a dict gain none. Later
    transforms do not move this mask: put ``PadBatch`` last. Images [H, W] become a batch [N, H, W], which needs an axis
    of channels before another transform.

    Args:
        size: (H, W) of the batch, or one number for both; None: the largest height and width of the images.
        size_divisor: The height and width of the batch are multiples of this number, if ``size`` is None.
        fill: Value of the padding: a number, or one per channel; or a dict by type (docs/targets.md).

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> images = [np.ones((1, 2, 1), np.uint8), np.ones((2, 1, 1), np.uint8)]
    >>> T.PadBatch()({"images": images})["pixel_mask"]
    array([[[ True,  True],
            [False, False]],
    <BLANKLINE>
           [[ True, False],
            [ True, False]]])
    """

    def __init__(self, size: Size | None = None, size_divisor: int = 1, fill: FillByType = 0) -> None:
        self.size: tuple[int, int] | None = None if size is None else square_or_size("size", size)
        self.size_divisor: int = _check.integer("size_divisor", size_divisor, 1)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    @property
    def is_fused(self) -> bool:
        return False


class _PadTo(Transform, has_description=False):
    """Pads images at the right and at the bottom; all results have this size."""

    def __init__(self, size: tuple[int, int], fill: PerChannel | FillByKind | None) -> None:
        self.size, self.fill = size, fill

    def write(self, recipe: Recipe) -> None:
        corner = [recipe.constant(name, 0.0) for name in ("pad_top", "pad_left")]
        options = {"reads_border": True, "border": "constant", "fill": self.fill}
        recipe.add_geometry("InverseTranslate", corner, size=self.size, pixel_aligned=True, **options)


class PadPart:
    """One `PadBatch` of a recipe."""

    def __init__(self, transform: PadBatch, boxes: Boxes, keypoints: Keypoints) -> None:
        self.transform: PadBatch = transform
        self._boxes, self._keypoints = boxes, keypoints
        self._parts: dict[tuple[int, int], FusedPart] = {}  # by the size of the batch

    @property
    def title(self) -> str:
        return self.transform.title

    def __call__(
        self, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, str | None]:
        """The padded sample, and the layout of its images. The arguments are those of `call_parts`."""
        parsed = parse_sample(sample)
        if not parsed.samples and (self.transform.size is None or not is_array(parsed.targets_of("images")[0].value)):
            return sample, layout
        parsed = parsed.with_targets(map(_stacked, parsed.targets))
        assigned_attributes.read(self.transform)
        try:
            images = parsed.targets_of("images")[0]
            descriptions = single_images(images, layout, parsed.is_single)[1] if parsed.samples else []
            sizes = [image.size for image in descriptions]
            batch_size = self._batch_size(sizes)
            part = self._part(batch_size)
            results, size = part.transform(parsed, get_key(ids, step), ids, layout)
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise
        mask = _mask_target(parsed, outermost_is_arguments=bool(names))
        if mask is not None:
            parsed = parsed.with_targets((*parsed.targets, mask))
            results["pixel_mask"] = [_pixel_masks(mask, results["images"][0], sizes, batch_size)]
        if isinstance(images.original, UnstackedBatch):
            layout = _batch_layout(descriptions[0], layout)
        return parsed.rebuild(results, size), layout

    def _batch_size(self, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
        height, width = np.array([(0, 0), *sizes]).max(0).tolist()
        if self.transform.size is None:
            divisor = self.transform.size_divisor
            return -(-height // divisor) * divisor, -(-width // divisor) * divisor
        if height > self.transform.size[0] or width > self.transform.size[1]:
            raise ValueError(
                f"images must fit into size {self.transform.size}, got a largest height of {height} and a largest "
                f"width of {width}"
            )
        return self.transform.size

    def _part(self, size: tuple[int, int]) -> FusedPart:
        """The passes that pad to this size."""
        part = self._parts.get(size)
        if part is None:
            if len(self._parts) >= _MAX_SIZES:
                self._parts = {}  # a new dict: another thread may still read the old one
            part = self._parts[size] = FusedPart([_PadTo(size, self.transform.fill)], 0, self._boxes, self._keypoints)
        return part


def _stacked(target: Target) -> Target:
    """A list of images, or of masks [H, W], as a batch whose sizes differ; other targets as they are."""
    if isinstance(target.original, GatheredValues) or not isinstance(target.original, (list, tuple)):
        return target
    if target.kind == "images" or (target.kind == "masks" and all(mask.ndim == 2 for mask in target.value)):
        return target._replace(original=UnstackedBatch(target.original))
    return target


def _batch_layout(image: ImageBatch, layout: str | None) -> str | None:
    """The layout of the batch of a list of images like this one. `layout`: that of the call.

    Images [H, W] need an axis of channels before the next transform: without one, it must not read N as H.
    """
    image_layout = image.axes.layout
    if image_layout == "HW":
        return f"N{with_channel_axis(image_layout, image.library)}"
    return None if layout is None else f"N{image_layout}"


def _mask_target(parsed: ParsedSample, outermost_is_arguments: bool) -> Target | None:
    """The target of the masks: beside images in dicts, else beside other targets in dicts; None if there is none.

    `outermost_is_arguments`: the outermost dict holds the arguments of the call, so that no entry can be added to it.
    """
    images, *others = parsed.targets_of("images") + [target for target in parsed.targets if target.kind != "images"]
    for neighbour in (images, *sorted(others, key=lambda target: len(target.paths[0]))):
        parents = [path[:-1] for path in neighbour.paths if path]
        if parents and all(
            (p or not outermost_is_arguments) and isinstance(value_at(parsed.sample, p), Mapping) for p in parents
        ):
            # The result has no type of the images: a mask of tv_tensors or of images of Pillow is a plain array.
            is_gathered = isinstance(neighbour.original, GatheredValues)
            original = GatheredValues([None] * parsed.samples) if is_gathered else None
            paths = tuple((*parent, "pixel_mask") for parent in parents)
            return images._replace(kind="pixel_mask", paths=paths, original=original)
    return None


def _pixel_masks(mask: Target, images: Any, sizes: Sequence[tuple[int, int]], size: tuple[int, int]) -> Any:
    """True on the pixels of each image. [N, H, W], a list of N arrays [H, W], or one of them"""
    like = images if is_array(images) else images[0]
    extents = convert.asarray(np.array(sizes).reshape(-1, 2), like=like, dtype="int32")[:, :, None, None]
    rows, columns = (convert.asarray(np.arange(side), like=like, dtype="int32") for side in size)
    masks = (rows[:, None] < extents[:, 0]) & (columns < extents[:, 1])
    if isinstance(mask.original, GatheredValues) or mask.sample_axis_added:
        return list(masks)
    return masks if isinstance(mask.value, list) or mask.value.ndim > 3 else masks[0]
