"""Feature maps: their axes in both layouts, their memory, and the fields of `cuaug::FeatureMap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays.convert import namespace
from .._arrays.descriptor import ArrayDescriptor, contiguous_strides
from .._arrays.protocol import Library

AXES = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2)}  # positions of N, C, H and W
NULL_MAP: tuple[int, ...] = (0,) * 5


def extents(feature_map: ArrayDescriptor, layout: str) -> tuple[int, ...]:
    """N, C, H, W."""
    return tuple(feature_map.shape[axis] for axis in AXES[layout])


def map_fields(feature_map: ArrayDescriptor, layout: str) -> tuple[int, ...]:
    """`cuaug::FeatureMap`: pointer and strides of N, C, H, W."""
    return feature_map.pointer, *(feature_map.strides[axis] for axis in AXES[layout])


def is_channels_last(strides: Sequence[int], layout: str) -> bool:
    """Whether channels are the innermost axis in memory."""
    return bool(abs(strides[layout.index("C")]) < abs(strides[layout.index("W")]))


def memory_order(layout: str, channels_last: bool) -> tuple[int, ...]:
    """The axes of a layout from the outermost to the innermost in memory."""
    return tuple(layout.index(axis) for axis in ("NHWC" if channels_last else "NCHW"))


def shape_of(extents: Sequence[Any], layout: str) -> tuple[Any, ...]:
    """The shape, in the layout's order, of a map of these N, C, H, W."""
    by_axis = dict(zip("NCHW", extents, strict=True))
    return tuple(by_axis[axis] for axis in layout)


def allocate_map(
    library: Library, extents: tuple[int, ...], like: ArrayDescriptor, layout: str
) -> tuple[Any, tuple[int, ...]]:
    """A map of these N, C, H, W in the memory order, dtype and device of another, and its `map_fields`."""
    shape, order = shape_of(extents, layout), memory_order(layout, is_channels_last(like.strides, layout))
    array = library.empty(shape, like.dtype, like.device, order)
    strides = contiguous_strides(shape, order)
    return array, (library.pointer(array), *(strides[axis] for axis in AXES[layout]))


def spread_gradient(gradient: Any, layout: str) -> Any:
    """The gradient of position-sensitive pooling, in the form that the kernels of plain pooling take.

    There every bin pools every channel. [K, C, h, w] to [K, C * h * w, h, w], in the same layout. Bin i has zeros
    except in the channels that it pooled, ``c * h * w + i``.
    """
    xp, axis = namespace(gradient), layout.index("C")
    channels_first = xp.moveaxis(gradient, axis, 1)
    k, channels, height, width = channels_first.shape
    bins = height * width
    spread = xp.zeros((k, channels, bins, bins), dtype=gradient.dtype, device=gradient.device)
    xp.diagonal(spread, 0, 2, 3)[...] = channels_first.reshape(k, channels, bins)
    return xp.moveaxis(spread.reshape(k, channels * bins, height, width), 1, axis)
