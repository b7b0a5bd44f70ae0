"""Converts values between libraries and dtypes, and moves them between host and device."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._gpu import cupy_import, devices
from .._integers import has_length, refuse_meta
from .._value_text import array_text, value_text
from . import capsule
from .cupy_library import CUPY
from .descriptor import COPIED_VIEW, ArrayDescriptor
from .dlpack_library import DLPACK
from .jax_library import JaxLibrary
from .numpy_library import NUMPY, NumPyLibrary
from .pillow_library import PILLOW
from .protocol import Library, memory_shape
from .registry import library_by_name, library_of, result_library
from .symbolic_array import SymbolicLibrary
from .torch_library import TorchLibrary, torch_library

_MAX_NESTED_LISTS = 4  # no parameter has more axes
_NOT_NUMBERS = str, bytes, np.datetime64, np.timedelta64
_dtype_names: dict[Any, str] = {}  # results of `dtype_name`: NumPy and torch take microseconds for a name


def allocate_pinned(shape: tuple[int, ...], order: Sequence[int]) -> Any:
    """A pinned uint8 tensor, from which copies to a GPU are asynchronous."""
    extents, axes = memory_shape(shape, order)
    torch = torch_library().torch
    try:
        return torch.empty(extents, dtype=torch.uint8, pin_memory=True).permute(axes)
    except RuntimeError as error:
        raise _check.BackendError(f"pinned memory needs a CUDA device ({error}): pass pin=False") from error


def writable_host_array(parameter: str, array: Any) -> tuple[np.ndarray, bool]:
    """A NumPy view of a host array, for writing, and whether its library puts channels first by default."""
    library = library_of(type(array))
    if not isinstance(library, (NumPyLibrary, TorchLibrary)):
        raise TypeError(f"{parameter} must be a numpy array or a torch tensor, got {type(array).__name__}")
    descriptor = library.describe(array)
    if descriptor.device >= 0:
        raise TypeError(f"{parameter} must be on the host, got {array.device}")
    if descriptor.read_only:
        raise TypeError(f"{parameter} must be writable")
    if descriptor.is_copy:
        raise ValueError(COPIED_VIEW)
    return (array if library is NUMPY else array.detach().numpy()), library.channels_first


def namespace(*arrays: Any) -> Any:
    """The module (torch, cupy, jax.numpy or numpy) of the first array of such a library; numpy if there is none."""
    for array in arrays:
        library = library_of(type(array))
        if library is not None and library is not DLPACK:
            return library.namespace()
    return np


def is_host(value: Any) -> bool:
    """Whether the values are on the host and can be read."""
    library = library_of(type(value))
    if library is None or library is NUMPY or library is PILLOW:
        return True
    if isinstance(library, TorchLibrary):
        return bool(value.device.type == "cpu")
    if isinstance(library, SymbolicLibrary):
        return bool(value.device < 0)
    if isinstance(library, JaxLibrary) and len(value.devices()) > 1:  # such an array has no DLPack device
        return all(device.platform == "cpu" for device in value.devices())
    return library is not CUPY and capsule.device_of(value) < 0


def host_array(parameter: str, value: Any, dtype: Any = np.float64) -> np.ndarray:
    """A host value as a NumPy array.

    `dtype` None keeps the dtype, except that bfloat16 becomes float32. With None, a tensor that requires grad is
    accepted: callers that pass None need no gradient.
    """
    library = library_of(type(value))
    array_like = value
    if isinstance(value, (list, tuple)):
        array_like = _convert_entries(value, dtype is not None)
    elif isinstance(library, TorchLibrary):
        array_like = library.to_numpy(value, dtype is not None)
    elif library is DLPACK:
        array_like = DLPACK.to_array(value)
    complex_dtype = None
    try:
        values = np.asarray(array_like)
        if values.dtype.kind == "c":
            complex_dtype = values.dtype
        elif dtype is None and values.dtype.name == "bfloat16":
            return values.astype(np.float32)
        elif dtype is None or _holds_numbers(values):
            return np.asarray(values, dtype=dtype)
    except OverflowError:  # an int that the dtype cannot hold
        if dtype in (np.float32, np.float64):
            numbers = "a number" if isinstance(value, int) else "numbers"
            raise ValueError(f"{parameter} must be {numbers} that a float holds, got {value_text(value)}") from None
    except (TypeError, ValueError):
        pass
    if complex_dtype is not None:
        raise TypeError(f"{parameter} must hold real numbers, got {complex_dtype}")
    raise TypeError(f"{parameter} must hold numbers, got {value_text(value)}")


def _convert_entries(entries: Sequence[Any], check_grad: bool, depth: int = _MAX_NESTED_LISTS) -> Sequence[Any]:
    """Nested lists with NumPy arrays in place of tensors.

    Refuses masked arrays and tracers, as `library_of` does: NumPy drops masks without an error.
    """
    changed: dict[int, Any] = {}
    checked_type: type = float
    for index, entry in enumerate(entries):
        entry_type = type(entry)
        if entry_type is checked_type:
            continue
        if isinstance(entry, (list, tuple)):
            if depth > 1 and (converted := _convert_entries(entry, check_grad, depth - 1)) is not entry:
                changed[index] = converted
        elif isinstance(library := library_of(entry_type), TorchLibrary):
            if entry.is_cpu and entry.layout is library.strided_layout:
                changed[index] = library.to_numpy(entry, check_grad)
        else:
            checked_type = entry_type
    return [changed.get(index, entry) for index, entry in enumerate(entries)] if changed else entries


def _holds_numbers(values: np.ndarray) -> bool:
    """Whether the values are numbers. None, "1" and dates are not, although NumPy converts them to NaN and numbers."""
    if values.dtype.kind == "O":
        return not any(value is None or isinstance(value, _NOT_NUMBERS) for value in values.flat)
    return values.dtype.kind not in "SUMm"


def is_float32(value: Any) -> bool:
    """Whether the value is a float32 array."""
    return str(getattr(value, "dtype", None)).removeprefix("torch.") == "float32"


def copy_to_host(value: Any) -> Any:
    """A copy of a device array that `host_array` accepts. Waits for the device."""
    if isinstance(library_of(type(value)), TorchLibrary):
        refuse_meta(value)
        return value.cpu()
    return value.get() if hasattr(value, "get") else np.asarray(value)  # CuPy; JAX


def host_values(parameter: str, array: Any) -> np.ndarray:
    """The values as a NumPy array of their dtype; bfloat16 becomes float32. Copying from a device waits."""
    return host_array(parameter, array if is_host(array) else copy_to_host(array), None)


def to_host(value: Any) -> np.ndarray:
    """The values of a device array, as float64. Waits for the device."""
    return host_array("value", copy_to_host(value))


def parameter_column(parameter: str, value: Any) -> Any:
    """A value for one column of the parameter table: one number, or one per sample.

    A host number becomes a float, a host array a float64 NumPy array, a device array float64 (in JAX its widest float).
    """
    # The usual case, without the microseconds that NumPy takes.
    if type(value) is float or (type(value) is int and abs(value) < 1 << 53):
        if math.isfinite(value):
            return float(value)
    elif not is_host(value):
        column = asarray(value, like=value, dtype="float64")
        if column.ndim <= 1:
            return column
        raise ValueError(f"{parameter} must be a finite number or one per sample, got {array_text(column)}")
    else:
        values = host_array(parameter, value)
        if values.ndim <= 1 and np.isfinite(values).all():
            return values if values.ndim else float(values)
    raise ValueError(f"{parameter} must be a finite number or one per sample, got {value_text(value)}")


def stack_columns(values: Sequence[Any]) -> Any:
    """Stacks results of `parameter_column` along a new last axis."""
    like = next((value for value in values if (library_of(type(value)) or NUMPY) is not NUMPY), None)
    if like is None:
        return np.stack(np.broadcast_arrays(*values), -1)
    xp, like = namespace(like), asarray(like, like=like, dtype="float64")
    columns = [
        xp.full_like(like, value) if isinstance(value, float) else asarray(value, like=like, dtype="float64")
        for value in values
    ]
    return xp.stack(list((getattr(xp, "broadcast_tensors", None) or xp.broadcast_arrays)(*columns)), -1)


def sample_ids(ids: Any) -> Any:
    """`ids` that a user passes: None, an int for the first id, a NumPy array of int64, or a device array as it is."""
    if ids is None or type(ids) is int:
        return ids
    if not has_length(ids):
        return _check.integer("ids", ids, -_check.MAX_INT64, _check.MAX_INT64)
    if not is_host(ids):
        return ids
    values = host_array("ids", ids, None)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"ids must be integers, got {values.dtype}")
    if values.dtype.kind == "f":  # NumPy also makes floats of a list of np.uint64 and int
        is_valid, limit = (abs(values) <= 2.0**53) & (values == np.rint(values)), "at most 2**53 if they are floats"
    else:
        is_valid, limit = (values >= -_check.MAX_INT64) & (values <= _check.MAX_INT64), "of 64 bits"
    if not np.all(is_valid):
        raise ValueError(f"ids must be whole numbers {limit}, got {value_text(values.tolist())}")
    return values.astype(np.int64)


def index_dtype(library: Library) -> str:
    """The dtype of indices: int64; in JAX int32 unless 64 bits are enabled."""
    return str(sys.modules["jax"].dtypes.canonicalize_dtype("int64")) if isinstance(library, JaxLibrary) else "int64"


def detach(array: Any) -> Any:
    """The array without its autograd history."""
    return array.detach() if getattr(array, "requires_grad", False) else array


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of any library."""
    try:
        return _dtype_names[dtype]
    except (KeyError, TypeError):  # TypeError: not hashable, as a list
        pass
    name = _find_dtype_name(dtype)
    if type(dtype).__hash__ is not None:
        _dtype_names[dtype] = name
    return name


