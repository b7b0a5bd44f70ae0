"""Levels: contrast stretching, equalization, lookup tables, normalization and dtype conversion.

Float images are read as 0..1, integer images as 0..max of the dtype; int16 may be negative.
"""

from __future__ import annotations

from typing import Any, overload

from . import _check
from ._arrays.convert import dtype_name
from ._arrays.images import describe_images
from ._check import prefix_errors
from ._passes import parameters, pointwise, statistics
from ._passes.replay import replayed
from .typing import AnyArray, Array, DType, Layout, Numbers, NumPyArray, PillowImage

__all__ = ["autocontrast", "equalize", "lut", "normalize", "to_dtype"]


@prefix_errors
@replayed
def autocontrast(images: Array, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Stretch each channel so that its minimum becomes 0 and its maximum the largest value, as torchvision.

    The largest value of floats is 1. A channel with one level is only clamped. Integer results equal torchvision's,
    which computes in float32 and truncates: the maximum often becomes the largest value minus 1. For video, minimum and
    maximum are those of all frames of a sample. NaN is neither minimum nor maximum and becomes 0.

    All arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> autocontrast(np.array([[30, 81, 200]], np.uint8))
    array([[  0,  76, 255]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.image_dtype(batch.dtype)
    return pointwise.pointwise(batch, ("Autocontrast",), statistics.channel_min_max(batch), batch.dtype, out)


@prefix_errors
@replayed
def equalize(images: Array, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Spread the levels of each channel so that all are about equally frequent, as torchvision and Pillow.

    A level maps to ``min((pixels below + step // 2) // step, 255)``, with
    ``step = (pixels - pixels of the highest level) // 255``; if the step is 0, the channel stays as it is. For video,
    the pixels of all frames of a sample are counted. Only uint8: torchvision converts other images to uint8 and back;
    here, call ``to_dtype(images, "uint8", scale=True)`` first.

    All arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` are uint8.

    >>> import numpy as np
    >>> equalize(np.repeat(np.array([[7, 8, 9]], np.uint8), 300, 0))[0]
    array([  0, 150, 255], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.uint8(batch.dtype)
    return pointwise.lut(batch, statistics.histogram_lut(batch), out)


@prefix_errors
@replayed
def lut(images: Array, table: Numbers, *, layout: Layout | None = None, out: AnyArray | None = None) -> Array:
    """Replace each level by its entry in a table: ``out = table[in]``.

    Args:
        table: 256 integers in 0..255: one table for all, one per channel, per sample, or per sample and channel. If
            N = C > 1, a table with two axes is a ValueError, because it could be per channel or per sample: pass
            [1, C, 256] or [N, 1, 256]. [256], [C, 256], [N, 256] or [N, C, 256]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; ``images`` are uint8.

    >>> import numpy as np
    >>> lut(np.array([[0, 10, 255]], np.uint8), np.arange(256)[::-1])
    array([[255, 245,   0]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    _check.uint8(batch.dtype)
    return pointwise.lut(batch, parameters.lut_table("table", table, batch), out)


@overload
def normalize(
    images: PillowImage,
    mean: Numbers,
    std: Numbers,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Any: ...
@overload
def normalize(
    images: NumPyArray,
    mean: Numbers,
    std: Numbers,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> NumPyArray: ...
@overload
def normalize(
    images: Array,
    mean: Numbers,
    std: Numbers,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array: ...
@prefix_errors
@replayed
def normalize(
    images: Any,
    mean: Numbers,
    std: Numbers,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Any:
    """Subtract a mean and divide by a standard deviation, channel by channel: ``(in - mean) / std``.

    Args:
        mean: On the scale 0..1 for every dtype of ``images``: for integers a host value outside -2..2 is a ValueError
            (for uint8, divide the mean of levels by 255); floats may have any range. A number, or one per channel.
            [C] or [N, C]
        std: As ``mean``; a host value of 0, or so small that ``1 / std`` is infinite, is a ValueError. [C] or [N, C]
        dtype: The result's dtype, a float; default: the dtype of ``images``, float32 for integer images.

    All other arguments and the errors are those of :func:`adjust_brightness`; the result has ``dtype``.

    >>> import numpy as np
    >>> normalize(np.array([[[0, 255, 255]]], np.uint8), mean=[0.0, 0.5, 0.5], std=[1.0, 1.0, 0.5])
    array([[[0. , 0.5, 1. ]]], dtype=float32)
    """
    batch = describe_images(images, layout)
    output_dtype = dtype_name(dtype) if dtype is not None else batch.dtype if "float" in batch.dtype else "float32"
    if "float" not in output_dtype:
        raise TypeError(f"dtype must be a float, got {output_dtype}")
    columns = parameters.per_channel_columns("mean", mean, batch) + parameters.per_channel_columns("std", std, batch)
    for i, column in enumerate(columns):
        _check.scaled_statistic("mean" if i < batch.channels else "std", column, batch.dtype)
    for std_column in columns[batch.channels :]:
        _check.divisor("std", std_column, batch.dtype)
    return pointwise.pointwise(
        batch, ("Normalize",), parameters.per_sample_columns("mean and std", columns, batch), output_dtype, out
    )


@overload
def to_dtype(
    images: PillowImage,
    dtype: DType = "float32",
    scale: bool = False,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Any: ...
@overload
def to_dtype(
    images: NumPyArray,
    dtype: DType = "float32",
    scale: bool = False,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> NumPyArray: ...
@overload
def to_dtype(
    images: Array,
    dtype: DType = "float32",
    scale: bool = False,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array: ...
@prefix_errors
@replayed
def to_dtype(
    images: Any,
    dtype: DType = "float32",
    scale: bool = False,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Any:
    """Convert to a dtype; values are scaled if ``scale`` is true. Integers are rounded half to even, and clamped.

    Args:
        dtype: The result's dtype, as a dtype of any library or its name.
        scale: Scale from 0..max of one dtype to 0..max of the other; the max of a float dtype is 1.

    All other arguments and the errors are those of :func:`adjust_brightness`; the result has ``dtype``.

    >>> import numpy as np
    >>> to_dtype(np.array([[0, 255]], np.uint8), "float32", scale=True)
    array([[0., 1.]], dtype=float32)
    """
    batch = describe_images(images, layout)
    # A pass scales from the range of one dtype to the other's by itself; `ConvertRange` undoes the scaling.
    ops = () if _check.boolean("scale", scale) else ("ConvertRange",)
    return pointwise.pointwise(batch, ops, parameters.per_sample_columns("", [], batch), dtype_name(dtype), out)
