"""Compiled kernels by their name expressions.

A name expression is the program: `cuaug::warp_image<cuaug::uint8, ...>`. CuPy compiles its text (_program/sources.py)
once and keeps the result on disk.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

from .._check import BackendError
from .._program import user_ops
from .._program.names import ops_of, skeleton_of
from .._program.sources import sources
from .cupy_import import cupy
from .failures import backend_error

# Kernels that programmatic dependent launch may start early: they call `wait_for_previous`
# (gpu/programmatic_launch.cuh).
PDL_KERNELS = (
    *("draw", "warp_image", "resample", "pointwise", "histogram_lut", "blend"),
    *("nms_small_resolve", "nms_resolve", "nms_rank", "nms"),
)
_kernels: dict[str, _CompiledKernel] = {}
_compiling_lock = threading.Lock()


class _CompiledKernel:
    """A kernel of CuPy's, and the driver's handle of it on each device."""

    def __init__(self, name: str, made: Any) -> None:
        self.made = made
        self.follows = skeleton_of(name) in PDL_KERNELS
        self.handles: dict[int, int] = {}

    def load(self, index: int) -> int:
        """The handle on this device, which is the current one."""
        self.handles[index] = _with_cache_fallback(lambda: int(self.made.kernel.ptr))
        return self.handles[index]


def kernel(name: str, stream: int = 0) -> _CompiledKernel:
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


def _compile(name: str) -> _CompiledKernel:
    text, options = sources(name)
    module = cupy().RawModule(code=text, options=options, name_expressions=(name,))
    try:
        return _CompiledKernel(name, _with_cache_fallback(lambda: module.get_function(name)))
    except BackendError as error:
        complaint = user_ops.compile_error_for(ops_of(name), str(error.__cause__))
        if complaint is None:
            raise
        raise complaint from None  # the log is long, and about the kernels that the user has not written


def _with_cache_fallback(make: Any) -> Any:
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
