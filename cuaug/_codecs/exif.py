"""EXIF's orientation: how a stored image is turned upright (Exif 2.32, 4.6.4 A)."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np


class Orientation(NamedTuple):
    """From the stored to the upright image: transpose, then reverse the rows, then reverse the columns."""

    transpose: bool
    reverse_rows: bool
    reverse_columns: bool


ORIENTATIONS = {
    1: Orientation(False, False, False),
    2: Orientation(False, False, True),
    3: Orientation(False, True, True),
    4: Orientation(False, True, False),
    5: Orientation(True, False, False),
    6: Orientation(True, False, True),
    7: Orientation(True, True, True),
    8: Orientation(True, True, False),
}


_TAG, _UNSIGNED_SHORT, _ENTRY_BYTES = 0x0112, 3, 12


def png_orientation(file: bytes | memoryview) -> int:
    """The orientation in the eXIf chunk of a PNG file (PNG 3, 11.3.4.5); 1, "as stored", if it is missing or wrong."""
    position = 8  # of a chunk: length, name, data, checksum
    while position + 8 <= len(file):
        length, name = struct.unpack_from(">I4s", file, position)
        if name == b"eXIf":
            return _tiff_orientation(bytes(file[position + 8 : position + 8 + length]))
        position += length + 12
    return 1


def _tiff_orientation(tiff: bytes) -> int:
    """As `tiff_orientation` of cpu/jpeg/exif.hpp, which reads JPEG."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        return 1
    try:
        (directory,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, directory)
        for entry in range(count):
            tag, type_, values, value = struct.unpack_from(f"{order}HHIH2x", tiff, directory + 2 + _ENTRY_BYTES * entry)
            if tag == _TAG:
                return value if (type_, values) == (_UNSIGNED_SHORT, 1) and value in ORIENTATIONS else 1
    except struct.error:  # the data end within the directory
        pass
    return 1


def upright_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    """(H, W) of the upright image; its own inverse."""
    return size[::-1] if ORIENTATIONS[orientation].transpose else size


def stored_box(box: tuple[int, int, int, int], size: tuple[int, int], orientation: int) -> tuple[int, int, int, int]:
    """The box (top, left, height, width) of the upright image of `size`, in the stored image."""
    top, left, height, width = box
    transpose, reverse_rows, reverse_columns = ORIENTATIONS[orientation]
    top = size[0] - top - height if reverse_rows else top
    left = size[1] - left - width if reverse_columns else left
    return (left, top, width, height) if transpose else (top, left, height, width)


def upright(stored: np.ndarray, orientation: int) -> np.ndarray:
    """The upright image, a view. [H, W, C]"""
    transpose, reverse_rows, reverse_columns = ORIENTATIONS[orientation]
    transposed = stored.swapaxes(0, 1) if transpose else stored
    return transposed[:: -1 if reverse_rows else 1, :: -1 if reverse_columns else 1]


def as_stored(image: np.ndarray, orientation: int) -> np.ndarray:
    """The stored image of the upright `image`, a view. [H, W, C]"""
    transpose, reverse_rows, reverse_columns = ORIENTATIONS[orientation]
    reversed_image = image[:: -1 if reverse_rows else 1, :: -1 if reverse_columns else 1]
    return reversed_image.swapaxes(0, 1) if transpose else reversed_image
