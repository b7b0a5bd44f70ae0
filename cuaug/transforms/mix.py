"""Transforms that make a sample out of two of the batch, and the labels that go with them."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._fusion.recipe import Column, Mixed, Recipe
from ..mix import mix_labels
from . import ranges as _ranges
from .params import Params
from .transform import Transform


class MixUp(Transform):
    """Blend each sample with the one before it: :func:`cuaug.mixup`.

    Args:
        alpha: The sample's own share is drawn from Beta(alpha, alpha), for each sample anew.
        num_classes: Of labels that are classes, see :func:`mixed_labels`.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        self.alpha, self.num_classes = _ranges.positive("alpha", alpha), _classes(num_classes)

    def write(self, recipe: Recipe) -> None:
        partner, lam = _drawn(recipe, self.alpha)
        recipe.add(Mixed("Mixup", [partner, lam], lam, self.num_classes))


class CutMix(Transform):
    """Paste a box of the sample before, at its own place: :func:`cuaug.cutmix`.

    Args:
        alpha: The share that is kept is drawn from Beta(alpha, alpha), for each sample anew, and is then that of the
            pixels that the box, cut off at the canvas, leaves.
        num_classes: Of labels that are classes, see :func:`mixed_labels`.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        self.alpha, self.num_classes = _ranges.positive("alpha", alpha), _classes(num_classes)

    def write(self, recipe: Recipe) -> None:
        partner, lam = _drawn(recipe, self.alpha)
        box = recipe.draw("CutMixBox", ("top", "left", "height", "width"), *recipe.size, lam)
        recipe.add(Mixed("Cutmix", [partner, *box], lam, self.num_classes))


def mixed_labels(params: Params, labels: Any, num_classes: int | None = None) -> Any:
    """Labels mixed as the images are with these parameters; as they came where the recipe mixes none.

    Args:
        params: Drawn by a recipe, see :meth:`Compose.draw`.
        labels: Classes, or shares of them. [N] or [N, classes]
        num_classes: Where labels are classes, how many there are; default: what the transform was made with.

    Returns:
        Shares of classes, float32. [N, classes]
    """
    for each in params.plan.passes:
        for head in each.heads:
            if isinstance(head, Mixed):
                count = head.classes if num_classes is None else num_classes
                labels = mix_labels(labels, params[head.lam.name], num_classes=count)
    return labels


_ITSELF = 2.0**60  # beyond any batch (kernels/records/pointwise.cuh)


def _drawn(recipe: Recipe, alpha: float) -> tuple[Column, Column]:
    """The partner, which is the sample before, and the share that stays."""
    partner = recipe.constant("partner", -1.0, otherwise=_ITSELF)
    return partner, recipe.draw("Beta", ["lam"], alpha, alpha, 1.0)[0]


def _classes(value: Any) -> int | None:
    return None if value is None else _check.whole("num_classes", value, 1)
