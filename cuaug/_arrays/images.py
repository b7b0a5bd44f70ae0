"""Image batches in canonical order: which axis is which, and an output to match."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._gpu import devices
from .._gpu.executor import DIRECT, Executor
from .._program.dtypes import ITEM_SIZE
from .descriptor import contiguous_strides
from .protocol import Library
from .registry import library_of

_FIRST = {4: "NCHW", 3: "CHW"}
_LAST = {4: "NHWC", 3: "HWC", 2: "HW"}


class BatchAxes(NamedTuple):
    """How a shape reads: extents and strides (elements) in the order N, T, C, H, W; an absent axis is 1 long."""

    layout: str
    extents: tuple[int, int, int, int, int]
    strides: tuple[int, int, int, int, int]
    memory_order: tuple[int, ...] | None  # the axes from outermost to innermost in memory, where that is not C order


class ImageBatch(NamedTuple):
    """A batch in memory, described.

    If ragged, each image has a place and a size of its own: `pointer` is that of a table of `RAGGED_IMAGE`, and further
    numbers (fusion/ragged.py), of as many numbers of 8 bytes as the axes say is the stride of a sample.
    """

    pointer: int
    dtype: str
    device: int
    axes: BatchAxes
    library: Library
    read_only: bool
    owner: object
    executor: Executor = DIRECT

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


def describe_images(
    array: Any, layout: str | None = None, library: Library | None = None, executor: Executor = DIRECT
) -> ImageBatch:
    """Describe a batch; raises what the public functions promise about `images` and `layout`. `library`: if known."""
    library = library or library_of(type(array))
    if library is None:
        raise TypeError(
            f"images must be an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
        )
    tensor = library.describe(array)
    if tensor.device >= 0:
        devices.check_not_forked()
    axes = _batch_axes(tensor.shape, tensor.strides, layout, library.channels_first)
    return ImageBatch(
        tensor.pointer, tensor.dtype, tensor.device, axes, library, tensor.read_only, tensor.owner, executor
    )


def redescribe(array: Any, images: ImageBatch) -> ImageBatch:
    """Describe an array that a pass over these images has returned."""
    return describe_images(array, images.axes.layout, images.library, images.executor)


def placeholder(shape: tuple[int, int, int, int], dtype: str) -> ImageBatch:
    """What is not there: only for plans. [N, H, W, C]"""
    _check.one_of("dtype", dtype, _check.IMAGE_DTYPES)
    axes = _batch_axes(shape, contiguous_strides(shape), "NHWC", False)
    return ImageBatch(0, dtype, -1, axes, library_of(np.ndarray), True, None)  # type: ignore[arg-type]


class OutputArray(NamedTuple):
    """The array to fill, and what a record says of it."""

    array: Any
    pointer: int
    axes: BatchAxes


def allocate_output(
    image: ImageBatch, size: tuple[int, int], dtype: str, out: Any = None, channels: int | None = None
) -> OutputArray:
    """An array for the result: fresh memory of the caller's library, or `out` if that fits."""
    shape, axes = result_axes(image.axes, size, channels or image.channels)
    library = image.library
    if out is None:
        array = library.empty(shape, dtype, image.device, axes.memory_order)
        return OutputArray(array, library.pointer(array), axes)
    target = describe_images(out, image.axes.layout)
    if target.library is not library or target.read_only:
        raise TypeError(f"out must be a writable {library.name} array, got {type(out).__name__}")
    if target.device != image.device:
        raise ValueError(
            f"out must be on the images' device, got {_device_name(target.device)} "
            f"for images on {_device_name(image.device)}"
        )
    if target.dtype != dtype or target.axes.extents != axes.extents:
        raise ValueError(f"out must be {shape} of {dtype}, got {tuple(out.shape)} of {target.dtype}")
    if overlaps(image.pointer, _byte_range(image.axes, image.dtype), target):
        raise ValueError("out must not share memory with images")
    if _repeats_elements(target.axes):
        raise ValueError("out must not repeat elements (stride 0)")
    return OutputArray(out, target.pointer, target.axes)


@functools.lru_cache(4096)
def result_axes(axes: BatchAxes, size: tuple[int, int], channels: int) -> tuple[tuple[int, ...], BatchAxes]:
    """Shape and axes of a result of this size, in the memory order of the input."""
    _check.size("the result's size", size)
    extents = dict(zip("NTCHW", (*axes.extents[:2], channels, *size), strict=True))
    shape = tuple(extents[axis] for axis in axes.layout)
    strides = contiguous_strides(shape, axes.memory_order)
    return shape, _batch_axes(shape, strides, axes.layout, False)._replace(memory_order=axes.memory_order)


def _device_name(device: int) -> str:
    return "the CPU" if device < 0 else f"cuda:{device}"


@functools.lru_cache(4096)
def _batch_axes(
    shape: tuple[int, ...], strides: tuple[int, ...], layout: str | None, channels_first: bool
) -> BatchAxes:
    if layout is None:
        layout = _default_layout(shape, channels_first)
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
        for axis, step in zip(order, contiguous_strides(tuple(shape[a] for a in order)), strict=True)
        if shape[axis] > 1
    )
    keep = dense and order != tuple(range(len(shape))) and 0 not in shape
    return BatchAxes(
        layout,
        tuple(extent.get(axis, 1) for axis in "NTCHW"),  # type: ignore[arg-type]
        tuple(stride.get(axis, 0) for axis in "NTCHW"),  # type: ignore[arg-type]
        order if keep else None,
    )


def _default_layout(shape: tuple[int, ...], channels_first: bool) -> str:
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


def overlaps(pointer: int, span: tuple[int, int], target: ImageBatch) -> bool:
    """Whether bytes from a pointer on, from the first to behind the last, are of `target`, too."""
    low, high = _byte_range(target.axes, target.dtype)
    apart = target.pointer - pointer
    return pointer != 0 and target.pointer != 0 and span[0] < apart + high and apart + low < span[1]


@functools.lru_cache(4096)
def _byte_range(axes: BatchAxes, dtype: str) -> tuple[int, int]:
    return byte_range(axes.strides, axes.extents, ITEM_SIZE[dtype])


def byte_range(strides: Sequence[int], extents: Sequence[int], item: int) -> tuple[int, int]:
    """The bytes that elements take, from their pointer on: the first, and the one behind the last."""
    reach = [stride * (extent - 1) for stride, extent in zip(strides, extents, strict=True)]
    return item * sum(min(r, 0) for r in reach), item * (sum(max(r, 0) for r in reach) + 1)


@functools.lru_cache(4096)
def _repeats_elements(axes: BatchAxes) -> bool:
    return any(stride == 0 and extent > 1 for stride, extent in zip(axes.strides, axes.extents, strict=True))
