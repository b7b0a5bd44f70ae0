"""Launches of a trace that need not wait for each other, as one: of kernels that take a record for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from .._launches import Launch
from .._names import skeleton_of, together

_KERNELS = "warp", "relevel"  # that include kernels/gpu/together.cuh, and write what `_RESULT` points to
_RESULT = 48  # where in a record that stands (kernels/record.cuh)
_MOST = 4  # records, which take less than the 4 KB that a kernel may be given on any GPU


def joined(launches: Sequence[Launch]) -> list[Launch]:
    """Each as early as what it needs, and what needs its memory, is done; what is launched alike then is one."""
    groups = list[list[Launch]]()
    for launch in launches:
        after = next((i for i in reversed(range(len(groups))) if any(_wait(launch, each) for each in groups[i])), -1)
        group = next((each for each in groups[after + 1 :] if _alike(launch, each[0]) and len(each) < _MOST), None)
        if group is None:
            groups.append([launch])
        else:
            group.append(launch)
    return [group[0] if len(group) == 1 else _one(group) for group in groups]


def _alike(a: Launch, b: Launch) -> bool:
    return _writes_its_result(a) and (a.kernel, a.grid, a.shared) == (b.kernel, b.grid, b.shared)


def _wait(a: Launch, b: Launch) -> bool:
    """Whether one writes what the other reads or writes."""
    return not (_written(a).isdisjoint(_used(b)) and _written(b).isdisjoint(_used(a)))


def _used(launch: Launch) -> set[int]:
    return {name for _, name, _ in launch.blanks}


def _written(launch: Launch) -> set[int]:
    """What may be: by others than those known here, all that they are told of."""
    return {name for at, name, _ in launch.blanks if at == _RESULT or not _writes_its_result(launch)}


def _writes_its_result(launch: Launch) -> bool:
    """And nothing else: no mean that it takes on the way."""
    return skeleton_of(launch.kernel) in _KERNELS and "Measured" not in launch.kernel


def _one(group: Sequence[Launch]) -> Launch:
    first, size = group[0], len(group[0].record)
    assert first.grid[2] == 1  # the axis that they are told apart by
    blanks = [(at + i * size, name, offset) for i, each in enumerate(group) for at, name, offset in each.blanks]
    return first._replace(
        kernel=together(first.kernel, len(group)),
        grid=(*first.grid[:2], len(group)),
        record=b"".join(each.record for each in group),
        blanks=tuple(blanks),
    )
