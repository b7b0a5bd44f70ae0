"""Arrays for the tests: noise of every dtype, in every library, on every device, in every layout."""

import contextlib
import importlib
import warnings
import zlib

import numpy as np
import pytest

# A backend: array library, device.
NUMPY, TORCH, JAX = ("numpy", "cpu"), ("torch", "cpu"), ("jax", "cpu")
TORCH_CUDA, CUPY_CUDA = (pytest.param((library, "cuda"), marks=pytest.mark.gpu) for library in ("torch", "cupy"))
BACKENDS = [NUMPY, TORCH, JAX, TORCH_CUDA, CUPY_CUDA]
IMAGE_DTYPES = ["uint8", "uint16", "int16", "float16", "bfloat16", "float32", "float64"]
MASK_DTYPES = ["bool", "uint8", "int16", "int32", "int64"]
SHAPE = (3, 17, 11, 3)  # odd, not square


def backend_id(value):
    return ":".join(value) if isinstance(value, tuple) and isinstance(value[0], str) else None


every_backend = pytest.mark.parametrize("backend", BACKENDS, ids=backend_id)
# For tests that take long with JAX, which compiles each operation for each shape.
every_backend_slow_on_jax = pytest.mark.parametrize(
    "backend", [pytest.param(JAX, marks=pytest.mark.slow) if b == JAX else b for b in BACKENDS], ids=backend_id
)
every_backend_but_jax = pytest.mark.parametrize("backend", [NUMPY, TORCH, TORCH_CUDA, CUPY_CUDA], ids=backend_id)


class Exporter:
    """An array that offers DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def device_of(backend):
    """The device of a backend, as `helpers.compare.describe` names it."""
    return "cpu" if backend[1] == "cpu" else "cuda:0"


def seeded(*key):
    """A generator seeded by its arguments alone: a test draws the same numbers alone and in the suite."""
    return np.random.default_rng([20261120, zlib.crc32(repr(key).encode())])


def max_value(dtype):
    """The value of the dtype that ops see as 1."""
    return float(np.iinfo(dtype).max) if "int" in dtype else 1.0


def noise(shape=SHAPE, dtype="uint8", seed=0):
    """Noise, the worst case for a resampler, in which 0, 1, 254 and 255 (or these / 255) occur."""
    rng, ends = seeded("noise", seed), np.array([0, 1, 254, 255])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        limits = np.iinfo(dtype)
        low, high = (limits.min, limits.max) if limits.bits <= 16 else (-(2**30), 2**30)
        low, high = (-(2**45), 2**45) if limits.bits == 64 else (low, high)  # labels that float32 cannot hold
        values = rng.integers(low, high, shape, endpoint=True)
    else:
        values, ends = rng.random(shape), ends / 255
    chosen = rng.random(shape) < 0.1
    values[chosen] = rng.choice(ends, int(chosen.sum()))
    return values if dtype == "bfloat16" else values.astype(dtype)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def narrower_dtype(value):
    return {"float64": "float32", "int64": "int32"}.get(str(value.dtype))


def put(array, backend=NUMPY, dtype=None):
    """The same values in another library, on another device; a contiguous copy."""
    library, device = backend
    module = pytest.importorskip({"jax": "jax.numpy"}.get(library, library))
    array = np.ascontiguousarray(array)
    dtype = dtype or str(array.dtype)
    if library == "torch":
        return module.from_numpy(array.copy()).to(getattr(module, dtype)).to(device)
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    if library == "jax" and str(dtype) in ("float64", "int64"):
        pytest.skip("JAX holds 64-bit numbers only with jax_enable_x64")
    if library == "numpy":
        return array.astype(dtype)
    if library == "cupy" and not isinstance(dtype, str):
        pytest.skip("CuPy has no bfloat16")
    return module.asarray(array.astype(dtype))


def images(backend, dtype="uint8", layout=None, shape=SHAPE, seed=0):
    """Noise ``[N, H, W, C]`` in the layout that the backend's library uses by default, or in ``layout``."""
    return put(to_layout(noise(shape, dtype, seed), layout or default_layout(backend)), backend, dtype)


def default_layout(backend):
    return "NCHW" if backend[0] == "torch" else "NHWC"


def to_layout(array, layout):
    """The array [N, H, W, C] in another layout."""
    return np.moveaxis(array, -1, 1) if layout == "NCHW" else array


def from_layout(array, layout):
    return np.moveaxis(array, 1, -1) if layout == "NCHW" else array


def broadcast_to(array, shape):
    library = type(array).__module__.partition(".")[0]
    name = "jax.numpy" if library.startswith("jax") else library
    return importlib.import_module(name).broadcast_to(array, shape)


def with_memory_order(array, order):
    """The same array with its axes in memory in another order."""
    inverse = tuple(int(axis) for axis in np.argsort(order))
    if hasattr(array, "permute"):  # torch
        return array.permute(order).contiguous().permute(inverse)
    return array.transpose(order).copy().transpose(inverse)


VIEWS = {
    "every second sample": lambda a: a[::2],
    "every second row": lambda a: a[:, ::2],
    "every second column": lambda a: a[:, :, ::2],
    "crop": lambda a: a[1:, 3:-2, 2:-1],
    "some channels": lambda a: a[..., 1:3],
    "rows and columns swapped": lambda a: a.swapaxes(1, 2),
    "samples and rows swapped": lambda a: a.swapaxes(0, 1),
    "planes": lambda a: with_memory_order(a, (0, 3, 1, 2)),
    "Fortran order": lambda a: with_memory_order(a, (3, 2, 1, 0)),
    "one sample seen many times": lambda a: broadcast_to(a[:1], a.shape),
    "one row seen many times": lambda a: broadcast_to(a[:, :1], a.shape),
    "one channel seen as three": lambda a: broadcast_to(a[..., :1], (*a.shape[:3], 3)),
}
REVERSED_VIEWS = {
    "samples backwards": lambda a: a[::-1],
    "rows backwards": lambda a: a[:, ::-1],
    "columns backwards": lambda a: a[:, :, ::-1],
    "channels backwards": lambda a: a[..., ::-1],
    "everything backwards": lambda a: a[::-1, ::-1, ::-1, ::-1],
}


@contextlib.contextmanager
def no_synchronization():
    """Make torch raise where it would wait for the device."""
    import torch

    with warnings.catch_warnings():
        # torch warns that the mode is a prototype feature: raised as an error, the warning would leave the mode set.
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")
