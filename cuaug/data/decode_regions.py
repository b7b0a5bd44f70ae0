"""The part of each image that a recipe reads, known before any image is decoded.

A recipe that begins with a crop of fixed output size (`RandomResizedCrop`, `Resize` and `CenterCrop`, or `RandomCrop`)
reads only the pixels under the crop. If the crop is much larger than its output, a reduced resolution is enough.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _sizes
from .._fusion.draw_kernel import draw_on_host
from .._fusion.program import assemble
from .._fusion.recipe import Recipe
from .._host.extension import extension
from ..transforms import CenterCrop, Compose, RandomCrop, RandomResizedCrop, Resize
from ..transforms.transform import Transform
from ..typing import InterpolationName

# Upper bound of the distance at which a filter reads pixels: in output pixels if the image is reduced, otherwise in
# input pixels.
FILTER_RADIUS = {"nearest": 0, "area": 0, "bilinear": 1, "bicubic": 2, "lanczos": 4}

# A subclass that overrides `write` may do something else, so methods are compared, not classes.
_CROP_WRITES = {RandomResizedCrop.write, Resize.write, RandomCrop.write}


class CropBoxes(NamedTuple):
    """A box of each image, and the size to which it is resized."""

    box: np.ndarray  # top, left, height, width [N, 4]
    size: np.ndarray  # (H, W), with the margin [N, 2]
    margin: np.ndarray  # rows and columns removed after the resize: top, left, bottom, right [N, 4]


@dataclass(frozen=True)
class CropPlan:
    """How the first transforms of a recipe choose one box of each image and resize it to `size`."""

    transforms: tuple[Transform, ...]  # the transforms that the plan replaces
    size: tuple[int, int]  # (H, W) of the resized box
    interpolation: InterpolationName = "nearest"
    antialias: bool = False
    first_position: int = 0  # position of the crop's draw in the recipe

    @property
    def has_resize(self) -> bool:
        """False if the boxes have the output size already."""
        return not isinstance(self.transforms[0], RandomCrop)

    @property
    def min_size(self) -> tuple[int, int]:
        """The smallest image size that is accepted."""
        return (1, 1) if self.has_resize else self.size

    def crop_boxes(self, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> CropBoxes:
        """Boxes of images of these sizes [N, (H, W)]."""
        first = self.transforms[0]
        if isinstance(first, (RandomResizedCrop, RandomCrop)):
            return self._with_margin(self._draw_boxes(sizes, seed, step, ids), np.zeros((len(sizes), 4), int))
        assert isinstance(first, Resize)
        resized_sizes = np.array([_sizes.resized_size((h, w), first.size, None) for h, w in sizes.tolist()], np.int64)
        resized_sizes = resized_sizes.reshape(-1, 2)
        corner = np.rint((resized_sizes - self.size) / 2)
        # The filter reads pixels beyond the crop, up to the edges of the image.
        radius = np.ceil(FILTER_RADIUS[self.interpolation] * np.maximum(1.0, resized_sizes / sizes))
        before = np.minimum(radius, corner).astype(int)
        after = np.minimum(radius, resized_sizes - self.size - corner).astype(int)
        box = np.concatenate(
            [(corner - before) * sizes / resized_sizes, (before + self.size + after) * sizes / resized_sizes], 1
        )
        return self._with_margin(box, np.concatenate([before, after], 1))

    @functools.cached_property
    def _draw_program(self) -> tuple[np.ndarray, np.ndarray]:
        """The program of the crop's draw, and its arguments; the first two are an image's size."""
        transform = self.transforms[0]
        # `append_to` adds 1 to the position.
        recipe = Recipe(self.size, 3, "uint8", position=self.first_position - 1)
        transform.append_to(recipe)
        draw = recipe.draws[0]
        # The compilation of a whole recipe sets these indices. Here the draw is alone: its columns and its arguments
        # begin at 0.
        for index, column in enumerate(draw.columns):
            column.index = index
        draw.sample_arguments_offset = 0
        return assemble([draw]), np.array(draw.arguments, np.float64)

    def _draw_boxes(self, sizes: np.ndarray, seed: int, step: int, ids: np.ndarray) -> np.ndarray:
        boxes = np.empty((len(sizes), 4))
        boxes[:, 2:] = self.size  # a RandomCrop draws the corner alone
        program, arguments = self._draw_program
        sample_arguments = np.tile(arguments, (len(sizes), 1))
        sample_arguments[:, :2] = sizes
        draw_on_host(program, boxes, np.ascontiguousarray(ids, np.int64), seed, step, sample_arguments)
        return boxes

    def _with_margin(self, box: np.ndarray, margin: np.ndarray) -> CropBoxes:
        return CropBoxes(box, np.array(self.size) + margin[:, :2] + margin[:, 2:], margin)


def crop_plan(recipe: Compose) -> CropPlan | None:
    """The crop that a recipe begins with; None if it reads whole images."""
    first, second = (*recipe.transforms[:2], None, None)[:2]
    if first is None or type(first).write not in _CROP_WRITES or not first.is_fused:
        return None
    if isinstance(first, RandomResizedCrop):
        return CropPlan((first,), first.size, first.interpolation, first.antialias, recipe.first_position)
    if isinstance(first, Resize):
        return _resize_plan(first, second)
    if isinstance(first, RandomCrop) and first.padding is None and not first.pad_if_needed:
        return CropPlan((first,), first.size, first_position=recipe.first_position)
    return None


def _resize_plan(first: Resize, second: Any) -> CropPlan | None:
    if first.max_size is not None:
        return None
    sampling = first.interpolation, first.antialias
    sides = (first.size,) if isinstance(first.size, int) else first.size or ()
    if len(sides) == 2:
        return CropPlan((first,), sides, *sampling)
    if len(sides) != 1 or second is None or type(second).write is not CenterCrop.write or not second.is_fused:
        return None
    if max(second.size) > sides[0]:
        return None
    return CropPlan((first, second), second.size, *sampling)


def decode_regions(crops: CropBoxes, sizes: np.ndarray, scalable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The region to decode of each image, and its crop box in the decoded region.

    Args:
        crops: One crop per image.
        sizes: (H, W) of the images. [N, 2]
        scalable: Whether an image can be decoded at a fraction of its resolution. [N]

    Returns:
        Denominator of the scale (1, 2, 4 or 8), then top, left, height, width in pixels of the scaled image [N, 5];
        boxes in that region [N, 4].
    """
    regions, boxes = np.empty((len(sizes), 5), np.int64), np.empty((len(sizes), 4))
    extension().choose_decode_regions(crops.box, crops.size, sizes, scalable, regions, boxes)
    return regions, boxes
