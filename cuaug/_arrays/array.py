"""The bridge between array libraries and kernels: the only file that knows what a torch tensor or a JAX array is.

A library is recognised by the type of the array it made and looked up in `sys.modules`; nothing is imported that the
user has not imported. Each answers the same few questions: where is the data, give me an array, which is the stream.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from .. import _check
from .._gpu import cuda as _cuda
from .._host import buffer_pool as _memory
from .._host import extension as _cpu
from . import dlpack as _dlpack

ITEM_SIZE = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "uint16": 2,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
    "int64": 8,
    "float64": 8,
}


class Library(Protocol):
    """What an array library must answer."""

    name: str
    channels_first: bool

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor: ...
    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any: ...
    def pointer(self, array: Any) -> int: ...
    def finish(self, array: Any) -> Any: ...
    def stream(self, device: int) -> int: ...
    def load(self, values: np.ndarray, device: int) -> Any: ...
    def namespace(self) -> ModuleType: ...
    def launch(
        self, kernel: str, data: bytes, grid: tuple[int, int, int], threads: int, shared: int, device: int
    ) -> None: ...
    def loop(self, loop: Any) -> None: ...


class _OnItsStream:
    """Kernels run on the stream that the library's caller has chosen, and a CPU's loops at once."""

    def stream(self, device: int) -> int:
        raise NotImplementedError

    def launch(
        self, kernel: str, data: bytes, grid: tuple[int, int, int], threads: int, shared: int, device: int
    ) -> None:
        _cuda.launch(kernel, data, grid, threads, shared, device, self.stream(device))

    def loop(self, loop: Any) -> None:
        _cpu.native().run([loop])


def _unsupported(dtype: Any) -> str:
    images, labels = ", ".join(_check.IMAGE_DTYPES), ", ".join(_check.LABEL_DTYPES)
    return f"{getattr(dtype, 'name', dtype)} is not supported; images may be {images}, labels {labels}"


def permuted(shape: tuple[int, ...], order: Sequence[int] | None) -> tuple[tuple[int, ...], list[int]]:
    """What shape to allocate, and how to permute it to `shape`, for memory that runs through the axes in `order`."""
    order = range(len(shape)) if order is None else order
    inverse = [0] * len(shape)
    for position, axis in enumerate(order):
        inverse[axis] = position
    return tuple(shape[axis] for axis in order), inverse


@functools.cache
def _name_of(dtype: np.dtype[Any]) -> str:
    return dtype.name  # which NumPy works out each time: half of what describing an array takes


class _NumPy(_OnItsStream):
    name, channels_first = "numpy", False

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        dtype = array.dtype
        name = _name_of(dtype)
        if not dtype.isnative or name not in ITEM_SIZE:
            raise TypeError(_unsupported(dtype if dtype.isnative else dtype.str))
        if any(step % dtype.itemsize for step in array.strides):
            array = array.copy()
        pointer, read_only = array.__array_interface__["data"]
        strides = tuple(step // dtype.itemsize for step in array.strides)
        return _dlpack.Tensor(pointer, array.shape, strides, name, -1, read_only, array)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        extents, axes = permuted(shape, order)
        if (size := math.prod(extents) * ITEM_SIZE[dtype]) >= _memory.LARGE:
            return _memory.fresh(size).view(_numpy_dtype(dtype)).reshape(extents).transpose(axes)
        return np.empty(extents, _numpy_dtype(dtype)).transpose(axes)

    def pointer(self, array: Any) -> int:
        return int(array.__array_interface__["data"][0])

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return 0

    def load(self, values: np.ndarray, device: int) -> Any:
        return values

    def namespace(self) -> ModuleType:
        return np


class _Torch(_OnItsStream):
    name, channels_first = "torch", True

    def __init__(self) -> None:
        torch = self.torch = sys.modules["torch"]
        self.names = {getattr(torch, name): name for name in ITEM_SIZE if hasattr(torch, name)}
        self.dtypes = {name: dtype for dtype, name in self.names.items()}
        self.plain, self.strided = torch.Tensor, torch.strided
        # What torch's own compiled code calls: 0.1 us against 1.5 us for current_stream, 0.5 us against 3 us for empty.
        self.raw_stream = getattr(
            torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream
        )
        guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
        self.raw_empty = getattr(guards, "_empty_strided_cuda", None)  # on the current device
        self.current_device = getattr(torch._C, "_cuda_getDevice", None)

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        dtype, on_gpu = self.names.get(array.dtype), array.is_cuda
        if dtype is None:
            raise TypeError(_unsupported(array.dtype))
        if (
            not (on_gpu or array.is_cpu)
            or array.layout is not self.strided
            or type(array).__name__ in ("FakeTensor", "FunctionalTensor")
        ):
            raise TypeError(
                f"{type(array).__name__} on {array.device} with layout {array.layout} is not supported: "
                "use a dense tensor on the CPU or a CUDA device"
            )
        if array.requires_grad:
            self.refuse_gradient(array)
        if array.is_neg():
            array = array.resolve_neg()
        device, pointer = array.get_device() if on_gpu else -1, array.data_ptr()
        if not pointer and array.numel():
            raise ValueError("tensors must have memory: the storage of one has been freed, or it was never real")
        return _dlpack.Tensor(pointer, array.shape, array.stride(), dtype, device, False, array)

    def refuse_gradient(self, array: Any) -> None:
        if array.requires_grad and self.torch.is_grad_enabled():
            raise TypeError(
                "a tensor that requires grad would lose its gradient here: "
                "pass tensor.detach(), or call under torch.no_grad()"
            )

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        if order is not None:
            extents, axes = permuted(shape, order)
            return self.empty(extents, dtype, device, None).permute(axes)
        if device < 0 and (size := math.prod(shape) * ITEM_SIZE[dtype]) >= _memory.LARGE:
            return self.torch.from_numpy(_memory.fresh(size)).view(self.dtypes[dtype]).view(shape)
        if device >= 0 and self.raw_empty and self.current_device and self.current_device() == device:
            return self.raw_empty(*_rows(shape), self.dtypes[dtype])
        return self.torch.empty(shape, dtype=self.dtypes[dtype], device=_torch_device(device))

    def pointer(self, array: Any) -> int:
        return int(array.data_ptr())

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return int(self.raw_stream(device))

    def load(self, values: np.ndarray, device: int) -> Any:
        if device >= 0 and values.size <= 64 and self.torch.cuda.is_current_stream_capturing():
            # A graph can hold no copy from pageable memory, but it can fill.
            dtype, where = self.dtypes[values.dtype.name], _torch_device(device)
            parts = [self.torch.full((), value, dtype=dtype, device=where) for value in values.reshape(-1).tolist()]
            return self.torch.stack(parts).reshape(values.shape)
        tensor = self.torch.from_numpy(values)
        return tensor if device < 0 else tensor.to(_torch_device(device), non_blocking=True)

    def namespace(self) -> ModuleType:
        return self.torch


class _CuPy(_OnItsStream):
    name, channels_first = "cupy", False

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        dtype = array.dtype
        if dtype.name not in ITEM_SIZE:
            raise TypeError(_unsupported(dtype))
        strides = tuple(step // dtype.itemsize for step in array.strides)
        return _dlpack.Tensor(array.data.ptr, array.shape, strides, dtype.name, array.data.device_id, False, array)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        with _cuda.device(device):
            extents, axes = permuted(shape, order)
            return _cuda.cupy().empty(extents, _numpy_dtype(dtype)).transpose(axes)

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        with _cuda.device(device):
            return int(_cuda.cupy().cuda.get_current_stream().ptr)

    def load(self, values: np.ndarray, device: int) -> Any:
        with _cuda.device(device):
            return _cuda.cupy().asarray(values)

    def namespace(self) -> ModuleType:
        return _cuda.cupy()


class _DLPack(_OnItsStream):
    """Any object with `__dlpack__`: read in place; results are NumPy or CuPy arrays."""

    name, channels_first = "dlpack", False

    def home(self, device: int) -> Library:
        return _NUMPY if device < 0 else _CUPY

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        device = _dlpack.device_of(array)
        return _dlpack.read(array, stream if stream is not None or device < 0 else self.stream(device))

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        return self.home(device).empty(shape, dtype, device, order)

    def pointer(self, array: Any) -> int:
        return (_NUMPY if isinstance(array, np.ndarray) else _CUPY).pointer(array)

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return self.home(device).stream(device)

    def load(self, values: np.ndarray, device: int) -> Any:
        return self.home(device).load(values, device)

    def namespace(self) -> ModuleType:
        return np


class _Jax(_DLPack):
    """JAX hands out no buffer to write: its results are made by NumPy or CuPy and cross by DLPack."""

    name = "jax"

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        if all(device.platform == "cpu" for device in array.devices()):
            return _NUMPY.describe(np.asarray(array))._replace(read_only=True)
        return super().describe(array, stream)._replace(read_only=True)

    def finish(self, array: Any) -> Any:
        jax = sys.modules["jax"]
        return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else jax.dlpack.from_dlpack(array)

    def namespace(self) -> ModuleType:
        module: ModuleType = sys.modules["jax"].numpy
        return module


_NUMPY, _CUPY, _DLPACK, _JAX = _NumPy(), _CuPy(), _DLPack(), _Jax()


_known: dict[type, Library | None] = {}


def library(kind: type) -> Library | None:
    """The library an array type belongs to; None for what is not an array."""
    try:
        return _known[kind]
    except KeyError:
        return _known.setdefault(kind, _library(kind))


def _library(kind: type) -> Library | None:
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "torch" and base.__name__ == "Tensor":
            return _torch()
        if root == "cupy" and base.__name__ == "ndarray":
            return _CUPY
        if root == "jaxlib" or (base.__name__ == "Tracer" and root == "jax"):
            return _JAX
        if base is np.ndarray:
            return _NUMPY
    return _DLPACK if hasattr(kind, "__dlpack__") and not issubclass(kind, np.generic) else None


@functools.cache
def _torch() -> _Torch:
    return _Torch()


@functools.lru_cache(1024)
def _rows(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape and its strides."""
    return tuple(shape), _dlpack.contiguous(shape)


