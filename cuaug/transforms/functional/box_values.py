"""Formats, clamping modes and dtypes of boxes and keypoints."""

from __future__ import annotations

import enum
from typing import Any

from ... import _check
from ..._arrays import convert
from ..._detection.box_formats import FORMATS
from .. import point_map


def upright_format(parameter: str, value: Any) -> str:
    """The name of a format of upright boxes, from its name or a member of torchvision's enumeration."""
    name = value.name if isinstance(value, enum.Enum) else value.upper() if isinstance(value, str) else value
    _check.one_of(parameter, name, tuple(FORMATS))
    return str(name)


def clamping_mode(boxes: Any) -> str | None:
    """The clamping mode of BoundingBoxes: "soft", "hard" or None. Both clamp upright boxes to the canvas."""
    mode: str | None = getattr(boxes, "clamping_mode", "soft")  # older versions have none, and clamp
    return mode


def cast(values: Any, dtype: Any) -> Any:
    """Values in the dtype of the input. For integers: rounded, clamped to the dtype; NaN and infinity become 0."""
    if point_map.is_integer(dtype):
        xp = convert.namespace(values)
        values = xp.where(xp.isfinite(values), values, 0.0)
    return point_map.cast_back(values, dtype)
