"""JAX arrays."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from .descriptor import ArrayDescriptor
from .dlpack_library import DLPackLibrary
from .numpy_library import NUMPY


class JaxLibrary(DLPackLibrary):
    """JAX arrays are read-only: passes write to NumPy or CuPy arrays, and `to_user_array` makes JAX arrays of them."""

    name = "jax"

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        if all(device.platform == "cpu" for device in array.devices()):
            return NUMPY.describe(np.asarray(array))._replace(read_only=True)
        return super().describe(array, stream)._replace(read_only=True)

    def to_user_array(self, array: Any) -> Any:
        jax = sys.modules["jax"]
        return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else jax.dlpack.from_dlpack(array)

    def namespace(self) -> ModuleType:
        module: ModuleType = sys.modules["jax"].numpy
        return module


JAX = JaxLibrary()
