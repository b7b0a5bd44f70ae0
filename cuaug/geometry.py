"""Matrices and points: solve, build, invert, compose, convert and apply 2x3 affine and 3x3 perspective maps.

A matrix maps source to destination pixels, ``(x, y)`` order, pixel centres at integers: what ``warp_affine`` and
``warp_perspective`` take. Arguments are arrays of any library, numbers or lists. The result is in the library and on
the device of the arrays, a device array before a host one. float32 and float64 stay, float16 and bfloat16 become
float32, integers and lists become float64. Leading axes ``[...]`` are the batch and broadcast: one template against N
sets of points gives N matrices. Host values are checked. Device values are never read: a sample without a solution
becomes NaN.

Everything is elementwise: a library's solver or matrix product may synchronise, or round to TF32.
"""

import math
import reprlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _check
from ._array import asarray, is_host, namespace

__all__ = [
    "affine_matrix",
    "compose_affine",
    "convert_matrix",
    "estimate_affine",
    "get_affine_transform",
    "get_perspective_transform",
    "get_rotation_matrix",
    "invert_affine",
    "transform_boxes",
    "transform_points",
]

Convention = Literal["cuaug", "opencv", "kornia", "dali", "pillow", "torchvision", "torch"]
Format = Literal["XYXY", "XYWH", "CXCYWH"]
Kind = Literal["affine", "similarity", "rigid"]

# Sizes allowed for the last axes of an argument; () allows any.
_Sizes = tuple[tuple[int, ...], ...]
_NUMBER: _Sizes = ()
_PAIR: _Sizes = ((2,),)
_POINTS: _Sizes = ((), (2,))
_MATRIX: _Sizes = ((2, 3), (3,))

# Scale and shift of both axes, (sx, tx, sy, ty): u = sx * x + tx, v = sy * y + ty.
_Frame = tuple[Any, Any, Any, Any]


@_check.public
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
    src, dst = _load(src=(src, ((3,), (2,))), dst=(dst, ((3,), (2,))))
    return _fit(src, dst, "affine", 1 / 3)


@_check.public
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
        src, dst = _load(src=(src, _POINTS), dst=(dst, _POINTS))
    else:
        src, dst, weights = _load(src=(src, _POINTS), dst=(dst, _POINTS), weights=(weights, ((),)))
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
    _demand("weights", weights, proper, "must not be negative and not all zero")
    weights = namespace(weights).where(proper[..., None], weights, math.nan)
    return _fit(src, dst, kind, (weights / weights.sum(-1, keepdims=True))[..., None])


@_check.public
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
    src, dst = _load(src=(src, ((4,), (2,))), dst=(dst, ((4,), (2,))))
    start, end = _quad(src), _quad(dst)
    _demand("src", src, start.proper, "must not have three collinear points")
    _demand("dst", dst, end.proper, "must not have three collinear points")
    xp = namespace(src)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = (end.areas / start.areas)[..., None] * start.lines
        M = (end.corners[..., :, :, None] * rows[..., :, None, :]).sum(-3)
        M = _reframe(M, _inverse_frame(start.frame), end.frame)
        last = M[..., 2:, 2:]
        M = M / xp.where(last == 0, 1.0, last)
    return xp.where((start.proper & end.proper)[..., None, None], M, math.nan)


@_check.public
def get_rotation_matrix(angle: Any, scale: Any = 1.0, center: Any = (0.0, 0.0)) -> Any:
    """Rotation and scale about a point, as ``cv2.getRotationMatrix2D``.

    Args:
        angle: Degrees, counter-clockwise as seen on the screen. A number or [N]
        scale: A number or [N]
        center: The point (x, y) that stays, in pixels with centres at integers. [2] or [N, 2]

    Returns:
        ``M``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite.

    >>> print(get_rotation_matrix(90, center=(2, 0)).round(9) + 0)
    [[ 0.  1.  2.]
     [-1.  0.  2.]]
    """
    angle, scale, center = _load(angle=(angle, _NUMBER), scale=(scale, _NUMBER), center=(center, _PAIR))
    xp, turn = namespace(angle), angle * (math.pi / 180)
    along, across = scale * xp.cos(turn), scale * xp.sin(turn)
    return _pinned(_linear(along, across, -across, along), center, center)


