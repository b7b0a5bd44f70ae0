"""Image batches in canonical order: which axis is which, and an output to match."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _array, _check, _cuda, _dlpack

ONE_IMAGE = struct.Struct("Pq 6i")  # kernels/records/batch.cuh
_FIRST = {4: "NCHW", 3: "CHW"}
_LAST = {4: "NHWC", 3: "HWC", 2: "HW"}


class Axes(NamedTuple):
    """How a shape reads: extents and strides (elements) in the order N, T, C, H, W; an absent axis is 1 long."""

    layout: str
    extents: tuple[int, int, int, int, int]
    strides: tuple[int, int, int, int, int]
    order: tuple[int, ...] | None  # the axes from outermost to innermost in memory, where that is not C order


class Images(NamedTuple):
    """A batch in memory, described.

    If ragged, each image has a place and a size of its own: `pointer` is that of a table of `ONE_IMAGE`, and further
    numbers (fusion/ragged.py), of as many numbers of 8 bytes as the axes say is the stride of a sample.
    """

    pointer: int
    dtype: str
    device: int
    axes: Axes
    library: _array.Library
    read_only: bool
    owner: object

    @property
    def samples(self) -> int:
        return self.axes.extents[0]

    @property
    def ragged(self) -> bool:
        return self.axes.extents[3] == 0

    @property
    def channels(self) -> int:
        return self.axes.extents[2]

    @property
    def size(self) -> tuple[int, int]:
        return self.axes.extents[3:]


def images(array: Any, layout: str | None = None, library: _array.Library | None = None) -> Images:
    """Describe a batch; raises what the public functions promise about `images` and `layout`. `library`: if known."""
    library = library or _array.library(type(array))
    if library is None:
        raise TypeError(
            f"images must be an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
        )
    tensor = library.describe(array)
    if tensor.device >= 0:
        _cuda.ready()
    axes = _axes(tensor.shape, tensor.strides, layout, library.channels_first)
    return Images(tensor.pointer, tensor.dtype, tensor.device, axes, library, tensor.read_only, tensor.owner)


def imagined(shape: tuple[int, int, int, int], dtype: str) -> Images:
    """What is not there: only for plans. [N, H, W, C]"""
    _check.one_of("dtype", dtype, _check.IMAGE_DTYPES)
    axes = _axes(shape, _dlpack.contiguous(shape), "NHWC", False)
    return Images(0, dtype, -1, axes, _array.library(np.ndarray), True, None)  # type: ignore[arg-type]


class Result(NamedTuple):
    """The array to fill, and what a record says of it."""

    array: Any
    pointer: int
    axes: Axes


def like(image: Images, size: tuple[int, int], dtype: str, out: Any = None, channels: int | None = None) -> Result:
    """An array for the result: fresh memory of the caller's library, or `out` if that fits."""
    shape, axes = result_axes(image.axes, size, channels or image.channels)
    library = image.library
    if out is None:
        array = library.empty(shape, dtype, image.device, axes.order)
        return Result(array, library.pointer(array), axes)
    target = images(out, image.axes.layout)
    if target.library is not library or target.read_only:
        raise TypeError(f"out must be a writable {library.name} array, got {type(out).__name__}")
    if target.device != image.device:
        raise ValueError(
            f"out must be on the images' device, got {_place(target.device)} for images on {_place(image.device)}"
        )
    if target.dtype != dtype or target.axes.extents != axes.extents:
        raise ValueError(f"out must be {shape} of {dtype}, got {tuple(out.shape)} of {target.dtype}")
    if overlap(image.pointer, _span(image.axes, image.dtype), target):
        raise ValueError("out must not share memory with images")
    if _repeats(target.axes):
        raise ValueError("out must not repeat elements (stride 0)")
    return Result(out, target.pointer, target.axes)


@functools.lru_cache(4096)
def result_axes(axes: Axes, size: tuple[int, int], channels: int) -> tuple[tuple[int, ...], Axes]:
    """Shape and axes of a result of this size, in the memory order of the input."""
    extents = dict(zip("NTCHW", (*axes.extents[:2], channels, *size), strict=True))
    shape = tuple(extents[axis] for axis in axes.layout)
    strides = _dlpack.contiguous(shape, axes.order)
    return shape, _axes(shape, strides, axes.layout, False)._replace(order=axes.order)


