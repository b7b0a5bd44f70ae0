"""The formats of a box: two corners, or a point and a size."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays.convert import namespace
from .._arrays.tv_tensors import box_format

# The first two numbers of a format are the point at this fraction of the box's width and height (0: the low corner),
# and the last two are its size. None: the format is two corners.
FORMATS = {"XYXY": None, "XYWH": 0.0, "CXCYWH": 0.5}


class XYXYBoxes(np.ndarray):
    """Boxes whose type states their format. torchvision's BoundingBoxes state theirs in an attribute."""


def stated_format(boxes: Any) -> str | None:
    """The format that the boxes state by their type or in an attribute; None if they state none."""
    return "XYXY" if isinstance(boxes, XYXYBoxes) else box_format(boxes)


def require_format(name: str, boxes: Any, *formats: str) -> None:
    """Refuses BoundingBoxes of torchvision that are in none of the formats."""
    if not hasattr(boxes, "format"):  # torch.compile traces this, but warns of the cache that `box_format` calls
        return
    stated = box_format(boxes)
    if stated is not None and stated not in formats:
        source, target = stated.lower(), formats[0].lower()
        convert = f": pass cuaug.box_convert({name}, '{source}', '{target}')" if stated in FORMATS else ""
        raise ValueError(f"{name} must be in the format {' or '.join(formats)}, got BoundingBoxes in {stated}{convert}")


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


def convert_format(boxes: Any, format: str, new_format: str) -> Any:
    """Boxes in another format. [..., 4]"""
    return boxes if format == new_format else from_edges(to_edges(boxes, format), new_format)


def area(edges: Any) -> Any:
    """Areas of boxes (left, top, right, bottom): [..., 4] to [...]."""
    return (edges[..., 2] - edges[..., 0]) * (edges[..., 3] - edges[..., 1])
