"""Launches of a trace that need not wait for each other, as one: of kernels that take a record for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from .._gpu.launch_sequence import Launch
from .._program.names import batched_name, skeleton_of
from .._program.records import BATCH

MOST = 4  # kernels/gpu/batched_launch.cuh
_OUTPUT_POINTER, _ = BATCH.offsets["out.data"]
_KERNELS = "warp_image", "histogram_lut"  # that take so many records


def joined(launches: Sequence[Launch]) -> list[Launch]:
    """Each behind what it waits for, but as early as that allows; those of one kernel that meet there are one."""
    groups = list[list[Launch]]()
    for launch in launches:
        after = next((i for i in reversed(range(len(groups))) if any(_wait(launch, each) for each in groups[i])), -1)
        group = next((each for each in groups[after + 1 :] if _alike(launch, each[0]) and len(each) < MOST), None)
        if group is None:
            groups.append([launch])
        else:
            group.append(launch)
    return [group[0] if len(group) == 1 else _one(group) for group in groups]


def _alike(a: Launch, b: Launch) -> bool:
    return _writes_its_result(a) and (a.kernel, a.grid, a.shared) == (b.kernel, b.grid, b.shared)


def _wait(a: Launch, b: Launch) -> bool:
    """Whether either writes memory that the other uses."""
    return not (_written(a).isdisjoint(_used(b)) and _written(b).isdisjoint(_used(a)))


def _used(launch: Launch) -> set[int]:
    return {name for _, name, _ in launch.relocations}


def _written(launch: Launch) -> set[int]:
    """The result; of kernels that may write more, all memory that their records name."""
    return {name for at, name, _ in launch.relocations if at == _OUTPUT_POINTER or not _writes_its_result(launch)}


def _writes_its_result(launch: Launch) -> bool:
    """And nothing else: no mean that it takes on the way."""
    return skeleton_of(launch.kernel) in _KERNELS and "StoreAndMean" not in launch.kernel


def _one(group: Sequence[Launch]) -> Launch:
    first, size = group[0], len(group[0].record)
    assert first.grid[2] == 1  # the axis that they are told apart by
    relocations = [
        (at + i * size, name, offset) for i, each in enumerate(group) for at, name, offset in each.relocations
    ]
    return first._replace(
        kernel=batched_name(first.kernel),
        grid=(*first.grid[:2], len(group)),
        record=b"".join(each.record for each in group).ljust(MOST * size, b"\0"),
        relocations=tuple(relocations),
    )
