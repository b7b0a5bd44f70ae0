"""Perspective maps of four points to four points, and points relative to their centre."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from . import small_matrices
from .convert import namespace
from .small_matrices import AxisScaling


class CentredPoints(NamedTuple):
    """Points relative to their weighted centre, and two lengths in pixels that show whether they are degenerate."""

    offsets: Any  # [..., P, 2]
    centre: Any  # [..., 2]
    spread: Any  # weighted mean of |x| + |y| over the offsets [...]
    coordinate_error: Any  # bound of the rounding error of the coordinates [...]


def centre_points(points: Any, weights: Any) -> CentredPoints:
    """`weights`: [..., P, 1], or one number for all points; they sum to 1."""
    # Relative to the first point: a float32 sum over many points at (3000, 3000) is off by a pixel.
    first = points[..., :1, :]
    shift = (weights * (points - first)).sum(-2, keepdims=True)
    offsets, centre = points - first - shift, (first + shift)[..., 0, :]
    spread = (weights * abs(offsets)).sum(-1).sum(-1)
    coordinate_error = small_matrices.relative_error_bound(points) * (abs(centre).sum(-1) + spread)
    return CentredPoints(offsets, centre, spread, coordinate_error)


class _Quad(NamedTuple):
    """Four points as a projective basis."""

    corners: Any  # the first three points, homogeneous, relative to the centre, divided by the spread [..., 3, 3]
    lines: Any  # the line opposite each corner [..., 3, 3]
    areas: Any  # the signed areas of the triangles of each line with the fourth point, times 2 [..., 3]
    to_pixels: AxisScaling  # maps the corners' coordinates to pixels
    valid: Any  # no three points are collinear [...]


def _quad(points: Any) -> _Quad:
    xp, (offsets, centre, spread, coordinate_error) = namespace(points), centre_points(points, 1 / 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        normalized_points = offsets / spread[..., None, None]
        homogeneous = xp.concatenate([normalized_points, xp.ones_like(normalized_points[..., :1])], -1)
        corners = homogeneous[..., :3, :]
        lines = small_matrices.cofactors(corners)
        areas = (lines * homogeneous[..., 3:, :]).sum(-1)
        # The three areas add up to that of the triangle of the first three points.
        triangles = xp.concatenate([areas, areas.sum(-1, keepdims=True)], -1)
        valid = (abs(triangles) > (coordinate_error / spread)[..., None]).all(-1)
    spread = spread[..., None]
    return _Quad(corners, lines, areas, (spread, centre[..., :1], spread, centre[..., 1:]), valid)


def quad_to_quad(**points: Any) -> Any:
    """`cuaug.get_perspective_transform`. `points`: the two sets of points, by their names in error messages."""
    src, dst = small_matrices.broadcast_arguments(**{name: (quad, ((4,), (2,))) for name, quad in points.items()})
    start, end = quads = _quad(src), _quad(dst)
    for name, values, quad in zip(points, (src, dst), quads, strict=True):
        small_matrices.require(name, values, quad.valid, "must not have three collinear points")
    xp = namespace(src)
    with np.errstate(divide="ignore", invalid="ignore"):
        # M maps each corner of `src` to a multiple of the same corner of `dst`, because the line opposite a corner is 0
        # at the other two corners. The ratios of the areas map the fourth point to the fourth point.
        rows = (end.areas / start.areas)[..., None] * start.lines
        M = (end.corners[..., :, :, None] * rows[..., :, None, :]).sum(-3)
        sx, tx, sy, ty = start.to_pixels
        M = small_matrices.change_coordinates(M, (1 / sx, -tx / sx, 1 / sy, -ty / sy), end.to_pixels)
        last = M[..., 2:, 2:]
        M = M / xp.where(last == 0, 1.0, last)
    return xp.where((start.valid & end.valid)[..., None, None], M, math.nan)
