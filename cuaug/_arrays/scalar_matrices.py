"""Builds or reads one matrix on the host.

The general path, a builder of `_matrices` or `_passes/parameters.py`, takes longer
(benchmarks/log/single-images-cpu.md).

`rotation_matrix` and `affine_matrix` take Python numbers and compute the same bits as the CPU loop of kernels/matrices.
`affine_entries` and `perspective_entries` read nested lists and NumPy's arrays of floats. All return None for other
values and for invalid ones, which the general path then converts or refuses.

Sines, cosines and tangents come from `math`, which gives the same bits as the loop. While torch.compile traces, they
come from NumPy: symbolic angles can be traced there, but not in `math`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .autograd import is_compiling

_RADIANS = math.pi / 180


def rotation_matrix(angle: Any, scale: Any, center: Any) -> np.ndarray | None:
    """As `cuaug::GetRotationMatrix`."""
    if not (_is_number(angle) and _is_number(scale) and _is_pair(center)):
        return None
    cosine, sine = _cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    return _linear_to_affine(cosine, sine, -sine, cosine, center, center)


def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> np.ndarray | None:
    """As `cuaug::AffineMatrix`."""
    numbers, pairs = (angle, scale), (translate, shear, center)
    if not (all(map(_is_number, numbers)) and all(map(_is_pair, pairs)) and scale > 0):
        return None
    maths = np if is_compiling() else math
    slope_x, slope_y = (maths.tan(degrees * _RADIANS) for degrees in shear)
    cosine, sine = _cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    # As in torchvision: rotate(angle) @ shear_y @ shear_x.
    a, c = cosine + sine * slope_y, sine - cosine * slope_y
    b, d = -a * slope_x - sine, cosine - c * slope_x
    start = center[0] - 0.5, center[1] - 0.5
    return _linear_to_affine(a, b, c, d, start, (start[0] + translate[0], start[1] + translate[1]))


def affine_entries(value: Any) -> tuple[float, ...] | None:
    """The first two rows of a 2x3 or 3x3 matrix, row by row: finite and invertible, with a third row of 0 0 1."""
    flat = _entries(value)
    if flat is None or (len(flat) == 9 and flat[6:] != [0.0, 0.0, 1.0]):
        return None
    a, b, c, d, e, f = flat[:6]
    return (a, b, c, d, e, f) if _is_finite_and_invertible(flat, a * e - b * d) else None


def perspective_entries(value: Any) -> tuple[float, ...] | None:
    """A 3x3 matrix, row by row: finite and invertible."""
    m = _entries(value)
    if m is None or len(m) != 9:
        return None
    cofactors = m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6]
    determinant = m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2]
    return tuple(m) if _is_finite_and_invertible(m, determinant) else None


def _entries(value: Any) -> list[float] | None:
    """The entries of a 2x3 or 3x3 matrix, row by row. The entries may be infinite or NaN."""
    if type(value) is np.ndarray:
        # The general path rounds longdouble to float64, which the loops read, before it checks the entries.
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


def _is_finite_and_invertible(flat: list[float], determinant: float) -> bool:
    """One sum tests all entries. If it overflows, valid entries take the general path."""
    return determinant != 0 and math.isfinite(sum(flat)) and math.isfinite(1 / determinant)


def _is_number(value: Any) -> bool:
    # float64 holds integers up to 2**53 exactly.
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 1 << 53)


def _is_pair(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) == 2 and _is_number(value[0]) and _is_number(value[1])


def _cosine_sine(degrees: float) -> tuple[float, float]:
    """As `cuaug::cosine_sine`."""
    if degrees % 90 == 0:
        quarter = degrees % 360 / 90  # exactly 0, 1, 2 or 3
        return abs(quarter - 2) - 1, 1 - abs(quarter - 1)
    radians, maths = degrees * _RADIANS, np if is_compiling() else math
    return maths.cos(radians), maths.sin(radians)


def _linear_to_affine(a: float, b: float, c: float, d: float, start: Any, end: Any) -> np.ndarray:
    """[[a, b], [c, d]] and a shift, such that the point `start` maps to `end`."""
    x, y = start
    return np.array([[a, b, end[0] - (a * x + b * y)], [c, d, end[1] - (c * x + d * y)]], np.float64)
