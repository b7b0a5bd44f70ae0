"""Colour: brightness, contrast, saturation, hue, gamma and other functions of a pixel's channels.

Each function runs one op of ``kernels/ops`` in one pass; ``adjust_contrast`` may compute a mean before. Float images
are read as 0..1, integer images as 0..max of the dtype. Parameters may be one value or one per sample, on the host or
on the images' device.
"""

from __future__ import annotations

from typing import Any, Literal

from . import _check
from ._arrays import convert
from ._arrays.images import ImageBatch, describe_images
from ._check import prefix_errors
from ._passes import parameters, pointwise, statistics
from ._passes.replay import replayed
from ._value_text import value_text
from .typing import AnyArray, Array, Layout, Numbers, PerSample

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "color_matrix",
    "invert",
    "permute_channels",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
]


@prefix_errors
@replayed
def adjust_brightness(
    images: Array, brightness_factor: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Multiply by a factor, as torchvision: ``clamp(factor * in)``, for floats to 0..1.

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C] or without N
        brightness_factor: 0 gives black, 1 the image; one number or one per sample. [N]
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype, in other memory than ``images``.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``.

    Raises:
        ValueError: A host factor is negative or not finite, or a factor is not one per sample.
        TypeError: A dtype, a library or a device is not supported.

    >>> import numpy as np
    >>> adjust_brightness(np.array([[10, 200]], np.uint8), 1.5)
    array([[ 15, 255]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    brightness_factor = parameters.checked_column("brightness_factor", brightness_factor, 0)
    return _apply_op(batch, "AdjustBrightness", {"brightness_factor": brightness_factor}, out)


@prefix_errors
@replayed
def adjust_contrast(
    images: Array,
    contrast_factor: PerSample,
    about: PerSample | None = None,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Blend with a grey level, as torchvision: ``clamp(factor * in + (1 - factor) * about)``, for floats to 0..1.

    Args:
        contrast_factor: 0 gives the grey level, 1 the image; one number or one per sample. [N]
        about: The grey level, in the images' own range; default: the mean luma of each sample, which must have 1 or 3
            channels. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_contrast(np.array([[100, 200]], np.uint8), 0.5)
    array([[125, 175]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    contrast_factor = parameters.checked_column("contrast_factor", contrast_factor, 0)
    if about is not None:
        return _apply_op(batch, "AdjustContrast", {"contrast_factor": contrast_factor, "about": about}, out)
    _check.channels(batch.channels, 1, 3)
    _check.image_dtype(batch.dtype)
    factor = parameters.per_sample_columns("contrast_factor", [contrast_factor], batch)
    about_mean = statistics.mean_luma_parameter(batch, mean_column=1)  # `about` follows `contrast_factor`
    return pointwise.pointwise(batch, ("AdjustContrast",), factor, batch.dtype, out, partial_sums=about_mean)


@prefix_errors
@replayed
def adjust_saturation(
    images: Array, saturation_factor: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Blend with the image's luma, as torchvision: ``clamp(factor * in + (1 - factor) * luma)``, for floats to 0..1.

    Args:
        saturation_factor: 0 gives the luma, 1 the image; one number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` have 1 or 3
    channels.

    >>> import numpy as np
    >>> adjust_saturation(np.array([[[200, 100, 0]]], np.uint8), 0.0)
    array([[[118, 118, 118]]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.channels(batch.channels, 1, 3)
    saturation_factor = parameters.checked_column("saturation_factor", saturation_factor, 0)
    return _apply_op(batch, "AdjustSaturation", {"saturation_factor": saturation_factor}, out)


@prefix_errors
@replayed
def adjust_hue(
    images: Array, hue_factor: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Rotate the hue in HSV, as torchvision.

    Args:
        hue_factor: A fraction of a full turn, from -0.5 to 0.5 (other host values are a ``ValueError``): 0 is the
            image, 0.5 and -0.5 the opposite colours. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` have 1 or 3
    channels.

    >>> import numpy as np
    >>> adjust_hue(np.array([[[255, 0, 0]]], np.uint8), 1 / 3)
    array([[[  0, 255,   0]]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.channels(batch.channels, 1, 3)
    hue_factor = parameters.checked_column("hue_factor", hue_factor, -0.5, 0.5)
    return _apply_op(batch, "AdjustHue", {"hue_factor": hue_factor}, out)


@prefix_errors
@replayed
def adjust_gamma(
    images: Array, gamma: PerSample, gain: PerSample = 1.0, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Raise to a power, as torchvision: ``clamp(gain * in ** gamma)``, with ``in`` in 0..1 for every dtype.

    Floats are clamped to 0..1.

    Args:
        gamma: One number or one per sample; above 1 darkens. [N]
        gain: A factor, which may be negative: the result is then black. One number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_gamma(np.array([[0.25, 1.0]], np.float32), 0.5)
    array([[0.5, 1. ]], dtype=float32)
    """
    batch = describe_images(images, layout)
    gamma = parameters.checked_column("gamma", gamma, 0)
    return _apply_op(batch, "AdjustGamma", {"gamma": gamma, "gain": gain}, out)


@prefix_errors
@replayed
def invert(images: Array, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Invert: ``max - in``.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> invert(np.array([[0, 200]], np.uint8))
    array([[255,  55]], dtype=uint8)
    """
    return _apply_op(describe_images(images, layout), "Invert", {}, out)


@prefix_errors
@replayed
def solarize(
    images: Array, threshold: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Invert the values at or above a threshold: ``max - in where in >= threshold``.

    Args:
        threshold: In the images' own range; above the range it changes nothing. One number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> solarize(np.array([[100, 200]], np.uint8), 128)
    array([[100,  55]], dtype=uint8)
    """
    return _apply_op(describe_images(images, layout), "Solarize", {"threshold": threshold}, out)


@prefix_errors
@replayed
def permute_channels(
    images: Array, permutation: Numbers, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Put channels in another order: ``out[..., c] = in[..., permutation[c]]``.

    Args:
        permutation: For each channel of the result, the channel of ``images``, from 0 on. [C] or [N, C]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` have 1 to 4
    channels.

    >>> import numpy as np
    >>> permute_channels(np.array([[[1, 2, 3]]], np.uint8), [2, 0, 1])
    array([[[3, 1, 2]]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.channels(batch.channels, 1, 2, 3, 4)
    values: Any = convert.host_array("permutation", permutation) if convert.is_host(permutation) else permutation
    if values.ndim not in (1, 2) or values.shape[-1] != batch.channels:
        raise ValueError(
            f"permutation must have shape ({batch.channels},) or ({batch.samples}, {batch.channels}), "
            f"got {tuple(values.shape)}"
        )
    columns = parameters.per_channel_columns("permutation", values, batch)
    for column in columns:
        _check.whole_numbers("permutation", column, batch.channels - 1)
    sample_parameters = parameters.per_sample_columns("permutation", columns, batch)
    return pointwise.pointwise(batch, ("PermuteChannels",), sample_parameters, batch.dtype, out)


@prefix_errors
@replayed
def posterize(images: Array, bits: PerSample, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Keep the upper bits of unsigned integers; for floats, ``floor(in * 2 ** bits) / 2 ** bits``, as torchvision.

    Of int16 this keeps the sign and the next `bits` bits. Floats are clamped between 0 and ``1 - 1 / 2 ** bits``.

    Args:
        bits: A whole number from 0 to 16, or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> posterize(np.array([[100, 200]], np.uint8), 2)
    array([[ 64, 192]], dtype=uint8)
    """
    bits = parameters.checked_numbers("bits", bits, 16)
    return _apply_op(describe_images(images, layout), "Posterize", {"bits": bits}, out)


@prefix_errors
@replayed
def rgb_to_grayscale(
    images: Array, num_output_channels: Literal[1, 3] = 1, *, layout: Layout | None = None, out: AnyArray | None = None
) -> Array:
    """Compute the luma of ITU-R BT.601, as torchvision: ``0.2989 r + 0.587 g + 0.114 b``.

    Args:
        num_output_channels: 1, or 3 for three equal channels.

    All other arguments and the errors are those of :func:`adjust_brightness`; ``images`` have 1 or 3 channels. The
    result has ``num_output_channels`` channels, and otherwise the images' shape; with 3, images [H, W] gain a channel
    axis.

    >>> import numpy as np
    >>> rgb_to_grayscale(np.array([[[200, 100, 0]]], np.uint8))
    array([[[118]]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.channels(batch.channels, 1, 3)
    output_channels = _check.integer("num_output_channels", num_output_channels, 1)
    if output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {value_text(output_channels)}")
    return _apply_op(batch, "Grayscale", {}, out, channels=output_channels)


@prefix_errors
@replayed
def color_matrix(images: Array, matrix: Numbers, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Multiply the three channels by a matrix: ``clamp(matrix @ (r, g, b, 1))``, for floats to 0..1.

    Args:
        matrix: Rows of weights for red, green and blue, and an offset: 1 is the largest value of every dtype.
            [3, 3], [3, 4], [N, 3, 3] or [N, 3, 4]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` have 3 channels.

    >>> import numpy as np
    >>> color_matrix(np.array([[[1, 2, 3]]], np.uint8), [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    array([[[3, 2, 1]]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.channels(batch.channels, 3)
    entries = parameters.matrix_entries("matrix", matrix, ((3, 3), (3, 4)))
    if len(entries) == 9:  # a fourth column of zeros
        entries = [*entries[:3], 0.0, *entries[3:6], 0.0, *entries[6:], 0.0]
    sample_parameters = parameters.per_sample_columns("matrix", entries, batch)
    return pointwise.pointwise(batch, ("ColorMatrix",), sample_parameters, batch.dtype, out)


def _apply_op(batch: ImageBatch, op: str, values: dict[str, Any], out: Any, channels: int | None = None) -> Any:
    columns = [parameters.column(name, value) for name, value in values.items()]
    sample_parameters = parameters.per_sample_columns(" and ".join(values), columns, batch)
    return pointwise.pointwise(batch, (op,), sample_parameters, batch.dtype, out, channels)
