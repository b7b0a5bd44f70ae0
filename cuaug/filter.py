"""Filters: functions that compute a pixel from its neighbourhood.

Arithmetic is in float32, for float64 images in float64, and in integers for `jpeg`; integer results are rounded half to
even. A GPU blurs uint8 images with a kernel of up to 25 pixels in integers: weights are multiples of 2^-16, and results
are rounded half up. Parameters may be one value or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from . import _check
from ._arrays import convert
from ._arrays.images import describe_images
from ._check import prefix_errors
from ._passes import filters, parameters
from ._passes.parameters import NULL_ARRAY, SampleParameters
from ._passes.replay import replayed
from ._sizes import kernel_extents
from .typing import AnyArray, Array, Layout, Numbers, PerSample, Size

__all__ = ["adjust_sharpness", "gaussian_blur", "jpeg"]


@prefix_errors
@replayed
def gaussian_blur(
    images: Array,
    kernel_size: Size,
    sigma: Numbers | None = None,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Blur along both axes, as torchvision: weights proportional to ``exp(-x**2 / (2 * sigma**2))``, with sum 1.

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C] or without N
        kernel_size: An odd number, at most 127, or (x, y).
        sigma: In pixels: a number, (x, y) as a tuple or list, or for each sample a number or x and y. Default:
            ``0.3 * ((kernel_size - 1) * 0.5 - 1) + 0.8``. [N] or [N, 2]
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype, in other memory than ``images``.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``. The border is "reflect", where
        the image is mirrored, without its edge pixel, as often as the kernel needs.

    Raises:
        ValueError: ``kernel_size`` is even or too large; a host ``sigma`` is not positive, or not one per sample.
        TypeError: A dtype, a library or a device is not supported.

    >>> import numpy as np
    >>> gaussian_blur(np.array([[0, 0, 100, 0, 0]], np.uint8), 3, 1.0)
    array([[ 0, 27, 45, 27,  0]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    extents = kernel_extents(kernel_size)
    if sigma is None:
        x, y = (0.3 * ((extent - 1) * 0.5 - 1) + 0.8 for extent in extents)
        return filters.gaussian_blur(batch, extents, SampleParameters(NULL_ARRAY, (x, y)), out)
    is_host_array = not isinstance(sigma, (int, float)) and convert.is_host(sigma)
    _check.positive("sigma", convert.host_array("sigma", sigma) if is_host_array else sigma)
    return filters.gaussian_blur(batch, extents, parameters.xy_pairs("sigma", sigma, batch), out)


@prefix_errors
@replayed
def adjust_sharpness(
    images: Array, sharpness_factor: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Blend with a smoothed image, as torchvision: ``clamp(factor * in + (1 - factor) * smooth)``.

    Floats are clamped to 0..1.

    Args:
        sharpness_factor: 0 gives the smoothed image, 1 the image, more is sharper; one number or one per sample. [N]

    A smoothed pixel is the weighted mean of the pixel (weight 5) and its eight neighbours (weight 1); pixels at
    the image's edges are clamped, not smoothed. All other arguments and the errors are those of :func:`gaussian_blur`;
    the result is like ``images``, or ``out``.

    >>> import numpy as np
    >>> adjust_sharpness(np.array([[26, 26, 26], [26, 39, 26], [26, 26, 26]], np.uint8), 2.0)[1]
    array([26, 47, 26], dtype=uint8)
    """
    batch = describe_images(images, layout)
    factor = parameters.checked_column("sharpness_factor", sharpness_factor, 0)
    return filters.adjust_sharpness(batch, parameters.per_sample_columns("sharpness_factor", [factor], batch), out)


@prefix_errors
@replayed
def jpeg(images: Array, quality: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Encode as JPEG and decode again: the image with the artefacts of the compression, as libjpeg-turbo gives it.

    Args:
        quality: 1 (strong artefacts) to 100, truncated to an integer; one number or one per sample. In an array on a
            GPU, whose values are not checked, numbers below 1 leave the image as it is. [N]

    ``images`` are uint8, with 1 or 3 channels. Chroma has half the rows and columns (4:2:0), the default of torchvision
    and Pillow. All other arguments and the errors are those of :func:`gaussian_blur`; the result is like ``images``, or
    ``out``.

    >>> import numpy as np
    >>> jpeg(np.array([[0, 0, 0, 255]], np.uint8), 50)
    array([[  0,   3,   0, 255]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.uint8(batch.dtype)
    _check.channels(batch.channels, 1, 3)
    column = parameters.checked_column("quality", quality, 1, 100)
    return filters.jpeg(batch, parameters.per_sample_columns("quality", [column], batch), out)
