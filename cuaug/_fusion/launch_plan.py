"""The launch plans of a recipe (_passes/recording.py), one per kind of images; on a CPU from the second call on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._arrays.images import ImageBatch
from .._arrays.tv_tensors import wrap_like
from .._gpu import streams
from .._gpu.executor import symbol
from .._passes.parameters import StridedArray
from .._passes.recording import ARGUMENTS, LaunchPlan, record
from . import draw, execute
from .draw_kernel import Draws
from .plan import RecipePlan

_MAX_PLANS = 64  # per `RecipePlan`; batches come in few sizes
_NOT_CACHED: Any = object()


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """The images, transformed by the rows of a parameter table. A tv_tensor gives a tv_tensor of the same type."""
    launch_plan = _launch_plan(
        plan, images, "apply", lambda images: execute.apply(plan, images, _symbolic_table(table))
    )
    if launch_plan is None:
        return wrap_like(execute.apply(plan, images, table), images.owner)
    return wrap_like(launch_plan(images.library, images.pointer, [table.pointer]), images.owner)


def apply_to_masks(plan: RecipePlan, masks: ImageBatch, table: StridedArray) -> Any:
    """As `execute.apply_to_masks`."""
    launch_plan = None
    if not plan.casts_moved_masks:  # a cast is an operation of the library, which cannot be recorded
        # The number of masks differs between samples and is part of the key: the plans of images must not be replaced.
        launch_plan = _launch_plan(
            plan,
            masks,
            "masks",
            lambda masks: execute.apply_to_masks(plan, masks, _symbolic_table(table)),
            replaces_others=False,
        )
    if launch_plan is None:
        return execute.apply_to_masks(plan, masks, table)
    return launch_plan(masks.library, masks.pointer, [table.pointer])


def _symbolic_table(table: StridedArray) -> StridedArray:
    return table._replace(pointer=symbol(ARGUMENTS), owner=None)


def draw_and_apply(plan: RecipePlan, images: ImageBatch, draws: Draws) -> Any:
    """The images, which are not a tv_tensor, transformed by parameters that are drawn for them."""
    launch_plan = _launch_plan(plan, images, "draw_and_apply", lambda images: _run_with_symbolic_draws(plan, images))
    if launch_plan:
        return launch_plan(images.library, images.pointer, draws.call_values)
    return execute.apply(plan, images, draw.draw_table(plan, images, draws, with_matrix=False))


def _run_with_symbolic_draws(plan: RecipePlan, images: ImageBatch) -> Any:
    ids, replay_counters, seed, step, first_id = (symbol(ARGUMENTS + i) for i in range(5))
    draws = Draws(ids, replay_counters, seed, step, first_id, None)
    return execute.apply(plan, images, draw.draw_table_of_call(plan, images, draws))


def _launch_plan(
    plan: RecipePlan,
    images: ImageBatch,
    entry_point: str,
    run: Callable[[ImageBatch], Any],
    *,
    replaces_others: bool = True,
) -> LaunchPlan | None:
    """The cached launch plan, or a new one recorded by `run`. None if the caller has to run the passes itself.

    `replaces_others`: whether a new one is made if the recipe's plan has `_MAX_PLANS` of them.
    """
    if not images.samples:
        return None
    key = images.device, entry_point, images.axes, images.pointer % 16, images.dtype, images.library.name
    cached: LaunchPlan | None = plan.launch_plans.get(key, _NOT_CACHED)
    if cached is not _NOT_CACHED:
        return cached
    if not replaces_others and len(plan.launch_plans) >= _MAX_PLANS:
        return None
    if images.device < 0 and key not in plan.seen_kinds:
        # Many data sets have images of many sizes, each called once: to record costs more than to run the passes once.
        _add(plan.seen_kinds, key, None)
        return None
    stream = images.library.current_stream(images.device) if images.device >= 0 else 0
    if images.device >= 0 and streams.is_capturing(stream):
        # Not cached: constants that are loaded during a capture get their values when the graph is replayed, so other
        # calls must not read them. A plan with such constants is not used in the capture either.
        uncached = record(images, run)
        return None if uncached is None or uncached.constants else uncached
    launch_plan = record(images, run)
    _add(plan.launch_plans, key, launch_plan)
    if launch_plan and launch_plan.constants and images.device >= 0:
        streams.synchronize_stream(stream, images.device)  # once: any stream may read the constants afterwards
    return launch_plan


def _add(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Adds an entry in place of the oldest ones, if there are too many."""
    while len(cache) >= _MAX_PLANS:
        cache.pop(next(iter(list(cache)), None), None)  # a list, as other threads may add entries
    cache[key] = value
