"""Encoded data in the forms that callers pass: bytes, an array of bytes, a path, or a list of those."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._arrays import convert
from .._arrays.convert import host_array
from .._arrays.registry import library_of
from .._check import DecodeError, ImageTooLarge


class File(NamedTuple):
    """One encoded image, and how an error names it."""

    data: bytes | memoryview
    source: str | None  # its path
    position: int | None  # in the caller's list

    def raise_error(self, error_type: type[DecodeError], reason: str) -> NoReturn:
        raise error_type(f"{self.prefix}{reason}", self.position or 0, self.source, reason)

    @property
    def prefix(self) -> str:
        """The beginning of a message about this file."""
        number = "" if self.position is None else f"image {self.position}"
        path = f"{self.source!r}" if self.source else ""
        return f"{number} ({path}): " if number and path else f"{number}{path}: " if number or path else ""


def read_files(data: Any, max_bytes: int | None) -> tuple[list[File], bool]:
    """The images, and whether the caller passed a list."""
    if isinstance(data, (list, tuple)):
        return [_file(entry, i, max_bytes) for i, entry in enumerate(data)], True
    return [_file(data, None, max_bytes)], False


def _file(data: Any, position: int | None, max_bytes: int | None) -> File:
    if isinstance(data, (str, os.PathLike)):
        path = os.fsdecode(data)
        try:
            return _read_path(File(b"", path, position), max_bytes)
        except IsADirectoryError:
            raise IsADirectoryError(
                f"data must be a file, got the folder {path!r}: pass the list of its files, "
                f"sorted(pathlib.Path({path!r}).glob('*.jpg')), or the folder to cuaug.data.Loader"
            ) from None
    file = File(_bytes_of(data), None, position)
    if max_bytes and len(file.data) > max_bytes:
        file.raise_error(ImageTooLarge, f"{len(file.data)} bytes, more than the limit of {max_bytes}")
    return file


def _read_path(file: File, max_bytes: int | None) -> File:
    """The file with its data. Reading stops soon after the limit even if `fstat` reports less, as for a pipe."""
    with Path(str(file.source)).open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if max_bytes and size > max_bytes:
            file.raise_error(ImageTooLarge, f"{size} bytes, more than the limit of {max_bytes}")
        chunks = [stream.read(size + 1)]
        while chunks[-1] and (not max_bytes or sum(map(len, chunks)) <= max_bytes):
            chunks.append(stream.read(1 << 20))
    data = chunks[0] if len(chunks) == 2 and not chunks[1] else b"".join(chunks)
    if max_bytes and len(data) > max_bytes:
        file.raise_error(ImageTooLarge, f"more bytes than the limit of {max_bytes}")
    return file._replace(data=data)


def _bytes_of(data: Any) -> bytes | memoryview:
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        view = memoryview(data)
        return view.cast("B") if view.c_contiguous and view.nbytes else view.tobytes()
    library = library_of(type(data))
    if library is None or not convert.is_host(data):
        raise TypeError(
            "data must be bytes, a uint8 array on the host, a path, or a list of those, "
            f"got {type(data).__name__}{'' if library is None else ' on a device'}"
        )
    array = host_array("data", data, None)
    if array.dtype != np.uint8 or array.ndim != 1:
        raise TypeError(f"data as an array must be uint8 with one axis, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array).data