@functools.cache
def _torch_device(device: int) -> Any:
    return _torch().torch.device("cpu" if device < 0 else f"cuda:{device}")


@functools.cache
def _numpy_dtype(name: str) -> np.dtype:
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes  # comes with JAX and CuPy, the only libraries that can have asked

    found: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return found


def named(like: Any, device: int = -1) -> Library:
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
        return _NUMPY
    if name == "cupy":
        return _CUPY
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise _check.BackendError(f"like='torch', but torch cannot be imported ({error}): pip install torch") from error
    return _torch()


def device_number(device: Any) -> int:
    """Of a GPU, by its number or as torch calls it; -1: the CPU, which None means too."""
    if device is None or str(device) == "cpu":
        return -1
    kind, _, index = str(device).partition(":")
    text = str(device) if type(device) is int else index if kind == "cuda" else ""
    if not (text.isdecimal() or (kind == "cuda" and not index)):
        raise ValueError(f"device must be 'cpu', 'cuda', 'cuda:1' or a GPU's number, got {device!r}")
    return _cuda.device_number(int(text) if text else None)


def pinned(shape: tuple[int, ...], order: Sequence[int]) -> Any:
    """Memory of torch that a GPU copies from without stopping, uint8."""
    extents, axes = permuted(shape, order)
    torch = _torch().torch
    try:
        return torch.empty(extents, dtype=torch.uint8, pin_memory=True).permute(axes)
    except RuntimeError as error:
        raise _check.BackendError(f"pinned memory needs a CUDA device ({error}): pass pin=False") from error


