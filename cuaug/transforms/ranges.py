"""Checks of the parameters of transforms: ranges, sizes, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._integers import refuse_tracer
from .._value_text import value_text


def number(name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    value = python_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError(f"{name} must be a finite number, got {value_text(value)}")
    if not minimum <= value <= maximum:
        raise ValueError(f"{name} must be {_between(minimum, maximum)}, got {value_text(value)}")
    return float(value)


def beta_shape(name: str, value: Any) -> float:
    """A parameter of a beta distribution: greater than 0, and at most 1e6.

    With much larger ones the loop that draws (kernels/draws/random.cuh) rarely accepts, or never.
    """
    if number(name, value, 0.0, 1e6) == 0:
        raise ValueError(f"{name} must be greater than 0, got {value_text(value)}")
    return float(value)


def pair(name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> tuple[float, float]:
    """(low, high), in that order; also as an array of any library."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != 2:
        raise ValueError(f"{name} must be (low, high), got {value_text(value)}")
    low, high = number(name, value[0], minimum, maximum), number(name, value[1], minimum, maximum)
    if low > high:
        raise ValueError(f"{name} must be (low, high), got {value_text(value)}")
    return low, high


def around(
    name: str, value: Any, centre: float = 0.0, minimum: float = -math.inf, maximum: float = math.inf
) -> tuple[float, float]:
    """(low, high), or a number r for centre - r..centre + r; low is at least the minimum, as torchvision's."""
    value = python_number(value)
    if isinstance(value, (int, float)):
        radius = number(name, value, 0.0, maximum - centre)
        return max(centre - radius, minimum), centre + radius
    return pair(name, value, minimum, maximum)


def probability(name: str, value: Any) -> float:
    return number(name, value, 0.0, 1.0)


def number_or_tuple(name: str, value: Any) -> float | tuple[float, ...]:
    """A number, or one per channel; also as an array of any library."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, (list, tuple)):
        return number(name, value)
    if not value:
        raise ValueError(f"{name} must be a number or one per channel, got {value_text(value)}")
    return tuple(number(name, v) for v in value)


def per_channel(name: str, value: Any, channels: int) -> list[float]:
    """One number per channel, from one per channel or one for all."""
    values = [value] if isinstance(value, (int, float)) else list(value)
    if len(values) not in (1, channels):
        raise ValueError(f"{name} must be a number or one per channel, {channels} here, got {value_text(value)}")
    return [number(name, v) for v in (values * channels if len(values) == 1 else values)]


def numbers(
    name: str, value: Any, rule: str, minimum: float = -math.inf, maximum: float = math.inf
) -> tuple[float, ...]:
    """Numbers in a sequence, or in an array of any library. `rule`: what the value must be."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be {rule}, got {value_text(value)}")
    return tuple(number(name, entry, minimum, maximum) for entry in value)


def point(name: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> tuple[float, float]:
    """(x, y)."""
    entries = numbers(name, value, "(x, y)", minimum, maximum)
    if len(entries) != 2:
        raise ValueError(f"{name} must be (x, y), got {value_text(value)}")
    return entries[0], entries[1]


def number_or_point(name: str, value: Any, minimum: float = -math.inf) -> tuple[float, float]:
    """(x, y), or one number for both."""
    entries = number_or_tuple(name, value)
    x, y = (*entries, *entries)[:2] if isinstance(entries, tuple) else (entries, entries)
    if isinstance(entries, tuple) and len(entries) > 2:
        raise ValueError(f"{name} must be a number or (x, y), got {value_text(value)}")
    return number(name, x, minimum), number(name, y, minimum)


def box_range(scale: tuple[float, float], ratio: tuple[float, float]) -> tuple[float, ...]:
    """`cuaug::BoxRange` (kernels/draws/boxes.cuh); ratios are width by height."""
    return *scale, math.log(ratio[0]), math.log(ratio[1]), *ratio


def python_number(value: Any) -> Any:
    """An array without axes, of any library, as a number of Python; other values as they are."""
    refuse_tracer(type(value))
    return value.tolist() if getattr(value, "shape", None) == () and hasattr(value, "tolist") else value


def _between(minimum: float, maximum: float) -> str:
    return f"at least {minimum}" if maximum == math.inf else f"in {minimum}..{maximum}"
