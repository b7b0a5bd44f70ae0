"""Inputs of matrix builders: describes numbers, points and matrices, and packs them as `cuaug::SampleNumbers`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .._arrays import convert, small_matrices
from .._arrays.convert import is_host
from .._arrays.descriptor import ArrayDescriptor, contiguous_strides
from .._arrays.numpy_library import NUMPY
from .._arrays.protocol import Library
from .._arrays.registry import library_of, result_library
from .._arrays.small_matrices import Sizes
from .._program.records import SAMPLE_NUMBERS

_MAX_SHARED = 9  # numbers of one input that all samples share and the record holds
_NO_SHARED = (0.0,) * _MAX_SHARED


class Domain(NamedTuple):
    """The sizes of an input's last axes, and which numbers it may hold. Only numbers on the host are checked."""

    sizes: Sizes
    numbers: Literal["finite", "positive", "any"] = "finite"


class SampleNumbers(NamedTuple):
    """One input, as the record holds it."""

    packed: bytes
    shape: tuple[int, ...]  # of one sample
    array: Any  # NumPy's for numbers on the host; keeps the memory alive


class Inputs(NamedTuple):
    """The inputs of a builder, and what they determine of its result."""

    numbers: list[SampleNumbers]
    batch: tuple[int, ...]
    library: Library
    device: int
    dtype: str  # "float32" or "float64"


class _Array(NamedTuple):
    """An input whose strides in the record depend on the batch."""

    descriptor: ArrayDescriptor
    batch_ndim: int
    array: Any


def describe_inputs(values: Mapping[str, Any], domains: Sequence[Domain]) -> Inputs:
    """Checks and describes inputs. `values` has their names in messages.

    Up to nine numbers on the host that all samples share are stored in the record. Other numbers on the host are copied
    to the device of the result.
    """
    like, dtype = small_matrices.like_and_dtype(values.values())
    library = result_library(like) or NUMPY
    device = -1 if is_host(like) else library.describe(convert.detach(like)).device
    inputs: list[SampleNumbers | _Array] = []
    batches = []
    for (name, value), domain in zip(values.items(), domains, strict=True):
        shared = _plain_numbers(value, domain)
        if shared is not None:
            inputs.append(shared)
            batches.append(())
            continue
        array = _host_array(name, value) if is_host(value) else _device_array(name, value, like, dtype, device)
        shape = tuple(array.shape)
        batch_ndim = _batch_ndim(name, shape, domain.sizes)
        batches.append(shape[:batch_ndim])
        if isinstance(array, np.ndarray):
            _check_numbers(name, array, batch_ndim, domain.numbers)
            if array.size <= _MAX_SHARED and math.prod(batches[-1]) == 1:
                inputs.append(share_numbers(tuple(array.reshape(-1).tolist()), shape[batch_ndim:]))
                continue
            array = array if device < 0 else library.from_numpy(np.ascontiguousarray(array), device)
        inputs.append(_Array(convert.describe(convert.detach(array)), batch_ndim, array))
    batch = _broadcast(tuple(values), tuple(batches))
    numbers = [entry if isinstance(entry, SampleNumbers) else _pack(entry, batch) for entry in inputs]
    return Inputs(numbers, batch, library, device, dtype)


def _plain_numbers(value: Any, domain: Domain) -> SampleNumbers | None:
    """A Python number or a flat sequence of them; None for other values and for invalid ones."""
    if type(value) in (int, float):
        numbers: tuple[float, ...] = (value,)
        shape: tuple[int, ...] = ()
    elif type(value) in (list, tuple) and len(value) <= _MAX_SHARED:
        numbers, shape = tuple(value), (len(value),)
    else:
        return None
    if len(shape) != len(domain.sizes) or (shape and shape[0] not in domain.sizes[0]):
        return None
    for number in numbers:
        is_exact = type(number) is float or (type(number) is int and abs(number) < 1 << 53)
        if not (is_exact and math.isfinite(number) and (number > 0 or domain.numbers != "positive")):
            return None
    return share_numbers(numbers, shape)


