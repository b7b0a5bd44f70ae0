"""The array library that a recipe's passes see: the images' library with another allocator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.descriptor import ArrayDescriptor
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._gpu.executor import symbol


class SymbolicArray(NamedTuple):
    """An array without memory: each call of the launch plan supplies its address."""

    value_index: int  # the index of its address among the call values (`_gpu.executor.symbol`)
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    order: Sequence[int] | None


class RecipeLibrary:
    """An array library whose `empty` is `allocate`. Constants that passes load live as long as this object."""

    def __init__(self, library: Library, allocate: Callable[..., Any]) -> None:
        self.library, self.empty = library, allocate
        self.name, self.channels_first = library.name, library.channels_first
        self.constants: list[Any] = []

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        if isinstance(array, SymbolicArray):
            pointer = symbol(array.value_index)
            return ArrayDescriptor(pointer, array.shape, array.strides, array.dtype, array.device, False, array)
        # Not self.library: for JAX, `empty` returns NumPy or CuPy arrays until `to_user_array`.
        library = library_of(type(array))
        assert library is not None
        return library.describe(array, stream)

    def descriptor_key(self, array: Any) -> tuple[Any, ...] | None:
        return None

    def pointer(self, array: Any) -> int:
        return symbol(array.value_index) if isinstance(array, SymbolicArray) else self.library.pointer(array)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return self.library.current_stream(device)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        self.constants.append(self.library.from_numpy(values, device))
        return self.constants[-1]

    def namespace(self) -> Any:
        return self.library.namespace()
