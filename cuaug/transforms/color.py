"""Transforms that change pixel values, with torchvision v2's names, parameters and defaults; one draw per sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _check
from .._arrays.convert import dtype_name
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Column, Pointwise
from .._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES
from .._value_text import value_text
from ..typing import DType, PerChannel
from . import ranges
from .by_type import values_by_kind
from .transform import Transform

__all__ = [
    "ColorJitter",
    "Normalize",
    "RandomChannelPermutation",
    "RandomErasing",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomSolarize",
    "ToDtype",
]

NEVER_REACHED = 1e30  # a threshold; `Solarize` is inactive from 1e20
KEEP_ALL_BITS = 120  # `Posterize` is inactive from 31 bits


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue, in a random order; floats are clamped to 0..1.

    Args:
        brightness: (low, high) of the factor, or a number for 1 - brightness..1 + brightness.
        contrast: As `brightness`; about the mean luma of the image, as torchvision.
        saturation: As `brightness`.
        hue: (low, high) in turns, within -0.5..0.5, or a number for -hue..hue.
        contrast_about: A level, in the images' own range, to use instead of the mean, which is then not computed.
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
        self.brightness: tuple[float, float] = _factors("brightness", brightness)
        self.contrast: tuple[float, float] = _factors("contrast", contrast)
        self.saturation: tuple[float, float] = _factors("saturation", saturation)
        self.hue: tuple[float, float] = (0.0, 0.0) if hue is None else ranges.around("hue", hue, 0.0, -0.5, 0.5)
        self.contrast_about: float | None = (
            None if contrast_about is None else ranges.number("contrast_about", contrast_about)
        )

    def write(self, recipe: Recipe) -> None:
        needs_mean = self.contrast_about is None and self.contrast != (1.0, 1.0)
        if needs_mean or self.saturation != (1.0, 1.0) or self.hue != (0.0, 0.0):
            _check.channels(recipe.channels, 1, 3)
        order = recipe.draw("Permutation", [f"order_{i}" for i in range(4)], 4, integer_range=(0, 3))
        brightness = recipe.uniform("brightness_factor", *self.brightness, otherwise=1.0)
        saturation = recipe.uniform("saturation_factor", *self.saturation, otherwise=1.0)
        hue = recipe.uniform("hue_factor", *self.hue, otherwise=0.0)
        contrast = recipe.uniform("contrast_factor", *self.contrast, otherwise=1.0)
        before_mean = [*order, brightness, saturation, hue]
        if needs_mean:
            _add_jitter_about_mean(recipe, before_mean, contrast)
        else:
            level = recipe.constant("about", self.contrast_about or 0.0, max_value=recipe.max_value)
            recipe.add_pointwise("ColorJitter", [*before_mean, contrast, level])


class RandomPhotometricDistort(Transform):
    """Brightness, contrast, saturation, hue and the order of the channels, each with a probability (Liu et al. 2016).

    Contrast comes before saturation and hue, or after them, equally likely. Floats are clamped to 0..1; images have 1
    or 3 channels.

    Args:
        brightness: (low, high) of the factor.
        contrast: (low, high) of the factor; about the mean luma of the image.
        saturation: (low, high) of the factor.
        hue: (low, high) in turns, within -0.5..0.5.
        p: Probability of each change.
    """

    def __init__(
        self,
        brightness: Sequence[float] = (0.875, 1.125),
        contrast: Sequence[float] = (0.5, 1.5),
        saturation: Sequence[float] = (0.5, 1.5),
        hue: Sequence[float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        self.brightness: tuple[float, float] = ranges.pair("brightness", brightness, 0.0)
        self.contrast: tuple[float, float] = ranges.pair("contrast", contrast, 0.0)
        self.saturation: tuple[float, float] = ranges.pair("saturation", saturation, 0.0)
        self.hue: tuple[float, float] = ranges.pair("hue", hue, -0.5, 0.5)
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        _check.channels(recipe.channels, 1, 3)
        factors = dict[str, Column]()
        for name, identity in (("brightness", 1.0), ("contrast", 1.0), ("saturation", 1.0), ("hue", 0.0)):
            low, high = getattr(self, name)
            with recipe.only_where(recipe.bernoulli(f"apply_{name}", self.p)):
                factors[name] = recipe.uniform(f"{name}_factor", low, high, otherwise=identity)
        # Steps as in kernels/ops/color_jitter.cuh: 0 brightness, 1 contrast, 2 saturation, 3 hue.
        contrast_second, contrast_last = (0, 1, 2, 3), (0, 2, 3, 1)
        with recipe.only_where(recipe.bernoulli("contrast_before", 0.5)):
            steps = enumerate(zip(contrast_second, contrast_last, strict=True))
            order = [recipe.constant(f"order_{i}", *step, integer_range=(0, 3)) for i, step in steps]
        before_mean = [*order, factors["brightness"], factors["saturation"], factors["hue"]]
        _add_jitter_about_mean(recipe, before_mean, factors["contrast"])
        with recipe.only_where(recipe.bernoulli("apply_permutation", self.p)):
            _add_permutation(recipe)


class RandomGrayscale(Transform):
    """Convert to luma in three equal channels, with a probability."""

    def __init__(self, p: float = 0.1) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        _check.channels(recipe.channels, 1, 3)
        recipe.add_pointwise("RandomGrayscale", [recipe.bernoulli("grey", self.p)])


class RandomChannelPermutation(Transform):
    """Put the channels in a random order; images have 1 to 4 channels."""

    def __init__(self) -> None:
        pass

    def write(self, recipe: Recipe) -> None:
        _add_permutation(recipe)


class RandomInvert(Transform):
    """Invert the images, ``max - value``, with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        # Inversion is solarization with a threshold below every value.
        column = recipe.bernoulli(
            "threshold", self.p, if_true=-NEVER_REACHED, if_false=NEVER_REACHED, max_value=recipe.max_value
        )
        recipe.add_pointwise("Solarize", [column], needs_integer_levels=True)


