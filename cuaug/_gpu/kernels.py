"""Compiled kernels by their name expressions.

A name expression, such as `cuaug::warp_image<cuaug::uint8, ...>`, determines a kernel. CuPy compiles the kernel's text
(_program/sources.py) once and keeps the result on disk.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

from .._check import BackendError
from .._program import user_ops
from .._program.names import op_structs, skeleton_of
from .._program.sources import kernel_source
from .cupy_import import cupy
from .failures import translate_errors

# The skeletons that programmatic dependent launch may start early: they call `wait_for_previous`
# (kernels/gpu/programmatic_launch.cuh).
PDL_SKELETONS = (
    *("draw", "warp_image", "resample", "pointwise", "luma_mean", "histogram_lut", "blend"),
    *("nms_small_resolve", "nms_resolve", "nms_rank", "nms"),
)
compiled_kernels: dict[str, _CompiledKernel] = {}  # by name expression
_compiling_lock = threading.Lock()


class _CompiledKernel:
    """A kernel as CuPy's function, and the driver's handle of that kernel on each device."""

    def __init__(self, name: str, function: Any) -> None:
        self.function = function
        self.uses_pdl = skeleton_of(name) in PDL_SKELETONS
        self.handles: dict[int, int] = {}

    def load(self, device: int) -> int:
        """The handle on this device, which must be the current device."""
        self.handles[device] = _with_cache_fallback(lambda: int(self.function.kernel.ptr))
        return self.handles[device]


def kernel(name: str, stream: int = 0) -> _CompiledKernel:
    """The kernel of this name expression, compiled once per process.

    Raises if it is not compiled yet and a CUDA graph captures `stream`.
    """
    with _compiling_lock:
        if name not in compiled_kernels:
            if stream and cupy().cuda.runtime.streamIsCapturing(stream):
                raise BackendError(
                    f"{name} is first needed while a CUDA graph is being captured: "
                    "call cuaug.warmup(), or the function once, before the capture"
                )
            compiled_kernels[name] = _compile(name)
        return compiled_kernels[name]


def _compile(name: str) -> _CompiledKernel:
    text, options = kernel_source(name)
    module = cupy().RawModule(code=text, options=options, name_expressions=(name,))
    try:
        return _CompiledKernel(name, _with_cache_fallback(lambda: module.get_function(name)))
    except BackendError as error:
        user_error = user_ops.compile_error_for(op_structs(name), str(error.__cause__))
        if user_error is None:
            raise
        raise user_error from None  # the compiler's log is long and mostly about cuaug's own text


def _with_cache_fallback(load: Any) -> Any:
    """The result of `load`. If CuPy's cache folder fails, calls `load` again with the cache in memory."""
    with translate_errors():
        try:
            return load()
        except OSError as error:  # disk full, quota reached, or a cache entry of another user
            os.environ["CUPY_CACHE_IN_MEMORY"] = "1"
            warnings.warn(
                f"cuaug: the kernel cache cannot be used ({error}); kernels stay in memory. "
                "Set CUPY_CACHE_DIR to a private folder",
                RuntimeWarning,
                stacklevel=2,
            )
            return load()
