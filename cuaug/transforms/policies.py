"""Policies of ops, drawn for each sample: torchvision v2's ops, magnitudes, names and defaults.

A policy has slots, and in each a sample gets one op, so that a slot is one pass. Some samples are moved (rotations,
shifts and shears are one resample), others sharpened, or given other levels (equalized, spread, or by contrast) by a
table that is made first; then colours are changed, which what follows the policy joins. A colour runs for all samples,
with the parameter that changes nothing for those that did not get it. Images are uint8, as in torchvision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import _check
from .._fusion.recipe import (
    CONTRASTED,
    EQUALIZED,
    STRETCHED,
    Blended,
    Branch,
    Column,
    Condition,
    Recipe,
    Relevelled,
    Sharpened,
)
from .._program.records import MAX_BRANCHES
from . import magnitudes as _magnitudes
from . import ranges as _ranges
from .choices import choice
from .color import ALL_BITS, FAR
from .geometry import turned
from .levels import only_bytes
from .policy_tables import POLICIES, Step
from .transform import Transform

_Interpolation = Any  # a name, or torchvision's InterpolationMode


class RandAugment(Transform):
    """So many ops one after the other, each one of 14, all of one magnitude (Cubuk et al. 2020).

    See :mod:`.policies`.

    Args:
        num_ops: Slots.
        magnitude: Which of the bins.
        num_magnitude_bins: From nothing to the strongest.
        interpolation: A name, or torchvision's ``InterpolationMode``.
        fill: Of what lies outside: a number, or one per channel; None is 0.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: _Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        self.num_ops = _check.whole("num_ops", num_ops, 1)
        self.num_magnitude_bins = _check.whole("num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = _check.whole("magnitude", magnitude, 0)
        if self.magnitude >= self.num_magnitude_bins:
            raise ValueError(f"magnitude must be below num_magnitude_bins, {num_magnitude_bins}, got {magnitude}")
        self.interpolation, self.fill = _ranges.interpolation(interpolation), fill

    def write(self, recipe: Recipe) -> None:
        space = _magnitudes.moderate(self.num_magnitude_bins, recipe.size)
        only = {name: values[self.magnitude : self.magnitude + 1] for name, values in space.items()}
        for slot in range(self.num_ops):
            if slot > 0:
                recipe.begin(recipe.name)
            op = choice(recipe, "op", [1.0] * len(_FOURTEEN))
            _Slot(recipe, op, _FOURTEEN, only, -1.0).write(self.interpolation, self.fill)


class TrivialAugmentWide(Transform):
    """One of 14 ops, of any magnitude (Müller and Hutter 2021).

    See :mod:`.policies`.

    Args:
        num_magnitude_bins: From nothing to the strongest, of which one is drawn.
        interpolation: A name, or torchvision's ``InterpolationMode``.
        fill: Of what lies outside: a number, or one per channel; None is 0.
    """

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: _Interpolation = "nearest", fill: Any = None
    ) -> None:
        self.num_magnitude_bins = _check.whole("num_magnitude_bins", num_magnitude_bins, 2)
        self.interpolation, self.fill = _ranges.interpolation(interpolation), fill

    def write(self, recipe: Recipe) -> None:
        op = choice(recipe, "op", [1.0] * len(_FOURTEEN))
        space = _magnitudes.wide(self.num_magnitude_bins)
        _Slot(recipe, op, _FOURTEEN, space, -1.0).write(self.interpolation, self.fill)


