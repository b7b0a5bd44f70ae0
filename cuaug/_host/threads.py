"""Python's threads, for libraries that let go of its lock while they work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def parallel_map(work: Callable[[T], U], items: Sequence[T], threads: int) -> list[U]:
    """What work makes of each, in their order; of several that fail the first is raised, and none is begun any more."""
    if min(threads, len(items)) < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # with logging: not for whoever needs none of this

    pool = ThreadPoolExecutor(min(threads, len(items)), "cuaug-decode")
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(cancel_futures=True)
