"""A parameter that a kernel receives as several partial sums."""

from __future__ import annotations

from typing import NamedTuple

from .parameters import NULL_ARRAY, StridedArray


class PartialSums(NamedTuple):
    """One column of a chain's parameters, as the sum of `terms` numbers per sample."""

    table: StridedArray
    terms: int
    column: int  # of the chain's parameters


NO_PARTIAL_SUMS = PartialSums(NULL_ARRAY, 0, -1)
