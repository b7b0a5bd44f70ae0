"""Finds the library of an array.

A library is recognised by the type of its arrays and looked up in `sys.modules`: nothing is imported that the user has
not imported.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from .. import _check
from .._gpu import devices
from .cupy_library import CUPY
from .dlpack_library import DLPACK
from .jax_library import JAX
from .numpy_library import NUMPY
from .protocol import Library
from .torch_library import torch_library

_libraries: dict[type, Library | None] = {}


def library_of(kind: type) -> Library | None:
    """The library an array type belongs to; None for what is not an array."""
    try:
        return _libraries[kind]
    except KeyError:
        return _libraries.setdefault(kind, _find_library(kind))


def _find_library(kind: type) -> Library | None:
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "torch" and base.__name__ == "Tensor":
            return torch_library()
        if root == "cupy" and base.__name__ == "ndarray":
            return CUPY
        if root == "jaxlib" or (base.__name__ == "Tracer" and root == "jax"):
            return JAX
        if base is np.ndarray:
            return NUMPY
    return DLPACK if hasattr(kind, "__dlpack__") and not issubclass(kind, np.generic) else None


def library_by_name(like: Any, device: int = -1) -> Library:
    """What makes the results that no argument is an example of, by name or as the module.

    By default numpy, and on a device torch if the user has imported it, or else cupy.
    """
    name = getattr(like, "__name__", like)
    if name is None:
        name = "numpy" if device < 0 else "torch" if "torch" in sys.modules else "cupy"
    choices = ("numpy", "torch") if device < 0 else ("torch", "cupy")
    if name not in choices:
        raise ValueError(f"like must be {choices[0]!r} or {choices[1]!r}, or one of these modules, got {like!r}")
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
    """Of a GPU, by its number or as torch calls it; -1: the CPU, which None means too."""
    if device is None or str(device) == "cpu":
        return -1
    kind, _, index = str(device).partition(":")
    text = str(device) if type(device) is int else index if kind == "cuda" else ""
    if not (text.isdecimal() or (kind == "cuda" and not index)):
        raise ValueError(f"device must be 'cpu', 'cuda', 'cuda:1' or a GPU's number, got {device!r}")
    return devices.existing_device(int(text) if text else None)
