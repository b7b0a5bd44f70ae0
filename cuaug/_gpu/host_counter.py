"""A device number that the host polls."""

from __future__ import annotations

import ctypes

from .cupy_import import cupy
from .devices import device_memory, use_device
from .failures import in_words
from .streams import synchronize_stream

_UNWRITTEN = 0xFFFFFFFF  # no number of boxes, whether a kernel writes four bytes or eight
_POLLS = 8192  # of some 50 ns, 0.4 ms at most: Python's lock is held meanwhile


class HostCounter:
    """A number of the host that the last of a call's kernels writes, so that no copy has to follow it.

    Beside it is memory of the device for the kernels before: all of it has been read when the number is written, and
    until then no other call has it.
    """

    room = 1 << 20  # bytes

    def __init__(self, index: int) -> None:
        self.index = index
        with use_device(index):
            self._number, self._space = cupy().cuda.alloc_pinned_memory(8), device_memory(self.room)
        self.pointer = int(self._number.ptr)  # addresses are the same on all devices
        self.space = int(self._space.ptr)
        self._value = ctypes.c_int64.from_address(self.pointer)

    def wait(self, stream: int) -> int:
        """What a kernel of this stream writes. What has failed is not told again."""
        value = self._value
        for _ in range(_POLLS):  # sees it some microseconds before the driver would say that the stream is done
            if value.value != _UNWRITTEN:
                break
        else:
            with in_words("how many are kept cannot be waited for: pass fixed_size=True"):
                synchronize_stream(stream, self.index)
        found = value.value
        _idle.setdefault(self.index, []).append(self)
        return found


_idle: dict[int, list[HostCounter]] = {}


def take_counter(index: int) -> HostCounter:
    """One of this device that nobody waits for."""
    try:
        found = _idle[index].pop()
    except (KeyError, IndexError):
        with in_words("call the function once before, or pass fixed_size=True"):
            found = HostCounter(index)
    found._value.value = _UNWRITTEN
    return found