class RandomSolarize(Transform):
    """Invert values at or above a threshold, in the images' own range, with a probability.

    A threshold above the largest value of the images' dtype (1 for floats) is a ValueError when the recipe is planned.
    """

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        self.threshold: float = ranges.number("threshold", threshold)
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        if self.threshold > recipe.max_value:
            rule = f"at most {recipe.max_value:g} for {recipe.dtype} images"
            hint = ": pass threshold / 255 for a level of uint8 images" if recipe.max_value == 1 else ""
            raise ValueError(f"threshold must be {rule}, got {self.threshold:g}{hint}")
        column = recipe.bernoulli(
            "threshold", self.p, if_true=self.threshold, if_false=NEVER_REACHED, max_value=recipe.max_value
        )
        recipe.add_pointwise("Solarize", [column], needs_integer_levels=True)


class RandomPosterize(Transform):
    """Keep the upper bits, with a probability.

    Args:
        bits: 0 to 16.
        p: Probability.
    """

    def __init__(self, bits: int, p: float = 0.5) -> None:
        self.bits: int = _check.integer("bits", bits, 0, 16)
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add_pointwise(
            "Posterize",
            [recipe.bernoulli("bits", self.p, if_true=self.bits, if_false=KEEP_ALL_BITS)],
            needs_integer_levels=True,
        )


