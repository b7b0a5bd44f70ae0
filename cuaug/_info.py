"""Facts about the machine for ``cuaug.info()`` and the doctor: versions, driver, GPUs, caches."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ._check import BackendError
from ._gpu.cupy_import import kernel_cache_dir
from ._host import extension

# CUDA majors, newest first: (major, oldest driver, lowest compute capability), from NVIDIA's compatibility tables.
CUDA_MAJORS = ((13, 580, (7, 5)), (12, 525, (5, 0)))
# Names of the wheels that install one package, for `installed_wheels`; cupy-xarray, for example, is another package.
CUPY = r"cupy(-(cuda|rocm).*)?"
OPENCV = r"opencv-(contrib-)?python(-headless)?"


def info() -> dict[str, Any]:
    """Report versions, driver, GPUs and kernel cache. Imports none of the packages, creates no CUDA context.

    Returns:
        Strings, numbers, lists and dicts, ready for ``json.dumps``; ``None`` for anything missing.

    Example:
        >>> import cuaug
        >>> isinstance(cuaug.info()["gpus"], list)  # empty without an NVIDIA driver
        True
    """
    driver = find_driver() or {"version": None, "cuda": None, "gpus": []}
    kernel_cache = kernel_cache_dir()
    return {
        "cuaug": version_of("cuaug"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "extension": extension_path() is not None,
        "libjpeg_turbo": libjpeg_version(),
        "nvjpeg": installed_wheels(r"nvidia-nvjpeg(-cu\d+)?"),
        "numpy": version_of("numpy"),
        "torch": version_of("torch"),
        "jax": version_of("jax"),
        "cupy": installed_wheels(CUPY),
        "opencv": installed_wheels(OPENCV),
        "nvrtc": installed_wheels(r"nvidia-cuda-nvrtc(-cu\d+)?"),
        "cudart": installed_wheels(r"nvidia-cuda-runtime(-cu\d+)?"),
        "driver": driver["version"],
        "driver_cuda": driver["cuda"],
        "gpus": driver["gpus"],
        "cuda_visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "kernel_cache": None if kernel_cache is None else str(kernel_cache),
    }


def cuda_extra() -> str | None:
    """The pip extra of cuaug for this machine's driver and GPUs, "cuda12" or "cuda13"; None if they support neither."""
    driver = find_driver()
    if not driver or not driver["gpus"]:
        return None
    driver_major = int(driver["version"].split(".")[0])
    lowest_capability = min(version_numbers(gpu["compute_capability"]) for gpu in driver["gpus"])
    for major, min_driver, min_capability in CUDA_MAJORS:
        if driver_major >= min_driver and lowest_capability >= min_capability:
            return f"cuda{major}"
    return None


def libjpeg_version() -> str | None:
    """The version of libjpeg-turbo in the extension; None if the extension is missing or has no libjpeg-turbo."""
    try:
        return getattr(extension.extension(), "libjpeg_turbo", None)
    except BackendError:
        return None


def extension_path() -> Path | None:
    """The file of the compiled extension, found without loading it; None if there is none."""
    spec = find_spec("cuaug._native")
    return Path(spec.origin) if spec and spec.origin else None


def version_of(name: str) -> str | None:
    from importlib import metadata  # slow to import

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def installed_wheels(pattern: str) -> dict[str, str]:
    """Installed distributions whose name matches a regular expression, with their versions."""
    from importlib import metadata

    versions = ((d.name.lower().replace("_", "-"), d.version) for d in metadata.distributions() if d.name)
    return {name: version for name, version in sorted(versions) if re.fullmatch(pattern, name)}


def version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def find_driver() -> dict[str, Any] | None:
    """Driver version and GPUs; None without a driver."""
    # NVML reports them without CUDA: a process that has initialised CUDA cannot fork.
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    if nvml.nvmlInit_v2() != 0:
        return None
    try:
        text, number = ctypes.create_string_buffer(96), ctypes.c_int()
        nvml.nvmlSystemGetDriverVersion(text, len(text))
        version = text.value.decode()
        nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number))
        cuda = f"{number.value // 1000}.{number.value % 1000 // 10}"
        nvml.nvmlDeviceGetCount_v2(ctypes.byref(number))
        gpus = [_gpu(nvml, index) for index in range(number.value)]
        return {"version": version, "cuda": cuda, "gpus": [gpu for gpu in gpus if gpu is not None]}
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: ctypes.CDLL, index: int) -> dict[str, Any] | None:
    """None for a GPU that this process may not use, or that the driver has lost."""
    device, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
    major, minor, memory = ctypes.c_int(), ctypes.c_int(), (ctypes.c_ulonglong * 3)()
    if (
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device))
        or nvml.nvmlDeviceGetName(device, name, len(name))
        or nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
    ):
        return None
    has_memory = nvml.nvmlDeviceGetMemoryInfo(device, memory) == 0  # fails for a GPU without memory of its own
    return {
        "name": name.value.decode(),
        "compute_capability": f"{major.value}.{minor.value}",
        "memory_gib": round(memory[0] / 2**30, 1) if has_memory else None,
    }
