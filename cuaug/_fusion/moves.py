"""Moves: maps of boxes and keypoints from one canvas of a recipe to the next. What leaves a canvas is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .recipe_ops import Column
from .recipe_pass import Pass


class PlannedMove(NamedTuple):
    """Consecutive passes whose maps are composed into one. Only the first of them may read border around its input."""

    source_box: Sequence[Column]  # (top, left, height, width), outside which the input counts as border; empty: none
    passes: list[Pass]  # those with a matrix
    size: tuple[int, int]  # (H, W) of the last pass's canvas
    matrix: list[Column]  # from the first pass's input to that canvas, nine numbers
    is_affine: bool  # whether the matrix is affine, whatever is drawn


def plan_moves(passes: Sequence[Pass], recipe_matrix: list[Column], continues: bool) -> list[PlannedMove]:
    """The moves of a recipe, at least one. The matrix of a single move is the recipe's matrix.

    A pass that reads border begins a new move, because it sees border instead of what lies outside its input canvas.
    `continues`: the recipe is the end of a longer one. If the first pass with a matrix reads border, it sees border
    outside the images, too: then the first move has no passes, and its canvas is that of the images.
    """
    moves, source_box, move_passes = list[PlannedMove](), list[Column](), list[Pass]()
    for pass_ in passes:
        if pass_.reads_border:
            if move_passes or (continues and not moves):
                moves.append(_planned_move(source_box, move_passes, pass_.input_size, _matrix()))
            source_box, move_passes = [*pass_.source_box], []
        if pass_.matrix:
            move_passes.append(pass_)
    matrix = _matrix() if moves else recipe_matrix
    return [*moves, _planned_move(source_box, move_passes, passes[-1].output_size, matrix)]


def _planned_move(
    source_box: Sequence[Column], passes: list[Pass], size: tuple[int, int], matrix: list[Column]
) -> PlannedMove:
    return PlannedMove(source_box, passes, size, matrix, is_affine=all(len(pass_.matrix) == 6 for pass_ in passes))


def _matrix() -> list[Column]:
    return [Column("") for _ in range(9)]
