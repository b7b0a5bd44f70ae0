"""Policies, which draw ops for each sample: torchvision v2's ops, magnitudes, names and defaults.

A policy has slots, and each sample gets one op per slot, so that a slot is one pass (`policy_slot.py`).
"""

from __future__ import annotations

import itertools

from .. import _check
from .._fusion.fill import FillByKind
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Blend, Branch
from .._integers import integer_value
from .._program.functors import SAMPLERS
from .._program.records import MAX_BRANCHES
from ..typing import AutoAugmentPolicy, FillByType, Interpolation, PerChannel
from . import magnitudes, ranges
from .policy_slot import ANY_MAGNITUDE, STANDARD_OPS, PolicySlot, draw_lookup
from .policy_tables import POLICIES, PolicyStep
from .transform import Transform

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]

_MAX_BINS = 1 << 12  # the recipe's program stores a number per bin and op
_MAX_SLOTS = 32  # one after the other; each is a pass, and each has draws
_FACTOR_OPS = ("Brightness", "Color", "Contrast", "Sharpness")


class RandAugment(Transform):
    """`num_ops` ops one after the other, each drawn from 14, all of one magnitude (Cubuk et al. 2020).

    Each of the ops is one pass for all samples.

    Args:
        num_ops: Number of slots, at most 32.
        magnitude: Index of the magnitude bin.
        num_magnitude_bins: Number of bins from no effect to the strongest, 2 to 4096.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image, as of :class:`RandomAffine`; None is 0.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: FillByType | None = None,
    ) -> None:
        self.num_ops: int = _check.integer("num_ops", num_ops, 1, _MAX_SLOTS)
        self.num_magnitude_bins: int = _check.integer("num_magnitude_bins", num_magnitude_bins, 2, _MAX_BINS)
        self.magnitude: int = _check.integer("magnitude", magnitude, 0)
        if self.magnitude >= self.num_magnitude_bins:
            raise ValueError(f"magnitude must be below num_magnitude_bins, {num_magnitude_bins}, got {magnitude}")
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    @property
    def draw_position_count(self) -> int:
        return self.num_ops

    def write(self, recipe: Recipe) -> None:
        by_op = magnitudes.standard_magnitudes(self.num_magnitude_bins, recipe.size)
        one_magnitude = {name: values[self.magnitude : self.magnitude + 1] for name, values in by_op.items()}
        for slot in range(self.num_ops):
            if slot > 0:
                recipe.begin(recipe.name)
            op = recipe.choice("op", [1.0] * len(STANDARD_OPS))
            PolicySlot(recipe, op, STANDARD_OPS, one_magnitude, ANY_MAGNITUDE).write(self.interpolation, self.fill)


class TrivialAugmentWide(Transform):
    """One op of 14, of any magnitude (Müller and Hutter 2021).

    The op is one pass for all samples.

    Args:
        num_magnitude_bins: Number of bins from no effect to the strongest, 2 to 4096; one is drawn.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image, as of :class:`RandomAffine`; None is 0.
    """

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Interpolation = "nearest", fill: FillByType | None = None
    ) -> None:
        self.num_magnitude_bins: int = _check.integer("num_magnitude_bins", num_magnitude_bins, 2, _MAX_BINS)
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    def write(self, recipe: Recipe) -> None:
        op = recipe.choice("op", [1.0] * len(STANDARD_OPS))
        by_op = magnitudes.wide_magnitudes(self.num_magnitude_bins)
        PolicySlot(recipe, op, STANDARD_OPS, by_op, ANY_MAGNITUDE).write(self.interpolation, self.fill)


class AutoAugment(Transform):
    """One of 25 pairs of ops, each op with its probability and magnitude (Cubuk et al. 2019).

    Each of the two ops is one pass for all samples.

    Args:
        policy: "imagenet", "cifar10" or "svhn", or torchvision's ``AutoAugmentPolicy``.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image, as of :class:`RandomAffine`; None is 0.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = "imagenet",
        interpolation: Interpolation = "nearest",
        fill: FillByType | None = None,
    ) -> None:
        self.policy: str = str(getattr(policy, "value", policy))
        _check.one_of("policy", self.policy, tuple(POLICIES))
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    @property
    def draw_position_count(self) -> int:
        return 2

    def write(self, recipe: Recipe) -> None:
        pairs, by_op = POLICIES[self.policy], magnitudes.standard_magnitudes(10, recipe.size)
        # Each outcome: the index of the pair, and whether its first and its second op run.
        outcomes = list(itertools.product(range(len(pairs)), (True, False), (True, False)))
        weights = [
            _probability(pairs[i][0], first) * _probability(pairs[i][1], second) for i, first, second in outcomes
        ]
        outcome = recipe.choice("outcome", weights)
        pair = draw_lookup(recipe, "pair", outcome, [i for i, *_ in outcomes])
        for slot in range(2):
            if slot > 0:
                recipe.begin(recipe.name)
            steps = [pair_steps[slot] for pair_steps in pairs]
            names = list(dict.fromkeys(["Identity", *(step.op for step in steps)]))
            op_indices = [names.index(steps[i].op) if runs[slot] else 0 for i, *runs in outcomes]
            op = draw_lookup(recipe, "op", outcome, op_indices)
            by_pair = {name: [values[step.magnitude or 0] for step in steps] for name, values in by_op.items()}
            PolicySlot(recipe, op, names, by_pair, pair).write(self.interpolation, self.fill)


