"""Masks with the placements of their samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays.images import ImageBatch
from .._fusion.fill import mask_fill
from .placement import Placement, Sampling, placed_arrays
from .sample_masks import describe_masks, with_mask_axes
from .sample_target import Target, UnstackedBatch


def like_target(target: Target, arrays: list[Any], is_single: bool) -> Any:
    """The results of a target in the form of its value: one array, or a list. `is_single`: of `ParsedSample`."""
    if is_single and not target.sample_axis_added:
        return arrays[0]
    is_list = target.sample_axis_added or isinstance(target.value, list)
    return arrays if is_list and not isinstance(target.original, UnstackedBatch) else UnstackedBatch(arrays)


def placed_masks(target: Target, images: Sequence[ImageBatch], placement: Placement, fill: Any, is_single: bool) -> Any:
    """Masks of the images: nearest neighbour. `fill`: that of the images' `Sampling`."""
    masks = [target.value] if is_single else list(target.value)
    entries = [_mask_array(mask, image) for mask, image in zip(masks, images, strict=True)]
    non_empty = [i for i, (array, _, _) in enumerate(entries) if 0 not in array.shape]
    non_empty_placement = Placement(placement.box[non_empty], placement.size[non_empty])
    arrays, descriptions = [entries[i][0] for i in non_empty], [entries[i][1] for i in non_empty]
    sampling = Sampling(fill=mask_fill(fill, *(description.dtype for _, description, _ in entries)))
    placed = dict(zip(non_empty, placed_arrays(arrays, descriptions, non_empty_placement, sampling), strict=True))
    results = []
    for i, (array, _, axes) in enumerate(entries):
        if i in placed:
            results.append(placed[i][axes])
        else:
            results.append(_empty_masks(array[axes], placement.size[i].tolist()))
    return like_target(target, results, is_single)


def _mask_array(mask: Any, image: ImageBatch) -> tuple[Any, ImageBatch, Any]:
    """Masks with the axes that their description has, the description, and the index that removes added axes."""
    mask = with_mask_axes(mask, image)
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
