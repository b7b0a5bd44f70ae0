"""What JPEGs say of themselves, and what is decoded of them, as the extension has it: a row of numbers each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._host import extension as _cpu
from .limits import Limits

if TYPE_CHECKING:
    from .._native import EncodedFiles

# `jpeg::Header`: sampling and color space are indices of `jpeg_subsamplings` and `jpeg_color_spaces`; `complete`: the
# file ends with an end-of-image marker.
_NUMBERS = ("channels", "subsampling", "color_space", "progressive", "orientation", "complete", "bytes")
HEADER = np.dtype([("size", np.int64, 2), *((name, np.int64) for name in _NUMBERS)])
REGION_COLUMNS = 8  # of the extension's `RegionToDecode`: file, scale, top, left, height, width, address, pitch


def read(files: EncodedFiles, limits: Limits, threads: int = 0) -> tuple[np.ndarray, list[tuple[int, str, str]]]:
    """Headers [N], and of files that have none, where they are 0: place, exception's name, reason."""
    out = np.zeros(len(files), HEADER)
    return out, _cpu.jpeg_extension().jpeg_headers(
        files, limits, out.view(np.int64).reshape(len(out), HEADER.itemsize // 8), threads
    )