@_check.public
def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Any:
    """The map of torchvision's ``affine``: shear, then scale, then rotate about ``center``, then translate.

    Args:
        angle: Degrees, clockwise as seen on the screen. A number or [N]
        translate: Pixels (x, y). [2] or [N, 2]
        scale: Greater than 0. A number or [N]
        shear: Degrees (x, y). [2] or [N, 2]
        center: (x, y) from the image's corner, as torchvision counts: ``(W / 2, H / 2)`` is the middle. [2] or [N, 2]

    Returns:
        ``M``, source to destination, pixel centres at integers as everywhere here. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite, or a ``scale`` not positive.

    >>> print(affine_matrix(90, (0, 0), 1, (0, 0), center=(2, 2)).round(9) + 0)
    [[ 0. -1.  3.]
     [ 1.  0.  0.]]
    """
    angle, translate, scale, shear, center = _load(
        angle=(angle, _NUMBER),
        translate=(translate, _PAIR),
        scale=(scale, _NUMBER),
        shear=(shear, _PAIR),
        center=(center, _PAIR),
    )
    _demand("scale", scale, scale > 0, "must be greater than 0")
    xp, degree = namespace(angle), math.pi / 180
    turn, lean_x, lean_y = angle * degree, shear[..., 0] * degree, shear[..., 1] * degree
    # torchvision's order: rotate(angle) @ shear_y @ shear_x, with the y shear folded into the rotation.
    along, across = scale * xp.cos(turn - lean_y) / xp.cos(lean_y), scale * xp.sin(turn - lean_y) / xp.cos(lean_y)
    slope = xp.tan(lean_x)
    linear = _linear(along, -along * slope - scale * xp.sin(turn), across, scale * xp.cos(turn) - across * slope)
    return _pinned(linear, center - 0.5, center - 0.5 + translate)


@_check.public
def invert_affine(M: Any) -> Any:
    """The map that undoes ``M``, as ``cv2.invertAffineTransform``; 3x3 perspective matrices too.

    Args:
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        The inverse, in the shape of ``M``.

    Raises:
        ValueError: A host matrix is not finite, or singular to the precision of its dtype.

    >>> print(invert_affine([(2, 0, 6), (0, 2, 8)]) + 0)
    [[ 0.5  0.  -3. ]
     [ 0.   0.5 -4. ]]
    """
    (M,) = _load(M=(M, _MATRIX))
    return _inverse(M)


@_check.public
def compose_affine(*M: Any) -> Any:
    """One map that applies the given maps from left to right: the first argument acts first.

    Args:
        *M: At least one; batches broadcast. [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        ``M[-1] @ ... @ M[0]``: [..., 2, 3] if all are 2x3, else [..., 3, 3]

    Raises:
        TypeError: No matrix is given.
        ValueError: A shape does not fit; a host value is not finite.

    >>> shift, double = [(1, 0, 5), (0, 1, 0)], [(2, 0, 0), (0, 2, 0)]
    >>> print(compose_affine(shift, double))
    [[ 2.  0. 10.]
     [ 0.  2.  0.]]
    """
    if not M:
        raise TypeError("M must be at least one matrix, got none")
    maps = _load(**{f"M[{i}]": (matrix, _MATRIX) for i, matrix in enumerate(M)})
    rows = max(matrix.shape[-2] for matrix in maps)
    product = _square(maps[0])
    for matrix in maps[1:]:
        product = (_square(matrix)[..., :, :, None] * product[..., None, :, :]).sum(-2)
    return product[..., :rows, :]


@_check.public
def transform_points(points: Any, M: Any) -> Any:
    """Move points as the warp by ``M`` moves the pixels.

    Args:
        points: (x, y) in pixels with centres at integers; NaN stays NaN. [P, 2] or [N, P, 2]
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        [P, 2], or [N, P, 2] where either argument is a batch

    Raises:
        ValueError: A shape does not fit; a host matrix is not finite.

    >>> print(transform_points([(1, 2), (3, 4)], [(1, 0, 10), (0, 1, 0)]))
    [[11.  2.]
     [13.  4.]]
    """
    points, M = _load("points", points=(points, _POINTS), M=(M, _MATRIX))
    return _move(points, M[..., None, :, :])


