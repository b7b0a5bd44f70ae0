"""Checks of the parameters of transforms: numbers, ranges, probabilities, values per channel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import _check
from .._fusion.fill import FillByKind
from .._integers import float_value, python_value
from .._value_text import value_text
from ..typing import PerChannel
from .by_type import values_by_kind

_MAX_BETA_SHAPE = 1_000_000
_MAX_LABEL = 1 << 53  # the largest integer below which float64, the type of a fill in a pass, has all integers


def number(name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    value = python_value(value)
    is_number = not isinstance(value, bool) and isinstance(value, (int, float))
    if not (is_number and math.isfinite(float_value(name, value))):
        raise TypeError(f"{name} must be a finite number, got {value_text(value)}")
    if not minimum <= value <= maximum:
        raise ValueError(f"{name} must be {_between(minimum, maximum)}, got {value_text(value)}")
    return float(value)


def beta_shape(name: str, value: Any) -> float:
    """A parameter of a beta distribution.

    Far above the limit, the rejection loop of kernels/draws/random.cuh rarely or never accepts a draw.
    """
    if not 0 < number(name, value) <= _MAX_BETA_SHAPE:
        raise ValueError(f"{name} must be greater than 0 and at most {_MAX_BETA_SHAPE}, got {value_text(value)}")
    return float(value)


def pair(name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> tuple[float, float]:
    """(low, high), in that order."""
    value = python_value(value)
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError(f"{name} must be (low, high), got {value_text(value)}")
    low, high = number(name, value[0], minimum, maximum), number(name, value[1], minimum, maximum)
    if low > high:
        raise ValueError(f"{name} must be (low, high), got {value_text(value)}")
    return low, high


def around(
    name: str, value: Any, centre: float = 0.0, minimum: float = -math.inf, maximum: float = math.inf
) -> tuple[float, float]:
    """(low, high), or a number r for centre - r..centre + r; low is at least the minimum, as torchvision's."""
    value = python_value(value)
    if isinstance(value, (int, float)):
        radius = number(name, value, 0.0, maximum - centre)
        return max(centre - radius, minimum), centre + radius
    return pair(name, value, minimum, maximum)


def x_and_y(
    name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf, *, both: bool = False
) -> tuple[float, float]:
    """(x, y); `both`: or one number for both, which may be in a list."""
    value = python_value(value)
    if both and (not isinstance(value, (list, tuple)) or len(value) == 1):
        x = value[0] if isinstance(value, (list, tuple)) else value
        value = x, x
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError(f"{name} must be {'a number or ' * both}(x, y), got {value_text(value)}")
    return number(name, value[0], minimum, maximum), number(name, value[1], minimum, maximum)


def fill(value: Any) -> PerChannel | FillByKind | None:
    """A number, NaN included, or one per channel, also as an array of any library; None stands for 0.

    A dict by type, as torchvision's, whose value for masks is not 0 becomes a `FillByKind`.
    """
    if isinstance(value, FillByKind):
        return _fill_by_kind(value.images, value.masks)
    if isinstance(value, Mapping):
        by_kind = values_by_kind("fill", value)
        images, masks = (by_kind.others if kind is None else kind for kind in (by_kind.images, by_kind.masks))
        return _fill_by_kind(images, masks)
    return _image_fill(value)


def _fill_by_kind(images: Any, masks: Any) -> PerChannel | FillByKind | None:
    """The value for images, and that for masks if it is not 0."""
    masks = 0 if masks is None else python_value(masks)
    if isinstance(masks, (list, tuple)):
        entries = [python_value(entry) for entry in masks]
        masks = entries[0] if entries and all(entry == entries[0] for entry in entries) else masks
    if isinstance(masks, float) and masks.is_integer():
        masks = int(masks)
    masks = _check.integer("fill of masks", masks, -_MAX_LABEL, _MAX_LABEL)
    return FillByKind(_image_fill(images), masks) if masks else _image_fill(images)


def _image_fill(value: Any) -> PerChannel | None:
    if value is None:
        return None
    value = python_value(value)
    entries = tuple(map(python_value, value)) if isinstance(value, (list, tuple)) else (value,)
    if not entries or not all(type(entry) in (int, float) for entry in entries):
        raise TypeError(f"fill must be a number or one per channel, got {value_text(value)}")
    try:
        tuple(map(float, entries))
    except OverflowError:  # an int
        raise ValueError(f"fill must be numbers that a float holds, got {value_text(value)}") from None
    return entries if isinstance(value, (list, tuple)) else entries[0]


def probability(name: str, value: Any) -> float:
    return number(name, value, 0.0, 1.0)


def number_or_tuple(name: str, value: Any) -> float | tuple[float, ...]:
    """A number, or one per channel; also as an array of any library."""
    value = python_value(value)
    if not isinstance(value, (list, tuple)):
        return number(name, value)
    if not value:
        raise ValueError(f"{name} must be a number or one per channel, got {value_text(value)}")
    return tuple(number(name, v) for v in value)


def per_channel(name: str, value: Any, channels: int) -> list[float]:
    """One number per channel, from one per channel or one for all."""
    values = number_or_tuple(name, value)
    values = (values,) if isinstance(values, float) else values
    if len(values) not in (1, channels):
        raise ValueError(f"{name} must be a number or one per channel, {channels} here, got {value_text(value)}")
    return [*(values * channels if len(values) == 1 else values)]


def numbers(
    name: str, value: Any, rule: str, minimum: float = -math.inf, maximum: float = math.inf
) -> tuple[float, ...]:
    """Numbers in a sequence, or in an array of any library. `rule`: what the value must be."""
    value = python_value(value)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be {rule}, got {value_text(value)}")
    return tuple(number(name, entry, minimum, maximum) for entry in value)


def box_range(scale: tuple[float, float], ratio: tuple[float, float]) -> tuple[float, ...]:
    """`cuaug::BoxRange` (kernels/draws/boxes.cuh); ratios are width by height."""
    return *scale, math.log(ratio[0]), math.log(ratio[1]), *ratio


def _between(minimum: float, maximum: float) -> str:
    return f"at least {minimum}" if maximum == math.inf else f"in {minimum}..{maximum}"
