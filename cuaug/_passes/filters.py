"""Passes over a neighbourhood: Gaussian blur and sharpening."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, allocate_output, redescribe
from .._program.records import GAUSSIAN_BLUR, MAX_TAPS
from . import grids as _grids
from . import kernel_config as _plans
from . import layouts as _layouts
from .parameters import NULL_ARRAY, SampleParameters
from .pointwise import pointwise
from .run import axes_and_misalignment, batch_fields, pack_pointwise, run_pass


def check_kernel_size(parameter: str, window: tuple[int, int]) -> None:
    """Kernels and loops have room for `MAX_TAPS` weights on each axis."""
    if not all(size % 2 and 0 < size <= MAX_TAPS for size in window):
        given = window[0] if window[0] == window[1] else window
        raise ValueError(f"{parameter} must be odd and at most {MAX_TAPS}, got {given}")


def gaussian_blur(
    image: ImageBatch, window: tuple[int, int], sigma: SampleParameters, out: Any, dtype: str | None = None
) -> Any:
    """A Gaussian of `window` (x, y) pixels, across and down; `sigma` holds those of x and y. Scaled to `dtype`."""
    check_kernel_size("kernel_size", window)
    dtype = image.dtype if dtype is None else dtype
    if dtype != image.dtype and image.device < 0:  # the loops do one thing at a time, but round once as the kernel
        made = redescribe(pointwise(image, ("Rescale",), SampleParameters(NULL_ARRAY, ()), "float32", None), image)
        blurred = redescribe(gaussian_blur(made, window, sigma, None), image)
        return pointwise(blurred, ("Rescale",), SampleParameters(NULL_ARRAY, ()), dtype, out)
    if image.dtype not in _check.IMAGE_DTYPES:
        raise TypeError(f"images must be one of {', '.join(_check.IMAGE_DTYPES)}, got {image.dtype}")
    result = allocate_output(image, image.size, dtype, out)
    if image.samples * image.axes.extents[1]:
        together = image.axes.extents[2] if _layouts.tag(image.axes) == "Packed" and image.dtype != "float64" else 1
        tile = _grids.blur_tile(image.dtype, together, *image.size, *window)
        plan = _plans.kernel_config("gaussian_blur", (image.dtype, dtype), *axes_and_misalignment(image, result), tile)
        batch = batch_fields(image, result.pointer, result.axes.strides, plan)
        sigmas = (*sigma.table[:5], *(sigma.inline or (0.0, 0.0)))
        data = GAUSSIAN_BLUR.pack(*batch, *sigmas, *window, tile.width, tile.height)
        run_pass(plan, image, data, image.dtype)
    return image.library.to_user_array(result.array)


def adjust_sharpness(image: ImageBatch, factor: SampleParameters, out: Any) -> Any:
    """Blended with its smoothed self."""
    if image.dtype not in _check.IMAGE_DTYPES:
        raise TypeError(f"images must be one of {', '.join(_check.IMAGE_DTYPES)}, got {image.dtype}")
    result = allocate_output(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.kernel_config(
            "adjust_sharpness", (image.dtype, image.dtype), *axes_and_misalignment(image, result)
        )
        data = pack_pointwise(image, result.pointer, result.axes.strides, plan, factor)
        run_pass(plan, image, data, image.dtype)
    return image.library.to_user_array(result.array)
