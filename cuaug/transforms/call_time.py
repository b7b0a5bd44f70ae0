"""`time_call`: the host time of a recipe's call, and on a GPU its device time, for `Compose.plan`."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .._gpu.device_time import median_device_us
from .._gpu.devices import peak_bandwidth
from .._gpu.streams import synchronize_stream

_SECONDS = 0.1  # for the host time, and again for the device time
# Calls are queued in groups, whose launches take at most half of the launch queue, and which take about 20 ms at most.
_MAX_CALLS, _MAX_LAUNCHES, _GROUP_SECONDS = 20, 500, 0.02


class CallTime(NamedTuple):
    """Median times of a call. `device_us` and `peak_bandwidth` are None on a CPU."""

    host_us: float
    device_us: float | None = None
    peak_bandwidth: float | None = None


def time_call(call: Callable[[], Any], image: ImageBatch, launches: int) -> CallTime:
    """Median times of replayed calls, after the plan is made.

    `image`: one of the call's images; `launches`: launches per call, used on a GPU only.
    """
    for _ in range(2):  # the first call is planned and compiled; on a CPU the second is recorded
        call()
    if image.device < 0:
        return CallTime(_median_host_us(call, 1, lambda: None))
    stream = image.library.current_stream(image.device)
    wait = functools.partial(synchronize_stream, stream, image.device)
    wait()
    start = time.perf_counter()
    call()
    wait()
    seconds = time.perf_counter() - start
    calls_per_group = max(1, min(_MAX_CALLS, _MAX_LAUNCHES // launches, int(_GROUP_SECONDS / max(seconds, 1e-6))))
    host_us = _median_host_us(call, calls_per_group, wait)
    device_us = median_device_us(call, calls_per_group, stream, image.device, _SECONDS)
    return CallTime(host_us, device_us, peak_bandwidth(image.device))


def _median_host_us(call: Callable[[], Any], calls_per_group: int, wait: Callable[[], None]) -> float:
    """The median time until a call returns. `wait` follows each group, so that the launch queue does not fill up."""
    times, stop = list[float](), time.perf_counter() + _SECONDS
    while not times or time.perf_counter() < stop:
        for _ in range(calls_per_group):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        wait()
    return float(np.median(times)) * 1e6
