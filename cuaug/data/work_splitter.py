"""Divides the decoding of a batch for a GPU between the CPU's threads and nvJPEG."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._arrays.registry import library_of
from .._codecs.copy_boxes import box_copies, consecutive_layout
from .._codecs.nvjpeg import Engine
from .decoding import SlotLayout

_MIN_SHARE = 1 / 16  # of a batch's images, for the CPU and for nvJPEG
_SMOOTHING = 0.2  # weight of the latest batch in a cost model


class PinnedMemory(Protocol):
    """Pinned host memory, from which copies to the GPU are asynchronous."""

    def take(self, size: int) -> Any: ...
    def copy_to_slots(self, memory: Any, copies: np.ndarray) -> None:
        """Copies rectangles of the memory (records of `box_copies`) to the GPU, then releases the memory."""


class CostModel:
    """Estimates the seconds that a busy decoder takes per unit of cost."""

    def __init__(self, seconds_per_unit: float) -> None:
        self._seconds, self._cost, self._last_end = seconds_per_unit, 1.0, 0.0

    @property
    def seconds_per_unit(self) -> float:
        return self._seconds / self._cost

    def update(self, cost: float, start: float, end: float) -> None:
        """Adds the work of one batch, without the time in which it waited for the batch before.

        Seconds and costs are averaged separately, so that small batches, whose time is mostly start-up, weigh little.
        """
        seconds = max(end - max(start, self._last_end), 1e-9)
        self._last_end = end
        self._seconds += _SMOOTHING * (seconds - self._seconds)
        self._cost += _SMOOTHING * (cost - self._cost)


class WorkSplitter:
    """Divides batches between the CPU and nvJPEG (if there is an `engine`) so that neither waits for the other."""

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        # Initial values, in seconds per unit of cost: those of 16 cores and an H200.
        self.cpu_model: CostModel = CostModel(1.2e-9)
        self.engine_model: CostModel = CostModel(1.3e-10)

    def select_for_engine(self, decodable: np.ndarray, cpu_costs: np.ndarray, engine_costs: np.ndarray) -> np.ndarray:
        """Indices of the images for nvJPEG.

        Images are taken in the order of the CPU's cost per nvJPEG's cost, highest first, until the estimated times of
        both are equal.

        Args:
            decodable: Whether nvJPEG can decode the image. [N]
            cpu_costs: In the CPU's unit of cost. [N]
            engine_costs: In nvJPEG's unit of cost. [N]
        """
        if self.engine is None:
            return np.arange(0)
        indices = np.flatnonzero(decodable)
        indices = indices[np.argsort(-(cpu_costs / engine_costs)[indices], kind="stable")]
        cpu_seconds = self.cpu_model.seconds_per_unit * (cpu_costs.sum() - np.cumsum(cpu_costs[indices]))
        engine_seconds = self.engine_model.seconds_per_unit * np.cumsum(engine_costs[indices])
        min_count = math.ceil(len(decodable) * _MIN_SHARE)
        balanced_count = int(np.searchsorted(engine_seconds - cpu_seconds, 0))
        return indices[: min(max(balanced_count, min_count), max(len(decodable) - min_count, 1))]


class InFlightBatch:
    """A batch that is being decoded into a device's memory [M]. Copies to it are queued on the current stream."""

    def __init__(self, splitter: WorkSplitter, slots: SlotLayout, memory: Any, pinned: PinnedMemory) -> None:
        self._splitter, self._slots, self._memory, self._pinned = splitter, slots, memory, pinned
        self._start = time.perf_counter()
        self._engine_decode: Any = None
        self._cpu_cost = self._engine_cost = 0.0
        if splitter.engine is None:
            self._cpu_decode = self._start_on_cpu(np.arange(len(slots.order)))
        else:
            self._divide(splitter.engine)

    def _divide(self, engine: Engine) -> None:
        """Starts the engine on its share of the images, and the CPU on the others."""
        slots, splitter = self._slots, self._splitter
        encoded, images = slots.encoded, slots.order
        # Costs and flags are in the order of the slots, so the splitter's indices are indices of slots.
        cpu_costs, engine_costs = (costs[images] for costs in encoded.decode_costs(slots.regions))
        decodable = encoded.decodable_by_engine(slots.regions)[images]
        self._engine_slots = splitter.select_for_engine(decodable, cpu_costs, engine_costs)
        on_cpu = np.ones(len(images), bool)
        on_cpu[self._engine_slots] = False
        self._cpu_cost, self._engine_cost = cpu_costs[on_cpu].sum(), engine_costs[self._engine_slots].sum()
        if len(self._engine_slots):
            destinations = self._destinations(self._engine_slots)
            request = encoded.engine_request(destinations, slots.regions, images[self._engine_slots])
            library = library_of(type(self._memory))
            assert library is not None
            self._engine_decode = engine.begin(request, library)
        self._cpu_decode = self._start_on_cpu(np.flatnonzero(on_cpu))

    def finish(self) -> Any:
        """The memory, once the copies that fill it are queued on the stream."""
        end = self._finish_on_cpu(self._cpu_decode)
        if self._cpu_cost:
            self._splitter.cpu_model.update(self._cpu_cost, self._start, end)
        if self._engine_decode is not None:
            end, failed = self._engine_decode.finish()
            self._splitter.engine_model.update(self._engine_cost, self._start, end)
            if failed:
                self._finish_on_cpu(self._start_on_cpu(self._engine_slots[failed]))
        return self._memory

    def _destinations(self, slot_indices: np.ndarray) -> np.ndarray:
        """Address of each slot, and bytes from row to row. [P, 2]"""
        offset, pitch = self._slots.offset[slot_indices], self._slots.pitch[slot_indices]
        return np.array([self._memory.data_ptr() + offset, pitch]).T

    def _start_on_cpu(self, slot_indices: np.ndarray) -> _PinnedDecode:
        slots = self._slots
        images = slots.order[slot_indices]
        sizes = slots.regions[images, 3:]
        offset, pitch = consecutive_layout(sizes).T
        memory = self._pinned.take(int((offset + pitch * sizes[:, 0]).max(initial=1)))
        copies = box_copies(offset, pitch, self._destinations(slot_indices), sizes)
        wait = slots.encoded.start_decode(memory.numpy(), offset, pitch, slots.regions, images)
        return _PinnedDecode(memory, copies, wait)

    def _finish_on_cpu(self, decode: _PinnedDecode) -> float:
        end = decode.wait()
        self._pinned.copy_to_slots(decode.memory, decode.copies)
        return end


class _PinnedDecode(NamedTuple):
    """Regions that the CPU decodes into pinned memory, one after another."""

    memory: Any
    copies: np.ndarray  # records of `cuaug::BoxCopy`; input addresses are offsets in the memory
    wait: Callable[[], float]