@_check.public
def transform_boxes(boxes: Any, M: Any, format: Format = "XYXY") -> Any:
    """The tight upright boxes around the moved corners.

    Args:
        boxes: Edges from the image's corner, as torchvision and COCO count: the whole image is ``(0, 0, W, H)``. A box
            stays around its pixels under ``warp_affine(images, M)``. [P, 4] or [N, P, 4]
        M: In pixels with centres at integers, as everywhere here. [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        format: "XYXY", "XYWH" or "CXCYWH", of ``boxes`` and of the result.

    Returns:
        Not clipped to any image. [P, 4], or [N, P, 4] where either argument is a batch

    Raises:
        ValueError: A shape or ``format`` does not fit; a host matrix is not finite.

    >>> print(transform_boxes([(0, 0, 3, 2)], [(-1, 0, 9), (0, 1, 0)]))  # flips an image 10 pixels wide
    [[ 7.  0. 10.  2.]]
    """
    anchors = {"XYXY": None, "XYWH": 0.0, "CXCYWH": 0.5}
    _check.one_of("format", format, tuple(anchors))
    boxes, M = _load("boxes", boxes=(boxes, ((), (4,))), M=(M, _MATRIX))
    xp, anchor = namespace(boxes), anchors[format]
    low, high = boxes[..., :2], boxes[..., 2:]
    if anchor is not None:
        low, high = low - anchor * high, low + (1 - anchor) * high
    left, top, right, bottom = low[..., 0], low[..., 1], high[..., 0], high[..., 1]
    x, y = xp.stack([left, right, right, left], -1), xp.stack([top, top, bottom, bottom], -1)
    corners = _move(xp.stack([x, y], -1) - 0.5, M[..., None, None, :, :]) + 0.5
    low, high = xp.amin(corners, -2), xp.amax(corners, -2)
    if anchor is not None:
        low, high = low + anchor * (high - low), high - low
    return xp.concatenate([low, high], -1)


@_check.public
def convert_matrix(
    M: Any,
    source: Convention,
    target: Convention,
    *,
    size: tuple[int, int] | None = None,
    out_size: tuple[int, int] | None = None,
) -> Any:
    """Rewrite a matrix from one library's convention into another's.

    Args:
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        source: Of ``M``. "cuaug", "opencv", "kornia": source to destination, pixel centres at integers. The others map
            destination to source: "dali", "pillow" from the corner, centres at +0.5 (also torchvision's perspective
            coefficients); "torchvision" from the middles of the two images (its ``_get_inverse_affine_matrix``);
            "torch" in -1..1, the theta of ``affine_grid(align_corners=False)``.
        target: Of the result, likewise.
        size: (H, W) of the source image; "torchvision" and "torch" need it.
        out_size: (H, W) of the destination image; default ``size``.

    Returns:
        A new matrix in the shape of ``M``.

    >>> print(convert_matrix([(1, 0, 4), (0, 1, 0)], "cuaug", "torch", size=(8, 8)) + 0)  # 4 px are half of -1..1
    [[ 1.  0. -1.]
     [ 0.  1.  0.]]
    """
    for name, value in (("source", source), ("target", target)):
        _check.one_of(name, value, tuple(_CONVENTIONS))
        if size is None and _CONVENTIONS[value].sized:
            raise ValueError(f"size must be (H, W) for {value!r}, got None")
    given, wanted = _CONVENTIONS[source], _CONVENTIONS[target]
    extent = _check.size("size", (1, 1) if size is None else size)
    ends = [extent, extent if out_size is None else _check.size("out_size", out_size)]
    if given.inverse:
        ends.reverse()
    (M,) = _load(M=(M, _MATRIX))
    before, after = (_between(wanted, given, ends[0]), _between(given, wanted, ends[1]))
    converted = _reframe(_square(M), before, after)[..., : M.shape[-2], :]
    return converted if given.inverse == wanted.inverse else _inverse(converted)


class _Convention(NamedTuple):
    """How a library writes a matrix: its direction, and ``u = scale(n) * x + shift(n)`` on an axis of n pixels."""

    inverse: bool
    scale: Callable[[int], float]
    shift: Callable[[int], float]
    sized: bool

    def axis(self, n: int) -> tuple[float, float]:
        return self.scale(n), self.shift(n)


