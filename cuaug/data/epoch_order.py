"""The order of an epoch: a function of seed and epoch, cut into batches and ranks."""

from __future__ import annotations

import numpy as np

LAST = ("drop", "partial", "pad")


def order(count: int, seed: int, epoch: int, shuffle: bool) -> np.ndarray:
    """Which sample comes when. [count]"""
    if not shuffle:
        return np.arange(count)
    return np.random.Generator(np.random.Philox(key=[seed, epoch])).permutation(count)


def batches(count: int, batch_size: int, world: int, last: str) -> int:
    """How many batches an epoch has: the same number on every rank."""
    whole, rest = divmod(count, batch_size * world)
    return whole + (rest > 0 and last != "drop")


def batch(order: np.ndarray, index: int, batch_size: int, rank: int, world: int, last: str) -> tuple[np.ndarray, int]:
    """What a rank gets as batch `index`, and how many of it are no padding.

    All ranks' batches together are the next `batch_size * world` of the order, dealt out in turn: what is trained with
    in a step depends on their product alone. Padding begins anew with the order's first.
    """
    together = batch_size * world
    places = np.arange(index * together + rank, (index + 1) * together, world)
    valid = int((places < len(order)).sum())
    return order[places % len(order)] if last == "pad" else order[places[:valid]], valid
