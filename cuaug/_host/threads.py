"""Python threads, for work in libraries that release the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def parallel_map(work: Callable[[T], U], items: Sequence[T], threads: int) -> list[U]:
    """`work` of every item, in order. Raises the first error in that order, and starts no further items then.

    A KeyboardInterrupt, or another BaseException that is no Exception, is raised before any error.
    The caller's thread works too, alone where the process may start no more threads.
    """
    results: dict[int, U] = {}
    errors: dict[int, BaseException] = {}
    indices, lock = iter(range(len(items))), threading.Lock()

    def work_on_items() -> None:
        while not errors:
            with lock:
                index = next(indices, None)
            if index is None:
                return
            try:
                results[index] = work(items[index])
            except BaseException as error:  # raised in the caller's thread
                errors[index] = error

    helpers = _start_threads(work_on_items, min(threads, len(items)) - 1)
    work_on_items()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[min(errors, key=lambda index: (isinstance(errors[index], Exception), index))]
    return [results[index] for index in range(len(items))]


def _start_threads(target: Callable[[], None], count: int) -> list[threading.Thread]:
    started = list[threading.Thread]()
    for _ in range(count):
        thread = threading.Thread(target=target, name="cuaug-decode")
        try:
            thread.start()
        except RuntimeError:  # the process may start no more threads
            break
        started.append(thread)
    return started
