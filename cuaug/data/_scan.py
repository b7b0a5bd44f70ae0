"""Which files of a source cannot be decoded: ``python -m cuaug scan``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._decoding import Decoding, Encoded
from .files import ImageFiles

_BATCH = 64


def scan(source: ImageFiles, how: Decoding) -> Iterator[dict[int, str]]:
    """Batch after batch: the bad ones of it, and why.

    A JPEG is decoded at 1/8: that takes every bit of the file, and few pixels.
    """
    for first in range(0, len(source), _BATCH):
        ids = range(first, min(first + _BATCH, len(source)))
        encoded = Encoded(source.read(ids, how.threads), how)
        sizes = encoded.sizes
        scale = np.where(encoded.scalable, 8, 1)[:, None]
        scaled = -(-sizes // scale)
        regions = np.concatenate([scale, np.zeros_like(sizes), scaled], 1)
        height, width = scaled[encoded.scalable].max(0, initial=1).tolist()
        regions[~encoded.scalable, 3:] = 1  # decoded already
        encoded.into(np.empty((len(ids), height, width, 3), np.uint8), regions, np.arange(len(ids)))
        yield {ids[i]: reason for i, reason in sorted(encoded.bad.items())}
