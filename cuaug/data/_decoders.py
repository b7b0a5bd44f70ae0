"""Batches on their way to a GPU: decoded by the CPU's threads, and at the same time by the GPU's engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import _array
from .._engine import Engine
from ._decoding import Slots

_LEAST = 1 / 16  # of the images, for either
_LEARNED = 0.2  # of what a batch has shown


class Pinned(Protocol):
    """Memory that a GPU copies from without stopping."""

    def take(self, size: int) -> Any: ...
    def give(self, memory: Any) -> None:
        """To be taken again, once the copies that have been asked for are done."""


class Pace:
    """How many seconds one of the two takes for an image, when it has enough to do."""

    def __init__(self, each: float) -> None:
        self.each = each
        self._done = 0.0

    def learn(self, images: int, begun: float, done: float) -> None:
        """From a share that was begun and done then; it may have had to wait for the one before."""
        spent = max(done - max(begun, self._done), 1e-9)
        self._done = done
        self.each += _LEARNED * (spent / images - self.each)


class Decoders:
    """Shares batches out between the CPU and an engine, if there is one, so that both always have something to do."""

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self.cpu_pace, self.engine_pace = Pace(75e-6), Pace(25e-6)  # to begin with: on 16 cores and an H200

    @property
    def share(self) -> float:
        """Of the engine."""
        share = self.cpu_pace.each / (self.cpu_pace.each + self.engine_pace.each)
        return min(max(share, _LEAST), 1 - _LEAST)

    def chosen(self, slots: Slots) -> np.ndarray:
        """Which slots are for the engine."""
        if self.engine is None:
            return np.arange(0)
        count = len(slots.order)
        able = np.flatnonzero(slots.encoded.engine_takes(slots.regions)[slots.order])
        return able[: max(1, min(round(self.share * count), count - 1))]


class OnWay:
    """A batch that is being decoded, into a device's memory [M], for its current stream."""

    def __init__(self, decoders: Decoders, slots: Slots, memory: Any, pinned: Pinned) -> None:
        self._decoders, self._slots, self._memory, self._pinned = decoders, slots, memory, pinned
        self._chosen = decoders.chosen(slots)
        on_cpu = np.ones(len(slots.order), bool)
        on_cpu[self._chosen] = False
        self._begun, self._on_engine = time.perf_counter(), None
        if decoders.engine is not None and len(self._chosen):
            address, pitch = memory.data_ptr() + slots.offset[self._chosen], slots.pitch[self._chosen]
            cuts = slots.encoded.for_engine(address, pitch, slots.regions, slots.order[self._chosen])
            library = _array.library(type(memory))
            assert library is not None
            self._on_engine = decoders.engine.begin(cuts, library)
        self._on_cpu = self._begin_on_cpu(np.flatnonzero(on_cpu))

    def finish(self) -> Any:
        """The memory, once all is on its way there."""
        rest, done = self._on_cpu.images, self._finish_on_cpu(self._on_cpu)
        if rest:
            self._decoders.cpu_pace.learn(rest, self._begun, done)
        if self._on_engine is not None:
            done, failed = self._on_engine.finish()
            self._decoders.engine_pace.learn(len(self._chosen), self._begun, done)
            if failed:
                self._finish_on_cpu(self._begin_on_cpu(self._chosen[failed]))
        return self._memory

    def _begin_on_cpu(self, chosen: np.ndarray) -> _Staged:
        slots = self._slots
        ends = np.cumsum(slots.bytes[chosen])
        memory = self._pinned.take(int(ends[-1]) if len(ends) else 1)
        offset, pitch, places = ends - slots.bytes[chosen], slots.pitch[chosen], slots.order[chosen]
        # Slots side by side here and there are copied at once.
        away = slots.offset[chosen] - offset
        last = [*np.flatnonzero(away[1:] != away[:-1]).tolist(), len(away) - 1] if len(away) else []
        runs = list(zip(ends[last].tolist(), away[last].tolist(), strict=True))
        wait = slots.encoded.begin(memory.numpy(), offset, pitch, slots.regions, places)
        return _Staged(len(chosen), memory, runs, wait)

    def _finish_on_cpu(self, staged: _Staged) -> float:
        done = staged.wait()
        first = 0
        for end, to in staged.runs:
            self._memory[first + to : end + to].copy_(staged.memory[first:end], non_blocking=True)
            first = end
        self._pinned.give(staged.memory)
        return done


class _Staged(NamedTuple):
    """Slots that the CPU decodes, in memory of their own."""

    images: int
    memory: Any
    runs: list[tuple[int, int]]  # where one ends in the memory, and how far further on its slots lie
    wait: Callable[[], float]