def _place(device: int) -> str:
    return "the CPU" if device < 0 else f"cuda:{device}"


@functools.lru_cache(4096)
def _axes(shape: tuple[int, ...], strides: tuple[int, ...], layout: str | None, channels_first: bool) -> Axes:
    if layout is None:
        layout = _default(shape, channels_first)
    else:
        _check.one_of("layout", layout, _check.LAYOUTS)
        if len(layout) != len(shape):
            raise ValueError(f"layout {layout!r} needs {len(layout)} axes, got shape {shape}")
    _check.extents(layout, shape)
    extent = dict(zip(layout, shape, strict=True))
    stride = {axis: step if extent[axis] > 1 else 0 for axis, step in zip(layout, strides, strict=True)}
    if any(
        abs(stride.get(axis, 0)) >= 1 << 31 for axis in "HW"
    ):  # the kernels step through rows and columns in 32 bits
        raise ValueError(
            f"images must have row and column strides below 2**31 elements, got {strides}; pass a contiguous copy"
        )
    order = tuple(sorted(range(len(shape)), key=lambda axis: (-abs(strides[axis]), axis)))
    dense = all(
        strides[axis] == step
        for axis, step in zip(order, _dlpack.contiguous(tuple(shape[a] for a in order)), strict=True)
        if shape[axis] > 1
    )
    keep = dense and order != tuple(range(len(shape))) and 0 not in shape
    return Axes(
        layout,
        tuple(extent.get(axis, 1) for axis in "NTCHW"),  # type: ignore[arg-type]
        tuple(stride.get(axis, 0) for axis in "NTCHW"),  # type: ignore[arg-type]
        order if keep else None,
    )


def _default(shape: tuple[int, ...], channels_first: bool) -> str:
    """Channels first for torch, else last; a shape that reads absurdly that way but well the other is refused."""
    layouts, shape = _FIRST if channels_first else _LAST, tuple(shape)  # torch.Size prints otherwise
    layout = layouts.get(len(shape))
    if layout is None:
        known = ", ".join(layouts.values())
        raise ValueError(
            f"images must have the axes {known}, got shape {shape}; "
            f"name others with layout=, one of {', '.join(_check.LAYOUTS)}"
        )
    if "C" in layout:
        other = (_LAST if channels_first else _FIRST)[len(shape)]
        here, there = dict(zip(layout, shape, strict=True)), dict(zip(other, shape, strict=True))
        long, short = max(here["H"], here["W"]), min(here["H"], here["W"])
        if there["C"] in (1, 3, 4) and here["C"] > 4 and long >= 4 * short:
            raise ValueError(
                f"images of shape {shape} read as {layout} have {here['C']} channels, {here['H']}x{here['W']} pixels; "
                f"pass layout={other!r}, or layout={layout!r} if that is meant"
            )
    return layout


def overlap(pointer: int, span: tuple[int, int], target: Images) -> bool:
    """Whether bytes from a pointer on, from the first to behind the last, are of `target`, too."""
    low, high = _span(target.axes, target.dtype)
    apart = target.pointer - pointer
    return pointer != 0 and target.pointer != 0 and span[0] < apart + high and apart + low < span[1]


@functools.lru_cache(4096)
def _span(axes: Axes, dtype: str) -> tuple[int, int]:
    return span(axes.strides, axes.extents, _array.ITEM_SIZE[dtype])


def span(strides: Sequence[int], extents: Sequence[int], item: int) -> tuple[int, int]:
    """The bytes that elements take, from their pointer on: the first, and the one behind the last."""
    reach = [stride * (extent - 1) for stride, extent in zip(strides, extents, strict=True)]
    return item * sum(min(r, 0) for r in reach), item * (sum(max(r, 0) for r in reach) + 1)


@functools.lru_cache(4096)
def _repeats(axes: Axes) -> bool:
    return any(stride == 0 and extent > 1 for stride, extent in zip(axes.strides, axes.extents, strict=True))
