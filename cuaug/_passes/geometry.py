"""Geometries: the coordinate functor of a warp and the fields of its record."""

from __future__ import annotations

from typing import NamedTuple

from .. import _check
from .._arrays.images import ImageBatch
from .._program.dtypes import ITEM_SIZE
from .parameters import NULL_ARRAY, SampleParameters, StridedArray

_FLOAT32_SIDE_LIMIT = 1 << 20  # `float32_side_limit` of kernels/geometry/coordinate_map.cuh
IDENTITY = SampleParameters(NULL_ARRAY, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0))


class Geometry(NamedTuple):
    """A coordinate functor and its record."""

    name: str
    fields: tuple[float, ...]
    owners: tuple[StridedArray, ...]  # keep the arrays alive that the fields point to


def matrix_geometry(matrix: SampleParameters, inverse: bool, origin: str) -> Geometry:
    """`Affine` for six matrix entries, `Perspective` for nine.

    `matrix.inline` has six or nine numbers even if a table holds the matrices.
    """
    _check.one_of("origin", origin, ("center", "corner"))
    inverse = _check.boolean("inverse", inverse)
    name = "Affine" if len(matrix.inline) == 6 else "Perspective"
    fields = *matrix.table[:5], *matrix.inline, inverse, origin == "corner"
    return Geometry(name, fields, (matrix.table,))


def whole_pixel_shift(geometry: Geometry) -> tuple[int, int] | None:
    """(row, column) of the input pixel that output pixel (0, 0) shows, if one whole-pixel shift serves all samples."""
    if geometry.name != "Affine" or geometry.fields[0]:
        return None
    _, _, _, _, _, a, b, x, d, e, y, inverse, _ = geometry.fields
    is_shift = (a, b, d, e) == (1, 0, 0, 1) and max(abs(x), abs(y)) < _check.SIDE_LIMIT and x == int(x) and y == int(y)
    sign = 1 if inverse else -1
    return (sign * int(y), sign * int(x)) if is_shift else None


def map_geometry(
    images: ImageBatch,
    x: StridedArray,
    y: StridedArray,
    size: tuple[int, int],
    scale: tuple[float, float],
    relative: bool,
) -> Geometry:
    """`CoordinateMap`: maps of positions, or of displacements if `relative`, in units of `scale` (x, y) pixels.

    `CoordinateMap64` is for float64 maps, for images with negative strides, for sides at which a float32 coordinate has
    too few bits for its fraction, and for offsets that do not fit into 32 bits: images of 2 GiB or more, and maps with
    a stride of at least `_FLOAT32_SIDE_LIMIT` elements, of which the kernel computes small multiples.
    """
    relative = _check.boolean("relative", relative)
    (height, width), (row_stride, column_stride) = images.size, images.axes.strides[3:]
    map_strides = x.row_stride, x.column_stride, y.row_stride, y.column_stride
    image_bytes = (height * row_stride + width * column_stride) * ITEM_SIZE[images.dtype]
    needs_64bit = (
        x.is_double
        or y.is_double
        or max(height, width, *size, *map(abs, map_strides)) >= _FLOAT32_SIDE_LIMIT
        or min(row_stride, column_stride) < 0
        or image_bytes >= 1 << 31
    )
    name = "CoordinateMap64" if needs_64bit else "CoordinateMap"
    # The record has the scale in float64 and in float32, and `relative` as float32 and int (coordinate_map.cuh).
    fields = *x[:5], *y[:5], *scale, *scale, float(relative), relative, *images.size
    return Geometry(name, fields, (x, y))
