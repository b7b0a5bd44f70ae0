"""Finds the library of an array by its type, or by the name that a user passed, and the number of a device.

Finding a library by type imports nothing; only `library_by_name` imports one.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from .. import _check
from .._gpu import devices
from .._integers import refuse_tracer
from .._value_text import value_text
from .cupy_library import CUPY
from .dlpack_library import DLPACK
from .jax_library import JAX, JaxLibrary
from .numpy_library import NUMPY
from .pillow_library import PILLOW
from .protocol import Library
from .symbolic_array import SYMBOLIC, SymbolicArray, SymbolicLibrary
from .torch_library import torch_library

_libraries: dict[type, Library | None] = {}


def library_of(array_type: type) -> Library | None:
    """The library of this type's arrays; None if the type is no supported array.

    Refuses NumPy's masked arrays and tracers of JAX.
    """
    try:
        return _libraries[array_type]
    except KeyError:
        pass  # the search is outside of this block: its errors would show the KeyError as their context
    return _libraries.setdefault(array_type, _find_library(array_type))


def _find_library(array_type: type) -> Library | None:
    refuse_tracer(array_type)
    if array_type is SymbolicArray:
        return SYMBOLIC
    for base in array_type.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "torch" and base.__name__ == "Tensor":
            return torch_library()
        if root == "cupy" and base.__name__ == "ndarray":
            return CUPY
        if root == "jaxlib" and hasattr(array_type, "__dlpack__"):
            return JAX
        if root == "numpy" and base.__name__ == "MaskedArray":  # np.ma is not imported before its first use
            raise TypeError("a masked array has values that are not valid: pass array.filled(value), or array.data")
        if base is np.ndarray:
            return NUMPY
        if base.__module__ == "PIL.Image" and base.__name__ == "Image":
            return PILLOW
    return DLPACK if hasattr(array_type, "__dlpack__") and not issubclass(array_type, np.generic) else None


def result_library(array: Any) -> Library | None:
    """As `library_of`; the library of results for this array, if that depends on more than its type."""
    library = library_of(type(array))
    if isinstance(library, JaxLibrary):
        return library.on_device_of(array)
    return array.library if isinstance(library, SymbolicLibrary) else library


def library_by_name(like: Any, device: int = -1) -> Library:
    """The library of results for a call without an array argument. `like`: its name, its module, or None.

    None means numpy on the CPU; on a GPU torch if the user has imported it, else cupy.
    """
    name = getattr(like, "__name__", like)
    if name is None:
        name = "numpy" if device < 0 else "torch" if "torch" in sys.modules else "cupy"
    choices = ("numpy", "torch") if device < 0 else ("torch", "cupy")
    if not isinstance(name, str) or name not in choices:
        raise ValueError(
            f"like must be {choices[0]!r} or {choices[1]!r}, or one of these modules, got {value_text(like)}"
        )
    if name == "numpy":
        return NUMPY
    if name == "cupy":
        return CUPY
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise _check.BackendError(f"like='torch', but torch cannot be imported ({error}): pip install torch") from error
    return torch_library()


def device_number(device: Any) -> int:
    """The number of a GPU from its number or torch's name for it; -1 for "cpu" and None."""
    if device is None or str(device) == "cpu":
        return -1
    device_type, _, index = str(device).partition(":")
    is_integer = type(device) is int or isinstance(device, np.integer)
    text = str(device) if is_integer else index if device_type == "cuda" else ""
    if not (text.isdecimal() or (device_type == "cuda" and not index)):
        raise ValueError(f"device must be 'cpu', 'cuda', 'cuda:1' or a GPU's number, got {value_text(device)}")
    return devices.existing_device(int(text) if text else None)
