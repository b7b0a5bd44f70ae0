"""Transforms that change pixels: torchvision v2's names, parameters and defaults, with one draw for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _check
from .._arrays.convert import dtype_name
from .._fusion.recipe import Blur, Column, Pointwise, Recipe
from . import ranges as _ranges
from .transform import Transform


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue, in a random order.

    Args:
        brightness: (low, high) of the factor, or a number for 1 - brightness..1 + brightness.
        contrast: Likewise; about the image's own mean luma, as torchvision.
        saturation: Likewise.
        hue: (low, high) in turns, within -0.5..0.5, or a number for -hue..hue.
        contrast_about: A level, in the images' own range, to use instead of the mean, which then needs not be taken.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] | None = None,
        contrast: float | Sequence[float] | None = None,
        saturation: float | Sequence[float] | None = None,
        hue: float | Sequence[float] | None = None,
        *,
        contrast_about: float | None = None,
    ) -> None:
        self.brightness = _factors("brightness", brightness)
        self.contrast = _factors("contrast", contrast)
        self.saturation = _factors("saturation", saturation)
        self.hue = (0.0, 0.0) if hue is None else _ranges.around("hue", hue, 0.0, -0.5, 0.5)
        self.contrast_about = None if contrast_about is None else _ranges.number("contrast_about", contrast_about)

    def write(self, recipe: Recipe) -> None:
        own = self.contrast_about is None and self.contrast != (1.0, 1.0)
        if own or self.saturation != (1.0, 1.0) or self.hue != (0.0, 0.0):
            _demand_colours(recipe)
        order = recipe.draw("Permutation", [f"order_{i}" for i in range(4)], 4)
        brightness = recipe.uniform("brightness_factor", *self.brightness, otherwise=1.0)
        saturation = recipe.uniform("saturation_factor", *self.saturation, otherwise=1.0)
        hue = recipe.uniform("hue_factor", *self.hue, otherwise=0.0)
        contrast = recipe.uniform("contrast_factor", *self.contrast, otherwise=1.0)
        if not own:
            about = recipe.constant("about", self.contrast_about or 0.0, white=recipe.white)
            recipe.pointwise("ColorJitter", [*order, brightness, saturation, hue, contrast, about])
            return
        first, about = [*order, brightness, saturation, hue], Column("")
        columns = [*first, contrast, about]
        halves = Pointwise("JitterBeforeMean", first), Pointwise("JitterAfterMean", columns, mean=about)
        recipe.pointwise("ColorJitter", columns, mean=about, halves=halves)


class RandomGrayscale(Transform):
    """Three equal channels of luma, with a probability."""

    def __init__(self, p: float = 0.1) -> None:
        self.p = _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        _demand_colours(recipe)
        recipe.pointwise("RandomGrayscale", [recipe.chance("grey", self.p)])


class RandomInvert(Transform):
    """The negative, with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        # Solarizing from a threshold below all values on.
        column = recipe.chance("threshold", self.p, yes=-FAR, no=FAR, white=recipe.white)
        recipe.pointwise("Solarize", [column], ranged=True)


class RandomSolarize(Transform):
    """Invert what is at or above a threshold, in the images' own range, with a probability."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        self.threshold, self.p = _ranges.number("threshold", threshold), _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        column = recipe.chance("threshold", self.p, yes=self.threshold, no=FAR, white=recipe.white)
        recipe.pointwise("Solarize", [column], ranged=True)


class RandomPosterize(Transform):
    """Keep the upper bits, with a probability."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        self.bits, self.p = _check.whole("bits", bits, 0), _ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.pointwise("Posterize", [recipe.chance("bits", self.p, yes=self.bits, no=ALL_BITS)], ranged=True)


