"""Python threads, for work in libraries that release the GIL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def parallel_map(work: Callable[[T], U], items: Sequence[T], threads: int) -> list[U]:
    """`work` of every item, in order. Raises the first error in that order, and starts no further items then."""
    if min(threads, len(items)) < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # imports logging, which other calls do not need

    pool = ThreadPoolExecutor(min(threads, len(items)), "cuaug-decode")
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(cancel_futures=True)
