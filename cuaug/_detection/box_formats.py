"""The formats of a box: two corners, or a point and a size."""

from __future__ import annotations

from typing import Any

from .._arrays.convert import namespace

# The position of the first two numbers of a format in the box, as a fraction of its size; None: two corners.
FORMATS = {"XYXY": None, "XYWH": 0.0, "CXCYWH": 0.5}


def to_edges(boxes: Any, format: str) -> Any:
    """Any format to left, top, right, bottom. [..., 4]"""
    fraction = FORMATS[format]
    if fraction is None:
        return boxes
    low, size = boxes[..., :2] - fraction * boxes[..., 2:], boxes[..., 2:]
    return namespace(boxes).concatenate([low, low + size], -1)


def from_edges(edges: Any, format: str) -> Any:
    """Left, top, right, bottom to any format. [..., 4]"""
    fraction = FORMATS[format]
    if fraction is None:
        return edges
    low, size = edges[..., :2], edges[..., 2:] - edges[..., :2]
    return namespace(edges).concatenate([low + fraction * size, size], -1)


def area(edges: Any) -> Any:
    """[..., 4] to [...]."""
    return (edges[..., 2] - edges[..., 0]) * (edges[..., 3] - edges[..., 1])
