"""Merges recorded launches that do not depend on each other into batched launches."""

from __future__ import annotations

from collections.abc import Sequence

from .._gpu.launch_sequence import Launch
from .._program.names import batched_name, skeleton_of
from .._program.records import BATCH

_OUTPUT_POINTER, _ = BATCH.offsets["out.data"]  # of every `_BATCHABLE` kernel: its record begins with BatchRecord
MAX_BATCHED = 4  # kernels/gpu/batched_launch.cuh
_BATCHABLE = "warp_image", "histogram_lut"  # kernels that take up to MAX_BATCHED records


def merge_launches(launches: Sequence[Launch]) -> list[Launch]:
    """Merges launches that have the same kernel, grid and shared memory.

    A launch joins the earliest such group after the last group on which it depends.
    """
    groups = list[list[Launch]]()
    for launch in launches:
        latest_first = reversed(range(len(groups)))
        last_dependency = next((i for i in latest_first if any(_depends(launch, other) for other in groups[i])), -1)
        open_groups = (group for group in groups[last_dependency + 1 :] if len(group) < MAX_BATCHED)
        group = next((group for group in open_groups if _can_merge(launch, group[0])), None)
        if group is None:
            groups.append([launch])
        else:
            group.append(launch)
    return [group[0] if len(group) == 1 else _batched(group) for group in groups]


def _can_merge(a: Launch, b: Launch) -> bool:
    return _is_batchable(a) and (a.kernel, a.grid, a.shared) == (b.kernel, b.grid, b.shared)


def _depends(a: Launch, b: Launch) -> bool:
    """Whether one of the launches writes memory that the other uses."""
    return not (_written_values(a).isdisjoint(_used_values(b)) and _written_values(b).isdisjoint(_used_values(a)))


def _used_values(launch: Launch) -> set[int]:
    """The symbolic values that the record contains."""
    return {value for _, value, _ in launch.relocations}


def _written_values(launch: Launch) -> set[int]:
    """The result's memory; for kernels that cannot be batched, all memory that their records name."""
    batchable = _is_batchable(launch)
    return {value for offset, value, _ in launch.relocations if offset == _OUTPUT_POINTER or not batchable}


def _is_batchable(launch: Launch) -> bool:
    """Whether the launch can be batched. Such a launch writes its result only, and no mean beside it."""
    return skeleton_of(launch.kernel) in _BATCHABLE and "StoreAndMean" not in launch.kernel


def _batched(group: Sequence[Launch]) -> Launch:
    first, size = group[0], len(group[0].record)
    assert first.grid[2] == 1  # blockIdx.z selects the record
    relocations = [
        (offset + i * size, value, addend)
        for i, launch in enumerate(group)
        for offset, value, addend in launch.relocations
    ]
    return first._replace(
        kernel=batched_name(first.kernel),
        grid=(*first.grid[:2], len(group)),
        record=b"".join(launch.record for launch in group).ljust(MAX_BATCHED * size, b"\0"),
        relocations=tuple(relocations),
    )
