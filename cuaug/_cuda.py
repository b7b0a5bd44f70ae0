"""Kernels on the GPU: the only file that imports cupy.

A kernel is asked for by its name expression, which is the program: `cuaug::warp_image<cuaug::uint8, ...>`. CuPy compiles its
text (`_sources.py`) once and keeps it on disk.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib
import os
import shutil
import struct
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from . import _user_ops
from ._check import BackendError
from ._failures import INSTALL, backend_error, in_words
from ._names import ops_of, skeleton_of
from ._sources import sources

_used: list[str] = []  # what makes a fork fatal: not empty once a kernel has been launched
_lost: list[str] = []  # the same, in a child of such a process
_kernels: dict[str, _Kernel] = {}
_compiling_lock = threading.Lock()


class Stream(NamedTuple):
    """What cupy's launch asks of a stream."""

    ptr: int


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def prepare_cache() -> None:
    """CuPy chooses its cache folder when it is imported, and fails if it cannot make it: see to a usable one before."""
    chosen = os.environ.get("CUPY_CACHE_DIR")
    try:
        folder = Path(chosen) if chosen else Path.home() / ".cupy" / "kernel_cache"
        usable = _usable(folder)
    except RuntimeError:  # no home folder
        folder, usable = Path("~/.cupy/kernel_cache"), False
    if usable:
        return
    private = tempfile.mkdtemp(prefix="cuaug-")  # 0700: a kernel cache is code, so never a folder others can write to
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    os.environ["CUPY_CACHE_DIR"] = private
    warnings.warn(
        f"cuaug: the kernel cache {folder} cannot be written; kernels are compiled anew in each process. "
        "Set CUPY_CACHE_DIR to a private folder",
        RuntimeWarning,
        stacklevel=2,
    )


@functools.cache
def cupy() -> ModuleType:
    """CuPy, checked: recent enough, one of it, and a driver beside it."""
    from importlib import metadata  # 60 ms that only the GPU's first call should pay

    wheels = sorted(
        {
            name
            for dist in metadata.distributions()
            if (name := (dist.metadata["Name"] or "").lower()).startswith("cupy")
        }
    )
    if len(wheels) > 1:
        raise BackendError(
            f"several CuPy wheels in one environment overwrite each other: "
            f"pip uninstall {' '.join(wheels)}, then {INSTALL}"
        )
    if "cupy" not in sys.modules:
        prepare_cache()
    try:
        module = importlib.import_module("cupy")
    except ImportError as error:
        if not wheels:
            raise BackendError(f"the GPU needs CuPy, which is not installed: {INSTALL}") from error
        raise BackendError(
            f"{', '.join(wheels)} cannot be imported ({error}): pip install --force-reinstall {wheels[0]}"
        ) from error
    if tuple(int(part) for part in module.__version__.split(".")[:2]) < (14, 2):
        raise BackendError(f"the GPU needs CuPy 14.2 or newer, found {module.__version__}: {INSTALL}")
    if not module.cuda.is_available():
        raise BackendError(
            "no NVIDIA driver found, or no GPU that it can use: "
            "see nvidia-smi, and https://www.nvidia.com/drivers for a driver"
        )
    return module


def is_available() -> bool:
    """Whether CuPy and a GPU are there."""
    try:
        cupy()
    except BackendError:
        return False
    return True


class _Thread(threading.local):
    """What the driver knows of a thread: on which devices it can launch."""

    def __init__(self) -> None:
        self.devices: set[int] = set()


_thread = _Thread()


class device:
    """Makes a device current, and then the previous one again."""

    def __init__(self, index: int) -> None:
        self.index, self.previous = index, index

    def __enter__(self) -> None:
        runtime = cupy().cuda.runtime
        self.previous = runtime.getDevice()
        if self.previous != self.index or self.index not in _thread.devices:
            runtime.setDevice(self.index)  # a new thread's device may be the right one, and yet have no context
            _thread.devices.add(self.index)

    def __exit__(self, *_: object) -> None:
        if self.previous != self.index:
            cupy().cuda.runtime.setDevice(self.previous)


