"""Groups of a sample's images: those of a group go through the recipe as one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert
from .._arrays.images import ImageBatch, default_layout, describe_images
from .._arrays.registry import result_library
from .params import Params
from .sample_target import Target, UnstackedBatch


class Group(NamedTuple):
    """Images that go through the recipe as one batch."""

    indices: np.ndarray  # of the samples in the call [n]
    images: list[ImageBatch]  # the images of a ragged batch one by one; else the batch as the only entry
    batch: ImageBatch
    params: Params


def group_images(
    value: Any, batch_key: Any, layout: str | None, samples: int
) -> list[tuple[np.ndarray, list[ImageBatch]]]:
    """Indices and images of each group: one batch, or the single images of a ragged batch.

    An array is a batch, and so is a list of arrays of one library and shape with channels. Other images with channels
    are grouped by `batch_key`, a function of an image, whatever their sizes, or by size where it gives None; each image
    [H, W] is a group of its own.
    """
    if not isinstance(value, list):
        return [(np.arange(samples), [describe_images(value, layout)])]
    if not value:
        raise ValueError("images must be at least one, got an empty list")
    if len({(result_library(array), array.shape, str(array.dtype)) for array in value}) == 1 and value[0].ndim == 3:
        return [(np.arange(samples), [_stack(value, layout)])]
    groups = []
    for key, indices, images in _groups([describe_images(array, layout) for array in value], batch_key):
        if len(images) > 1 and key == images[0].size:
            images = [_stack([value[i] for i in indices], images[0].axes.layout)]
        groups.append((np.array(indices), images))
    return groups


def group_single_images(images: Sequence[ImageBatch], batch_key: Any) -> list[tuple[np.ndarray, list[ImageBatch]]]:
    """As `group_images`, of images for all of which `batch_key` gives a key."""
    return [(np.array(indices), group) for _, indices, group in _groups(images, batch_key)]


def _groups(images: Sequence[ImageBatch], batch_key: Any) -> Iterator[tuple[Any, list[int], list[ImageBatch]]]:
    """The key, the indices and the images of each group of images that can form one batch.

    The key is the `batch_key`, or the size if that is None, or for an image [H, W] its index.
    """
    indices_by_key: dict[Any, list[int]] = {}
    for i, image in enumerate(images):
        kind = image.library, image.dtype, image.device, image.axes.layout, image.channels
        key = (*kind, (batch_key(image) or image.size) if "C" in image.axes.layout else i)
        indices_by_key.setdefault(key, []).append(i)
    for (*_, key), indices in indices_by_key.items():
        yield key, indices, [images[i] for i in indices]


def _stack(images: Sequence[Any], layout: str | None) -> ImageBatch:
    """The images as one batch. `layout`: that of an image."""
    batch = convert.namespace(images[0]).stack(images)
    library: Any = result_library(batch)
    layout = layout or default_layout(images[0].shape, library.channels_first)
    return describe_images(batch, f"N{layout}", library)


def in_call_order(groups: Sequence[Group], values: Sequence[Any]) -> list[Any]:
    """One entry per sample in the order of the call; `values` has a sequence of entries for each group."""
    ordered: list[Any] = [None] * sum(len(group.indices) for group in groups)
    for group, group_values in zip(groups, values, strict=True):
        for index, value in zip(group.indices.tolist(), group_values, strict=True):
            ordered[index] = value
    return ordered


def stack_equal_sizes(target: Target, arrays: list[Any]) -> Any:
    """The arrays of an `UnstackedBatch` as a batch, if they have one size; else the list, in its type."""
    if not isinstance(target.original, UnstackedBatch):
        return arrays
    if len({tuple(array.shape) for array in arrays}) > 1:
        return UnstackedBatch(arrays)
    return convert.namespace(arrays[0]).stack(arrays)
