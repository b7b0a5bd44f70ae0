"""Passes over a neighbourhood: Gaussian blur, sharpening, and JPEG."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, allocate_output, describe_result
from .._program.records import GAUSSIAN_BLUR, MAX_TAPS
from . import grids, layouts
from .kernel_config import kernel_config
from .parameters import NULL_ARRAY, SampleParameters
from .pointwise import pointwise
from .run import axes_and_misalignment, batch_fields, pack_pointwise, run_pass


def check_kernel_size(parameter: str, kernel_size: tuple[int, int]) -> None:
    """The size must be odd; kernels and loops have room for `MAX_TAPS` weights on each axis."""
    if not all(size % 2 and 0 < size <= MAX_TAPS for size in kernel_size):
        value = kernel_size[0] if kernel_size[0] == kernel_size[1] else kernel_size
        raise ValueError(f"{parameter} must be odd and at most {MAX_TAPS}, got {value}")


def gaussian_blur(
    images: ImageBatch, kernel_size: tuple[int, int], sigma: SampleParameters, out: Any, dtype: str | None = None
) -> Any:
    """A Gaussian of `kernel_size` (x, y) pixels. `sigma` has columns for x and y. The result is rescaled to `dtype`."""
    check_kernel_size("kernel_size", kernel_size)
    dtype = images.dtype if dtype is None else dtype
    if dtype != images.dtype and images.device < 0:
        # CPU loops do not rescale. As the intermediates are float32, an integer result is rounded once, as by a kernel.
        no_parameters = SampleParameters(NULL_ARRAY, ())
        as_float = describe_result(pointwise(images, ("Rescale",), no_parameters, "float32", None), images)
        blurred = describe_result(gaussian_blur(as_float, kernel_size, sigma, None), images)
        return pointwise(blurred, ("Rescale",), no_parameters, dtype, out)
    _check.image_dtype(images.dtype)
    result = allocate_output(images, images.size, dtype, out)
    if images.samples * images.frames:
        is_packed = layouts.tag(images.axes) == "Packed" and images.dtype != "float64"
        pixel_channels = images.axes.extents[2] if is_packed else 1
        tile = grids.blur_tile(images.dtype, pixel_channels, *images.size, *kernel_size)
        config = kernel_config("gaussian_blur", (images.dtype, dtype), *axes_and_misalignment(images, result), tile)
        batch = batch_fields(images, result.pointer, result.axes.strides, config)
        sigmas = (*sigma.table[:5], *(sigma.inline or (0.0, 0.0)))
        record = GAUSSIAN_BLUR.pack(*batch, *sigmas, *kernel_size, tile.width, tile.height)
        run_pass(config, images, record, images.dtype)
    return images.library.to_user_array(result.array)


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