class AutoAugment(Transform):
    """One of 25 pairs of ops, each op with its probability and magnitude (Cubuk et al. 2019).

    See :mod:`.policies`.

    Args:
        policy: "imagenet", "cifar10" or "svhn", or torchvision's ``AutoAugmentPolicy``, whose value is one.
        interpolation: A name, or torchvision's ``InterpolationMode``.
        fill: Of what lies outside: a number, or one per channel; None is 0.
    """

    def __init__(self, policy: Any = "imagenet", interpolation: _Interpolation = "nearest", fill: Any = None) -> None:
        self.policy = str(getattr(policy, "value", policy))
        _check.one_of("policy", self.policy, tuple(POLICIES))
        self.interpolation, self.fill = _ranges.interpolation(interpolation), fill

    def write(self, recipe: Recipe) -> None:
        pairs, space = POLICIES[self.policy], _magnitudes.moderate(10, recipe.size)
        # All that may come of it: which pair, and which of its two ops are done.
        outcomes = [
            (i, first, second) for i in range(len(pairs)) for first in (True, False) for second in (True, False)
        ]
        weights = [
            _probability(pairs[i][0], first) * _probability(pairs[i][1], second) for i, first, second in outcomes
        ]
        outcome = choice(recipe, "outcome", weights)
        pair = _looked_up(recipe, "pair", outcome, [i for i, *_ in outcomes])
        for place in range(2):
            if place > 0:
                recipe.begin(recipe.name)
            names = list(dict.fromkeys(["Identity", *(both[place].op for both in pairs)]))
            chosen = [names.index(pairs[i][place].op) if done[place] else 0 for i, *done in outcomes]
            op = _looked_up(recipe, "op", outcome, chosen)
            entries = {name: [values[both[place].magnitude or 0] for both in pairs] for name, values in space.items()}
            _Slot(recipe, op, names, entries, pair).write(self.interpolation, self.fill)


