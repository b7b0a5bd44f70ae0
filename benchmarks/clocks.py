"""Clocks: device time of queued GPU work, host time of calls, and the minimum wall time of CPU work."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

COPY_BYTES = 1 << 30  # of the device copy that defines the floor: far larger than any cache
REPEATS = 15
CYCLES_PER_US = 1500.0  # of torch.cuda._sleep; fewer on a slower clock


class Time(NamedTuple):
    """Times of one call in us: on the device alone, and wall time of calls back to back, with the host side."""

    us: float
    wall_us: float
    method: str  # "graph": replays of a captured graph; "events": CUDA events around queued calls; "host": a host clock


def gpu(run: Callable[[int], Any], buffers: int, capture: bool) -> Time:
    """Median times of one call; successive calls use ``buffers`` buffers in rotation.

    Before a measurement of device time the GPU sleeps while the host queues the calls, for at most 50 ms.
    """
    import torch

    # Kept until the buffer's next call: a freed result's memory would be used again at once, and still be in the cache.
    results = [run(i) for i in range(buffers)]

    def run_rounds(rounds: int) -> None:
        for _ in range(rounds):
            for i in range(buffers):
                results[i] = run(i)

    def wall(work: Callable[[], Any]) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6

    def queued(work: Callable[[], Any], sleep_us: float) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(int(CYCLES_PER_US * sleep_us))
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    run_rounds(1)
    round_us = wall(lambda: run_rounds(1))
    rounds = max(1, min(math.ceil(4000 / round_us), 400 // buffers))  # about 4 ms, at most 400 calls
    repeats = REPEATS if round_us < 1e5 else 3
    calls = rounds * buffers
    wall_us = statistics.median(wall(lambda: run_rounds(rounds)) for _ in range(repeats))
    if capture:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                run_rounds(rounds)
            graph.replay()
            torch.cuda.synchronize()
            us = statistics.median(queued(graph.replay, 300) for _ in range(repeats))
            return Time(us / calls, wall_us / calls, "graph")
        except RuntimeError as error:
            print(f"    not captured, timed by events: {str(error).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
    sleep_us = min(2 * wall_us, 50_000)
    us = statistics.median(queued(lambda: run_rounds(rounds), sleep_us) for _ in range(repeats))
    return Time(us / calls, wall_us / calls, "events")


def bandwidth() -> float:
    """Bytes per second of a device copy, counting reads and writes."""
    import torch

    source = torch.zeros(COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * COPY_BYTES / gpu(lambda i: target.copy_(source), 1, False).us * 1e6


def host_us(call: Callable[[], Any], wait: Callable[[], Any], seconds: float = 1.0) -> float:
    """The minimum host time of a call in us, over groups of 20 calls, which the launch queue can hold.

    There are at least 15 groups, and at most 100 within ``seconds``. The first group has the slow first calls, whose
    launches are not replayed. ``wait`` waits for the device; it is called before each group.
    """
    best, stop = math.inf, time.perf_counter() + seconds
    for group in range(100):
        if group >= 15 and time.perf_counter() > stop:
            break
        wait()
        start = time.perf_counter()
        for _ in range(20):
            call()
        best = min(best, (time.perf_counter() - start) / 20)
    wait()
    return best * 1e6


def interleaved(calls: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Minimum wall time of each call in us; the calls alternate, so that other load on the machine affects all.

    Each call is repeated for about ``seconds``, from 5 to 200 times. A pause before each lets the idle threads of the
    previous call go to sleep.
    """
    best = dict.fromkeys(calls, math.inf)
    stop = time.perf_counter() + seconds * len(calls)
    rounds = 0
    while rounds < 5 or (time.perf_counter() < stop and rounds < 200):
        for name, call in calls.items():
            time.sleep(0.003)
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
        rounds += 1
    return {name: value * 1e6 for name, value in best.items()}
