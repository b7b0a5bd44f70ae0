"""Plans of calls on a GPU: launches whose record is complete except for the addresses of the inputs and the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._arrays.numpy_library import NUMPY
from .._arrays.protocol import Library
from .._arrays.recording_library import executor_of
from .._arrays.registry import library_of
from .._gpu import devices
from .._program.records import MATRIX_BUILDER, SAMPLE_NUMBERS
from .inputs import SampleNumbers

MAX_PLANS = 1024  # of a builder
_NUMBER_TYPES = {int, float}
_OUT_OFFSET = MATRIX_BUILDER.offsets["out"][0]


class Plan(NamedTuple):
    """A launch whose addresses are missing."""

    record: tuple[bytes, ...]  # the parts of the record between the addresses of the inputs and of the result
    kernel: str
    grid: tuple[int, int, int]
    threads: int
    library: Library
    shape: tuple[int, ...]  # of the result
    dtype: str
    device: int

    def run(self, addresses: Iterable[int]) -> Any:
        """Launches the kernel, or records the launch if the call is recorded, and returns the result."""
        devices.check_not_forked()
        library, device = self.library, self.device
        result = library.empty(self.shape, self.dtype, device, None)
        if not self.grid[0]:
            return library.to_user_array(result)
        parts = iter(self.record)
        pieces = [next(parts)]
        for address in (*addresses, library.pointer(result)):
            pieces += address.to_bytes(8, "little", signed=True), next(parts)
        stream = library.current_stream(device)
        executor_of(library).launch(self.kernel, b"".join(pieces), self.grid, self.threads, 0, device, stream)
        return library.to_user_array(result)


def call_key(numbers: Any, values: Iterable[Any]) -> tuple[tuple[Any, ...] | None, list[int]]:
    """What a plan depends on, and the addresses of the arrays. The key is None for calls that are not cached."""
    key: list[Any] = [numbers]
    addresses: list[int] = []
    for value in values:
        value_type = type(value)
        if value_type in _NUMBER_TYPES:
            key.append(value or repr(value))  # 0.0 == -0.0, but their signs differ
        elif value_type is tuple or value_type is list:
            if not _NUMBER_TYPES.issuperset(map(type, value)):
                return None, addresses
            key.append(tuple([number or repr(number) for number in value]))
        else:
            library = library_of(value_type)
            if library is None or library is NUMPY:
                return None, addresses
            key_and_pointer = library.key_and_pointer(value)
            if key_and_pointer is None:
                return None, addresses
            array_key, pointer = key_and_pointer
            key.append(array_key)
            addresses.append(pointer)
    return tuple(key), addresses


def split_record(
    record: bytes, values: Iterable[Any], entries: Iterable[SampleNumbers]
) -> tuple[tuple[bytes, ...], list[int], bool]:
    """The parts of a record between the addresses of `call_key`, these addresses, and whether the parts are reusable.

    If an input was copied or converted, the parts hold its address, or numbers that are not in the key. Other calls
    with this key must then not use the parts.
    """
    parts, addresses, begin, is_reusable = [], [], 0, True
    for i, (value, entry) in enumerate(zip(values, entries, strict=True)):
        if entry.array is value:
            offset = i * SAMPLE_NUMBERS.size
            parts.append(record[begin:offset])
            addresses.append(int.from_bytes(entry.packed[:8], "little", signed=True))
            begin = offset + 8
        else:
            is_reusable = is_reusable and type(value) in (int, float, tuple, list) and entry.is_shared
    return (*parts, record[begin:_OUT_OFFSET], record[_OUT_OFFSET + 8 :]), addresses, is_reusable
