"""Explains errors of CuPy, the CUDA libraries and the driver, and names the command that repairs them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from .._check import BackendError
from .._host.installation import install_per_driver

_CAPTURE_ADVICE = "call cuaug.warmup() before"


@contextlib.contextmanager
def translate_errors(capture_advice: str = _CAPTURE_ADVICE) -> Iterator[None]:
    """Raises errors of CuPy as `backend_error` explains them."""
    try:
        yield
    except Exception as error:
        explained = backend_error(error, capture_advice)
        if explained is error:  # an error that was its own cause would send code that walks causes into a loop
            raise
        raise explained from error


def backend_error(error: Exception, capture_advice: str = _CAPTURE_ADVICE) -> Exception:
    """The error that explains the cause and the repair; `capture_advice` is the repair during a graph's capture."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, (MemoryError, BackendError)) or type(error).__name__ == "OutOfMemoryError":
        return error
    if "StreamCapture" in text or "STREAM_CAPTURE" in text:
        return BackendError(f"not while a CUDA graph is being captured: {capture_advice} ({text})")
    if "libnvrtc" in text or ("nvrtc" in text.lower() and "not found" in text.lower()):
        return BackendError(f"NVRTC, CUDA's run-time compiler, cannot be loaded ({text}): {install_per_driver('cuda')}")
    if (
        "gpu-architecture" in text
        or "NoBinaryForGpu" in text
        or "NO_BINARY_FOR_GPU" in text
        or "UNSUPPORTED_PTX" in text
        or "InsufficientDriver" in text
    ):
        return BackendError(
            f"GPU, driver and CUDA libraries do not fit each other ({_versions()}; {text}): "
            f"{install_per_driver('cuda')}, or update the driver"
        )
    if "CompileException" in text:
        return BackendError(f"a kernel does not compile ({_versions()}; {text}): please report this")
    return BackendError(
        f"the GPU failed ({_versions()}; {text}): "
        "if every call fails from here on, the CUDA context is lost; restart the process"
    )


def _versions() -> str:
    runtime = sys.modules["cupy"].cuda.runtime
    try:
        return f"driver CUDA {runtime.driverGetVersion()}, runtime CUDA {runtime.runtimeGetVersion()}"
    except Exception:
        return "versions unknown"
