"""Inputs of matrix builders: describes numbers, points and matrices, and packs them as `cuaug::SampleNumbers`."""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .._arrays import convert, small_matrices
from .._arrays.convert import is_host
from .._arrays.cupy_library import CUPY
from .._arrays.descriptor import ArrayDescriptor, contiguous_strides
from .._arrays.dlpack_library import DLPackLibrary
from .._arrays.numpy_library import NUMPY
from .._arrays.protocol import Library
from .._arrays.registry import library_of, result_library
from .._arrays.small_matrices import Sizes
from .._program.records import SAMPLE_NUMBERS

_MAX_SHARED = 9  # numbers of one input that all samples share and the record holds
_NO_SHARED = (0.0,) * _MAX_SHARED
_DOUBLES = [struct.Struct(f"{count}d") for count in range(_MAX_SHARED + 1)]
_PACK_AFTER_POINTER = SAMPLE_NUMBERS.span_packer("table.n_stride", "rows")
_DTYPES = ("float32", "float64")
_float_name = functools.cache(small_matrices.float_name)


class Domain(NamedTuple):
    """The sizes of an input's last axes, and which numbers it may hold. Only numbers on the host are checked."""

    sizes: Sizes
    numbers: Literal["finite", "positive", "any"] = "finite"


class SampleNumbers(NamedTuple):
    """One input, as the record holds it."""

    packed: bytes
    shape: tuple[int, ...]  # of one sample
    array: Any  # keeps the memory alive; NumPy's if the numbers are on the host
    is_shared: bool  # whether `packed` holds the numbers


class Inputs(NamedTuple):
    """The inputs of a builder, and what they determine of its result."""

    numbers: list[SampleNumbers]
    batch: tuple[int, ...]
    library: Library
    device: int
    dtype: str  # "float32" or "float64"

    def for_intermediate(self, numbers: list[SampleNumbers]) -> Inputs:
        """Some of the inputs, for a call whose float64 result is another's input: JAX may have no float64 arrays."""
        library = CUPY if isinstance(self.library, DLPackLibrary) else self.library
        return self._replace(numbers=numbers, library=NUMPY if self.device < 0 else library, dtype="float64")


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
    arrays = [value for value in values.values() if hasattr(value, "dtype")]
    dtype = small_matrices.result_dtype({_float_name(array.dtype) for array in arrays})
    like, on_host = small_matrices.result_like(arrays)
    library = result_library(like) or NUMPY
    descriptor = None if on_host else library.describe(convert.detach(like))
    device = -1 if descriptor is None else descriptor.device
    inputs: list[SampleNumbers | _Array] = []
    batches = []
    for (name, value), domain in zip(values.items(), domains, strict=True):
        entry: SampleNumbers | _Array | None = _plain_numbers(value, domain)
        if entry is None and (descriptor is None or is_host(value)):
            entry = _host_input(name, value, domain, library, device)
        elif entry is None and descriptor is not None:
            entry = _device_input(name, value, domain, like, dtype, descriptor)
        assert entry is not None
        inputs.append(entry)
        batches.append(entry.descriptor.shape[: entry.batch_ndim] if isinstance(entry, _Array) else ())
    batch = _broadcast(tuple(values), tuple(batches))
    numbers = [_pack(entry, batch) if isinstance(entry, _Array) else entry for entry in inputs]
    return Inputs(numbers, batch, library, device, dtype)


def result_input(result: Any, batch: tuple[int, ...]) -> SampleNumbers:
    """The result of a builder, as an input of a call with the same batch."""
    return _pack(_Array(convert.describe(result), len(batch), result), batch)


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


def share_numbers(numbers: tuple[float, ...], shape: tuple[int, ...]) -> SampleNumbers:
    """An input that the record holds for all samples."""
    return _share_bytes(_DOUBLES[len(numbers)].pack(*numbers), shape)


