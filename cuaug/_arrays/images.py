"""Describes image batches with axes in the order N, T, C, H, W, and allocates outputs to match."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._gpu import devices
from .._gpu.executor import DIRECT, Executor
from .._program.dtypes import IMAGE_DTYPES, ITEM_SIZE
from .._value_text import value_text
from .descriptor import (
    COPIED_VIEW,
    REPEATED_ELEMENTS,
    ArrayDescriptor,
    byte_range,
    contiguous_strides,
    repeats_elements,
)
from .pillow_library import PILLOW
from .protocol import Library
from .recording_library import executor_of
from .registry import library_of, result_library
from .tv_tensors import kind_of_type, wrap_like

# Default layouts by the number of axes.
_CHANNELS_FIRST = {4: "NCHW", 3: "CHW"}
_CHANNELS_LAST = {4: "NHWC", 3: "HWC", 2: "HW"}


class BatchAxes(NamedTuple):
    """Extents and strides (elements) in the order N, T, C, H, W; a missing axis has extent 1.

    `memory_order` holds positions in `layout`, from outermost to innermost in memory; None: C order, or not dense.
    """

    layout: str
    extents: tuple[int, int, int, int, int]
    strides: tuple[int, int, int, int, int]
    memory_order: tuple[int, ...] | None


class ImageBatch(NamedTuple):
    """The images of one call in memory.

    In a ragged batch, `pointer` points to a table with one row per image: the fields of `RAGGED_IMAGE`, then the
    arguments of the sample's draws as float64 (_passes/ragged.py). The stride of N is the length of a row, in units of
    8 bytes.
    """

    pointer: int
    dtype: str
    device: int  # -1: the CPU
    axes: BatchAxes
    library: Library
    read_only: bool
    owner: object  # keeps the memory alive
    executor: Executor = DIRECT  # runs each launch or loop at once
    is_copy: bool = False  # as in ArrayDescriptor
    drawn_size: tuple[int, int] | None = None  # (H, W) that the host drew: the recipe first resizes the image to it

    @property
    def samples(self) -> int:
        return self.axes.extents[0]

    @property
    def frames(self) -> int:
        return self.axes.extents[1]

    @property
    def ragged(self) -> bool:
        """Whether this is a table of images with sizes of their own: H and W are then 0, which no other batch has."""
        return self.axes.extents[3] == 0

    @property
    def channels(self) -> int:
        return self.axes.extents[2]

    @property
    def size(self) -> tuple[int, int]:
        return self.axes.extents[3:]


def describe_images(array: Any, layout: str | None = None, library: Library | None = None) -> ImageBatch:
    """Describes a batch; checks `images` and `layout` of a public function. `library`: that of `array`, if known."""
    library = library or result_library(array)
    if library is None:
        raise TypeError(
            f"images must be an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
            f"{_check.array_hint(array)}"
        )
    if layout is not None and not isinstance(layout, str):
        raise TypeError(f"layout must be one of {', '.join(_check.LAYOUTS)}, got {value_text(layout)}")
    if library is PILLOW and layout in _check.LAYOUTS and not isinstance(array, np.ndarray):
        layout = None  # images of Pillow are [H, W] or [H, W, C]; results are arrays at first, of any layout
    return _image_batch(library.describe(array), layout, library)


def _image_batch(descriptor: ArrayDescriptor, layout: str | None, library: Library) -> ImageBatch:
    if descriptor.device >= 0:
        devices.check_not_forked()
    axes = _batch_axes(descriptor.shape, descriptor.strides, layout, library.channels_first)
    pointer, _, _, dtype, device, read_only, owner, is_copy = descriptor
    return ImageBatch(pointer, dtype, device, axes, library, read_only, owner, executor_of(library), is_copy)


def describe_result(array: Any, images: ImageBatch, channels: int = 1) -> ImageBatch:
    """Describes the result of a pass over these images. `channels`: those of the result, if it may have gained some."""
    return describe_images(array, _result_layout(images, channels), images.library)


def _result_layout(images: ImageBatch, channels: int) -> str:
    """The images' layout; with an axis of channels if images [H, W] become several channels."""
    layout = images.axes.layout
    return layout if "C" in layout or channels == 1 else with_channel_axis(layout, images.library)


def with_channel_axis(layout: str, library: Library) -> str:
    """The layout of images [H, W] that gain an axis of channels, where their library has it."""
    return f"C{layout}" if library.channels_first else f"{layout}C"


