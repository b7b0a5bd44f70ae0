"""Divides a recipe into passes. An op that cannot join the last pass begins a new one, which states the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from .. import _check
from .._passes.op_chain import fits_kernel
from .._program.records import MAX_OPS
from .fill import FillByKind
from .recipe import Recipe
from .recipe_ops import Cast, Column, CoordinateMap, Displacement, Pointwise, Resize
from .recipe_pass import MEAN_FIRST, FirstOp, Pass
from .split_reasons import split_reason


def plan_passes(recipe: Recipe, dtype: str, size: tuple[int, int], channels: int) -> list[Pass]:
    """The passes that apply the recipe to images of this dtype, size and number of channels."""
    passes = [Pass("the images are read", dtype, size, channels, output_dtype=dtype)]
    for op in recipe.ops:
        last, reason = passes[-1], split_reason(passes[-1], op)
        if reason and reason != MEAN_FIRST:
            passes.append(last.successor(reason))
            passes[-1].follows_resample = last.is_resample and isinstance(op, (Pointwise, Cast))
        if isinstance(op, Pointwise) and split_reason(passes[-1], op) == MEAN_FIRST:
            passes.append(passes[-1].split_at_mean(op))
        else:
            passes[-1].add(op)
    passes = _join_channel_ops(passes)
    for pass_ in passes:
        _check.result_size(pass_.output_size, size)
        if isinstance(pass_.first_op, Resize):
            _check.result_size(pass_.first_op.size, size)
        if len(pass_.chain) > MAX_OPS:
            raise ValueError(
                f"a recipe must have at most {MAX_OPS} consecutive pointwise ops, got {len(pass_.chain)} "
                "(RandomOrder of n counts n times n): call two recipes one after the other"
            )
        if isinstance(pass_.first_op, (CoordinateMap, Resize)):
            projective = any(isinstance(op, CoordinateMap) and op.projective for op in pass_.first_ops)
            pass_.matrix = [Column("") for _ in range(9 if projective else 6)]
    return passes


def _join_channel_ops(passes: Sequence[Pass]) -> list[Pass]:
    """Lets blurs and resizes run the ops of the next pass, if their kernels can apply all of these.

    Such a pass cannot take ops one by one, as `Pass.add` does: if a later op may not join it, the ops must stay
    together, because the pass would store a wider dtype, or round elsewhere.
    """
    joined = [passes[0]]
    for pass_ in passes[1:]:
        last = joined[-1]
        is_free = last.runs_channel_ops and not (last.overrides or last.chain)
        if is_free and pass_.branch is None and _fits_kernel(pass_):
            last.chain, last.ops = pass_.chain or [Pointwise("Rescale", ())], [*last.ops, *pass_.ops]
            last.output_dtype, last.range_changed = pass_.output_dtype, pass_.range_changed
        else:
            joined.append(pass_)
    return joined


def _fits_kernel(pass_: Pass) -> bool:
    needs_mean = pass_.mean_output or pass_.mean_from or pass_.mean_op_indices
    return pass_.is_pointwise and not needs_mean and fits_kernel([op.functor for op in pass_.chain])


def plan_mask_casts(passes: Sequence[Pass], mask_dtypes: Sequence[str]) -> list[str]:
    """Assigns to each pass that fills masks the casts before its op: the fill must fit into the dtype that they give.

    Returns the casts that remain after the last pass.
    """
    cast_count = 0
    for pass_ in passes:
        filling_ops = [op for op in pass_.first_ops if _fills_masks(op)]
        if filling_ops:  # one op, or several that exclude each other, between which there is no cast
            pass_.mask_dtypes = mask_dtypes[cast_count : filling_ops[0].mask_cast_count]
            cast_count = filling_ops[0].mask_cast_count
    return list(mask_dtypes[cast_count:])


def _fills_masks(op: FirstOp) -> TypeGuard[CoordinateMap | Displacement]:
    """Whether the op may read outside of masks, with a value other than 0 there."""
    if isinstance(op, CoordinateMap):
        return op.reads_border and isinstance(op.fill, FillByKind)
    return isinstance(op, Displacement) and isinstance(op.fill, FillByKind)
