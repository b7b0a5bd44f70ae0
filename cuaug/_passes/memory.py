"""Memory for intermediate images: scratch memory, or the result's own until the last pass writes it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

_ALIGNMENT = 512  # bytes, as the allocators of torch and CuPy align


class Lifetime(NamedTuple):
    """An array's size in bytes, and the indices of the first and the last launch or loop that use it."""

    size: int
    first: int
    last: int
    places: Any = None  # equal for arrays of one size whose samples lie at the same places


class Allocation(NamedTuple):
    """The address of an intermediate."""

    in_result: bool  # in the result's memory, else in the scratch memory
    offset: int


def assign_offsets(result: Lifetime, lifetimes: Sequence[Lifetime]) -> tuple[list[Allocation], int]:
    """An allocation for each lifetime, and the size of the scratch memory. The result lives until the last launch.

    Arrays are placed by size, the largest first; equal sizes by their last use, the latest first. Each goes into the
    smallest gap that fits between those alive at the same time. Offsets are assigned in one range of addresses, in
    which the scratch memory follows the result.
    """
    scratch_start = _align_up(result.size)
    # The padding after the result is never free, so no allocation extends from the result into the scratch memory.
    occupied = [(0, result.size, result), (result.size, scratch_start, Lifetime(0, 0, result.last))]
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
    allocations = [
        Allocation(start < scratch_start, start if start < scratch_start else start - scratch_start) for start in starts
    ]
    return allocations, max(end for _, end, _ in occupied) - scratch_start


def assign_offsets_for_loops(result: Lifetime, lifetimes: Sequence[Lifetime]) -> tuple[list[Allocation], int]:
    """As `assign_offsets`, for loops of a CPU, which may run on one sample before the next.

    While a loop writes a sample of one array, the same memory may hold another sample of an earlier array. Arrays
    therefore share memory only if their samples lie at the same places.
    """
    arrays = [result, *lifetimes]
    parts = list[list[int]]()  # of the memory: the indices of the arrays that use a part, one after the other
    for i in sorted(range(len(arrays)), key=lambda i: arrays[i].first):  # so first fit makes the fewest parts
        free = (part for part in parts if _may_follow(arrays[i], arrays[part[-1]]))
        part = next(free, [])
        if not part:
            parts.append(part)
        part.append(i)
    allocations, scratch_bytes = dict[int, Allocation](), 0
    for part in parts:
        in_result = 0 in part
        allocations |= dict.fromkeys(part, Allocation(in_result, 0 if in_result else scratch_bytes))
        scratch_bytes += 0 if in_result else _align_up(arrays[part[0]].size)
    return [allocations[i] for i in range(1, len(arrays))], scratch_bytes


def _may_follow(array: Lifetime, earlier: Lifetime) -> bool:
    return earlier.places == array.places and earlier.last < array.first


def _smallest_gap(occupied: Sequence[tuple[int, int]], size: int) -> int:
    """The start of the smallest gap of at least `size` bytes between sorted (start, end); else the end of all."""
    gap_starts = list(itertools.accumulate((_align_up(end) for _, end in occupied), max, initial=0))
    pairs = zip(gap_starts, (start for start, _ in occupied), strict=False)
    gaps = [(gap_end - gap_start, gap_start) for gap_start, gap_end in pairs if gap_end - gap_start >= size]
    return min(gaps)[1] if gaps else gap_starts[-1]


def _align_up(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