def ready() -> None:
    """Raises where this process has inherited a CUDA context, which no child of a fork can use."""
    if _lost:
        raise BackendError(
            "CUDA cannot be used after fork: "
            "start worker processes with multiprocessing.set_start_method('spawn') or 'forkserver'"
        )


os.register_at_fork(after_in_child=lambda: _lost.extend(_used))


@functools.cache
def processors(index: int) -> int:
    """The multiprocessors of a device."""
    return int(cupy().cuda.runtime.getDeviceProperties(index)["multiProcessorCount"])


def is_capturing(stream: int) -> bool:
    """Whether what is launched on a stream goes into a CUDA graph."""
    return bool(cupy().cuda.runtime.streamIsCapturing(stream))


def wait(stream: int, index: int) -> None:
    """For all that was launched on a stream."""
    with device(index):
        cupy().cuda.runtime.streamSynchronize(stream)


_UNTOLD = 0xFFFFFFFF  # no number of boxes, whether a kernel writes four bytes or eight
_LOOKS = 8192  # of some 50 ns, 0.4 ms at most: Python's lock is held meanwhile


class Told:
    """A number of the host that the last of a call's kernels writes, so that no copy has to follow it.

    Beside it is memory of the device for the kernels before: all of it has been read when the number is written, and
    until then no other call has it.
    """

    room = 1 << 20  # bytes

    def __init__(self, index: int) -> None:
        self.index = index
        with device(index):
            self._number, self._space = cupy().cuda.alloc_pinned_memory(8), memory(self.room)
        self.pointer = int(self._number.ptr)  # addresses are the same on all devices
        self.space = int(self._space.ptr)
        self._value = ctypes.c_int64.from_address(self.pointer)

    def wait(self, stream: int) -> int:
        """What a kernel of this stream writes. What has failed is not told again."""
        value = self._value
        for _ in range(_LOOKS):  # sees it some microseconds before the driver would say that the stream is done
            if value.value != _UNTOLD:
                break
        else:
            with in_words("how many are kept cannot be waited for: pass fixed_size=True"):
                wait(stream, self.index)
        found = value.value
        _idle.setdefault(self.index, []).append(self)
        return found


_idle: dict[int, list[Told]] = {}


def told(index: int) -> Told:
    """One of this device that nobody waits for."""
    try:
        found = _idle[index].pop()
    except (KeyError, IndexError):
        with in_words("call the function once before, or pass fixed_size=True"):
            found = Told(index)
    found._value.value = _UNTOLD
    return found


def context() -> int:
    """The driver's, of the current device."""
    cupy().cuda.runtime.free(0)  # makes it, where there is none yet
    if not _used:
        _used.append("a context")
    return int(cupy().cuda.driver.ctxGetCurrent())


def memory(size: int) -> Any:
    """Bytes of the current device, at ``ptr``, that no pool will hand to another."""
    return cupy().cuda.Memory(size)


def own_stream() -> Any:
    """A stream of the current device, at ``ptr``, that waits for no other."""
    return cupy().cuda.Stream(non_blocking=True)


def current_stream() -> Any:
    """CuPy's, of the current device, at ``ptr``."""
    return cupy().cuda.get_current_stream()


def sleeping_event() -> Any:
    """One of the current device, at ``ptr``, that threads sleep for: who waits for a stream keeps a processor busy."""
    return cupy().cuda.Event(block=True, disable_timing=True)


def from_dlpack(array: Any) -> Any:
    """An array of CuPy's, of the same memory."""
    return cupy().from_dlpack(array)


def devices() -> int:
    """How many there are."""
    return int(cupy().cuda.runtime.getDeviceCount())


def device_number(index: int | None) -> int:
    """Of a device that is there; None: the current one."""
    ready()
    runtime = cupy().cuda.runtime
    count = devices()
    number = runtime.getDevice() if index is None else index
    if number >= count:
        raise BackendError(f"device {number} is not here: CUDA finds {count}")
    return int(number)


def event(stream: int) -> Any:
    """Something to wait for: all that has been launched on a stream of the current device."""
    found = cupy().cuda.Event(disable_timing=True)
    found.record(Stream(stream))
    return found


