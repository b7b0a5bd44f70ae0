"""Transforms by the levels or the neighbours of a whole image, and to grey: torchvision v2's names and defaults."""

from __future__ import annotations

from .. import _check
from .._fusion.recipe import EQUALIZED, Greyed, Recipe, Relevelled, Sharpened, Stretched
from . import ranges as _ranges
from .transform import Transform


class RandomAutocontrast(Transform):
    """Spread each channel's levels from black to white, with a probability: :func:`cuaug.autocontrast`."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add(Stretched([recipe.chance("apply", self.p)]))


class RandomEqualize(Transform):
    """Make each channel's levels equally frequent, with a probability: :func:`cuaug.equalize`. Of bytes."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        only_bytes(recipe)
        recipe.add(Relevelled([recipe.chance("apply", self.p, yes=EQUALIZED)]))


class RandomAdjustSharpness(Transform):
    """Blend with the smoothed image, with a probability: :func:`cuaug.adjust_sharpness`.

    Args:
        sharpness_factor: 0 is the smoothed image, 1 the image, more is sharper.
        p: Probability.
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        self.sharpness_factor = _ranges.number("sharpness_factor", sharpness_factor, 0.0)
        self.p = _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add(Sharpened([recipe.chance("sharpness_factor", self.p, yes=self.sharpness_factor, no=1.0)]))


class Grayscale(Transform):
    """The luma of every image, in 1 channel or in 3 equal ones: :func:`cuaug.rgb_to_grayscale`."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = _check.whole("num_output_channels", num_output_channels, 1)
        if self.num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels!r}")

    def write(self, recipe: Recipe) -> None:
        if recipe.channels not in (1, 3):
            raise ValueError(f"images must have 1 or 3 channels, got {recipe.channels}")
        if recipe.channels == 3 and self.num_output_channels == 3:
            recipe.pointwise("RandomGrayscale", [recipe.constant("grey", 1.0, 0.0)])
        elif recipe.channels != self.num_output_channels:
            recipe.channels = self.num_output_channels
            recipe.add(Greyed(self.num_output_channels))


def only_bytes(recipe: Recipe) -> None:
    """Equalizing counts 256 levels."""
    if recipe.dtype != "uint8":
        raise TypeError(f"images must be uint8, got {recipe.dtype}: put ToDtype('uint8', scale=True) before it")
