"""What a loader yields."""

from __future__ import annotations

from typing import Any


class Batch(tuple[Any, Any]):
    """``images, labels = batch``, and beside them which samples these are.

    Attributes:
        ids: Their places in the source. [N]
        valid: False where a sample only fills up the batch: padding, or in the place of one that cannot be decoded. [N]
    """

    ids: Any
    valid: Any

    def __new__(cls, images: Any, labels: Any = None, ids: Any = None, valid: Any = None) -> Batch:
        """Of these; or, as torch's ``pin_memory`` makes tuples anew, of the two alone: then ids and valid are None."""
        self = super().__new__(cls, images if ids is None else (images, labels))
        self.ids, self.valid = ids, valid
        return self

    def __getnewargs__(self) -> Any:
        return *self, self.ids, self.valid

    @property
    def images(self) -> Any:
        """What the transform made. [N, ...]"""
        return self[0]

    @property
    def labels(self) -> Any:
        """int64, or as mixed; None where the files have none. [N]"""
        return self[1]
