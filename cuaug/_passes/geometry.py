"""Geometries: the coordinate functor of a warp and the fields of its record."""

from __future__ import annotations

from typing import NamedTuple

from .. import _check
from .._arrays.images import ImageBatch
from .._program.dtypes import ITEM_SIZE
from .parameters import NULL_ARRAY, SampleParameters, StridedArray

_MAX_FLOAT32_COORDINATE = (
    1 << 20
)  # kernels/geometry/coordinate_map.cuh: in its kernel maps of positions count from the corner
IDENTITY = SampleParameters(NULL_ARRAY, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0))  # a matrix that moves nothing


class Geometry(NamedTuple):
    """A coordinate functor and its record."""

    name: str
    fields: tuple[float, ...]  # of its record
    owners: tuple[StridedArray, ...]


def matrix_geometry(matrix: SampleParameters, inverse: bool, origin: str) -> Geometry:
    """`Affine` or `Perspective`, by the matrix's rows."""
    _check.one_of("origin", origin, ("center", "corner"))
    name = "Affine" if len(matrix.inline) == 6 else "Perspective"
    fields = *matrix.table[:5], *matrix.inline, bool(inverse), origin == "corner"
    return Geometry(name, fields, (matrix.table,))


def map_geometry(
    image: ImageBatch,
    x: StridedArray,
    y: StridedArray,
    size: tuple[int, int],
    scale: tuple[float, float],
    relative: bool,
) -> Geometry:
    """`CoordinateMap`: maps of positions, or of displacements, in units of `scale` (x, y) pixels.

    `CoordinateMap64` for maps of float64, and where sides, strides or offsets are negative or too large for float32 or
    32 bits.
    """
    (height, width), (down, right) = image.size, image.axes.strides[3:]
    farthest = max(
        height, width, *size, *(abs(stride) for table in (x, y) for stride in (table.row_stride, table.column_stride))
    )
    bytes_within = (height * down + width * right) * ITEM_SIZE[image.dtype]
    wide = (
        x.is_double
        or y.is_double
        or farthest >= _MAX_FLOAT32_COORDINATE
        or min(down, right) < 0
        or bytes_within >= 1 << 31
    )
    name = "CoordinateMap64" if wide else "CoordinateMap"
    fields = *x[:5], *y[:5], *scale, *scale, float(relative), bool(relative), *image.size
    return Geometry(name, fields, (x, y))
