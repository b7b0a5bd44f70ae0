"""CUDA streams and events."""

from __future__ import annotations

from typing import Any, NamedTuple

from .cupy_import import cupy
from .devices import use_device


class Stream(NamedTuple):
    """A stream by its address, for CuPy's events, which read the attribute `ptr`."""

    ptr: int


def is_capturing(stream: int) -> bool:
    """Whether a CUDA graph is capturing the stream's launches."""
    return bool(cupy().cuda.runtime.streamIsCapturing(stream))


def synchronize_stream(stream: int, device: int) -> None:
    """Waits for all work on the stream."""
    with use_device(device):
        cupy().cuda.runtime.streamSynchronize(stream)


def nonblocking_stream() -> Any:
    """A new stream of the current device that does not synchronize with the default stream. Its address is ``ptr``."""
    return cupy().cuda.Stream(non_blocking=True)


def current_stream() -> Any:
    """CuPy's current stream of the current device. Its address is ``ptr``."""
    return cupy().cuda.get_current_stream()


def blocking_sync_event() -> Any:
    """A new event of the current device, at ``ptr``. Threads that wait for it sleep; for a stream they would spin."""
    return cupy().cuda.Event(block=True, disable_timing=True)


def record_event(stream: int, disable_timing: bool = True) -> Any:
    """A new event that completes after the work submitted to a stream of the current device so far."""
    event = cupy().cuda.Event(disable_timing=disable_timing)
    event.record(Stream(stream))
    return event


def elapsed_us(start: Any, end: Any) -> float:
    """The device time from one event with timing to another, both complete."""
    return float(cupy().cuda.get_elapsed_time(start, end)) * 1e3


def fill_memory(address: int, size: int, stream: int) -> None:
    """Sets `size` bytes of the current device to 0, on a stream."""
    cupy().cuda.runtime.memsetAsync(address, 0, size, stream)
