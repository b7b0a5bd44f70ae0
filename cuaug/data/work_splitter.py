"""Batches on their way to a GPU: decoded by the CPU's threads, and at the same time by the GPU's engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._arrays.registry import library_of
from .._codecs.copy_boxes import box_copies, packed_layout
from .._codecs.nvjpeg import Engine
from .decoding import Slots

_LEAST = 1 / 16  # of the images, for either
_LEARNED = 0.2  # of what is known, from the last batch


class Pinned(Protocol):
    """Memory that a GPU copies from without stopping."""

    def take(self, size: int) -> Any: ...
    def send(self, memory: Any, pieces: np.ndarray) -> None:
        """Pieces of it, as `copy_boxes` has them, to where they are wanted; then it may be taken again."""


class Pace:
    """How many seconds one of the two takes for a unit of its costs, when it has enough to do."""

    def __init__(self, each: float) -> None:
        self._spent, self._cost, self._done = each, 1.0, 0.0

    @property
    def each(self) -> float:
        return self._spent / self._cost

    def learn(self, cost: float, begun: float, done: float) -> None:
        """From a share that was begun and done then; it may have had to wait for the one before.

        A small share says little: how long it takes to begin counts most in it.
        """
        spent = max(done - max(begun, self._done), 1e-9)
        self._done = done
        self._spent += _LEARNED * (spent - self._spent)
        self._cost += _LEARNED * (cost - self._cost)


class Decoders:
    """Shares batches out between the CPU and an engine, if there is one, so that both always have something to do."""

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self.cpu_pace, self.engine_pace = Pace(1.2e-9), Pace(1.3e-10)  # to begin with: on 16 cores and an H200

    def for_engine(self, able: np.ndarray, on_cpu: np.ndarray, on_engine: np.ndarray) -> np.ndarray:
        """Which images the engine decodes: those that it saves the CPU most for, until both take as long.

        Args:
            able: Whether it can. [N]
            on_cpu: What each would cost the CPU. [N]
            on_engine: And the engine. [N]
        """
        if self.engine is None:
            return np.arange(0)
        places = np.flatnonzero(able)
        places = places[np.argsort(-(on_cpu / on_engine)[places], kind="stable")]
        cpu = self.cpu_pace.each * (on_cpu.sum() - np.cumsum(on_cpu[places]))
        engine = self.engine_pace.each * np.cumsum(on_engine[places])
        least = math.ceil(len(able) * _LEAST)
        count = min(max(int(np.searchsorted(engine - cpu, 0)), least), max(len(able) - least, 1))
        return places[:count]


class OnWay:
    """A batch that is being decoded, into a device's memory [M], for its current stream."""

    def __init__(self, decoders: Decoders, slots: Slots, memory: Any, pinned: Pinned) -> None:
        self._decoders, self._slots, self._memory, self._pinned = decoders, slots, memory, pinned
        encoded, places = slots.encoded, slots.order
        costs = [cost[places] for cost in encoded.costs(slots.regions)]
        self._chosen = decoders.for_engine(encoded.engine_takes(slots.regions)[places], *costs)
        on_cpu = np.ones(len(places), bool)
        on_cpu[self._chosen] = False
        self._costs = costs[0][on_cpu].sum(), costs[1][self._chosen].sum()
        self._begun, self._on_engine = time.perf_counter(), None
        if decoders.engine is not None and len(self._chosen):
            cuts = encoded.for_engine(self._target(self._chosen), slots.regions, places[self._chosen])
            library = library_of(type(memory))
            assert library is not None
            self._on_engine = decoders.engine.begin(cuts, library)
        self._on_cpu = self._begin_on_cpu(np.flatnonzero(on_cpu))

    def finish(self) -> Any:
        """The memory, once all is on its way there."""
        on_cpu, on_engine = self._costs
        done = self._finish_on_cpu(self._on_cpu)
        if on_cpu:
            self._decoders.cpu_pace.learn(on_cpu, self._begun, done)
        if self._on_engine is not None:
            done, failed = self._on_engine.finish()
            self._decoders.engine_pace.learn(on_engine, self._begun, done)
            if failed:
                self._finish_on_cpu(self._begin_on_cpu(self._chosen[failed]))
        return self._memory

    def _target(self, chosen: np.ndarray) -> np.ndarray:
        """Where slots begin, and bytes from a row to the next. [N, 2]"""
        return np.array([self._memory.data_ptr() + self._slots.offset[chosen], self._slots.pitch[chosen]]).T

    def _begin_on_cpu(self, chosen: np.ndarray) -> _Staged:
        slots = self._slots
        places = slots.order[chosen]
        sizes = slots.regions[places, 3:]
        offset, pitch = packed_layout(sizes).T
        memory = self._pinned.take(int((offset + pitch * sizes[:, 0]).max(initial=1)))
        pieces = box_copies(offset, pitch, self._target(chosen), sizes)
        return _Staged(memory, pieces, slots.encoded.begin(memory.numpy(), offset, pitch, slots.regions, places))

    def _finish_on_cpu(self, staged: _Staged) -> float:
        done = staged.wait()
        self._pinned.send(staged.memory, staged.pieces)
        return done


class _Staged(NamedTuple):
    """Regions that the CPU decodes, in memory of their own, one after the other."""

    memory: Any
    pieces: np.ndarray  # of `cuaug::BoxCopy`, from places in the memory
    wait: Callable[[], float]