def writable(parameter: str, array: Any) -> tuple[np.ndarray, bool]:
    """An array on the host as NumPy sees it, to be written, and whether channels come first in it."""
    found = library(type(array))
    if not isinstance(found, (_NumPy, _Torch)):
        raise TypeError(f"{parameter} must be a numpy array or a torch tensor, got {type(array).__name__}")
    tensor = found.describe(array)
    if tensor.device >= 0:
        raise TypeError(f"{parameter} must be on the host, got {array.device}")
    if tensor.read_only:
        raise TypeError(f"{parameter} must be writable")
    return (array if found is _NUMPY else array.detach().numpy()), found.channels_first


def namespace(*arrays: Any) -> Any:
    """The module (torch, cupy, jax.numpy or numpy) of the first argument that is an array of one."""
    for array in arrays:
        found = library(type(array))
        if found is not None and found is not _DLPACK:
            return found.namespace()
    return np


def is_host(value: Any) -> bool:
    """Whether the values can be read without waiting for a device."""
    found = library(type(value))
    if found is None or found is _NUMPY:
        return True
    if isinstance(found, _Torch):
        return bool(value.device.type == "cpu")
    # A JAX tracer has no values to read.
    return found is not _CUPY and hasattr(value, "__dlpack__") and _dlpack.device_of(value) < 0


