"""What this machine offers cuaug, and what stands in the way: ``info()`` and ``python -m cuaug doctor``."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import stat
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._check import BackendError
from ._host import extension as _cpu

# CUDA majors, newest first: the oldest driver and the oldest GPU that each one serves (NVIDIA's compatibility tables).
_CUDA_MAJORS = ((13, 580, (7, 5)), (12, 525, (5, 0)))
_CUPY_FLOOR = (14, 2)  # earlier disk caches lose or confuse kernels that have a name expression
_OPENCV_FLOOR = 5  # earlier warps round coordinates to 1/32 pixel
_CHOOSE_CACHE = 'export CUPY_CACHE_DIR="$(mktemp -d)"'
_REINSTALL = "pip install --force-reinstall --no-deps cuaug"


class Finding(NamedTuple):
    """One line of the doctor; ``state`` is "ok", "note" (cuaug works without it) or "FAIL"."""

    state: str
    subject: str
    found: str
    repair: str = ""

    def __str__(self) -> str:
        return f"{self.state:<4}  {self.subject:<9}  {self.found}" + (f": {self.repair}" if self.repair else "")


def info() -> dict[str, Any]:
    """Tell what cuaug runs on: versions, driver, GPUs, kernel cache. Imports no other package, makes no CUDA context.

    Returns:
        Plain strings, numbers, lists and dicts, ready for ``json.dumps``; ``None`` stands for what is not there.

    Example:
        >>> import cuaug
        >>> isinstance(cuaug.info()["gpus"], list)  # empty without an NVIDIA driver
        True
    """
    driver = _driver() or {"version": None, "cuda": None, "gpus": []}
    return {
        "cuaug": _version("cuaug"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "extension": _extension() is not None,
        "libjpeg_turbo": _libjpeg(),
        "nvjpeg": _wheels("nvidia-nvjpeg"),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "jax": _version("jax"),
        "cupy": _wheels("cupy"),
        "opencv": _wheels("opencv-"),
        "nvrtc": _wheels("nvidia-cuda-nvrtc"),
        "cudart": _wheels("nvidia-cuda-runtime"),
        "driver": driver["version"],
        "driver_cuda": driver["cuda"],
        "gpus": driver["gpus"],
        "cuda_visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "kernel_cache": str(_cache_folder()),
    }


def cuda_extra() -> str | None:
    """The extra that fits this machine's driver and GPUs, "cuda12" or "cuda13"; None where there is no GPU for it."""
    driver = _driver()
    if not driver or not driver["gpus"]:
        return None
    release = int(driver["version"].split(".")[0])
    weakest = min(_numbers(gpu["compute_capability"]) for gpu in driver["gpus"])
    return next((f"cuda{major}" for major, old, gpu in _CUDA_MAJORS if release >= old and weakest >= gpu), None)


def diagnose() -> Iterator[Finding]:
    """Make every check of the doctor; one that breaks is itself a failure, so that the others are still made."""
    for check in (
        _check_extension,
        _check_jpeg,
        _check_driver,
        _check_cupy,
        _check_gpu,
        _check_cache,
        _check_compiler,
        _check_opencv,
    ):
        try:
            yield from check()
        except Exception as error:
            yield Finding("FAIL", check.__name__.removeprefix("_check_"), f"{type(error).__name__}: {error}")


def _check_extension() -> Iterator[Finding]:
    if _extension() is None:
        yield Finding("FAIL", "extension", "the compiled part of cuaug is missing, so the CPU cannot run", _REINSTALL)
    elif _warps(np):
        yield Finding("ok", "extension", "the CPU warps")
    else:
        yield Finding("FAIL", "extension", "the CPU warps to the wrong place", _REINSTALL)


def _check_jpeg() -> Iterator[Finding]:
    version = _libjpeg()
    if version and _decodes():
        yield Finding("ok", "jpeg", f"libjpeg-turbo {version} decodes")
    elif version:
        yield Finding("FAIL", "jpeg", f"libjpeg-turbo {version} decodes to wrong levels", _REINSTALL)
    elif _extension() is not None:
        yield Finding("note", "jpeg", f"{_cpu.NO_JPEG}: cuaug.io cannot decode", _cpu.INSTALL_JPEG)


