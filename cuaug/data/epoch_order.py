"""The order of an epoch, a function of seed and epoch, and its division into batches and ranks."""

from __future__ import annotations

import numpy as np

LAST_BATCH_MODES = ("drop", "partial", "pad")


def sample_order(count: int, seed: int, epoch: int, shuffle: bool) -> np.ndarray:
    """Sample ids in the order of the epoch. [count]"""
    if not shuffle:
        return np.arange(count)
    return np.random.Generator(np.random.Philox(key=[seed, epoch])).permutation(count)


def batch_count(count: int, batch_size: int, ranks: int, last: str) -> int:
    """Number of batches in an epoch, which is the same on every rank."""
    full_batches, remainder = divmod(count, batch_size * ranks)
    return full_batches + (remainder > 0 and last != "drop")


def rank_batch(
    order: np.ndarray, index: int, batch_size: int, rank: int, ranks: int, last: str
) -> tuple[np.ndarray, int]:
    """Sample ids of batch `index` on one rank, and how many of them are not padding.

    A step takes the next `batch_size * ranks` samples of the order and assigns them to the ranks in turn, so the
    samples of a step depend only on that product. Padding restarts at the beginning of the order.
    """
    samples_per_step = batch_size * ranks
    positions = np.arange(index * samples_per_step + rank, (index + 1) * samples_per_step, ranks)
    valid_count = int((positions < len(order)).sum())
    return order[positions % len(order)] if last == "pad" else order[positions[:valid_count]], valid_count
