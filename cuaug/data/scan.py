"""Which files of a source cannot be decoded: ``python -m cuaug scan``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._codecs import limits as _limits
from .._host import extension as _cpu
from .crops import alike
from .decoding import Decoding, Encoded, Slots
from .files import ImageFiles
from .targets import NumPyPlace

_BATCH = 64


def scan(source: ImageFiles, strict: bool, max_pixels: int | None) -> Iterator[dict[int, str]]:
    """Batch after batch: the bad ones of it, and why.

    A JPEG is decoded at 1/8: that takes every bit of the file, and few pixels.
    """
    how = Decoding(_cpu.extension().threads(), strict, True, _limits.limits_of(max_pixels))
    place = NumPyPlace()
    for first in range(0, len(source), _BATCH):
        ids = range(first, min(first + _BATCH, len(source)))
        encoded = Encoded(source.read(ids, how.threads), how)
        sizes = -(-encoded.sizes // 8)
        regions = np.concatenate([np.full_like(sizes[:, :1], 8), np.zeros_like(sizes), sizes], 1)
        jpegs = np.flatnonzero(encoded.scalable)  # others are decoded by now
        groups = [jpegs[group] for group in alike(sizes[jpegs], np.zeros_like(sizes[jpegs]))]
        place.finish(Slots(encoded, regions, groups), None)
        yield {ids[i]: reason for i, reason in sorted(encoded.bad.items())}