class RandomErasing(Transform):
    """Fill a box, with a probability (Zhong et al. 2017).

    Args:
        p: Probability.
        scale: (low, high) of the box's share of the image's area.
        ratio: (low, high) of the box's height divided by its width, uniform in its logarithm.
        value: In the images' own range: a number, or one per channel.
        inplace: Accepted for torchvision's signature; images are never written.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: PerChannel | str = 0.0,
        inplace: bool = False,
    ) -> None:
        if isinstance(value, str):
            raise ValueError(f"value must be a number or one per channel, got {value_text(value)}")
        self.p: float = ranges.probability("p", p)
        self.scale: tuple[float, float] = ranges.pair("scale", scale, 0.0, 1.0)
        self.ratio: tuple[float, float] = ranges.pair("ratio", ratio, 0.0)
        if self.ratio[0] <= 0:
            raise ValueError(f"ratio must be greater than 0, got {value_text(ratio)}")
        self.value: float | tuple[float, ...] = ranges.number_or_tuple("value", value)

    def write(self, recipe: Recipe) -> None:
        with recipe.only_where(recipe.bernoulli("apply", self.p)):
            # torchvision's ratio is height by width here. The reciprocals are in descending order: the logarithm is
            # drawn from the first to the second.
            box_range = ranges.box_range(self.scale, (1 / self.ratio[0], 1 / self.ratio[1]))
            box = recipe.draw("RandomErasing", ("i", "j", "h", "w"), *recipe.size, *box_range)
        values = ranges.per_channel("value", self.value, recipe.channels)
        columns = [recipe.constant(f"v_{c}", value, max_value=recipe.max_value) for c, value in enumerate(values)]
        recipe.add_pointwise("Erase", [*box, *columns])


class Normalize(Transform):
    """Subtract a mean and divide by a standard deviation, per channel; both are for values in 0..1, of every dtype.

    Integer images become float32, unless a :class:`ToDtype` follows. For them a mean or standard deviation outside
    -2..2 is a ValueError when the recipe is planned: pass that of the levels divided by their largest value, 255 for
    uint8. For float images every number is accepted. ``inplace`` is accepted for torchvision's signature.
    """

    def __init__(self, mean: PerChannel, std: PerChannel, inplace: bool = False) -> None:
        self.mean: float | tuple[float, ...] = ranges.number_or_tuple("mean", mean)
        self.std: float | tuple[float, ...] = ranges.number_or_tuple("std", std)
        if 0 in (self.std if isinstance(self.std, tuple) else (self.std,)):
            raise ValueError(f"std must not be 0, got {value_text(std)}")

    def write(self, recipe: Recipe) -> None:
        columns = []
        for name, values, otherwise in (("mean", self.mean, 0.0), ("std", self.std, 1.0)):
            for c, value in enumerate(ranges.per_channel(name, values, recipe.channels)):
                _check.scaled_statistic(name, value, recipe.dtype)
                if name == "std":
                    _check.divisor(name, value, recipe.dtype)
                columns.append(recipe.constant(f"{name}_{c}", value, otherwise))
        if "float" not in recipe.dtype:
            recipe.add_cast("float32", scale=True)
        recipe.add_pointwise("Normalize", columns)


class ToDtype(Transform):
    """Convert to another dtype; ``scale`` maps 0..max of one dtype to 0..max of the other, which is 1 for floats.

    Args:
        dtype: Of images; boxes, keypoints and labels keep theirs. Or torchvision's dict by type, which may have a dtype
            for images and one for masks: ``{tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64}``. None:
            images keep their dtype.
        scale: Scale images. Masks are never scaled.
        mask_dtype: Of masks; None: masks keep their dtype.
    """

    def __init__(
        self,
        dtype: DType | Mapping[Any, DType | None] | None = "float32",
        scale: bool = False,
        *,
        mask_dtype: DType | None = None,
    ) -> None:
        if isinstance(dtype, Mapping):
            by_kind = values_by_kind("dtype", dtype)
            for kind in ("boxes", "keypoints", "others"):
                if getattr(by_kind, kind) is not None:
                    raise ValueError(f"dtype must have dtypes for images and masks only, got one for {kind}")
            dtype, mask_dtype = by_kind.images, by_kind.masks or mask_dtype
        self.dtype: str | None = None if dtype is None else dtype_name(dtype)
        self.scale: bool = _check.boolean("scale", scale)
        self.mask_dtype: str | None = None if mask_dtype is None else dtype_name(mask_dtype)
        if self.dtype is not None:
            _check.one_of("dtype", self.dtype, IMAGE_DTYPES)
        if self.mask_dtype is not None:
            _check.one_of("mask_dtype", self.mask_dtype, tuple(dict.fromkeys(LABEL_DTYPES + IMAGE_DTYPES)))

    def write(self, recipe: Recipe) -> None:
        if self.dtype is not None:
            recipe.add_cast(self.dtype, self.scale)
        if self.mask_dtype is not None:
            recipe.add_mask_cast(self.mask_dtype)


def _factors(name: str, value: Any) -> tuple[float, float]:
    return (1.0, 1.0) if value is None else ranges.around(name, value, 1.0, 0.0)


def _add_permutation(recipe: Recipe) -> None:
    """All orders of the channels are equally likely; samples whose gate is closed keep theirs."""
    count = recipe.channels
    _check.channels(count, 1, 2, 3, 4)
    names = [f"permutation_{c}" for c in range(count)]
    permutation = recipe.draw("Permutation", names, count, integer_range=(0, count - 1))
    recipe.add_pointwise("PermuteChannels", permutation)


def _add_jitter_about_mean(recipe: Recipe, before_mean: Sequence[Column], contrast: Column) -> None:
    """`ColorJitter` with contrast about the mean. `before_mean`: the order, and the factors of the other steps."""
    centre = Column("")  # without a draw: the pass that computes the mean fills the column
    columns = [*before_mean, contrast, centre]
    parts = Pointwise("JitterBeforeMean", columns[:-1]), Pointwise("JitterAfterMean", columns, mean=centre)
    recipe.add_pointwise("ColorJitter", columns, mean=centre, parts_at_mean=parts)
