"""The draws of one transform on the host: the numbers that a recipe's program draws on any device."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from .draw_kernel import draw_on_host
from .program import assemble
from .recipe import COUNTERS_PER_DRAW, Recipe
from .recipe_ops import Instruction


class HostDraws:
    """A transform's draws for samples of any size.

    `write` appends the draws to a recipe, and no ops. `position`: of the transform in its recipe.
    """

    def __init__(self, write: Callable[[Recipe], None], title: str, position: int) -> None:
        recipe = Recipe((1, 1), 1, "uint8", position=position - 1)  # `begin` adds 1
        recipe.begin(title)
        write(recipe)
        self._draws: Sequence[Instruction] = recipe.draws
        columns = [column for draw in recipe.draws for column in draw.columns]
        for index, column in enumerate(columns):
            column.index = index
        self._column_count = len(columns)
        self._programs: dict[int, np.ndarray] = {}  # by repetition

    def table(self, ids: np.ndarray, seed: int, step: int, repetition: int = 0) -> np.ndarray:
        """The drawn numbers of the samples with these ids, in the order of the draws. [N, columns]

        `repetition`: 0 gives the numbers that a recipe draws. Each further repetition gives independent numbers, for
        transforms that draw again (`RandomIoUCrop`).
        """
        if repetition not in self._programs:
            self._programs[repetition] = self._program(repetition)
        table = np.empty((len(ids), self._column_count))
        draw_on_host(self._programs[repetition], table, ids, seed, step, np.empty((len(ids), 0)))
        return table

    def _program(self, repetition: int) -> np.ndarray:
        first_counter = repetition * len(self._draws) * COUNTERS_PER_DRAW
        return assemble(dataclasses.replace(draw, counter=draw.counter + first_counter) for draw in self._draws)
