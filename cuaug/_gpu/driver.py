"""Functions of the CUDA driver that CuPy does not offer."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .cupy_import import cupy
from .failures import translate_errors

# The types of cuLaunchKernelEx's arguments: configuration, kernel handle, the kernel's arguments, extra options.
LAUNCH_ARGUMENTS = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p


def check_status(status: int) -> None:
    """Raises unless the driver's status is CUDA_SUCCESS."""
    if status:
        with translate_errors():
            cupy().cuda.driver.check_status(status)


@functools.cache
def driver() -> Any:
    """The driver's library."""
    library = ctypes.CDLL("libcuda.so.1")
    library.cuLaunchKernelEx.argtypes = LAUNCH_ARGUMENTS
    return library


def function_address(function: Any) -> int:
    """The address of a ctypes function, for the extension to call."""
    value = ctypes.cast(function, ctypes.c_void_p).value
    assert value
    return value
