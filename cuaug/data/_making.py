"""From encoded images to a batch that a model can take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._check import DecodeError
from ..crop_resize import resized_crop
from ..transforms import Compose
from ..transforms._transform import Transform
from ._ahead import Clock
from ._decoding import Decoding, Encoded
from ._places import NumPyPlace
from ._regions import Regions, covered, regions_of

ON_ERROR = ("raise", "skip", "replace")


def recipe_of(transform: Transform | Sequence[Transform], seed: int | None) -> Compose:
    """One flat recipe with this seed, or with its own."""
    if isinstance(transform, Compose):
        return Compose(list(transform._flat()), transform.seed if seed is None else seed)
    return Compose([transform] if isinstance(transform, Transform) else transform, seed)


class Read(NamedTuple):
    """A batch whose files have been read."""

    ids: np.ndarray  # [N]
    labels: np.ndarray | None  # [N]
    valid: int  # how many are no padding
    data: Sequence[bytes | str]  # encoded, or why it cannot be read
    epoch: int


class Made(NamedTuple):
    """What a loader hands over."""

    images: Any
    labels: Any
    ids: np.ndarray
    valid: np.ndarray
    bad: dict[int, str]  # by id
    done: Any  # what the taker's stream waits for


class Making:
    """Decodes what a recipe will look at, and runs the recipe.

    Images that cannot be decoded are left out ("skip"), or another of the batch stands in for each ("replace"), or the
    first is raised ("raise"). `name` says what to call image `id`.
    """

    def __init__(
        self,
        recipe: Compose,
        place: NumPyPlace,
        name: Callable[[int], str],
        on_error: str,
        decoding: Decoding,
    ) -> None:
        self._recipe, self._place, self._name, self._on_error, self._decoding = recipe, place, name, on_error, decoding
        self._regions = regions_of(recipe)
        self._rest = recipe.after(len(self._regions.transforms) if self._regions else 0)
        self.clock = Clock()

    def __call__(self, read: Read) -> Made:
        with self._place.making():
            encoded = Encoded(read.data, self._decoding)
            slots, boxes, margins = self.clock.timed("decode", self._decoded, encoded, read)
            taken, valid = self._taken(encoded.bad, read)
            if encoded.bad:
                slots, boxes, margins = slots[taken], boxes[taken], margins[taken]
            ids = read.ids[taken]
            labels = None if read.labels is None else self._place.labels(read.labels[taken])
            images, labels = self.clock.timed(
                "augment", self._augmented, slots, boxes, margins, labels, ids, read.epoch
            )
            bad = {int(read.ids[i]): reason for i, reason in encoded.bad.items()}
            return Made(images, labels, ids, valid, bad, self._place.made())

    def _decoded(self, encoded: Encoded, read: Read) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slots with what is wanted of each image at the top left [N, H, W, 3], the boxes there [N, 4], and margins."""
        sizes, wanted = encoded.sizes, self._regions
        margins = np.zeros_like(sizes)
        if wanted is None:
            boxes = np.concatenate([margins, sizes], 1)
            regions = np.concatenate([np.ones_like(sizes[:, :1]), boxes], 1)
        else:
            for i in np.flatnonzero((sizes < wanted.least).any(1)):
                encoded.bad.setdefault(int(i), f"its size {tuple(sizes[i].tolist())} is below {wanted.least}")
            sizes = np.maximum(sizes, wanted.least)  # of what is bad, so that there is something to count with
            found = wanted.boxes(sizes, self._recipe.seed, read.epoch, read.ids)
            (regions, boxes), margins = covered(found, sizes, encoded.scalable), found.margin
        height, width = regions[:, 3:].max(0, initial=1).tolist()
        slots = self._place.slots((len(encoded), height, width, 3), wanted is not None and wanted.resizes)
        encoded.into(slots, regions)
        return slots, boxes, margins

    def _augmented(
        self, slots: np.ndarray, boxes: np.ndarray, margins: np.ndarray, labels: Any, ids: np.ndarray, epoch: int
    ) -> tuple[Any, Any]:
        wanted = self._regions
        if wanted is None and len(np.unique(boxes, axis=0)) > 1:
            return self._one_by_one(slots, boxes, labels, ids, epoch)
        images = self._place.images(slots)
        if wanted is not None and wanted.resizes:
            images = self._resized(wanted, images, boxes, margins)
        return self._augment(images, labels, ids, epoch)

    def _resized(self, wanted: Regions, images: Any, boxes: np.ndarray, margins: np.ndarray) -> Any:
        """Boxes of the images, brought to one size: together those that have a margin in common, mostly all."""
        margins = margins if len(margins) else np.zeros((1, 2), int)
        kinds, kind = np.unique(margins, axis=0, return_inverse=True)
        made = []
        for k, margin in enumerate(kinds):
            chosen = slice(None) if len(kinds) == 1 else np.flatnonzero(kind.reshape(-1) == k)
            (height, width), (down, across) = wanted.size, margin.tolist()
            how = (height + 2 * down, width + 2 * across), wanted.interpolation, wanted.antialias
            top, left, tall, wide = boxes[chosen].T
            resized = resized_crop(images[chosen], top, left, tall, wide, *how, layout=self._place.layout)
            made.append(self._place.without_margin(resized, down, across))
        if len(made) == 1:
            return made[0]
        together = self._place.joined(made)
        return together[np.argsort(np.argsort(kind.reshape(-1), kind="stable"), kind="stable")]

    def _one_by_one(
        self, slots: np.ndarray, boxes: np.ndarray, labels: Any, ids: np.ndarray, epoch: int
    ) -> tuple[Any, Any]:
        """Images of different sizes, which the recipe must bring to one."""
        sizes = boxes[:, 2:].astype(int).tolist()
        images = [self._place.images(slots[i : i + 1, :h, :w])[0] for i, (h, w) in enumerate(sizes)]
        images, labels = self._augment(images, labels, ids, epoch)
        shapes = {tuple(image.shape) for image in images}
        if len(shapes) > 1:
            raise ValueError(
                "transform must bring all images to one size, as RandomResizedCrop, or Resize and CenterCrop do; "
                f"got results of {', '.join(map(str, sorted(shapes)[:3]))}"
            )
        return self._place.joined([image[None] for image in images]), labels

    def _augment(self, images: Any, labels: Any, ids: np.ndarray, epoch: int) -> tuple[Any, Any]:
        if not self._rest.transforms:
            return images, labels
        if labels is None:
            return self._rest(images, ids=ids, step=epoch), None
        images, labels = self._rest(images, labels=labels, ids=ids, step=epoch)
        return images, labels

    def _taken(self, bad: dict[int, str], read: Read) -> tuple[np.ndarray, np.ndarray]:
        """Which places of the batch are handed over, and which of these count."""
        places = np.arange(len(read.ids))
        if not bad:
            return places, places < read.valid
        if self._on_error == "raise":
            raise self.error(int(read.ids[min(bad)]), bad[min(bad)])
        good = np.setdiff1d(places, list(bad))
        if self._on_error == "skip":
            return good, good < read.valid
        if not len(good):
            raise DecodeError(
                f"no image of a batch can be decoded; {self.error(int(read.ids[min(bad)]), bad[min(bad)])}"
            )
        taken = places.copy()
        taken[list(bad)] = good[np.arange(len(bad)) % len(good)]
        return taken, (taken == places) & (places < read.valid)

    def error(self, index: int, reason: str) -> DecodeError:
        """What says that image `index` is bad."""
        return DecodeError(f"image {index} ({self._name(index)}): {reason}", index, self._name(index), reason)
