"""Blur, JPEG, noise, erased boxes, normalization and dtypes of images and videos.

Except in ``to_dtype``, masks, boxes and keypoints are refused, as in torchvision.
"""

from __future__ import annotations

import functools
from typing import Any, overload

import numpy as np

from ... import _check, filter, levels, noise
from ..._arrays import convert
from ..._arrays.images import describe_images
from ..._arrays.pillow_library import PILLOW
from ..._arrays.registry import library_of
from ..._arrays.torch_library import TorchLibrary
from ..._arrays.tv_tensors import tv_kind, without_type, wrap_like
from ..._check import prefix_errors
from ..._integers import integer_value
from ..._program.dtypes import ITEM_SIZE, LABEL_LIMITS, MAX_VALUE
from ...typing import Array, DType, Ids, Layout, Numbers, NumPyArray, PerSample, PillowImage, Size
from ..sample_pillow import with_pixels
from .dispatch import apply_to_arrays, apply_to_images, require_writable

__all__ = ["convert_image_dtype", "erase", "gaussian_blur", "gaussian_noise", "jpeg", "normalize", "to_dtype"]


@prefix_errors
def gaussian_blur(
    inpt: Array, kernel_size: Size, sigma: Numbers | None = None, *, layout: Layout | None = None
) -> Array:
    """Blur along both axes, as :func:`cuaug.gaussian_blur`.

    ``inpt``, the result and the errors are those of :func:`adjust_brightness`. All other arguments are those of
    :func:`cuaug.gaussian_blur`.

    >>> import numpy as np
    >>> gaussian_blur(np.array([[0, 0, 100, 0, 0]], np.uint8), [3, 3], [1.0, 1.0])
    array([[ 0, 27, 45, 27,  0]], dtype=uint8)
    """
    return apply_to_images(inpt, layout, filter.gaussian_blur, kernel_size, sigma)


@prefix_errors
def gaussian_noise(
    inpt: Array,
    mean: PerSample = 0.0,
    sigma: PerSample = 0.1,
    clip: bool = True,
    *,
    seed: int | None = None,
    step: int = 0,
    ids: Ids = None,
    layout: Layout | None = None,
) -> Array:
    """Add normal noise, as :func:`cuaug.gaussian_noise`.

    ``inpt``, the result and the errors are those of :func:`adjust_brightness`. All other arguments are those of
    :func:`cuaug.gaussian_noise`.

    >>> import numpy as np
    >>> gaussian_noise(np.full((1, 4), 100, np.uint8), sigma=0.05, seed=1)
    array([[105, 108,  80, 109]], dtype=uint8)
    """
    function = functools.partial(noise.gaussian_noise, seed=seed, step=step, ids=ids)
    return apply_to_images(inpt, layout, function, mean, sigma, clip)


@prefix_errors
def jpeg(image: Array, quality: PerSample, *, layout: Layout | None = None) -> Array:
    """Encode as JPEG and decode again, as :func:`cuaug.jpeg`.

    ``image`` is ``inpt`` of :func:`adjust_brightness`; the result and the errors are those of
    :func:`adjust_brightness`. ``quality`` is that of :func:`cuaug.jpeg`.

    >>> import numpy as np
    >>> jpeg(np.array([[0, 0, 0, 255]], np.uint8), 50)
    array([[  0,   3,   0, 255]], dtype=uint8)
    """
    return apply_to_images(image, layout, filter.jpeg, quality)


@overload
def normalize(
    inpt: PillowImage, mean: Numbers, std: Numbers, inplace: bool = False, *, layout: Layout | None = None
) -> Any: ...
@overload
def normalize(
    inpt: NumPyArray, mean: Numbers, std: Numbers, inplace: bool = False, *, layout: Layout | None = None
) -> NumPyArray: ...
@overload
def normalize(
    inpt: Array, mean: Numbers, std: Numbers, inplace: bool = False, *, layout: Layout | None = None
) -> Array: ...
@prefix_errors
def normalize(inpt: Any, mean: Numbers, std: Numbers, inplace: bool = False, *, layout: Layout | None = None) -> Any:
    """Subtract a mean and divide by a standard deviation, as :func:`cuaug.normalize`.

    Args:
        mean: Per channel. [C] or [N, C]
        std: Per channel. [C] or [N, C]
        inplace: Write the result to ``inpt``, which must be writable floats, and return ``inpt``.

    All other arguments, the result and the errors are those of :func:`adjust_brightness`; integer images are divided
    by the maximum of their dtype and become float32.

    >>> import numpy as np
    >>> normalize(np.array([[[0, 255, 255]]], np.uint8), mean=[0.0, 0.5, 0.5], std=[1.0, 1.0, 0.5])
    array([[[0. , 0.5, 1. ]]], dtype=float32)
    """
    if inplace and "float" not in convert.dtype_name(getattr(inpt, "dtype", "uint8")):
        raise TypeError(f"inpt must be floats for inplace=True, got {type(inpt).__name__} of integers")
    if inplace:
        require_writable(inpt)
    result = apply_to_images(inpt, layout, levels.normalize, mean, std)
    return _write_to(inpt, result) if inplace else result


