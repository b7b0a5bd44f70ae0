"""JAX arrays."""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from .descriptor import ArrayDescriptor
from .dlpack_library import DLPackLibrary
from .numpy_library import NUMPY


class JaxLibrary(DLPackLibrary):
    """JAX arrays are read-only: passes write to NumPy or CuPy arrays, and `to_user_array` makes JAX arrays of them.

    `device`: the CPU device of results; None: JAX's default device, and for CuPy arrays their GPU. `is_committed`:
    whether JAX refuses to combine the results with arrays on other devices.
    """

    name = "jax"

    def __init__(self, device: Any = None, is_committed: bool = False) -> None:
        self._device, self._is_committed = device, is_committed

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled_library, (None if self._device is None else self._device.id, self._is_committed)

    def on_device_of(self, array: Any) -> JaxLibrary:
        """The library whose results are where this array is, and committed if it is."""
        device, *others = array.devices()
        return self if others or device.platform != "cpu" else _on_cpu_device(device, array.committed)

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        device, *others = array.devices()
        if others:
            raise ValueError(
                f"a JAX array must be on one device, got one on {1 + len(others)} devices: pass each of [shard.data "
                "for shard in array.addressable_shards] (docs/jax.md), or jax.device_put(array, jax.devices()[0])"
            )
        if device.platform == "cpu":
            return NUMPY.describe(np.asarray(array))._replace(read_only=True)
        return super().describe(array, stream)._replace(read_only=True)

    def to_user_array(self, array: Any) -> Any:
        jax = sys.modules["jax"]
        if not isinstance(array, np.ndarray):
            return jax.dlpack.from_dlpack(array)
        if self._device is None:
            return jax.numpy.asarray(array)
        with jax.default_device(self._device):
            result = jax.numpy.asarray(array)  # a copy; `device_put` may share the caller's memory
        return jax.device_put(result, self._device) if self._is_committed else result

    def convert(self, value: Any, like: Any, dtype: str) -> Any:
        """A JAX array in another dtype, on the device of `like` if that is committed."""
        jax = sys.modules["jax"]
        value = value.astype(jax.dtypes.canonicalize_dtype(dtype))  # 64-bit dtypes only if the user has enabled them
        device, *others = like.devices()
        return jax.device_put(value, device) if like.committed and not others and value.devices() != {device} else value

    def namespace(self) -> ModuleType:
        module: ModuleType = sys.modules["jax"].numpy
        return module


@functools.cache
def _on_cpu_device(device: Any, is_committed: bool) -> JaxLibrary:
    return JaxLibrary(device, is_committed)


def _unpickled_library(device_id: int | None, is_committed: bool) -> JaxLibrary:
    """The library after pickling or copying. Imports JAX, because another process may not have imported it."""
    jax = importlib.import_module("jax")
    if device_id is None:
        return JAX
    devices = jax.local_devices(backend="cpu")
    return _on_cpu_device(next((device for device in devices if device.id == device_id), devices[0]), is_committed)


JAX = JaxLibrary()
