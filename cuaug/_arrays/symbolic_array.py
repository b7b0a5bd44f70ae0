"""Arrays without memory: they stand for a call's arrays while the call is recorded (_passes/recording.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn

from .._gpu.executor import symbol
from .descriptor import ArrayDescriptor
from .protocol import Library


@dataclass(frozen=True, eq=False)
class SymbolicArray:
    """An array whose address each replayed call supplies."""

    library: Library  # of the recorded call
    value_index: int  # the index of its address among the call's values (`_gpu.executor.symbol`)
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    order: Sequence[int] | None = None  # as the argument of `Library.empty`
    addend: int = 0  # bytes from the call's value to the array

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def pointer(self) -> int:
        return symbol(self.value_index, self.addend)


class SymbolicLibrary:
    """The library of symbolic arrays, which have addresses but no values. `RecordingLibrary` allocates them."""

    name, channels_first = "symbolic", False

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        return ArrayDescriptor(array.pointer, array.shape, array.strides, array.dtype, array.device, False, array)

    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None:
        return None

    def pointer(self, array: Any) -> int:
        return int(array.pointer)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> NoReturn:
        _refuse()

    def to_user_array(self, array: Any) -> NoReturn:
        _refuse()

    def current_stream(self, device: int) -> NoReturn:
        _refuse()

    def from_numpy(self, values: Any, device: int) -> NoReturn:
        _refuse()

    def namespace(self) -> ModuleType:
        _refuse()


def _refuse() -> NoReturn:
    raise TypeError("an array of a recorded call has no values")


SYMBOLIC = SymbolicLibrary()
