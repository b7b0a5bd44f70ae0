"""Transforms that move pixels, with torchvision v2's names, parameters and defaults; every sample has its own draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _check, _option_names
from .._fusion.fill import FillByKind
from .._fusion.recipe import AFFINE_COLUMNS, Recipe
from .._integers import python_value
from .._passes.resample import INTERPOLATIONS, antialias_value
from .._program.functors import BORDERS, SAMPLERS
from .._sizes import int_or_tuple, padding_of, resized_size, square_or_size
from .._value_text import value_text
from ..typing import Border, FillByType, Interpolation, PerChannel, ResizeInterpolation, Size
from . import ranges
from .transform import Transform

__all__ = [
    "CenterCrop",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
]


class RandomHorizontalFlip(Transform):
    """Flip left to right, with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add_flip(recipe.bernoulli("flip", self.p), "x")


class RandomVerticalFlip(Transform):
    """Flip upside down, with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        self.p: float = ranges.probability("p", p)

    def write(self, recipe: Recipe) -> None:
        recipe.add_flip(recipe.bernoulli("flip", self.p), "y")


class RandomResizedCrop(Transform):
    """Crop a box whose area and aspect ratio are drawn, and resize it (Szegedy et al. 2015).

    Args:
        size: Size of the result, (H, W) or one number for both.
        scale: (low, high) of the box's share of the image's area, uniform.
        ratio: (low, high) of the box's width divided by its height, uniform in its logarithm.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        antialias: Widen the filter where the crop is larger than the result.
    """

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: ResizeInterpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        self.size: tuple[int, int] = square_or_size("size", size)
        self.scale: tuple[float, float] = ranges.pair("scale", scale, 0.0)
        self.ratio: tuple[float, float] = ranges.pair("ratio", ratio)
        if self.ratio[0] <= 0:
            raise ValueError(f"ratio must be greater than 0, got {value_text(ratio)}")
        self.interpolation = _check.interpolation(interpolation, INTERPOLATIONS)
        self.antialias: bool = antialias_value(antialias)

    def write(self, recipe: Recipe) -> None:
        names = ("top", "left", "height", "width")
        box = recipe.draw("ResizedCrop", names, *recipe.size, *ranges.box_range(self.scale, self.ratio))
        recipe.add_resize(box, self.size, self.interpolation, self.antialias)


class Resize(Transform):
    """Resize to another size, as :func:`cuaug.resize`."""

    def __init__(
        self,
        size: Size | None,
        interpolation: ResizeInterpolation = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        resized_size((1, 1), size, max_size)  # checks both
        self.size: int | tuple[int, ...] | None = None if size is None else int_or_tuple("size", size)
        self.interpolation = _check.interpolation(interpolation, INTERPOLATIONS)
        self.max_size: int | None = None if max_size is None else int(max_size)
        self.antialias: bool = antialias_value(antialias)

    def write(self, recipe: Recipe) -> None:
        size = resized_size(recipe.size, self.size, self.max_size)
        recipe.resize_image(size, self.interpolation, self.antialias)


class CenterCrop(Transform):
    """Crop the middle of the image; an image that is too small is padded with 0."""

    def __init__(self, size: Size) -> None:
        self.size: tuple[int, int] = square_or_size("size", size)

    def write(self, recipe: Recipe) -> None:
        _pad_to(recipe, self.size, 0, "constant")
        top, left = ((side - crop) / 2 for side, crop in zip(recipe.size, self.size, strict=True))
        corner = [
            recipe.constant("top", round(top), otherwise=0.0),
            recipe.constant("left", round(left), otherwise=0.0),
        ]
        recipe.add_crop(corner, self.size)


class Pad(Transform):
    """Add pixels on each side: :func:`cuaug.pad`; negative numbers crop.

    Args:
        padding: Pixels for all sides, for (left and right, top and bottom), or for (left, top, right, bottom).
        fill: Value of the padding: a number, or one per channel; or a dict by type (docs/targets.md).
        padding_mode: A border mode.
    """

    def __init__(self, padding: Size, fill: FillByType = 0, padding_mode: Border = "constant") -> None:
        _check.one_of("padding_mode", padding_mode, BORDERS, _option_names.BORDERS)
        self.padding: Size = _copied_padding(padding)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)
        self.padding_mode = padding_mode

    def write(self, recipe: Recipe) -> None:
        _pad(recipe, padding_of(self.padding), self.fill, self.padding_mode)


class RandomCrop(Transform):
    """Crop a box of this size at a random position of the image, which may be padded first.

    Args:
        size: (H, W), or one number for both.
        padding: As in :class:`Pad`, or None.
        pad_if_needed: Also pad images that are smaller than the box, on both sides.
        fill: Value of the padding: a number, or one per channel; or a dict by type (docs/targets.md).
        padding_mode: A border mode.
    """

    def __init__(
        self,
        size: Size,
        padding: Size | None = None,
        pad_if_needed: bool = False,
        fill: FillByType = 0,
        padding_mode: Border = "constant",
    ) -> None:
        self.size: tuple[int, int] = square_or_size("size", size)
        _check.one_of("padding_mode", padding_mode, BORDERS, _option_names.BORDERS)
        self.padding: Size | None = None if padding is None else _copied_padding(padding)
        self.pad_if_needed: bool = _check.boolean("pad_if_needed", pad_if_needed)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)
        self.padding_mode = padding_mode

    def write(self, recipe: Recipe) -> None:
        if self.padding is not None:
            _pad(recipe, padding_of(self.padding), self.fill, self.padding_mode)
        if self.pad_if_needed:
            height, width = (max(0, crop - side) for side, crop in zip(recipe.size, self.size, strict=True))
            if height or width:
                _pad(recipe, (width, height, width, height), self.fill, self.padding_mode)
        if any(crop > side for side, crop in zip(recipe.size, self.size, strict=True)):
            raise ValueError(f"size must fit into the image, which is {recipe.size} here, got {self.size}")
        corner = recipe.draw("Crop", ("top", "left"), *recipe.size, *self.size)
        recipe.add_crop(corner, self.size)


class RandomAffine(Transform):
    """Rotate, shift, scale and shear about a point.

    Args:
        degrees: (low, high), or a number for -degrees..degrees; clockwise.
        translate: Largest translations as fractions of width and height, 0 to 1, or None.
        scale: (low, high), or None.
        shear: Degrees: a number, (low, high) of x, or (low x, high x, low y, high y), or None.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image: a number, or one per channel; or a dict by type (docs/targets.md).
        center: (x, y) from the top left corner; default: the middle.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Interpolation = "nearest",
        fill: FillByType = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        self.degrees: tuple[float, float] = ranges.around("degrees", degrees)
        self.translate: tuple[float, float] | None = (
            None if translate is None else ranges.x_and_y("translate", translate, 0, 1)
        )
        self.scale: tuple[float, float] | None = None if scale is None else ranges.pair("scale", scale, 0.0)
        if self.scale is not None and self.scale[0] <= 0:
            raise ValueError(f"scale must be greater than 0, got {value_text(scale)}")
        self.shear: tuple[float, float, float, float] | None = _shears(shear)
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)
        self.center: tuple[float, float] | None = None if center is None else ranges.x_and_y("center", center)

    def write(self, recipe: Recipe) -> None:
        height, width = recipe.size
        max_x, max_y = (t * extent for t, extent in zip(self.translate or (0, 0), (width, height), strict=True))
        shear = self.shear or (0.0, 0.0, 0.0, 0.0)
        columns = [
            recipe.uniform("angle", *self.degrees, otherwise=0.0),
            recipe.uniform("translate_x", -max_x, max_x, otherwise=0.0, rounded=True),
            recipe.uniform("translate_y", -max_y, max_y, otherwise=0.0, rounded=True),
            recipe.uniform("scale", *(self.scale or (1.0, 1.0)), otherwise=1.0),
            recipe.uniform("shear_x", *shear[:2], otherwise=0.0),
            recipe.uniform("shear_y", *shear[2:], otherwise=0.0),
        ]
        recipe.add_affine(columns, self.center, self.interpolation, self.fill, clockwise=True)