def host(parameter: str, value: Any, dtype: Any = np.float64) -> np.ndarray:
    """A host parameter as a NumPy array."""
    found = library(type(value))
    if isinstance(found, _Torch):
        if dtype is not None:  # numbers to compute with, not images to look at
            found.refuse_gradient(value)
        value = value.detach().resolve_neg()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if np.iscomplexobj(value):
        raise TypeError(f"{parameter} must hold real numbers, got {np.asarray(value).dtype}")
    try:
        return np.asarray(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{parameter} must hold numbers, got {value!r}") from None


def is_single(value: Any) -> bool:
    """Whether it is an array of float32."""
    return str(getattr(value, "dtype", None)).removeprefix("torch.") == "float32"


def to_host(value: Any) -> np.ndarray:
    """A device array's values. Waits for the device: only where the images are on the host, or on another device."""
    found = library(type(value))
    if isinstance(found, _Torch):
        return host("value", value.cpu())
    return host("value", value.get() if found is _CUPY else value)


def host_or_device(parameter: str, value: Any) -> Any:
    """A number or one per sample: a float or a NumPy array from the host, else the device array itself, as float64."""
    if is_host(value):
        values = value if type(value) is float else host(parameter, value)
        values = float(values) if type(value) is int else values
        if np.ndim(values) > 1 or not np.all(np.isfinite(values)):
            raise ValueError(f"{parameter} must be a finite number or one per sample, got {value!r}")
        return values
    return asarray(value, like=value, dtype="float64")


def stacked(values: Sequence[Any]) -> Any:
    """Numbers and per-sample values, of `host_or_device`, side by side in a new last axis."""
    xp = namespace(*values)
    like = next((value for value in values if (library(type(value)) or _NUMPY) is not _NUMPY), None)
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
    return str(sys.modules["jax"].dtypes.canonicalize_dtype("int64")) if found is _JAX else "int64"


def detached(array: Any) -> Any:
    """Without its gradient, for results that have none."""
    return array.detach() if getattr(array, "requires_grad", False) else array


def compiling() -> bool:
    """Whether torch.compile is tracing the caller."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def torch_module() -> Any:
    """torch, where there is a tensor of it."""
    return sys.modules["torch"]


def wants_gradient(*arrays: Any) -> bool:
    """Whether torch would follow what is computed from these."""
    return any(getattr(array, "requires_grad", False) for array in arrays) and bool(_torch().torch.is_grad_enabled())


def repeatable() -> bool:
    """Whether torch has been told that every run must give the same."""
    return bool(_torch().torch.are_deterministic_algorithms_enabled())


def differentiable(
    forward: Callable[..., Any], backward: Callable[..., Sequence[Any]], saved: Sequence[Any], inputs: Sequence[Any]
) -> Any:
    """``forward(*inputs)``, of which torch learns that ``backward(gradient, *saved)`` is its gradient, once."""
    return _gradient().apply(forward, backward, len(saved), *saved, *inputs)


@functools.cache
def _gradient() -> Any:
    function = _torch().torch.autograd.function

    class Gradient(function.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, forward: Any, backward: Any, count: int, *arrays: Any) -> Any:
            ctx.save_for_backward(*arrays[:count])
            ctx.backward = backward
            return forward(*arrays[count:])

        @staticmethod
        @function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            saved = ctx.saved_tensors
            return None, None, None, *(None for _ in saved), *ctx.backward(gradient, *saved)

    return Gradient


def module_class() -> Any:
    """torch.nn.Module, where the user has imported torch; else None."""
    return getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)


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
    target = library(type(like)) or _NUMPY
    found = library(type(value))
    if found is target and found is not _NUMPY:
        if isinstance(target, _Torch):
            return value.to(device=like.device, dtype=target.dtypes[dtype], non_blocking=True)
        if target is _JAX:  # which has 64 bits only where the user has enabled them
            dtype = sys.modules["jax"].dtypes.canonicalize_dtype(dtype)
        return value.astype(dtype)
    if is_host(value):
        device = -1 if is_host(like) else describe(like.detach() if isinstance(target, _Torch) else like).device
        return target.finish(target.load(np.asarray(host("value", value, dtype), order="C"), device))
    return target.namespace().from_dlpack(value).astype(dtype)


def shortened(array: Any, count: int) -> Any:
    """The first entries of what `empty` has made, of one axis. To resize a tensor takes half of what a slice does."""
    return array.resize_(count) if isinstance(library(type(array)), _Torch) else array[:count]


def placed(arrays: Sequence[Any]) -> tuple[Any, list[int]]:
    """Plain tensors of torch: all but where they lie and their gradients, as a key, and where they lie.

    For whatever else there is the key is false: it has to be described.
    """
    found = library(type(arrays[0]))
    kinds: list[Any] = []
    pointers: list[int] = []
    if isinstance(found, _Torch):
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


def describe(array: Any, stream: int | None = None) -> _dlpack.Tensor:
    """Where an array's data lies."""
    found = library(type(array))
    if found is None:
        raise TypeError(
            f"expected an array of torch, cupy, numpy or jax, or one with __dlpack__, got {type(array).__name__}"
        )
    return found.describe(array, stream)