def placeholder(shape: tuple[int, int, int, int], dtype: str) -> ImageBatch:
    """A batch without memory, for `Compose.plan(size=...)`. [N, H, W, C]"""
    _check.one_of("dtype", dtype, IMAGE_DTYPES)
    axes = _batch_axes(shape, contiguous_strides(shape), "NHWC", False)
    return ImageBatch(0, dtype, -1, axes, library_of(np.ndarray), True, None)  # type: ignore[arg-type]


class OutputArray(NamedTuple):
    """The array that a pass writes, with its pointer and axes for the record."""

    array: Any
    pointer: int
    axes: BatchAxes


def allocate_output(
    images: ImageBatch, size: tuple[int, int], dtype: str, out: Any = None, channels: int | None = None
) -> OutputArray:
    """A new array of the images' library, or of their tv_tensor type, for the result; or `out`, checked."""
    if out is not None:
        output = describe_out(out, images, size, dtype, channels)
        return OutputArray(out, output.pointer, output.axes)
    channels = channels or images.channels
    shape, axes = result_axes(images.axes, _result_layout(images, channels), size, channels)
    array = images.library.empty(shape, dtype, images.device, axes.memory_order)
    pointer = images.library.pointer(array)
    owner_type: Any = type(images.owner)
    if kind_of_type(owner_type) is not None:
        array = wrap_like(array, images.owner)
    return OutputArray(array, pointer, axes)


def describe_out(
    out: Any, images: ImageBatch, size: tuple[int, int], dtype: str, channels: int | None = None
) -> ImageBatch:
    """The caller's array for a result of this size and dtype, checked."""
    library, channels = images.library, channels or images.channels
    if library is PILLOW:
        raise TypeError("out cannot be given for a PIL image: pass numpy.asarray(image)")
    if result_library(out) is not library:
        raise TypeError(f"out must be a writable {library.name} array, got {type(out).__name__}")
    layout = _result_layout(images, channels)
    shape, _ = result_axes(images.axes, layout, size, channels)
    descriptor = library.describe(out)
    if descriptor.dtype != dtype or tuple(descriptor.shape) != shape:
        raise ValueError(f"out must be {shape} of {dtype}, got {tuple(descriptor.shape)} of {descriptor.dtype}")
    output = _image_batch(descriptor, layout, library)
    if output.read_only:
        raise TypeError(f"out must be a writable {library.name} array, got a read-only {type(out).__name__}")
    if output.is_copy:
        raise ValueError(COPIED_VIEW)
    if output.device != images.device:
        raise ValueError(
            f"out must be on the images' device, got {_device_name(output.device)} "
            f"for images on {_device_name(images.device)}"
        )
    if overlaps(images.pointer, _byte_range(images.axes, images.dtype), output):
        raise ValueError("out must not overlap the memory range of images")
    if repeats_elements(output.axes.strides, output.axes.extents):
        raise ValueError(REPEATED_ELEMENTS)
    return output


@functools.lru_cache(4096)
def result_axes(
    axes: BatchAxes, layout: str, size: tuple[int, int], channels: int
) -> tuple[tuple[int, ...], BatchAxes]:
    """Shape and axes of a result of this size, in the input's memory order if `layout` is the input's layout."""
    extents = dict(zip("NTCHW", (*axes.extents[:2], channels, *size), strict=True))
    shape = tuple(extents[axis] for axis in layout)
    memory_order = axes.memory_order if layout == axes.layout else None
    return shape, _ordered_axes(shape, contiguous_strides(shape, memory_order), layout, memory_order)


def _device_name(device: int) -> str:
    return "the CPU" if device < 0 else f"cuda:{device}"


@functools.lru_cache(4096)
def _batch_axes(
    shape: tuple[int, ...], strides: tuple[int, ...], layout: str | None, channels_first: bool
) -> BatchAxes:
    if layout is None:
        layout = default_layout(shape, channels_first)
    else:
        _check.one_of("layout", layout, _check.LAYOUTS)
        if len(layout) != len(shape):
            raise ValueError(f"layout {layout!r} needs {len(layout)} axes, got shape {tuple(shape)}")
    order = tuple(sorted(range(len(shape)), key=lambda axis: (-abs(strides[axis]), axis)))
    dense = all(
        strides[axis] == dense_stride
        for axis, dense_stride in zip(order, contiguous_strides(tuple(shape[a] for a in order)), strict=True)
        if shape[axis] > 1
    )
    is_permuted = dense and order != tuple(range(len(shape))) and 0 not in shape
    return _ordered_axes(shape, strides, layout, order if is_permuted else None)


