"""The map that takes points to points: exactly for three or four of them, by least squares for more.

Arguments, results and conventions are those of :mod:`cuaug.geometry`.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _check
from ._arrays import small_matrices as _matrices
from ._arrays.convert import namespace
from ._arrays.small_matrices import POINTS, Frame

__all__ = ["estimate_affine", "get_affine_transform", "get_perspective_transform"]

Kind = Literal["affine", "similarity", "rigid"]


@_check.prefix_errors("cuaug")
def get_affine_transform(src: Any, dst: Any) -> Any:
    """The affine map that takes three points to three points, as ``cv2.getAffineTransform``.

    Args:
        src: Points before, in pixels. [3, 2] or [N, 3, 2]
        dst: Points after. [3, 2] or [N, 3, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = (x', y')``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; ``src`` is collinear.

    >>> print(get_affine_transform([(0, 0), (1, 0), (0, 1)], [(5, 7), (7, 7), (5, 10)]).round(9) + 0)
    [[2. 0. 5.]
     [0. 3. 7.]]
    """
    src, dst = _matrices.broadcast_arguments(src=(src, ((3,), (2,))), dst=(dst, ((3,), (2,))))
    return _fit(src, dst, "affine", 1 / 3)


@_check.prefix_errors("cuaug")
def estimate_affine(src: Any, dst: Any, kind: Kind = "affine", weights: Any = None) -> Any:
    """The map that minimises ``sum(w * |M @ (x, y, 1) - (x', y')|^2)`` in closed form.

    Args:
        src: At least 3 points for "affine", 2 otherwise, in pixels. [P, 2] or [N, P, 2]
        dst: Where they should go. [P, 2] or [N, P, 2]
        kind: "affine"; "similarity" (rotation, uniform scale, shift); "rigid" (rotation, shift). The last two never
            reflect (Umeyama 1991).
        weights: Not negative, not all zero; equal by default. [P] or [N, P]

    Returns:
        ``M``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: Too few points; a host value is not finite; ``src`` is collinear (affine) or coincident; "rigid" and
            no rotation is the best.

    >>> print(estimate_affine([(0, 0), (2, 0), (2, 2)], [(5, 5), (5, 9), (1, 9)], "similarity").round(9) + 0)
    [[ 0. -2.  5.]
     [ 2.  0.  5.]]
    """
    least = {"affine": 3, "similarity": 2, "rigid": 2}
    _check.one_of("kind", kind, tuple(least))
    if weights is None:
        src, dst = _matrices.broadcast_arguments(src=(src, POINTS), dst=(dst, POINTS))
    else:
        src, dst, weights = _matrices.broadcast_arguments(
            src=(src, POINTS), dst=(dst, POINTS), weights=(weights, ((),))
        )
    count = src.shape[-2]
    if count < least[kind]:
        raise ValueError(f"src must have at least {least[kind]} points for {kind!r}, got {count}")
    if dst.shape[-2] != count:
        raise ValueError(f"dst must have as many points as src, {count}, got {dst.shape[-2]}")
    if weights is None:
        return _fit(src, dst, kind, 1 / count)
    if weights.shape[-1] != count:
        raise ValueError(f"weights must have one number per point, {count}, got {weights.shape[-1]}")
    proper = (weights >= 0).all(-1) & (weights.sum(-1) > 0)
    _matrices.require("weights", weights, proper, "must not be negative and not all zero")
    weights = namespace(weights).where(proper[..., None], weights, math.nan)
    return _fit(src, dst, kind, (weights / weights.sum(-1, keepdims=True))[..., None])


@_check.prefix_errors("cuaug")
def get_perspective_transform(src: Any, dst: Any) -> Any:
    """The perspective map that takes four points to four points, as ``cv2.getPerspectiveTransform``.

    Args:
        src: Points before, in pixels. [4, 2] or [N, 4, 2]
        dst: Points after, in the same order. [4, 2] or [N, 4, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = w * (x', y', 1)``, divided by its last entry unless that is 0. [3, 3] or [N, 3, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; three points of ``src`` or ``dst`` are collinear.

    Note:
        A float32 ``M`` cannot hold a small quad far away: 40 px at (3000, 3000) come out to 0.2 px. Solve in float64.

    >>> square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    >>> print(get_perspective_transform(square, [(0, 0), (2, 0), (3, 3), (0, 2)]).round(9) + 0)
    [[ 1.5   0.    0.  ]
     [ 0.    1.5   0.  ]
     [-0.25 -0.25  1.  ]]
    """
    src, dst = _matrices.broadcast_arguments(src=(src, ((4,), (2,))), dst=(dst, ((4,), (2,))))
    start, end = _quad(src), _quad(dst)
    _matrices.require("src", src, start.proper, "must not have three collinear points")
    _matrices.require("dst", dst, end.proper, "must not have three collinear points")
    xp = namespace(src)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = (end.areas / start.areas)[..., None] * start.lines
        M = (end.corners[..., :, :, None] * rows[..., :, None, :]).sum(-3)
        sx, tx, sy, ty = start.frame
        M = _matrices.change_frame(M, (1 / sx, -tx / sx, 1 / sy, -ty / sy), end.frame)
        last = M[..., 2:, 2:]
        M = M / xp.where(last == 0, 1.0, last)
    return xp.where((start.proper & end.proper)[..., None, None], M, math.nan)


class _Cloud(NamedTuple):
    """Points about their weighted centre, and the two lengths that a decision about them needs."""

    offsets: Any  # [..., P, 2]
    centre: Any  # [..., 2]
    spread: Any  # mean of |x| + |y| over the offsets [...]
    grain: Any  # rounding of the coordinates, in pixels [...]


def _cloud(points: Any, weights: Any) -> _Cloud:
    # About the first point before the mean is taken: a float32 sum over many points at (3000, 3000) is off by a pixel.
    first = points[..., :1, :]
    shift = (weights * (points - first)).sum(-2, keepdims=True)
    offsets, centre = points - first - shift, (first + shift)[..., 0, :]
    spread = (weights * abs(offsets)).sum(-1).sum(-1)
    return _Cloud(offsets, centre, spread, _matrices.rounding_error(points) * (abs(centre).sum(-1) + spread))


def _fit(src: Any, dst: Any, kind: Kind, weights: Any) -> Any:
    """Weighted least squares for weights that sum to 1, a number or [..., P, 1]."""
    start, end = _cloud(src, weights), _cloud(dst, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        grain, scale = start.grain / start.spread, start.spread[..., None, None]
        p, q = start.offsets / scale, end.offsets / scale
        x, y = p[..., :1], p[..., 1:]
        power = (weights * p * p).sum(-1).sum(-1)
        if kind == "affine":
            # Gram-Schmidt: the determinant of the moments would lose half of the digits for points near a line.
            xx = (weights * x * x).sum(-2)
            slope = (weights * x * y).sum(-2) / xx
            rest = y - slope[..., None, :] * x
            yy = (weights * rest * rest).sum(-2)
            by_y = (weights * rest * q).sum(-2) / yy
            by_x = (weights * x * q).sum(-2) / xx - slope * by_y
            linear = namespace(src).stack([by_x, by_y], -1)
            # The variance across the best line, against the rounding of the coordinates.
            proper, rule = (xx * yy)[..., 0] > grain * grain * power, "must not be collinear or coincident"
        else:
            # With x + iy for points, the best z in q = z * p is <p, q> / <p, p>: no reflection can come out.
            along = (weights * p * q).sum(-1).sum(-1)
            across = (weights * (x * q[..., 1:] - y * q[..., :1])).sum(-1).sum(-1)
            size = namespace(src).sqrt(along * along + across * across) if kind == "rigid" else power
            linear = _matrices.linear(along / size, -across / size, across / size, along / size)
            proper, rule = power > grain * grain, "must not be coincident"
    _matrices.require("src", src, proper, rule)
    if kind == "rigid":
        turned = size > grain + end.grain / start.spread
        _matrices.require("dst", dst, turned, "must have a best rotation: it is coincident or mirrors src")
        proper = proper & turned
    M = _matrices.map_through(linear, start.centre, end.centre)
    return namespace(src).where(proper[..., None, None], M, math.nan)


class _Quad(NamedTuple):
    """Four points as a projective basis."""

    corners: Any  # the first three, homogeneous, about the centre [..., 3, 3]
    lines: Any  # opposite to each corner [..., 3, 3]
    areas: Any  # of the triangles of the fourth point with each line [..., 3]
    frame: Frame  # back to pixels
    proper: Any  # no three are collinear [...]


def _quad(points: Any) -> _Quad:
    xp, (offsets, centre, spread, grain) = namespace(points), _cloud(points, 1 / 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = offsets / spread[..., None, None]
        points = xp.concatenate([unit, xp.ones_like(unit[..., :1])], -1)
        corners = points[..., :3, :]
        lines = _matrices.cofactors(corners)
        areas = (lines * points[..., 3:, :]).sum(-1)
        triangles = xp.concatenate([areas, areas.sum(-1, keepdims=True)], -1)
        proper = (abs(triangles) > (grain / spread)[..., None]).all(-1)
    spread = spread[..., None]
    return _Quad(corners, lines, areas, (spread, centre[..., :1], spread, centre[..., 1:]), proper)
