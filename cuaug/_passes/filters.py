"""Passes over a neighbourhood: Gaussian blur, sharpening, and JPEG."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, OutputArray, allocate_output
from .._gpu import devices
from .._program.records import GAUSSIAN_BLUR, MAX_TAPS
from . import blur_tiles, layouts
from .kernel_config import KernelConfig, kernel_config
from .op_chain import NO_OPS, OpChain, apply_ops_after
from .parameters import NULL_ARRAY, SampleParameters
from .run import axes_and_misalignment, batch_fields, pack_pointwise, run_pass

MAX_MMA_TAPS = 25  # on each axis: `max_mma_radius` of kernels/gpu/gaussian_digits.cuh


def check_kernel_size(parameter: str, kernel_size: tuple[int, int]) -> None:
    """The size must be odd; kernels and loops have room for `MAX_TAPS` weights on each axis."""
    if not all(size % 2 and 0 < size <= MAX_TAPS for size in kernel_size):
        value = kernel_size[0] if kernel_size[0] == kernel_size[1] else kernel_size
        raise ValueError(f"{parameter} must be odd and at most {MAX_TAPS}, got {value}")


def gaussian_blur(
    images: ImageBatch,
    kernel_size: tuple[int, int],
    sigma: SampleParameters,
    out: Any,
    dtype: str | None = None,
    ops: OpChain = NO_OPS,
) -> Any:
    """A Gaussian of `kernel_size` (x, y) pixels, then ops of `CHANNEL_OPS` on the blurred images, stored as `dtype`.

    `sigma` has columns for x and y.
    """
    check_kernel_size("kernel_size", kernel_size)
    dtype = images.dtype if dtype is None else dtype
    assert ops.names or dtype == images.dtype
    if ops.names and images.device < 0:
        return apply_ops_after(images, gaussian_blur(images, kernel_size, sigma, None), ops, dtype, out, NULL_ARRAY)
    _check.image_dtype(images.dtype)
    result = allocate_output(images, images.size, dtype, out)
    if images.samples * images.frames:
        config, tile_size = _blur_config(images, result, dtype, ops.names, kernel_size)
        batch = batch_fields(images, result.pointer, result.axes.strides, config)
        sigmas = (*sigma.table[:5], *(sigma.inline or (0.0, 0.0)))
        record = GAUSSIAN_BLUR.pack(*batch, *sigmas, *ops.parameters[:5], *kernel_size, *tile_size)
        run_pass(config, images, record, images.dtype)
    return images.library.to_user_array(result.array)


def _blur_config(
    images: ImageBatch, result: OutputArray, dtype: str, ops: tuple[str, ...], kernel_size: tuple[int, int]
) -> tuple[KernelConfig, tuple[int, int]]:
    """The launch, and the last fields of the record: `tile_width` and `tile_height`. `dtype`: of the result."""
    names, axes = (images.dtype, dtype, *ops), axes_and_misalignment(images, result)
    if uses_matrix_products(images, result, kernel_size):
        are_packed = layouts.tag(images.axes) == layouts.tag(result.axes) == "Packed"
        frames, multiprocessors = images.samples * images.frames, devices.multiprocessor_count(images.device)
        skeleton = blur_tiles.matrix_skeleton(images.channels, kernel_size[0] // 2, are_packed)
        runs = blur_tiles.blur_strips(skeleton, frames, images.channels, images.size, are_packed, multiprocessors)
        return kernel_config(skeleton, names, *axes, runs), (0, runs.rows)
    is_packed = layouts.tag(images.axes) == "Packed" and images.dtype != "float64"
    # kernels/passes/gaussian_blur.cu counts the elements of a packed row, and of the last tile, in 32 bits.
    tile_end = images.size[1] + blur_tiles.MAX_TILE_WIDTH + MAX_TAPS
    if is_packed and images.device >= 0 and images.channels * tile_end >= 1 << 31:
        got = f"{images.size[1]} pixels of {images.channels} channels"
        raise ValueError(f"rows must have fewer than 2**31 numbers, those beside the last tile included, got {got}")
    tile = blur_tiles.blur_tile(images.dtype, images.channels if is_packed else 1, *images.size, *kernel_size, len(ops))
    return kernel_config("gaussian_blur", names, *axes, tile), (tile.width, tile.height)


def uses_matrix_products(images: ImageBatch, result: OutputArray, kernel_size: tuple[int, int]) -> bool:
    """Whether kernels/passes/gaussian_blur_u8.cu or gaussian_blur_packed.cu blurs the images.

    These kernels mirror an index once, so the image must be larger than the radius, which counts as 1 in x even if the
    filter changes nothing. They count the rows of all runs, the elements of a row, and the bytes from one row to the
    next, in 32 bits.
    """
    height, width = images.size
    fits = max(kernel_size) <= MAX_MMA_TAPS and kernel_size[0] < 2 * width and kernel_size[1] < 2 * height and width > 1
    row_stride = max(abs(axes.strides[3]) for axes in (images.axes, result.axes))
    strides_fit = 8 * row_stride < 1 << 31  # an element has up to 8 bytes
    row_fits = width * images.channels < (1 << 31) - 128
    height_fits = height < (1 << 31) - (1 << 14)  # up to 1023 runs, each rounded up to a multiple of eight rows
    is_suitable = images.dtype == "uint8" and fits and strides_fit and row_fits and height_fits and images.device >= 0
    return is_suitable and devices.has_fast_integer_mma(images.device)


def adjust_sharpness(images: ImageBatch, factor: SampleParameters, out: Any) -> Any:
    """Blends images with their smoothed versions."""
    _check.image_dtype(images.dtype)
    return _filter("adjust_sharpness", images, factor, out)


def jpeg(images: ImageBatch, quality: SampleParameters, out: Any) -> Any:
    """Codes images as JPEG, and decodes them. A sample whose quality is below 1 stays as it is."""
    return _filter("jpeg", images, quality, out)


def _filter(skeleton: str, images: ImageBatch, parameter: SampleParameters, out: Any) -> Any:
    """A kernel with one parameter per sample, whose result has the size and dtype of the images."""
    result = allocate_output(images, images.size, images.dtype, out)
    if images.samples * images.frames:
        names = images.dtype, images.dtype
        config = kernel_config(skeleton, names, *axes_and_misalignment(images, result))
        record = pack_pointwise(images, result.pointer, result.axes.strides, config, parameter)
        run_pass(config, images, record, images.dtype)
    return images.library.to_user_array(result.array)