class RandomErasing(Transform):
    """Paint a box, with a probability (Zhong et al. 2017).

    Args:
        p: Probability.
        scale: Share of the image's area.
        ratio: Height by width.
        value: In the images' own range: a number, or one per channel.
        inplace: Accepted for torchvision's sake: images are never written.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0.0,
        inplace: bool = False,
    ) -> None:
        if isinstance(value, str):
            raise ValueError(f"value must be a number or one per channel, got {value!r}")
        self.p = _ranges.probability("p", p)
        self.scale, self.ratio = _ranges.pair("scale", scale, 0.0, 1.0), _ranges.pair("ratio", ratio, 0.0)
        if self.ratio[0] <= 0:
            raise ValueError(f"ratio must be greater than 0, got {ratio!r}")
        self.value = value if isinstance(value, (int, float)) else tuple(value)

    def write(self, recipe: Recipe) -> None:
        with recipe.only_where(recipe.chance("apply", self.p)):
            # A ratio is height by width here, and its logarithm is drawn from the first end to the second.
            ends = _ranges.box(self.scale, (1 / self.ratio[0], 1 / self.ratio[1]))
            box = recipe.draw("RandomErasing", ("i", "j", "h", "w"), *recipe.size, *ends)
        values = _ranges.per_channel("value", self.value, recipe.channels)
        columns = [recipe.constant(f"v_{c}", value, white=recipe.white) for c, value in enumerate(values)]
        recipe.pointwise("Erase", [*box, *columns])


class Normalize(Transform):
    """Subtract a mean and divide by a standard deviation, by channel: for values in 0..1, also of integers.

    Integer images become float32, unless a :class:`ToDtype` follows.
    """

    def __init__(self, mean: Sequence[float] | float, std: Sequence[float] | float, inplace: bool = False) -> None:
        self.mean = mean if isinstance(mean, (int, float)) else tuple(mean)
        self.std = std if isinstance(std, (int, float)) else tuple(std)
        if 0 in (self.std if isinstance(self.std, tuple) else (self.std,)):
            raise ValueError(f"std must not be 0, got {std!r}")

    def write(self, recipe: Recipe) -> None:
        if "float" not in recipe.dtype:
            recipe.cast("float32", True)
        mean = [
            recipe.constant(f"mean_{c}", v, 0.0)
            for c, v in enumerate(_ranges.per_channel("mean", self.mean, recipe.channels))
        ]
        std = [
            recipe.constant(f"std_{c}", v, 1.0)
            for c, v in enumerate(_ranges.per_channel("std", self.std, recipe.channels))
        ]
        recipe.pointwise("Normalize", [*mean, *std])


class ToDtype(Transform):
    """Another dtype; ``scale`` takes 0..max of an integer dtype for 0..1 of a float one."""

    def __init__(self, dtype: Any = "float32", scale: bool = False) -> None:
        if isinstance(dtype, dict):
            raise TypeError("dtype must be that of the images, as masks, boxes and labels keep theirs, got a dict")
        self.dtype, self.scale = dtype_name(dtype), bool(scale)
        _check.one_of("dtype", self.dtype, _check.IMAGE_DTYPES)

    def write(self, recipe: Recipe) -> None:
        recipe.cast(self.dtype, self.scale)


class GaussianBlur(Transform):
    """A Gaussian window, whose sigma is drawn.

    Args:
        kernel_size: Odd: (x, y), or one number for both.
        sigma: (low, high) in pixels, or a number for just that.
    """

    def __init__(self, kernel_size: Sequence[int] | int, sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        both = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        self.kernel_size = _check.size("kernel_size", both)
        if not all(extent % 2 for extent in self.kernel_size):
            raise ValueError(f"kernel_size must be odd, got {kernel_size!r}")
        self.sigma = _ranges.pair("sigma", (sigma, sigma) if isinstance(sigma, (int, float)) else sigma)
        if self.sigma[0] <= 0:
            raise ValueError(f"sigma must be greater than 0, got {sigma!r}")

    def write(self, recipe: Recipe) -> None:
        sigma = recipe.uniform("sigma", *self.sigma, otherwise=0.0)
        recipe.add(Blur(self.kernel_size, [sigma]))


FAR = 1e30  # a threshold that no value reaches
ALL_BITS = 120  # more than images have: all that float32 holds from 2**-96 to 1 is whole multiples of 2**-120


def _factors(name: str, value: Any) -> tuple[float, float]:
    return (1.0, 1.0) if value is None else _ranges.around(name, value, 1.0, 0.0)


def _demand_colours(recipe: Recipe) -> None:
    if recipe.channels not in (1, 3):
        raise ValueError(f"images must have 1 or 3 channels, got {recipe.channels}")