def _find_dtype_name(dtype: Any) -> str:
    text = str(dtype)
    if dtype is None:  # np.dtype(None) is float64
        raise TypeError("dtype must be a dtype or its name, got None")
    if isinstance(dtype, str) or text.startswith("torch."):
        return text.removeprefix("torch.")
    try:
        if isinstance(dtype, (list, tuple, dict)):  # np.dtype would make a structured dtype of it
            raise TypeError
        return str(np.dtype(dtype).name)
    except (TypeError, ValueError):
        raise TypeError(f"dtype must be a dtype or its name, got {value_text(dtype)}") from None


def asarray(value: Any, *, like: Any, dtype: str, parameter: str = "value") -> Any:
    """`value` as an array of `like`'s library, on `like`'s device. A device array does not pass through the host.

    `parameter` is its name in messages.
    """
    library, value_library = result_library(like) or NUMPY, library_of(type(value))
    if isinstance(library, JaxLibrary) and isinstance(value_library, JaxLibrary):
        return library.convert(value, like, dtype)
    if value_library is library and library is not NUMPY:
        return library.convert(value, like, dtype) if isinstance(library, TorchLibrary) else value.astype(dtype)
    if type(value) is np.ndarray and library is NUMPY and value.dtype.kind in "biuf":
        return np.asarray(value, dtype, order="C")
    if is_host(value):
        device = -1 if is_host(like) else describe(like.detach() if isinstance(library, TorchLibrary) else like).device
        return library.to_user_array(
            library.from_numpy(np.asarray(host_array(parameter, value, dtype), order="C"), device)
        )
    return asarray(library.namespace().from_dlpack(value), like=like, dtype=dtype)


