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

_LEARNED = 0.25  # of what a part has shown
_LEAST = 1 / 16  # of the images, for either


class Hybrid:
    """Shares parts out so that engine and CPU work equally long, as they did on those before."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.share = 0.5  # of the engine
        # One is at the engine, and another prepares what comes next, or takes away what came before.
        self.beside = ThreadPoolExecutor(2, "cuaug-engine")
        self._finished = 0.0

    def begin(self, part: Part, slots: Any, making: Callable[[], AbstractContextManager[Any]]) -> Shared:
        """Sets the engine to work, into slots [S, H, W, 3] on the device; `making` chooses the stream."""
        count = len(part.places)
        able = np.flatnonzero(part.encoded.engine_takes(part.regions)[part.places])
        return Shared(self, part, slots, able[: max(1, min(round(self.share * count), count - 1))], making)

    def learn(self, engine: float, waited: float, cpu: float, share: float) -> None:
        """From how long the engine has worked, was waited for, and the CPU has decoded, where it had this share."""
        now = time.perf_counter()
        busy = min(now - self._finished, 4 * cpu) - waited  # with all that is not decoding, but without long pauses
        self._finished = now
        better = share + _LEARNED * (busy - engine) / (engine / share + cpu / (1 - share))
        self.share = min(max(better, _LEAST), 1 - _LEAST)


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
        self._beside: Future[tuple[list[int], float]] | None = None
        if len(chosen):
            self._beside = hybrid.beside.submit(self._on_engine)

    def finish(self, pinned: Any) -> None:
        """Decodes the others here, over pinned slots."""
        rest = np.setdiff1d(np.arange(len(self._part.places)), self._chosen)
        start = time.perf_counter()
        self._on_cpu(pinned, rest)
        decoded = time.perf_counter()
        if self._beside is None:
            return
        failed, seconds = self._beside.result()
        waited = time.perf_counter() - decoded
        self._on_cpu(pinned, np.flatnonzero(np.isin(self._part.places, failed)))
        if len(rest):
            self._hybrid.learn(seconds, waited, decoded - start, len(self._chosen) / len(self._part.places))

    def _on_engine(self) -> tuple[list[int], float]:
        part, chosen = self._part, self._chosen
        with self._making():
            places = part.places[chosen].tolist()
            return part.encoded.into_device(self._hybrid.engine, self._slots, part.regions, places, chosen.tolist())

    def _on_cpu(self, pinned: Any, slot: np.ndarray) -> None:
        if not len(slot):
            return
        self._part.into(pinned.numpy(), slot)
        for run in np.split(slot, np.flatnonzero(np.diff(slot) != 1) + 1):
            rows = slice(int(run[0]), int(run[-1]) + 1)
            self._slots[rows].copy_(pinned[rows], non_blocking=True)