_PIXEL = _Convention(inverse=False, scale=lambda n: 1.0, shift=lambda n: 0.0, sized=False)
_CORNER = _Convention(inverse=True, scale=lambda n: 1.0, shift=lambda n: 0.5, sized=False)
_CONVENTIONS = {
    "cuaug": _PIXEL,
    "opencv": _PIXEL,
    "kornia": _PIXEL,
    "dali": _CORNER,
    "pillow": _CORNER,
    "torchvision": _Convention(inverse=True, scale=lambda n: 1.0, shift=lambda n: (1 - n) / 2, sized=True),
    "torch": _Convention(inverse=True, scale=lambda n: 2 / n, shift=lambda n: 1 / n - 1, sized=True),
}


def _between(start: _Convention, end: _Convention, extent: tuple[int, int]) -> _Frame:
    """The frame change from one convention's coordinates to another's on an image of (H, W)."""
    height, width = extent
    changes = []
    for n in (width, height):
        (scale, shift), (new_scale, new_shift) = start.axis(n), end.axis(n)
        changes += [new_scale / scale, new_shift - shift * new_scale / scale]
    return changes[0], changes[1], changes[2], changes[3]


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
    return _Cloud(offsets, centre, spread, _rounding(points) * (abs(centre).sum(-1) + spread))


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
            linear = _linear(along / size, -across / size, across / size, along / size)
            proper, rule = power > grain * grain, "must not be coincident"
    _demand("src", src, proper, rule)
    if kind == "rigid":
        turned = size > grain + end.grain / start.spread
        _demand("dst", dst, turned, "must have a best rotation: it is coincident or mirrors src")
        proper = proper & turned
    M = _pinned(linear, start.centre, end.centre)
    return namespace(src).where(proper[..., None, None], M, math.nan)


class _Quad(NamedTuple):
    """Four points as a projective basis."""

    corners: Any  # the first three, homogeneous, about the centre [..., 3, 3]
    lines: Any  # opposite to each corner [..., 3, 3]
    areas: Any  # of the triangles of the fourth point with each line [..., 3]
    frame: _Frame  # back to pixels
    proper: Any  # no three are collinear [...]


