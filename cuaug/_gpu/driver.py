"""The CUDA driver's functions, for what CuPy does not offer."""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

from .cupy_import import cupy
from .failures import in_words

LAUNCH_ARGUMENTS = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p  # of cuLaunchKernelEx


def check_status(status: int) -> None:
    """Raises what a status of the driver means, but for that all is well."""
    if status:
        with in_words():
            cupy().cuda.driver.check_status(status)


@functools.cache
def driver() -> Any:
    """The driver's own functions, for what CuPy does not offer."""
    found = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    found.cuLaunchKernelEx.argtypes = LAUNCH_ARGUMENTS
    return found


def address(function: Any) -> int:
    """Of a function that ctypes has found, for the extension."""
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found
    return found
