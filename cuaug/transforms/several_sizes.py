"""Transforms whose results have sizes of their own: a batch becomes a list, until a later transform gives one size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import _check, _sizes
from .._fusion.fill import FillByKind
from .._fusion.recipe import Recipe
from .._integers import has_length
from .._passes.resample import INTERPOLATIONS, antialias_value
from .._value_text import value_text
from ..typing import FillByType, PerChannel, ResizeInterpolation
from . import ranges
from .placement import Placement, Sampling
from .transform import Transform

__all__ = ["RandomResize", "RandomShortestSize", "RandomZoomOut", "ScaleJitter"]


class SizeTransform(Transform, has_description=False):
    """A transform that draws, for each sample, the size of its result. A `SizePart` of a recipe runs it.

    Its draws are made on the host, which allocates the results.
    """

    reads_boxes: ClassVar[bool] = False  # whether `place` needs the boxes, and `keeps` removes some

    @property
    def is_fused(self) -> bool:
        return False

    @property
    def sampling(self) -> Sampling:
        """How images are resized and padded."""
        return Sampling()

    def write_draws(self, recipe: Recipe) -> None:
        """Append the draws to a recipe."""
        raise NotImplementedError

    def place(
        self, sizes: np.ndarray, draw: Callable[[Any, int], np.ndarray], boxes: Sequence[np.ndarray]
    ) -> Placement:
        """What each sample's result shows.

        Args:
            sizes: (H, W) of the images. [N, 2]
            draw: Function of sample indices and a repetition, which returns their numbers [len(indices), columns]:
                repetition 0 first; 1, 2, ... draw again for samples whose numbers were rejected (`HostDraws.table`).
            boxes: Left, top, right, bottom of each sample's boxes; () if there are none. N arrays [B_i, 4]
        """
        raise NotImplementedError

    def keeps(self, edges: Any, placement_edges: Any) -> Any:
        """Which boxes stay, as booleans [..., B]; called if `reads_boxes`.

        `edges`: left, top, right, bottom of the boxes [..., B, 4]; `placement_edges`: of the part of the image that the
        result shows [..., 4].
        """
        raise NotImplementedError


class RandomZoomOut(SizeTransform):
    """Put the image at a random position of a larger canvas, with a probability (Liu et al. 2016, SSD).

    Args:
        fill: Value of the canvas: a number, or one per channel; masks get 0. Or a dict by type (docs/targets.md).
        side_range: (low, high) of the canvas's sides divided by those of the image, at least 1.
        p: Probability.
    """

    def __init__(self, fill: FillByType = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5) -> None:
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)
        self.side_range: tuple[float, float] = ranges.pair("side_range", side_range, 1.0)
        self.p: float = ranges.probability("p", p)

    @property
    def sampling(self) -> Sampling:
        return Sampling(fill=0 if self.fill is None else self.fill)

    def write_draws(self, recipe: Recipe) -> None:
        with recipe.only_where(recipe.bernoulli("apply", self.p)):
            recipe.uniform("side", *self.side_range, otherwise=1.0)
        recipe.uniform("top", 0.0, 1.0, otherwise=0.0)
        recipe.uniform("left", 0.0, 1.0, otherwise=0.0)

    def place(
        self, sizes: np.ndarray, draw: Callable[[Any, int], np.ndarray], boxes: Sequence[np.ndarray]
    ) -> Placement:
        _, side, top, left = draw(np.arange(len(sizes)), 0).T  # in the order of `write_draws`
        canvas = (sizes * side[:, None]).astype(np.int64)
        corner = ((canvas - sizes) * np.stack([top, left], 1)).astype(np.int64)
        return Placement(np.concatenate([-corner, canvas], 1), canvas)


class SizeJitter(SizeTransform, has_description=False):
    """Resizes the whole image."""

    interpolation: str
    antialias: bool

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.interpolation, self.antialias)

    def place(
        self, sizes: np.ndarray, draw: Callable[[Any, int], np.ndarray], boxes: Sequence[np.ndarray]
    ) -> Placement:
        new_sizes = self.new_sizes(sizes, draw(np.arange(len(sizes)), 0)[:, 0])
        return Placement(np.concatenate([np.zeros_like(sizes), sizes], 1), new_sizes)

    def new_sizes(self, sizes: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """(H, W) of the results, from those of the images and from the drawn numbers. [N, 2]"""
        raise NotImplementedError


class ScaleJitter(SizeJitter):
    """Resize by a drawn factor, relative to a size in which the image fits (Ghiasi et al. 2021, Simple Copy-Paste).

    Args:
        target_size: The size for a factor of 1, as torchvision reads it: the width first, then the height.
        scale_range: (low, high) of the factor.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        antialias: Widen the filter where the image is reduced.
    """

    def __init__(
        self,
        target_size: Sequence[int],
        scale_range: Sequence[float] = (0.1, 2.0),
        interpolation: ResizeInterpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        self.target_size: tuple[int, int] = _check.size("target_size", target_size)
        self.scale_range: tuple[float, float] = ranges.pair("scale_range", scale_range, 0.0)
        if self.scale_range[0] <= 0:
            raise ValueError(f"scale_range must be greater than 0, got {value_text(scale_range)}")
        self.interpolation: str = _check.interpolation(interpolation, INTERPOLATIONS)
        self.antialias: bool = antialias_value(antialias)

    def write_draws(self, recipe: Recipe) -> None:
        recipe.uniform("scale", *self.scale_range, otherwise=1.0)

    def new_sizes(self, sizes: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        return _scaled(sizes, (np.array(self.target_size[::-1]) / sizes).min(1) * drawn)


class RandomShortestSize(SizeJitter):
    """Resize the shorter side to one of several lengths; the longer side follows.

    Args:
        min_size: Length of the shorter side, or the lengths to choose from.
        max_size: Upper limit of the longer side, which makes the image smaller where needed; None: no limit.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        antialias: Widen the filter where the image is reduced.
    """

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: ResizeInterpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        lengths = min_size if has_length(min_size) else [min_size]
        self.min_size: tuple[int, ...] = _sizes.int_or_tuple("min_size", lengths)  # type: ignore[assignment]
        if not self.min_size:
            raise ValueError("min_size must be at least one number, got none")
        self.max_size: int | None = None if max_size is None else _check.integer("max_size", max_size, 1)
        self.interpolation: str = _check.interpolation(interpolation, INTERPOLATIONS)
        self.antialias: bool = antialias_value(antialias)

    def write_draws(self, recipe: Recipe) -> None:
        recipe.randint("index", len(self.min_size), 0, otherwise=0.0)

    def new_sizes(self, sizes: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        factor = np.array(self.min_size)[drawn.astype(int)] / sizes.min(1)
        return _scaled(sizes, factor if self.max_size is None else np.minimum(factor, self.max_size / sizes.max(1)))


class RandomResize(SizeJitter):
    """Resize the shorter side to a drawn length; the longer side follows.

    Args:
        min_size: The smallest length.
        max_size: Lengths are below this number, as torchvision's.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        antialias: Widen the filter where the image is reduced.
    """

    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: ResizeInterpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        self.min_size: int = _check.integer("min_size", min_size, 1)
        self.max_size: int = _check.integer("max_size", max_size, self.min_size + 1)
        self.interpolation: str = _check.interpolation(interpolation, INTERPOLATIONS)
        self.antialias: bool = antialias_value(antialias)

    def write_draws(self, recipe: Recipe) -> None:
        recipe.randint("size", self.max_size - self.min_size, self.min_size, otherwise=0.0)

    def new_sizes(self, sizes: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        rows = zip(sizes.tolist(), drawn.tolist(), strict=True)
        return np.array([_sizes.resized_size((height, width), int(side), None) for (height, width), side in rows])


def _scaled(sizes: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Sizes multiplied by a factor, rounded down, but at least 1. [N, 2]"""
    return np.maximum((sizes * factor[:, None]).astype(np.int64), 1)
