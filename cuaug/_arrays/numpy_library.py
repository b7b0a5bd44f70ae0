"""NumPy arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .._host import buffer_pool
from .._program.dtypes import ITEM_SIZE
from .descriptor import ArrayDescriptor
from .protocol import memory_shape, numpy_dtype, numpy_dtype_name, unsupported_dtype


class NumPyLibrary:
    name, channels_first = "numpy", False

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        dtype = array.dtype
        name = numpy_dtype_name(dtype)
        if not dtype.isnative:
            raise TypeError(f"{dtype.str} has another byte order: pass array.astype(array.dtype.newbyteorder('='))")
        if name not in ITEM_SIZE:
            raise TypeError(unsupported_dtype(dtype))
        # The strides of a field of a structured array may not be multiples of the item size.
        is_copy = any(stride % dtype.itemsize for stride in array.strides)
        if is_copy:
            array = array.copy()
        pointer, read_only = array.__array_interface__["data"]
        strides = tuple(stride // dtype.itemsize for stride in array.strides)
        return ArrayDescriptor(pointer, array.shape, strides, name, -1, read_only, array, is_copy)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        extents, axes = memory_shape(shape, order)
        if (size := math.prod(extents) * ITEM_SIZE[dtype]) >= buffer_pool.POOL_THRESHOLD:
            return buffer_pool.allocate(size).view(numpy_dtype(dtype)).reshape(extents).transpose(axes)
        return np.empty(extents, numpy_dtype(dtype)).transpose(axes)

    def pointer(self, array: Any) -> int:
        return int(array.__array_interface__["data"][0])

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return 0

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        return values

    def namespace(self) -> ModuleType:
        return np


NUMPY = NumPyLibrary()
