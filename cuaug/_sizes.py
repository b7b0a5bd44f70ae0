"""Sizes by torchvision's rules: of resized and rotated images, of padding, and of a filter's kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _check
from ._integers import has_length, has_positions, integer_hint
from ._value_text import value_text
from .typing import Size


def square_or_size(parameter: str, value: Any) -> tuple[int, int]:
    """(H, W), from (H, W) or from one number for both."""
    sides = _numbers(parameter, value)
    if len(sides) not in (1, 2):
        raise ValueError(f"{parameter} must be an int or (H, W), got {value_text(value)}")
    return _check.size(parameter, sides * 2 if len(sides) == 1 else value)


def int_or_tuple(parameter: str, value: Any) -> int | tuple[int, ...]:
    """One number, or those of a list, each at least 1."""
    sides = tuple(_check.integer(parameter, side, 1) for side in _numbers(parameter, value))
    return sides if has_length(value) else sides[0]


def padding_of(padding: Size) -> tuple[int, int, int, int]:
    """(left, top, right, bottom), from one number, (left and right, top and bottom), or all four."""
    sides = _numbers("padding", padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(f"padding must be one, two or four ints, got {value_text(padding)}")
    sides *= 4 // len(sides)
    limit = _check.SIDE_LIMIT
    left, top, right, bottom = (_check.integer("padding", side, -limit, limit) for side in sides)
    return left, top, right, bottom


def kernel_extents(kernel_size: Any) -> tuple[int, int]:
    """(x, y) of a filter's kernel, from (x, y) or from one number for both."""
    extents = _numbers("kernel_size", kernel_size)
    if len(extents) not in (1, 2):
        raise ValueError(f"kernel_size must be an int or (x, y), got {value_text(kernel_size)}")
    return _side("kernel_size", extents[0]), _side("kernel_size", extents[-1])


def resized_size(size: tuple[float, float], new_size: Size | None, max_size: int | None) -> tuple[int, int]:
    """(H, W) of the resized image.

    For one number, torchvision's rule: the shorter side becomes that number, the longer side follows, rounded down.
    """
    if max_size is not None:
        max_size = _check.integer("max_size", max_size, 1)
    sides = [None] if new_size is None else _numbers("size", new_size)
    if len(sides) != 1:
        if max_size is not None:
            raise ValueError("max_size must be None where size is (H, W)")
        return square_or_size("size", new_size)
    side, (short, long) = sides[0], sorted(size)
    if side is None:
        if max_size is None:
            raise ValueError("size must be an int or (H, W) where max_size is None, got None")
        new_long = _side("max_size", max_size)
        new_short = max(1, int(new_long * short / long))
    else:
        new_short = _side("size", side)
        new_long = int(new_short * long / short)
        if max_size is not None:
            if max_size <= new_short:
                raise ValueError(f"max_size must be greater than size, got {max_size} for size {new_short}")
            if new_long > max_size:
                new_short, new_long = max(1, int(max_size * new_short / new_long)), max_size
    return _check.size("size", (new_short, new_long) if size[0] <= size[1] else (new_long, new_short))


def _side(parameter: str, value: Any) -> int:
    side = _check.integer(parameter, value, 1)
    if side >= _check.SIDE_LIMIT:
        raise ValueError(f"{parameter} must be below 2**30, got {value_text(side)}")
    return side


def center_offsets(size: tuple[int, int], output_size: tuple[int, int]) -> tuple[int, int]:
    """(top, left) of an output in the middle of an image; negative where the output is larger.

    torchvision's rule: the offset of a crop is rounded half to even, the padding at the top and left is rounded down.
    """
    top, left = (
        round((side - output_side) / 2.0) if output_side <= side else -((output_side - side) // 2)
        for side, output_side in zip(size, output_size, strict=True)
    )
    return top, left


def rotated_sizes(size: tuple[int, int], cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """The smallest sizes (H, W) that hold the corners of rotated images, [..., 2] for angles [...].

    torchvision's rule: corners are truncated to 1e-4 of a pixel, toward 0. A multiple of 90 degrees, whose cosine or
    sine is exactly 0, keeps or swaps the sides.
    """
    sides = []
    for side, other_side in (size, size[::-1]):
        extent = side * abs(cosine) + other_side * abs(sine)
        low, high = (np.trunc((side + sign * extent) / 2 * 1e4) / 1e4 for sign in (-1, 1))
        sides.append(np.where(cosine * sine == 0, extent, np.ceil(high) - np.floor(low)))
    return np.stack(sides, -1).astype(np.int64)


def _numbers(parameter: str, value: Any) -> list[Any]:
    """The entries of a list, or one number as a list."""
    if not has_length(value) and hasattr(type(value), "__index__"):
        return [value]
    if not has_positions(value):
        raise TypeError(f"{parameter} must be an int or a list of ints, got {value_text(value)}{integer_hint(value)}")
    return list(value)
