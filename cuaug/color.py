"""Colour: every function that changes pixels one by one.

Each names an op of ``kernels/ops`` and hands it, with its parameters, to one pass; ``lut`` and ``equalize`` look levels
up in a table. Float images are read as 0..1, integer images as 0..max of the dtype; parameters may be one value or one
per sample, on the host or on the images' device.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from . import _check
from ._arrays.convert import dtype_name, host_or_device
from ._arrays.images import ImageBatch
from ._arrays.images import describe_images as describe
from ._check import prefix_errors
from ._passes import parameters as _parameters
from ._passes import pointwise, statistics


@prefix_errors("cuaug")
def adjust_brightness(images: Any, brightness_factor: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Multiply by a factor, as torchvision: ``clamp(factor * in)``.

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C] or without N
        brightness_factor: 0 is black, 1 the image; one number or one per sample. [N]
        layout: Names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``.

    Raises:
        ValueError: A host factor is negative or not finite, or not one per sample.
        TypeError: A dtype, a library or a device that is not supported.

    >>> import numpy as np
    >>> adjust_brightness(np.array([[10, 200]], np.uint8), 1.5)
    array([[ 15, 255]], dtype=uint8)
    """
    image = describe(images, layout)
    brightness_factor = _parameters.checked_column("brightness_factor", brightness_factor, 0)
    return _run(image, "AdjustBrightness", {"brightness_factor": brightness_factor}, out)


@prefix_errors("cuaug")
def adjust_contrast(
    images: Any, contrast_factor: Any, about: Any = None, *, layout: str | None = None, out: Any = None
) -> Any:
    """Blend with a level of grey, as torchvision: ``clamp(factor * in + (1 - factor) * about)``.

    Args:
        contrast_factor: 0 is that level, 1 the image; one number or one per sample. [N]
        about: The level, in the images' own range; default: the mean luma of each sample, of 1 or 3 channels. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_contrast(np.array([[100, 200]], np.uint8), 0.5)
    array([[125, 175]], dtype=uint8)
    """
    image = describe(images, layout)
    contrast_factor = _parameters.checked_column("contrast_factor", contrast_factor, 0)
    if about is not None:
        return _run(image, "AdjustContrast", {"contrast_factor": contrast_factor, "about": about}, out)
    image = _coloured(image)
    _check.dtypes(image.dtype, image.dtype, "bilinear")
    factor = _parameters.per_sample_columns("contrast_factor", [contrast_factor], image)
    return pointwise.pointwise(
        image, ("AdjustContrast",), factor, image.dtype, out, parts=statistics.mean_luma_parameter(image, 1)
    )


