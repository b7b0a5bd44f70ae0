"""Transforms that choose other transforms for each sample, and their order.

Every sample goes through every pass; a transform that a sample does not get runs with parameters that change nothing.
Sizes, dtypes and channels must therefore be the same with and without the transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._fusion.recipe import Recipe
from .._value_text import value_text
from . import ranges
from .recipe_helpers import draw_choice
from .transform import Transform
from .transform_list import transform_list

__all__ = ["Identity", "RandomApply", "RandomChoice", "RandomOrder"]


class Identity(Transform):
    """Leaves the images as they are."""

    def __init__(self) -> None:
        pass

    def write(self, recipe: Recipe) -> None:
        pass


class RandomApply(Transform):
    """All of these transforms with a probability, or none of them.

    Args:
        transforms: In the order in which they run; a :class:`Compose` counts as its transforms.
        p: Probability.
    """

    def __init__(self, transforms: Sequence[Transform], p: float = 0.5) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        with recipe.only_where(recipe.bernoulli("apply", self.p)):
            for transform in self.transforms:
                transform.append_to(recipe)


class RandomChoice(Transform):
    """One of these transforms. Consecutive geometric ones with equal interpolation, border and fill are one resample.

    Args:
        transforms: The transforms to choose from.
        p: A weight for each, not necessarily with sum 1; default: equal weights.
    """

    def __init__(self, transforms: Sequence[Transform], p: Sequence[float] | None = None) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)
        self.p: list[float] | None = None if p is None else [*ranges.numbers("p", p, "a list of weights", 0.0)]
        if self.p is not None and (len(self.p) != len(self.transforms) or not sum(self.p) > 0):
            raise ValueError(
                f"p must be one weight for each of the {len(self.transforms)} transforms, got {value_text(p)}"
            )

    def write(self, recipe: Recipe) -> None:
        chosen = draw_choice(recipe, "chosen", self.p or [1.0] * len(self.transforms))
        for i, transform in enumerate(self.transforms):
            with recipe.only_where(chosen, i):
                transform.append_to(recipe)


class RandomOrder(Transform):
    """All of these transforms, in a random order.

    Every position of the order contains all of them, and a sample gets the one that its permutation has there:
    n transforms cost as much as n * n. A transform that must see another transform's result (a blur, a statistic, a
    border) takes a pass for each position. To permute brightness, contrast, saturation and hue, use
    :class:`ColorJitter`, which takes one pass.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)

    def write(self, recipe: Recipe) -> None:
        count = len(self.transforms)
        for chosen in recipe.draw("PermutationOrNone", [f"order_{i}" for i in range(count)], count):
            for i, transform in enumerate(self.transforms):
                with recipe.only_where(chosen, i):
                    transform.append_to(recipe)


def _non_empty_list(transforms: Any) -> list[Transform]:
    entries = transform_list(transforms)
    if not entries:
        raise TypeError("transforms must be at least one, got none")
    for transform in (inner for entry in entries for inner in entry.flattened()):
        if not transform.is_fused:
            raise TypeError(
                f"transforms must be fused, got {transform.title}, which runs on whole samples: put it into Compose"
            )
    return entries
