"""Prefetching: runs an iteration in a thread before its items are requested; and the times of its stages."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from .._check import BackendError

T = TypeVar("T")
# Closed at exit, because a thread that is inside native code while the interpreter shuts down crashes the process.
_active: weakref.WeakSet[Prefetcher[Any]] = weakref.WeakSet()


class Prefetcher(Generic[T]):
    """Iterates in a thread of its own: keeps up to `depth` items ready, and makes one more in advance.

    An exception of the items is raised again in the consumer. `close` stops the thread between two items. Called in
    the main thread, or in a thread that has requested an item, `close` also joins the stopped thread. Called in another
    thread, it does not: the garbage collector may finalize an iteration in any thread, also in one for which the
    stopped thread waits.

    The consumer waits only in queues that are implemented in C. A KeyboardInterrupt may come between any two Python
    instructions; if it comes just after a lock was taken, `with` does not release the lock (python/cpython#74174).
    """

    def __init__(self, items: Iterable[T], depth: int, name: str) -> None:
        self._items = items
        self._ready: SimpleQueue[tuple[T] | None] = SimpleQueue()  # None: the end
        self._permits: SimpleQueue[None] = SimpleQueue()  # one for each item that the thread may add
        for _ in range(depth):
            self._permits.put(None)
        self._exited: SimpleQueue[None] = SimpleQueue()
        self._closed = self._finished = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._consumers: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # threads that have requested an item
        self._process = os.getpid()

    def __iter__(self) -> Generator[T, None, None]:
        _active.add(self)
        try:
            self._thread.start()  # waits for the thread; an interrupt may come here
            while entry := self._next():
                yield entry[0]
            if self._error is not None:
                raise self._error
        finally:
            self.close()

    @property
    def ready_count(self) -> int:
        """How many items are ready."""
        return self._ready.qsize()

    def close(self) -> None:
        if self._process != os.getpid():  # after a fork, the thread exists only in the parent
            return
        self._closed = True
        self._permits.put(None)
        current = threading.current_thread()
        if current not in self._consumers and current is not threading.main_thread():
            return
        # An interrupt inside start() can leave a launched thread that is not alive yet. As it finds `_closed`, it ends
        # at once: wait for that.
        if not (self._finished or self._thread.is_alive()):
            with contextlib.suppress(Empty):
                self._exited.get(timeout=1)
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(Empty):
            while True:
                self._ready.get_nowait()

    def _next(self) -> tuple[T] | None:
        if self._process != os.getpid():
            raise BackendError(
                "a loader's iteration cannot continue after a fork: start a new one in the child process"
            )
        self._consumers.add(threading.current_thread())
        entry = self._ready.get()
        self._permits.put(None)
        return entry

    def _run(self) -> None:
        items: Any = None
        try:
            items = iter(self._items if not self._closed else ())
            for item in items:
                self._permits.get()
                if self._closed:
                    break
                self._ready.put((item,))
        except BaseException as error:  # every kind: the consumer raises it again
            self._error = error
        finally:
            try:
                if hasattr(items, "close"):
                    items.close()
            except BaseException as error:
                self._error = self._error or error
            finally:
                self._finished = True
                self._ready.put(None)
                self._exited.put(None)


class StageTimer:
    """Seconds of work in each stage, summed over all threads."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, int], float] = {}  # by stage and thread, so that no two threads share an entry

    def timed(self, stage: str, work: Callable[..., T], *arguments: Any) -> T:
        start, key = time.perf_counter(), (stage, threading.get_ident())
        try:
            return work(*arguments)
        finally:
            self._seconds[key] = self._seconds.get(key, 0.0) + time.perf_counter() - start

    @property
    def seconds(self) -> dict[str, float]:
        totals: dict[str, float] = {}
        for (stage, _), seconds in list(self._seconds.items()):
            totals[stage] = totals.get(stage, 0.0) + seconds
        return totals

    @property
    def slowest(self) -> str:
        seconds = self.seconds
        return max(seconds, key=lambda stage: seconds[stage], default="")


@atexit.register
def _close_all() -> None:
    for prefetcher in list(_active):
        prefetcher.close()
