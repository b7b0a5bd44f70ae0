"""From encoded images to a batch that a model can take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _check
from .._check import DecodeError
from ..transforms import Compose
from ..transforms.transform import Transform
from .crops import Boxes, Whole
from .decode_regions import regions_of
from .decoding import Decoding, Encoded
from .prefetch import Clock
from .targets import NumPyPlace
from .work_splitter import OnWay

if TYPE_CHECKING:
    from .._native import EncodedFiles

ON_ERROR = ("raise", "skip", "replace")


def recipe_of(transform: Transform | Sequence[Transform], seed: int | None) -> Compose:
    """One flat recipe, with this seed or with its own."""
    if not isinstance(transform, Compose):
        transform = Compose([transform] if isinstance(transform, Transform) else transform)
    recipe = transform.after(0)
    recipe.seed = recipe.seed if seed is None else _check.seed(seed)
    return recipe


class Read(NamedTuple):
    """A batch whose files have been read."""

    ids: np.ndarray  # [N]
    labels: np.ndarray | None  # [N]
    valid: int  # how many are no padding
    data: Sequence[bytes | str] | EncodedFiles  # encoded, or why it cannot be read
    epoch: int


class Prepared(NamedTuple):
    """A batch whose sizes and boxes are known."""

    read: Read
    look: Boxes | Whole


class Begun(NamedTuple):
    """A batch that is being decoded."""

    prepared: Prepared
    on_way: OnWay | None


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
        name: Callable[[int], str],
        on_error: str,
        decoding: Decoding,
    ) -> None:
        self._recipe, self._name, self._on_error, self._decoding = recipe, name, on_error, decoding
        self._regions = regions_of(recipe)
        self._rest = recipe.after(len(self._regions.transforms) if self._regions else 0)
        self.clock = Clock()

    def prepare(self, read: Read) -> Prepared:
        """What follows from the files' headers."""
        encoded = Encoded(read.data, self._decoding)
        if self._regions is None:
            return Prepared(read, Whole(encoded))
        return Prepared(read, Boxes(encoded, self._regions, (self._recipe.seed, read.epoch, read.ids)))

    def begin(self, prepared: Prepared, place: NumPyPlace) -> Begun:
        """What need not wait for the batch before."""
        with place.making():
            return Begun(prepared, self.clock.timed("decode", place.begin, prepared.look.slots))

    def finish(self, begun: Begun, place: NumPyPlace) -> Made:
        read, look = begun.prepared
        with place.making():
            groups = self.clock.timed("decode", place.finish, look.slots, begun.on_way)
            images = self.clock.timed("augment", look.images, groups, place)
            bad_places = look.slots.encoded.bad
            taken, valid = self._taken(bad_places, read)
            if bad_places:
                images = [images[i] for i in taken] if isinstance(images, list) else images[taken]
            ids = read.ids[taken]
            labels = None if read.labels is None else place.labels(read.labels[taken])
            images, labels = self.clock.timed("augment", self._augmented, place, images, labels, ids, read.epoch)
            bad = {int(read.ids[i]): reason for i, reason in bad_places.items()}
            return Made(images, labels, ids, valid, bad, place.made())

    def _augmented(self, place: NumPyPlace, images: Any, labels: Any, ids: np.ndarray, epoch: int) -> tuple[Any, Any]:
        if isinstance(images, list) and len({tuple(image.shape) for image in images}) <= 1:
            images = place.stacked(images)
        images, labels = self._augment(images, labels, ids, epoch)
        if not isinstance(images, list):
            return (images if self._rest.transforms else place.dense(images)), labels
        shapes = sorted({tuple(image.shape) for image in images})
        if len(shapes) > 1:
            raise ValueError(
                "transform must bring all images to one size, as RandomResizedCrop, or Resize and CenterCrop do; "
                f"got results of {', '.join(map(str, shapes[:3]))}"
            )
        return place.stacked(images), labels

    def _augment(self, images: Any, labels: Any, ids: np.ndarray, epoch: int) -> tuple[Any, Any]:
        if not self._rest.transforms:
            return images, labels
        if labels is None:
            return self._rest(images, ids=ids, step=epoch), None
        moved: tuple[Any, Any] = self._rest(images, labels=labels, ids=ids, step=epoch)
        return moved

    def _taken(self, bad: dict[int, str], read: Read) -> tuple[np.ndarray, np.ndarray]:
        """Which places of the batch are handed over, and which of these count."""
        places = np.arange(len(read.ids))
        if not bad:
            return places, places < read.valid
        first = min(bad)
        if self._on_error == "raise":
            raise self._error(int(read.ids[first]), bad[first])
        good = np.setdiff1d(places, list(bad))
        if self._on_error == "skip":
            return good, good < read.valid
        if not len(good):
            raise DecodeError(f"no image of a batch can be decoded; {self._error(int(read.ids[first]), bad[first])}")
        taken = places.copy()
        taken[list(bad)] = good[np.arange(len(bad)) % len(good)]
        return taken, (taken == places) & (places < read.valid)

    def _error(self, index: int, reason: str) -> DecodeError:
        """What says that image `index` is bad."""
        return DecodeError(f"image {index} ({self._name(index)}): {reason}", index, self._name(index), reason)
