"""Work done ahead of whoever wants its results."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, Generic, TypeVar

from .._check import BackendError

T = TypeVar("T")
# A thread that is within native code while the interpreter ends takes the process down with it.
_running: weakref.WeakSet[Ahead[Any]] = weakref.WeakSet()


class Ahead(Generic[T]):
    """Iterates in a thread of its own, up to `depth` items ahead.

    What the items raise is raised where they are wanted. `close` stops it between two items, and waits for that.
    """

    def __init__(self, items: Iterable[T], depth: int, name: str) -> None:
        self._items, self._depth = items, depth
        self._ready: deque[T] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False
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
        if self._process != os.getpid():  # the thread, and whoever held its lock, stayed in the parent
            return
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            if not self._thread.is_alive():  # or it comes up only now, where an interrupt came while it was started
                self._changed.wait_for(lambda: self._ended, 1)
        if self._thread.is_alive():
            self._thread.join()
        self._ready.clear()

    def _next(self) -> tuple[T] | None:
        if self._process != os.getpid():
            raise BackendError("a loader cannot be iterated on after a fork: begin a new iteration in the child")
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended)
            self._changed.notify_all()
            return (self._ready.popleft(),) if self._ready else None

    def _run(self) -> None:
        items = iter(self._items if not self._closed else ())
        try:
            for item in items:
                with self._changed:
                    self._changed.wait_for(lambda: self._closed or len(self._ready) < self._depth)
                    if self._closed:
                        break
                    self._ready.append(item)
                    self._changed.notify_all()
        except BaseException as error:  # anything: it is raised again where items are wanted
            self._error = error
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()


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
