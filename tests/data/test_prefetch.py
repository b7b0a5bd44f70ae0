"""Prefetching: no order of closing, failing and garbage collection leaves a thread waiting."""

import pytest
from helpers.child_process import python

from cuaug.data.prefetch import Prefetcher

COLLECTED_BY_A_THREAD = """
import gc, threading
from concurrent.futures import ThreadPoolExecutor
from cuaug.data.prefetch import Prefetcher

gc.disable()
abandoned, collecting_stage = threading.Event(), {stage!r}

def collect(stage):
    if stage == collecting_stage and abandoned.wait(10):
        gc.collect()  # an allocation of any thread may start it

def read(pool):
    for i in range(100):
        if i == 3:
            collect("read")
            pool.submit(collect, "pool").result()
        yield i

def make(items):
    for i in items:
        if i == 2:
            collect("make")
        yield i

class Cycle:
    pass

def abandon(pool):
    cycle = Cycle()
    cycle.itself = cycle
    cycle.batches = iter(Prefetcher(make(Prefetcher(read(pool), 1, "cuaug-read")), 1, "cuaug-make"))
    next(cycle.batches)

with ThreadPoolExecutor(1) as pool:
    abandon(pool)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("cuaug")]
    abandoned.set()
    for thread in threads:
        thread.join(10)
    print(len(threads), [thread.name for thread in threads if thread.is_alive()])
"""


@pytest.mark.parametrize("stage", ["read", "pool", "make"])
def test_prefetcher_threads_end_whichever_thread_collects_the_iterator(stage):
    """The garbage collector may close an abandoned iteration in its thread, or in one that this thread waits for."""
    assert python(COLLECTED_BY_A_THREAD.format(stage=stage), timeout=60) == ("2 []", "")


class FailsAtStart:
    def __iter__(self):
        raise OSError("at the start")


class FailsAtClose:
    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 2:
            raise StopIteration
        return self.count

    def close(self):
        raise OSError("at the close")


@pytest.mark.parametrize("items", [FailsAtStart(), FailsAtClose()], ids=["start", "close"])
def test_prefetcher_raises_errors_of_iter_and_close(items):
    with pytest.raises(OSError, match=r"at the (start|close)"):
        list(Prefetcher(items, 2, "cuaug-test"))
