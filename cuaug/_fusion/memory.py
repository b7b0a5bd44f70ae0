"""Where what lies between a recipe's launches goes: into a block, or the result's memory until that is written."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

_APART = 512  # bytes that places are multiples of, as the memory is that torch and CuPy give


class Span(NamedTuple):
    """Bytes that are needed from one launch to another, which are counted."""

    size: int
    first: int
    last: int


class Place(NamedTuple):
    """Where a span begins: in the result's memory, or else in the block."""

    in_result: bool
    offset: int


def placed(result: Span, spans: Sequence[Span]) -> tuple[list[Place], int]:
    """A place for each of the spans, and the size of the block. The result is needed to the last launch of all.

    The largest come first, and of one size the last that are needed, as the result is: each in the smallest gap that
    those leave which are needed at the same time. For that the block lies behind the result, with a wall between.
    """
    block = _next(result.size)
    taken = [(0, result.size, result), (result.size, block, Span(0, 0, result.last))]
    begins = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: (-spans[i].size, -spans[i].last)):
        own = spans[i]
        there = sorted(place for *place, other in taken if other.first <= own.last and own.first <= other.last)
        begins[i] = _gap(there, own.size)
        taken.append((begins[i], begins[i] + own.size, own))
    places = [Place(begin < block, begin if begin < block else begin - block) for begin in begins]
    return places, max(end for _, end, _ in taken) - block


def _gap(there: Sequence[Sequence[int]], size: int) -> int:
    """Where the smallest begins that has room for so many bytes; or what is behind all."""
    free = list(itertools.accumulate((_next(end) for _, end in there), max, initial=0))
    gaps = [(begin - after, after) for after, (begin, _) in zip(free, there, strict=False) if begin - after >= size]
    return min(gaps)[1] if gaps else free[-1]


def _next(byte: int) -> int:
    return -(-byte // _APART) * _APART
