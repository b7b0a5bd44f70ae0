"""Launch plans: a recipe's launches on a GPU, recorded once for images of one kind and replayed by later calls.

A plan is recorded by running the passes with symbolic addresses and an executor that records. A later call allocates
the result and the scratch memory, fills in addresses, seed and step, and makes all launches at once. Kernels, grids and
offsets are those that were recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._arrays.descriptor import contiguous_strides
from .._arrays.images import ImageBatch
from .._gpu import streams
from .._gpu.executor import RecordingExecutor, symbol
from .._gpu.launch_sequence import Launch, LaunchSequence
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


@dataclass
class LaunchPlan:
    """A recipe's launches for images of one shape, dtype, layout and alignment on one device."""

    launches: LaunchSequence
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
        self.launches(library.current_stream(device), values)
        return library.to_user_array(array)


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """As `execute.apply`."""
    symbolic_table = table._replace(pointer=symbol(_ARGUMENTS), owner=None)
    launch_plan = _launch_plan(plan, images, "apply", lambda images: execute.apply(plan, images, symbolic_table))
    return launch_plan(images, [table.pointer]) if launch_plan else execute.apply(plan, images, table)


def draw_and_apply(plan: RecipePlan, images: ImageBatch, draws: Draws) -> Any:
    """The images, transformed by parameters that are drawn for them."""
    launch_plan = _launch_plan(plan, images, "draw_and_apply", lambda images: _run_with_symbolic_draws(plan, images))
    if launch_plan:
        return launch_plan(images, draws.call_values)
    return apply(plan, images, draw.draw_table(plan, images, draws, with_matrix=False))


def _run_with_symbolic_draws(plan: RecipePlan, images: ImageBatch) -> Any:
    ids, replay_counters, seed, step, first_id = (symbol(_ARGUMENTS + i) for i in range(5))
    draws = Draws(ids, replay_counters, seed, step, first_id, None)
    return execute.apply(plan, images, draw.draw_table(plan, images, draws, with_matrix=False))


def _launch_plan(
    plan: RecipePlan, images: ImageBatch, entry_point: str, run: Callable[[ImageBatch], Any]
) -> LaunchPlan | None:
    """The cached launch plan, or a new one recorded by `run`. None if the caller has to run the passes itself."""
    if not images.samples:
        return None
    key = entry_point, images.axes, images.pointer % 16, images.dtype, images.device, images.library.name
    cached: LaunchPlan | None = plan.launch_plans.get(key, _NOT_CACHED)
    if cached is not _NOT_CACHED:
        return cached
    stream = images.library.current_stream(images.device)
    if streams.is_capturing(stream):
        # Not cached: constants that are loaded during a capture get their values when the graph is replayed, so other
        # calls must not read them. A plan with such constants is not used in the capture either.
        uncached = _record(images, run)
        return None if uncached is None or uncached.constants else uncached
    while len(plan.launch_plans) >= _MAX_PLANS:
        plan.launch_plans.pop(next(iter(plan.launch_plans)), None)
    launch_plan = plan.launch_plans[key] = _record(images, run)
    if launch_plan and launch_plan.constants:
        streams.synchronize_stream(stream, images.device)  # once: any stream may read the constants afterwards
    return launch_plan


def _record(images: ImageBatch, run: Callable[[ImageBatch], Any]) -> LaunchPlan | None:
    """The launches of `run`. None if its result is not an array that the recipe allocates."""
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
    launches = merge_launches(executor.launches)
    addresses, scratch_bytes = _assign_memory(arrays, launches, result)
    relocated = list[Launch]()
    for launch in launches:
        relocations = list[tuple[int, int, int]]()
        for offset, value_index, addend in launch.relocations:
            base_index, start = addresses.get(value_index, (value_index, 0))
            relocations.append((offset, base_index, start + addend))
        relocated.append(launch._replace(relocations=tuple(relocations)))
    return LaunchPlan(LaunchSequence(relocated, images.device), result, scratch_bytes, library.constants)


def _assign_memory(
    arrays: Sequence[SymbolicArray], launches: Sequence[Launch], result: SymbolicArray
) -> tuple[dict[int, tuple[int, int]], int]:
    """The address of each array, as _RESULT or _SCRATCH and an offset in bytes; and the size of the scratch memory."""
    uses: dict[int, list[int]] = {}
    for i, launch in enumerate(launches):
        for _, value_index, _ in launch.relocations:
            uses.setdefault(value_index, []).append(i)
    lifetimes = {
        array.value_index: _lifetime(array, uses[array.value_index]) for array in arrays if array.value_index in uses
    }
    result_lifetime = lifetimes.pop(result.value_index, _lifetime(result, [0]))._replace(last=len(launches) - 1)
    allocations, scratch_bytes = memory.assign_offsets(result_lifetime, list(lifetimes.values()))
    addresses = {result.value_index: (_RESULT, 0)}
    for value_index, (in_result, offset) in zip(lifetimes, allocations, strict=True):
        addresses[value_index] = (_RESULT if in_result else _SCRATCH, offset)
    return addresses, scratch_bytes


def _lifetime(array: SymbolicArray, launch_indices: Sequence[int]) -> memory.Lifetime:
    return memory.Lifetime(math.prod(array.shape) * ITEM_SIZE[array.dtype], launch_indices[0], launch_indices[-1])
