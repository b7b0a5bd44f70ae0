"""The plain road: a ``collate_fn`` for torch's ``DataLoader`` and its worker processes."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy as np

from .. import _check
from .._check import prefix_errors
from .._codecs import limits as _limits
from .._host import extension as _cpu
from ..transforms.transform import Transform
from .batch import Batch
from .decoding import Decoding
from .pipeline import ON_ERROR, Making, Read, recipe_of
from .targets import TorchPlace


class Collate:
    """Makes a batch of what :class:`ImageFiles` yields, in whatever process calls it.

    Draws are a function of seed, epoch and sample: the same with any number of workers, and with :class:`Loader`. Say
    which epoch it is, as to torch's ``DistributedSampler``: ``collate.set_epoch(epoch)`` reaches workers that run.

    Args:
        transform: A recipe, one transform, or a list of them.
        seed: Of the draws; default: the recipe's.
        on_error: "raise", "skip" or "replace", as of :class:`Loader`.
        dct_scale: As of :class:`Loader`.
        strict: As of :class:`Loader`.
        threads: Of each worker process.
        max_pixels: Of an image; one with more is bad.

    >>> from torch.utils.data import DataLoader  # doctest: +SKIP
    >>> collate = Collate([T.RandomResizedCrop(224)])  # doctest: +SKIP
    >>> loader = DataLoader(ImageFiles("train"), 64, collate_fn=collate, num_workers=8)  # doctest: +SKIP
    """

    @prefix_errors("cuaug")
    def __init__(
        self,
        transform: Transform | Sequence[Transform] = (),
        *,
        seed: int | None = None,
        on_error: str = "raise",
        dct_scale: bool = True,
        strict: bool = True,
        threads: int = 1,
        max_pixels: int | None = _limits.MAX_PIXELS,
    ) -> None:
        _check.one_of("on_error", on_error, ON_ERROR)
        _check.boolean("strict", strict)
        _check.boolean("dct_scale", dct_scale)
        self._threads = _check.integer("threads", threads, 1)
        decoding = Decoding(self._threads, strict, dct_scale, _limits.limits_of(max_pixels))
        self._making = Making(recipe_of(transform, seed), _name, on_error, decoding)
        self._place = TorchPlace()
        torch = importlib.import_module("torch")
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()  # workers that are kept see it change

    def set_epoch(self, epoch: int) -> None:
        """Other draws from now on, in all processes."""
        self._epoch.fill_(_check.integer("epoch", epoch, 0))

    def __call__(self, samples: Sequence[tuple[bytes | str, int | None, int]]) -> Batch:
        """A batch of (encoded image, label, id)."""
        if importlib.import_module("torch.utils.data").get_worker_info() is not None:
            _cpu.extension().set_threads(self._threads)
        data, labels, ids = zip(*samples, strict=True)
        given = None if labels[0] is None else np.array(labels, np.int64)
        read = Read(np.array(ids, np.int64), given, len(ids), data, int(self._epoch))
        made = self._making.finish(self._making.begin(self._making.prepare(read), self._place), self._place)
        return Batch(made.images, made.labels, made.ids, made.valid)


def _name(index: int) -> str:
    return f"sample {index}"
