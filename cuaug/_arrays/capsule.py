"""Reads a DLPack capsule: pointer, device, dtype, shape and strides of any library's array.

The structures are declared as in dlpack.h, version 1.1.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .descriptor import ArrayDescriptor, contiguous_strides

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_TYPE_NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_READ_ONLY, _IS_COPIED = 1, 2

# Function objects of this module: argument types that are set on `ctypes.pythonapi.PyCapsule_IsValid` itself would hold
# for all code of the process.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


def _capsule_pointer(capsule: object, name: bytes) -> int | None:
    address: int | None = _get_pointer(capsule, name) if _is_valid(capsule, name) else None
    return address


def device_of(array: Any) -> int:
    """The number of the CUDA device of device and managed memory; -1 for CPU and pinned memory."""
    device_type, index = array.__dlpack_device__()
    if device_type in (_CPU, _CUDA_HOST):
        return -1
    if device_type in (_CUDA, _CUDA_MANAGED):
        return int(index)
    raise TypeError(
        f"{type(array).__name__} is on DLPack device {(int(device_type), int(index))}, neither CPU nor CUDA"
    )


def import_array(array: Any, stream: int | None = None) -> ArrayDescriptor:
    """Describes an array without a copy.

    The producer makes `stream`, the CUDA stream of the reader, wait for pending work on the array. None: the legacy
    default stream.
    """
    device = device_of(array)
    # DLPack has no stream 0; 1 is the legacy default stream.
    arguments: dict[str, Any] = {} if device < 0 else {"stream": stream or 1}
    try:
        capsule = array.__dlpack__(max_version=(1, 1), **arguments)
    except TypeError:  # the producer does not know max_version
        capsule = array.__dlpack__(**arguments)
    flags = 0
    if (address := _capsule_pointer(capsule, b"dltensor_versioned")) is not None:
        versioned = _DLManagedTensorVersioned.from_address(address)
        if versioned.major != 1:
            raise TypeError(f"{type(array).__name__} uses DLPack {versioned.major}; only version 1 is supported")
        tensor, flags = versioned.tensor, versioned.flags
    elif (address := _capsule_pointer(capsule, b"dltensor")) is not None:
        tensor = _DLTensor.from_address(address)
    else:
        raise TypeError(f"{type(array).__name__}.__dlpack__() returned no DLPack capsule, or one that was already used")
    if tensor.lanes != 1 or tensor.code not in _TYPE_NAMES:
        raise TypeError(
            f"{type(array).__name__} has DLPack dtype {(tensor.code, tensor.bits, tensor.lanes)}, "
            "which is not supported"
        )
    type_name = _TYPE_NAMES[tensor.code]
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else contiguous_strides(shape)
    # Some producers divide a negative byte stride by the item size (at most 8) as an unsigned number, which gives about
    # 2**64 / 8 or more.
    if any(abs(stride) >= 1 << 60 for stride in strides):
        raise TypeError(f"{type(array).__name__}.__dlpack__() exports invalid strides, {strides}")
    dtype = type_name if type_name == "bool" else f"{type_name}{tensor.bits}"
    pointer, read_only, is_copy = (tensor.data or 0) + tensor.byte_offset, flags & _READ_ONLY, flags & _IS_COPIED
    return ArrayDescriptor(pointer, shape, strides, dtype, device, bool(read_only), capsule, bool(is_copy))
