"""Arrays of other libraries, through `__dlpack__`."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .._gpu import cupy_import
from . import capsule
from .cupy_library import CUPY
from .descriptor import ArrayDescriptor
from .numpy_library import NUMPY
from .protocol import Library


class DLPackLibrary:
    """Any object with `__dlpack__` is read in place; results are NumPy or CuPy arrays."""

    name, channels_first = "dlpack", False

    def __reduce__(self) -> str | tuple[Any, ...]:
        return "DLPACK"  # copies are this object

    def _result_library(self, device: int) -> Library:
        return NUMPY if device < 0 else CUPY

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        device = capsule.device_of(array)
        return capsule.import_array(array, stream if stream is not None or device < 0 else self.current_stream(device))

    def to_array(self, array: Any) -> Any:
        """An array of NumPy or CuPy in the same memory."""
        return np.from_dlpack(array) if capsule.device_of(array) < 0 else cupy_import.from_dlpack(array)

    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None:
        return None

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        return self._result_library(device).empty(shape, dtype, device, order)

    def pointer(self, array: Any) -> int:
        return (NUMPY if isinstance(array, np.ndarray) else CUPY).pointer(array)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return self._result_library(device).current_stream(device)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        return self._result_library(device).from_numpy(values, device)

    def namespace(self) -> ModuleType:
        return np  # such arrays have no module that cuaug knows; NumPy refuses those on a GPU


DLPACK = DLPackLibrary()
