"""The array library of a call that is recorded: the images' library, but allocated arrays are symbolic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._gpu.executor import DIRECT, Executor, RecordingExecutor
from .descriptor import ArrayDescriptor, contiguous_strides
from .protocol import Library
from .registry import library_of
from .symbolic_array import SYMBOLIC, SymbolicArray

FIRST_ARRAY = 16  # index of the first allocated array among the values of a recorded call


class RecordingLibrary:
    """Records one call.

    Attributes:
        executor: Records the call's launches or loops.
        arrays: What the call has allocated.
        constants: What the call has copied from the host. Records hold their addresses, so the plan keeps them alive.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.executor = RecordingExecutor()
        self.arrays: list[SymbolicArray] = []
        self.constants: list[Any] = []

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        # Not self.library: the array may be symbolic, and what JaxLibrary allocates is an array of NumPy or CuPy.
        library = library_of(type(array))
        assert library is not None
        return library.describe(array, stream)

    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None:
        return None

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> SymbolicArray:
        index, strides = FIRST_ARRAY + len(self.arrays), contiguous_strides(shape, order)
        self.arrays.append(SymbolicArray(self, index, shape, strides, dtype, device, order))
        return self.arrays[-1]

    def pointer(self, array: Any) -> int:
        return (SYMBOLIC if isinstance(array, SymbolicArray) else self.library).pointer(array)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return self.library.current_stream(device)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        self.constants.append(self.library.from_numpy(values, device))
        return self.constants[-1]

    def namespace(self) -> Any:
        return self.library.namespace()


def executor_of(library: Library) -> Executor:
    """The executor of the passes on this library's images: that of a `RecordingLibrary`, else `DIRECT`."""
    return library.executor if isinstance(library, RecordingLibrary) else DIRECT