class RandomRotation(Transform):
    """Rotate about a point, counter-clockwise as torchvision; the canvas stays as it is.

    Args:
        degrees: (low, high), or a number for -degrees..degrees.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        expand: Must be False: every sample of a batch has the same size.
        center: (x, y) from the top left corner; default: the middle.
        fill: Value outside the image: a number, or one per channel; or a dict by type (docs/targets.md).
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Interpolation = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: FillByType = 0,
    ) -> None:
        if expand:
            raise ValueError("expand must be False: every sample of a batch has the same size; pad before instead")
        self.degrees: tuple[float, float] = ranges.around("degrees", degrees)
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.center: tuple[float, float] | None = None if center is None else ranges.x_and_y("center", center)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    def write(self, recipe: Recipe) -> None:
        angle = recipe.uniform("angle", *self.degrees, otherwise=0.0)
        identity_columns = [recipe.constant(name, float(name == "scale")) for name in AFFINE_COLUMNS[1:]]
        columns = [angle, *identity_columns]
        recipe.add_affine(columns, self.center, self.interpolation, self.fill, clockwise=False)


class RandomPerspective(Transform):
    """Move the four corners inwards, each by its own draw, with a probability.

    Args:
        distortion_scale: 0 to 1: a corner moves by at most this share of half the width and half the height.
        p: Probability.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image: a number, or one per channel; or a dict by type (docs/targets.md).
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Interpolation = "bilinear",
        fill: FillByType = 0,
    ) -> None:
        self.distortion_scale: float = ranges.number("distortion_scale", distortion_scale, 0, 1)
        self.p: float = ranges.probability("p", p)
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    def write(self, recipe: Recipe) -> None:
        names = [
            f"{corner}_{axis}" for corner in ("top_left", "top_right", "bottom_right", "bottom_left") for axis in "xy"
        ]
        with recipe.only_where(recipe.bernoulli("apply", self.p)):
            corners = recipe.draw("PerspectiveCorners", names, *recipe.size, self.distortion_scale)
        options: dict[str, Any] = {"interpolation": self.interpolation, "fill": self.fill}
        recipe.add_geometry("InversePerspective", corners, *recipe.size, reads_border=True, projective=True, **options)


