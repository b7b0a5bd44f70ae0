"""Colours of images and videos: the colour functions of `cuaug` with torchvision's arguments.

Masks, boxes and keypoints are refused, as in torchvision. Leading axes of tensors, [..., C, H, W], are samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ... import _check, color, filter, levels
from ..._arrays.images import describe_images
from ..._arrays.pillow_library import PillowPixels
from ..._check import prefix_errors
from ..._integers import has_positions
from ..._value_text import value_text
from ...typing import Array, Layout, PerSample
from .dispatch import apply_to_arrays, apply_to_images, take

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "grayscale_to_rgb",
    "invert",
    "permute_channels",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


@prefix_errors
def adjust_brightness(inpt: Array, brightness_factor: PerSample, *, layout: Layout | None = None) -> Array:
    """Multiply by a factor, as :func:`cuaug.adjust_brightness`: 0 gives black, 1 the image.

    Args:
        inpt: Images, or torchvision's ``Image`` or ``Video``; tensors have the axes [..., C, H, W], other libraries
            those of :func:`cuaug.adjust_brightness`.
        brightness_factor: One number, or one per sample. [N]
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.

    Returns:
        The result, in the type of ``inpt``.

    Raises:
        ValueError: A host factor is negative or not finite, or a shape does not fit.
        TypeError: ``inpt`` is a ``Mask``, ``BoundingBoxes`` or ``KeyPoints``; a dtype is not supported.

    >>> import numpy as np
    >>> adjust_brightness(np.array([[10, 200]], np.uint8), 1.5)
    array([[ 15, 255]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.adjust_brightness, brightness_factor)


@prefix_errors
def adjust_contrast(inpt: Array, contrast_factor: PerSample, *, layout: Layout | None = None) -> Array:
    """Blend with the mean luma, as :func:`cuaug.adjust_contrast`: 0 gives grey, 1 the image.

    The mean is that of each frame of a video.

    ``contrast_factor`` is that of :func:`cuaug.adjust_contrast`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_contrast(np.array([[100, 200]], np.uint8), 0.5)
    array([[125, 175]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.adjust_contrast, contrast_factor)


@prefix_errors
def adjust_saturation(inpt: Array, saturation_factor: PerSample, *, layout: Layout | None = None) -> Array:
    """Blend with the image's luma, as :func:`cuaug.adjust_saturation`: 0 gives the luma, 1 the image.

    ``saturation_factor`` is that of :func:`cuaug.adjust_saturation`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_saturation(np.array([[[200, 100, 0]]], np.uint8), 0.0)
    array([[[118, 118, 118]]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.adjust_saturation, saturation_factor)


@prefix_errors
def adjust_hue(inpt: Array, hue_factor: PerSample, *, layout: Layout | None = None) -> Array:
    """Rotate the hue, as :func:`cuaug.adjust_hue`, by a fraction of a turn from -0.5 to 0.5.

    ``hue_factor`` is that of :func:`cuaug.adjust_hue`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_hue(np.array([[[255, 0, 0]]], np.uint8), 1 / 3)
    array([[[  0, 255,   0]]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.adjust_hue, hue_factor)


@prefix_errors
def adjust_gamma(inpt: Array, gamma: PerSample, gain: PerSample = 1.0, *, layout: Layout | None = None) -> Array:
    """Raise to a power, as :func:`cuaug.adjust_gamma`: ``clamp(gain * in ** gamma)``.

    ``gamma`` and ``gain`` are those of :func:`cuaug.adjust_gamma`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_gamma(np.array([[0.25, 1.0]], np.float32), 0.5)
    array([[0.5, 1. ]], dtype=float32)
    """
    return apply_to_images(inpt, layout, color.adjust_gamma, gamma, gain)


@prefix_errors
def adjust_sharpness(inpt: Array, sharpness_factor: PerSample, *, layout: Layout | None = None) -> Array:
    """Blend with a smoothed image, as :func:`cuaug.adjust_sharpness`: 1 gives the image, more is sharper.

    ``sharpness_factor`` is that of :func:`cuaug.adjust_sharpness`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> adjust_sharpness(np.array([[26, 26, 26], [26, 39, 26], [26, 26, 26]], np.uint8), 2.0)[1]
    array([26, 47, 26], dtype=uint8)
    """
    return apply_to_images(inpt, layout, filter.adjust_sharpness, sharpness_factor)


@prefix_errors
def autocontrast(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Stretch each channel to the whole range, as :func:`cuaug.autocontrast`; each frame of a video by itself.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> autocontrast(np.array([[30, 81, 200]], np.uint8))
    array([[  0,  76, 255]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, levels.autocontrast)


@prefix_errors
def equalize(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Make all levels about equally frequent, as :func:`cuaug.equalize`: uint8 only, each frame of a video by itself.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> equalize(np.repeat(np.array([[7, 8, 9]], np.uint8), 300, 0))[0]
    array([  0, 150, 255], dtype=uint8)
    """
    return apply_to_images(inpt, layout, levels.equalize)


@prefix_errors
def invert(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Invert, as :func:`cuaug.invert`: ``max - in``.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> invert(np.array([[0, 200]], np.uint8))
    array([[255,  55]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.invert)


@prefix_errors
def posterize(inpt: Array, bits: PerSample, *, layout: Layout | None = None) -> Array:
    """Keep the upper bits, as :func:`cuaug.posterize`.

    ``bits`` is that of :func:`cuaug.posterize`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> posterize(np.array([[100, 200]], np.uint8), 2)
    array([[ 64, 192]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.posterize, bits)


@prefix_errors
def solarize(inpt: Array, threshold: PerSample, *, layout: Layout | None = None) -> Array:
    """Invert the values at or above a threshold, as :func:`cuaug.solarize`.

    ``threshold`` is that of :func:`cuaug.solarize`.
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> solarize(np.array([[100, 200]], np.uint8), 128)
    array([[100,  55]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, color.solarize, threshold)


@prefix_errors
def rgb_to_grayscale(inpt: Array, num_output_channels: Literal[1, 3] = 1, *, layout: Layout | None = None) -> Array:
    """Compute the luma, as :func:`cuaug.rgb_to_grayscale`; ``to_grayscale`` is the same function.

    Args:
        num_output_channels: 1, or 3 for three equal channels.

    All other arguments and the errors are those of :func:`adjust_brightness`; the result has
    ``num_output_channels`` channels; with 3, images [H, W] gain a channel axis.

    >>> import numpy as np
    >>> rgb_to_grayscale(np.array([[[200, 100, 0]]], np.uint8))
    array([[[118]]], dtype=uint8)
    >>> to_grayscale is rgb_to_grayscale
    True
    """
    return apply_to_images(inpt, layout, color.rgb_to_grayscale, num_output_channels)


to_grayscale = rgb_to_grayscale


@prefix_errors
def grayscale_to_rgb(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Repeat the channel of grey images three times; images of more channels are returned as they are.

    Images of Pillow become RGB: those of mode "RGBA" lose their transparency.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> grayscale_to_rgb(np.array([[[7]]], np.uint8))
    array([[[7, 7, 7]]], dtype=uint8)
    """

    def repeat(images: Any, layout: Any) -> Any:
        batch = describe_images(images, layout)
        if isinstance(images, PillowPixels):
            images = images[..., :3] if batch.channels == 4 else images
        return images if batch.channels != 1 else color.rgb_to_grayscale(images, 3, layout=layout)

    return apply_to_arrays(inpt, layout, repeat)


@prefix_errors
def permute_channels(inpt: Array, permutation: Sequence[int], *, layout: Layout | None = None) -> Array:
    """Put channels in another order.

    Args:
        permutation: For each channel of the result, the channel of ``inpt``; negative numbers count from the last.

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> permute_channels(np.array([[[1, 2, 3]]], np.uint8), [2, 0, 1])
    array([[[3, 1, 2]]], dtype=uint8)
    """

    def permute(images: Any, layout: Any) -> Any:
        batch = describe_images(images, layout)
        count = batch.channels
        if not has_positions(permutation):
            raise TypeError(f"permutation must be {count} ints, one per channel, got {value_text(permutation)}")
        if len(permutation) != count:
            raise ValueError(f"permutation must have {count} entries, one per channel, got {len(permutation)}")
        order = [_check.integer("permutation", channel, -count, count - 1) for channel in permutation]
        axis = batch.axes.layout.find("C")
        if axis < 0:  # grey images, whose only channel has no axis
            return images
        return take(images, order, axis)

    return apply_to_arrays(inpt, layout, permute)