@functools.lru_cache(1024)
def _share_bytes(number_bytes: bytes, shape: tuple[int, ...]) -> SampleNumbers:
    """The cached part of `share_numbers`.

    Its key is bytes: 0.0 == -0.0, but points on the horizon map to infinities of different signs.
    """
    numbers = _DOUBLES[len(number_bytes) // 8].unpack(number_bytes)
    strides = (0, 0, *contiguous_strides(shape))[-2:]
    packed = SAMPLE_NUMBERS.pack(0, 0, *strides, 1, *numbers, *_NO_SHARED[len(numbers) :], shape[0] if shape else 0)
    return SampleNumbers(packed, shape, np.array(numbers, np.float64).reshape(shape), is_shared=True)


def _host_input(name: str, value: Any, domain: Domain, library: Library, device: int) -> SampleNumbers | _Array:
    array = convert.host_array(name, value, np.float32 if convert.is_float32(value) else np.float64)
    batch_ndim = _batch_ndim(name, array.shape, domain.sizes)
    if domain.numbers != "any":
        if not np.isfinite(array).all():
            finite = np.isfinite(array).reshape((*array.shape[:batch_ndim], -1)).all(-1)
            small_matrices.require(name, array, finite, "must be finite")
        if domain.numbers == "positive":
            small_matrices.require(name, array, array > 0, "must be greater than 0")
    if batch_ndim == 0 and array.size <= _MAX_SHARED:
        return share_numbers(tuple(array.reshape(-1).tolist()), array.shape)
    moved = array if device < 0 else library.from_numpy(np.ascontiguousarray(array), device)
    return _Array(convert.describe(moved), batch_ndim, moved)


def _device_input(
    name: str, value: Any, domain: Domain, like: Any, dtype: str, like_descriptor: ArrayDescriptor
) -> _Array:
    """An input in the library of `like` and on its device, converted to `dtype` unless it is float32 or float64."""
    array, descriptor = value, like_descriptor if value is like else None
    if descriptor is None and library_of(type(value)) is library_of(type(like)) and _float_name(value.dtype):
        descriptor = convert.describe(convert.detach(value))
    if descriptor is None or descriptor.dtype not in _DTYPES or descriptor.device != like_descriptor.device:
        array = convert.asarray(value, like=like, dtype=dtype, parameter=name)
        descriptor = convert.describe(convert.detach(array))
    return _Array(descriptor, _batch_ndim(name, descriptor.shape, domain.sizes), array)


@functools.lru_cache(4096)
def _batch_ndim(name: str, shape: tuple[int, ...], sizes: Sizes) -> int:
    """The number of leading axes, which are the batch."""
    ndim = len(shape) - len(sizes)
    if ndim < 0 or any(allowed and n not in allowed for n, allowed in zip(shape[ndim:], sizes, strict=True)):
        small_matrices.refuse_shape(name, shape, sizes)
    return ndim


@functools.lru_cache(4096)
def _broadcast(names: tuple[str, ...], batches: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return small_matrices.broadcast_batches(names, batches)


def _pack(entry: _Array, batch: tuple[int, ...]) -> SampleNumbers:
    """`cuaug::SampleNumbers` of an array. The kernel sees the axes of the batch as one axis."""
    descriptor, ndim, array = entry
    shape, fields = _fields_after_pointer(descriptor.shape, descriptor.strides, descriptor.dtype, ndim, batch)
    if fields is None:
        array = convert.namespace(array).broadcast_to(array, (*batch, *shape)).reshape((math.prod(batch), *shape))
        descriptor = convert.describe(convert.detach(array))
        flat_shape = descriptor.shape
        _, fields = _fields_after_pointer(flat_shape, descriptor.strides, descriptor.dtype, 1, flat_shape[:1])
    assert fields is not None
    return SampleNumbers(
        descriptor.pointer.to_bytes(8, "little", signed=True) + fields, shape, descriptor.owner, is_shared=False
    )


@functools.lru_cache(4096)
def _fields_after_pointer(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, batch_ndim: int, batch: tuple[int, ...]
) -> tuple[tuple[int, ...], bytes | None]:
    """The shape of one sample, and the packed fields of the record after the pointer.

    The fields are None if there is no stride from one sample of the batch to the next.
    """
    sample_shape = tuple(shape[batch_ndim:])
    axes = [(n, stride) for n, stride in zip(shape[:batch_ndim], strides, strict=False) if n != 1]
    has_stride = all(outer == n * inner for (_, outer), (n, inner) in itertools.pairwise(axes))
    if axes and (math.prod(shape[:batch_ndim]) != math.prod(batch) or not has_stride):
        return sample_shape, None
    n_stride = axes[-1][1] if axes else 0
    y_stride, x_stride = (0, 0, *strides[batch_ndim:])[-2:]
    rows = sample_shape[0] if sample_shape else 0
    return sample_shape, _PACK_AFTER_POINTER.pack(n_stride, y_stride, x_stride, dtype == "float64", *_NO_SHARED, rows)
