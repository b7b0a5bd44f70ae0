"""One slot of a policy: each sample gets one op, and the slot is one pass.

Rotations, translations and shears are one resample of the samples that get them. Sharpening and the
ops of a histogram are overrides of the same pass. The colour ops come last; later transforms may add ops to the same
pass. A colour op runs for every sample, with the parameter that changes nothing for samples that got another op. Images
are uint8, as in torchvision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .._fusion.recipe import AFFINE_COLUMNS, Recipe
from .._fusion.recipe_ops import AUTOCONTRAST, CONTRAST, EQUALIZE, Column, Condition, HistogramLut, Sharpen
from . import magnitudes
from .color import KEEP_ALL_BITS, NEVER_REACHED

STANDARD_OPS = (
    *("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast"),
    *("Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"),
)
ANY_MAGNITUDE = -1.0  # in place of the column of indices: `ListValue` draws an index for each sample
_ABOUT_MIDDLE = ("Rotate", "TranslateX", "TranslateY")
_ABOUT_CORNER = ("ShearX", "ShearY")
_HISTOGRAM_KINDS = {"Equalize": EQUALIZE, "AutoContrast": AUTOCONTRAST, "Contrast": CONTRAST}
_KIND_RANGE = 0, int(max(_HISTOGRAM_KINDS.values()))


def draw_lookup(
    recipe: Recipe,
    name: str,
    index: Column,
    entries: Sequence[float],
    otherwise: float = -1.0,
    integer_range: tuple[int, int] | None = None,
) -> Column:
    """A column with the entry at each sample's index; `otherwise` if the index is negative or the gate closed.

    `integer_range`: as in `Column`.
    """
    signed, plus = 0.0, 0.0
    list_value = recipe.draw(
        "ListValue", [name], index, signed, otherwise, plus, len(entries), *entries, integer_range=integer_range
    )
    return list_value[0]


class PolicySlot(NamedTuple):
    """Names of ops, and for each sample the drawn one and its magnitude."""

    recipe: Recipe
    op: Column  # the index of the sample's op in `names`
    names: Sequence[str]
    magnitudes: Mapping[str, Sequence[float]]  # by op
    magnitude_index: Column | float  # the column with the index of the sample's magnitude, or ANY_MAGNITUDE

    def write(self, interpolation: str, fill: Any) -> None:
        self.recipe.require_uint8()
        self._write_geometry({"interpolation": interpolation, "fill": 0 if fill is None else fill})
        if self._has("Sharpness"):
            factor = self._draw_magnitude("Sharpness", 1.0, plus=1.0)
            self.recipe.add(Sharpen([factor], applies_to=(self._gets_one_of(["Sharpness"]),)))
        if self._has(*_HISTOGRAM_KINDS):
            kinds = [_HISTOGRAM_KINDS.get(name, 0.0) for name in self.names]
            kind = draw_lookup(self.recipe, "levels", self.op, kinds, otherwise=0.0, integer_range=_KIND_RANGE)
            contrast = self._draw_magnitude("Contrast", 1.0, plus=1.0)
            self.recipe.add(HistogramLut([kind, contrast], applies_to=(self._gets_one_of(_HISTOGRAM_KINDS),)))
        self._write_colours()

    def _write_geometry(self, options: dict[str, Any]) -> None:
        """Two coordinate maps, as shears are about the corner. A sample gets at most one: they are one resample."""
        options = options | {"clockwise": False}
        angle, x, y = (self._draw_magnitude(name, 0.0) for name in _ABOUT_MIDDLE)
        identity_columns = [self._identity(name) for name in AFFINE_COLUMNS[3:]]
        if self._has(*_ABOUT_MIDDLE):
            applies_to = (self._gets_one_of(_ABOUT_MIDDLE),)
            self.recipe.add_affine([angle, x, y, *identity_columns], None, applies_to=applies_to, **options)
        shears = [self._draw_magnitude(name, 0.0) for name in _ABOUT_CORNER]
        if self._has(*_ABOUT_CORNER):
            identity_columns = [self._identity(name) for name in AFFINE_COLUMNS[:4]]
            applies_to = (self._gets_one_of(_ABOUT_CORNER),)
            self.recipe.add_affine([*identity_columns, *shears], (0, 0), applies_to=applies_to, **options)

    def _write_colours(self) -> None:
        recipe, max_value = self.recipe, self.recipe.max_value
        if self._has("Brightness"):
            recipe.add_pointwise("AdjustBrightness", [self._draw_magnitude("Brightness", 1.0, plus=1.0)])
        if self._has("Color"):
            recipe.add_pointwise("AdjustSaturation", [self._draw_magnitude("Color", 1.0, plus=1.0)])
        if self._has("Posterize"):
            bits = self._draw_magnitude("Posterize", KEEP_ALL_BITS)
            recipe.add_pointwise("Posterize", [bits], needs_integer_levels=True)
        if self._has("Solarize"):
            threshold = self._draw_magnitude("Solarize", NEVER_REACHED, times=max_value, max_value=max_value)
            recipe.add_pointwise("Solarize", [threshold], needs_integer_levels=True)
        if self._has("Invert"):
            with recipe.only_where(self.op, self.names.index("Invert")):
                threshold = recipe.constant("Invert", -NEVER_REACHED, otherwise=NEVER_REACHED, max_value=max_value)
                recipe.add_pointwise("Solarize", [threshold], needs_integer_levels=True)

    def _has(self, *names: str) -> bool:
        return any(name in self.names for name in names)

    def _gets_one_of(self, names: Iterable[str]) -> Condition:
        return self.op, frozenset(float(self.names.index(name)) for name in names if name in self.names)

    def _identity(self, name: str) -> Column:
        return self.recipe.constant(name, float(name == "scale"))

    def _draw_magnitude(
        self, name: str, otherwise: float, plus: float = 0.0, times: float = 1.0, max_value: float | None = None
    ) -> Column:
        """For samples that get the op: `plus` + `times` * its magnitude, with a random sign if the op is signed.

        For all other samples: `otherwise`.
        """
        if not self._has(name):
            return self.recipe.constant(name, otherwise)
        with self.recipe.only_where(self.op, self.names.index(name)):
            entries = [times * value for value in self.magnitudes[name]]
            signed = float(name in magnitudes.SIGNED)
            arguments = self.magnitude_index, signed, otherwise, plus, len(entries), *entries
            return self.recipe.draw("ListValue", [name], *arguments, max_value=max_value)[0]