def _ordered_axes(
    shape: tuple[int, ...], strides: tuple[int, ...], layout: str, memory_order: tuple[int, ...] | None
) -> BatchAxes:
    """The axes of an array whose order in memory is known."""
    _check.extents(layout, shape)
    extent = dict(zip(layout, shape, strict=True))
    stride = {axis: value if extent[axis] > 1 else 0 for axis, value in zip(layout, strides, strict=True)}
    # The kernels step through rows and columns in 32 bits.
    if abs(stride["H"]) >= 1 << 31 or abs(stride["W"]) >= 1 << 31:
        raise ValueError(
            f"images must have row and column strides below 2**31 elements, got {strides}; pass a contiguous copy"
        )
    return BatchAxes(
        layout,
        tuple([extent.get(axis, 1) for axis in "NTCHW"]),  # type: ignore[arg-type]
        tuple([stride.get(axis, 0) for axis in "NTCHW"]),  # type: ignore[arg-type]
        memory_order,
    )


@functools.lru_cache(4096)
def default_layout(shape: tuple[int, ...], channels_first: bool) -> str:
    """Channels first for torch, else last. Raises ValueError for other axes, and for ambiguous shapes."""
    layouts = _CHANNELS_FIRST if channels_first else _CHANNELS_LAST
    shape = tuple(shape)  # a torch.Size prints as "torch.Size(...)"
    layout = layouts.get(len(shape))
    if layout is None:
        supported = ", ".join(layouts.values())
        raise ValueError(
            f"images must have the axes {supported}, got shape {shape}; "
            f"for other axes pass layout=, one of {', '.join(_check.LAYOUTS)}"
        )
    if "C" in layout:
        other = (_CHANNELS_LAST if channels_first else _CHANNELS_FIRST)[len(shape)]
        _check_unambiguous(shape, layout, other)
    return layout


def _check_unambiguous(shape: tuple[int, ...], layout: str, other: str) -> None:
    """Refuses a shape that has more than 4 channels in its default layout, and another plausible reading.

    - CHW: a batch of grey images without a channel axis has the same shape.
    - HWC: the same, unless the channels are at most a quarter of the rows and columns: (64, 64, 13) is accepted.
    - NCHW, NHWC: the other layout has 1 to 4 channels. In addition, its images are at least as close to a square as
      those of the default layout, or the images of the default layout are strips of at least 4 to 1. As NCHW,
      (8, 224, 224, 3) is refused and (8, 512, 8, 4) is accepted.
    """
    extent, other_extent = dict(zip(layout, shape, strict=True)), dict(zip(other, shape, strict=True))
    channels, other_channels = extent["C"], other_extent["C"]
    if channels <= 4:
        return
    if len(shape) == 3:
        is_ambiguous = layout == "CHW" or 4 * channels > min(extent["H"], extent["W"])
        batch = "images[:, None]" if layout == "CHW" else "images[..., None]"
        hint = f", or {batch} if they are a batch of {shape[0]} grey images"
    else:
        is_ambiguous = 1 <= other_channels <= 4 and _aspect(extent) >= min(4, _aspect(other_extent))
        hint = ""
    if is_ambiguous:
        raise ValueError(
            f"images of shape {shape} are ambiguous: pass layout={layout!r} ({channels} channels) or "
            f"layout={other!r} ({other_channels} channels){hint}"
        )


def _aspect(extent: dict[str, int]) -> float:
    """The longer side divided by the shorter."""
    return max(extent["H"], extent["W"]) / max(min(extent["H"], extent["W"]), 1)


def overlaps(pointer: int, byte_offsets: tuple[int, int], other: ImageBatch) -> bool:
    """Whether the bytes at these offsets from `pointer`, a half-open range, overlap the memory of `other`."""
    low, high = _byte_range(other.axes, other.dtype)
    distance, has_memory = other.pointer - pointer, pointer != 0 and other.pointer != 0
    return has_memory and byte_offsets[0] < distance + high and distance + low < byte_offsets[1]


@functools.lru_cache(4096)
def _byte_range(axes: BatchAxes, dtype: str) -> tuple[int, int]:
    return byte_range(axes.strides, axes.extents, ITEM_SIZE[dtype])
