"""Formats, clamping modes and dtypes of boxes and keypoints."""

from __future__ import annotations

import enum
from typing import Any

from ... import _check
from ..._arrays import convert
from ..._arrays.tv_tensors import tv_kind
from ..._detection.box_formats import ALL_FORMATS, ROTATED_FORMATS
from .. import point_map


def format_name(parameter: str, value: Any) -> str:
    """The name of a format of boxes, from its name or a member of torchvision's enumeration."""
    name = value.name if isinstance(value, enum.Enum) else value.upper() if isinstance(value, str) else value
    _check.one_of(parameter, name, ALL_FORMATS)
    return str(name)


def are_rotated_boxes(inpt: Any) -> bool:
    return tv_kind(inpt) == "boxes" and inpt.format.name in ROTATED_FORMATS


def clamping_mode(boxes: Any) -> str | None:
    """The clamping mode of BoundingBoxes: "soft", "hard" or None."""
    mode: str | None = getattr(boxes, "clamping_mode", "soft")  # older versions have none, and clamp
    check_clamping_mode(mode, boxes.format.name)
    return mode


def check_clamping_mode(mode: str | None, format: str) -> None:
    if mode == "hard" and format in ROTATED_FORMATS:
        raise ValueError("clamping_mode must be 'soft' or None for rotated boxes, got 'hard'")


def cast(values: Any, dtype: Any) -> Any:
    """Values in the dtype of the input. For integers: rounded, and clamped to the dtype and to -2**30..2**30.

    NaN and infinity become 0.
    """
    if point_map.is_integer(dtype):
        xp = convert.namespace(values)
        values = xp.where(xp.isfinite(values), values, 0.0)
    return point_map.cast_back(values, dtype)


def rounded_half_up(values: Any) -> Any:
    """Values rounded to integers, halves up: both edges of a box move alike, so its size stays."""
    whole = convert.namespace(values).floor(values)
    return whole + (values - whole >= 0.5)  # values + 0.5 would be rounded to even from 2**23 in float32
