"""The single images of a target, which may be a batch."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch, describe_images
from .sample_target import Target, image_layout


def single_images(target: Target, layout: str | None, is_single: bool) -> tuple[list[Any], list[ImageBatch]]:
    """Each image of a target, and its description. Images with an axis of time keep the axis of samples."""
    value, layout = target.value, target.layout or image_layout(target.original, layout)
    if isinstance(value, list):
        arrays = value
    elif is_single and not target.sample_axis_added:
        arrays = [value]
    else:
        layout = describe_images(value, layout).axes.layout
        has_time = "T" in layout
        arrays = [value[i : i + 1] if has_time else value[i] for i in range(int(value.shape[0]))]
        layout = layout if has_time else layout[1:]
    return arrays, [describe_images(array, layout) for array in arrays]
