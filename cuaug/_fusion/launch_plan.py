"""Launch plans: a recipe's launches on a GPU, or its loops on a CPU, recorded for images of one kind and replayed.

A plan is recorded by running the passes with symbolic addresses and an executor that records; on a CPU at the second
call with images of a kind. A later call allocates the result and the scratch memory, fills in addresses, seed and step,
and makes all launches (or runs all loops) at once. Kernels, grids, loops and offsets are those that were recorded. A
CPU runs all loops on one sample before the next sample, if each thread has four samples or more and no loop reads other
samples: a loop then finds its input in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._arrays.descriptor import contiguous_strides
from .._arrays.images import ImageBatch
from .._arrays.tv_tensors import wrap_like
from .._gpu import streams
from .._gpu.executor import RecordedLoop, RecordingExecutor, Relocation, symbol
from .._gpu.launch_sequence import Launch, LaunchSequence
from .._host.extension import extension
from .._passes.parameters import StridedArray
from .._program.dtypes import ITEM_SIZE
from . import draw, execute, memory
from .batched_launch import merge_launches
from .draw_kernel import Draws
from .plan import RecipePlan
from .recipe_library import RecipeLibrary, SymbolicArray

# Indices of the values that a call fills into the records; from _ARGUMENTS on: the arguments of the call.
_IMAGES, _RESULT, _SCRATCH, _ARGUMENTS = range(4)
_FIRST_ARRAY = 16  # from this index on: arrays that have no memory while the plan is recorded
_MAX_PLANS = 64  # per `RecipePlan`; batches come in few sizes
_NOT_CACHED: Any = object()
_Assign = Callable[[memory.Lifetime, Sequence[memory.Lifetime]], tuple[list[memory.Allocation], int]]


@dataclass
class LaunchPlan:
    """A recipe's launches or loops for images of one shape, dtype, layout and alignment on one device."""

    run: Callable[[int, Sequence[int]], None]  # takes the device's stream (0 for a CPU) and the values of a call
    result: SymbolicArray
    scratch_bytes: int  # for the intermediates outside the result's memory
    constants: list[Any]  # arrays that the records point to

    def __call__(self, images: ImageBatch, arguments: Sequence[int]) -> Any:
        """The result for these images. `arguments`: the address of the table, or `Draws.call_values`."""
        library, device, result = images.library, images.device, self.result
        array = library.empty(result.shape, result.dtype, device, result.order)
        scratch = library.empty((self.scratch_bytes,), "uint8", device, None)
        # The records hold `images.pointer % 16`, which is part of the plan's key.
        values = images.pointer - images.pointer % 16, library.pointer(array), library.pointer(scratch), *arguments
        self.run(library.current_stream(device) if device >= 0 else 0, values)
        return library.to_user_array(array)


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """The images, transformed by the rows of a parameter table. A tv_tensor gives a tv_tensor of the same type."""
    symbolic_table = table._replace(pointer=symbol(_ARGUMENTS), owner=None)
    launch_plan = _launch_plan(plan, images, "apply", lambda images: execute.apply(plan, images, symbolic_table))
    result = launch_plan(images, [table.pointer]) if launch_plan else execute.apply(plan, images, table)
    return wrap_like(result, images.owner)


def draw_and_apply(plan: RecipePlan, images: ImageBatch, draws: Draws) -> Any:
    """The images, which are not a tv_tensor, transformed by parameters that are drawn for them."""
    launch_plan = _launch_plan(plan, images, "draw_and_apply", lambda images: _run_with_symbolic_draws(plan, images))
    if launch_plan:
        return launch_plan(images, draws.call_values)
    return execute.apply(plan, images, draw.draw_table(plan, images, draws, with_matrix=False))


def _run_with_symbolic_draws(plan: RecipePlan, images: ImageBatch) -> Any:
    ids, replay_counters, seed, step, first_id = (symbol(_ARGUMENTS + i) for i in range(5))
    draws = Draws(ids, replay_counters, seed, step, first_id, None)
    return execute.apply(plan, images, draw.draw_table_of_call(plan, images, draws))


def _launch_plan(
    plan: RecipePlan, images: ImageBatch, entry_point: str, run: Callable[[ImageBatch], Any]
) -> LaunchPlan | None:
    """The cached launch plan, or a new one recorded by `run`. None if the caller has to run the passes itself."""
    if not images.samples:
        return None
    key = images.device, entry_point, images.axes, images.pointer % 16, images.dtype, images.library.name
    cached: LaunchPlan | None = plan.launch_plans.get(key, _NOT_CACHED)
    if cached is not _NOT_CACHED:
        return cached
    if images.device < 0 and key not in plan.seen_kinds:
        # Many data sets have images of many sizes, each called once: to record costs more than to run the passes once.
        _add(plan.seen_kinds, key, None)
        return None
    stream = images.library.current_stream(images.device) if images.device >= 0 else 0
    if images.device >= 0 and streams.is_capturing(stream):
        # Not cached: constants that are loaded during a capture get their values when the graph is replayed, so other
        # calls must not read them. A plan with such constants is not used in the capture either.
        uncached = _record(images, run)
        return None if uncached is None or uncached.constants else uncached
    launch_plan = _record(images, run)
    _add(plan.launch_plans, key, launch_plan)
    if launch_plan and launch_plan.constants and images.device >= 0:
        streams.synchronize_stream(stream, images.device)  # once: any stream may read the constants afterwards
    return launch_plan


def _add(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Adds an entry in place of the oldest ones, if there are too many."""
    while len(cache) >= _MAX_PLANS:
        cache.pop(next(iter(list(cache)), None), None)  # a list, as other threads may add entries
    cache[key] = value


def _record(images: ImageBatch, run: Callable[[ImageBatch], Any]) -> LaunchPlan | None:
    """The launches or loops of `run`. None if its result is not an array that the recipe allocates."""
    arrays = list[SymbolicArray]()

    def allocate(shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> SymbolicArray:
        value_index, strides = _FIRST_ARRAY + len(arrays), contiguous_strides(shape, order)
        arrays.append(SymbolicArray(value_index, shape, strides, dtype, device, order))
        return arrays[-1]

    library, executor = RecipeLibrary(images.library, allocate), RecordingExecutor()
    pointer = symbol(_IMAGES, images.pointer % 16)
    result = run(images._replace(pointer=pointer, library=library, owner=None, executor=executor))
    if not isinstance(result, SymbolicArray):
        return None
    if images.device < 0:
        loops, scratch_bytes = _in_memory(executor.loops, arrays, result, memory.assign_offsets_for_loops)
        sequence = extension().LoopSequence(loops)
        return LaunchPlan(lambda _, values: sequence.run(values), result, scratch_bytes, library.constants)
    launches, scratch_bytes = _in_memory(merge_launches(executor.launches), arrays, result, memory.assign_offsets)
    return LaunchPlan(LaunchSequence(launches, images.device), result, scratch_bytes, library.constants)


def _in_memory(
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