def _check_driver() -> Iterator[Finding]:
    driver = _driver()
    if driver is None and (Path("/dev/nvidiactl").exists() or Path("/proc/driver/nvidia/version").exists()):
        yield Finding(
            "FAIL", "driver", "there is a GPU but no driver library, as in a container without it",
            "docker run --gpus all ..., with nvidia-container-toolkit installed",
        )  # fmt: skip
    elif driver is None:
        yield Finding("note", "driver", "no NVIDIA driver found: arrays on the CPU work, arrays on a GPU do not")
    elif not driver["gpus"]:
        yield Finding("note", "driver", f"driver {driver['version']} reports no GPU: arrays on the CPU work")
    else:
        for gpu in driver["gpus"]:
            yield Finding(
                "ok", "driver",
                f"{gpu['name']}, sm_{gpu['compute_capability'].replace('.', '')}, driver {driver['version']}",
            )  # fmt: skip
        if cuda_extra() is None:
            oldest = _CUDA_MAJORS[-1][1]
            yield Finding(
                "FAIL", "driver", f"driver {driver['version']} is older than {oldest}, the first that CUDA 12 runs on",
                f"install driver {oldest} or newer",
            )  # fmt: skip
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        yield Finding(
            "note", "driver", "CUDA_VISIBLE_DEVICES is empty and hides every GPU", "unset CUDA_VISIBLE_DEVICES"
        )


def _check_cupy() -> Iterator[Finding]:
    wheels, extra = _wheels("cupy"), cuda_extra()
    install = f'pip install "cuaug[{extra or "cuda13"}]"'
    if len(wheels) > 1:
        yield Finding(
            "FAIL", "cupy", f"{' and '.join(wheels)} overwrite each other",
            f"pip uninstall -y {' '.join(wheels)} && {install}",
        )  # fmt: skip
        return
    if not wheels:
        if extra:
            yield Finding("FAIL", "cupy", "there is a GPU but no CuPy to compile kernels with", install)
        else:
            yield Finding("note", "cupy", "not installed, and without a GPU not needed")
        return
    ((name, version),) = wheels.items()
    if _numbers(version) < _CUPY_FLOOR:
        floor = ".".join(map(str, _CUPY_FLOOR))
        yield Finding("FAIL", "cupy", f"{name} {version} is older than {floor}", f"pip install --upgrade {name}")
    elif extra and name.startswith("cupy-cuda") and f"cupy-{extra}x" < name:
        yield Finding(
            "FAIL", "cupy", f"{name} {version} is for a newer CUDA than this driver or GPU knows",
            f"pip uninstall -y {name} && {install}",
        )  # fmt: skip
    else:
        yield Finding("ok", "cupy", f"{name} {version}")


def _check_gpu() -> Iterator[Finding]:
    if not cuda_extra() or len(_wheels("cupy")) != 1:
        return  # said above
    from ._gpu import cupy_import

    try:
        found = "ok" if _warps(cupy_import.cupy()) else "FAIL"
    except BackendError as error:
        yield Finding("FAIL", "gpu", str(error))
    else:
        yield Finding(
            found, "gpu", "a kernel was compiled and ran" + (", with a wrong result" if found == "FAIL" else "")
        )


def _check_cache() -> Iterator[Finding]:
    folder = _cache_folder()
    existing = next(f for f in (folder, *folder.parents) if f.exists())
    if not existing.is_dir():
        yield Finding("FAIL", "cache", f"{existing} is not a folder", _CHOOSE_CACHE)
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield Finding(
            "FAIL", "cache", f"{existing} is not writable, so kernels are compiled in every process", _CHOOSE_CACHE
        )
    elif existing == folder and folder.stat().st_mode & stat.S_IWOTH and not folder.stat().st_mode & stat.S_ISVTX:
        yield Finding("FAIL", "cache", f"anyone may plant code in {folder}", f"chmod 700 {folder}")
    elif existing == folder and folder.stat().st_uid not in (os.getuid(), 0):
        yield Finding("FAIL", "cache", f"{folder} belongs to another user, whose kernels would run here", _CHOOSE_CACHE)
    else:
        yield Finding("ok", "cache", f"kernels are kept in {folder}")


