"""Keeps a stream busy, which reveals work in a wrong order, or occupies all multiprocessors but one."""

import contextlib
import functools
import time

import torch

from helpers.sanitizer import skip_under_sanitizer

HOLD = """extern "C" __global__ void hold(volatile int* flags, long long cycles) {
    // flags[0]: the host sets 1 to end the block, and never 2: that branch only keeps `occupied` from being removed.
    // flags[1]: set if the time ran out first.
    extern __shared__ int occupied[];
    const long long start = clock64();
    if (threadIdx.x == 0) {
        while (flags[0] == 0 && clock64() - start < cycles) __nanosleep(1000);
        if (flags[0] == 0) flags[1] = 1;
    }
    __syncthreads();
    if (flags[0] == 2) occupied[threadIdx.x] = 0;
}"""


@functools.cache
def cycles_per_ms():
    """Measured, because the clock differs between GPUs and with their load."""
    torch.cuda._sleep(1_000_000)
    torch.cuda.synchronize()
    start = time.perf_counter()
    torch.cuda._sleep(20_000_000)
    torch.cuda.synchronize()
    return 20_000_000 / (1e3 * (time.perf_counter() - start))


def busy(ms):
    """Delay torch's current stream by about this long."""
    torch.cuda._sleep(int(ms * cycles_per_ms()))


@contextlib.contextmanager
def occupied_multiprocessors():
    """Occupy the shared memory of all multiprocessors but one: blocks that need shared memory run only there.

    Fails if the body takes longer than about ten seconds, after which the multiprocessors are released.
    """
    import cupy

    skip_under_sanitizer("kernels take longer than the multiprocessors stay occupied")
    device = cupy.cuda.Device()
    hold = cupy.RawKernel(HOLD, "hold")
    shared = device.attributes["MaxSharedMemoryPerBlockOptin"]
    hold.max_dynamic_shared_size_bytes = shared
    flags = torch.zeros(2, dtype=torch.int32).pin_memory()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        blocks = device.attributes["MultiProcessorCount"] - 1
        hold((blocks,), (32,), (flags.data_ptr(), int(10_000 * cycles_per_ms())), shared_mem=shared)
    try:
        yield
    finally:
        flags[0] = 1
        stream.synchronize()
    assert flags[1] == 0, "the multiprocessors were released before the work ended"
