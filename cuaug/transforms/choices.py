"""Which transforms a sample gets, and in which order: decided for each sample by its own draw.

All samples take all passes; what a sample does not get runs with the parameters that change nothing. Sizes, dtypes and
channels therefore have to be the same either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .._fusion.recipe import Column, Recipe
from . import ranges as _ranges
from .transform import Transform, members


class Identity(Transform):
    """Nothing."""

    def __init__(self) -> None:
        pass

    def write(self, recipe: Recipe) -> None:
        pass


class RandomApply(Transform):
    """All of these transforms, with a probability, or none of them.

    Args:
        transforms: One after the other; a :class:`Compose` counts as its transforms.
        p: Probability.
    """

    def __init__(self, transforms: Sequence[Transform], p: float = 0.5) -> None:
        self.transforms, self.p = _members(transforms), _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        with recipe.only_where(recipe.chance("apply", self.p)):
            for transform in self.transforms:
                transform.enter(recipe)


class RandomChoice(Transform):
    """One of these transforms. Maps of coordinates of several of them are one resample: a sample gets one at most.

    Args:
        transforms: To choose from.
        p: Their weights, which need not add up to 1; default: equal ones.
    """

    def __init__(self, transforms: Sequence[Transform], p: Sequence[float] | None = None) -> None:
        self.transforms = _members(transforms)
        self.p = None if p is None else [_ranges.number("p", weight, 0.0) for weight in p]
        if self.p is not None and (len(self.p) != len(self.transforms) or not sum(self.p) > 0):
            raise ValueError(f"p must be one weight for each of the {len(self.transforms)} transforms, got {p!r}")

    def write(self, recipe: Recipe) -> None:
        chosen = choice(recipe, "chosen", self.p or [1.0] * len(self.transforms))
        for i, transform in enumerate(self.transforms):
            with recipe.only_where(chosen, i):
                transform.enter(recipe)


class RandomOrder(Transform):
    """All of these transforms, in a random order.

    Every place of the order holds all of them, and a sample gets the one that its permutation puts there: n transforms
    cost what n * n do. What must see another transform's result (a blur, a statistic, a border) takes a pass for each
    place. Where brightness, contrast, saturation and hue change places, :class:`ColorJitter` does it in one go.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = _members(transforms)

    def write(self, recipe: Recipe) -> None:
        count = len(self.transforms)
        for place in recipe.draw("PermutationOrNone", [f"order_{i}" for i in range(count)], count):
            for i, transform in enumerate(self.transforms):
                with recipe.only_where(place, i):
                    transform.enter(recipe)


def choice(recipe: Recipe, name: str, weights: Sequence[float]) -> Column:
    """A column of indices, drawn with these weights."""
    total = sum(weights)
    upto = [weight / total for weight in itertools.accumulate(weights)]
    return recipe.draw("Categorical", [name], len(weights), *upto)[0]


def _members(transforms: Any) -> list[Transform]:
    found = members(transforms)
    if not found:
        raise TypeError("transforms must be at least one, got none")
    return found