def _check_compiler() -> Iterator[Finding]:
    from ._host import compiler as _compiler

    try:
        yield Finding("ok", "compiler", f"{' '.join(_compiler.command())} compiles a PixelOp for the CPU")
    except BackendError as error:
        yield Finding("note", "compiler", str(error))


def _check_opencv() -> Iterator[Finding]:
    wheels = _wheels("opencv-")
    if len(wheels) > 1:
        yield Finding(
            "FAIL", "opencv", f"{' and '.join(wheels)} overwrite each other",
            f'pip uninstall -y {" ".join(wheels)} && pip install "cuaug[opencv-headless]"',
        )  # fmt: skip
    elif not wheels:
        yield Finding("note", "opencv", "not installed: warps do not need it", 'pip install "cuaug[opencv-headless]"')
    else:
        ((name, version),) = wheels.items()
        if _numbers(version)[0] < _OPENCV_FLOOR:
            upgrade = f'pip install --upgrade "{name}>={_OPENCV_FLOOR}"'
            yield Finding("note", "opencv", f"{name} {version} is older than {_OPENCV_FLOOR} and not used", upgrade)
        else:
            yield Finding("ok", "opencv", f"{name} {version}")


def _warps(xp: Any) -> bool:
    """Whether a small image moves by (2, 1), and what it leaves is filled."""
    import cuaug

    image = xp.arange(35, dtype="uint8").reshape(1, 5, 7, 1)
    moved = cuaug.warp_affine(image, [[1, 0, 2], [0, 1, 1]])
    return bool((moved[0, 1:, 2:] == image[0, :-1, :-2]).all() and not moved[0, 0].any() and not moved[0, :, :2].any())


def _decodes() -> bool:
    """Whether a grey image comes back as it was, in part."""
    from . import io

    image = np.full((16, 16, 1), 99, np.uint8)
    return bool((io.decode_and_crop_jpeg(io.encode_jpeg(image), 3, 5, 7, 9, color="gray") == 99).all())


def _libjpeg() -> str | None:
    """The libjpeg-turbo that the extension was built with; None where there is none."""
    try:
        return getattr(_cpu.extension(), "libjpeg_turbo", None)
    except BackendError:
        return None


def _extension() -> Path | None:
    """The file of the compiled part, not loaded."""
    spec = find_spec("cuaug._native")
    return Path(spec.origin) if spec and spec.origin else None


def _version(name: str) -> str | None:
    from importlib import metadata  # slow to import, and only needed here

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _wheels(prefix: str) -> dict[str, str]:
    """Installed distributions whose name begins so, and their versions."""
    from importlib import metadata

    named = ((d.name.lower().replace("_", "-"), d.version) for d in metadata.distributions() if d.name)
    return {name: version for name, version in sorted(named) if name.startswith(prefix)}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _cache_folder() -> Path:
    """Where CuPy keeps compiled kernels."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or "~/.cupy/kernel_cache").expanduser()


def _driver() -> dict[str, Any] | None:
    """Driver version and GPUs from NVML, which unlike CUDA may be asked before a fork. None without a driver."""
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
        return {"version": version, "cuda": cuda, "gpus": [_gpu(nvml, index) for index in range(number.value)]}
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: ctypes.CDLL, index: int) -> dict[str, Any]:
    device, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
    major, minor, memory = ctypes.c_int(), ctypes.c_int(), (ctypes.c_ulonglong * 3)()
    nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device))
    nvml.nvmlDeviceGetName(device, name, len(name))
    nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
    nvml.nvmlDeviceGetMemoryInfo(device, memory)
    return {
        "name": name.value.decode(),
        "compute_capability": f"{major.value}.{minor.value}",
        "memory_gib": round(memory[0] / 2**30, 1),
    }
