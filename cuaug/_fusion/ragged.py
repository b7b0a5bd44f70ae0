"""What a recipe does until all images have one size: the same for images of any, but for the numbers in it.

Images of different sizes can be taken through it together if that is the first pass, which then reads each image where
it lies (`_ragged.py`). Each transform writes itself down for each size (`Transform.write`), so that none knows of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .passes import passes_of
from .recipe import Column, Geometric, Instruction, Recipe, Resized

_MOST = 1 << 14  # sizes of images


class Lead(NamedTuple):
    """The beginning of a recipe, written for images of one size."""

    kind: tuple[Any, ...]  # images for which this is the same go together
    numbers: np.ndarray  # the instructions' arguments, one after the other; 0 for columns


class Leads:
    """The leads of a list of transforms, as far as images have asked for them.

    `first`: the place of the first of the transforms in the recipe that they are the end of.
    """

    def __init__(self, transforms: Sequence[Any], first: int) -> None:
        self._transforms, self._first = transforms, first
        self._counts: dict[Any, int] = {}
        self._known: dict[Any, Lead | None] = {}

    def kind(self, image: ImageBatch) -> Any:
        """Images for which this is the same go together, whatever their sizes; None: those of one size do."""
        lead = self.of(image)
        return lead and lead.kind

    def of(self, image: ImageBatch) -> Lead | None:
        """None where images of different sizes cannot go together."""
        key = (image.dtype, image.axes.extents[2:])
        if key in (known := self._known):
            return known[key]
        if len(known) >= _MOST:
            self._known = known = {}  # another thread may still look into the old one
        found = known[key] = self._written(image)
        return found

    def count(self, image: ImageBatch) -> int:
        """How many transforms it takes until such images have one size, whatever it was; 0: more than there are."""
        key = (image.dtype, image.channels)
        if key not in self._counts:
            height, width = image.size
            sizes = (height, width), (2 * height + 1, 3 * width + 2)  # of neither one height, nor width, nor ratio
            try:
                self._counts[key] = self._until_alike([self._begun(image, size) for size in sizes])
            except ValueError:  # what a transform refuses of a size that nobody has given
                self._counts[key] = 0
        return self._counts[key]

    def _until_alike(self, recipes: Sequence[Recipe]) -> int:
        for count, transform in enumerate(self._transforms, 1):
            for recipe in recipes:
                transform.enter(recipe)
            if len({recipe.size for recipe in recipes}) == 1:
                return count
        return 0

    def _written(self, image: ImageBatch) -> Lead | None:
        count = self.count(image)
        if not count:
            return None
        recipe = self._begun(image, image.size)
        for transform in self._transforms[:count]:
            transform.enter(recipe)
        return _lead_of(recipe, image.dtype, image.size)

    def _begun(self, image: ImageBatch, size: tuple[int, int]) -> Recipe:
        return Recipe(size, image.channels, image.dtype, position=self._first - 1)


def _lead_of(recipe: Recipe, dtype: str, size: tuple[int, int]) -> Lead | None:
    """Of the recipe of the leading transforms, for images of a size; None where one pass cannot do them."""
    columns = [column for draw in recipe.draws for column in draw.columns]
    moves = [op for op in recipe.ops if isinstance(op, (Geometric, Resized))]
    if len(moves) < len(recipe.ops) or any(column.white is not None for column in columns):
        return None
    if len(moves) > 1 and len(passes_of(recipe, dtype, size)) > 1:
        return None
    number = {id(column): i for i, column in enumerate(columns)}

    def shape(it: Instruction) -> tuple[Any, ...]:
        gate = it.gate and (number[id(it.gate.column)], it.gate.value)
        return it.kind, len(it.columns), it.position, it.index, gate, tuple(number.get(id(a)) for a in it.arguments)

    kind = recipe.size, *map(shape, recipe.draws), *((type(op), op.interpolation, *shape(op.carry)) for op in moves)
    arguments = [0.0 if isinstance(a, Column) else a for it in _instructions(recipe) for a in it.arguments]
    return Lead(kind, np.array(arguments, np.float64))


def given_to_each(recipe: Recipe) -> None:
    """Each sample is to have arguments of its own for what the recipe has in it by now."""
    first = 0
    for it in _instructions(recipe):
        it.own, first = first, first + len(it.arguments)
    for op in recipe.ops:
        if isinstance(op, Resized):
            op.mild = False  # by its bound, which sizes lie on both sides of


def places(recipe: Recipe) -> np.ndarray:
    """What is to be added to `Lead.numbers`: the columns."""
    own = (it for it in _instructions(recipe) if it.own >= 0)
    return np.array([a.place if isinstance(a, Column) else 0.0 for it in own for a in it.arguments], np.float64)


def _instructions(recipe: Recipe) -> list[Instruction]:
    return [*recipe.draws, *(op.carry for op in recipe.ops if isinstance(op, (Geometric, Resized)))]
