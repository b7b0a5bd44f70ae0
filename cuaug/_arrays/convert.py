"""Moves values between libraries, and between host and device."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from . import capsule
from .cupy_library import CUPY
from .descriptor import ArrayDescriptor
from .dlpack_library import DLPACK
from .jax_library import JAX
from .numpy_library import NUMPY, NumPyLibrary
from .protocol import Library, memory_shape
from .registry import library_of
from .torch_library import TorchLibrary, torch_library


def allocate_pinned(shape: tuple[int, ...], order: Sequence[int]) -> Any:
    """Memory of torch that a GPU copies from without stopping, uint8."""
    extents, axes = memory_shape(shape, order)
    torch = torch_library().torch
    try:
        return torch.empty(extents, dtype=torch.uint8, pin_memory=True).permute(axes)
    except RuntimeError as error:
        raise _check.BackendError(f"pinned memory needs a CUDA device ({error}): pass pin=False") from error


def writable_host_array(parameter: str, array: Any) -> tuple[np.ndarray, bool]:
    """An array on the host as NumPy sees it, to be written, and whether channels come first in it."""
    found = library_of(type(array))
    if not isinstance(found, (NumPyLibrary, TorchLibrary)):
        raise TypeError(f"{parameter} must be a numpy array or a torch tensor, got {type(array).__name__}")
    tensor = found.describe(array)
    if tensor.device >= 0:
        raise TypeError(f"{parameter} must be on the host, got {array.device}")
    if tensor.read_only:
        raise TypeError(f"{parameter} must be writable")
    return (array if found is NUMPY else array.detach().numpy()), found.channels_first


def namespace(*arrays: Any) -> Any:
    """The module (torch, cupy, jax.numpy or numpy) of the first argument that is an array of one."""
    for array in arrays:
        found = library_of(type(array))
        if found is not None and found is not DLPACK:
            return found.namespace()
    return np


def is_host(value: Any) -> bool:
    """Whether the values can be read without waiting for a device."""
    found = library_of(type(value))
    if found is None or found is NUMPY:
        return True
    if isinstance(found, TorchLibrary):
        return bool(value.device.type == "cpu")
    # A JAX tracer has no values to read.
    return found is not CUPY and hasattr(value, "__dlpack__") and capsule.device_of(value) < 0


def host_array(parameter: str, value: Any, dtype: Any = np.float64) -> np.ndarray:
    """A host parameter as a NumPy array."""
    found = library_of(type(value))
    if isinstance(found, TorchLibrary):
        if dtype is not None:  # numbers to compute with, not images to look at
            found.check_no_grad(value)
        value = value.detach().resolve_neg()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if np.iscomplexobj(value):
        raise TypeError(f"{parameter} must hold real numbers, got {np.asarray(value).dtype}")
    try:
        return np.asarray(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{parameter} must hold numbers, got {value!r}") from None


def is_float32(value: Any) -> bool:
    """Whether it is an array of float32."""
    return str(getattr(value, "dtype", None)).removeprefix("torch.") == "float32"


def to_host(value: Any) -> np.ndarray:
    """A device array's values. Waits for the device: only where the images are on the host, or on another device."""
    found = library_of(type(value))
    if isinstance(found, TorchLibrary):
        return host_array("value", value.cpu())
    return host_array("value", value.get() if found is CUPY else value)


def parameter_column(parameter: str, value: Any) -> Any:
    """A number or one per sample: a float or a NumPy array from the host, else the device array itself, as float64."""
    if is_host(value):
        values = value if type(value) is float else host_array(parameter, value)
        values = float(values) if type(value) is int else values
        if np.ndim(values) > 1 or not np.all(np.isfinite(values)):
            raise ValueError(f"{parameter} must be a finite number or one per sample, got {value!r}")
        return values
    return asarray(value, like=value, dtype="float64")


def stack_columns(values: Sequence[Any]) -> Any:
    """Numbers and per-sample values, of `parameter_column`, side by side in a new last axis."""
    xp = namespace(*values)
    like = next((value for value in values if (library_of(type(value)) or NUMPY) is not NUMPY), None)
    if like is None:
        return np.stack(np.broadcast_arrays(*values), -1)
    like = asarray(like, like=like, dtype="float64")
    moved = [
        xp.full_like(like, value) if isinstance(value, float) else asarray(value, like=like, dtype="float64")
        for value in values
    ]
    return xp.stack(list((getattr(xp, "broadcast_tensors", None) or xp.broadcast_arrays)(*moved)), -1)


def index_dtype(found: Library) -> str:
    """Of indices: int64, or what JAX has for it."""
    return str(sys.modules["jax"].dtypes.canonicalize_dtype("int64")) if found is JAX else "int64"


def detach(array: Any) -> Any:
    """Without its gradient, for results that have none."""
    return array.detach() if getattr(array, "requires_grad", False) else array


def dtype_name(dtype: Any) -> str:
    """A dtype of any library, or its name, as the name used here."""
    text = str(dtype)
    if dtype is None:  # NumPy's float64
        raise TypeError("dtype must be a dtype or its name, got None")
    if isinstance(dtype, str) or text.startswith("torch."):
        return text.removeprefix("torch.")
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        raise TypeError(f"dtype must be a dtype or its name, got {dtype!r}") from None


def asarray(value: Any, *, like: Any, dtype: str) -> Any:
    """`value` as an array of `like`'s library, on `like`'s device; a device array stays on devices."""
    target = library_of(type(like)) or NUMPY
    found = library_of(type(value))
    if found is target and found is not NUMPY:
        if isinstance(target, TorchLibrary):
            return value.to(device=like.device, dtype=target.dtypes[dtype], non_blocking=True)
        if target is JAX:  # which has 64 bits only where the user has enabled them
            dtype = sys.modules["jax"].dtypes.canonicalize_dtype(dtype)
        return value.astype(dtype)
    if is_host(value):
        device = -1 if is_host(like) else describe(like.detach() if isinstance(target, TorchLibrary) else like).device
        return target.to_user_array(target.from_numpy(np.asarray(host_array("value", value, dtype), order="C"), device))
    return target.namespace().from_dlpack(value).astype(dtype)


def truncate(array: Any, count: int) -> Any:
    """The first entries of what `empty` has made, of one axis. To resize a tensor takes half of what a slice does."""
    return array.resize_(count) if isinstance(library_of(type(array)), TorchLibrary) else array[:count]


def tensor_key(arrays: Sequence[Any]) -> tuple[Any, list[int]]:
    """Plain tensors of torch: all but where they lie and their gradients, as a key, and where they lie.

    For whatever else there is the key is false: it has to be described.
    """
    found = library_of(type(arrays[0]))
    kinds: list[Any] = []
    pointers: list[int] = []
    if isinstance(found, TorchLibrary):
        plain, strided = found.plain, found.strided
        for array in arrays:
            if array is None:
                kinds.append(None)
                pointers.append(0)
            elif type(array) is plain and array.layout is strided and not array.is_neg():
                kinds += array.dtype, array.shape, array.stride(), array.device
                pointers.append(array.data_ptr())
                if not pointers[-1]:  # nothing, or nothing any more
                    return None, pointers
            else:
                return None, pointers
    return tuple(kinds), pointers


def describe(array: Any, stream: int | None = None) -> ArrayDescriptor:
    """Where an array's data lies."""
    found = library_of(type(array))
    if found is None:
        raise TypeError(
            f"expected an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
        )
    return found.describe(array, stream)
