"""A recipe planned for one shape of images: its passes, and the program that fills its parameter table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._passes import grids as _grids
from . import ragged
from .passes import plan_passes
from .program import assemble, rescale_draw
from .recipe import Recipe
from .recipe_ops import Blend, Column, CoordinateMap, Displacement, Instruction, Resize
from .recipe_pass import Pass


@dataclass
class RecipePlan:
    """The passes of a recipe, and what the columns of its parameter table are."""

    passes: list[Pass]
    program: np.ndarray
    columns: int  # in the table
    drawn_columns: int  # the first of them, which the program fills; the recipe's matrix comes last
    names: dict[str, int]  # the column of each drawn parameter
    integers: dict[str, tuple[int, int]]  # the range of those drawn parameters that ops accept as integers alone
    matrix: int  # the first of nine columns: the recipe's matrix, source to result
    partial_sums: dict[int, int]  # column of a mean taken while storing -> first column of its partial sums
    argument_columns: np.ndarray  # added to the arguments per sample of a ragged batch: see ragged.py
    device_programs: dict[Any, Any] = field(default_factory=dict)  # the program in the memory of a device and library
    launch_plans: dict[Any, Any] = field(default_factory=dict)  # recorded launches (launch_plan.py)

    @property
    def op_without_matrix(self) -> str:
        """The name of an op that moves pixels as no matrix can; empty if there is none."""
        ops = (op for pass_ in self.passes for op in pass_.first_ops)
        return next((op.name for op in ops if isinstance(op, (Displacement, Blend))), "")


def plan_recipe(recipe: Recipe, images: ImageBatch) -> RecipePlan:
    """The plan for images like these."""
    passes = plan_passes(recipe, images.dtype, images.size)
    matrix = [Column("") for _ in range(9)]
    drawn = _assign_columns([*_adjacent_columns(passes), *(draw.columns for draw in recipe.draws), matrix])
    partial_sums, columns = {}, drawn
    for pass_ in passes:
        if pass_.mean_output:
            partial_sums[pass_.mean_output.index] = columns
            columns += _grids.max_partial_sum_count(images.axes.extents[1], pass_.output_size)
    max_values = {id(column): pass_.max_value for pass_ in passes for column in pass_.chain_columns}
    draws = [rescale_draw(draw, max_values.get(id(draw.columns[0]), 1.0)) for draw in recipe.draws]
    matrices = [pass_.matrix for pass_ in reversed(passes) if pass_.matrix]
    pass_matrices = [argument for columns_ in matrices for argument in (columns_[0], len(columns_))]
    recipe_matrix = Instruction("StoreForwardMatrix", matrix, [len(matrices), *pass_matrices])
    program = assemble([*draws, *_flag_flips(passes), *_inverse_maps(passes), recipe_matrix])
    named: dict[str, Column] = {}
    for column in (column for draw in recipe.draws for column in draw.columns):
        named[f"{column.name}_{column.index}" if column.name in named else column.name] = column
    names = {name: column.index for name, column in named.items()}
    integers = {name: column.integers for name, column in named.items() if column.integers is not None}
    arguments = ragged.argument_columns(recipe)
    return RecipePlan(passes, program, columns, drawn, names, integers, matrix[0].index, partial_sums, arguments)


def _adjacent_columns(passes: Sequence[Pass]) -> Iterator[Sequence[Column]]:
    """Runs of columns that a kernel, or an instruction, reads as adjacent."""
    # All chains first: if an op is split at its mean, the next chain begins with the last columns of this one.
    yield from (pass_.chain_columns for pass_ in passes)
    for pass_ in passes:
        yield from (op.columns for op in (*pass_.first_ops, *pass_.overrides))
        yield pass_.matrix


def _assign_columns(runs: Sequence[Sequence[Column]]) -> int:
    """Gives each column its index in the table; returns their number."""
    count = 0
    for run in runs:
        for column in run:
            if column.index < 0:
                column.index, count = count, count + 1
    return count


def _flag_flips(passes: Sequence[Pass]) -> Iterator[Instruction]:
    """Flips behind an antialiased resize, which has columns for them."""
    for pass_ in passes:
        if isinstance(pass_.first_op, Resize):
            for op in pass_.first_ops[1:]:
                if isinstance(op, CoordinateMap):
                    flag = pass_.first_op.columns[4 if op.flip_axis == "y" else 5]
                    yield Instruction("XorFlag", [flag], [op.columns[0]])


def _inverse_maps(passes: Sequence[Pass]) -> Iterator[Instruction]:
    """From the result's coordinates back to the source's; each pass stores its own matrix."""
    for pass_ in reversed(passes):
        for op in reversed(pass_.first_ops):
            if isinstance(op, (CoordinateMap, Resize)):
                yield op.inverse_map
        if pass_.matrix:
            yield Instruction("StorePassMap", pass_.matrix, [len(pass_.matrix)])