@prefix_errors
def erase(
    inpt: Array,
    i: PerSample,
    j: PerSample,
    h: PerSample,
    w: PerSample,
    v: Numbers,
    inplace: bool = False,
    *,
    layout: Layout | None = None,
) -> Array:
    """Fill a box of each image, as :func:`cuaug.erase`.

    Args:
        i: First row of the box. [N]
        j: First column. [N]
        h: Height of the box. [N]
        w: Width of the box. [N]
        v: A number, one per channel [C] or [N, C], or an array in the layout of ``inpt``: [C, 1, 1], or the pixels of
            the box, [C, h, w], for which i, j, h and w are one int each. Values for uint8, uint16 and int16 images are
            rounded half to even, and clamped to the dtype. Beside an image of Pillow, a torch tensor is [C, h, w], and
            another array [h, w, C].
        inplace: Write the result to ``inpt``, which must be writable, and return ``inpt``.

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> erase(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 1, v=9)
    array([[1, 9, 3]], dtype=uint8)
    """
    if inplace:
        require_writable(inpt)
    value = _value_of_box(v, inpt, layout)
    if len(getattr(value, "shape", ())) < 3:
        result = apply_to_images(inpt, layout, noise.erase, i, j, h, w, value)
    else:
        result = apply_to_arrays(inpt, layout, _replace_box, (i, j, h, w), value)
    return _write_to(inpt, result) if inplace else result


@overload
def to_dtype(
    inpt: PillowImage, dtype: DType = "float32", scale: bool = False, *, layout: Layout | None = None
) -> Any: ...
@overload
def to_dtype(
    inpt: NumPyArray, dtype: DType = "float32", scale: bool = False, *, layout: Layout | None = None
) -> NumPyArray: ...
@overload
def to_dtype(inpt: Array, dtype: DType = "float32", scale: bool = False, *, layout: Layout | None = None) -> Array: ...
@prefix_errors
def to_dtype(inpt: Any, dtype: DType = "float32", scale: bool = False, *, layout: Layout | None = None) -> Any:
    """Convert to a dtype, as :func:`cuaug.to_dtype`.

    Args:
        dtype: The result's dtype, as a dtype of any library or its name.
        scale: Scale from 0..max of one dtype to 0..max of the other; the max of a float dtype is 1. Masks, boxes and
            keypoints are converted, and never scaled. Without scaling, bool, int32 and int64 are accepted, too: floats
            are truncated to them, and integers wrap around in a smaller dtype, as in torch.

    All other arguments and the result are those of :func:`adjust_brightness`.

    Raises:
        TypeError: A dtype is not supported, or one of the two is bool, int32 or int64 and ``scale`` is True.

    >>> import numpy as np
    >>> to_dtype(np.array([[0, 255]], np.uint8), "float32", scale=True)
    array([[0., 1.]], dtype=float32)
    """
    name, values = convert.dtype_name(dtype), without_type(inpt if hasattr(inpt, "dtype") else with_pixels(inpt))
    has_label_dtype = hasattr(values, "dtype") and (
        name in LABEL_LIMITS or convert.dtype_name(values.dtype) in LABEL_LIMITS
    )
    if tv_kind(inpt) in (None, "images") and (scale or not has_label_dtype):
        return apply_to_images(inpt, layout, levels.to_dtype, dtype, scale)
    if name not in ITEM_SIZE:
        raise TypeError(f"dtype must be one of {', '.join(ITEM_SIZE)}, got {name}")
    return wrap_like(convert.asarray(values, like=values, dtype=name), inpt)


@overload
def convert_image_dtype(image: PillowImage, dtype: DType = "float32", *, layout: Layout | None = None) -> Any: ...
@overload
def convert_image_dtype(image: NumPyArray, dtype: DType = "float32", *, layout: Layout | None = None) -> NumPyArray: ...
@overload
def convert_image_dtype(image: Array, dtype: DType = "float32", *, layout: Layout | None = None) -> Array: ...
@prefix_errors
def convert_image_dtype(image: Any, dtype: DType = "float32", *, layout: Layout | None = None) -> Any:
    """Convert to a dtype, with values scaled: ``to_dtype(image, dtype, scale=True)``.

    ``image`` is ``inpt`` of :func:`to_dtype`. All other arguments, the result and the errors are those of
    :func:`to_dtype`.

    >>> import numpy as np
    >>> convert_image_dtype(np.array([[0, 255]], np.uint8))
    array([[0., 1.]], dtype=float32)
    """
    return to_dtype(image, dtype, True, layout=layout)


