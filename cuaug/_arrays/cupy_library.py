"""CuPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .._gpu import cupy_import, devices
from .._program.dtypes import ITEM_SIZE
from .descriptor import ArrayDescriptor
from .protocol import memory_shape, numpy_dtype, unsupported_dtype


class CuPyLibrary:
    name, channels_first = "cupy", False

    def __reduce__(self) -> str:
        return "CUPY"  # copies are this object

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        dtype = array.dtype
        if dtype.name not in ITEM_SIZE:
            raise TypeError(unsupported_dtype(dtype))
        if any(stride % dtype.itemsize for stride in array.strides):  # CuPy's kernels cannot copy such an array, either
            raise ValueError(f"a CuPy array must have strides of whole elements of {dtype}, got {array.strides} bytes")
        strides = tuple(stride // dtype.itemsize for stride in array.strides)
        return ArrayDescriptor(array.data.ptr, array.shape, strides, dtype.name, array.data.device_id, False, array)

    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None:
        return (array.dtype, array.shape, array.strides, array.data.device_id), self.pointer(array)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        with devices.use_device(device):
            extents, axes = memory_shape(shape, order)
            return cupy_import.cupy().empty(extents, numpy_dtype(dtype)).transpose(axes)

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        with devices.use_device(device):
            return int(cupy_import.cupy().cuda.get_current_stream().ptr)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        # Memory that NumPy has not allocated may be pinned. CuPy reads such memory later, when it may have changed.
        with devices.use_device(device):
            return cupy_import.cupy().asarray(values if values.flags.owndata else values.copy())

    def namespace(self) -> ModuleType:
        return cupy_import.cupy()


CUPY = CuPyLibrary()
