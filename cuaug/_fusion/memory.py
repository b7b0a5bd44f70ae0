"""Memory for intermediate images: one block per call, or the result's own memory until the last pass writes it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

_ALIGNMENT = 512  # bytes, as the allocators of torch and CuPy align


class Lifetime(NamedTuple):
    """Bytes that are in use from one launch to another, given by their indices."""

    size: int
    first: int
    last: int


class Allocation(NamedTuple):
    """Where an intermediate begins."""

    in_result: bool  # in the result's memory, else in the block
    offset: int


def assign_offsets(result: Lifetime, lifetimes: Sequence[Lifetime]) -> tuple[list[Allocation], int]:
    """An allocation for each lifetime, and the size of the block. The result lives until the last of all launches.

    Largest lifetimes first, ties by latest use; each goes into the smallest gap between those alive at the same time.
    Offsets are assigned in one range of addresses, in which the block follows the result.
    """
    block = _align(result.size)
    # The padding after the result is never free, so no allocation extends from the result into the block.
    occupied = [(0, result.size, result), (result.size, block, Lifetime(0, 0, result.last))]
    starts = [0] * len(lifetimes)
    for i in sorted(range(len(lifetimes)), key=lambda i: (-lifetimes[i].size, -lifetimes[i].last)):
        lifetime = lifetimes[i]
        alive = sorted(
            (start, end)
            for start, end, other in occupied
            if other.first <= lifetime.last and lifetime.first <= other.last
        )
        starts[i] = _smallest_gap(alive, lifetime.size)
        occupied.append((starts[i], starts[i] + lifetime.size, lifetime))
    allocations = [Allocation(start < block, start if start < block else start - block) for start in starts]
    return allocations, max(end for _, end, _ in occupied) - block


def _smallest_gap(occupied: Sequence[tuple[int, int]], size: int) -> int:
    """The start of the smallest gap of at least `size` bytes between sorted (start, end); else the end of all."""
    free = list(itertools.accumulate((_align(end) for _, end in occupied), max, initial=0))
    gaps = [(start - gap, gap) for gap, (start, _) in zip(free, occupied, strict=False) if start - gap >= size]
    return min(gaps)[1] if gaps else free[-1]


def _align(byte: int) -> int:
    return -(-byte // _ALIGNMENT) * _ALIGNMENT
