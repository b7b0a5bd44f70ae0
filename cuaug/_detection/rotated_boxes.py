"""Rotated boxes as four corners: the rectangle around moved corners, and the part of a box inside a canvas.

The corners of a box are its upper left, upper right, lower right and lower left one. [..., 4, 2]
"""

from __future__ import annotations

from typing import Any, TypeAlias

from .._arrays.convert import namespace

# Left, top, right and bottom of a rectangle: numbers, or arrays [N, 1].
Edges: TypeAlias = tuple[Any, Any, Any, Any]

_PARALLEL = 1e-6  # pixels: a side of a smaller extent along x, or y, is treated as one without any


def rectangles_around(corners: Any) -> Any:
    """For each quadrilateral, the smallest enclosing rectangle parallel to the longer of its upper and left side.

    The corners of a mirrored box change places, so that they run clockwise. [..., 4, 2] to [..., 4, 2]
    """
    xp, corners = namespace(corners), _clockwise(corners)
    upper, left = _first_sides(corners)
    is_upper_longer = (upper * upper).sum(-1) >= (left * left).sum(-1)
    longer = xp.where(is_upper_longer[..., None], upper, xp.stack([left[..., 1], -left[..., 0]], -1))
    across = longer / _divisors(longer)
    coordinates = _box_coordinates(corners, corners[..., 0, :], across)
    return _rectangles(corners[..., 0, :], across, xp.amin(coordinates, -2), xp.amax(coordinates, -2))


def clip_rectangles(corners: Any, canvas: Edges) -> Any:
    """The smallest boxes of the same angles around what is inside the canvas; zeros if nothing is.

    torchvision's clamping mode "soft". A box inside the canvas stays as it is, to the bit.

    Args:
        corners: Counted from the image's corner. [..., B, 4, 2]
        canvas: Numbers, or arrays [N, 1]
    """
    xp, original = namespace(corners), corners
    canvas_corners = _canvas_corners(canvas, corners)
    low, high = canvas_corners[..., 0:1, :], canvas_corners[..., 2:3, :]
    is_inside = ((corners >= low) & (corners <= high)).all(-1).all(-1)
    corners = _clockwise(corners)
    upper, _ = _first_sides(corners)
    across, size = upper / _divisors(upper), sizes(corners)[..., None, :]
    # What is inside is a polygon, whose corners are the ends of the box's clipped sides and the canvas's corners.
    ends, exist = _clipped_sides(corners, low, high)
    coordinates = _box_coordinates(xp.concatenate([*ends, canvas_corners], -2), corners[..., 0, :], across)
    # A corner of the canvas may lie on a side of the box, as after an earlier clipping. Rounding may move the corner
    # out of the box, which would then lose a part: a corner up to some rounding errors outside counts as inside.
    slack = 32 * xp.finfo(corners.dtype).eps * xp.amax(abs(coordinates), (-2, -1))[..., None, None]
    in_box = ((coordinates >= -slack) & (coordinates <= size + slack)).all(-1)
    is_corner = xp.concatenate([exist, exist, in_box[..., 8:]], -1)[..., None]
    coordinates = xp.where(coordinates < 0, 0.0, xp.where(coordinates > size, size, coordinates))
    nearest = xp.amin(xp.where(is_corner, coordinates, xp.inf), -2)
    farthest = xp.amax(xp.where(is_corner, coordinates, -xp.inf), -2)
    has_part = is_corner.any(-2)
    start, end = xp.where(has_part, nearest, 0.0), xp.where(has_part, farthest, 0.0)
    clipped = xp.where(has_part[..., None], _rectangles(corners[..., 0, :], across, start, end), 0.0)
    return xp.where(is_inside[..., None, None], original, clipped)


def sizes(corners: Any) -> Any:
    """Width and height. [..., 4, 2] to [..., 2]"""
    return namespace(corners).concatenate([_lengths(side) for side in _first_sides(corners)], -1)


