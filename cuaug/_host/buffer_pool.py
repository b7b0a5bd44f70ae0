"""Memory of large CPU results, reused after the result is freed.

A training step frees one batch and asks for the next. Without the pool the system would clear new pages for each batch,
which takes a quarter of a recipe's time (benchmarks/log/result-memory-cpu.md).
"""

from __future__ import annotations

import numpy as np

POOL_THRESHOLD = 4 << 20  # bytes; NumPy requests large pages from this size on; the C library reuses smaller memory
_CACHE_LINE = 64  # bytes; NumPy's memory is not aligned to lines, and non-temporal stores write whole lines
_MAX_FREE_BYTES = 256 << 20
# Free blocks by id, oldest first. Every change is one operation on the dict, as threads and the garbage collector may
# interrupt between two operations.
_free_blocks: dict[int, _Block] = {}


class _Block(np.ndarray):
    """Memory of the pool.

    A subclass, because NumPy follows the bases of a result as long as they have the result's own type: if a block were
    a plain array, it would become the base of a result instead of its lease.
    """


class _Lease(np.ndarray):
    """A block in use. Arrays made from it keep it alive; when the last is freed, the block returns to the pool."""

    def __del__(self) -> None:
        if isinstance(self.base, _Block):
            _release(self.base)


def allocate(size: int) -> np.ndarray:
    """`size` uninitialized bytes. [size]"""
    candidates = [block for block in list(_free_blocks.values()) if size <= block.size <= 2 * size]
    block = _free_blocks.pop(id(min(candidates, key=len)), None) if candidates else None  # None: another thread took it
    if block is None:
        block = _new_block(size)
    return np.ndarray((size,), np.uint8, block.view(_Lease))


def _new_block(size: int) -> _Block:
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % _CACHE_LINE
    return memory[start : start + size].view(_Block)


def _release(block: _Block) -> None:
    if block.size > _MAX_FREE_BYTES:
        return
    _free_blocks[id(block)] = block
    while sum(free.size for free in list(_free_blocks.values())) > _MAX_FREE_BYTES:
        _free_blocks.pop(next(iter(list(_free_blocks)), 0), None)
