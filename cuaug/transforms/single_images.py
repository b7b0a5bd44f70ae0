"""The single images of a target, which may be a batch."""

from __future__ import annotations

from typing import Any

from .._arrays.dlpack_library import DLPackLibrary
from .._arrays.images import ImageBatch, describe_images
from .._program.dtypes import ITEM_SIZE
from .sample_target import Target, image_layout


def single_images(target: Target, layout: str | None, is_single: bool) -> tuple[list[Any], list[ImageBatch]]:
    """Each image of a target, and its description. Images with an axis of time keep the axis of samples."""
    value, layout = target.value, target.layout or image_layout(target.original, layout)
    if isinstance(value, list):
        return value, [describe_images(array, layout) for array in value]
    if is_single and not target.sample_axis_added:
        return [value], [describe_images(value, layout)]
    batch = describe_images(value, layout)
    if "T" in batch.axes.layout:
        arrays = [value[i : i + 1] for i in range(batch.samples)]
        return arrays, [describe_images(array, batch.axes.layout) for array in arrays]
    arrays = list(value)
    first = describe_images(arrays[0], batch.axes.layout[1:], batch.library)
    # Copies do not lie `step` apart; an entry of a JAX array is a copy.
    if first.is_copy or isinstance(batch.library, DLPackLibrary):
        return arrays, [describe_images(array, batch.axes.layout[1:]) for array in arrays]
    step = batch.axes.strides[0] * ITEM_SIZE[batch.dtype]  # in bytes, to the next image
    pointer, dtype, device, axes, library, read_only, *_ = first
    return arrays, [
        ImageBatch(pointer + i * step, dtype, device, axes, library, read_only, array) for i, array in enumerate(arrays)
    ]