def _copied_padding(padding: Size) -> Size:
    """The padding, checked, and copied so that later changes of the caller's list or array have no effect."""
    padding_of(padding)
    values = python_value(padding)
    return tuple(values) if isinstance(values, list) else values


def _pad(recipe: Recipe, sides: tuple[int, int, int, int], fill: Any, border: str) -> None:
    left, top, right, bottom = sides
    height, width = recipe.size
    size = height + top + bottom, width + left + right
    if min(size) < 1:
        raise ValueError(f"padding must leave pixels, got {sides} for {recipe.size}")
    corner = [recipe.constant("pad_top", -top, otherwise=0.0), recipe.constant("pad_left", -left, otherwise=0.0)]
    options = {"reads_border": max(sides) > 0, "border": border, "fill": fill}
    recipe.add_geometry("InverseTranslate", corner, size=size, pixel_aligned=True, **options)


def _pad_to(recipe: Recipe, size: tuple[int, int], fill: Any, border: str) -> None:
    """Pad to a minimum size, as torchvision: the smaller half above and to the left."""
    height, width = (max(0, minimum - side) for side, minimum in zip(recipe.size, size, strict=True))
    if height or width:
        _pad(recipe, (width // 2, height // 2, (width + 1) // 2, (height + 1) // 2), fill, border)


def _shears(shear: Any) -> tuple[float, float, float, float] | None:
    if shear is None:
        return None
    rule = "a number, (low, high) or (low x, high x, low y, high y)"
    values = python_value(shear)
    if isinstance(values, (int, float)) or (isinstance(values, (list, tuple)) and len(values) == 2):
        return (*ranges.around("shear", values), 0.0, 0.0)
    if not isinstance(values, (list, tuple)) or len(values) != 4:
        raise ValueError(f"shear must be {rule}, got {value_text(shear)}")
    return (*ranges.pair("shear", values[:2]), *ranges.pair("shear", values[2:]))
