"""Parts of batches on their way to a GPU: decoded by the CPU's threads, and at the same time by the GPU's engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .._engine import Engine
from ._decoding import Part

_LEAST = 1 / 16  # of the images, for either
_LEARNED = 0.2  # of what a part has shown


class Pinned(Protocol):
    """Memory that a GPU copies from without stopping."""

    def take(self, shape: tuple[int, ...]) -> Any: ...
    def give(self, memory: Any) -> None:
        """To be taken again, once the copies that have been asked for are done."""


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
    """Shares parts out between the CPU and an engine, if there is one, so that both always have something to do."""

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self.cpu_pace, self.engine_pace = Pace(75e-6), Pace(25e-6)  # to begin with: on 16 cores and an H200

    @property
    def share(self) -> float:
        """Of the engine."""
        share = self.cpu_pace.each / (self.cpu_pace.each + self.engine_pace.each)
        return min(max(share, _LEAST), 1 - _LEAST)

    def chosen(self, part: Part) -> np.ndarray:
        """What is for the engine."""
        if self.engine is None:
            return np.arange(0)
        count = len(part.places)
        able = np.flatnonzero(part.encoded.engine_takes(part.regions)[part.places])
        return able[: max(1, min(round(self.share * count), count - 1))]


class OnWay:
    """A part that is being decoded, into slots [S, H, W, 3] on a device, on its current stream."""

    def __init__(self, decoders: Decoders, part: Part, slots: Any, pinned: Pinned) -> None:
        self._decoders, self._part, self._slots, self._pinned = decoders, part, slots, pinned
        self._chosen = decoders.chosen(part)
        self._rest = np.setdiff1d(np.arange(len(part.places)), self._chosen)
        self._begun = time.perf_counter()
        self._on_engine = None
        if decoders.engine is not None and len(self._chosen):
            places, slot = part.places[self._chosen].tolist(), self._chosen.tolist()
            self._on_engine = part.encoded.begin_on_device(decoders.engine, slots, part.regions, places, slot)
        self._on_cpu = self._begin_on_cpu(self._rest)

    def finish(self) -> Any:
        """The slots, once all is on its way to them."""
        done = self._finish_on_cpu(self._rest, *self._on_cpu)
        if len(self._rest):
            self._decoders.cpu_pace.learn(len(self._rest), self._begun, done)
        if self._on_engine is not None:
            done, failed = self._on_engine.finish()
            self._decoders.engine_pace.learn(len(self._chosen), self._begun, done)
            if failed:
                again = self._chosen[failed]
                self._finish_on_cpu(again, *self._begin_on_cpu(again))
        return self._slots

    def _begin_on_cpu(self, chosen: np.ndarray) -> tuple[Any, Callable[[], float]]:
        memory = self._pinned.take((len(chosen), *self._part.shape[1:]))
        return memory, self._part.begin(memory.numpy(), chosen)

    def _finish_on_cpu(self, chosen: np.ndarray, memory: Any, wait: Callable[[], float]) -> float:
        done = wait()
        for run in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(chosen) != 1) + 1):
            if len(run):
                first, last = int(chosen[run[0]]), int(chosen[run[-1]])
                self._slots[first : last + 1].copy_(memory[run[0] : run[-1] + 1], non_blocking=True)
        self._pinned.give(memory)
        return done
