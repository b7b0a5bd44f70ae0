"""Transforms that choose other transforms for each sample, and their order.

In a fused choice every sample takes every pass; a transform that a sample does not get runs with parameters that change
nothing. If a transform is not fused, it is called with the samples that get it (`parts.ChoicePart`). Sizes, dtypes and
channels of a batch must therefore be the same with and without the transform. In a fused choice no transform may change
the channels, nor the dtype to one that holds fewer values, not even if a later one undoes the change: the samples that
do not get the transforms would lose values. If a transform draws a size (`SizeTransform`), a batch becomes a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Column
from .._value_text import value_text
from . import ranges
from .transform import Transform
from .transform_list import TransformContainer, inner_transforms, transform_list

__all__ = ["Identity", "RandomApply", "RandomChoice", "RandomOrder"]


class Branch(NamedTuple):
    """Transforms for the samples whose column holds the value."""

    column: Column
    value: float
    transforms: Sequence[Transform]


class Choice(TransformContainer, has_description=False):
    """A transform that draws, for each sample, which of its transforms the sample gets."""

    def branches(self, recipe: Recipe) -> list[Branch]:
        """Draw the columns, and return the branches in the order in which they run."""
        raise NotImplementedError

    @property
    def is_fused(self) -> bool:
        entries = inner_transforms(self)
        return self.needs_recipe and all(inner.is_fused for entry in entries for inner in entry.flattened())

    @property
    def draw_position_count(self) -> int:
        branches = self.branches(Recipe((1, 1), 1, "uint8"))
        return 1 + sum(transform.draw_position_count for branch in branches for transform in branch.transforms)

    def write(self, recipe: Recipe) -> None:
        for branch in self.branches(recipe):
            with recipe.only_where(branch.column, branch.value):
                for transform in branch.transforms:
                    transform.append_to(recipe)


class Identity(Transform):
    """Leaves the images as they are."""

    def __init__(self) -> None:
        pass

    def write(self, recipe: Recipe) -> None:
        pass


class RandomApply(Choice):
    """All of these transforms with a probability, or none of them.

    Args:
        transforms: In the order in which they run; a :class:`Compose` counts as its transforms. Functions, and other
            transforms that are not fused, are called once, with those samples of a batch that get them.
        p: Probability.
    """

    def __init__(self, transforms: Sequence[Transform], p: float = 0.5) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)
        self.p: float = ranges.probability("p", p)

    def branches(self, recipe: Recipe) -> list[Branch]:
        return [Branch(recipe.bernoulli("apply", self.p), 1.0, self.transforms)]


class RandomChoice(Choice):
    """One of these transforms. Consecutive geometric ones with equal interpolation, border and fill are one resample.

    Args:
        transforms: The transforms to choose from, fused or not, as in :class:`RandomApply`.
        p: A weight for each, not necessarily with sum 1; default: equal weights.
    """

    def __init__(self, transforms: Sequence[Transform], p: Sequence[float] | None = None) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)
        self.p: tuple[float, ...] | None = None if p is None else ranges.numbers("p", p, "a list of weights", 0.0)
        self._check_weights()

    def _check_weights(self) -> None:
        if self.p is not None and (len(self.p) != len(self.transforms) or not sum(self.p) > 0):
            rule = f"one weight for each of the {len(self.transforms)} transforms, and one of them above 0"
            raise ValueError(f"p must be {rule}, got {value_text(self.p)}")

    def branches(self, recipe: Recipe) -> list[Branch]:
        self._check_weights()  # the list may have changed
        chosen = recipe.choice("chosen", self.p or [1.0] * len(self.transforms))
        return [Branch(chosen, i, [transform]) for i, transform in enumerate(self.transforms)]


class RandomOrder(Choice):
    """All of these transforms, in a random order.

    Every position of the order contains all of them, and a sample gets the one that its permutation has there:
    n transforms cost as much as n * n. A transform that must see another transform's result (a blur, a statistic, a
    border) takes a pass for each position. To permute brightness, contrast, saturation and hue, use
    :class:`ColorJitter`, which takes one pass.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms: list[Transform] = _non_empty_list(transforms)

    def branches(self, recipe: Recipe) -> list[Branch]:
        count = len(self.transforms)
        if count == 0:  # the user may empty the list
            return []
        order = recipe.draw("PermutationOrNone", [f"order_{i}" for i in range(count)], count)
        return [Branch(chosen, i, [transform]) for chosen in order for i, transform in enumerate(self.transforms)]


def _non_empty_list(transforms: Any) -> list[Transform]:
    entries = transform_list(transforms)
    if not entries:
        raise TypeError("transforms must be at least one, got none")
    return entries
