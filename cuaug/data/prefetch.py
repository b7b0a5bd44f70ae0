"""Work done ahead of whoever wants its results."""

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
# A thread that is within native code while the interpreter ends takes the process down with it.
_running: weakref.WeakSet[Ahead[Any]] = weakref.WeakSet()


class Ahead(Generic[T]):
    """Iterates in a thread of its own, up to `depth` items ahead.

    What the items raise is raised where they are wanted. `close` stops it between two items, and waits for that.

    Whoever takes the items waits in queues of C alone: an interrupt may come between any two steps of Python, and where
    that is just behind taking a lock, `with` does not give it back (python/cpython#74174).
    """

    def __init__(self, items: Iterable[T], depth: int, name: str) -> None:
        self._items = items
        self._ready: SimpleQueue[tuple[T] | None] = SimpleQueue()  # None: there are no more
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(depth):
            self._room.put(None)
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._closed = self._over = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._process = os.getpid()

    def __iter__(self) -> Generator[T, None, None]:
        _running.add(self)
        try:
            self._thread.start()  # which waits, and may be interrupted
            while found := self._next():
                yield found[0]
            if self._error is not None:
                raise self._error
        finally:
            self.close()

    def close(self) -> None:
        if self._process != os.getpid():  # the thread stayed in the parent
            return
        self._closed = True
        self._room.put(None)
        if not (self._over or self._thread.is_alive()):  # it comes up only now: an interrupt came while it was started
            with contextlib.suppress(Empty):
                self._ended.get(timeout=1)
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(Empty):
            while True:
                self._ready.get_nowait()

    def _next(self) -> tuple[T] | None:
        if self._process != os.getpid():
            raise BackendError("a loader cannot be iterated on after a fork: begin a new iteration in the child")
        found = self._ready.get()
        self._room.put(None)
        return found

    def _run(self) -> None:
        items = iter(self._items if not self._closed else ())
        try:
            for item in items:
                self._room.get()
                if self._closed:
                    break
                self._ready.put((item,))
        except BaseException as error:  # anything: it is raised again where items are wanted
            self._error = error
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
            self._over = True
            self._ready.put(None)
            self._ended.put(None)


class Clock:
    """How long each stage has worked, in seconds, whichever threads it is spread over."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, int], float] = {}  # each thread adds to its own

    def timed(self, stage: str, work: Callable[..., T], *arguments: Any) -> T:
        start, own = time.perf_counter(), (stage, threading.get_ident())
        try:
            return work(*arguments)
        finally:
            self._spent[own] = self._spent.get(own, 0.0) + time.perf_counter() - start

    @property
    def seconds(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for (stage, _), seconds in list(self._spent.items()):
            found[stage] = found.get(stage, 0.0) + seconds
        return found

    @property
    def slowest(self) -> str:
        seconds = self.seconds
        return max(seconds, key=lambda stage: seconds[stage], default="")


@atexit.register
def _close_all() -> None:
    for each in list(_running):
        each.close()
