"""Matrices of plain numbers, which small_matrices.py computes with NumPy in ten times the time.

The functions return None if an argument is no plain number, or is not valid: small_matrices.py then computes the matrix
or raises. Sine, cosine and tangent are NumPy's scalars: both then compute the same bits, and torch.compile, which may
trace these functions with symbolic numbers, can guard them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_RADIANS = math.pi / 180


def rotation_matrix(angle: Any, scale: Any, center: Any) -> np.ndarray | None:
    """As `small_matrices.rotation_matrix`."""
    if not (_is_number(angle) and _is_number(scale) and _is_pair(center)):
        return None
    cosine, sine = _cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    return _linear_to_affine(cosine, sine, -sine, cosine, center, center)


def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> np.ndarray | None:
    """As `small_matrices.affine_matrix`."""
    numbers, pairs = (angle, scale), (translate, shear, center)
    if not (all(map(_is_number, numbers)) and all(map(_is_pair, pairs)) and scale > 0):
        return None
    slope_x, slope_y = (np.tan(degrees * _RADIANS) for degrees in shear)
    cosine, sine = _cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    a, c = cosine + sine * slope_y, sine - cosine * slope_y
    b, d = -a * slope_x - sine, cosine - c * slope_x
    start = center[0] - 0.5, center[1] - 0.5
    return _linear_to_affine(a, b, c, d, start, (start[0] + translate[0], start[1] + translate[1]))


def affine_entries(value: Any) -> tuple[float, ...] | None:
    """The first two rows of a 2x3 or 3x3 matrix, row by row: finite and invertible, with a third row of 0 0 1."""
    flat = _flat(value)
    if not flat or (len(flat) == 9 and flat[6:] != [0.0, 0.0, 1.0]):
        return None
    a, b, c, d, e, f = flat[:6]
    return (a, b, c, d, e, f) if _is_valid(flat, a * e - b * d) else None


def perspective_entries(value: Any) -> tuple[float, ...] | None:
    """A 3x3 matrix, row by row: finite and invertible."""
    flat = _flat(value)
    if not flat or len(flat) != 9:
        return None
    m = flat
    cofactors = m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6]
    determinant = m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2]
    return tuple(flat) if _is_valid(flat, determinant) else None


def _flat(value: Any) -> list[float] | None:
    """The entries of a 2x3 or 3x3 matrix, row by row. They may be infinite or NaN."""
    if type(value) is np.ndarray:
        # Not longdouble: its entries, and so the checks of them, have more digits than the float64 that the loops get.
        is_matrix = value.shape in ((2, 3), (3, 3)) and value.dtype.kind == "f" and value.itemsize <= 8
        return value.ravel().tolist() if is_matrix else None
    if type(value) not in (list, tuple) or len(value) not in (2, 3):
        return None
    if not {type(row) for row in value} <= {list, tuple} or {len(row) for row in value} != {3}:
        return None
    entries = [entry for row in value for entry in row]
    if not {type(entry) for entry in entries} <= {int, float}:
        return None
    try:
        return [float(entry) for entry in entries]
    except OverflowError:
        return None


def _is_valid(flat: list[float], determinant: float) -> bool:
    """Whether the sum of all entries, and so each of them, and the inverse of the determinant are finite."""
    return determinant != 0 and math.isfinite(sum(flat)) and math.isfinite(1 / determinant)


def _is_number(value: Any) -> bool:
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 1 << 53)


def _is_pair(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) == 2 and _is_number(value[0]) and _is_number(value[1])


def _cosine_sine(degrees: float) -> tuple[float, float]:
    """As `small_matrices.cosine_sine` on the host."""
    if degrees % 90 == 0:
        quarter = degrees % 360 / 90
        return abs(quarter - 2) - 1, 1 - abs(quarter - 1)
    radians = degrees * _RADIANS
    return np.cos(radians), np.sin(radians)


def _linear_to_affine(a: float, b: float, c: float, d: float, start: Any, end: Any) -> np.ndarray:
    """[[a, b], [c, d]] and a shift, such that the point `start` maps to `end`."""
    x, y = start
    return np.array([[a, b, end[0] - (a * x + b * y)], [c, d, end[1] - (c * x + d * y)]], np.float64)
