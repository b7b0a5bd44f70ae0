"""What a recipe looks at, of a batch of encoded images: decoded, and brought to one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..crop_resize import resized_crop
from .decode_regions import Regions, covered
from .decoding import Encoded, Slots
from .targets import NumPyPlace

_ROOM = 1 << 29  # bytes of slots that may be wasted


class Boxes:
    """A box of each, as drawn by (seed, step, ids), at the size that is wanted."""

    def __init__(self, encoded: Encoded, wanted: Regions, draw: tuple[int, int, np.ndarray]) -> None:
        sizes = encoded.sizes
        if (sizes < wanted.least).any():
            for i in np.flatnonzero((sizes < wanted.least).any(1)):
                encoded.bad.setdefault(int(i), f"its size {tuple(sizes[i].tolist())} is below {wanted.least}")
            sizes = np.maximum(sizes, wanted.least)  # of what is bad, so that there is something to count with
        found = wanted.boxes(sizes, *draw)
        regions, self._boxes = covered(found, sizes, encoded.scalable)
        self._wanted, self._margin = wanted, found.margin
        self.slots = Slots(encoded, regions, alike(regions[:, 3:], found.margin))

    def images(self, groups: Sequence[Any], place: NumPyPlace) -> Any:
        """[N, ...]"""
        made = groups
        if self._wanted.resizes:
            pairs = zip(groups, self.slots.groups, strict=True)
            made = [self._resized(images, places, place) for images, places in pairs]
        return made[0] if len(made) == 1 else place.joined(list(made))[np.argsort(self.slots.order)]

    def _resized(self, images: Any, places: np.ndarray, place: NumPyPlace) -> Any:
        wanted = self._wanted
        (height, width), (down, across) = wanted.size, self._margin[places].max(0, initial=0).tolist()
        top, left, tall, wide = self._boxes[places].T
        how = (height + 2 * down, width + 2 * across), wanted.interpolation, wanted.antialias
        return place.without_margin(
            resized_crop(images, top, left, tall, wide, *how, layout=place.layout), down, across
        )


class Whole:
    """All of each."""

    def __init__(self, encoded: Encoded) -> None:
        sizes = encoded.sizes
        regions = np.concatenate([np.ones_like(sizes[:, :1]), np.zeros_like(sizes), sizes], 1)
        self.slots = Slots(encoded, regions, alike(sizes, sizes))

    def images(self, groups: Sequence[Any], place: NumPyPlace) -> list[Any]:
        """[H, W, C] or [C, H, W]"""
        images = dict(zip(self.slots.order.tolist(), (image for group in groups for image in group), strict=True))
        return [images[i] for i in range(len(images))]


def alike(extents: np.ndarray, kinds: np.ndarray) -> list[np.ndarray]:
    """Places of one kind each, whose slots, all as large as the largest, waste little: mostly all in one.

    Args:
        extents: (H, W) of what comes into a slot. [N, 2]
        kinds: Where these differ, slots are apart. [N, 2]
    """
    found: list[np.ndarray] = []
    for kind in kinds[:1] if (kinds == kinds[:1]).all() else np.unique(kinds, axis=0):
        _divide(np.flatnonzero((kinds == kind).all(1)), extents, found)
    return found or [np.arange(0)]


def _divide(places: np.ndarray, extents: np.ndarray, found: list[np.ndarray]) -> None:
    height, width = extents[places].T
    slots, needed = len(places) * height.max() * width.max(), height @ width
    if len(places) == 1 or 3 * (slots - needed) <= _ROOM:
        found.append(places)
        return
    in_turn = places[np.argsort(height, kind="stable")]
    for half in np.array_split(in_turn, 2):
        _divide(half, extents, found)
