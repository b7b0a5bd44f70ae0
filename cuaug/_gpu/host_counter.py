"""A number of boxes, which a kernel writes to pinned host memory and the host polls."""

from __future__ import annotations

import ctypes

from .cupy_import import cupy
from .devices import device_memory, use_device
from .failures import translate_errors
from .streams import synchronize_stream

# The value until a kernel writes the number of boxes, which is below 2**31. A kernel with int32 counts writes only the
# lower four bytes; the upper four are 0 here.
_UNWRITTEN = 0xFFFFFFFF
_MAX_POLLS = 8192  # of some 50 ns each: the poll holds the GIL for at most 0.4 ms


class HostCounter:
    """A pinned host integer that the last kernel of a call writes, so no copy is needed.

    The kernels of the call may use the counter's scratch memory on the device. They no longer need it when the number
    is written: from then on another call may take the counter with its scratch memory.
    """

    scratch_bytes = 1 << 20

    def __init__(self, device: int) -> None:
        self.device = device
        with use_device(device):
            self._pinned = cupy().cuda.alloc_pinned_memory(8)
            self._scratch_memory = device_memory(self.scratch_bytes)
        self.pointer = int(self._pinned.ptr)  # the same address on every device
        self.scratch = int(self._scratch_memory.ptr)
        self._value = ctypes.c_int64.from_address(self.pointer)

    def wait(self, stream: int) -> int:
        """The number that a kernel on this stream writes. The counter is idle afterwards, unless waiting raises."""
        value = self._value
        for _ in range(_MAX_POLLS):  # a poll sees the number microseconds before the driver reports an idle stream
            if value.value != _UNWRITTEN:
                break
        else:
            with translate_errors("pass fixed_size=True, as the call cannot wait for the number of boxes"):
                synchronize_stream(stream, self.device)
        count = value.value
        _idle.setdefault(self.device, []).append(self)
        return count


_idle: dict[int, list[HostCounter]] = {}


def take_counter(device: int) -> HostCounter:
    """A counter of this device that no other call waits for."""
    try:
        counter = _idle[device].pop()
    except (KeyError, IndexError):
        with translate_errors("call the function once before, or pass fixed_size=True"):
            counter = HostCounter(device)
    counter._value.value = _UNWRITTEN
    return counter
