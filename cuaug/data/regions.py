"""What of each image a recipe will look at, known before anything is decoded.

A recipe that begins by taking one box of the image to a fixed size (`RandomResizedCrop`, `Resize` and `CenterCrop`,
`RandomCrop`) needs that box alone, and if it is much larger than the result, at a fraction of its resolution.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _pass, _sizes
from ..fusion.program import assembled
from ..fusion.recipe import Recipe
from ..transforms import CenterCrop, Compose, RandomCrop, RandomResizedCrop, Resize
from ..transforms._transform import Transform

SCALES = (8, 4, 2, 1)  # a decoder leaves out so many pixels but one
# How far, in pixels of the result, a filter looks beyond the middle of a pixel; where it enlarges, up to a third more.
_REACH = {"nearest": 0, "bilinear": 1, "area": 1, "bicubic": 2, "lanczos": 3}


@dataclass(frozen=True)
class Regions:
    """A box of each image, to be resized to `size`; `margin` pixels around the result are made, and cut off."""

    transforms: tuple[Transform, ...]  # those that it does
    size: tuple[int, int]
    interpolation: str
    antialias: bool
    margin: int = 0

    @property
    def made(self) -> tuple[int, int]:
        """The size with its margin."""
        return self.size[0] + 2 * self.margin, self.size[1] + 2 * self.margin

    @property
    def resizes(self) -> bool:
        """Whether boxes are anything but the result itself."""
        return not isinstance(self.transforms[0], RandomCrop)

    @property
    def least(self) -> tuple[int, int]:
        """The smallest image that will do."""
        return (1, 1) if self.resizes else self.size

    def boxes(self, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> np.ndarray:
        """Of images of these sizes [N, (H, W)]: top, left, height, width. [N, 4]"""
        first = self.transforms[0]
        if not isinstance(first, Resize):
            return _drawn(first, sizes, seed, step, ids)
        resized = [_sizes.resized_size((h, w), first.size, None) for h, w in sizes.tolist()]
        resized = np.array(resized, np.int64).reshape(-1, 2)
        corner = np.rint((resized - self.size) / 2) - self.margin
        return np.concatenate([corner * sizes / resized, self.made * sizes / resized], 1)


def regions_of(transform: Any) -> Regions | None:
    """What a recipe begins with; None: it looks at images as they are."""
    transforms = list(transform._flat()) if isinstance(transform, Compose) else [transform]
    first, second = (*transforms[:2], None, None)[:2]
    if isinstance(first, RandomResizedCrop):
        return Regions((first,), first.size, first.interpolation, first.antialias)
    if isinstance(first, Resize):
        return _resized(first, second)
    if isinstance(first, RandomCrop) and first.padding is None and not first.pad_if_needed:
        return Regions((first,), first.size, "nearest", False)
    return None


def _resized(first: Resize, second: Any) -> Regions | None:
    how = first.interpolation, first.antialias
    if not isinstance(first.size, int):
        fixed = first.size if first.size is not None and len(first.size) == 2 else None
        return None if fixed is None else Regions((first,), fixed, *how)
    if not isinstance(second, CenterCrop) or first.max_size is not None or max(second.size) > first.size:
        return None
    # A filter looks beyond the crop, where there is anything.
    margin = min(_REACH[first.interpolation], (first.size - max(second.size)) // 2)
    return Regions((first, second), second.size, *how, margin)


def _drawn(transform: Transform, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> np.ndarray:
    recipe = Recipe(getattr(transform, "size"), 3, "uint8")
    transform.enter(recipe)
    draw = recipe.draws[0]
    for place, column in enumerate(itertools.chain.from_iterable(each.columns for each in recipe.draws)):
        column.place = place
    program, table = assembled([draw]), np.empty((len(sizes), 4))
    table[:, 2:] = transform.size  # of a crop, whose draw is its corner alone
    sizes, ids = np.ascontiguousarray(sizes, np.float64), np.ascontiguousarray(ids, np.int64)
    _pass.draw_each(program, table, ids, (seed, step, 0), sizes)
    return table


def covered(
    boxes: np.ndarray, sizes: np.ndarray, size: tuple[int, int], scalable: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What to decode for boxes that are resized to `size`, and where the boxes lie in that.

    Args:
        boxes: Of images, [N, 4]
        sizes: of this size, [N, 2]
        size: resized to this one.
        scalable: Whether an image can be decoded at a fraction of its resolution. [N]

    Returns:
        Scale (one over), top, left, height, width in pixels of the scaled image [N, 5]; the boxes there [N, 4].
    """
    enough = (boxes[:, None, 2:] / np.array(SCALES)[:, None] >= np.array(size)).all(2) & scalable[:, None]
    enough[:, -1] = True
    scale = np.array(SCALES)[enough.argmax(1)][:, None]
    scaled = -(-sizes // scale)
    first = np.clip(np.floor(boxes[:, :2] / scale), 0, scaled - 1)
    end = np.clip(np.ceil((boxes[:, :2] + boxes[:, 2:]) / scale), first + 1, scaled)
    regions = np.concatenate([scale, first, end - first], 1).astype(np.int64)
    return regions, np.concatenate([boxes[:, :2] / scale - first, boxes[:, 2:] / scale], 1)
