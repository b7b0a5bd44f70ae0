"""The protocol of an array library: describe an array, allocate one, move values to a device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from .. import _check
from .descriptor import ArrayDescriptor


class Library(Protocol):
    """What an array library must answer."""

    name: str
    channels_first: bool

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor: ...
    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any: ...
    def pointer(self, array: Any) -> int: ...
    def to_user_array(self, array: Any) -> Any: ...
    def current_stream(self, device: int) -> int: ...
    def from_numpy(self, values: np.ndarray, device: int) -> Any: ...
    def namespace(self) -> ModuleType: ...


def unsupported_dtype(dtype: Any) -> str:
    images, labels = ", ".join(_check.IMAGE_DTYPES), ", ".join(_check.LABEL_DTYPES)
    return f"{getattr(dtype, 'name', dtype)} is not supported; images may be {images}, labels {labels}"


def memory_shape(shape: tuple[int, ...], order: Sequence[int] | None) -> tuple[tuple[int, ...], list[int]]:
    """What shape to allocate, and how to permute it to `shape`, for memory that runs through the axes in `order`."""
    order = range(len(shape)) if order is None else order
    inverse = [0] * len(shape)
    for position, axis in enumerate(order):
        inverse[axis] = position
    return tuple(shape[axis] for axis in order), inverse


@functools.cache
def numpy_dtype_name(dtype: np.dtype[Any]) -> str:
    return dtype.name  # which NumPy works out each time: half of what describing an array takes


@functools.cache
def numpy_dtype(name: str) -> np.dtype:
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes  # comes with JAX and CuPy, the only libraries that can have asked

    found: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return found
