"""How many threads decode a batch: as few as keep the consumer from waiting."""

from __future__ import annotations

# After this many requests that find the queue full, `_lower_limit` drops by one: later files may take less time to
# decode. Each time that the consumer waits after a full queue, `_lower_limit` rises and the number of requests doubles.
_FIRST_RETRY = 100


class DecodeThreads:
    """The number of threads for the next batch, between `minimum` and `maximum`.

    A training step that the host launches takes longer while every processor decodes
    (benchmarks/log/loader-training.md). Each time that the consumer finds the queue full, the next batch is
    therefore decoded by one thread fewer; each time that it finds some batches, by one thread more. If the consumer has
    to wait, all threads decode until the queue is full again; from then on at least one thread more decodes than the
    number that was too few, and the time until fewer are tried again doubles.

    The consumer's thread sets `count`, and another thread reads it.
    """

    def __init__(self, maximum: int, minimum: int = 1) -> None:
        self.maximum: int = maximum
        self.count: int = maximum
        self._minimum = self._lower_limit = minimum
        self._last_reduced = maximum  # `count` after the last request that found the queue full
        self._requests_before_retry = _FIRST_RETRY
        self._full_queue_count = 0  # requests that found the queue full, since `_lower_limit` last rose
        self._queue_was_full = False  # in this iteration, and since the consumer last had to wait

    def use_all_threads(self) -> None:
        """All threads decode until the queue is full: when an iteration begins, or when the consumer has to wait."""
        self.count, self._queue_was_full = self.maximum, False

    def adjust(self, ready: int, depth: int) -> None:
        """Called when the consumer asks for a batch: `ready` of at most `depth` batches are ready."""
        if ready >= depth:
            self._queue_was_full = True
            self._full_queue_count += 1
            if self._full_queue_count % self._requests_before_retry == 0:
                self._lower_limit = max(self._minimum, self._lower_limit - 1)
            self.count = self._last_reduced = max(self._lower_limit, self.count - 1)
        elif ready > 0:
            if self._queue_was_full:
                self.count = min(self.count + 1, self.maximum)
        else:
            if self._queue_was_full:
                self._lower_limit = min(self._last_reduced + 1, self.maximum)
                self._requests_before_retry *= 2
                self._full_queue_count = 0
            self.use_all_threads()