@prefix_errors("cuaug")
def adjust_saturation(images: Any, saturation_factor: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Blend with the image's luma, as torchvision: ``clamp(factor * in + (1 - factor) * grey)``.

    Args:
        saturation_factor: 0 is grey, 1 the image; one number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; 1 or 3 channels.

    >>> import numpy as np
    >>> adjust_saturation(np.array([[[200, 100, 0]]], np.uint8), 0.0)
    array([[[118, 118, 118]]], dtype=uint8)
    """
    image = _coloured(describe(images, layout))
    saturation_factor = _parameters.checked_column("saturation_factor", saturation_factor, 0)
    return _run(image, "AdjustSaturation", {"saturation_factor": saturation_factor}, out)


@prefix_errors("cuaug")
def adjust_hue(images: Any, hue_factor: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Turn the hue of HSV, as torchvision.

    Args:
        hue_factor: In turns of the colour circle: 0 is the image, 0.5 and -0.5 the opposite colours. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; 1 or 3 channels.

    >>> import numpy as np
    >>> adjust_hue(np.array([[[255, 0, 0]]], np.uint8), 1 / 3)
    array([[[  0, 255,   0]]], dtype=uint8)
    """
    image = _coloured(describe(images, layout))
    hue_factor = _parameters.checked_column("hue_factor", hue_factor, -0.5, 0.5)
    return _run(image, "AdjustHue", {"hue_factor": hue_factor}, out)


@prefix_errors("cuaug")
def adjust_gamma(images: Any, gamma: Any, gain: Any = 1.0, *, layout: str | None = None, out: Any = None) -> Any:
    """Raise to a power, as torchvision: ``clamp(gain * in ** gamma)``.

    Args:
        gamma: One number or one per sample; above 1 darkens. [N]
        gain: A factor. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_gamma(np.array([[0.25, 1.0]], np.float32), 0.5)
    array([[0.5, 1. ]], dtype=float32)
    """
    image = describe(images, layout)
    gamma = _parameters.checked_column("gamma", gamma, 0)
    return _run(image, "AdjustGamma", {"gamma": gamma, "gain": gain}, out)


@prefix_errors("cuaug")
def invert(images: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """The negative: ``max - in``.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> invert(np.array([[0, 200]], np.uint8))
    array([[255,  55]], dtype=uint8)
    """
    return _run(describe(images, layout), "Invert", {}, out)


@prefix_errors("cuaug")
def solarize(images: Any, threshold: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Invert what is at or above a threshold: ``max - in where in >= threshold``.

    Args:
        threshold: In the images' own range; one number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> solarize(np.array([[100, 200]], np.uint8), 128)
    array([[100,  55]], dtype=uint8)
    """
    return _run(describe(images, layout), "Solarize", {"threshold": threshold}, out)


@prefix_errors("cuaug")
def posterize(images: Any, bits: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Keep the upper bits of integer images; of floats, ``floor(in * 2 ** bits) / 2 ** bits``, as torchvision.

    Args:
        bits: 0 to 16; one number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> posterize(np.array([[100, 200]], np.uint8), 2)
    array([[ 64, 192]], dtype=uint8)
    """
    bits = _parameters.checked_column("bits", bits, 0, 16)
    return _run(describe(images, layout), "Posterize", {"bits": bits}, out)


@prefix_errors("cuaug")
def rgb_to_grayscale(images: Any, num_output_channels: int = 1, *, layout: str | None = None, out: Any = None) -> Any:
    """The luma of ITU-R BT.601, as torchvision: ``0.2989 r + 0.587 g + 0.114 b``.

    Args:
        num_output_channels: 1, or 3 equal ones.

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; 1 or 3 channels.

    >>> import numpy as np
    >>> rgb_to_grayscale(np.array([[[200, 100, 0]]], np.uint8))
    array([[[118]]], dtype=uint8)
    """
    image = _coloured(describe(images, layout))
    num_output_channels = _check.integer("num_output_channels", num_output_channels, 1)
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels!r}")
    if num_output_channels == 3 and "C" not in image.axes.layout:
        raise ValueError("num_output_channels must be 1 for images without a channel axis, got 3")
    return _run(image, "Grayscale", {}, out, channels=num_output_channels)


@prefix_errors("cuaug")
def autocontrast(images: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Stretch each channel from its darkest and brightest level to 0 and white, as torchvision.

    A channel of one level stays as it is. Integers get torchvision's very levels: it computes in float32 and cuts off,
    so that the brightest level is often white less 1. Of a video the darkest and the brightest level are those of the
    whole clip. A NaN is neither, and becomes 0.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> autocontrast(np.array([[30, 81, 200]], np.uint8))
    array([[  0,  76, 255]], dtype=uint8)
    """
    image = describe(images, layout)
    _check.dtypes(image.dtype, image.dtype, "bilinear")
    return pointwise.pointwise(image, ("Autocontrast",), statistics.channel_min_max(image), image.dtype, out)


@prefix_errors("cuaug")
def equalize(images: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Spread the levels of each channel so that all are about equally frequent, as torchvision and Pillow.

    A level goes to ``(pixels below + step // 2) // step``, ``step = (pixels - those of the highest level) // 255``; if
    that is 0, the channel stays. Of a video the pixels of the whole clip are counted. Bytes only: torchvision converts
    other images to bytes and back, which ``to_dtype(images, "uint8", scale=True)`` does here.

    All arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` are uint8.

    >>> import numpy as np
    >>> equalize(np.repeat(np.array([[7, 8, 9]], np.uint8), 300, 0))[0]
    array([  0, 150, 255], dtype=uint8)
    """
    image = _of_bytes(describe(images, layout))
    return pointwise.lut(image, statistics.histogram_lut(image), out)


@prefix_errors("cuaug")
def lut(images: Any, table: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Look every level up: ``out = table[in]``.

    Args:
        table: 256 whole numbers in 0..255: for all, per channel, per sample or both. Two axes are refused where
            N = C > 1, as they could mean either: pass [1, C, 256] or [N, 1, 256].
            [256], [C, 256], [N, 256] or [N, C, 256]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` are uint8.

    >>> import numpy as np
    >>> lut(np.array([[0, 10, 255]], np.uint8), np.arange(256)[::-1])
    array([[255, 245,   0]], dtype=uint8)
    """
    image = _of_bytes(describe(images, layout))
    return pointwise.lut(image, _parameters.lut_table("table", table, image), out)


@prefix_errors("cuaug")
def gaussian_noise(
    images: Any,
    mean: Any = 0.0,
    sigma: Any = 0.1,
    clip: bool = True,
    *,
    seed: int | None = None,
    step: int = 0,
    ids: Any = None,
    layout: str | None = None,
    out: Any = None,
) -> Any:
    """Add normally distributed noise, as torchvision: ``in + mean + sigma * noise``, of each pixel and channel its own.

    Args:
        mean: In 0..1, whatever the dtype; one number or one per sample. [N]
        sigma: Likewise, at least 0. [N]
        clip: Clamp floats to 0..1; integers are always clamped, to their own range.
        seed: 0 to 2**64 - 1. Default: another one each call, from Python's ``random``.
        step: 0 to 2**32 - 1; counts calls of one seed.
        ids: Of the samples, 0 to 2**48 - 1; default: 0 to N - 1, from the host: in a CUDA graph, pass them. [N]

    The noise is a function of ``seed``, ``step``, id, frame, pixel and channel, and of nothing else: the same on every
    device, in every layout and dtype, and in a batch of any size (Philox4x32-10, Box-Muller).
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> gaussian_noise(np.full((1, 4), 100, np.uint8), sigma=0.05, seed=1)
    array([[105, 108,  80, 109]], dtype=uint8)
    """
    image = describe(images, layout)
    seed = random.getrandbits(64) if seed is None else _below("seed", seed, 64)
    step = _below("step", step, 32)
    sigma = _parameters.checked_column("sigma", sigma, 0)
    if ids is None:
        ids = np.arange(image.samples, dtype=float) if image.samples != 1 else 0.0
    ids = _parameters.checked_column("ids", ids, 0, 2**48 - 1)
    low = ids % 2.0**24
    words = [float(word) for number, count in ((seed, 3), (step, 2)) for word in _pieces(number, count)]
    columns = [host_or_device("mean", mean), sigma, float(bool(clip)), *words, low, (ids - low) / 2.0**24, 0.0]
    parameters = _parameters.per_sample_columns("mean, sigma and ids", columns, image)
    return pointwise.pointwise(image, ("GaussianNoise",), parameters, image.dtype, out)


@prefix_errors("cuaug")
def normalize(
    images: Any, mean: Any, std: Any, *, dtype: Any = None, layout: str | None = None, out: Any = None
) -> Any:
    """Subtract a mean and divide by a standard deviation, channel by channel: ``(in - mean) / std``.

    Args:
        mean: For values in 0..1, also of integer images. A number, or one per channel. [C] or [N, C]
        std: Likewise. [C] or [N, C]
        dtype: Of the result, a float; default: that of ``images``, float32 for integer images.

    All other arguments and the errors are those of :func:`adjust_brightness`; a host ``std`` of 0 is refused.

    >>> import numpy as np
    >>> normalize(np.array([[[0, 255, 255]]], np.uint8), mean=[0.0, 0.5, 0.5], std=[1.0, 1.0, 0.5])
    array([[[0. , 0.5, 1. ]]], dtype=float32)
    """
    image = describe(images, layout)
    target = dtype_name(dtype) if dtype is not None else image.dtype if "float" in image.dtype else "float32"
    if "float" not in target:
        raise TypeError(f"dtype must be a float, got {target}")
    columns = _parameters.per_channel_columns("mean", mean, image) + _parameters.per_channel_columns("std", std, image)
    for value in columns[image.channels :]:
        _check.not_zero("std", value)
    return pointwise.pointwise(
        image, ("Normalize",), _parameters.per_sample_columns("mean and std", columns, image), target, out
    )


@prefix_errors("cuaug")
def to_dtype(
    images: Any, dtype: Any = "float32", scale: bool = False, *, layout: str | None = None, out: Any = None
) -> Any:
    """Convert, as torchvision: values rounded half to even and clamped, and scaled to the new range on request.

    Args:
        dtype: Of the result, as a dtype of any library or its name.
        scale: 0..max of an integer dtype stands for 0..1 of a float one.

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> to_dtype(np.array([[0, 255]], np.uint8), "float32", scale=True)
    array([[0., 1.]], dtype=float32)
    """
    image = describe(images, layout)
    ops = () if scale else ("ConvertRange",)
    return pointwise.pointwise(image, ops, _parameters.per_sample_columns("", [], image), dtype_name(dtype), out)


@prefix_errors("cuaug")
def color_matrix(images: Any, matrix: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Mix the three colours: ``clamp(matrix @ (r, g, b, 1))``.

    Args:
        matrix: Rows of weights of red, green, blue and white. [3, 3], [3, 4], [N, 3, 3] or [N, 3, 4]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; 3 channels.

    >>> import numpy as np
    >>> color_matrix(np.array([[[1, 2, 3]]], np.uint8), [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    array([[[3, 2, 1]]], dtype=uint8)
    """
    image = describe(images, layout)
    if image.channels != 3:
        raise ValueError(f"images must have 3 channels, got {image.channels}")
    entries = _parameters.matrix_entries("matrix", matrix, ((3, 3), (3, 4)))
    if len(entries) == 9:
        entries = [*entries[:3], 0.0, *entries[3:6], 0.0, *entries[6:], 0.0]
    return pointwise.pointwise(
        image, ("ColorMatrix",), _parameters.per_sample_columns("matrix", entries, image), image.dtype, out
    )


@prefix_errors("cuaug")
def erase(
    images: Any, i: Any, j: Any, h: Any, w: Any, v: Any = 0, *, layout: str | None = None, out: Any = None
) -> Any:
    """Paint a box of each image, as torchvision.

    Args:
        i: Top of the box, in pixels; it may lie outside. [N]
        j: Left of it. [N]
        h: Its height; 0 leaves the image as it is. [N]
        w: Its width. [N]
        v: In the images' own range: a number, or one per channel. [C] or [N, C]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> erase(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 1, v=9)
    array([[1, 9, 3]], dtype=uint8)
    """
    image = describe(images, layout)
    sides = [host_or_device(name, side) for name, side in zip("ijhw", (i, j, h, w), strict=True)]
    columns = _parameters.per_sample_columns(
        "i, j, h, w and v", sides + _parameters.per_channel_columns("v", v, image), image
    )
    return pointwise.pointwise(image, ("Erase",), columns, image.dtype, out)


def _run(image: ImageBatch, op: str, values: dict[str, Any], out: Any, channels: int | None = None) -> Any:
    columns = [host_or_device(name, value) for name, value in values.items()]
    parameters = _parameters.per_sample_columns(" and ".join(values), columns, image)
    return pointwise.pointwise(image, (op,), parameters, image.dtype, out, channels)


def _of_bytes(image: ImageBatch) -> ImageBatch:
    if image.dtype != "uint8":
        raise TypeError(f"images must be uint8, got {image.dtype}")
    return image


def _below(parameter: str, value: Any, bits: int) -> int:
    number = _check.integer(parameter, value, 0)
    if number >> bits:
        raise ValueError(f"{parameter} must be below 2**{bits}, got {number}")
    return number


def _pieces(number: int, count: int) -> list[int]:
    """Of 24 bits, which a float32 holds, the lowest first (kernels/ops/gaussian_noise.cuh)."""
    return [number >> 24 * i & 0xFFFFFF for i in range(count)]


def _coloured(image: ImageBatch) -> ImageBatch:
    if image.channels not in (1, 3):
        raise ValueError(f"images must have 1 or 3 channels, got {image.channels}")
    return image
