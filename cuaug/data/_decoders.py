"""Parts of batches on their way to a GPU: decoded by the CPU's threads, and at the same time by the GPU's engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from .._engine import Engine
from ._decoding import Part

# Memory of a shape that a GPU copies from without stopping, to be used within a `with`.
Pinned = Callable[[tuple[int, ...]], AbstractContextManager[Any]]
_LEAST = 1 / 16  # of the images, for either
_LEARNED = 0.2  # of what a part has shown


class Pace:
    """How many seconds one of the two takes for an image, when it has enough to do."""

    def __init__(self, each: float) -> None:
        self.each = each
        self._done = 0.0

    def learn(self, images: int, begun: float, done: float) -> None:
        """From a part that was begun and done then; it may have had to wait for the one before."""
        spent = max(done - max(begun, self._done), 1e-9)
        self._done = done
        self.each += _LEARNED * (spent / images - self.each)


class Decoders:
    """Shares parts out between the CPU and an engine, if there is one, so that they are done at the same time.

    Two parts are at each of them: while one comes to its end, the other keeps it busy.
    """

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self._on_cpu = ThreadPoolExecutor(2, "cuaug-cpu")
        self._on_engine = ThreadPoolExecutor(2, "cuaug-engine")
        self.cpu_pace, self.engine_pace = Pace(75e-6), Pace(25e-6)  # to begin with: on 16 cores and an H200

    @property
    def share(self) -> float:
        """Of the engine."""
        share = self.cpu_pace.each / (self.cpu_pace.each + self.engine_pace.each)
        return min(max(share, _LEAST), 1 - _LEAST)

    def begin(self, part: Part, slots: Any, making: Callable[[], AbstractContextManager[Any]], pinned: Pinned) -> OnWay:
        """Into slots [S, H, W, 3] on the device, on the stream that `making` chooses."""
        chosen = self._chosen(part)
        rest = np.setdiff1d(np.arange(len(part.places)), chosen)
        way = _Way(part, slots, making, pinned)
        on_engine = self._on_engine.submit(way.by_engine, self.engine, chosen) if len(chosen) else None
        on_cpu = self._on_cpu.submit(way.by_cpu, rest) if len(rest) else None
        return OnWay(self, way, (len(chosen), len(rest)), on_engine, on_cpu)

    def _chosen(self, part: Part) -> np.ndarray:
        """What is for the engine."""
        if self.engine is None:
            return np.arange(0)
        count = len(part.places)
        able = np.flatnonzero(part.encoded.engine_takes(part.regions)[part.places])
        return able[: max(1, min(round(self.share * count), count - 1))]


class OnWay:
    """A part that is being decoded."""

    def __init__(
        self,
        decoders: Decoders,
        way: _Way,
        counts: tuple[int, int],
        on_engine: Future[tuple[float, list[int]]] | None,
        on_cpu: Future[float] | None,
    ) -> None:
        self._decoders, self._way, self._counts, self._begun = decoders, way, counts, time.perf_counter()
        self._on_engine, self._on_cpu = on_engine, on_cpu

    def finish(self) -> Any:
        """The slots, once all is on its way to them."""
        decoders, (by_engine, by_cpu) = self._decoders, self._counts
        if self._on_cpu is not None:
            decoders.cpu_pace.learn(by_cpu, self._begun, self._on_cpu.result())
        if self._on_engine is not None:
            done, failed = self._on_engine.result()
            decoders.engine_pace.learn(by_engine, self._begun, done)
            if failed:
                self._way.by_cpu(np.flatnonzero(np.isin(self._way.part.places, failed)))
        return self._way.slots


class _Way:
    """From files to slots."""

    def __init__(
        self, part: Part, slots: Any, making: Callable[[], AbstractContextManager[Any]], pinned: Pinned
    ) -> None:
        self.part, self.slots, self._making, self._pinned = part, slots, making, pinned

    def by_engine(self, engine: Engine, chosen: np.ndarray) -> tuple[float, list[int]]:
        """When it was done, and what it failed at."""
        part = self.part
        with self._making():
            places = part.places[chosen].tolist()
            failed = part.encoded.into_device(engine, self.slots, part.regions, places, chosen.tolist())
            return time.perf_counter(), failed

    def by_cpu(self, chosen: np.ndarray) -> float:
        """When it was done."""
        with self._making(), self._pinned((len(chosen), *self.part.shape[1:])) as decoded:
            self.part.into(decoded.numpy(), chosen)
            for run in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(chosen) != 1) + 1):
                first, last = int(chosen[run[0]]), int(chosen[run[-1]])
                self.slots[first : last + 1].copy_(decoded[run[0] : run[-1] + 1], non_blocking=True)
        return time.perf_counter()
