"""JPEG headers, and the int64 columns of the rows that the extension reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._host import extension
from .limits import Limits

if TYPE_CHECKING:
    from .._native import EncodedFiles

# The extension's `jpeg::Header`. `subsampling` and `color_space` are indices of `jpeg_subsamplings` and
# `jpeg_color_spaces`; `complete`: the file ends with an end-of-image marker.
_FIELDS = ("channels", "subsampling", "color_space", "progressive", "orientation", "complete", "bytes")
HEADER = np.dtype([("size", np.int64, 2), *((name, np.int64) for name in _FIELDS)])
REGION_COLUMNS = 8  # of the extension's `RegionToDecode`: file, scale, top, left, height, width, address, pitch


class Header(NamedTuple):
    """What the header of a JPEG declares."""

    height: int
    width: int
    channels: int
    subsampling: str  # "444", "422", "420", "440", "411", "410", "gray" or "other"
    color_space: str  # "gray", "ycbcr", "rgb", "cmyk", "ycck" or "other"
    progressive: bool
    orientation: int  # EXIF's, 1 to 8


def read(files: EncodedFiles, limits: Limits, threads: int = 0) -> tuple[np.ndarray, list[tuple[int, str, str]]]:
    """Headers [N], and (index, name of the exception, reason) for each file whose header cannot be read.

    The header of such a file is all zeros.
    """
    headers = np.zeros(len(files), HEADER)
    rows = headers.view(np.int64).reshape(len(headers), HEADER.itemsize // 8)
    return headers, extension.jpeg_extension().jpeg_headers(files, limits, rows, threads)


def header_of(row: Any) -> Header:
    """The public form of a row of `HEADER`."""
    size, channels, subsampling, color_space, progressive, orientation, *_ = row
    jpeg = extension.jpeg_extension()
    names = jpeg.jpeg_subsamplings[subsampling], jpeg.jpeg_color_spaces[color_space]
    height, width = size.tolist()
    return Header(height, width, int(channels), *names, bool(progressive), int(orientation))
