"""The formats of a box: two corners, or a point and a size. Rotated: a point, a size and an angle, or four corners."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays.convert import detach, namespace
from .._arrays.tv_tensors import box_format

# The first two numbers of a format are the point at this fraction of the box's width and height (0: the low corner),
# and the last two are its size. None: the format is two corners.
FORMATS = {"XYXY": None, "XYWH": 0.0, "CXCYWH": 0.5}
# By rotated format, the number of columns. Angles are degrees counter-clockwise. XYWHR begins with the box's own upper
# left corner, which turns with the box; XYXYXYXY has this corner, the upper right, the lower right and the lower left.
ROTATED_FORMATS = {"XYWHR": 5, "CXCYWHR": 5, "XYXYXYXY": 8}
ALL_FORMATS = (*FORMATS, *ROTATED_FORMATS)


class XYXYBoxes(np.ndarray):
    """Boxes of data sets, whose type states their format. torchvision's BoundingBoxes state theirs in an attribute."""


def stated_format(boxes: Any) -> str | None:
    """The format that the boxes state by their type or in an attribute; None if they state none."""
    return "XYXY" if isinstance(boxes, XYXYBoxes) else box_format(boxes)


def require_format(name: str, boxes: Any, *formats: str) -> None:
    """Refuses boxes that state another format than these."""
    # torch.compile traces this, but warns of the cache that `box_format` calls.
    if not (isinstance(boxes, XYXYBoxes) or hasattr(boxes, "format")):
        return
    stated = stated_format(boxes)
    if stated is not None and stated not in formats:
        source, is_rotated = stated.lower(), stated in ROTATED_FORMATS
        targets = [other.lower() for other in formats if (other in ROTATED_FORMATS) == is_rotated]
        convert = f": pass cuaug.box_convert({name}, '{source}', '{targets[0]}')" if targets else ""
        given = f"{type(boxes).__name__} in {stated}"
        raise ValueError(f"{name} must be in the format {' or '.join(formats)}, got {given}{convert}")


def to_edges(boxes: Any, format: str) -> Any:
    """Upright boxes in one of `FORMATS` to left, top, right, bottom. [..., 4]"""
    fraction = FORMATS[format]
    if fraction is None:
        return boxes
    low, size = boxes[..., :2], boxes[..., 2:]
    if fraction:  # 0 times an infinite size is NaN
        low = low - fraction * size
    return namespace(boxes).concatenate([low, low + size], -1)


def from_edges(edges: Any, format: str) -> Any:
    """Left, top, right, bottom to one of `FORMATS`. [..., 4]"""
    fraction = FORMATS[format]
    if fraction is None:
        return edges
    low, size = edges[..., :2], edges[..., 2:] - edges[..., :2]
    if fraction:
        low = low + fraction * size
    return namespace(edges).concatenate([low, size], -1)


def convert_rotated(boxes: Any, format: str, new_format: str) -> Any:
    """Rotated boxes in another format. [..., 5] or [..., 8]"""
    if format == new_format:
        return boxes
    xp = namespace(boxes)
    if format == "XYXYXYXY":
        boxes = _from_corners(boxes)
    elif format == "CXCYWHR":
        boxes = xp.concatenate([boxes[..., :2] - sum(_half_sides(boxes)), boxes[..., 2:]], -1)
    if new_format == "XYWHR":
        return boxes
    corner, (half_width, half_height) = boxes[..., :2], _half_sides(boxes)
    if new_format == "CXCYWHR":
        return xp.concatenate([corner + half_width + half_height, boxes[..., 2:]], -1)
    right, lower = corner + 2 * half_width, corner + 2 * half_height
    return xp.concatenate([corner, right, right + 2 * half_height, lower], -1)


def _half_sides(boxes: Any) -> tuple[Any, Any]:
    """Half of the upper and of the left side of rotated boxes with an angle, as vectors (x, y). [..., 2]"""
    xp, degrees = namespace(boxes), boxes[..., 4]
    radians, half_turn = degrees * (math.pi / 180), degrees % 180
    cosine, sine = xp.cos(radians), xp.sin(radians)
    # Exactly 0 at right angles. The value is subtracted, because a constant would have no gradient.
    cosine = xp.where(half_turn == 90, cosine - detach(cosine), cosine)
    sine = xp.where(half_turn == 0, sine - detach(sine), sine)
    return boxes[..., 2:3] / 2 * xp.stack([cosine, -sine], -1), boxes[..., 3:4] / 2 * xp.stack([sine, cosine], -1)


def _from_corners(boxes: Any) -> Any:
    """XYXYXYXY to XYWHR: the sides that meet in the upper right corner give the size, the upper one gives the angle."""
    xp, upper, right = namespace(boxes), boxes[..., 2:4] - boxes[..., :2], boxes[..., 4:6] - boxes[..., 2:4]
    (width, degrees), (height, _) = _polar(upper), _polar(right)
    return xp.concatenate([boxes[..., :2], xp.stack([width, height, degrees], -1)], -1)


def _polar(side: Any) -> tuple[Any, Any]:
    """Length and angle of vectors (x, y). Both are 0 without a length, and so are their gradients. [..., 2]"""
    xp, is_zero = namespace(side), (side == 0).all(-1)
    x, y = xp.where(is_zero, 1.0, side[..., 0]), side[..., 1]  # hypot(0, 0) has a NaN as its gradient
    length, degrees = xp.hypot(x, y), xp.arctan2(-y, x) * (180 / math.pi)
    return xp.where(is_zero, 0.0, length), xp.where(is_zero, 0.0, degrees)


def convert_format(boxes: Any, format: str, new_format: str) -> Any:
    """Upright boxes in another format. [..., 4]"""
    if format != new_format and (format not in FORMATS or new_format not in FORMATS):
        raise ValueError(f"boxes must be all upright or all rotated, got {format} to convert to {new_format}")
    return boxes if format == new_format else from_edges(to_edges(boxes, format), new_format)


def area(edges: Any) -> Any:
    """Areas of boxes (left, top, right, bottom): [..., 4] to [...]."""
    return (edges[..., 2] - edges[..., 0]) * (edges[..., 3] - edges[..., 1])
