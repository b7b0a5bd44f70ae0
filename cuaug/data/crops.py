"""The images that a recipe starts from: decoded crops, resized to one size, or whole decoded images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..crop_resize import resized_crop
from .decode_regions import CropPlan, decode_regions
from .decoding import EncodedImages, SlotLayout
from .receivers import NumPyReceiver
from .targets import CropMap

_MAX_WASTED_BYTES = 1 << 29  # in a group: bytes of its slots minus bytes of its images


class CropDecode:
    """One crop of each image, drawn by (seed, step, ids), at the output size of a plan."""

    def __init__(self, encoded: EncodedImages, plan: CropPlan, draw_key: tuple[int, int, np.ndarray]) -> None:
        reject_small(encoded, plan.min_size)
        sizes = np.maximum(encoded.sizes, plan.min_size)  # bad images need a valid size for the computations below
        crops = plan.crop_boxes(sizes, *draw_key)
        (top, left), scale = crops.box[:, :2].T, (crops.size / crops.box[:, 2:])[:, ::-1]
        self.crop_map: CropMap | None = CropMap(scale, -np.stack([left, top], 1) * scale - crops.margin[:, [1, 0]])
        # Rows of `regions`: denominator of the scale, top, left, height, width.
        regions, self._boxes = decode_regions(crops, sizes, encoded.scalable)
        self._plan, self._margin = plan, crops.margin
        self.slots: SlotLayout = SlotLayout(encoded, regions, group_by_size(regions[:, 3:], kinds=crops.margin))

    def images(self, groups: Sequence[Any], receiver: NumPyReceiver) -> Any:
        """The crops, from the decoded slots of each group. [N, ...]"""
        crops = groups
        if self._plan.has_resize:
            pairs = zip(groups, self.slots.groups, strict=True)
            crops = [self._resize(images, indices, receiver) for images, indices in pairs]
        return crops[0] if len(crops) == 1 else receiver.concatenate(list(crops))[np.argsort(self.slots.order)]

    def _resize(self, images: Any, indices: np.ndarray, receiver: NumPyReceiver) -> Any:
        plan = self._plan
        # A group has one margin: rows and columns that the filter reads, and that are removed after the resize. For an
        # empty group it is 0.
        (height, width), margin = plan.size, self._margin[indices].max(0, initial=0).tolist()
        rows_above, columns_left, rows_below, columns_right = margin
        top, left, box_height, box_width = self._boxes[indices].T
        resized = resized_crop(
            images,
            top,
            left,
            box_height,
            box_width,
            (rows_above + height + rows_below, columns_left + width + columns_right),
            plan.interpolation,
            plan.antialias,
            layout=receiver.layout,
        )
        rows, columns = slice(rows_above, rows_above + height), slice(columns_left, columns_left + width)
        return receiver.window(resized, rows, columns)


class FullDecode:
    """Every image decoded as a whole, in its own size."""

    crop_map: CropMap | None = None  # targets stay in pixels of the image

    def __init__(self, encoded: EncodedImages) -> None:
        sizes = encoded.sizes
        # Rows (denominator of the scale, top, left, height, width): whole images at full resolution.
        regions = np.concatenate([np.ones_like(sizes[:, :1]), np.zeros_like(sizes), sizes], 1)
        self.slots: SlotLayout = SlotLayout(encoded, regions, group_by_size(sizes, sizes))

    def images(self, groups: Sequence[Any], receiver: NumPyReceiver) -> list[Any]:
        """The images, from the decoded slots of each group. [H, W, C] or [C, H, W] each"""
        images = dict(zip(self.slots.order.tolist(), (image for group in groups for image in group), strict=True))
        return [images[i] for i in range(len(images))]


def reject_small(encoded: EncodedImages, min_size: tuple[int, int]) -> None:
    """Records images below the size as bad."""
    for i in np.flatnonzero((encoded.sizes < min_size).any(1)):
        encoded.bad.setdefault(int(i), f"its size {tuple(encoded.sizes[i].tolist())} is below {min_size}")


def group_by_size(sizes: np.ndarray, kinds: np.ndarray) -> list[np.ndarray]:
    """Indices of images in groups of one kind; mostly a single group.

    The slots of a group are all as large as its largest image. A group is divided if that wastes too much memory.

    Args:
        sizes: (H, W) that the slot of an image must hold. [N, 2]
        kinds: Images of different kinds (rows) are in different groups. [N, K]
    """
    groups: list[np.ndarray] = []
    for kind in kinds[:1] if (kinds == kinds[:1]).all() else np.unique(kinds, axis=0):
        _append_groups(groups, np.flatnonzero((kinds == kind).all(1)), sizes)
    return groups or [np.arange(0)]


def _append_groups(groups: list[np.ndarray], indices: np.ndarray, sizes: np.ndarray) -> None:
    height, width = sizes[indices].T
    slot_pixels, image_pixels = len(indices) * height.max() * width.max(), height @ width
    if len(indices) == 1 or 3 * (slot_pixels - image_pixels) <= _MAX_WASTED_BYTES:
        groups.append(indices)
        return
    by_height = indices[np.argsort(height, kind="stable")]
    for half in np.array_split(by_height, 2):
        _append_groups(groups, half, sizes)
