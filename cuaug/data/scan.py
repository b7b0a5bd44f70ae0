"""Finds the files of a source that cannot be decoded: ``python -m cuaug scan``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._codecs.limits import Limits
from .._host.extension import extension
from .crops import group_by_size
from .decode_threads import DecodeThreads
from .decoding import DecodeSettings, EncodedImages, SlotLayout
from .files import ImageFiles
from .receivers import NumPyReceiver

_BATCH = 64


def scan(source: ImageFiles, strict: bool, limits: Limits) -> Iterator[dict[int, str]]:
    """For one batch after another: the reason for each bad image, by its id.

    JPEGs are decoded at 1/8: the decoder then reads every bit of the file, but computes few pixels.
    """
    settings = DecodeSettings(DecodeThreads(extension().threads()), strict, dct_scale=True, limits=limits)
    receiver = NumPyReceiver()
    for first in range(0, len(source), _BATCH):
        ids = range(first, min(first + _BATCH, len(source)))
        encoded = EncodedImages(source.read(ids, settings.threads.maximum), settings, keep_pixels=False)
        sizes = -(-encoded.sizes // 8)
        # Rows (denominator of the scale, top, left, height, width): whole images at 1/8.
        regions = np.concatenate([np.full_like(sizes[:, :1], 8), np.zeros_like(sizes), sizes], 1)
        jpegs = np.flatnonzero(encoded.scalable)  # EncodedImages has decoded the other formats
        groups = [jpegs[group] for group in group_by_size(sizes[jpegs], kinds=np.zeros_like(sizes[jpegs]))]
        receiver.finish_decode(SlotLayout(encoded, regions, groups), in_flight=None)  # adds to `encoded.bad`
        yield {ids[i]: reason for i, reason in sorted(encoded.bad.items())}
