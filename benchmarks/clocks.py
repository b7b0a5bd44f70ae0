"""Clocks: device time of queued GPU work, and the least wall time of CPU work in turns."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

COPY = 1 << 30  # bytes of the copy that is the floor: far beyond any cache
REPEATS = 15
CYCLES = 1500.0  # of torch.cuda._sleep in a us, or more


class Time(NamedTuple):
    """Of one call in us: on the device alone, and back to back with the host side at work."""

    us: float
    wall_us: float
    method: str  # "graph": a captured graph replayed; "events": around queued calls; "host": a host clock


def gpu(run: Callable[[int], Any], buffers: int, capture: bool) -> Time:
    """Median times of one call, which takes turns on ``buffers`` buffers.

    The GPU sleeps before each measurement until everything is queued, so that it never waits for the next call.
    """
    import torch

    kept = [run(i) for i in range(buffers)]

    def each(rounds: int) -> None:
        for _ in range(rounds):
            for i in range(buffers):
                kept[i] = run(i)

    def wall(work: Callable[[], Any]) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6

    def queued(work: Callable[[], Any], sleep: float) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(int(CYCLES * sleep))
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    each(1)
    estimate = wall(lambda: each(1))
    rounds = max(1, min(math.ceil(4000 / estimate), 400 // buffers))
    repeats = REPEATS if estimate < 1e5 else 3
    calls = rounds * buffers
    walls = statistics.median(wall(lambda: each(rounds)) for _ in range(repeats))
    if capture:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                each(rounds)
            graph.replay()
            torch.cuda.synchronize()
            us = statistics.median(queued(graph.replay, 300) for _ in range(repeats))
            return Time(us / calls, walls / calls, "graph")
        except RuntimeError as error:
            print(f"    not captured, timed by events: {str(error).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
    sleep = min(2 * walls, 50_000)
    us = statistics.median(queued(lambda: each(rounds), sleep) for _ in range(repeats))
    return Time(us / calls, walls / calls, "events")


def bandwidth() -> float:
    """Bytes per second of a device copy, read and written."""
    import torch

    source = torch.zeros(COPY, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * COPY / gpu(lambda i: target.copy_(source), 1, False).us * 1e6


def in_turns(calls: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Least wall time of each call in us; they take turns, so that a noisy neighbour hits all of them.

    A pause before each lets the idle threads of the one before go to sleep.
    """
    least = dict.fromkeys(calls, math.inf)
    stop = time.perf_counter() + seconds * len(calls)
    rounds = 0
    while rounds < 5 or (time.perf_counter() < stop and rounds < 200):
        for name, call in calls.items():
            time.sleep(0.003)
            start = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - start)
        rounds += 1
    return {name: value * 1e6 for name, value in least.items()}
