"""Maps fitted to points: exactly to three or four points, by least squares to more.

Arguments, results and conventions are those of :mod:`cuaug.geometry`.
"""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

from . import _check
from ._arrays import small_matrices
from ._arrays.convert import namespace
from ._arrays.quads import centre_points, quad_to_quad
from ._arrays.small_matrices import POINTS
from .typing import Array, FitKind, HostNumbers, NumPyArray

__all__ = ["estimate_affine", "get_affine_transform", "get_perspective_transform"]


@overload
def get_affine_transform(src: HostNumbers, dst: HostNumbers) -> NumPyArray: ...
@overload
def get_affine_transform(src: Array | HostNumbers, dst: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def get_affine_transform(src: Any, dst: Any) -> Any:
    """The affine map of three points to three points, as ``cv2.getAffineTransform``.

    Args:
        src: Points before, in pixels. [3, 2] or [N, 3, 2]
        dst: Points after, in the same order. [3, 2] or [N, 3, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = (x', y')``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; ``src`` is collinear.

    >>> print(get_affine_transform([(0, 0), (1, 0), (0, 1)], [(5, 7), (7, 7), (5, 10)]).round(9) + 0)
    [[2. 0. 5.]
     [0. 3. 7.]]
    """
    src, dst = small_matrices.broadcast_arguments(src=(src, ((3,), (2,))), dst=(dst, ((3,), (2,))))
    return _fit(src, dst, "affine", 1 / 3)


@overload
def estimate_affine(
    src: HostNumbers, dst: HostNumbers, kind: FitKind = "affine", weights: HostNumbers | None = None
) -> NumPyArray: ...
@overload
def estimate_affine(
    src: Array | HostNumbers,
    dst: Array | HostNumbers,
    kind: FitKind = "affine",
    weights: Array | HostNumbers | None = None,
) -> Array: ...
@_check.prefix_errors
def estimate_affine(src: Any, dst: Any, kind: FitKind = "affine", weights: Any = None) -> Any:
    """The map that minimises ``sum(w * |M @ (x, y, 1) - (x', y')|^2)`` in closed form.

    Args:
        src: At least 3 points for "affine", 2 otherwise, in pixels. [P, 2] or [N, P, 2]
        dst: The points to map them to. [P, 2] or [N, P, 2]
        kind: "affine"; "similarity" (rotation, uniform scale, shift); "rigid" (rotation, shift). The last two never
            reflect (Umeyama 1991).
        weights: At least 0, not all 0; default: equal. [P] or [N, P]

    Returns:
        ``M``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: Too few points; a host value is not finite; ``src`` is collinear (affine) or coincident; for
            "rigid", ``dst`` is coincident, or all rotations fit equally well.

    >>> print(estimate_affine([(0, 0), (2, 0), (2, 2)], [(5, 5), (5, 9), (1, 9)], "similarity").round(9) + 0)
    [[ 0. -2.  5.]
     [ 2.  0.  5.]]
    """
    min_points = {"affine": 3, "similarity": 2, "rigid": 2}
    _check.one_of("kind", kind, tuple(min_points))
    if weights is None:
        src, dst = small_matrices.broadcast_arguments(src=(src, POINTS), dst=(dst, POINTS))
    else:
        src, dst, weights = small_matrices.broadcast_arguments(
            src=(src, POINTS), dst=(dst, POINTS), weights=(weights, ((),))
        )
    count = src.shape[-2]
    if count < min_points[kind]:
        raise ValueError(f"src must have at least {min_points[kind]} points for {kind!r}, got {count}")
    if dst.shape[-2] != count:
        raise ValueError(f"dst must have as many points as src, {count}, got {dst.shape[-2]}")
    if weights is None:
        return _fit(src, dst, kind, 1 / count)
    if weights.shape[-1] != count:
        raise ValueError(f"weights must have one number per point, {count}, got {weights.shape[-1]}")
    valid = (weights >= 0).all(-1) & (weights.sum(-1) > 0)
    small_matrices.require("weights", weights, valid, "must not be negative, nor all zero")
    weights = namespace(weights).where(valid[..., None], weights, math.nan)
    return _fit(src, dst, kind, (weights / weights.sum(-1, keepdims=True))[..., None])


@overload
def get_perspective_transform(src: HostNumbers, dst: HostNumbers) -> NumPyArray: ...
@overload
def get_perspective_transform(src: Array | HostNumbers, dst: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def get_perspective_transform(src: Any, dst: Any) -> Any:
    """The perspective map of four points to four points, as ``cv2.getPerspectiveTransform``.

    Args:
        src: Points before, in pixels. [4, 2] or [N, 4, 2]
        dst: Points after, in the same order. [4, 2] or [N, 4, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = w * (x', y', 1)``, divided by its last entry unless that is 0. [3, 3] or [N, 3, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; three points of ``src`` or ``dst`` are collinear.

    Note:
        In float32 the error grows with the distance from the origin: for quads of 40 px at (3000, 3000), 0.02 px is
        usual and 0.2 px possible. Pass float64 points there.

    >>> square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    >>> print(get_perspective_transform(square, [(0, 0), (2, 0), (3, 3), (0, 2)]).round(9) + 0)
    [[ 1.5   0.    0.  ]
     [ 0.    1.5   0.  ]
     [-0.25 -0.25  1.  ]]
    """
    return quad_to_quad(src=src, dst=dst)


def _fit(src: Any, dst: Any, kind: FitKind, weights: Any) -> Any:
    """Weighted least squares; the weights sum to 1: a number or [..., P, 1]."""
    start, end = centre_points(src, weights), centre_points(dst, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = start.spread[..., None, None]  # p and q are in units of the spread of `src`, as is `error`
        p, q, error = start.offsets / scale, end.offsets / scale, start.coordinate_error / start.spread
        x, y = p[..., :1], p[..., 1:]
        mean_square = (weights * p * p).sum(-1).sum(-1)
        if kind == "affine":
            # Gram-Schmidt, because a solution through the determinant of the moments loses half of the digits for
            # points near a line.
            xx = (weights * x * x).sum(-2)
            slope = (weights * x * y).sum(-2) / xx
            residual = y - slope[..., None, :] * x
            yy = (weights * residual * residual).sum(-2)
            y_column = (weights * residual * q).sum(-2) / yy
            x_column = (weights * x * q).sum(-2) / xx - slope * y_column
            linear = namespace(src).stack([x_column, y_column], -1)
            # xx * yy / mean_square is about the variance across the best line. It must exceed the squared error.
            valid = (xx * yy)[..., 0] > error * error * mean_square
            rule = "must not be collinear or coincident"
        else:
            # Points as complex numbers x + iy: the best z in q = z * p is <p, q> / <p, p>, never a reflection.
            dot = (weights * p * q).sum(-1).sum(-1)
            cross = (weights * (x * q[..., 1:] - y * q[..., :1])).sum(-1).sum(-1)
            norm = namespace(src).sqrt(dot * dot + cross * cross) if kind == "rigid" else mean_square
            linear = small_matrices.matrix_2x2(dot / norm, -cross / norm, cross / norm, dot / norm)
            valid, rule = mean_square > error * error, "must not be coincident"
    small_matrices.require("src", src, valid, rule)
    if kind == "rigid":
        has_rotation = norm > error + end.coordinate_error / start.spread
        rule = "must determine a rotation: its points coincide, or all rotations of src fit equally well"
        small_matrices.require("dst", dst, has_rotation, rule)
        valid = valid & has_rotation
    M = small_matrices.linear_to_affine(linear, start.centre, end.centre)
    return namespace(src).where(valid[..., None, None], M, math.nan)
