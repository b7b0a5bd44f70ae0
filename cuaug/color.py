"""Colour: every function that changes pixels one by one.

Each names an op of ``kernels/ops`` and hands it, with its parameters, to one pass. Float images are read as 0..1,
integer images as 0..max of the dtype; parameters may be one value or one per sample, on the host or on the images'
device.
"""

from __future__ import annotations

from typing import Any

from . import _array, _check, _parameters, _pass
from ._check import public
from ._images import Images
from ._images import images as describe


@public
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
    brightness_factor = _parameters.within("brightness_factor", brightness_factor, 0)
    return _run(image, "AdjustBrightness", {"brightness_factor": brightness_factor}, out)


@public
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
    contrast_factor = _parameters.within("contrast_factor", contrast_factor, 0)
    if about is not None:
        return _run(image, "AdjustContrast", {"contrast_factor": contrast_factor, "about": about}, out)
    image = _coloured(image)
    _check.dtypes(image.dtype, image.dtype, "bilinear")
    parameters = _pass.beside_luma_mean(image, _parameters.columns("contrast_factor", [contrast_factor], image))
    return _pass.pointwise(image, ("AdjustContrast",), parameters, image.dtype, out)


@public
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
    saturation_factor = _parameters.within("saturation_factor", saturation_factor, 0)
    return _run(image, "AdjustSaturation", {"saturation_factor": saturation_factor}, out)


@public
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
    hue_factor = _parameters.within("hue_factor", hue_factor, -0.5, 0.5)
    return _run(image, "AdjustHue", {"hue_factor": hue_factor}, out)


@public
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
    gamma = _parameters.within("gamma", gamma, 0)
    return _run(image, "AdjustGamma", {"gamma": gamma, "gain": gain}, out)


@public
def invert(images: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """The negative: ``max - in``.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> invert(np.array([[0, 200]], np.uint8))
    array([[255,  55]], dtype=uint8)
    """
    return _run(describe(images, layout), "Invert", {}, out)


@public
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


@public
def posterize(images: Any, bits: Any, *, layout: str | None = None, out: Any = None) -> Any:
    """Keep the upper bits of integer images; of floats, ``floor(in * 2 ** bits) / 2 ** bits``, as torchvision.

    Args:
        bits: 0 to 16; one number or one per sample. [N]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> posterize(np.array([[100, 200]], np.uint8), 2)
    array([[ 64, 192]], dtype=uint8)
    """
    bits = _parameters.within("bits", bits, 0, 16)
    return _run(describe(images, layout), "Posterize", {"bits": bits}, out)


@public
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
    num_output_channels = _check.whole("num_output_channels", num_output_channels, 1)
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels!r}")
    if num_output_channels == 3 and "C" not in image.axes.layout:
        raise ValueError("num_output_channels must be 1 for images without a channel axis, got 3")
    return _run(image, "Grayscale", {}, out, channels=num_output_channels)


@public
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
    target = _array.dtype_name(dtype) if dtype is not None else image.dtype if "float" in image.dtype else "float32"
    if "float" not in target:
        raise TypeError(f"dtype must be a float, got {target}")
    columns = _parameters.channels("mean", mean, image) + _parameters.channels("std", std, image)
    for value in columns[image.channels :]:
        _check.not_zero("std", value)
    return _pass.pointwise(image, ("Normalize",), _parameters.columns("mean and std", columns, image), target, out)


@public
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
    ops = () if scale else ("Unscaled",)
    return _pass.pointwise(image, ops, _parameters.columns("", [], image), _array.dtype_name(dtype), out)


@public
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
    entries = _parameters.entries("matrix", matrix, ((3, 3), (3, 4)))
    if len(entries) == 9:
        entries = [*entries[:3], 0.0, *entries[3:6], 0.0, *entries[6:], 0.0]
    return _pass.pointwise(image, ("ColorMatrix",), _parameters.columns("matrix", entries, image), image.dtype, out)


@public
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
    sides = [_array.host_or_device(name, side) for name, side in zip("ijhw", (i, j, h, w), strict=True)]
    columns = _parameters.columns("i, j, h, w and v", sides + _parameters.channels("v", v, image), image)
    return _pass.pointwise(image, ("Erase",), columns, image.dtype, out)


def _run(image: Images, op: str, values: dict[str, Any], out: Any, channels: int | None = None) -> Any:
    columns = [_array.host_or_device(name, value) for name, value in values.items()]
    parameters = _parameters.columns(" and ".join(values), columns, image)
    return _pass.pointwise(image, (op,), parameters, image.dtype, out, channels)


def _coloured(image: Images) -> Images:
    if image.channels not in (1, 3):
        raise ValueError(f"images must have 1 or 3 channels, got {image.channels}")
    return image