def _value_of_box(value: Any, inpt: Any, layout: Any) -> Any:
    """The value in the layout of `inpt`. [C, 1, 1] and [1, 1, C] become [C], and [1] becomes a number."""
    library, value_library = library_of(type(inpt)), library_of(type(value))
    if library is PILLOW and isinstance(value_library, TorchLibrary) and value.ndim == 3:
        value = value.permute(1, 2, 0)  # a tensor is [C, h, w] beside an image of Pillow, too
    shape = tuple(getattr(value, "shape", ()))
    if layout is None or library is PILLOW:  # images of Pillow are [H, W, C] whatever the layout
        channels_first = library is not None and library.channels_first
    else:
        channels_first = not str(layout).endswith("C")
    one_pixel = shape[1:] if channels_first else shape[:2]
    if len(shape) == 3 and one_pixel == (1, 1):
        value = value.reshape(-1)
    return value[0] if tuple(getattr(value, "shape", ())) == (1,) else value


def _replace_box(images: Any, box: tuple[Any, Any, Any, Any], value: Any, layout: Any) -> Any:
    """Replace the box (i, j, h, w) by pixels that broadcast to it. Parts of the box outside the image are dropped."""
    try:
        top, left = (integer_value(name, number) for name, number in zip("ij", box[:2], strict=True))
        box_size = [_check.integer(name, number, 0) for name, number in zip("hw", box[2:], strict=True)]
    except TypeError:
        raise ValueError(f"i, j, h and w must be one int each where v is an array of pixels, got {box}") from None
    batch = describe_images(images, layout)
    rows, columns = (batch.axes.layout.index(axis) for axis in "HW")
    shape = [*images.shape]
    shape[rows], shape[columns] = box_size
    pixels = _broadcast_pixels(value, images, tuple(shape), batch.dtype)
    pixels, top = _part_inside(pixels, rows, top, batch.size[0])
    pixels, left = _part_inside(pixels, columns, left, batch.size[1])
    band = _slice(images, rows, top, top + pixels.shape[rows])
    return _replace_slice(images, rows, top, _replace_slice(band, columns, left, pixels))


def _broadcast_pixels(value: Any, images: Any, shape: tuple[int, ...], dtype: str) -> Any:
    missing_axes = len(shape) - len(value.shape)
    if missing_axes < 0 or any(n not in (1, m) for n, m in zip(value.shape, shape[missing_axes:], strict=True)):
        raise ValueError(f"v must have a shape that broadcasts to {shape}, got {tuple(value.shape)}")
    return convert.namespace(images).broadcast_to(_to_dtype(value, images, dtype), shape)


def _to_dtype(value: Any, images: Any, dtype: str) -> Any:
    """The pixels in a dtype of images: for integers rounded and clamped, as `cuaug.erase` does; NaN becomes 0."""
    value_dtype = convert.dtype_name(value.dtype)
    if dtype in MAX_VALUE and value_dtype != dtype:
        xp, limits = convert.namespace(images), np.iinfo(dtype)
        float_dtype = "float64" if value_dtype == "float64" else "float32"  # holds all integers up to the limits
        value = xp.nan_to_num(convert.asarray(value, like=images, dtype=float_dtype, parameter="v"))
        value = xp.clip(xp.round(value), limits.min, limits.max)
    return convert.asarray(value, like=images, dtype=dtype, parameter="v")


def _part_inside(pixels: Any, axis: int, start: int, extent: int) -> tuple[Any, int]:
    """The pixels inside an image of this extent along an axis, and the position of the first one."""
    first, last = np.clip((start, start + pixels.shape[axis]), 0, extent).tolist()
    return _slice(pixels, axis, first - start, last - start), first


def _replace_slice(array: Any, axis: int, start: int, part: Any) -> Any:
    """The array with `part` in place of its entries from `start` on, along an axis."""
    stop = start + part.shape[axis]
    parts = [_slice(array, axis, 0, start), part, _slice(array, axis, stop, array.shape[axis])]
    return convert.namespace(array).concatenate(parts, axis)


def _slice(array: Any, axis: int, start: int, stop: int) -> Any:
    return array[(slice(None),) * axis + (slice(start, stop),)]


def _write_to(inpt: Any, result: Any) -> Any:
    without_type(inpt)[...] = without_type(result)
    return inpt
