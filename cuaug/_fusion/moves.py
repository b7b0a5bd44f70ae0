"""The moves of a recipe: its geometry from one canvas to the next at whose edges objects are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .recipe_ops import CoordinateMap
from .recipe_pass import Pass


class PlannedMove(NamedTuple):
    """Passes whose maps may be composed: only the first of them reads border around its input."""

    source_box: int  # the column of (top, left, height, width), outside which the input counts as border; -1: none
    matrices: tuple[tuple[int, int], ...]  # of each pass: the first column of its matrix, and how many numbers it has
    size: tuple[int, int]  # (H, W) of the canvas that ends the move


def plan_moves(passes: Sequence[Pass], continues: bool) -> list[PlannedMove]:
    """The moves, of which a recipe has at least one. Call once columns have their indices.

    Pixels outside a canvas are lost for the ops after it that read border: these see the border instead. `continues`:
    the recipe is the end of a longer one, so that the images are such a canvas; a move without matrices leads to it.
    """
    moves, source_box, matrices = list[PlannedMove](), -1, list[tuple[int, int]]()
    for pass_ in passes:
        if any(isinstance(op, CoordinateMap) and op.reads_border for op in pass_.first_ops):
            if matrices or (continues and not moves):
                moves.append(PlannedMove(source_box, tuple(matrices), pass_.input_size))
            source_box = pass_.source_box[0].index if pass_.source_box else -1
            matrices = []
        if pass_.matrix:
            matrices.append((pass_.matrix[0].index, len(pass_.matrix)))
    return [*moves, PlannedMove(source_box, tuple(matrices), passes[-1].output_size)]