def _quad(points: Any) -> _Quad:
    xp, (offsets, centre, spread, grain) = namespace(points), _cloud(points, 1 / 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = offsets / spread[..., None, None]
        points = xp.concatenate([unit, xp.ones_like(unit[..., :1])], -1)
        corners = points[..., :3, :]
        lines = _cofactors(corners)
        areas = (lines * points[..., 3:, :]).sum(-1)
        triangles = xp.concatenate([areas, areas.sum(-1, keepdims=True)], -1)
        proper = (abs(triangles) > (grain / spread)[..., None]).all(-1)
    spread = spread[..., None]
    return _Quad(corners, lines, areas, (spread, centre[..., :1], spread, centre[..., 1:]), proper)


def _linear(a: Any, b: Any, c: Any, d: Any) -> Any:
    """[[a, b], [c, d]]."""
    stack = namespace(a).stack
    return stack([stack([a, b], -1), stack([c, d], -1)], -2)


def _pinned(linear: Any, start: Any, end: Any) -> Any:
    """The map with this linear part [..., 2, 2] that takes ``start`` to ``end`` [..., 2]."""
    shift = end - (linear * start[..., None, :]).sum(-1)
    return namespace(linear).concatenate([linear, shift[..., None]], -1)


def _move(points: Any, M: Any) -> Any:
    """Points [..., 2] under matrices [..., 2 or 3, 3]."""
    moved = (M[..., :2] * points[..., None, :]).sum(-1) + M[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):  # a point on the horizon goes to infinity
        return moved[..., :2] / moved[..., 2:] if M.shape[-2] == 3 else moved


def _square(M: Any) -> Any:
    """A 2x3 matrix with the row (0, 0, 1) below it."""
    if M.shape[-2] == 3:
        return M
    xp, zero = namespace(M), namespace(M).zeros_like(M[..., :1, 0])
    return xp.concatenate([M, xp.stack([zero, zero, zero + 1], -1)], -2)


def _cross(a: Any, b: Any) -> Any:
    roll = namespace(a).roll
    return roll(a, -1, -1) * roll(b, 1, -1) - roll(a, 1, -1) * roll(b, -1, -1)


def _cofactors(M: Any) -> Any:
    """Each row: the cross product of the two rows after it."""
    roll = namespace(M).roll
    return _cross(roll(M, -1, -2), roll(M, 1, -2))


def _inverse(M: Any) -> Any:
    xp, square = namespace(M), _square(M)
    cofactors = _cofactors(square)
    terms = square * cofactors
    determinant, size = terms.sum(-1), abs(terms).sum(-1)
    # All three rows expand to the determinant. One that is all rounding says that there is none.
    proper = (abs(determinant) > _rounding(M) * size).all(-1)
    _demand("M", M, proper, "must not be singular")
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = xp.swapaxes(cofactors, -1, -2) / determinant[..., :1, None]
    return xp.where(proper[..., None, None], inverse, math.nan)[..., : M.shape[-2], :]


def _reframe(M: Any, before: _Frame, after: _Frame) -> Any:
    """``after @ M @ before`` for a 3x3 matrix; a frame's entries are numbers or [..., 1]."""
    stack = namespace(M).stack
    sx, tx, sy, ty = before
    x, y, one = M[..., 0], M[..., 1], M[..., 2]
    M = stack([x * sx, y * sy, x * tx + y * ty + one], -1)
    sx, tx, sy, ty = after
    x, y, one = M[..., 0, :], M[..., 1, :], M[..., 2, :]
    return stack([x * sx + one * tx, y * sy + one * ty, one], -2)


def _inverse_frame(frame: _Frame) -> _Frame:
    sx, tx, sy, ty = frame
    return 1 / sx, -tx / sx, 1 / sy, -ty / sy


def _dtype(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def _rounding(array: Any) -> float:
    """Four units in the last place, relative: what a subtraction of two of its numbers cannot be trusted below."""
    return 4 * float(np.finfo(_dtype(array)).eps)


def _load(any_value: str = "", /, **arguments: tuple[Any, _Sizes]) -> list[Any]:
    """Arguments as arrays of one library, device, dtype and batch, from ``name=(value, sizes of its last axes)``."""
    arrays = [value for value, _ in arguments.values() if hasattr(value, "dtype")]
    like = next((array for array in arrays if not is_host(array)), arrays[0] if arrays else np.empty(0))
    floats = {_dtype(array) for array in arrays} & {"float16", "bfloat16", "float32", "float64"}
    dtype = "float64" if "float64" in floats or not floats else "float32"
    loaded, batches = [], []
    for name, (value, sizes) in arguments.items():
        array = asarray(value, like=like, dtype=dtype)  # a number may arrive as [1]
        cut = array.ndim - len(sizes)
        shape = tuple(array.shape)
        if cut < 0 or any(allowed and n not in allowed for n, allowed in zip(shape[cut:], sizes, strict=True)):
            wanted = ", ".join(["...", *("|".join(map(str, allowed)) or "P" for allowed in sizes)])
            raise ValueError(f"{name} must have shape [{wanted}], got {list(shape)}")
        loaded.append(array)
        batches.append(shape[:cut])
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"{', '.join(arguments)} must agree in their batch, got {batches}") from None
    for i, (name, own) in enumerate(zip(arguments, batches, strict=True)):
        array = loaded[i]
        if own != batch:
            array = loaded[i] = namespace(like).broadcast_to(array, (*batch, *array.shape[len(own) :]))
        if name != any_value and is_host(array):
            finite = namespace(like).isfinite(array)
            for _ in range(array.ndim - len(batch)):
                finite = finite.all(-1)
            _demand(name, array, finite, "must be finite")
    return loaded


def _demand(name: str, array: Any, proper: Any, rule: str) -> None:
    """Refuse the first sample [...] of a host array that is not proper; a device array is not read."""
    if not is_host(proper):
        return
    flags = proper.reshape(-1).tolist()
    if False in flags:
        sample = flags.index(False)
        value = array.reshape((len(flags), *array.shape[proper.ndim :]))[sample].tolist()
        raise ValueError(f"{name} {rule}, got {reprlib.repr(value)} in sample {sample}")
