"""The moves of a recipe: its geometry from one canvas to the next at whose edges objects are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .recipe_ops import Column, CoordinateMap
from .recipe_pass import Pass


class PlannedMove(NamedTuple):
    """Passes whose maps may be composed: only the first of them reads border around its input."""

    source_box: Sequence[Column]  # (top, left, height, width), outside which the input counts as border; empty: none
    passes: list[Pass]  # those with a matrix
    size: tuple[int, int]  # (H, W) of the canvas that ends the move
    matrix: list[Column]  # from the input to that canvas, nine numbers


def plan_moves(passes: Sequence[Pass], recipe_matrix: list[Column], continues: bool) -> list[PlannedMove]:
    """The moves, of which a recipe has at least one: the matrix of a single move is the recipe's.

    Pixels outside a canvas are lost for the ops after it that read border: these see the border instead. `continues`:
    the recipe is the end of a longer one, so that the images are such a canvas; a move without passes leads to it.
    """
    moves, source_box, moved = list[PlannedMove](), list[Column](), list[Pass]()
    for pass_ in passes:
        if any(isinstance(op, CoordinateMap) and op.reads_border for op in pass_.first_ops):
            if moved or (continues and not moves):
                moves.append(PlannedMove(source_box, moved, pass_.input_size, _matrix()))
            source_box, moved = [*pass_.source_box], []
        if pass_.matrix:
            moved.append(pass_)
    return [*moves, PlannedMove(source_box, moved, passes[-1].output_size, _matrix() if moves else recipe_matrix)]


def _matrix() -> list[Column]:
    return [Column("") for _ in range(9)]