class AugMix(Transform):
    """Chains of random ops side by side, blended with the image and rounded once (Hendrycks et al. 2020).

    The image's own share is drawn from Beta(alpha, alpha), those of the chains in the rest of it from a symmetric
    Dirichlet distribution of alpha. Masks, boxes and keypoints are refused, as each chain moves pixels by itself. A
    chain is slots as those of :mod:`.policies`: with the defaults nine passes, and one to blend. On a GPU those of the
    chains go together, in memory of five batches besides the result.

    Args:
        severity: Of ten strengths of an op, so many of the weakest, one of which is drawn; 1 to 10.
        mixture_width: Chains; at most 8.
        chain_depth: Ops of each chain; -1: 1 to 3, drawn for each.
        alpha: Of both distributions, greater than 0.
        all_ops: Also those of brightness, colour, contrast and sharpness.
        interpolation: A name, or torchvision's ``InterpolationMode``.
        fill: Of what lies outside: a number, or one per channel; None is 0.
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: _Interpolation = "bilinear",
        fill: Any = None,
    ) -> None:
        self.severity = _check.whole("severity", severity, 1)
        if self.severity > 10:
            raise ValueError(f"severity must be in 1..10, got {severity}")
        self.mixture_width = _check.whole("mixture_width", mixture_width, 1)
        if self.mixture_width > MAX_BRANCHES:
            raise ValueError(f"mixture_width must be at most {MAX_BRANCHES}, got {mixture_width}")
        self.chain_depth = chain_depth if chain_depth == -1 else _check.whole("chain_depth", chain_depth, 1)
        self.alpha = _ranges.positive("alpha", alpha)
        self.all_ops, self.interpolation, self.fill = bool(all_ops), _ranges.interpolation(interpolation), fill

    def write(self, recipe: Recipe) -> None:
        # What each takes of what is left over: all together, they are distributed as asked for.
        others = [1, *range(self.mixture_width - 1, 0, -1)]
        shares = [
            recipe.draw("Beta", [f"share_{i}"], self.alpha, self.alpha * count, 1.0)[0]
            for i, count in enumerate(others)
        ]
        for chain in range(self.mixture_width):
            recipe.add(Branch(first=chain == 0))
            self._write_chain(recipe)
        recipe.add(Blended(shares))

    def _write_chain(self, recipe: Recipe) -> None:
        recipe.begin(recipe.name)
        if self.chain_depth > 0:
            for _ in range(self.chain_depth):
                self._write_step(recipe)
            return
        depth = recipe.draw("RandInt", ["depth"], 3, 1.0, 0.0)[0]
        self._write_step(recipe)
        for step in (1, 2):
            further = _looked_up(recipe, "further", depth, [float(step < each) for each in range(4)])
            with recipe.only_where(further):
                self._write_step(recipe)

    def _write_step(self, recipe: Recipe) -> None:
        names = _FOURTEEN[1:] if self.all_ops else [name for name in _FOURTEEN[1:] if name not in _FACTORS]
        space = {name: values[: self.severity] for name, values in _magnitudes.blended(recipe.size).items()}
        recipe.begin(recipe.name)
        op = choice(recipe, "op", [1.0] * len(names))
        _Slot(recipe, op, names, space, -1.0).write(self.interpolation, self.fill)


_FACTORS = ("Brightness", "Color", "Contrast", "Sharpness")
_FOURTEEN = (
    *("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast"),
    *("Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"),
)


_LEVELS = {"Equalize": EQUALIZED, "AutoContrast": STRETCHED, "Contrast": CONTRASTED}


def _probability(step: Step, done: bool) -> float:
    return step.probability if done else 1.0 - step.probability


def _looked_up(recipe: Recipe, name: str, index: Column, entries: Sequence[float]) -> Column:
    return recipe.draw("ListValue", [name], index, 0.0, -1.0, 0.0, len(entries), *entries)[0]


class _Slot(NamedTuple):
    """One op of each sample."""

    recipe: Recipe
    op: Column  # which of the names
    names: Sequence[str]
    entries: Mapping[str, Sequence[float]]  # of each op, its magnitudes
    at: Column | float  # the column that says which of them, or -1: any

    def write(self, interpolation: str, fill: Any) -> None:
        only_bytes(self.recipe)
        self._turn({"interpolation": interpolation, "fill": 0 if fill is None else fill})
        if self._has("Sharpness"):
            factor = self._drawn("Sharpness", 1.0, plus=1.0)
            self.recipe.add(Sharpened([factor], only=(self._only(["Sharpness"]),)))
        if self._has(*_LEVELS):
            wanted = [_LEVELS.get(name, 0.0) for name in self.names]
            (levels,) = self.recipe.draw("ListValue", ["levels"], self.op, 0.0, 0.0, 0.0, len(wanted), *wanted)
            contrast = self._drawn("Contrast", 1.0, plus=1.0)
            self.recipe.add(Relevelled([levels, contrast], only=(self._only(_LEVELS),)))
        self._colour()

    def _turn(self, how: dict[str, Any]) -> None:
        """Two maps, as shears are about the corner, of which a sample takes one: one resample."""
        about_middle, about_corner = ("Rotate", "TranslateX", "TranslateY"), ("ShearX", "ShearY")
        angle, across, down = (self._drawn(name, 0.0) for name in about_middle)
        scale, *still = (self._still(name) for name in ("scale", "shear_x", "shear_y"))
        if self._has(*about_middle):
            turned(self.recipe, [angle, across, down, scale, *still], None, only=(self._only(about_middle),), **how)
        shears = [self._drawn(name, 0.0) for name in about_corner]
        if self._has(*about_corner):
            still = [self._still(name) for name in ("angle", "translate_x", "translate_y", "scale")]
            turned(self.recipe, [*still, *shears], (0, 0), only=(self._only(about_corner),), **how)

    def _colour(self) -> None:
        recipe, white = self.recipe, self.recipe.white
        if self._has("Brightness"):
            recipe.pointwise("AdjustBrightness", [self._drawn("Brightness", 1.0, plus=1.0)])
        if self._has("Color"):
            recipe.pointwise("AdjustSaturation", [self._drawn("Color", 1.0, plus=1.0)])
        if self._has("Posterize"):
            recipe.pointwise("Posterize", [self._drawn("Posterize", ALL_BITS)], ranged=True)
        if self._has("Solarize"):
            recipe.pointwise("Solarize", [self._drawn("Solarize", FAR, times=white, white=white)], ranged=True)
        if self._has("Invert"):
            with recipe.only_where(self.op, self.names.index("Invert")):
                recipe.pointwise("Solarize", [recipe.constant("Invert", -FAR, FAR, white=white)], ranged=True)

    def _has(self, *names: str) -> bool:
        return any(name in self.names for name in names)

    def _only(self, names: Iterable[str]) -> Condition:
        return self.op, frozenset(float(self.names.index(name)) for name in names if name in self.names)

    def _still(self, name: str) -> Column:
        return self.recipe.constant(name, float(name == "scale"))

    def _drawn(
        self, name: str, otherwise: float, plus: float = 0.0, times: float = 1.0, white: float | None = None
    ) -> Column:
        """The magnitude where the op is chosen, of either sign where it has one."""
        if not self._has(name):
            return self.recipe.constant(name, otherwise)
        with self.recipe.only_where(self.op, self.names.index(name)):
            entries, signed = [times * value for value in self.entries[name]], name in _magnitudes.SIGNED
            arguments = self.at, float(signed), otherwise, plus, len(entries), *entries
            return self.recipe.draw("ListValue", [name], *arguments, white=white)[0]
