"""Warps: functions that move pixels by a matrix or a coordinate map.

Each function builds a geometry, which maps destination pixels to source pixels, and runs one pass. Parameters may be
one value or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _check
from ._arrays import convert
from ._arrays.images import ImageBatch, describe_images, describe_out
from ._check import prefix_errors
from ._matrices import canvas_maps
from ._passes import parameters, warp
from ._passes.geometry import map_geometry, matrix_geometry
from ._passes.replay import replayed
from ._value_text import value_text
from .typing import AnyArray, Array, Border, DType, Fill, Interpolation, Layout, Numbers, Origin, PerSample

__all__ = ["affine", "elastic", "perspective", "remap", "rotate", "warp_affine", "warp_perspective"]


@prefix_errors
@replayed
def warp_affine(
    images: Array,
    M: Numbers,
    size: Sequence[int] | None = None,
    *,
    interpolation: Interpolation = "bilinear",
    border: Border = "constant",
    fill: Fill = 0,
    inverse: bool = False,
    origin: Origin = "center",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Warp by an affine map, one matrix per sample or one for all, as ``cv2.warpAffine``.

    Args:
        images: torch, cupy, numpy or jax. [N, C, H, W], [N, H, W, C] or without N
        M: Source to destination, in pixels (x, y). [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        size: (H, W) of the result; default: the images' size.
        interpolation: "nearest", "bilinear", "bicubic" or "lanczos".
        border: "constant" (``fill``), "edge", "reflect", "symmetric" or "wrap".
        fill: A number, one per channel [C], or one per sample and channel [N, C]. None is 0.
        inverse: Whether ``M`` maps destination to source.
        origin: The coordinates of ``M``: "center" has pixel centres at integers, "corner" at integers + 0.5.
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        dtype: The result's dtype; values are not scaled. Default: the images' dtype.
        out: The array to write, in the result's shape and dtype, in other memory than ``images``.

    Returns:
        A new array of the same library, device and layout, or ``out``. A singular ``M`` on a device gives ``fill``.

    Raises:
        ValueError: A host ``M`` is not finite or not invertible; a shape or an option does not fit; an ambiguous shape.
        TypeError: A dtype, a library or a device is not supported.

    >>> import numpy as np
    >>> warp_affine(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0]])  # one pixel to the right
    array([[0, 1, 2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    output_size = batch.size if size is None else _check.size("size", size)
    geometry = matrix_geometry(parameters.matrices("M", M, batch, rows=2), inverse, origin)
    return warp.warp(batch, geometry, output_size, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def warp_perspective(
    images: Array,
    M: Numbers,
    size: Sequence[int] | None = None,
    *,
    interpolation: Interpolation = "bilinear",
    border: Border = "constant",
    fill: Fill = 0,
    inverse: bool = False,
    origin: Origin = "center",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Warp by a homography, one matrix per sample or one for all, as ``cv2.warpPerspective``.

    Args:
        M: Source to destination, in pixels (x, y); its numbers and those of its inverse are within float32's range.
            [3, 3] or [N, 3, 3]

    All other arguments, the result and the errors are those of :func:`warp_affine`. Pixels on the horizon (w = 0) are
    ``fill``.

    >>> import numpy as np
    >>> warp_perspective(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    array([[0, 1, 2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    output_size = batch.size if size is None else _check.size("size", size)
    geometry = matrix_geometry(parameters.matrices("M", M, batch, rows=3), inverse, origin)
    return warp.warp(batch, geometry, output_size, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def remap(
    images: Array,
    map_x: Numbers,
    map_y: Numbers,
    *,
    relative: bool = False,
    interpolation: Interpolation = "bilinear",
    border: Border = "constant",
    fill: Fill = 0,
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Read the source at the positions in two maps, as ``cv2.remap``; the result has the maps' size.

    Args:
        map_x: The source x of every destination pixel, in pixels; float32 or float64. [H, W] or [N, H, W]
        map_y: The source y. [H, W] or [N, H, W]
        relative: The maps hold displacements: the source is the destination pixel plus the map.

    All other arguments, the result and the errors are those of :func:`warp_affine`. A coordinate that is not finite
    gives ``fill``.

    >>> import numpy as np
    >>> x, y = np.array([[2.0, 1.0, 0.0]]), np.zeros((1, 3))
    >>> remap(np.array([[1, 2, 3]], np.uint8), x, y)
    array([[3, 2, 1]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    maps = ("map_x", map_x), ("map_y", map_y)
    return _remap(batch, maps, (1.0, 1.0), relative, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def elastic(
    images: Array,
    displacement: Numbers,
    interpolation: Interpolation = "bilinear",
    fill: Fill = None,
    *,
    border: Border = "constant",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Displace each pixel by a field, as torchvision's ``elastic``; the field may be one per sample.

    Args:
        displacement: Source minus destination position, (x, y), in units of half the width and half the height.
            [1 or N, H, W, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> field = np.zeros((1, 1, 4, 2)); field[..., 0] = 2 / 4  # one pixel of four
    >>> elastic(np.array([[1, 2, 3, 4]], np.uint8), field)
    array([[2, 3, 4, 0]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    height, width = batch.size
    field: Any = displacement
    if isinstance(displacement, (list, tuple)):
        field = convert.host_array("displacement", displacement)
    shape = tuple(np.shape(field))
    if shape[-3:] != (height, width, 2) or len(shape) > 4:
        raise ValueError(f"displacement must have shape (1 or N, {height}, {width}, 2), got {shape}")
    maps = ("displacement", field[..., 0]), ("displacement", field[..., 1])
    return _remap(batch, maps, (width / 2, height / 2), True, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def affine(
    images: Array,
    angle: PerSample,
    translate: Numbers,
    scale: PerSample,
    shear: Numbers,
    interpolation: Interpolation = "nearest",
    fill: Fill = None,
    center: Numbers | None = None,
    *,
    border: Border = "constant",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Shear, scale, rotate and translate, as torchvision's ``affine``; each parameter may be one per sample.

    Args:
        angle: Degrees, clockwise. [] or [N]
        translate: Pixels (x, y). [2] or [N, 2]
        scale: Greater than 0. [] or [N]
        shear: Degrees (x, y), a list of one number for both, or one number for x alone. [2] or [N, 2]
        center: The centre (x, y) of rotation, scale and shear, from the image's top left corner; default:
            (W / 2, H / 2). [2] or [N, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> affine(np.array([[1, 2, 3]], np.uint8), angle=0, translate=(1, 0), scale=1, shear=(0, 0))
    array([[0, 1, 2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    M, size = canvas_maps.affine(batch.size, angle, translate, scale, shear, center)
    if M.ndim > 3:
        _refuse_batch_axes({"angle": angle, "scale": scale}, ())
        _refuse_batch_axes({"translate": translate, "shear": shear, "center": center}, (2,))
    matrix = parameters.matrices("angle, translate, scale, shear and center", M, batch, rows=2)
    geometry = matrix_geometry(matrix, inverse=False, origin="center")
    return warp.warp(batch, geometry, size, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def rotate(
    images: Array,
    angle: PerSample,
    interpolation: Interpolation = "nearest",
    expand: bool = False,
    center: Numbers | None = None,
    fill: Fill = None,
    *,
    border: Border = "constant",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Rotate about a point, as torchvision's ``rotate``; the angle may be one per sample.

    Args:
        angle: Degrees, counter-clockwise. [] or [N]. Multiples of 90 are exact: square images, images turned by
            180 degrees, and all images with ``expand``, equal ``np.rot90`` with every interpolation.
        expand: Make the result large enough for every rotated image; needs angles on the host. ``center`` is neither
            used nor checked then. Each image is in the middle, on whole pixels: an odd pixel is to the right and below.
        center: As in :func:`affine`. [2] or [N, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> rotate(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8), 90)
    array([[3, 6, 9],
           [2, 5, 8],
           [1, 4, 7]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    M, size = canvas_maps.rotation(batch.size, angle, expand, center)
    if M.ndim > 3:
        _refuse_batch_axes({"angle": angle}, ())
        _refuse_batch_axes({"center": center}, (2,))
    geometry = matrix_geometry(parameters.matrices("angle", M, batch, rows=2), inverse=False, origin="center")
    return warp.warp(batch, geometry, size, interpolation, border, fill, dtype, out)


@prefix_errors
@replayed
def perspective(
    images: Array,
    startpoints: Numbers | None,
    endpoints: Numbers | None,
    interpolation: Interpolation = "bilinear",
    fill: Fill = None,
    coefficients: Numbers | None = None,
    *,
    border: Border = "constant",
    layout: Layout | None = None,
    dtype: DType | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Map four points to four points, as torchvision's ``perspective``; points may be one set per sample.

    Args:
        startpoints: (x, y) from the image's top left corner. [4, 2] or [N, 4, 2]
        endpoints: The points to map them to. [4, 2] or [N, 4, 2]
        coefficients: Used instead of the points, which must be None: a..h with the source position
            ``x = (a X + b Y + c) / w``, ``y = (d X + e Y + f) / w``, ``w = g X + h Y + 1`` for the destination
            position (X, Y), both from the top left corner. [8] or [N, 8]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> square = [[0, 0], [3, 0], [3, 1], [0, 1]]
    >>> perspective(np.array([[1, 2, 3]], np.uint8), square, [[x + 1, y] for x, y in square])
    array([[0, 1, 2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    M, inverse = canvas_maps.perspective_matrix(startpoints, endpoints, coefficients)
    if M.ndim > 3:
        _refuse_batch_axes({"startpoints": startpoints, "endpoints": endpoints}, (4, 2))
    name = "startpoints and endpoints" if coefficients is None else "coefficients"
    geometry = matrix_geometry(parameters.matrices(name, M, batch, rows=3), inverse, origin="corner")
    return warp.warp(batch, geometry, batch.size, interpolation, border, fill, dtype, out)


def _refuse_batch_axes(values: dict[str, Any], shape: tuple[int, ...]) -> None:
    """Raises ValueError for a value that has more axes than a batch. `shape`: of the value of one sample."""
    for name, value in values.items():
        if np.ndim(value) > len(shape) + 1:
            if not shape:
                raise ValueError(f"{name} must be one number or one per sample, got {value_text(value)}")
            extents = ", ".join(map(str, shape))
            raise ValueError(f"{name} must have shape {shape} or (N, {extents}), got {np.shape(value)}")


def _remap(
    batch: ImageBatch,
    maps: tuple[tuple[str, Any], tuple[str, Any]],
    scale: tuple[float, float],
    relative: bool,
    interpolation: Any,
    border: str,
    fill: Any,
    dtype: Any,
    out: Any,
) -> Any:
    """`maps`: of x, then of y, each with its parameter's name for messages. `scale`: pixels per unit, (x, y)."""
    (x, size), (y, y_size) = (parameters.coordinate_maps(name, values, batch) for name, values in maps)
    if size != y_size:
        raise ValueError(f"map_x and map_y must have the same size, got {size} and {y_size}")
    if out is not None:
        output = describe_out(out, batch, size, batch.dtype if dtype is None else convert.dtype_name(dtype))
        for (name, _), values in zip(maps, (x, y), strict=True):
            parameters.check_no_overlap(name, values, (batch.samples, *size), output)
    geometry = map_geometry(batch, x, y, size, scale, relative)
    return warp.warp(batch, geometry, size, interpolation, border, fill, dtype, out)
