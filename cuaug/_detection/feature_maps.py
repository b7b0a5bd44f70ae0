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


def own_channels(pooled: Any, layout: str) -> Any:
    """The channels that each bin has of its own: from maps [K, C * h * w, h, w] channel c * h * w + i in the i-th bin.

    Returns a copy [K, C, h, w] in the same layout and memory order.
    """
    xp = namespace(pooled)
    k, channels, height, width = (pooled.shape[axis] for axis in AXES[layout])
    bins = height * width
    if channels % bins:
        raise ValueError(f"input must have a multiple of {height} * {width} channels, got {channels}")
    channel_axis = layout.index("C")
    by_position = xp.moveaxis(pooled, channel_axis, 1).reshape((k, channels // bins, height, width, height, width))
    own = xp.diagonal(xp.diagonal(by_position, 0, 2, 4), 0, 2, 3)  # the position is the bin: [K, C, h, w]
    return xp.moveaxis(own * 1, 1, channel_axis)  # so far all are views, except in JAX
