"""Launch plans: a call's launches on a GPU, or its loops on a CPU, recorded for arrays of one kind and replayed.

A plan is recorded by running the passes with symbolic addresses and an executor that records. A later call allocates
the result and the scratch memory, fills in addresses and numbers, and makes all launches (or runs all loops) in one
call of the extension. Kernels, grids, loops and offsets are those that were recorded. A CPU runs all loops on one
sample before the next sample, if each thread has four samples or more: a loop then finds its input in the cache. A loop
that reads other samples (a mix) runs by itself, between the loops before and after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._arrays.images import ImageBatch
from .._arrays.protocol import Library
from .._arrays.recording_library import RecordingLibrary
from .._arrays.symbolic_array import SymbolicArray
from .._gpu.executor import RecordedLoop, Relocation, symbol
from .._gpu.launch_sequence import Launch, LaunchSequence
from .._host.extension import extension
from .._program.dtypes import ITEM_SIZE
from . import memory
from .batched_launch import merge_launches

# Indices of the values that a call fills into the records; from ARGUMENTS on: the arguments of the call.
IMAGES, _RESULT, _SCRATCH, ARGUMENTS = range(4)
_Assign = Callable[[memory.Lifetime, Sequence[memory.Lifetime]], tuple[list[memory.Allocation], int]]


@dataclass
class LaunchPlan:
    """A call's launches or loops for images of one shape, dtype, layout and alignment on one device."""

    run: Callable[[int, Sequence[int]], None]  # takes the device's stream (0 for a CPU) and the values of a call
    result: SymbolicArray
    scratch_bytes: int  # for the intermediates outside the result's memory
    constants: list[Any]  # arrays that the records point to

    def __call__(self, library: Library, images_pointer: int, arguments: Sequence[int]) -> Any:
        """The result for images of this library at this address. `arguments`: the call's values from `ARGUMENTS` on."""
        result, size = self.result, self.scratch_bytes
        device = result.device
        array = library.empty(result.shape, result.dtype, device, result.order)
        scratch = library.empty((size,), "uint8", device, None) if size else None
        scratch_pointer = library.pointer(scratch) if size else 0
        # The records hold `images_pointer % 16`, which is part of the plan's key.
        values = images_pointer - images_pointer % 16, library.pointer(array), scratch_pointer, *arguments
        self.run(library.current_stream(device) if device >= 0 else 0, values)
        return library.to_user_array(array)


def record(images: ImageBatch, run: Callable[[ImageBatch], Any]) -> LaunchPlan | None:
    """The launches or loops of `run`. None if its result is not an array that it allocates.

    `run` gets the images with a symbolic address. It may use `symbol(ARGUMENTS + i)` for an argument of the call.
    """
    library = RecordingLibrary(images.library)
    pointer = symbol(IMAGES, images.pointer % 16)
    return plan_of(
        library, run(images._replace(pointer=pointer, library=library, owner=None, executor=library.executor))
    )


def plan_of(library: RecordingLibrary, result: Any) -> LaunchPlan | None:
    """The plan of the call that the library has recorded. None if `result` is not an array that the call allocated."""
    executor, arrays = library.executor, library.arrays
    if not any(result is array for array in arrays):
        return None
    if result.device < 0:
        loops, scratch_bytes = _relocate(executor.loops, arrays, result, memory.assign_offsets_for_loops)
        sequence = extension().LoopSequence(loops)
        return LaunchPlan(lambda _, values: sequence.run(values), result, scratch_bytes, library.constants)
    launches, scratch_bytes = _relocate(merge_launches(executor.launches), arrays, result, memory.assign_offsets)
    return LaunchPlan(LaunchSequence(launches, result.device), result, scratch_bytes, library.constants)


def _relocate(
    work: Sequence[Any], arrays: Sequence[SymbolicArray], result: SymbolicArray, assign: _Assign
) -> tuple[list[Any], int]:
    """The launches or loops, with relocations to the result and the scratch memory; and the size of the latter."""
    addresses, scratch_bytes = _assign_memory(arrays, work, result, assign)

    def relocated(relocation: Relocation) -> Relocation:
        offset, value_index, addend = relocation
        base_index, start = addresses.get(value_index, (value_index, 0))
        return offset, base_index, start + addend

    return [item._replace(relocations=tuple(map(relocated, item.relocations))) for item in work], scratch_bytes


def _assign_memory(
    arrays: Sequence[SymbolicArray], work: Sequence[Launch | RecordedLoop], result: SymbolicArray, assign: _Assign
) -> tuple[dict[int, tuple[int, int]], int]:
    """The address of each array, as _RESULT or _SCRATCH and an offset in bytes; and the size of the scratch memory."""
    uses: dict[int, list[int]] = {}
    for i, item in enumerate(work):
        for _, value_index, _ in item.relocations:
            uses.setdefault(value_index, []).append(i)
    lifetimes = {
        array.value_index: _lifetime(array, uses[array.value_index]) for array in arrays if array.value_index in uses
    }
    result_lifetime = lifetimes.pop(result.value_index, _lifetime(result, [0]))._replace(last=len(work) - 1)
    allocations, scratch_bytes = assign(result_lifetime, list(lifetimes.values()))
    addresses = {result.value_index: (_RESULT, 0)}
    for value_index, (in_result, offset) in zip(lifetimes, allocations, strict=True):
        addresses[value_index] = (_RESULT if in_result else _SCRATCH, offset)
    return addresses, scratch_bytes


def _lifetime(array: SymbolicArray, indices: Sequence[int]) -> memory.Lifetime:
    size, places = math.prod(array.shape) * ITEM_SIZE[array.dtype], (array.shape, array.dtype, array.order)
    return memory.Lifetime(size, indices[0], indices[-1], places)
