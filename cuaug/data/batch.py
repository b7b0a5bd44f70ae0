"""The batch that a loader yields."""

from __future__ import annotations

from typing import Any

from .._check import prefix_errors


class Batch(tuple[Any, Any]):
    """``images, targets = batch``, with the ids of the samples as attributes.

    Attributes:
        ids: Indices of the samples in the source: ``loader.source.name(ids[0])`` is a file. [N]
        valid: False for a sample that fills up the batch: padding, or the replacement of a bad image. [N]
    """

    ids: Any
    valid: Any

    @prefix_errors
    def __new__(cls, images: Any, targets: Any = ..., ids: Any = None, valid: Any = None) -> Batch:
        """A single argument is the pair, without ids and valid: torch's ``pin_memory`` rebuilds tuples in this way."""
        pair = tuple(images) if targets is ... else (images, targets)
        if len(pair) != 2:
            rule = "images must be the pair (images, targets) if targets are not given"
            raise ValueError(f"{rule}, got {len(pair)} entries")
        self = super().__new__(cls, pair)
        self.ids, self.valid = ids, valid
        return self

    def __getnewargs__(self) -> Any:
        return *self, self.ids, self.valid

    @property
    def images(self) -> Any:
        """The images that the transform returned. [N, ...]"""
        return self[0]

    @property
    def labels(self) -> Any:
        """Class indices [N], mixed label weights [N, classes], or None; the targets if these are dicts.

        Class indices of :class:`ImageFiles` are int64. Labels of another dataset keep their dtype and shape [N, ...].
        """
        return self[1]

    @property
    def targets(self) -> Any:
        """A dict for each sample, if the files have dicts as targets; else the labels."""
        return self[1]