class _Kernel:
    """A kernel of CuPy's, and the driver's handle of it on each device."""

    def __init__(self, name: str, made: Any) -> None:
        self.made = made
        self.follows = skeleton_of(name) in _FOLLOWING
        self.handles: dict[int, int] = {}

    def load(self, index: int) -> int:
        """The handle on this device, which is the current one."""
        self.handles[index] = _compiling(lambda: int(self.made.kernel.ptr))
        return self.handles[index]


def kernel(name: str, stream: int = 0) -> _Kernel:
    """The kernel of this name expression; compiled when first used on a device, once however many threads ask."""
    with _compiling_lock:
        if name not in _kernels:
            if stream and cupy().cuda.runtime.streamIsCapturing(stream):
                raise BackendError(
                    f"{name} is first needed while a CUDA graph is being captured: "
                    "call cuaug.warmup(), or the function once, before the capture"
                )
            _kernels[name] = _compile(name)
        return _kernels[name]


def _compile(name: str) -> _Kernel:
    text, options = sources(name)
    module = cupy().RawModule(code=text, options=options, name_expressions=(name,))
    try:
        return _Kernel(name, _compiling(lambda: module.get_function(name)))
    except BackendError as error:
        complaint = _user_ops.complaint(ops_of(name), str(error.__cause__))
        if complaint is None:
            raise
        raise complaint from None  # the log is long, and about the kernels that the user has not written


def _compiling(make: Any) -> Any:
    try:
        try:
            return make()
        except OSError as error:  # a full disk, a quota, another user's cache entry
            os.environ["CUPY_CACHE_IN_MEMORY"] = "1"
            warnings.warn(
                f"cuaug: the kernel cache cannot be used ({error}); kernels stay in memory. "
                "Set CUPY_CACHE_DIR to a private folder",
                RuntimeWarning,
                stacklevel=2,
            )
            return make()
    except Exception as error:
        raise backend_error(error) from error


def launch(
    name: str, data: bytes, grid: tuple[int, int, int], threads: int, shared: int, index: int, stream: int
) -> None:
    """Runs a kernel on `stream` of device `index`, with `data` as its one argument, and `shared` bytes of memory.

    By the driver's own function, which costs half of what CuPy's call of a kernel does (benchmarks/NOTES.md).
    """
    if cupy().cuda.runtime.getDevice() != index or index not in _thread.devices:
        with device(index):
            launch(name, data, grid, threads, shared, index, stream)
        return
    handle, config = prepared(name, grid, threads, shared, index, stream)
    argument = ctypes.c_char_p(data)  # of the driver's list of arguments, pointers, the only one
    check(driver().cuLaunchKernelEx(config, handle, ctypes.byref(argument), None))


def prepared(
    name: str, grid: tuple[int, int, int], threads: int, shared: int, index: int, stream: int
) -> tuple[int, bytes]:
    """The kernel on device `index`, which is the current one, and how it is launched, as the driver knows them."""
    run = _kernels.get(name) or kernel(name, stream)
    handle = run.handles.get(index) or run.load(index)
    if not _used:
        _used.append(name)
    follows = run.follows and _can_follow(index)
    return handle, _CONFIG.pack(*grid, threads, 1, 1, shared, stream, ctypes.addressof(_FOLLOW), follows)


def check(status: int) -> None:
    """Raises what a status of the driver means, but for that all is well."""
    if status:
        with in_words():
            cupy().cuda.driver.check_status(status)


# cuda.h: a CUlaunchConfig, and the CUlaunchAttribute that lets a kernel be set up while the one before is at work.
_CONFIG = struct.Struct("7I4xQQI4x")
LAUNCH_ARGUMENTS = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p  # of cuLaunchKernelEx
_FOLLOW = ctypes.create_string_buffer(struct.pack("I4xI60x", 6, 1))
# Kernels that wait for it (kernels/gpu/programmatic_launch.cuh).
_NMS = "nms_small_resolve", "nms_resolve", "nms_rank", "nms"
_FOLLOWING = ("draw", "warp_image", "resample", "pointwise", "histogram_lut", "blend", *_NMS)


@functools.cache
def _can_follow(index: int) -> bool:
    """Compute capability 9.0, and a driver that can put it into graphs."""
    runtime = cupy().cuda.runtime
    return int(runtime.getDeviceProperties(index)["major"]) >= 9 and runtime.driverGetVersion() >= 12040


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
