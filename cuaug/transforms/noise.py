"""Transforms that draw random numbers at every pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _check
from .._fusion.fill import FillByKind
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Column, Displacement
from .._program.records import MAX_TAPS
from .._value_text import value_text
from ..typing import FillByType, Interpolation, MaskKind, PerChannel
from . import ranges
from .transform import Transform

__all__ = ["ElasticTransform", "GaussianNoise", "RandomMask"]

_KEY_COLUMNS = ("seed_0", "seed_1", "seed_2", "step_0", "step_1", "id_0", "id_1", "position")
_MAX_CELL = _check.SIDE_LIMIT - 1  # pixels


class GaussianNoise(Transform):
    """Add independent normal noise to each pixel and channel: :func:`cuaug.gaussian_noise`.

    Args:
        mean: On the scale 0..1, for every dtype.
        sigma: On the same scale, at least 0: 8 / 255 for 8 levels of uint8.
        clip: Clamp floats to 0..1.
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        self.mean: float = ranges.number("mean", mean)
        self.sigma: float = ranges.number("sigma", sigma, 0.0)
        self.clip: bool = _check.boolean("clip", clip)

    def write(self, recipe: Recipe) -> None:
        parameters = [
            recipe.constant(name, value, otherwise=0.0)
            for name, value in (("mean", self.mean), ("sigma", self.sigma), ("clip", float(self.clip)))
        ]
        recipe.add_pointwise("GaussianNoise", [*parameters, *_random_key(recipe)])


class RandomMask(Transform):
    """Fill squares that cover a share of the image, with a probability: independent squares, or a grid.

    Args:
        p: Probability.
        kind: "pixels": a draw for each square of the image decides whether it is filled. "grid": a square at each node
            of a grid, whose offset is drawn (Chen et al. 2020).
        share: Fraction of the pixels to fill: the probability of a square, or the square's fraction of a grid cell.
        size: Side of the squares, or of the grid's cells, in pixels.
        value: In the images' own range: a number, or one per channel.
    """

    def __init__(
        self,
        p: float = 0.5,
        kind: MaskKind = "pixels",
        share: float = 0.1,
        size: int = 1,
        value: PerChannel = 0.0,
    ) -> None:
        _check.one_of("kind", kind, ("pixels", "grid"))
        self.p: float = ranges.probability("p", p)
        self.kind = kind
        self.share: float = ranges.probability("share", share)
        self.size: int = _check.integer("size", size, 1, _MAX_CELL)
        if kind == "grid" and 0 < share < 1 and not 0 < self._side < self.size:
            raise ValueError(f"size must leave squares of 1 pixel or more and gaps for share {share}, got {size}")
        self.value: float | tuple[float, ...] = ranges.number_or_tuple("value", value)

    @property
    def _side(self) -> int:
        """Side of a grid's square in pixels."""
        return round(self.size * math.sqrt(self.share))

    @property
    def draw_position_count(self) -> int:
        return 1 if self.kind == "grid" else 2

    def write(self, recipe: Recipe) -> None:
        size = recipe.constant("size", self.size, integer_range=(1, _MAX_CELL))
        if self.kind == "grid":
            top, left = (recipe.randint(name, self.size, first=0, otherwise=0.0) for name in ("top", "left"))
            op, parameters = "GridMask", [size, top, left, recipe.bernoulli("side", self.p, if_true=self._side)]
        else:
            share = recipe.bernoulli("share", self.p, if_true=self.share)
            recipe.begin(recipe.name)  # so that the draws at pixels are independent of the draws above
            op, parameters = "CoarseDropout", [size, share, *_random_key(recipe)]
        values = ranges.per_channel("value", self.value, recipe.channels)
        columns = [recipe.constant(f"v_{c}", value, max_value=recipe.max_value) for c, value in enumerate(values)]
        recipe.add_pointwise(op, [*parameters, *columns])


class ElasticTransform(Transform):
    """Displace each pixel by a field of smoothed noise, one field per sample (Simard et al. 2003).

    A displacement is uniform in -1 to 1, smoothed by a Gaussian, times half of `alpha`, in pixels. Masks move with the
    images, by nearest neighbour. Boxes, keypoints, `params.matrices` and `Compose.inverse` raise an error: they
    would need the inverse of the field.

    Args:
        alpha: Strength, or (x, y). Smoothing reduces it: with the defaults displacements are about 0.8 pixels.
        sigma: Sigma of the Gaussian in pixels, or (x, y); below 15.875. The filter ends at 4 sigma; 0: no smoothing
            along the axis.
        interpolation: "nearest", "bilinear" or "bicubic", or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image: a number, or one per channel; or a dict by type (docs/targets.md).
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Interpolation = "bilinear",
        fill: FillByType = 0,
    ) -> None:
        self.alpha: tuple[float, float] = ranges.x_and_y("alpha", alpha, both=True)
        self.sigma: tuple[float, float] = ranges.x_and_y("sigma", sigma, 0.0, both=True)
        if max(self.sigma) >= MAX_TAPS / 8:
            raise ValueError(f"sigma must be below {MAX_TAPS / 8}, got {value_text(sigma)}")
        self.interpolation = _check.interpolation(interpolation, ("nearest", "bilinear", "bicubic"))
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    @property
    def _kernel_size(self) -> tuple[int, int]:
        x, y = (int(8 * sigma + 1) | 1 for sigma in self.sigma)
        return x, y

    def write(self, recipe: Recipe) -> None:
        key = _random_key(recipe)
        # In pixels: torchvision adds alpha / W to coordinates that span 2 over W pixels.
        x, y = (alpha / 2 for alpha in self.alpha)
        amplitude = [recipe.constant("amplitude_x", x, otherwise=0.0), recipe.constant("amplitude_y", y, otherwise=0.0)]
        options: dict[str, Any] = {"interpolation": self.interpolation, "fill": self.fill}
        x_sigma, y_sigma = self.sigma
        # A kernel of one pixel has the weight 1 with every sigma greater than 0.
        sigma = (x_sigma or 1.0, y_sigma or 1.0) if any(self.sigma) else self.sigma
        recipe.add(Displacement([*key, *amplitude], recipe.size, self._kernel_size, sigma, **options))


def _random_key(recipe: Recipe) -> list[Column]:
    """The key of the Philox stream from which an op draws at each pixel."""
    return recipe.draw("StreamColumns", _KEY_COLUMNS, integer_range=(0, (1 << 24) - 1))
