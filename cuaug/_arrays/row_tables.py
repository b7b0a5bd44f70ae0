"""Tables with one row per array, which kernels of ragged batches read: a row starts with the address of its array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._check import BackendError
from .._host.extension import extension
from .protocol import Library
from .torch_library import TorchLibrary

_MAX_ROWS = 1 << 14  # cached for the arrays of one type
_UNKNOWN: Any = object()


class ArrayRow(NamedTuple):
    """The row of an array, as `table` gets it from `new_row`."""

    row_bytes: bytes  # the first 8 bytes are 0, in place of the address
    group: Any  # not None; arrays form a batch if their groups are one object; their rows then have one length
    size: tuple[int, int]


NewRow = Callable[[Any], ArrayRow | None]  # None: arrays of this kind do not form batches


class ArrayRows(Protocol):
    """The rows of arrays that agree in dtype, device, shape, strides and alignment: they are computed once."""

    def table(self, arrays: list[Any], new_row: NewRow) -> tuple[bytearray, Any] | None:
        """The table of the arrays, and their group.

        None if they have several groups, if all have one size (they are no ragged batch), if `new_row` returned None
        for one of them, or if one is not a plain array (`Library.key_and_pointer` is None).
        """


def array_rows(library: Library, array_type: type) -> ArrayRows:
    if isinstance(library, TorchLibrary) and library.exchange_api is not None:
        try:
            rows: ArrayRows = extension().TensorRows(library.tensor_type, library.exchange_api, _MAX_ROWS)
            return rows
        except (BackendError, ValueError):  # no extension, or another version of the exchange API
            pass
    return KeyedRows(library, array_type)


class KeyedRows:
    """Arrays of any library, by `Library.key_and_pointer`. The extension's `TensorRows` does this for torch."""

    def __init__(self, library: Library, array_type: type) -> None:
        self._library, self._array_type = library, array_type
        self._rows: dict[Any, ArrayRow | None] = {}

    def table(self, arrays: list[Any], new_row: NewRow) -> tuple[bytearray, Any] | None:
        library, rows, pointers = self._library, [], []
        for array in arrays:
            key_and_pointer = library.key_and_pointer(array) if type(array) is self._array_type else None
            if key_and_pointer is None:
                return None
            array_key, pointer = key_and_pointer
            key = (array_key, pointer % 16)
            row = self._rows.get(key, _UNKNOWN)
            if row is _UNKNOWN:
                row = self._add(key, new_row(array))
            if row is None:
                return None
            rows.append(row)
            pointers.append(pointer)
        if all(row.size == rows[0].size for row in rows) or any(row.group is not rows[0].group for row in rows):
            return None
        return join_rows([row.row_bytes for row in rows], pointers), rows[0].group

    def _add(self, key: Any, row: ArrayRow | None) -> ArrayRow | None:
        if len(self._rows) >= _MAX_ROWS:
            self._rows = {}  # a new dict: another thread may still read the old one
        self._rows[key] = row
        return row


def join_rows(rows: Sequence[bytes], pointers: Sequence[int]) -> bytearray:
    """The table of rows of one length, with the addresses of their arrays."""
    table = bytearray(b"".join(rows))
    np.frombuffer(table, np.int64).reshape(len(rows), -1)[:, 0] = pointers
    return table
