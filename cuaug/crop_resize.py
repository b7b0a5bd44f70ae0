"""Crops, padding, flips and resizing: the result shows a box, which may reach beyond the image.

Positions and flips may be one value or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from typing import Any

from . import _check, _option_names, _sizes
from ._arrays import convert
from ._arrays.convert import parameter_column, stack_columns
from ._arrays.images import ImageBatch, describe_images
from ._check import prefix_errors
from ._passes import parameters, resample, warp
from ._passes.geometry import matrix_geometry
from ._passes.parameters import NULL_ARRAY, SampleParameters
from ._passes.replay import replayed
from ._program.functors import BORDERS
from .typing import AnyArray, Array, Border, DType, Fill, Layout, PerSample, ResizeInterpolation, Size

__all__ = ["center_crop", "crop", "hflip", "pad", "resize", "resized_crop", "vflip"]


@prefix_errors
@replayed
def resize(
    images: Array,
    size: Size | None,
    interpolation: ResizeInterpolation = "bilinear",
    max_size: int | None = None,
    antialias: bool | None = True,
    *,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Resize, as torchvision's ``resize`` and Pillow's.

    Args:
        size: (H, W), or the length of the shorter side, or None: ``max_size`` is the length of the longer side.
        interpolation: "nearest", "bilinear", "bicubic", "lanczos", or "area": the average over each output pixel, with
            source pixels weighted by the part that the output pixel covers (OpenCV's INTER_AREA).
        max_size: The limit of the longer side if ``size`` is one number.
        antialias: Widen the filter by the reduction, so that every source pixel counts; no effect on "nearest" and
            "area"; None is False. With antialias, "bicubic" and "lanczos" are Pillow's, also in an enlargement
            (a = -0.5, Lanczos-3); without antialias, they are OpenCV's (a = -0.75, Lanczos-4).

    All other arguments, the result and the errors are those of :func:`warp_affine`. "nearest" reads the
    source pixel that contains the destination pixel's centre (Pillow's rule, torchvision's "nearest-exact"). A
    reduction by more than 2**18, with antialias or "area", is a ValueError: resize in two steps.

    >>> import numpy as np
    >>> resize(np.array([[0, 2, 4, 6]], np.uint8), (1, 2))
    array([[1, 5]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    output_size = _sizes.resized_size(batch.size, size, max_size)
    return _resize(batch, (0, 0, *batch.size), output_size, interpolation, antialias, dtype, out)


@prefix_errors
@replayed
def resized_crop(
    images: Array,
    top: PerSample,
    left: PerSample,
    height: PerSample,
    width: PerSample,
    size: Size,
    interpolation: ResizeInterpolation = "bilinear",
    antialias: bool | None = True,
    *,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Crop a box and resize it, as torchvision's ``resized_crop``; the box may be one per sample.

    Args:
        top: First row of the box, in pixels. Pixels outside the image are 0. [] or [N]
        left: First column. [] or [N]
        height: Rows of the box. [] or [N]
        width: Columns of the box. [] or [N]
        size: (H, W) of the result, or one number for both.

    ``interpolation`` and ``antialias`` are those of :func:`resize`. All other arguments, the result and the errors are
    those of :func:`warp_affine`. Except with "nearest", the whole result of a sample is 0 if its box reaches more than
    65536 pixels beyond the image, or if its box is on the device and empty or not finite.

    >>> import numpy as np
    >>> resized_crop(np.array([[9, 0, 2, 4, 6]], np.uint8), 0, 1, 1, 4, (1, 2))
    array([[1, 5]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    output_size = _sizes.square_or_size("size", size)
    return _resize(batch, (top, left, height, width), output_size, interpolation, antialias, dtype, out)


@prefix_errors
@replayed
def crop(
    images: Array,
    top: PerSample,
    left: PerSample,
    height: int,
    width: int,
    *,
    fill: Fill = 0,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Crop a box, as torchvision's ``crop``; the position may be one per sample.

    Args:
        top: First row of the box, in pixels. Pixels outside the image are ``fill``. [] or [N]
        left: First column. [] or [N]
        height: Rows of the box.
        width: Columns of the box.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> crop(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 3)
    array([[2, 3, 0]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    size = _check.size("(height, width)", (height, width))
    return _scale_and_shift(batch, "top and left", size, (1, left), (1, top), "constant", fill, dtype, out)


@prefix_errors
@replayed
def center_crop(
    images: Array,
    output_size: Size,
    *,
    fill: Fill = 0,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Crop the middle, as torchvision's ``center_crop``; a larger size pads with ``fill``.

    Args:
        output_size: (H, W), or one number for both.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> center_crop(np.array([[1, 2, 3]], np.uint8), 1)
    array([[2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    height, width = _sizes.square_or_size("output_size", output_size)
    top, left = _sizes.center_offsets(batch.size, (height, width))
    return _scale_and_shift(batch, "output_size", (height, width), (1, left), (1, top), "constant", fill, dtype, out)


@prefix_errors
@replayed
def pad(
    images: Array,
    padding: Size,
    fill: Fill = None,
    padding_mode: Border = "constant",
    *,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Pad on each side, as torchvision's ``pad``; negative numbers crop.

    Args:
        padding: Pixels for all sides, for (left and right, top and bottom), or for (left, top, right, bottom).
        padding_mode: One of the borders of :func:`warp_affine`.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> pad(np.array([[1, 2, 3]], np.uint8), (1, 0), padding_mode="edge")
    array([[1, 1, 2, 3, 3]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    left, top, right, bottom = _sizes.padding_of(padding)
    size = _check.size("the padded size", (batch.size[0] + top + bottom, batch.size[1] + left + right))
    _check.one_of("padding_mode", padding_mode, BORDERS, _option_names.BORDERS)
    return _scale_and_shift(batch, "padding", size, (1, -left), (1, -top), padding_mode, fill, dtype, out)


@prefix_errors
@replayed
def hflip(
    images: Array,
    flip: PerSample = True,
    *,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Mirror left and right, as torchvision's ``horizontal_flip``; ``flip`` may be one per sample.

    Args:
        flip: Whether to mirror. [] or [N]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> hflip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    return _scale_and_shift(batch, "flip", batch.size, _mirror(flip, batch.size[1]), (1, 0), "constant", 0, dtype, out)


@prefix_errors
@replayed
def vflip(
    images: Array,
    flip: PerSample = True,
    *,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Mirror top and bottom, as torchvision's ``vertical_flip``; ``flip`` may be one per sample.

    Args:
        flip: Whether to mirror. [] or [N]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> vflip(np.array([[1], [2], [3]], np.uint8))
    array([[3],
           [2],
           [1]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    return _scale_and_shift(batch, "flip", batch.size, (1, 0), _mirror(flip, batch.size[0]), "constant", 0, dtype, out)


def _resize(
    batch: ImageBatch,
    box: tuple[Any, Any, Any, Any],
    size: tuple[int, int],
    interpolation: Any,
    antialias: bool | None,
    dtype: Any,
    out: Any,
) -> Any:
    interpolation = _check.interpolation(interpolation, resample.INTERPOLATIONS)
    antialias = resample.antialias_value(antialias)
    if interpolation == "nearest":
        top, left, height, width = parameters.box_columns(box)
        x_scale, y_scale = width / size[1], height / size[0]
        x = (x_scale, left + x_scale * 0.5 - 0.5)
        y = (y_scale, top + y_scale * 0.5 - 0.5)
        return _scale_and_shift(batch, "top, left, height and width", size, x, y, "constant", 0, dtype, out)
    return resample.resample(batch, parameters.boxes(box, batch), size, interpolation, antialias, dtype, out)


def _scale_and_shift(
    batch: ImageBatch,
    parameter: str,
    size: tuple[int, int],
    x: tuple[Any, Any],
    y: tuple[Any, Any],
    border: str,
    fill: Any,
    dtype: Any,
    out: Any,
) -> Any:
    """Reads the pixel nearest to ``factor * destination + offset`` on each axis. `x`, `y`: (factor, offset).

    Factors and offsets may be one per sample; `parameter` names them in errors.
    """
    x_factor, x_offset, y_factor, y_offset = (parameter_column(parameter, value) for value in (*x, *y))
    M = x_factor, 0.0, x_offset, 0.0, y_factor, y_offset
    if all(isinstance(entry, float) for entry in M):
        matrix = SampleParameters(NULL_ARRAY, M)
    else:
        entries = stack_columns(M)
        matrix = parameters.matrices(parameter, entries.reshape((*entries.shape[:-1], 2, 3)), batch, rows=2)
    geometry = matrix_geometry(matrix, inverse=True, origin="center")
    return warp.warp(batch, geometry, size, "nearest", border, fill, dtype, out)


def _mirror(flip: Any, extent: int) -> tuple[Any, Any]:
    """Factor and offset of an axis, mirrored for each sample whose `flip` is true."""
    if isinstance(flip, (bool, int)):
        return (-1, extent - 1) if flip else (1, 0)
    if convert.is_host(flip):
        is_flipped: Any = (convert.host_array("flip", flip) != 0).astype(float)
    else:  # bool first: every number but 0 is true
        is_flipped = convert.asarray(convert.asarray(flip, like=flip, dtype="bool"), like=flip, dtype="float32")
    return 1.0 - 2.0 * is_flipped, is_flipped * (extent - 1.0)
