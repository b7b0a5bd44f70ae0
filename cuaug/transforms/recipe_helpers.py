"""Draws, ops and a check that several modules of transforms use when they append to a recipe."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Column

AFFINE_COLUMNS = ("angle", "translate_x", "translate_y", "scale", "shear_x", "shear_y")
NEVER_REACHED = 1e30  # a threshold; `Solarize` is inactive from 1e20
KEEP_ALL_BITS = 120  # `Posterize` is inactive from 31 bits


def draw_choice(recipe: Recipe, name: str, weights: Sequence[float]) -> Column:
    """A column of indices, drawn with these weights."""
    total = sum(weights)
    cumulative = [weight / total for weight in itertools.accumulate(weights)]
    return recipe.draw("Categorical", [name], len(weights), *cumulative)[0]


def add_affine(
    recipe: Recipe,
    columns: Sequence[Column],
    center: Any,
    interpolation: str,
    fill: Any,
    *,
    clockwise: bool,
    **options: Any,
) -> None:
    """A rotation, translation, scale and shear about a point (x, y) or the middle.

    `columns`: the parameters, in the order of `AFFINE_COLUMNS`.

    `clockwise`: the direction of a positive angle; torchvision's `affine` is clockwise, its `rotate` is not.
    """
    height, width = recipe.size
    x, y = center or (width / 2, height / 2)
    options = {"interpolation": interpolation, "fill": fill, **options}
    constants = x - 0.5, y - 0.5, 1.0 if clockwise else -1.0
    recipe.add_geometry("InverseAffine", columns, *constants, reads_border=True, **options)


def require_uint8(recipe: Recipe) -> None:
    """For ops that work on 256 levels."""
    if recipe.dtype != "uint8":
        raise TypeError(f"images must be uint8, got {recipe.dtype}: put ToDtype('uint8', scale=True) before it")
