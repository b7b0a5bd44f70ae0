"""The memory to which the address in a field of a record points, for tests that run a kernel after a loop."""

import ctypes

import numpy as np


def field_value(record, layout, name):
    """The integer in a field. `layout`: the `Record` that packed the record."""
    offset, size = layout.offsets[name]
    return int.from_bytes(record[offset : offset + size], "little", signed=True)


def array_at(record, layout, name, count, dtype):
    """The array of this many elements at the address in a field."""
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(field_value(record, layout, name))
    return np.frombuffer(memory, dtype)
