"""Autocontrast, equalization and grayscale, with torchvision v2's names and defaults."""

from __future__ import annotations

from typing import Literal

from .. import _check
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import EQUALIZE, Autocontrast, HistogramLut
from .._value_text import value_text
from . import ranges
from .transform import Transform

__all__ = ["Grayscale", "RandomAutocontrast", "RandomEqualize"]


class RandomAutocontrast(Transform):
    """Stretch each channel's values to the full range, with a probability: :func:`cuaug.autocontrast`."""

    def __init__(self, p: float = 0.5) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add(Autocontrast([recipe.bernoulli("apply", self.p)]))


class RandomEqualize(Transform):
    """Make each channel's levels equally frequent, with a probability: :func:`cuaug.equalize`. For uint8 images."""

    def __init__(self, p: float = 0.5) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.require_uint8()
        kinds = recipe.draw("Bernoulli", ["apply"], self.p, EQUALIZE, 0.0, integer_range=(0, int(EQUALIZE)))
        recipe.add(HistogramLut(kinds))


class Grayscale(Transform):
    """Convert to luma, in 1 channel or in 3 equal ones: :func:`cuaug.rgb_to_grayscale`."""

    def __init__(self, num_output_channels: Literal[1, 3] = 1) -> None:
        self.num_output_channels: int = _check.integer("num_output_channels", num_output_channels, 1)
        if self.num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {value_text(num_output_channels)}")

    def write(self, recipe: Recipe) -> None:
        _check.channels(recipe.channels, 1, 3)
        if recipe.channels == 3 and self.num_output_channels == 3:
            recipe.add_pointwise("RandomGrayscale", [recipe.constant("grey", 1.0, otherwise=0.0)])
        elif recipe.channels != self.num_output_channels:
            recipe.add_grayscale(self.num_output_channels)
