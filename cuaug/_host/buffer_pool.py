"""Memory of large results on the CPU, used again once a result is gone.

A training step drops one batch and asks for the next. Memory of that size comes fresh from the system each time, which
clears its pages: a quarter of the time that a recipe takes (benchmarks/log/result-memory-cpu.md).
"""

from __future__ import annotations

import numpy as np

POOL_THRESHOLD = 4 << 20  # bytes, from which on NumPy asks for large pages; C libraries keep what is smaller
_LINE = 64  # bytes, of the cache, which NumPy's memory begins anywhere in; stores past the cache are of whole lines
_MOST = 256 << 20  # bytes that are kept for results to come
_spare: dict[
    int, _Block
] = {}  # by identity, the oldest first; each step below is one operation, for threads and for collections


class _Block(np.ndarray):
    """Bytes that are used again. A type of its own, for else NumPy takes what it is viewed by for the block itself."""


class _Lease(np.ndarray):
    """A block in use: what is made of it keeps it, and when the last of that goes so does this."""

    def __del__(self) -> None:
        if isinstance(self.base, _Block):
            _give(self.base)


def allocate(size: int) -> np.ndarray:
    """So many bytes, which hold anything. [size]"""
    fitting = [block for block in list(_spare.values()) if size <= block.size <= 2 * size]
    taken = _spare.pop(id(min(fitting, key=len)), None) if fitting else None  # None: another thread was faster
    block = _new(size) if taken is None else taken
    return np.ndarray((size,), np.uint8, block.view(_Lease))


def _new(size: int) -> _Block:
    room = np.empty(size + _LINE, np.uint8)
    skipped = -room.__array_interface__["data"][0] % _LINE
    return room[skipped : skipped + size].view(_Block)


def _give(block: _Block) -> None:
    if block.size > _MOST:
        return
    _spare[id(block)] = block
    while sum(each.size for each in list(_spare.values())) > _MOST:
        _spare.pop(next(iter(list(_spare)), 0), None)
