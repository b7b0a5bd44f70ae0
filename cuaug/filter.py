"""Filters: every function whose pixel is made of its neighbours.

Arithmetic is float32, float64 for float64 images; integer results are rounded half to even. Parameters may be one
value or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from typing import Any

from . import _check
from ._arrays.images import describe_images as describe
from ._check import prefix_errors
from ._passes import filters, parameters
from ._passes.parameters import NULL_ARRAY, SampleParameters

__all__ = ["adjust_sharpness", "gaussian_blur"]


@prefix_errors("cuaug")
def gaussian_blur(
    images: Any, kernel_size: Any, sigma: Any = None, *, layout: str | None = None, out: Any = None
) -> Any:
    """Blur by a Gaussian, as torchvision: weights ``exp(-x**2 / (2 * sigma**2))`` whose sum is 1, across and down.

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C] or without N
        kernel_size: Odd, at most 127; or (x, y) of two such numbers.
        sigma: In pixels; a number, or (x, y) as a tuple or list of two; or, of each sample, a number or x and y.
            Default: ``0.3 * ((kernel_size - 1) * 0.5 - 1) + 0.8``. [N] or [N, 2]
        layout: Names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``. Beyond the border lies the
        reflected image, its edge not repeated, and again where the kernel reaches further than that.

    Raises:
        ValueError: ``kernel_size`` is even or too large, a host ``sigma`` is not greater than 0, or not one per sample.
        TypeError: A dtype, a library or a device that is not supported.

    >>> import numpy as np
    >>> gaussian_blur(np.array([[0, 0, 100, 0, 0]], np.uint8), 3, 1.0)
    array([[ 0, 27, 45, 27,  0]], dtype=uint8)
    """
    image = describe(images, layout)
    window = _kernel_size(kernel_size)
    if sigma is None:
        x, y = (0.3 * ((size - 1) * 0.5 - 1) + 0.8 for size in window)
        return filters.gaussian_blur(image, window, SampleParameters(NULL_ARRAY, (x, y)), out)
    _check.positive("sigma", sigma)
    return filters.gaussian_blur(image, window, parameters.xy_pairs("sigma", sigma, image), out)


@prefix_errors("cuaug")
def adjust_sharpness(images: Any, sharpness_factor: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Blend with a smoothed image, as torchvision: ``clamp(factor * in + (1 - factor) * smooth)``.

    Args:
        sharpness_factor: 0 is the smoothed image, 1 the image, more is sharper; one number or one per sample. [N]

    A smoothed pixel is the mean of itself, five times, and its eight neighbours; pixels of the border stay as they are.
    All other arguments and the errors are those of :func:`gaussian_blur`; the result is like ``images``, or ``out``.

    >>> import numpy as np
    >>> adjust_sharpness(np.array([[26, 26, 26], [26, 39, 26], [26, 26, 26]], np.uint8), 2.0)[1]
    array([26, 47, 26], dtype=uint8)
    """
    image = describe(images, layout)
    factor = parameters.checked_column("sharpness_factor", sharpness_factor, 0)
    return filters.adjust_sharpness(image, parameters.per_sample_columns("sharpness_factor", [factor], image), out)


def _kernel_size(value: Any) -> tuple[int, int]:
    """(x, y)"""
    sizes = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(sizes) not in (1, 2):
        raise ValueError(f"kernel_size must be an int or (x, y), got {value!r}")
    x, y = (_check.integer("kernel_size", size, 1) for size in (sizes[0], sizes[-1]))
    return x, y
