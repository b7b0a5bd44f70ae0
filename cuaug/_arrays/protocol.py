"""The protocol of an array library: describe an array, allocate one, move values to a device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from .._check import BackendError
from .._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES
from .descriptor import ArrayDescriptor


class Library(Protocol):
    """One array library. `device` is -1 for the CPU, else the number of a CUDA device.

    `describe` returns the pointer, shape and strides of an array, or of a copy (`ArrayDescriptor.is_copy`) if the
    strides are not whole elements or torch's negative bit is set. `stream`, which only DLPack uses: the reader's
    CUDA stream, which waits for the producer's work on the array. `key_and_pointer` returns a hashable key, and the
    pointer: arrays of one type with equal keys have descriptors that differ only in pointer and owner. It returns None
    for an array without such a key, which has to be described anew.
    `empty` allocates a dense array on the caller's current stream; `order` lists the axes from outermost to innermost
    in memory. Passes write to the caller's `out`, or to arrays that `empty` or `from_numpy` returned; `to_user_array`
    converts such an array to the caller's library.
    """

    name: str
    channels_first: bool

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor: ...
    def key_and_pointer(self, array: Any) -> tuple[Any, int] | None: ...
    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any: ...
    def pointer(self, array: Any) -> int: ...
    def to_user_array(self, array: Any) -> Any: ...
    def current_stream(self, device: int) -> int: ...
    def from_numpy(self, values: np.ndarray, device: int) -> Any: ...
    def namespace(self) -> ModuleType: ...


def unsupported_dtype(dtype: Any) -> str:
    """The message that refuses a dtype. For some dtypes of NumPy and CuPy, it also says what to pass."""
    images, labels, name = ", ".join(IMAGE_DTYPES), ", ".join(LABEL_DTYPES), getattr(dtype, "name", dtype)
    is_other_integer = name in ("int8", "uint32", "uint64")
    hint = ": pass images.astype('uint8') if they hold 0..255, or labels.astype('int64')" if is_other_integer else ""
    hint = ": pass list(images) to a transform, or call the function on each" if name == "object" else hint
    return f"{name} is not supported; images may be {images}, labels {labels}{hint}"


def memory_shape(shape: tuple[int, ...], order: Sequence[int] | None) -> tuple[tuple[int, ...], list[int]]:
    """The shape to allocate in C order, and the transposition that turns it into `shape`.

    `order` lists the axes from outermost to innermost in memory; None: C order.
    """
    order = range(len(shape)) if order is None else order
    inverse = [0] * len(shape)
    for position, axis in enumerate(order):
        inverse[axis] = position
    return tuple(shape[axis] for axis in order), inverse


@functools.cache
def numpy_dtype(name: str) -> np.dtype:
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes  # JAX and CuPy take their bfloat16 from it; TorchLibrary does not call this function
    except ImportError as error:
        raise BackendError(f"bfloat16 in NumPy and CuPy needs ml_dtypes ({error}): pip install ml-dtypes") from error
    bfloat16: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return bfloat16
