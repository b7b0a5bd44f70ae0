"""Transforms that draw at every pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _check
from .._fusion.recipe import Column, Displaced, Recipe
from ..filter import MOST_TAPS
from . import ranges as _ranges
from .transform import Transform

_WORDS = ("seed_0", "seed_1", "seed_2", "step_0", "step_1", "id_0", "id_1", "position")


class GaussianNoise(Transform):
    """Add normally distributed noise, of each pixel and channel its own: :func:`cuaug.gaussian_noise`.

    Args:
        mean: In 0..1, whatever the dtype.
        sigma: Likewise, at least 0.
        clip: Clamp floats to 0..1.
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        self.mean, self.sigma = _ranges.number("mean", mean), _ranges.number("sigma", sigma, 0.0)
        self.clip = bool(clip)

    def write(self, recipe: Recipe) -> None:
        own = [
            recipe.constant(name, value, 0.0)
            for name, value in (("mean", self.mean), ("sigma", self.sigma), ("clip", float(self.clip)))
        ]
        recipe.pointwise("GaussianNoise", [*own, *_words(recipe)])


class RandomMask(Transform):
    """Hide a share of the image in squares, with a probability: dropout of pixels, or a grid.

    Args:
        p: Probability.
        kind: "pixels": each square of the image is hidden or not, by its own draw. "grid": a square at each node of a
            grid, whose offset is drawn (Chen et al. 2020).
        share: Of the pixels, that are hidden: the probability of a square, or the square's share of the grid's cell.
        size: Of the squares, or of the grid's cells, in pixels.
        value: In the images' own range: a number, or one per channel.
    """

    def __init__(
        self,
        p: float = 0.5,
        kind: str = "pixels",
        share: float = 0.1,
        size: int = 1,
        value: float | Sequence[float] = 0.0,
    ) -> None:
        _check.one_of("kind", kind, ("pixels", "grid"))
        self.p, self.kind, self.share = _ranges.probability("p", p), kind, _ranges.probability("share", share)
        self.size = _check.whole("size", size, 1)
        if kind == "grid" and 0 < share < 1 and not 0 < self._side < self.size:
            raise ValueError(f"size must leave squares of 1 pixel or more and gaps for share {share}, got {size}")
        self.value = value if isinstance(value, (int, float)) else tuple(value)

    @property
    def _side(self) -> int:
        return round(self.size * math.sqrt(self.share))

    def write(self, recipe: Recipe) -> None:
        size = recipe.constant("size", self.size)
        if self.kind == "grid":
            top, left = (recipe.draw("RandInt", [name], self.size, 0.0, 0.0)[0] for name in ("top", "left"))
            op, own = "GridMask", [size, top, left, recipe.chance("side", self.p, yes=self._side)]
        else:
            share = recipe.chance("share", self.p, yes=self.share)
            recipe.begin(recipe.name)  # so that what is drawn at pixels is independent of the above
            op, own = "CoarseDropout", [size, share, *_words(recipe)]
        values = _ranges.per_channel("value", self.value, recipe.channels)
        columns = [recipe.constant(f"v_{c}", value, white=recipe.white) for c, value in enumerate(values)]
        recipe.pointwise(op, [*own, *columns])


class ElasticTransform(Transform):
    """Displace each pixel by a field of smoothed noise, of each sample its own (Simard et al. 2003).

    A displacement is uniform in -1 to 1, smoothed by a Gaussian, times half of `alpha`, in pixels. Masks move along, by
    nearest neighbour. Boxes and keypoints, for which the field would have to be inverted, are refused; and so are
    matrices, and `inverse`.

    Args:
        alpha: Strength, or (x, y). Smoothing leaves little: with the defaults displacements are about 0.8 pixels.
        sigma: Of the Gaussian, in pixels, or (x, y); below 15.875. It is cut off at 4 sigma; 0: noise as it is.
        interpolation: "nearest", "bilinear" or "bicubic", or torchvision's ``InterpolationMode``.
        fill: Of what lies outside: a number, or one per channel.
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Any = "bilinear",
        fill: Any = 0,
    ) -> None:
        self.alpha, self.sigma = _both("alpha", alpha), _both("sigma", sigma, 0.0)
        if (self.sigma[0] == 0) != (self.sigma[1] == 0):
            raise ValueError(f"sigma must be greater than 0 in x and in y, or 0 in both, got {sigma!r}")
        if max(self._window) > MOST_TAPS:
            raise ValueError(f"sigma must be below {MOST_TAPS / 8}, got {sigma!r}")
        self.interpolation, self.fill = _ranges.interpolation(interpolation), fill
        _check.one_of("interpolation", self.interpolation, ("nearest", "bilinear", "bicubic"))

    @property
    def _window(self) -> tuple[int, int]:
        x, y = (int(8 * sigma + 1) | 1 for sigma in self.sigma)
        return x, y

    def write(self, recipe: Recipe) -> None:
        words = _words(recipe)
        x, y = (alpha / 2 for alpha in self.alpha)  # in pixels, as a canvas is 2 wide and 2 high
        reach = [recipe.constant("reach_x", x, 0.0), recipe.constant("reach_y", y, 0.0)]
        how = {"interpolation": self.interpolation, "fill": self.fill}
        recipe.add(Displaced([*words, *reach], recipe.size, self._window, self.sigma, **how))


def _both(name: str, value: Any, least: float = -math.inf) -> tuple[float, float]:
    """(x, y), or one number for both."""
    values = [value] if isinstance(value, (int, float)) else list(value)
    if len(values) not in (1, 2):
        raise ValueError(f"{name} must be a number or (x, y), got {value!r}")
    return _ranges.number(name, values[0], least), _ranges.number(name, values[-1], least)


def _words(recipe: Recipe) -> list[Column]:
    """The stream of random numbers that an op takes at each pixel."""
    return recipe.draw("StreamColumns", _WORDS)
