"""`Loader`: batches for training from encoded images, with threads in place of worker processes."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _check
from .._check import BackendError, DecodeError, prefix_errors
from .._codecs.limits import MAX_PIXELS, limits_of
from .._descriptions import state_entries
from .._host.extension import extension
from .._value_text import value_text
from ..transforms.transform import Transform
from ..typing import Decoder, LastBatch, LibraryName, OnError
from . import epoch_order
from .batch import Batch
from .decode_threads import DecodeThreads
from .decoding import DecodeSettings
from .files import Dataset, Source, checked_dataset
from .labels import label_array
from .pipeline import (
    ON_ERROR,
    BatchPipeline,
    DecodingBatch,
    EncodedBatch,
    FinishedBatch,
    PreparedBatch,
    recipe_of,
)
from .prefetch import Prefetcher, StageTimer
from .receivers import NumPyReceiver, receiver_for
from .targets import Targets, batch_targets

if TYPE_CHECKING:
    import torch

    from .._native import EncodedFiles


class Loader:
    """Reads, decodes and augments batches in threads, before they are requested.

    If the recipe begins with ``RandomResizedCrop``, with ``Resize`` and ``CenterCrop``, or with ``RandomCrop``, the box
    is drawn before any image is decoded. The CPU then decodes only that region of a JPEG, at 1/2, 1/4 or 1/8 of its
    resolution if the result needs no more. Order and draws depend only on seed and epoch, not on threads, ranks or
    batch size; but ``MixUp`` and ``CutMix`` mix neighbours in a batch.

    Args:
        source: :class:`ImageFiles`, or its ``source`` argument; or a dataset with ``read``, ``name``, ``labels`` and a
            length as :class:`ImageFiles` has them, and ``target`` if its ``targets`` are not None.
        batch_size: Samples per batch on this rank.
        transform: A recipe of :mod:`cuaug.transforms`, or one transform.
        device: "cpu", or a GPU in torch's notation: images are then copied and augmented on a stream of their own.
        shuffle: Use a new order in each epoch.
        seed: Seed of order and draws; default: the recipe's seed.
        shard: (rank, ranks). Ranks with one seed get disjoint samples and the same number of batches.
        last: Samples that do not fill a batch: "drop" them, a "partial" batch (some ranks get one sample fewer, or
            none), or "pad" with the epoch's first samples.
        on_error: For an image that cannot be read or decoded: "raise" DecodeError, "skip" the image, or "replace" it
            by another image of the batch.
        max_bad: Maximum share of bad files, above which DecodeError is raised; one bad file is accepted unless this is
            0. None: no limit. Each rank compares the bad files that it has read with the number of all files.
        dct_scale: Decode at 1/2, 1/4 or 1/8 where that is enough; False: pixels are those of a full decode.
        strict: Reject damaged files that a decoder could read with wrong pixels.
        decoder: "cpu", or "hybrid" on a GPU: nvJPEG decodes some of the baseline JPEGs while the CPU's threads decode
            the others, divided so that both stay busy. Values then differ by 1 here and there from run to run, and for
            nvJPEG's files `strict` rejects only what nvJPEG itself rejects.
        prefetch: Number of finished batches to keep ready.
        threads: Maximum number of threads that read and decode; default: as :func:`cuaug.set_num_threads`. With
            the decoder "cpu", fewer decode while batches are ready in time.
        cache: "memory" keeps the encoded files in memory after they are first read.
        progress: Show a bar with images per second and the slowest stage (needs tqdm).
        library: Library of the results: "torch" (channels first), or, channels last, "numpy", on a GPU "cupy" (needs
            torch), or "jax" (augmented on the CPU, then copied to JAX's default device); default: torch on a GPU or
            if torch has been imported, else NumPy.
        max_pixels: Maximum pixels of an image; an image with more is bad.

    Raises:
        DecodeError: While iterating: an image is bad and `on_error` is "raise" (``index``, ``source`` and ``reason``
            describe it), or "replace" and no image of a batch is good, or more files are bad than `max_bad` allows.
    """

    @prefix_errors
    def __init__(
        self,
        source: Dataset | Source,
        batch_size: int,
        transform: Transform | Sequence[Transform] = (),
        *,
        device: int | str | torch.device = "cpu",
        shuffle: bool = False,
        seed: int | None = None,
        shard: tuple[int, int] = (0, 1),
        last: LastBatch = "partial",
        on_error: OnError = "raise",
        max_bad: float | None = 0.01,
        dct_scale: bool = True,
        strict: bool = True,
        decoder: Decoder = "cpu",
        prefetch: int = 2,
        threads: int | None = None,
        cache: Literal["memory"] | None = None,
        progress: bool = False,
        library: LibraryName | Literal["jax"] | None = None,
        max_pixels: int | None = MAX_PIXELS,
    ) -> None:
        _check.one_of("last", last, epoch_order.LAST_BATCH_MODES)
        _check.one_of("on_error", on_error, ON_ERROR)
        _check.boolean("strict", strict)
        _check.boolean("dct_scale", dct_scale)
        _check.one_of("cache", cache, (None, "memory"))
        if max_bad is not None:
            _check.number("max_bad", max_bad, 0.0, 1.0)
        self._source: Dataset = checked_dataset(source)
        self._labels = None if self.source.labels is None else label_array(self.source.labels, len(self.source))
        self.batch_size: int = _check.integer("batch_size", batch_size, 1)
        self.prefetch: int = _check.integer("prefetch", prefetch, 1)
        self.rank: int
        self.world: int
        self.rank, self.world = _shard(shard)
        if seed is None and self.world > 1:
            raise ValueError("seed must be given where there are several ranks, and be the same on all of them")
        recipe = recipe_of(transform, seed)
        self._seed: int = recipe.seed
        self.shuffle: bool = _check.boolean("shuffle", shuffle)
        self.last: LastBatch = last
        self._on_error: OnError = on_error
        self.max_bad: float | None = max_bad
        self.progress: bool = _check.boolean("progress", progress)
        if not len(self):
            step = self.batch_size * self.world
            raise ValueError(
                f"last must be 'partial' or 'pad' for {len(self.source)} samples: 'drop' leaves no batch of {step}"
            )
        self._cache: dict[int, bytes] | None = {} if cache else None
        self._threads = extension().threads() if threads is None else _check.integer("threads", threads, 1)
        self._receiver = receiver_for(device, library, decoder)
        # With nvJPEG, its input threads, file reads and Python need processors too (benchmarks/log/loader-gpu.md), and
        # the model of the CPU's speed, by which batches are divided, holds for one number of threads.
        decode_threads = self._threads if decoder == "cpu" else max(1, 5 * self._threads // 8)
        self._decode_threads = DecodeThreads(decode_threads, 1 if decoder == "cpu" else decode_threads)
        settings = DecodeSettings(self._decode_threads, strict, dct_scale, limits_of(max_pixels))
        self._pipeline = BatchPipeline(recipe, self.source.name, on_error, settings)
        self.clock: StageTimer = self._pipeline.timer
        self.bad: dict[int, str] = {}
        self._epoch = self._batch = 0
        # Number of changes of the position. An iteration that began before the latest change no longer moves it.
        self._generation = 0
        self._iterating = False
        if progress:
            _tqdm()

    def __len__(self) -> int:
        return epoch_order.batch_count(len(self.source), self.batch_size, self.world, self.last)

    @property
    def source(self) -> Dataset:
        """The source of the samples."""
        return self._source

    @property
    def seed(self) -> int:
        """The seed of order and draws."""
        return self._seed

    @property
    def on_error(self) -> OnError:
        """What happens to an image that cannot be read or decoded."""
        return self._on_error

    @property
    def epoch(self) -> int:
        """The current epoch, or the next one. Setting it starts that epoch, with its order and draws."""
        return self._epoch

    @epoch.setter
    @prefix_errors
    def epoch(self, epoch: int) -> None:
        self._move_to(epoch, 0)

    def state_dict(self) -> dict[str, int]:
        """The position in the epoch, for `load_state_dict`: how many samples all ranks together have taken.

        After the last batch it is the beginning of the next epoch.
        """
        ended = self._batch == len(self)
        samples = 0 if ended else self._batch * self.batch_size * self.world
        return {"seed": self.seed, "epoch": self._epoch + ended, "samples": samples}

    @prefix_errors
    def load_state_dict(self, state: dict[str, int]) -> None:
        """The next iteration continues from the state.

        Ranks and batch size may differ from those of the saved loader; their product must divide ``state["samples"]``.

        Raises:
            TypeError: The state is no dict, or an entry is no int.
            ValueError: An entry is missing, or is not one of this loader: another seed, or samples past its epoch.
        """
        seed, epoch, samples = state_entries(state, "seed", "epoch", "samples")
        if _check.seed(seed) != self.seed:
            raise ValueError(f"seed must be {self.seed}, got {seed}: give both Loaders the same seed=")
        batch, remainder = divmod(_check.integer("samples", samples, 0), self.batch_size * self.world)
        if remainder:
            raise ValueError(
                f"batch_size times ranks must divide the {samples} samples that have been taken, "
                f"got {self.batch_size} * {self.world}"
            )
        if batch > len(self):
            raise ValueError(f"samples must be within the epoch of {len(self.source)} samples, got {samples}")
        ended = batch == len(self)
        self._move_to(_check.epoch(epoch) + ended, 0 if ended else batch)

    def _move_to(self, epoch: int, batch: int) -> None:
        """Sets the position; an iteration that is still running no longer changes it."""
        self._epoch, self._batch, self._iterating = _check.epoch(epoch), batch, False
        self._generation += 1

    def __iter__(self) -> Iterator[Batch]:
        if self._iterating:  # the last iteration was abandoned
            self.epoch += 1
        self._iterating, generation = True, self._generation
        epoch, first, count = self._epoch, self._batch, len(self)
        receiver = self._receiver.new_iteration()
        self._decode_threads.use_all_threads()
        finished = Prefetcher(self._finished_batches(receiver, epoch, first, count), self.prefetch, "cuaug-make")
        with contextlib.closing(finished.__iter__()) as batches, self._progress_bar(first, count) as advance:
            for batch in batches:
                images, targets = receiver.hand_over((batch.images, batch.targets), batch.ready_event)
                self._record_bad(batch.bad)
                if generation == self._generation:
                    self._batch += 1
                advance(len(batch.ids))
                yield Batch(images, targets, batch.ids, batch.valid)
                self._decode_threads.adjust(finished.ready_count, self.prefetch)
        if generation == self._generation:
            self.epoch = epoch + 1

    def _prepared_batches(self, epoch: int, first: int, count: int) -> Iterator[PreparedBatch]:
        order = epoch_order.sample_order(len(self.source), self.seed, epoch, self.shuffle)
        for index in range(first, count):
            ids, valid_count = epoch_order.rank_batch(order, index, self.batch_size, self.rank, self.world, self.last)
            data = self.clock.timed("read", self._read_files, ids.tolist())
            targets = self.clock.timed("read", self._read_targets, ids)
            batch = EncodedBatch(ids, targets, valid_count, data, epoch)
            yield self.clock.timed("decode", self._pipeline.prepare, batch)

    def _finished_batches(self, receiver: NumPyReceiver, epoch: int, first: int, count: int) -> Iterator[FinishedBatch]:
        prepared = Prefetcher(self._prepared_batches(epoch, first, count), self.prefetch, "cuaug-read")
        decoding: deque[DecodingBatch] = deque()
        with contextlib.closing(prepared.__iter__()) as batches:
            for batch in batches:
                decoding.append(self._pipeline.start_decode(batch, receiver))
                if len(decoding) > receiver.batches_in_flight:
                    yield self._pipeline.finish(decoding.popleft(), receiver)
        while decoding:
            yield self._pipeline.finish(decoding.popleft(), receiver)

    def _read_files(self, ids: list[int]) -> Sequence[bytes | str] | EncodedFiles:
        if self._cache is None:
            return self._read_source(ids)
        missing = [i for i in dict.fromkeys(ids) if i not in self._cache]
        new_files: dict[int, Any] = dict(zip(missing, self._read_source(missing), strict=True))
        for i, data in new_files.items():
            # Other buffers are copied: the dataset may reuse their memory.
            copy = data if isinstance(data, (bytes, str)) else extension().EncodedFiles([data])[0]
            if isinstance(copy, bytes):
                self._cache[i] = copy
        return [self._cache[i] if i in self._cache else new_files[i] for i in ids]

    def _read_source(self, ids: list[int]) -> Sequence[bytes | str] | EncodedFiles:
        if not ids:
            return ()
        files: Any = self.source.read(ids, self._threads)
        files = files if hasattr(files, "__len__") else list(files)
        if len(files) != len(ids):
            raise ValueError(f"source.read must return an image for each of {len(ids)} indices, got {len(files)}")
        return files

    def _read_targets(self, ids: np.ndarray) -> Targets | None:
        source: Any = self.source
        if getattr(source, "targets", None) is None:
            return None if self._labels is None else self._labels[ids]
        indices = ids.tolist() or [0]  # a rank without samples reads target 0, to know whether targets are dicts
        values = [source.target(i) for i in indices]
        targets = batch_targets(values, indices, source.name, self._pipeline.box_format)
        return None if targets is None else targets[: len(ids)]

    def _record_bad(self, bad: dict[int, str]) -> None:
        """Adds bad images by id; raises if there are more than `max_bad` allows."""
        self.bad |= bad
        allowed = self.max_bad and max(1, self.max_bad * len(self.source))
        if allowed is not None and len(self.bad) > allowed:
            listed = "".join(f"\n  {self.source.name(i)}: {reason}" for i, reason in list(self.bad.items())[:10])
            share = f"{len(self.bad)} of {len(self.source)} images"
            raise DecodeError(f"{share} cannot be decoded, more than max_bad={self.max_bad}:{listed}")

    @contextlib.contextmanager
    def _progress_bar(self, first: int, count: int) -> Iterator[Any]:
        if not self.progress:
            yield lambda images: None
            return
        images_done, start = 0, time.perf_counter()
        with _tqdm()(total=count, initial=first, desc=f"epoch {self._epoch}") as bar:

            def advance(images: int) -> None:
                nonlocal images_done
                images_done += images
                rate = images_done / max(time.perf_counter() - start, 1e-9)
                bar.set_postfix_str(f"{rate:.0f} img/s, {self.clock.slowest}", refresh=False)
                bar.update()

            yield advance


def _shard(shard: Any) -> tuple[int, int]:
    if not isinstance(shard, Sequence) or len(shard) != 2:
        raise ValueError(f"shard must be (rank, ranks), got {value_text(shard)}")
    rank, world = _check.integer("shard's rank", shard[0], 0), _check.integer("shard's ranks", shard[1], 1)
    if rank >= world:
        raise ValueError(f"shard must be (rank, ranks) with rank below ranks, got {value_text(shard)}")
    return rank, world


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError as error:
        raise BackendError("progress needs tqdm: pip install tqdm") from error
