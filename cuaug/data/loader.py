"""`Loader`: batches for training from encoded images, without worker processes."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _check
from .._check import BackendError, DecodeError, prefix_errors
from .._codecs import limits as _limits
from .._host import extension as _cpu
from ..transforms.transform import Transform
from . import epoch_order as _order
from .batch import Batch
from .decoding import Decoding
from .files import ImageFiles
from .pipeline import ON_ERROR, Begun, Made, Making, Prepared, Read, recipe_of
from .prefetch import Ahead
from .targets import NumPyPlace, place_of

if TYPE_CHECKING:
    from .._native import EncodedFiles


class Loader:
    """Reads, decodes and augments batches ahead of whoever iterates, by threads.

    A recipe that begins with ``RandomResizedCrop``, with ``Resize`` and ``CenterCrop``, or with ``RandomCrop`` has its
    box drawn before anything is decoded: of a JPEG that region alone is, at 1/2, 1/4 or 1/8 of its resolution where the
    result needs no more. Order and draws are functions of seed and epoch, whatever threads, ranks and batch sizes.

    Args:
        source: :class:`ImageFiles`, or what makes one; or a dataset with its ``read``, ``name``, ``labels`` and length.
        batch_size: Of this rank.
        transform: A recipe of :mod:`cuaug.transforms`, or one transform.
        device: "cpu" or a GPU, as torch calls it: there images are copied and augmented on a stream of their own.
        shuffle: Another order in each epoch.
        seed: Of order and draws; default: the recipe's.
        shard: (rank, ranks). Ranks of one seed get disjoint samples, and batches alike in number.
        last: Samples that fill no batch: "drop" them, a "partial" batch (one sample fewer on some ranks, or even none),
            or "pad" with the epoch's first.
        on_error: What cannot be read or decoded is raised ("raise"), left out ("skip"), or another of the batch stands
            in for it ("replace").
        max_bad: The largest share of bad files that is passed over; None: any.
        dct_scale: Decode at 1/2, 1/4 or 1/8 where that is enough; False: pixels are those of a full decode.
        strict: Whether damage counts that a decoder could pass over (with wrong pixels).
        decoder: "cpu", or "hybrid" on a GPU: its engine (nvJPEG) decodes some of the baseline JPEGs while the
            CPU's threads decode the others, as many as keep both busy. Values then differ by 1 here and there from run
            to run, and of the engine's files `strict` sees only what the engine fails at.
        prefetch: Batches made ahead.
        threads: That read and decode; default: as :func:`cuaug.set_num_threads`.
        cache: "memory" keeps encoded files.
        progress: A bar with images a second, and what holds them up (needs tqdm).
        library: Of the results: "torch", "numpy" or, on a GPU, "cupy" (channels last; torch has to be installed);
            default: torch if it has been imported.
        max_pixels: Of an image; one with more is bad.

    Raises:
        DecodeError: While iterating: a bad image, by `on_error` (with ``index``, ``source``, ``reason``), or too many.
    """

    @prefix_errors("cuaug")
    def __init__(
        self,
        source: Any,
        batch_size: int,
        transform: Transform | Sequence[Transform] = (),
        *,
        device: Any = "cpu",
        shuffle: bool = False,
        seed: int | None = None,
        shard: tuple[int, int] = (0, 1),
        last: str = "partial",
        on_error: str = "raise",
        max_bad: float | None = 0.01,
        dct_scale: bool = True,
        strict: bool = True,
        decoder: str = "cpu",
        prefetch: int = 2,
        threads: int | None = None,
        cache: str | None = None,
        progress: bool = False,
        library: str | None = None,
        max_pixels: int | None = _limits.MAX_PIXELS,
    ) -> None:
        _check.one_of("last", last, _order.LAST)
        _check.one_of("on_error", on_error, ON_ERROR)
        _check.boolean("strict", strict)
        _check.boolean("dct_scale", dct_scale)
        _check.one_of("cache", cache, (None, "memory"))
        if max_bad is not None:
            _check.number("max_bad", max_bad, 0.0, 1.0)
        self.source = source if hasattr(source, "read") and hasattr(source, "labels") else ImageFiles(source)
        self.batch_size, self.prefetch = (
            _check.integer("batch_size", batch_size, 1),
            _check.integer("prefetch", prefetch, 1),
        )
        self.rank, self.world = _shard(shard)
        if seed is None and self.world > 1:
            raise ValueError("seed must be given where there are several ranks, and be the same on all of them")
        recipe = recipe_of(transform, seed)
        self.seed = recipe.seed
        self.shuffle, self.last, self.on_error, self.max_bad, self.progress = shuffle, last, on_error, max_bad, progress
        self._cache: dict[int, bytes] | None = {} if cache else None
        self._threads = _cpu.extension().threads() if threads is None else _check.integer("threads", threads, 1)
        self._place = place_of(device, library, decoder)
        # Beside an engine, threads for its input, files and Python need processors (benchmarks/log/loader-gpu.md).
        decoders = self._threads if decoder == "cpu" else max(1, 5 * self._threads // 8)
        decoding = Decoding(decoders, strict, dct_scale, _limits.limits_of(max_pixels))
        self._making = Making(recipe, self.source.name, on_error, decoding)
        self.clock = self._making.clock
        self.bad: dict[int, str] = {}
        self._epoch = self._batch = self._turn = 0
        self._begun = False
        if progress:
            _tqdm()

    def __len__(self) -> int:
        return _order.batches(len(self.source), self.batch_size, self.world, self.last)

    @property
    def epoch(self) -> int:
        """The epoch that is running, or the next one. Set it to begin another: its order and draws follow from it."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._begin_at(_check.integer("epoch", epoch, 0), 0)

    def state_dict(self) -> dict[str, int]:
        """Where it stands: the samples after those that have been taken, by all ranks, follow exactly."""
        return {"seed": self.seed, "epoch": self._epoch, "samples": self._batch * self.batch_size * self.world}

    @prefix_errors("cuaug")
    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on where a state was taken, at the next iteration; with as many ranks and as large batches as fit."""
        if state["seed"] != self.seed:
            raise ValueError(f"seed must be {self.seed}, got {state['seed']}")
        batch, rest = divmod(_check.integer("samples", state["samples"], 0), self.batch_size * self.world)
        if rest:
            raise ValueError(
                f"batch_size times ranks must divide the {state['samples']} samples that have been taken, "
                f"got {self.batch_size} * {self.world}"
            )
        self._begin_at(_check.integer("epoch", state["epoch"], 0), batch)

    def _begin_at(self, epoch: int, batch: int) -> None:
        """An iteration that still runs counts for nothing from now on."""
        self._epoch, self._batch, self._begun = epoch, batch, False
        self._turn += 1

    def __iter__(self) -> Iterator[Batch]:
        if self._begun:  # and abandoned
            self.epoch += 1
        self._begun, turn = True, self._turn
        epoch, first, count = self._epoch, self._batch, len(self)
        place = self._place.another()
        made = Ahead(self._made(place, epoch, first, count), self.prefetch, "cuaug-make")
        with contextlib.closing(made.__iter__()) as batches, self._bar(first, count) as bar:
            for batch in batches:
                images, labels = place.receive((batch.images, batch.labels), batch.done)
                self._note(batch.bad)
                if turn == self._turn:
                    self._batch += 1
                bar(len(batch.ids))
                yield Batch(images, labels, batch.ids, batch.valid)
        if turn == self._turn:
            self.epoch = epoch + 1

    def _read(self, epoch: int, first: int, count: int) -> Iterator[Prepared]:
        turn = _order.order(len(self.source), self.seed, epoch, self.shuffle)
        for index in range(first, count):
            ids, valid = _order.batch(turn, index, self.batch_size, self.rank, self.world, self.last)
            data = self.clock.timed("read", self._encoded, ids.tolist())
            labels = self.source.labels
            read = Read(ids, None if labels is None else labels[ids], valid, data, epoch)
            yield self.clock.timed("decode", self._making.prepare, read)

    def _made(self, place: NumPyPlace, epoch: int, first: int, count: int) -> Iterator[Made]:
        read = Ahead(self._read(epoch, first, count), self.prefetch, "cuaug-read")
        begun: deque[Begun] = deque()
        with contextlib.closing(read.__iter__()) as batches:
            for batch in batches:
                begun.append(self._making.begin(batch, place))
                if len(begun) > place.ahead:
                    yield self._making.finish(begun.popleft(), place)
        while begun:
            yield self._making.finish(begun.popleft(), place)

    def _encoded(self, ids: list[int]) -> Sequence[bytes | str] | EncodedFiles:
        if self._cache is None:
            found: Sequence[bytes | str] | EncodedFiles = self.source.read(ids, self._threads)
            return found
        missing = [i for i in dict.fromkeys(ids) if i not in self._cache]
        fresh = dict(zip(missing, self.source.read(missing, self._threads), strict=True))
        self._cache |= {i: data for i, data in fresh.items() if isinstance(data, bytes)}
        return [self._cache[i] if i in self._cache else fresh[i] for i in ids]

    def _note(self, bad: dict[int, str]) -> None:
        self.bad |= bad
        passed_over = self.max_bad and max(1, self.max_bad * len(self.source))
        if passed_over is not None and len(self.bad) > passed_over:
            listed = "".join(f"\n  {self.source.name(i)}: {reason}" for i, reason in list(self.bad.items())[:10])
            many = f"{len(self.bad)} of {len(self.source)} images"
            raise DecodeError(f"{many} cannot be decoded, more than max_bad={self.max_bad}:{listed}")

    @contextlib.contextmanager
    def _bar(self, first: int, count: int) -> Iterator[Any]:
        if not self.progress:
            yield lambda images: None
            return
        done, start = 0, time.perf_counter()
        with _tqdm()(total=count, initial=first, desc=f"epoch {self._epoch}") as bar:

            def advance(images: int) -> None:
                nonlocal done
                done += images
                rate = done / max(time.perf_counter() - start, 1e-9)
                bar.set_postfix_str(f"{rate:.0f} img/s, {self.clock.slowest}", refresh=False)
                bar.update()

            yield advance


def _shard(shard: Any) -> tuple[int, int]:
    if not isinstance(shard, Sequence) or len(shard) != 2:
        raise ValueError(f"shard must be (rank, ranks), got {shard!r}")
    rank, world = _check.integer("shard's rank", shard[0], 0), _check.integer("shard's ranks", shard[1], 1)
    if rank >= world:
        raise ValueError(f"shard must be (rank, ranks) with rank below ranks, got {shard!r}")
    return rank, world


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError as error:
        raise BackendError("progress needs tqdm: pip install tqdm") from error