def torch_tensor(array: Any) -> Any:
    """An array of another library as a contiguous tensor, on the array's device; imports torch."""
    library = library_by_name("torch")
    if is_host(array):
        return library.from_numpy(np.ascontiguousarray(host_array("array", array, None)), -1)
    return library.namespace().from_dlpack(array).contiguous()


def copy(array: Any, library: Library, device: int) -> tuple[Any, int]:
    """A copy of an array that `empty` or `from_numpy` of any library returned, and the copy's address.

    An array on a GPU is copied by `library`, the images' library, on the stream of its passes.
    """
    is_tensor = isinstance(library_of(type(array)), TorchLibrary)
    if device < 0:
        result = array.clone() if is_tensor else array.copy()
        return result, (torch_library() if is_tensor else NUMPY).pointer(result)
    with devices.use_device(device):  # CuPy copies to its current device
        if isinstance(library, TorchLibrary):
            result = (array if is_tensor else library.torch.from_dlpack(array)).clone()
        else:
            result = (cupy_import.from_dlpack(array) if is_tensor else array).copy()
    return result, library.pointer(result)


def truncate(array: Any, count: int) -> Any:
    """The first `count` entries of a 1-D array that `Library.empty` returned.

    A tensor is resized in place, which takes half the time of slicing it.
    """
    return array.resize_(count) if isinstance(library_of(type(array)), TorchLibrary) else array[:count]


def tensor_key(arrays: Sequence[Any]) -> tuple[tuple[Any, ...] | None, list[int]]:
    """Cache key (dtypes, shapes, strides, devices) and data pointers of torch tensors.

    An entry of `arrays` may be None: an argument that was not given. The key is empty for other libraries, and None for
    tensor subclasses, sparse tensors, tensors with a pending negation and null pointers: such calls are not cached.
    """
    library = library_of(type(arrays[0]))
    key: list[Any] = []
    pointers: list[int] = []
    if isinstance(library, TorchLibrary):
        tensor_type, strided_layout = library.tensor_type, library.strided_layout
        for array in arrays:
            if array is None:
                key.append(None)
                pointers.append(0)
            elif type(array) is tensor_type and array.layout is strided_layout and not array.is_neg():
                key += array.dtype, array.shape, array.stride(), array.device
                pointers.append(library.pointer(array))
                if not pointers[-1]:  # empty, or its storage was freed
                    return None, pointers
            else:
                return None, pointers
    return tuple(key), pointers


def describe(array: Any, stream: int | None = None) -> ArrayDescriptor:
    """Pointer, shape, strides, dtype and device of an array."""
    library = library_of(type(array))
    if library is None:
        raise TypeError(
            f"expected an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
            f"{_check.array_hint(array)}"
        )
    return library.describe(array, stream)
