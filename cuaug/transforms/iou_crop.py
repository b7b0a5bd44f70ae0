"""`RandomIoUCrop`: a crop that overlaps at least one box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import _check
from .._detection.box_pairs import compare_pairs
from .._fusion.recipe import Recipe
from .._value_text import value_text
from . import ranges
from .placement import Placement, edges_of
from .several_sizes import SizeTransform

__all__ = ["RandomIoUCrop"]

# With the default options each repetition is the last one with a probability of at least 1/7 (the option 1): fewer than
# one image in 10**17 needs more. Such an image stays whole.
_MAX_REPETITIONS = 256


class RandomIoUCrop(SizeTransform):
    """Crop a box that overlaps a valid box of the sample by at least a drawn IoU (Liu et al. 2016, SSD).

    Boxes whose centres are outside of the crop become ``(0, 0, 0, 0)`` and are not valid: ``Boxes(compact=True)``, or
    :class:`SanitizeBoundingBoxes` after the transform, removes them. The crop is a view of the image. The host chooses
    the crops: boxes and their "valid" on a GPU are copied to the host, which waits for the device; those on the host
    wait for nothing.

    Args:
        min_scale: Smallest height and width of the crop, divided by those of the image.
        max_scale: Largest height and width, likewise.
        min_aspect_ratio: Smallest width of the crop divided by its height.
        max_aspect_ratio: Largest width divided by the height.
        sampler_options: Values of the minimal IoU to choose from; 1 or more leaves the image as it is. Default: 0, 0.1,
            0.3, 0.5, 0.7, 0.9 and 1.
        trials: Crops that are tried for each choice; after them the choice is made again.
    """

    reads_boxes: ClassVar[bool] = True

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: Sequence[float] | None = None,
        trials: int = 40,
    ) -> None:
        self.min_scale: float = ranges.number("min_scale", min_scale, 0.0, 1.0)
        self.max_scale: float = ranges.number("max_scale", max_scale, self.min_scale, 1.0)
        self.min_aspect_ratio: float = ranges.number("min_aspect_ratio", min_aspect_ratio, 0.0)
        self.max_aspect_ratio: float = ranges.number("max_aspect_ratio", max_aspect_ratio, self.min_aspect_ratio)
        options = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0) if sampler_options is None else sampler_options
        self.sampler_options: tuple[float, ...] = ranges.numbers("sampler_options", options, "a list of numbers")
        if not self.sampler_options:
            raise ValueError(f"sampler_options must be at least one number, got {value_text(sampler_options)}")
        self.trials: int = _check.integer("trials", trials, 1, 1024)

    def write_draws(self, recipe: Recipe) -> None:
        recipe.randint("option", len(self.sampler_options), 0, otherwise=0.0)
        for trial in range(self.trials):
            for name in ("height", "width"):
                recipe.uniform(f"{name}_{trial}", self.min_scale, self.max_scale, otherwise=1.0)
            for name in ("top", "left"):
                recipe.uniform(f"{name}_{trial}", 0.0, 1.0, otherwise=0.0)

    def place(
        self, sizes: np.ndarray, draw: Callable[[Any, int], np.ndarray], boxes: Sequence[np.ndarray]
    ) -> Placement:
        crops = np.concatenate([np.zeros_like(sizes), sizes], 1)
        edges, options = _padded(boxes), np.array(self.sampler_options)
        # A crop needs a box whose centre is inside, and thus in the image: other samples stay whole.
        undecided = np.flatnonzero(self.keeps(edges, edges_of(crops)[:, None]).any(-1))
        for repetition in range(_MAX_REPETITIONS):
            if not len(undecided):
                break
            table = draw(undecided, repetition)
            min_iou, trials = options[table[:, 0].astype(int)], table[:, 1:].reshape(-1, self.trials, 2, 2)
            tried = min_iou < 1.0
            undecided, trials = undecided[tried], trials[tried]
            candidates, accepted = self._candidates(sizes[undecided], trials, edges[undecided], min_iou[tried])
            first, found = accepted.argmax(1), accepted.any(1)
            crops[undecided[found]] = candidates[found, first[found]]
            undecided = undecided[~found]
        return Placement(crops, crops[:, 2:])

    def keeps(self, edges: Any, placement_edges: Any) -> Any:
        left, top, right, bottom = (placement_edges[..., i] for i in range(4))
        x, y = (0.5 * (edges[..., i] + edges[..., i + 2]) for i in (0, 1))
        return (left < x) & (x < right) & (top < y) & (y < bottom)

    def _candidates(
        self, sizes: np.ndarray, trials: np.ndarray, edges: np.ndarray, min_iou: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The crops (top, left, height, width) of all trials, and which are accepted. [N, T, 4], [N, T]

        `trials`: fractions of the height and the width, then of the free space above and to the left. [N, T, 2, (y, x)]
        """
        size = sizes[:, None]
        extent = (size * trials[:, :, 0]).astype(np.int64)
        corner = ((size - extent) * trials[:, :, 1]).astype(np.int64)
        ratio = extent[..., 1] / np.maximum(extent[..., 0], 1)
        usable = (extent > 0).all(-1) & (ratio >= self.min_aspect_ratio) & (ratio <= self.max_aspect_ratio)
        crops = np.concatenate([corner, extent], -1)
        crop_edges = edges_of(crops)
        centre_is_inside = self.keeps(edges[:, None], crop_edges[:, :, None])
        iou = compare_pairs(crop_edges.astype(np.float64), edges)
        overlap = np.where(centre_is_inside, iou, -1.0).max(-1, initial=-1.0)
        return crops, usable & (overlap >= np.maximum(min_iou, 0.0)[:, None])


def _padded(boxes: Sequence[np.ndarray]) -> np.ndarray:
    """The boxes of each sample as one array, with NaN after them. [N, B, 4]"""
    edges = np.full((len(boxes), max(map(len, boxes), default=0), 4), np.nan)
    for sample_edges, sample_boxes in zip(edges, boxes, strict=True):
        sample_edges[: len(sample_boxes)] = sample_boxes
    return edges
