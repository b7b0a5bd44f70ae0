"""A recipe made ready for one shape of images: its passes, and the program that draws for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._passes import grids as _grids
from . import ragged
from .passes import Pass, passes_of
from .program import assembled, in_units_of
from .recipe import Blended, Column, Displaced, Geometric, Instruction, Recipe, Resized


@dataclass
class Plan:
    """What a table's columns mean, and what is done with them."""

    passes: list[Pass]
    program: np.ndarray
    columns: int
    drawn: int  # of them, the first, that the program fills, the whole matrix last
    names: dict[str, int]  # of what is drawn; where it stands in the table
    matrix: int  # first of nine columns: source to result
    parts: dict[int, int]  # for the place of each mean taken on the way, the first column for its parts
    own: np.ndarray  # of images each of a size of its own: see ragged.py
    programs: dict[Any, Any] = field(default_factory=dict)  # the program in the memory of each device and library
    traces: dict[Any, Any] = field(default_factory=dict)  # of its launches (traced.py)

    @property
    def no_matrix(self) -> str:
        """Which transform moves pixels as no matrix can; empty if none does."""
        heads = (head for each in self.passes for head in each.heads)
        return next((head.name for head in heads if isinstance(head, (Displaced, Blended))), "")


def plan_of(recipe: Recipe, image: ImageBatch) -> Plan:
    """The plan for images like these."""
    passes = passes_of(recipe, image.dtype, image.size)
    matrix = [Column("") for _ in range(9)]
    count = _placed([*_blocks(passes), *(draw.columns for draw in recipe.draws), matrix])
    rooms, columns = {}, count
    for each in passes:
        if each.measures:
            rooms[each.measures.place] = columns
            columns += _grids.most_mean_parts(image.axes.extents[1], each.result)
    white = {id(column): each.white for each in passes for column in each.columns}
    draws = [in_units_of(draw, white.get(id(draw.columns[0]), 1.0)) for draw in recipe.draws]
    kept = [each.matrix for each in reversed(passes) if each.matrix]
    whole = Instruction("StoreForwardMatrix", matrix, [len(kept), *(a for each in kept for a in (each[0], len(each)))])
    program = assembled([*draws, *_turns(passes), *_carries(passes), whole])
    names: dict[str, int] = {}
    for column in (column for draw in recipe.draws for column in draw.columns):
        names[f"{column.name}_{column.place}" if column.name in names else column.name] = column.place
    return Plan(passes, program, columns, count, names, matrix[0].place, rooms, ragged.places(recipe))


def _blocks(passes: Sequence[Pass]) -> Iterator[Sequence[Column]]:
    """Columns that a kernel, or an instruction, takes for adjoining."""
    # One chain after the other: where an op is parted, the next begins with the columns that the last one ends with.
    yield from (each.columns for each in passes)
    for each in passes:
        yield from (op.columns for op in (*each.heads, *each.retouches))
        yield each.matrix


def _placed(blocks: Sequence[Sequence[Column]]) -> int:
    count = 0
    for block in blocks:
        for column in block:
            if column.place < 0:
                column.place, count = count, count + 1
    return count


def _turns(passes: Sequence[Pass]) -> Iterator[Instruction]:
    """Flips after an antialiased resize, which has columns for them."""
    for each in passes:
        if each.heads and isinstance(each.heads[0], Resized):
            for head in each.heads[1:]:
                if isinstance(head, Geometric):
                    turn = each.heads[0].columns[4 if head.mirror == "y" else 5]
                    yield Instruction("XorFlag", [turn], [head.columns[0]])


def _carries(passes: Sequence[Pass]) -> Iterator[Instruction]:
    """From the result back to the source; each pass keeps its own part of the way."""
    for each in reversed(passes):
        for head in reversed(each.heads):
            if isinstance(head, (Geometric, Resized)):
                yield head.carry
        if each.matrix:
            yield Instruction("StorePassMap", each.matrix, [len(each.matrix)])
