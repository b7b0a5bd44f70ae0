"""A ``collate_fn`` for torch's ``DataLoader`` and its worker processes."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._check import prefix_errors
from .._codecs.limits import MAX_PIXELS, limits_of
from .._fusion.recipe import Recipe
from .._host.extension import extension
from ..transforms import PadBatch
from ..transforms.transform import Transform
from ..typing import OnError
from .batch import Batch
from .decode_threads import DecodeThreads
from .decoding import DecodeSettings
from .pipeline import ON_ERROR, BatchPipeline, EncodedBatch, recipe_of
from .receivers import TorchReceiver
from .targets import batch_targets

_ENCODED_TYPES = bytes, bytearray, memoryview, str  # str: why a file cannot be read
_LARGE_SIZE = 1 << 20, 1 << 20  # (H, W), larger than a decoded image (MAX_SIDE): every crop fits


class Collate:
    """Decodes and augments a batch of what :class:`ImageFiles` yields, in the process that calls it.

    Draws depend only on seed, epoch and sample: they are the same for every number of workers, and the same as those of
    :class:`Loader`. Set the epoch as with torch's ``DistributedSampler``: ``collate.set_epoch(epoch)`` also reaches
    workers that are already running. Before the first ``set_epoch`` every epoch has the draws of epoch 0, and the first
    batch of a recipe with random draws warns of it (RuntimeWarning).

    Args:
        transform: A recipe, one transform, or a list of them.
        seed: Seed of the draws; default: the recipe's seed.
        on_error: "raise", "skip" or "replace", as for :class:`Loader`.
        dct_scale: As for :class:`Loader`.
        strict: As for :class:`Loader`.
        threads: Threads that decode and augment in each worker process.
        max_pixels: Maximum pixels of an image; an image with more is bad.

    >>> from torch.utils.data import DataLoader  # doctest: +SKIP
    >>> collate = Collate([T.RandomResizedCrop(224)])  # doctest: +SKIP
    >>> loader = DataLoader(ImageFiles("train"), 64, collate_fn=collate, num_workers=8)  # doctest: +SKIP
    >>> for epoch in range(90):  # doctest: +SKIP
    ...     collate.set_epoch(epoch)
    ...     for images, labels in loader:
    ...         ...
    """

    @prefix_errors
    def __init__(
        self,
        transform: Transform | Sequence[Transform] = (),
        *,
        seed: int | None = None,
        on_error: OnError = "raise",
        dct_scale: bool = True,
        strict: bool = True,
        threads: int = 1,
        max_pixels: int | None = MAX_PIXELS,
    ) -> None:
        _check.one_of("on_error", on_error, ON_ERROR)
        _check.boolean("strict", strict)
        _check.boolean("dct_scale", dct_scale)
        self._threads = _check.integer("threads", threads, 1)
        settings = DecodeSettings(DecodeThreads(self._threads), strict, dct_scale, limits_of(max_pixels))
        self._recipe = recipe_of(transform, seed)
        self._pipeline = BatchPipeline(self._recipe, _sample_name, on_error, settings)
        self._receiver = TorchReceiver()
        torch = importlib.import_module("torch")
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()  # persistent workers see the change
        self._epoch_missing = torch.ones((), dtype=torch.bool).share_memory_()  # until `set_epoch` or the first batch

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies by `copy.deepcopy` and pickle come without shared memory."""
        vars(self).update(state)
        self._epoch.share_memory_()
        self._epoch_missing.share_memory_()

    @prefix_errors
    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the draws, in all processes."""
        self._epoch.fill_(_check.epoch(epoch))
        self._epoch_missing.fill_(False)

    @prefix_errors
    def __call__(self, samples: Sequence[tuple[bytes | bytearray | memoryview | str, Any, int]]) -> Batch:
        """The batch of samples (encoded image, label or target, id).

        An encoded image is bytes, a bytearray or a memoryview. A str in its place is the reason why its file cannot be
        read.
        """
        _check_samples(samples)
        if importlib.import_module("torch.utils.data").get_worker_info() is not None:
            extension().set_threads(self._threads)
        data, targets, ids = zip(*samples, strict=True)
        pipeline, receiver = self._pipeline, self._receiver
        checked_targets = batch_targets(targets, ids, _sample_name, pipeline.box_format)
        files = [bytes(file) if isinstance(file, memoryview) and not file.c_contiguous else file for file in data]
        encoded = EncodedBatch(np.array(ids, np.int64), checked_targets, len(ids), files, int(self._epoch))
        batch = pipeline.finish(pipeline.start_decode(pipeline.prepare(encoded), receiver), receiver)
        if self._epoch_missing:
            self._epoch_missing.fill_(False)
            self._warn_of_equal_epochs()
        return Batch(batch.images, batch.targets, batch.ids, batch.valid)

    def _warn_of_equal_epochs(self) -> None:
        if self._is_random():
            warnings.warn(
                "cuaug.data.Collate: no epoch is set, so every epoch has the same draws: call "
                "collate.set_epoch(epoch) before each epoch",
                RuntimeWarning,
                stacklevel=4,  # the line that calls `__call__`, which is decorated
            )

    def _is_random(self) -> bool:
        """Whether draws depend on the epoch.

        Transforms that a recipe does not draw for, such as `Lambda`, have random numbers of their own.
        """
        recipe = Recipe(_LARGE_SIZE, 3, "uint8")
        for transform in (inner for entry in self._recipe.transforms for inner in entry.flattened()):
            if transform.is_fused:
                # The recipe has accepted the batch. An error comes from the uint8 RGB that is assumed here, where an
                # earlier `Lambda` has changed the dtype or the number of channels.
                with contextlib.suppress(TypeError, ValueError):
                    transform.append_to(recipe)
            elif transform.needs_recipe and not isinstance(transform, PadBatch):
                return True
            else:
                recipe.size = _LARGE_SIZE  # the transform may change the size
        return recipe.is_random


def _check_samples(samples: Any) -> None:
    if not isinstance(samples, (list, tuple)):
        raise TypeError(f"samples must be a list of samples, got {type(samples).__name__}")
    if not samples:
        raise ValueError("samples must hold at least one sample, got none")
    for i, sample in enumerate(samples):
        if not (isinstance(sample, (tuple, list)) and len(sample) == 3 and isinstance(sample[0], _ENCODED_TYPES)):
            entries = sample if isinstance(sample, (tuple, list)) else [sample]
            types = ", ".join(type(entry).__name__ for entry in entries)
            raise TypeError(
                f"samples must be (encoded image, label, id), as ImageFiles yields them, got ({types}): leave "
                "collate_fn out for a Dataset of decoded images, and call the recipe on the DataLoader's batches"
            )
        _check.integer(f"samples[{i}]'s id", sample[2], -_check.MAX_INT64, _check.MAX_INT64)


def _sample_name(sample_id: int) -> str:
    return f"sample {sample_id}"
