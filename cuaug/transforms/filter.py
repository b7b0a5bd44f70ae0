"""Transforms that compute a pixel from its neighbourhood, with torchvision v2's names; one draw per sample."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _check
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Blur, Jpeg, Sharpen
from .._integers import python_value
from .._passes.filters import check_kernel_size
from .._sizes import kernel_extents
from .._value_text import value_text
from ..typing import Size
from . import ranges
from .transform import Transform

__all__ = ["JPEG", "GaussianBlur", "RandomAdjustSharpness"]


class GaussianBlur(Transform):
    """Blur with a Gaussian whose sigma is drawn.

    Args:
        kernel_size: Odd, at most 127: (x, y), or one number for both.
        sigma: (low, high) in pixels, or one number.
    """

    def __init__(self, kernel_size: Size, sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        self.kernel_size: tuple[int, int] = kernel_extents(kernel_size)
        check_kernel_size("kernel_size", self.kernel_size)
        sigma = python_value(sigma)
        self.sigma: tuple[float, float] = ranges.pair(
            "sigma", (sigma, sigma) if isinstance(sigma, (int, float)) else sigma
        )
        if self.sigma[0] <= 0:
            raise ValueError(f"sigma must be greater than 0, got {value_text(sigma)}")

    def write(self, recipe: Recipe) -> None:
        sigma = recipe.uniform("sigma", *self.sigma, otherwise=0.0)
        recipe.add(Blur(self.kernel_size, [sigma]))


class RandomAdjustSharpness(Transform):
    """Blend with the smoothed image, with a probability; floats are clamped to 0..1: :func:`cuaug.adjust_sharpness`.

    Args:
        sharpness_factor: 0 gives the smoothed image, 1 the image itself, more a sharper image.
        p: Probability.
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        self.sharpness_factor: float = ranges.number("sharpness_factor", sharpness_factor, 0.0)
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add(Sharpen([recipe.bernoulli("sharpness_factor", self.p, if_true=self.sharpness_factor, if_false=1.0)]))


class JPEG(Transform):
    """Encode as JPEG and decode again, with a drawn quality: :func:`cuaug.jpeg`. For uint8 images.

    Args:
        quality: 1 (strong artefacts) to 100, or (low, high), both included.
    """

    def __init__(self, quality: int | Sequence[int]) -> None:
        quality = python_value(quality)
        limits = quality if isinstance(quality, (list, tuple)) else (quality, quality)
        low, high = ranges.pair("quality", [_check.integer("quality", limit, 1, 100) for limit in limits])
        self.quality: tuple[int, int] = int(low), int(high)

    def write(self, recipe: Recipe) -> None:
        recipe.require_uint8()
        _check.channels(recipe.channels, 1, 3)
        low, high = self.quality
        if low == high:
            quality = recipe.constant("quality", low, otherwise=0.0)
        else:
            quality = recipe.randint("quality", high - low + 1, low, otherwise=0.0)
        recipe.add(Jpeg([quality]))
