"""Plans a recipe for images of one shape: its passes, and the program that fills its parameter table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._passes import grids
from . import ragged
from .moves import PlannedMove, plan_moves
from .passes import plan_mask_casts, plan_passes
from .program import assemble, rescale_draw
from .recipe import Recipe
from .recipe_ops import Blend, Column, CoordinateMap, Displacement, Instruction, Mix, Resize
from .recipe_pass import FirstOp, Pass


@dataclass
class RecipePlan:
    """The passes of a recipe, and the columns of its parameter table."""

    passes: list[Pass]
    program: np.ndarray
    column_count: int
    program_column_count: int  # the columns that the program fills: the first ones
    parameter_columns: dict[str, int]  # name of a drawn parameter -> column
    integer_ranges: dict[str, tuple[int, int]]  # name of a drawn integer -> smallest and largest that its op accepts
    matrix_column: int  # the first of nine columns: the recipe's matrix, source to result; the moves' matrices follow
    moves: list[PlannedMove]  # of boxes and keypoints
    partial_sums: dict[int, int]  # column of a mean that is stored in parts -> column of the first part
    mask_dtypes: list[str]  # of the casts of label masks after the last pass; those before are in `Pass.mask_dtypes`
    argument_columns: np.ndarray  # for each argument of a ragged prefix: its column, or 0 for a number (ragged.py)
    device_programs: dict[Any, Any] = field(default_factory=dict)  # the program in the memory of a device and library
    launch_plans: dict[Any, Any] = field(default_factory=dict)  # recorded launches and loops (launch_plan.py)
    seen_kinds: dict[Any, None] = field(default_factory=dict)  # kinds of images that a CPU call had (launch_plan.py)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has none of the programs and launch plans, which hold addresses."""
        return vars(self) | {"device_programs": {}, "launch_plans": {}, "seen_kinds": {}}

    @functools.cached_property
    def first_ops(self) -> Sequence[FirstOp]:
        """The first ops of all passes."""
        return [op for pass_ in self.passes for op in pass_.first_ops]

    @functools.cached_property
    def mixes(self) -> Sequence[Mix]:
        """The ops that mix samples."""
        return [op for op in self.first_ops if isinstance(op, Mix)]

    @functools.cached_property
    def result_size(self) -> tuple[int, int]:
        """Size of the result, (H, W)."""
        return self.passes[-1].output_size

    @property
    def writes_table(self) -> bool:
        """Whether passes store means of images in the table that they read."""
        return any(pass_.mean_op_indices or pass_.mean_output for pass_ in self.passes)

    @functools.cached_property
    def first_mask_dtypes(self) -> Sequence[str]:
        """Of the casts of label masks before the first pass: `execute.apply_to_masks` gets their results."""
        return next((pass_.mask_dtypes for pass_ in self.passes if pass_.has_geometry), ())

    @functools.cached_property
    def casts_moved_masks(self) -> bool:
        """Whether `execute.apply_to_masks` casts the masks after a pass."""
        passes = [pass_ for pass_ in self.passes if pass_.has_geometry]
        return bool(self.mask_dtypes) or any(pass_.mask_dtypes for pass_ in passes[1:])

    @property
    def op_without_matrix(self) -> str:
        """The name of an op whose geometry is not a matrix; empty if there is none."""
        return next((op.name for op in self.first_ops if isinstance(op, (Displacement, Blend))), "")


def plan_recipe(recipe: Recipe, images: ImageBatch, continues: bool = False) -> RecipePlan:
    """The plan for images of this shape and dtype. `continues`: the recipe is the end of a longer one (moves.py)."""
    passes = plan_passes(recipe, images.dtype, images.size, images.channels)
    matrix = [Column("") for _ in range(9)]
    moves = plan_moves(passes, matrix, continues)
    program_column_count = _assign_columns(
        [*_adjacent_columns(passes), *(draw.columns for draw in recipe.draws), matrix, *(m.matrix for m in moves)]
    )
    partial_sums, column_count = {}, program_column_count
    for pass_ in passes:
        for mean in pass_.means_in_parts:
            partial_sums[mean.index] = column_count
            column_count += grids.max_partial_sum_count(images.frames, pass_.output_size)
    max_values = {id(column): pass_.max_value for pass_ in passes for column in pass_.chain_columns}
    draws = [rescale_draw(draw, max_values.get(id(draw.columns[0]), 1.0)) for draw in recipe.draws]
    forward_matrices = [_forward_matrix(matrix, [pass_ for pass_ in passes if pass_.matrix])]
    forward_matrices += [_forward_matrix(move.matrix, move.passes) for move in moves if move.matrix is not matrix]
    program = assemble(draws, _pass_maps(passes), forward_matrices)
    columns_by_name: dict[str, Column] = {}
    for column in (column for draw in recipe.draws for column in draw.columns):
        name = f"{column.name}_{column.index}" if column.name in columns_by_name else column.name
        columns_by_name[name] = column
    return RecipePlan(
        passes=passes,
        program=program,
        column_count=column_count,
        program_column_count=program_column_count,
        parameter_columns={name: column.index for name, column in columns_by_name.items()},
        integer_ranges={name: column.integer_range for name, column in columns_by_name.items() if column.integer_range},
        matrix_column=matrix[0].index,
        moves=moves,
        partial_sums=partial_sums,
        mask_dtypes=plan_mask_casts(passes, recipe.mask_dtypes),
        argument_columns=ragged.argument_columns(recipe),
    )


def _adjacent_columns(passes: Sequence[Pass]) -> Iterator[Sequence[Column]]:
    """Runs of columns that must be adjacent in the table, as a kernel or an instruction reads each run as one array."""
    # All chains first: the two parts of an op that is split at its mean share columns, which end one chain and begin
    # the next. Other columns assigned between the two chains would separate the shared columns from the second chain.
    yield from (pass_.chain_columns for pass_ in passes)
    for pass_ in passes:
        yield from (op.columns for op in (*pass_.first_ops, *pass_.overrides))
        yield pass_.matrix


def _assign_columns(runs: Sequence[Sequence[Column]]) -> int:
    """Assigns each column its index in the table. Returns the number of columns."""
    count = 0
    for run in runs:
        for column in run:
            if column.index < 0:
                column.index, count = count, count + 1
    return count


def _pass_maps(passes: Sequence[Pass]) -> list[list[Instruction]]:
    """For each pass with a geometry, the instructions that map its result's coordinates to its source's."""
    maps = list[list[Instruction]]()
    for pass_ in passes:
        if pass_.matrix:
            ops = (op for op in reversed(pass_.first_ops) if isinstance(op, (CoordinateMap, Resize)))
            store = Instruction("StorePassMap", pass_.matrix, [len(pass_.matrix)])
            maps.append([*(op.inverse_map for op in ops), store])
    return maps


def _forward_matrix(matrix: list[Column], passes: Sequence[Pass]) -> Instruction:
    """The instruction that stores the matrix from the input of the first pass to the result of the last."""
    pass_matrices = [argument for pass_ in reversed(passes) for argument in (pass_.matrix[0], len(pass_.matrix))]
    return Instruction("StoreForwardMatrix", matrix, [len(passes), *pass_matrices])