class AugMix(Transform):
    """Chains of random ops side by side, blended with the image and rounded once (Hendrycks et al. 2020).

    The weight of the image is drawn from Beta(alpha, alpha); the chains divide the rest by a symmetric Dirichlet
    distribution of alpha. Masks, boxes and keypoints raise an error, as each chain moves pixels by itself. An op
    of a chain is one pass for all samples: with the defaults nine passes, and one to blend. On a GPU, passes of
    different chains are batched launches, which need memory for five batches besides the result.

    Args:
        severity: Each magnitude is drawn from the `severity` weakest of ten; 1 to 10.
        mixture_width: Number of chains; at most 8.
        chain_depth: Ops of each chain, at most 32; -1: 1 to 3, drawn for each sample and chain.
        alpha: Parameter of both distributions, greater than 0 and at most 1e6.
        all_ops: Also brightness, colour, contrast and sharpness.
        interpolation: A name, or a member of torchvision's or Pillow's enumeration.
        fill: Value outside the image, as of :class:`RandomAffine`; None is 0.
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Interpolation = "bilinear",
        fill: FillByType | None = None,
    ) -> None:
        self.severity: int = _check.integer("severity", severity, 1, 10)
        self.mixture_width: int = _check.integer("mixture_width", mixture_width, 1, MAX_BRANCHES)
        depth = integer_value("chain_depth", chain_depth)
        self.chain_depth: int = -1 if depth == -1 else _check.integer("chain_depth", depth, 1, _MAX_SLOTS)
        self.alpha: float = ranges.beta_shape("alpha", alpha)
        self.all_ops: bool = _check.boolean("all_ops", all_ops)
        self.interpolation = _check.interpolation(interpolation, SAMPLERS)
        self.fill: PerChannel | FillByKind | None = ranges.fill(fill)

    @property
    def draw_position_count(self) -> int:
        # Of the transform, and for each chain of its start and its slots: one `Recipe.begin` each.
        return 1 + self.mixture_width * (1 + (self.chain_depth if self.chain_depth > 0 else 3))

    def write(self, recipe: Recipe) -> None:
        # Stick-breaking: independent fractions of the weight still left, from Beta(alpha, alpha * count), give the
        # Dirichlet distribution. For the image, count is 1: all chains count as one. For each chain but the last, count
        # is the number of chains after it.
        counts = [1, *range(self.mixture_width - 1, 0, -1)]
        fractions = [
            recipe.beta(f"share_{i}", self.alpha, self.alpha * count, otherwise=1.0) for i, count in enumerate(counts)
        ]
        for chain in range(self.mixture_width):
            recipe.add(Branch(is_first=chain == 0))
            self._write_chain(recipe)
        recipe.add(Blend(fractions))

    def _write_chain(self, recipe: Recipe) -> None:
        recipe.begin(recipe.name)
        if self.chain_depth > 0:
            for _ in range(self.chain_depth):
                self._write_slot(recipe)
            return
        depth = recipe.randint("depth", count=3, first=1, otherwise=0.0)
        self._write_slot(recipe)
        for slot in (1, 2):
            runs = draw_lookup(recipe, "further", depth, [float(slot < possible_depth) for possible_depth in range(4)])
            with recipe.only_where(runs):
                self._write_slot(recipe)

    def _write_slot(self, recipe: Recipe) -> None:
        excluded = ("Identity",) if self.all_ops else ("Identity", *_FACTOR_OPS)
        names = [name for name in STANDARD_OPS if name not in excluded]
        by_op = magnitudes.augmix_magnitudes(recipe.size)
        weakest = {name: values[: self.severity] for name, values in by_op.items()}
        recipe.begin(recipe.name)
        op = recipe.choice("op", [1.0] * len(names))
        PolicySlot(recipe, op, names, weakest, ANY_MAGNITUDE).write(self.interpolation, self.fill)


def _probability(step: PolicyStep, runs: bool) -> float:
    return step.probability if runs else 1.0 - step.probability
