"""Divides a recipe into passes. An op that cannot join the last pass begins a new one, which states the reason."""

from __future__ import annotations

from .. import _check
from .._program.records import MAX_OPS
from .recipe import Recipe
from .recipe_ops import Cast, Column, CoordinateMap, Pointwise, Resize
from .recipe_pass import MEAN_FIRST, Pass
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
    for pass_ in passes:
        _check.result_size(pass_.output_size, size)
        if isinstance(pass_.first_op, Resize):
            _check.result_size(pass_.first_op.size, size)
        if len(pass_.chain) > MAX_OPS:
            raise ValueError(f"a recipe must have at most {MAX_OPS} consecutive pointwise ops, got {len(pass_.chain)}")
        if isinstance(pass_.first_op, (CoordinateMap, Resize)):
            projective = any(isinstance(op, CoordinateMap) and op.projective for op in pass_.first_ops)
            pass_.matrix = [Column("") for _ in range(9 if projective else 6)]
    return passes
