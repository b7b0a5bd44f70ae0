"""The emulator of GPU kernels reports hangs and wrong accesses. Guards the tests that run kernels on the CPU."""

import re
import struct

import numpy as np
import pytest
from helpers import emulator

KERNEL = """\
struct Out {{ unsigned int* out; }};
__shared__ alignas(16) unsigned int box[4];
void kernel(const Out args) {{
    const unsigned int to = __cvta_generic_to_shared(box);
    {}
}}
"""
FAULTS = {
    "if (threadIdx.x > 0) __syncthreads();": "",
    "if (threadIdx.x % 32 > 0) __syncthreads(); else __syncwarp();": "threads wait for others that do not come",
    "if (threadIdx.x < 40) args.out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 3); else __syncthreads();": (
        "threads wait for others that do not come"
    ),
    'asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(args.out), "r"(16));': (
        "copies are never waited for"
    ),
}


@pytest.mark.parametrize("body", FAULTS)
def test_emulator_reports_faults(body):
    """Threads that have returned do not block a barrier."""
    output = np.zeros(64, np.uint32)
    run = emulator.kernel("kernel", emulator.translated(KERNEL.format(body)))
    assert run(struct.pack("P", output.ctypes.data), (2, 1, 1), 64) == FAULTS[body]


def test_emulator_reports_misaligned_addresses():
    """Only those that a thread accesses, and only in the launch that does."""
    body = (
        "const uint2* from = (const uint2*)(args.out + threadIdx.x); if (threadIdx.x % 2 == {}) args.out[4] = from->x;"
    )
    memory = np.zeros(8, np.uint64)
    record = struct.pack("P", memory.ctypes.data)
    odd = emulator.kernel("kernel", emulator.translated(KERNEL.format(body.format(1))))
    even = emulator.kernel("kernel", emulator.translated(KERNEL.format(body.format(0))))
    assert re.fullmatch(r"misaligned address in line \d+ of \d+\.cpp", odd(record, (2, 1, 1), 2))
    assert odd(record, (2, 1, 1), 1) == even(record, (2, 1, 1), 2) == ""


def test_emulator_reports_writes_beyond_the_dynamic_shared_memory():
    """A GPU may hide them: other blocks or static arrays may own the bytes.

    The emulator fills uninitialised bytes with 0xff.
    """
    body = "extern __shared__ unsigned int words[]; if (!threadIdx.x) args.out[0] = words[1]; words[threadIdx.x] = 1;"
    output = np.zeros(1, np.uint32)
    run = emulator.kernel("kernel", emulator.translated(KERNEL.format(body)))
    record = struct.pack("P", output.ctypes.data)
    assert run(record, (2, 1, 1), 8, 32) == ""
    assert output[0] == 0xFFFFFFFF  # filled again before the second block, which the first block's 1 does not reach
    assert run(record, (2, 1, 1), 8, 28) == run(record, (2, 1, 1), 8) == "a write beyond the dynamic shared memory"
    assert run(record, (1, 1, 1), 1, (48 << 10) + 1) == "more than 48 KiB of shared memory"


def test_emulator_forgets_copies_of_a_faulty_launch():
    copy = next(body for body, fault in FAULTS.items() if fault == "copies are never waited for")
    output = np.zeros(64, np.uint32)
    record = struct.pack("P", output.ctypes.data)
    assert emulator.kernel("kernel", emulator.translated(KERNEL.format(copy)))(record, (1, 1, 1), 64)
    assert not emulator.kernel("kernel", emulator.translated(KERNEL.format("args.out[0] = 1;")))(record, (1, 1, 1), 64)


def test_emulator_copies_arrive_when_awaited():
    copy = 'asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(args.out + 4), "r"(8));'
    wait = 'asm volatile("cp.async.wait_all;" : : : "memory");'
    body = f"{copy} args.out[0] = box[0]; {wait} for (int i = 1; i < 4; ++i) args.out[i] = box[i];"
    memory = np.array([1, 1, 1, 1, 2, 3, 4, 5], np.uint32)
    run = emulator.kernel("kernel", emulator.translated(KERNEL.format(body)))
    assert run(struct.pack("P", memory.ctypes.data), (1, 1, 1), 1) == ""
    # The emulator fills the destination with 0xA5 until the wait; the copy reads 8 of 16 bytes, the others become 0.
    assert memory.tolist() == [0xA5A5A5A5, 3, 0, 0, 2, 3, 4, 5]
