"""`Target`: the arrays of one kind in a sample that are transformed together, and their paths in the sample."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .. import _check
from .._arrays.pillow_library import PillowPixels

Path = tuple[Any, ...]  # the keys and indices that lead from the sample to a value in it


REMOVED: Any = object()  # the result of an entry that `rebuild` leaves out of its list


class GatheredValues(list[Any]):
    """Values at the same relative path, one from each sample."""


class UnstackedBatch(list[Any]):
    """Arrays of the samples of one batch, whose sizes differ. Where they get one size, they become a batch again.

    Only between the parts of a recipe, and in torch's forward hooks of its transforms: users get plain lists, because
    pytree functions of torch and JAX take an object of another class as a leaf.
    """


class Crops(tuple[Any, ...]):
    """Crops of one image, or of each image of a batch. All crops of one image belong to one sample and share its draws.

    Only where an `UnstackedBatch` may be: users get plain tuples.
    """

    @classmethod
    def _make(cls, crops: Iterable[Any]) -> Crops:
        """As of a namedtuple: `rebuild` (sample_rebuild.py) calls it, so that a copy is `Crops`, too."""
        return cls(crops)


def image_layout(value: Any, layout: str | None) -> str | None:
    """A call's `layout` as it applies to the value.

    Without N for the images of an `UnstackedBatch`, for crops of them, and for images gathered from dicts. None for
    images of Pillow, which are [H, W] or [H, W, C] whatever the layout of arrays.
    """
    if layout is None or layout not in _check.LAYOUTS:
        return layout
    entries = value if isinstance(value, (list, tuple)) else (value,)
    if all(isinstance(entry, PillowPixels) for entry in entries):
        return None
    if isinstance(value, GatheredValues) and getattr(value[0], "ndim", 0) < len(layout):
        return layout.removeprefix("N")
    return layout.removeprefix("N") if isinstance(value, UnstackedBatch) else layout


class Target(NamedTuple):
    """Arrays of one kind that are transformed together."""

    kind: str  # one of the kinds of `KINDS`
    value: Any  # one array, or a list with one per sample; plain torch tensors in place of tv_tensors
    paths: tuple[Path, ...]  # one path, or one per sample
    original: Any  # the value as it is in the sample
    format: str | None = None  # of boxes whose type states it
    layout: str | None = None  # of torchvision's Video
    # `original` is that of a single sample: `value` has an axis more, or is a list with `original` as its only entry.
    sample_axis_added: bool = False

    @property
    def name(self) -> str:
        """The values' key in the sample, for messages; their kind if they have no key."""
        return next((key for key in reversed(self.paths[0]) if isinstance(key, str)), self.kind)


def path_text(path: Path) -> str:
    """The path as subscripts, for messages. An empty path is the sample itself."""
    return "".join(f"[{key!r}]" for key in path) or "the top"
