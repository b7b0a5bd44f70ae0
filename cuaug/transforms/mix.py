"""Transforms that mix two samples of a batch, and their labels."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._check import prefix_errors
from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Column, Mix
from ..mix import mix_labels
from . import ranges
from .params import Params, check_params
from .transform import Transform

__all__ = ["CutMix", "MixUp", "mixed_labels"]

# Values of the partner's column that are not indices (`partner_of` of kernels/records/pointwise.cuh).
_SAMPLE_BEFORE = -1.0  # the previous sample; for the first sample, the last one
_NO_PARTNER = 2.0**60  # the sample itself: no batch has this index


class MixUp(Transform):
    """Blend each sample with the one before it: :func:`cuaug.mixup`.

    Args:
        alpha: The sample's weight is drawn from Beta(alpha, alpha), for each sample anew; at most 1e6.
        num_classes: Number of classes of integer labels, see :func:`mixed_labels`.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        self.alpha: float = ranges.beta_shape("alpha", alpha)
        self.num_classes: int | None = _class_count(num_classes)

    def write(self, recipe: Recipe) -> None:
        partner, lam = _draw_partner(recipe, self.alpha)
        recipe.add(Mix("Mixup", self.title, [partner, lam], lam, self.num_classes))


class CutMix(Transform):
    """Paste a box of the sample before, at the same place: :func:`cuaug.cutmix`.

    Args:
        alpha: The fraction to keep is drawn from Beta(alpha, alpha), for each sample anew; at most 1e6. The sample's
            weight is the fraction of pixels outside the box, which is cut off at the canvas.
        num_classes: Number of classes of integer labels, see :func:`mixed_labels`.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        self.alpha: float = ranges.beta_shape("alpha", alpha)
        self.num_classes: int | None = _class_count(num_classes)

    def write(self, recipe: Recipe) -> None:
        partner, lam = _draw_partner(recipe, self.alpha)
        # The draw also sets `lam` to the fraction outside the clipped box, with which labels are mixed.
        box = recipe.draw("CutMixBox", ("top", "left", "height", "width"), *recipe.size, lam)
        recipe.add(Mix("Cutmix", self.title, [partner, *box], lam, self.num_classes))


@prefix_errors
def mixed_labels(params: Params, labels: Any, num_classes: int | None = None) -> Any:
    """Labels mixed as these parameters mix images; unchanged if the recipe mixes none.

    Args:
        params: Drawn by a recipe, see :meth:`Compose.draw`.
        labels: Class indices, or weights per class. [N] or [N, classes]
        num_classes: Number of classes of integer labels; default: the transform's.

    Returns:
        Weights per class, float32; class indices out of range on a GPU give NaN, as in :func:`cuaug.mix_labels`.
        [N, classes]

    Raises:
        TypeError: `params` were not drawn by a recipe.
        ValueError: The number of classes is missing, or a host class index is out of range.
    """
    check_params(params)
    for pass_ in params.plan.passes:
        for op in pass_.first_ops:
            if isinstance(op, Mix):
                count = op.classes if num_classes is None else num_classes
                labels = mix_labels(labels, params[op.lam.name], num_classes=count)
    return labels


def _draw_partner(recipe: Recipe, alpha: float) -> tuple[Column, Column]:
    """The partner, which is the sample before, and the weight of the sample itself."""
    partner = recipe.constant("partner", _SAMPLE_BEFORE, otherwise=_NO_PARTNER)
    return partner, recipe.beta("lam", alpha, alpha, otherwise=1.0)


def _class_count(value: Any) -> int | None:
    return None if value is None else _check.class_count(value)
