"""The matrix builders in the operations of array libraries, for torch's autograd and compiler.

kernels/matrices computes the same on a GPU and a CPU. Products are elementwise products and sums: a library's solver or
matrix product may synchronise, or round to TF32. The arguments have one library, dtype and batch shape [...].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.convert import detach, namespace
from .._arrays.small_matrices import cofactors, require

# Scale and shift of both axes, (sx, tx, sy, ty): u = sx * x + tx, v = sy * y + ty. Numbers or arrays [..., 1].
AxisScaling = Sequence[Any]
# 4 eps. Times the sum of the terms' absolute values, it bounds the rounding error of a short sum.
ERROR_BOUND = {name: 4 * float(np.finfo(name).eps) for name in ("float32", "float64")}


def rotation_matrix(angle: Any, scale: Any, center: Any) -> Any:
    cosine, sine = cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    return _linear_to_affine(_matrix_2x2(cosine, sine, -sine, cosine), center, center)


def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Any:
    xp, radians = namespace(angle), shear * (math.pi / 180)
    slope_x, slope_y = xp.tan(radians[..., 0]), xp.tan(radians[..., 1])
    cosine, sine = cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    # As in torchvision: rotate(angle) @ shear_y @ shear_x, about a centre that is measured from the image's corner.
    a, c = cosine + sine * slope_y, sine - cosine * slope_y
    b, d = -a * slope_x - sine, cosine - c * slope_x
    return _linear_to_affine(_matrix_2x2(a, b, c, d), center - 0.5, center - 0.5 + translate)


def inverse(M: Any) -> Any:
    """The inverse, in the shape of `M`. A singular `M` raises ValueError on the host and gives NaN on a device."""
    xp, full = namespace(M), _to_3x3(M)
    cofactor_matrix = cofactors(full)
    terms = full * cofactor_matrix
    determinant, magnitude = terms.sum(-1), abs(terms).sum(-1)
    # The expansion along each row gives the determinant. If one of the three expansions differs from 0 by no more than
    # its rounding error, the matrix counts as singular.
    valid = (abs(determinant) > ERROR_BOUND[_dtype_name(M)] * magnitude).all(-1)
    require("M", M, valid, "must not be singular")
    result = xp.swapaxes(cofactor_matrix, -1, -2) / determinant[..., :1, None]
    return xp.where(valid[..., None, None], result, math.nan)[..., : M.shape[-2], :]


def compose(*maps: Any) -> Any:
    rows = max(matrix.shape[-2] for matrix in maps)
    product = _to_3x3(maps[0])
    for matrix in maps[1:]:
        product = (_to_3x3(matrix)[..., :, :, None] * product[..., None, :, :]).sum(-2)
    return product[..., :rows, :]


def convert(M: Any, numbers: Sequence[float], inverted: bool = False) -> Any:
    """`numbers`: the changes of coordinates before and after `M`."""
    converted = _change_coordinates(_to_3x3(M), numbers[:4], numbers[4:])[..., : M.shape[-2], :]
    return inverse(converted) if inverted else converted


def stack_numbers(*numbers: Any) -> Any:
    return namespace(*numbers).stack(numbers, -1)


def map_points(points: Any, M: Any) -> Any:
    """Points [..., P, 2] mapped by matrices [..., 2 or 3, 3]."""
    return map_each_point(points, M[..., None, :, :])


def map_each_point(points: Any, M: Any) -> Any:
    """Points [..., 2] mapped by matrices [..., 2 or 3, 3]."""
    mapped = (M[..., :2] * points[..., None, :]).sum(-1) + M[..., 2]
    return mapped[..., :2] / mapped[..., 2:] if M.shape[-2] == 3 else mapped


def cosine_sine(degrees: Any) -> tuple[Any, Any]:
    """Cosine and sine. Those of multiples of 90 degrees are exactly 0, 1 or -1."""
    xp, radians = namespace(degrees), degrees * (math.pi / 180)
    cosine, sine = xp.cos(radians), xp.sin(radians)
    is_multiple, quarter = degrees % 90 == 0, detach(degrees) % 360 / 90
    # `quarter` is 0, 1, 2 or 3 where it is used. The differences are 0, and have the gradient of cosine and sine.
    exact_cosine = abs(quarter - 2) - 1 + (cosine - detach(cosine))
    exact_sine = 1 - abs(quarter - 1) + (sine - detach(sine))
    return xp.where(is_multiple, exact_cosine, cosine), xp.where(is_multiple, exact_sine, sine)


def _dtype_name(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def _matrix_2x2(a: Any, b: Any, c: Any, d: Any) -> Any:
    """[[a, b], [c, d]]."""
    return namespace(a).stack([a, b, c, d], -1).reshape((*a.shape, 2, 2))


def _linear_to_affine(linear: Any, start: Any, end: Any) -> Any:
    """The 2x3 matrix with this linear part [..., 2, 2] that maps the point ``start`` to ``end`` [..., 2]."""
    shift = end - (linear * start[..., None, :]).sum(-1)
    return namespace(linear).concatenate([linear, shift[..., None]], -1)


def _to_3x3(M: Any) -> Any:
    """Appends the row (0, 0, 1) to a 2x3 matrix."""
    if M.shape[-2] == 3:
        return M
    xp, zero = namespace(M), namespace(M).zeros_like(M[..., :1, 0])
    return xp.concatenate([M, xp.stack([zero, zero, zero + 1], -1)], -2)


def _change_coordinates(M: Any, before: AxisScaling, after: AxisScaling) -> Any:
    """``after @ M @ before``, with `before` and `after` as 3x3 matrices. [..., 3, 3]"""
    stack = namespace(M).stack
    sx, tx, sy, ty = before
    column_x, column_y, column_1 = M[..., 0], M[..., 1], M[..., 2]
    M = stack([column_x * sx, column_y * sy, column_x * tx + column_y * ty + column_1], -1)
    sx, tx, sy, ty = after
    row_x, row_y, row_1 = M[..., 0, :], M[..., 1, :], M[..., 2, :]
    return stack([row_x * sx + row_1 * tx, row_y * sy + row_1 * ty, row_1], -2)


class _CentredPoints(NamedTuple):
    """Points relative to their weighted centre, and two lengths in pixels that show whether they are degenerate."""

    offsets: Any  # [..., P, 2]
    centre: Any  # [..., 2]
    spread: Any  # weighted mean of |x| + |y| over the offsets [...]
    coordinate_error: Any  # bound of the rounding error of the coordinates [...]


def _centre_points(points: Any, weights: Any) -> _CentredPoints:
    """`weights`: [..., P, 1], or one number for all points; they sum to 1."""
    # Relative to the first point: a float32 sum over many points at (3000, 3000) is off by a pixel.
    first = points[..., :1, :]
    shift = (weights * (points - first)).sum(-2, keepdims=True)
    offsets, centre = points - first - shift, (first + shift)[..., 0, :]
    spread = (weights * abs(offsets)).sum(-1).sum(-1)
    coordinate_error = ERROR_BOUND[_dtype_name(points)] * (abs(centre).sum(-1) + spread)
    return _CentredPoints(offsets, centre, spread, coordinate_error)


WITH_WEIGHTS = " where weights are not 0"  # ends the rules for the points of a fit


def fit(src: Any, dst: Any, weights: Any = None, *, kind: str) -> Any:
    """Weighted least squares."""
    share: Any = 1 / src.shape[-2]
    if weights is not None:
        valid = (weights >= 0).all(-1) & (weights.sum(-1) > 0)
        require("weights", weights, valid, "must not be negative, nor all zero")
        weights = namespace(weights).where(valid[..., None], weights, math.nan)
        share = (weights / weights.sum(-1, keepdims=True))[..., None]
    start, end = _centre_points(src, share), _centre_points(dst, share)
    scale = start.spread[..., None, None]  # p and q are in units of the spread of `src`, as is `error`
    p, q, error = start.offsets / scale, end.offsets / scale, start.coordinate_error / start.spread
    mean_square = (share * p * p).sum(-1).sum(-1)
    if kind == "affine":
        linear, valid = _fit_linear(p, q, share, error, mean_square)
        rule = "must not be collinear or coincident"
    else:
        # Points as complex numbers x + iy: the best z in q = z * p is <p, q> / <p, p>, never a reflection.
        dot = (share * p * q).sum(-1).sum(-1)
        cross = (share * (p[..., :1] * q[..., 1:] - p[..., 1:] * q[..., :1])).sum(-1).sum(-1)
        norm = namespace(src).sqrt(dot * dot + cross * cross) if kind == "rigid" else mean_square
        linear = _matrix_2x2(dot / norm, -cross / norm, cross / norm, dot / norm)
        valid, rule = mean_square > error * error, "must not be coincident"
    require("src", src, valid, rule if weights is None else rule + WITH_WEIGHTS)
    if kind == "rigid":
        has_rotation = norm > error + end.coordinate_error / start.spread
        rule = "must determine a rotation: its points coincide, or all rotations of src fit equally well"
        require("dst", dst, has_rotation, rule)
        valid = valid & has_rotation
    M = _linear_to_affine(linear, start.centre, end.centre)
    return namespace(src).where(valid[..., None, None], M, math.nan)


def _fit_linear(p: Any, q: Any, weights: Any, error: Any, mean_square: Any) -> tuple[Any, Any]:
    """The matrices [..., 2, 2], and whether the points `p` are not collinear.

    By Gram-Schmidt, because a solution through the determinant of the moments loses half of the digits for points near
    a line. xx * yy / mean_square is about the variance across the best line. It must exceed the squared error.
    """
    x, y = p[..., :1], p[..., 1:]
    xx = (weights * x * x).sum(-2)
    slope = (weights * x * y).sum(-2) / xx
    residual = y - slope[..., None, :] * x
    yy = (weights * residual * residual).sum(-2)
    y_column = (weights * residual * q).sum(-2) / yy
    x_column = (weights * x * q).sum(-2) / xx - slope * y_column
    return namespace(p).stack([x_column, y_column], -1), (xx * yy)[..., 0] > error * error * mean_square


class _Quad(NamedTuple):
    """Four points as a projective basis."""

    corners: Any  # the first three points, homogeneous, relative to the centre, divided by the spread [..., 3, 3]
    lines: Any  # the line opposite each corner [..., 3, 3]
    areas: Any  # the signed areas of the triangles of each line with the fourth point, times 2 [..., 3]
    to_pixels: AxisScaling  # maps the corners' coordinates to pixels
    valid: Any  # no three points are collinear [...]


def _quad(points: Any) -> _Quad:
    xp, (offsets, centre, spread, coordinate_error) = namespace(points), _centre_points(points, 1 / 4)
    normalized_points = offsets / spread[..., None, None]
    homogeneous = xp.concatenate([normalized_points, xp.ones_like(normalized_points[..., :1])], -1)
    corners = homogeneous[..., :3, :]
    lines = cofactors(corners)
    areas = (lines * homogeneous[..., 3:, :]).sum(-1)
    # The three areas add up to that of the triangle of the first three points.
    triangles = xp.concatenate([areas, areas.sum(-1, keepdims=True)], -1)
    valid = (abs(triangles) > (coordinate_error / spread)[..., None]).all(-1)
    spread = spread[..., None]
    return _Quad(corners, lines, areas, (spread, centre[..., :1], spread, centre[..., 1:]), valid)


def quad_to_quad(src: Any, dst: Any) -> Any:
    start, end = quads = _quad(src), _quad(dst)
    for name, points, quad in zip(("src", "dst"), (src, dst), quads, strict=True):
        require(name, points, quad.valid, "must not have three collinear points")
    xp = namespace(src)
    # M maps each corner of `src` to a multiple of the same corner of `dst`, because the line opposite a corner is 0
    # at the other two corners. The ratios of the areas map the fourth point to the fourth point.
    rows = (end.areas / start.areas)[..., None] * start.lines
    M = (end.corners[..., :, :, None] * rows[..., :, None, :]).sum(-3)
    sx, tx, sy, ty = start.to_pixels
    M = _change_coordinates(M, (1 / sx, -tx / sx, 1 / sy, -ty / sy), end.to_pixels)
    last = M[..., 2:, 2:]
    M = M / xp.where(last == 0, 1.0, last)
    return xp.where((start.valid & end.valid)[..., None, None], M, math.nan)


def coefficient_matrix(coefficients: Any) -> Any:
    """The matrix with these first eight entries and the last entry 1."""
    xp = namespace(coefficients)
    entries = xp.concatenate([coefficients, xp.ones_like(coefficients[..., :1])], -1)
    return entries.reshape((*coefficients.shape[:-1], 3, 3))