def _clockwise(corners: Any) -> Any:
    """The corners of boxes; those of a mirrored box change places, so that they run clockwise. [..., 4, 2]"""
    xp, (upper, left) = namespace(corners), _first_sides(corners)
    is_mirrored = upper[..., 0] * left[..., 1] < upper[..., 1] * left[..., 0]
    mirrored = xp.stack([corners[..., i, :] for i in (1, 0, 3, 2)], -2)
    return xp.where(is_mirrored[..., None, None], mirrored, corners)


def _first_sides(corners: Any) -> tuple[Any, Any]:
    """The upper side from left to right, and the left side from top to bottom. [..., 2]"""
    return corners[..., 1, :] - corners[..., 0, :], corners[..., 3, :] - corners[..., 0, :]


def _divisors(vectors: Any) -> Any:
    """The lengths of vectors, or 1 in place of 0. [..., 2] to [..., 1]"""
    lengths = _lengths(vectors)
    return namespace(vectors).where(lengths > 0, lengths, 1.0)


def _lengths(vectors: Any) -> Any:
    """The lengths of vectors. The gradient of a length of 0 is 0. [..., 2] to [..., 1]"""
    xp, is_zero = namespace(vectors), (vectors == 0).all(-1)  # hypot(0, 0) has a NaN as its gradient
    lengths = xp.hypot(xp.where(is_zero, 1.0, vectors[..., 0]), vectors[..., 1])
    return xp.where(is_zero, 0.0, lengths)[..., None]


def _box_coordinates(points: Any, origin: Any, across: Any) -> Any:
    """Coordinates of points along the upper and the left side of a box, relative to a corner.

    `across`: the unit vector of the upper side. [..., P, 2], [..., 2], [..., 2] to [..., P, 2]
    """
    xp, vectors, across = namespace(points), points - origin[..., None, :], across[..., None, :]
    x, y, cosine, sine = vectors[..., 0], vectors[..., 1], across[..., 0], across[..., 1]
    return xp.stack([x * cosine + y * sine, y * cosine - x * sine], -1)


def _rectangles(origin: Any, across: Any, start: Any, end: Any) -> Any:
    """The corners of boxes, from their first and their last box coordinates. Four arrays [..., 2] to [..., 4, 2]"""
    xp = namespace(origin)
    down = xp.stack([-across[..., 1], across[..., 0]], -1)
    pairs = ((start, start), (end, start), (end, end), (start, end))
    return xp.stack([origin + u[..., 0:1] * across + v[..., 1:2] * down for u, v in pairs], -2)


def _canvas_corners(canvas: Edges, corners: Any) -> Any:
    """The corners of the canvas, for each box. [..., B, 4, 2]"""
    xp = namespace(corners)
    zeros = xp.zeros_like(corners[..., 0, 0])
    left, top, right, bottom = (zeros + edge for edge in canvas)
    numbers = xp.stack([left, top, right, top, right, bottom, left, bottom], -1)
    return numbers.reshape(corners.shape)


def _clipped_sides(corners: Any, low: Any, high: Any) -> tuple[tuple[Any, Any], Any]:
    """Both ends of the part of each side that is inside the canvas, and whether there is one. [..., 4, 2], [..., 4]

    The method of Liang and Barsky (1984): a side is corner + t * step, and each edge of the canvas bounds t.
    """
    xp = namespace(corners)
    step = xp.roll(corners, -1, -2) - corners
    is_parallel = abs(step) < _PARALLEL
    divisor = xp.where(is_parallel, 1.0, step)
    to_low, to_high = (low - corners) / divisor, (high - corners) / divisor
    is_outside = is_parallel & ((corners < low) | (corners > high))
    start = xp.where(is_parallel, 0.0, xp.minimum(to_low, to_high))
    end = xp.where(is_outside, -1.0, xp.where(is_parallel, 1.0, xp.maximum(to_low, to_high)))
    start, end = xp.amax(start, -1), xp.amin(end, -1)
    exist = (start <= end) & (start <= 1) & (end >= 0)
    ends = tuple(corners + xp.clip(t, 0.0, 1.0)[..., None] * step for t in (start, end))
    return (ends[0], ends[1]), exist
