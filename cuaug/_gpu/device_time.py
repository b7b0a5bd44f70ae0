"""The device time of calls, between CUDA events."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .devices import device_memory, use_device
from .streams import elapsed_us, fill_memory, record_event

_FILL_BYTES = 1 << 26  # to fill them takes 22 us at 3 TB/s: longer than the host takes to launch the fill
_FIRST_FILLS, _MAX_FILLS = 16, 512


def median_device_us(call: Callable[[], Any], calls_per_group: int, stream: int, device: int, seconds: float) -> float:
    """The median device time of a call, from several groups of calls, each between two events of the stream.

    Before the first event the device fills memory, at most `_MAX_FILLS` times, until the host has queued the group.
    Without this delay a device that is faster than the host would wait for the host between the events. If a call
    waits for the device, the wait is part of the result.

    Args:
        call: Queues its work on the stream; has been called before.
        calls_per_group: Their launches must fit into half of the launch queue. It holds about 1,000; fills may take
            the other half.
        stream: A stream of the device.
        device: Its number.
        seconds: New groups start until this time has passed; there is at least one.
    """
    times, fills, stop = list[float](), _FIRST_FILLS, time.perf_counter() + seconds
    with use_device(device):
        memory = device_memory(_FILL_BYTES)
        while not times or time.perf_counter() < stop:
            for _ in range(fills):
                fill_memory(memory.ptr, _FILL_BYTES, stream)
            start = record_event(stream, disable_timing=False)
            for _ in range(calls_per_group):
                call()
            end = record_event(stream, disable_timing=False)
            fill_too_short = start.done  # the device reached the event before the whole group was queued
            end.synchronize()
            if fill_too_short and fills < _MAX_FILLS:
                fills *= 2
            else:
                times.append(elapsed_us(start, end) / calls_per_group)
    return float(np.median(times))
