"""What of each image a recipe will look at, known before anything is decoded.

A recipe that begins by taking one box of the image to a fixed size (`RandomResizedCrop`, `Resize` and `CenterCrop`,
`RandomCrop`) needs that box alone, and if it is much larger than the result, at a fraction of its resolution.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _sizes
from .._fusion import draw_kernel as _draws
from .._fusion.program import assembled
from .._fusion.recipe import Recipe
from .._host import extension as _cpu
from ..transforms import CenterCrop, Compose, RandomCrop, RandomResizedCrop, Resize
from ..transforms.transform import Transform

# How far a filter looks beyond the middle of a pixel: in pixels of the result where it reduces, of the source where it
# enlarges.
_REACH = {"nearest": 0, "bilinear": 1, "area": 1, "bicubic": 2, "lanczos": 4}


_WRITES = {RandomResizedCrop.write, Resize.write, RandomCrop.write}


class Boxes(NamedTuple):
    """What is wanted of each image, and as what it is made."""

    box: np.ndarray  # top, left, height, width [N, 4]
    size: np.ndarray  # (H, W) with the margin [N, 2]
    margin: np.ndarray  # what is made on each side of the result, and cut off: down, across [N, 2]


@dataclass(frozen=True)
class Regions:
    """A box of each image, to be resized to `size`."""

    transforms: tuple[Transform, ...]  # those that it does
    size: tuple[int, int]
    interpolation: str = "nearest"
    antialias: bool = False
    position: int = 0  # in the recipe, of what is drawn

    @property
    def resizes(self) -> bool:
        """Whether boxes are anything but the result itself."""
        return not isinstance(self.transforms[0], RandomCrop)

    @property
    def least(self) -> tuple[int, int]:
        """The smallest image that will do."""
        return (1, 1) if self.resizes else self.size

    def boxes(self, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> Boxes:
        """Of images of these sizes [N, (H, W)]."""
        first = self.transforms[0]
        if isinstance(first, (RandomResizedCrop, RandomCrop)):
            return self._boxes(self._drawn(sizes, seed, step, ids), np.zeros(sizes.shape, int))
        assert isinstance(first, Resize)
        resized = np.array([_sizes.resized_size((h, w), first.size, None) for h, w in sizes.tolist()], np.int64)
        resized = resized.reshape(-1, 2)
        corner = np.rint((resized - self.size) / 2)
        # A filter looks beyond the crop, as far as there is anything.
        far = np.ceil(_REACH[self.interpolation] * np.maximum(1.0, resized / sizes))
        margin = np.minimum(far, np.minimum(corner, resized - self.size - corner)).astype(int)
        box = np.concatenate([(corner - margin) * sizes / resized, (self.size + 2 * margin) * sizes / resized], 1)
        return self._boxes(box, margin)

    @functools.cached_property
    def _program(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the one draw, and its arguments, which begin with an image's size."""
        transform = self.transforms[0]
        recipe = Recipe(self.size, 3, "uint8", position=self.position - 1)
        transform.append_to(recipe)
        draw = recipe.draws[0]
        for index, column in enumerate(draw.columns):
            column.index = index
        draw.sample_arguments_offset = 0
        return assembled([draw]), np.array(draw.arguments, np.float64)

    def _drawn(self, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> np.ndarray:
        table = np.empty((len(sizes), 4))
        table[:, 2:] = self.size  # of a crop, whose draw is its corner alone
        program, arguments = self._program
        own = np.tile(arguments, (len(sizes), 1))
        own[:, :2] = sizes
        _draws.draw_each(program, table, np.ascontiguousarray(ids, np.int64), (seed, step), own)
        return table

    def _boxes(self, box: np.ndarray, margin: np.ndarray) -> Boxes:
        return Boxes(box, np.array(self.size) + 2 * margin, margin)


def regions_of(recipe: Compose) -> Regions | None:
    """What a recipe begins with; None: it looks at images as they are."""
    first, second = (*recipe.transforms[:2], None, None)[:2]
    if getattr(type(first), "write", None) not in _WRITES:  # a subclass does something else
        return None
    if isinstance(first, RandomResizedCrop):
        return Regions((first,), first.size, first.interpolation, first.antialias, recipe.first_position)
    if isinstance(first, Resize):
        return _resized(first, second)
    if isinstance(first, RandomCrop) and first.padding is None and not first.pad_if_needed:
        return Regions((first,), first.size, position=recipe.first_position)
    return None


def _resized(first: Resize, second: Any) -> Regions | None:
    if first.max_size is not None:
        return None
    how = first.interpolation, first.antialias
    if not isinstance(first.size, int):
        fixed = first.size if first.size is not None and len(first.size) == 2 else None
        return None if fixed is None else Regions((first,), fixed, *how)
    if not isinstance(second, CenterCrop) or max(second.size) > first.size:
        return None
    return Regions((first, second), second.size, *how)


def covered(boxes: Boxes, sizes: np.ndarray, scalable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What to decode of images of these sizes, and where the boxes lie in that.

    Args:
        boxes: Of the images.
        sizes: (H, W). [N, 2]
        scalable: Whether an image can be decoded at a fraction of its resolution. [N]

    Returns:
        Scale (one over), top, left, height, width in pixels of the scaled image [N, 5]; the boxes there [N, 4].
    """
    regions, within = np.empty((len(sizes), 5), np.int64), np.empty((len(sizes), 4))
    _cpu.extension().choose_decode_regions(boxes.box, boxes.size, sizes, scalable, regions, within)
    return regions, within
