"""A GPU that is busy for a while, so that work in a wrong order shows."""

import functools
import time

import torch


@functools.cache
def cycles_per_ms():
    """Measured: the clock differs between GPUs, and with their load."""
    torch.cuda._sleep(1_000_000)
    torch.cuda.synchronize()
    start = time.perf_counter()
    torch.cuda._sleep(20_000_000)
    torch.cuda.synchronize()
    return 20_000_000 / (1e3 * (time.perf_counter() - start))


def busy(ms):
    """Keeps torch's current stream from going on for about this long."""
    torch.cuda._sleep(int(ms * cycles_per_ms()))
