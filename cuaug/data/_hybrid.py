"""Parts of batches decoded by a GPU's engine and the CPU's threads at once."""

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
_WAITING = 0.1  # of the time, where the engine has as much to do as it can
_LEARNED = 0.1  # of the difference from that


class Hybrid:
    """Shares parts out so that both are busy: the CPU waits for the engine now and then, and never for long."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.share = 0.75  # of the engine
        self.beside = ThreadPoolExecutor(2, "cuaug-engine")
        self._finished = 0.0

    def begin(self, part: Part, slots: Any, making: Callable[[], AbstractContextManager[Any]]) -> Shared:
        """Sets the engine to work, into slots [S, H, W, 3] on the device; `making` chooses the stream."""
        count = len(part.places)
        able = np.flatnonzero(part.encoded.engine_takes(part.regions)[part.places])
        return Shared(self, part, slots, able[: max(1, min(round(self.share * count), count - 1))], making)

    def learn(self, waited: float) -> None:
        """From how many seconds the engine was waited for, for a part of which both had some."""
        now = time.perf_counter()
        waiting = waited / max(now - self._finished, 1e-9)
        self._finished = now
        self.share = min(max(self.share + _LEARNED * (_WAITING - waiting), _LEAST), 1 - _LEAST)


class Shared:
    """A part that the engine is at."""

    def __init__(
        self,
        hybrid: Hybrid,
        part: Part,
        slots: Any,
        chosen: np.ndarray,
        making: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._hybrid, self._part, self._slots, self._chosen, self._making = hybrid, part, slots, chosen, making
        self._beside: Future[list[int]] | None = hybrid.beside.submit(self._on_engine) if len(chosen) else None

    def finish(self, pinned: Pinned) -> None:
        """Decodes the others here."""
        part = self._part
        rest = np.setdiff1d(np.arange(len(part.places)), self._chosen)
        self._on_cpu(pinned, rest)
        if self._beside is None:
            return
        start = time.perf_counter()
        failed = self._beside.result()
        if len(rest):
            self._hybrid.learn(time.perf_counter() - start)
        if failed:
            self._on_cpu(pinned, np.flatnonzero(np.isin(part.places, failed)))

    def _on_engine(self) -> list[int]:
        part, chosen = self._part, self._chosen
        with self._making():
            places = part.places[chosen].tolist()
            return part.encoded.into_device(self._hybrid.engine, self._slots, part.regions, places, chosen.tolist())

    def _on_cpu(self, pinned: Pinned, chosen: np.ndarray) -> None:
        if not len(chosen):
            return
        with pinned((len(chosen), *self._part.shape[1:])) as decoded:
            self._part.into(decoded.numpy(), chosen)
            for run in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(chosen) != 1) + 1):
                first, last = int(chosen[run[0]]), int(chosen[run[-1]])
                self._slots[first : last + 1].copy_(decoded[run[0] : run[-1] + 1], non_blocking=True)
