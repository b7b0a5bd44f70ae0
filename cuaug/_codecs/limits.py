"""Limits on what an encoded file may declare or need."""

from __future__ import annotations

import operator
from typing import NamedTuple

from .. import _check

MAX_PIXELS = 89_478_485  # as Pillow's: a quarter of 1 GiB at 3 bytes a pixel
MAX_SIDE = 65_500  # libjpeg's JPEG_MAX_DIMENSION
MAX_SCANS = 100  # the limit of libjpeg-turbo's fuzzers
MAX_MEMORY = 1 << 30
MAX_BYTES = 256 << 20
MAX_SCAN_PIXELS = 1 << 30  # 12 scans of an image of MAX_PIXELS; libjpeg writes 10


class Limits(NamedTuple):
    """The extension's `jpeg::Limits`; 0 means no limit."""

    max_pixels: int
    max_side: int
    max_bytes: int  # of the file
    max_memory: int  # bytes of the coefficients of a file of several scans
    max_scans: int
    max_scan_pixels: int  # pixels times scans of a file of several scans

    def size_error(self, height: int, width: int) -> str | None:
        """The reason for refusing an image of this size, worded as by the extension; None if it is accepted."""
        if self.max_side and max(height, width) > self.max_side:
            return f"{height}x{width} pixels, a side longer than the limit of {self.max_side}"
        if self.max_pixels and height * width > self.max_pixels:
            return f"{height}x{width} pixels, more than the limit of {self.max_pixels}"
        return None


_DEFAULTS = Limits(MAX_PIXELS, MAX_SIDE, MAX_BYTES, MAX_MEMORY, MAX_SCANS, MAX_SCAN_PIXELS)
_LARGEST = Limits(*[1 << 62] * len(Limits._fields))  # fit the extension's integers


def limits_of(
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_bytes: int | None = MAX_BYTES,
    max_memory: int | None = MAX_MEMORY,
    max_scans: int | None = MAX_SCANS,
    max_scan_pixels: int | None = MAX_SCAN_PIXELS,
) -> Limits:
    """Checks the parameters of a public function; None means no limit."""
    limits = max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels
    if all(map(operator.is_, limits, _DEFAULTS)):
        return _DEFAULTS
    checked = [
        0 if value is None else _check.integer(name, value, 1)
        for name, value in zip(Limits._fields, limits, strict=True)
    ]
    return Limits(*map(min, checked, _LARGEST))