@functools.lru_cache(1024)
def share_numbers(numbers: tuple[float, ...], shape: tuple[int, ...]) -> SampleNumbers:
    strides = (0, 0, *contiguous_strides(shape))[-2:]
    packed = SAMPLE_NUMBERS.pack(0, 0, *strides, 1, *numbers, *_NO_SHARED[len(numbers) :], shape[0] if shape else 0)
    return SampleNumbers(packed, shape, np.array(numbers, np.float64).reshape(shape))


def _host_array(name: str, value: Any) -> np.ndarray:
    return convert.host_array(name, value, np.float32 if convert.is_float32(value) else np.float64)


def _device_array(name: str, value: Any, like: Any, dtype: str, device: int) -> Any:
    """An array of float32 or float64 in the library of `like` and on its device."""
    is_float = small_matrices.float_name(value.dtype) in ("float32", "float64")
    if value is like and is_float:
        return value
    library = library_of(type(like))
    if library_of(type(value)) is library and is_float and convert.describe(convert.detach(value)).device == device:
        return value
    return convert.asarray(value, like=like, dtype=dtype, parameter=name)


@functools.lru_cache(4096)
def _batch_ndim(name: str, shape: tuple[int, ...], sizes: Sizes) -> int:
    """The number of leading axes, which are the batch."""
    ndim = len(shape) - len(sizes)
    if ndim < 0 or any(allowed and n not in allowed for n, allowed in zip(shape[ndim:], sizes, strict=True)):
        small_matrices.refuse_shape(name, shape, sizes)
    return ndim


def _check_numbers(name: str, array: np.ndarray, batch_ndim: int, numbers: str) -> None:
    if numbers == "any":
        return
    if not np.isfinite(array).all():
        finite = np.isfinite(array).reshape((*array.shape[:batch_ndim], -1)).all(-1)
        small_matrices.require(name, array, finite, "must be finite")
    if numbers == "positive":
        small_matrices.require(name, array, array > 0, "must be greater than 0")


@functools.lru_cache(4096)
def _broadcast(names: tuple[str, ...], batches: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return small_matrices.broadcast_batches(names, batches)


def _pack(entry: _Array, batch: tuple[int, ...]) -> SampleNumbers:
    """`cuaug::SampleNumbers` of an array, for a batch whose axes count as one."""
    descriptor, ndim, array = entry
    shape = tuple(descriptor.shape[ndim:])
    n_stride = _batch_stride(tuple(descriptor.shape[:ndim]), tuple(descriptor.strides[:ndim]), batch)
    if n_stride is None:
        xp = convert.namespace(array)
        array = xp.broadcast_to(array, (*batch, *shape)).reshape((math.prod(batch), *shape))
        descriptor = convert.describe(convert.detach(array))
        n_stride = descriptor.strides[0]
    strides = (0, 0, *descriptor.strides[len(descriptor.strides) - len(shape) :])[-2:]
    packed = SAMPLE_NUMBERS.pack(
        descriptor.pointer, n_stride, *strides, descriptor.dtype == "float64", *_NO_SHARED, shape[0] if shape else 0
    )
    return SampleNumbers(packed, shape, array if descriptor.device < 0 else descriptor.owner)


@functools.lru_cache(4096)
def _batch_stride(shape: tuple[int, ...], strides: tuple[int, ...], batch: tuple[int, ...]) -> int | None:
    """The stride from one sample of the batch to the next; None if there is no such stride."""
    if math.prod(shape) == 1:
        return 0
    if math.prod(shape) != math.prod(batch):
        return None
    axes = [(n, stride) for n, stride in zip(shape, strides, strict=True) if n != 1]
    for (_, outer), (n, inner) in itertools.pairwise(axes):
        if outer != n * inner:
            return None
    return axes[-1][1]
