"""NumPy arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .._host import buffer_pool
from .._host.extension import extension
from .._program.dtypes import ITEM_SIZE
from .descriptor import ArrayDescriptor
from .protocol import memory_shape, numpy_dtype, unsupported_dtype

# Bits of `ndarray.flags.num`: NPY_ARRAY_WRITEABLE, and NPY_ARRAY_WARN_ON_WRITE, which results of `np.broadcast_arrays`
# have. Such an array counts as read-only; reading its `flags.writeable` would warn.
_WRITEABLE = 1 << 10
_WRITE_FLAGS = _WRITEABLE | 1 << 31


class NumPyLibrary:
    name, channels_first = "numpy", False

    def __reduce__(self) -> str:
        return "NUMPY"  # copies are this object

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        name, strides = _name_and_strides(array.dtype, array.strides)
        if is_copy := strides is None:
            array = array.copy()
            strides = tuple(stride // array.itemsize for stride in array.strides)
        pointer, read_only = extension().array_address(array), array.flags.num & _WRITE_FLAGS != _WRITEABLE
        return ArrayDescriptor(pointer, array.shape, strides, name, -1, read_only, array, is_copy)

    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None:
        try:
            is_plain = type(array) is np.ndarray and _name_and_strides(array.dtype, array.strides)[1] is not None
        except TypeError:  # a dtype that `describe` refuses
            return None
        key = array.dtype, array.shape, array.strides, array.flags.num & _WRITE_FLAGS
        return (key, self.pointer(array)) if is_plain else None

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        extents, axes = (shape, None) if order is None else memory_shape(shape, order)
        if (size := math.prod(extents) * ITEM_SIZE[dtype]) >= buffer_pool.POOL_THRESHOLD:
            array = buffer_pool.allocate(size).view(numpy_dtype(dtype)).reshape(extents)
        else:
            array = np.empty(extents, numpy_dtype(dtype))
        return array if axes is None else array.transpose(axes)

    def pointer(self, array: Any) -> int:
        return int(extension().array_address(array))

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return 0

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        return values

    def namespace(self) -> ModuleType:
        return np


NUMPY = NumPyLibrary()


@functools.lru_cache(4096)
def _name_and_strides(dtype: np.dtype[Any], strides: tuple[int, ...]) -> tuple[str, tuple[int, ...] | None]:
    """The dtype's name, and the strides in elements.

    None for strides of which one is no multiple of the item size, as for a field of a structured array.
    """
    if not dtype.isnative:
        raise TypeError(f"{dtype.str} has another byte order: pass array.astype(array.dtype.newbyteorder('='))")
    name = dtype.name
    if name not in ITEM_SIZE:
        raise TypeError(unsupported_dtype(dtype))
    if any(stride % dtype.itemsize for stride in strides):
        return name, None
    return name, tuple(stride // dtype.itemsize for stride in strides)
