"""The ways to write a box: two corners, or a point and a size."""

from __future__ import annotations

from typing import Any

from . import _check
from ._array import namespace

# Where a box's first two numbers stand in it, as a share of its size; None: the last two are the other corner.
ANCHORS = {"XYXY": None, "XYWH": 0.0, "CXCYWH": 0.5}


def anchor_of(parameter: str, format: str) -> float | None:
    _check.one_of(parameter, format, tuple(ANCHORS))
    return ANCHORS[format]


def corners(boxes: Any, anchor: float | None) -> tuple[Any, Any]:
    """The low and the high corner. [..., 2]"""
    low, high = boxes[..., :2], boxes[..., 2:]
    return (low, high) if anchor is None else (low - anchor * high, low + (1 - anchor) * high)


def of_corners(low: Any, high: Any, anchor: float | None) -> Any:
    """[..., 4]"""
    if anchor is not None:
        low, high = low + anchor * (high - low), high - low
    return namespace(low).concatenate([low, high], -1)
