"""A parameter that a kernel receives as several partial sums."""

from __future__ import annotations

from typing import NamedTuple

from .parameters import NULL_ARRAY, StridedArray


class PartialSums(NamedTuple):
    """One parameter of an op chain (op_chain.py), as the sum of `partial_count` numbers per sample."""

    table: StridedArray  # [N, partial_count]
    partial_count: int
    mean_column: int  # index, among the parameters of the chain, of the parameter that is this sum; -1: none


NO_PARTIAL_SUMS = PartialSums(NULL_ARRAY, 0, -1)
