"""CUDA streams and events."""

from __future__ import annotations

from typing import Any, NamedTuple

from .cupy_import import cupy
from .devices import use_device


class Stream(NamedTuple):
    """What cupy's launch asks of a stream."""

    ptr: int


def is_capturing(stream: int) -> bool:
    """Whether what is launched on a stream goes into a CUDA graph."""
    return bool(cupy().cuda.runtime.streamIsCapturing(stream))


def synchronize_stream(stream: int, index: int) -> None:
    """For all that was launched on a stream."""
    with use_device(index):
        cupy().cuda.runtime.streamSynchronize(stream)


def nonblocking_stream() -> Any:
    """A stream of the current device, at ``ptr``, that waits for no other."""
    return cupy().cuda.Stream(non_blocking=True)


def current_stream() -> Any:
    """CuPy's, of the current device, at ``ptr``."""
    return cupy().cuda.get_current_stream()


def blocking_sync_event() -> Any:
    """One of the current device, at ``ptr``, that threads sleep for: who waits for a stream keeps a processor busy."""
    return cupy().cuda.Event(block=True, disable_timing=True)


def record_event(stream: int) -> Any:
    """Something to wait for: all that has been launched on a stream of the current device."""
    found = cupy().cuda.Event(disable_timing=True)
    found.record(Stream(stream))
    return found
