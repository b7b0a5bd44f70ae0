"""A Loader decodes with fewer threads while batches are ready, and with more when its consumer waits."""

import time

import pytest
from helpers.loader import encoded_file, photo_parts

from cuaug import transforms as T
from cuaug.data import Loader
from cuaug.data.decode_threads import DecodeThreads


def counts(threads, ready_counts, depth=2):
    values = []
    for ready in ready_counts:
        threads.adjust(ready, depth)
        values.append(threads.count)
    return values


def test_decode_threads_fall_while_batches_are_ready():
    assert counts(DecodeThreads(5), [0, 1, 2, 2, 2, 2, 2]) == [5, 5, 4, 3, 2, 1, 1]


def test_decode_threads_rise_after_a_wait():
    threads = DecodeThreads(5)
    assert counts(threads, [2, 2, 2, 0, 1, 2, 2, 2, 2]) == [4, 3, 2, 5, 5, 4, 3, 3, 3]


def test_decode_threads_rise_while_the_queue_is_half_full():
    threads = DecodeThreads(6)
    assert counts(threads, [2, 2, 2, 2, 1, 1, 2, 2]) == [5, 4, 3, 2, 3, 4, 3, 2]
    assert counts(threads, [1] * 7) == [3, 4, 5, 6, 6, 6, 6]
    assert counts(threads, [0, 2, 2, 2, 2, 2]) == [6, 5, 4, 3, 3, 3]  # 2 threads were too few


def test_decode_threads_ignore_an_empty_queue_at_the_start():
    threads = DecodeThreads(4)
    counts(threads, [2, 2, 2])
    threads.use_all_threads()
    assert counts(threads, [0, 0, 2, 2, 2]) == [4, 4, 3, 2, 1]


def test_decode_threads_retry_after_200_batches_then_after_twice_as_many():
    threads = DecodeThreads(3)
    counts(threads, [2] * 100)
    assert counts(threads, [0, 2]) == [3, 2]  # 1 thread was too few
    assert set(counts(threads, [2] * 198)) == {2}
    assert counts(threads, [2, 2, 0]) == [1, 1, 3]
    assert set(counts(threads, [2] * 399)) == {2}
    assert counts(threads, [2]) == [1]


def test_decode_threads_retry_after_200_batches_of_several_iterations():
    threads = DecodeThreads(3)
    assert counts(threads, [2, 2, 0]) == [2, 1, 3]  # 1 thread was too few
    reached = []
    for _ in range(5):
        threads.use_all_threads()
        reached.append(min(counts(threads, [0, *[2] * 50])))
    assert reached == [2, 2, 2, 1, 1]  # in the 200th batch


def test_decode_threads_keep_the_minimum():
    assert set(counts(DecodeThreads(4, 4), [2, 2, 0, 2, *[2] * 250])) == {4}


@pytest.mark.jpeg
def test_loader_slow_consumer_gets_fewer_decode_threads():
    files = [encoded_file(image) for image in photo_parts(2)]
    loader = Loader(files * 100, 2, [T.RandomResizedCrop(32)], threads=2, seed=0)
    thread_counts = []
    for _ in loader:
        thread_counts.append(loader._decode_threads.count)
        if thread_counts[-1] == 1:
            break
        time.sleep(0.01 * len(thread_counts))  # slower than decoding, however busy the machine is
    assert thread_counts[0] == 2
    assert thread_counts[-1] == 1
