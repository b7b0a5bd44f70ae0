"""A parameter that is the sum of several numbers."""

from __future__ import annotations

from typing import NamedTuple

from .parameters import NULL_ARRAY, StridedArray


class PartialSums(NamedTuple):
    """A parameter that is the sum of several numbers."""

    table: StridedArray
    terms: int
    column: int  # which it is, among the parameters


NO_PARTIAL_SUMS = PartialSums(NULL_ARRAY, 0, -1)
