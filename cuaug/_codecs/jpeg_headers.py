"""What JPEGs say of themselves, and what is decoded of them, as the extension has it: a row of numbers each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._host import extension as _cpu
from .limits import Limits

if TYPE_CHECKING:
    from .._native import Files

# `jpeg::Header`. Sampling and colour space are places in `jpeg_subsamplings` and `jpeg_spaces`; `ended`: its last bytes
# are those of a whole file.
_NUMBERS = ("channels", "subsampling", "color_space", "progressive", "orientation", "ended", "bytes")
HEADER = np.dtype([("size", np.int64, 2), *((name, np.int64) for name in _NUMBERS)])
PART = 8  # numbers of a `Part`: place, scale, top, left, height, width, address, bytes from a row to the next


def read(files: Files, limits: Limits, threads: int = 0) -> tuple[np.ndarray, list[tuple[int, str, str]]]:
    """Headers [N], and of files that have none, where they are 0: place, exception's name, reason."""
    out = np.zeros(len(files), HEADER)
    return out, _cpu.jpeg().jpeg_headers(
        files, limits, out.view(np.int64).reshape(len(out), HEADER.itemsize // 8), threads
    )
