"""A batch of JPEGs decoded by a GPU's engine and the CPU's threads at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from .._engine import Engine
from ._decoding import Encoded

_LEARNED = 0.25  # of what a batch has shown
_LEAST = 1 / 16  # of the images for either, so that its rate stays known


class Hybrid:
    """Shares batches out by how many images a second engine and CPU have decoded of those before."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._beside = ThreadPoolExecutor(1, "cuaug-engine")
        self.share = 0.5  # of the engine

    def decode(
        self,
        encoded: Encoded,
        regions: np.ndarray,
        places: np.ndarray,
        pinned: Any,
        slots: Any,
        making: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        """As `Encoded.into`, into slots [N, H, W, 3] on the device, over pinned ones. `making` chooses the stream."""

        def on_engine() -> tuple[float, list[int]]:
            start = time.perf_counter()
            with making():
                failed = encoded.into_device(self._engine, slots, regions, places[chosen].tolist(), chosen.tolist())
            return time.perf_counter() - start, failed

        def on_cpu(part: np.ndarray) -> None:
            encoded.into(pinned.numpy(), regions, places[part].tolist(), part.tolist())
            for run in np.split(part, np.flatnonzero(np.diff(part) != 1) + 1):
                rows = slice(int(run[0]), int(run[-1]) + 1)
                slots[rows].copy_(pinned[rows], non_blocking=True)

        able = np.flatnonzero(encoded.engine_takes(regions)[places])
        chosen = able[: max(1, min(round(self.share * len(places)), len(places) - 1))]
        rest = np.setdiff1d(np.arange(len(places)), chosen)
        beside = self._beside.submit(on_engine) if len(chosen) else None
        start = time.perf_counter()
        if len(rest):
            on_cpu(rest)
        seconds = time.perf_counter() - start
        if beside is None:
            return
        engine_seconds, failed = beside.result()
        if failed:
            on_cpu(np.flatnonzero(np.isin(places, failed)))
        if len(rest):
            self._learn(len(chosen) / engine_seconds, len(rest) / seconds)

    def _learn(self, engine: float, cpu: float) -> None:
        share = min(max(engine / (engine + cpu), _LEAST), 1 - _LEAST)
        self.share += _LEARNED * (share - self.share)
