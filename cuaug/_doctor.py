"""Checks of `python -m cuaug doctor`: what stands in the way on this machine, and the command that repairs it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import io
from ._check import BackendError
from ._gpu import cupy_import
from ._host import compiler
from ._host import extension as _cpu
from ._info import (
    CUDA_MAJORS,
    cache_folder,
    cuda_extra,
    extension_path,
    find_driver,
    installed_wheels,
    libjpeg_version,
    version_numbers,
)
from .warp import warp_affine

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
    if extension_path() is None:
        yield Finding("FAIL", "extension", "the compiled part of cuaug is missing, so the CPU cannot run", _REINSTALL)
    elif _warps(np):
        yield Finding("ok", "extension", "the CPU warps")
    else:
        yield Finding("FAIL", "extension", "the CPU warps to the wrong place", _REINSTALL)


def _check_jpeg() -> Iterator[Finding]:
    version = libjpeg_version()
    if version and _decodes():
        yield Finding("ok", "jpeg", f"libjpeg-turbo {version} decodes")
    elif version:
        yield Finding("FAIL", "jpeg", f"libjpeg-turbo {version} decodes to wrong levels", _REINSTALL)
    elif extension_path() is not None:
        yield Finding("note", "jpeg", f"{_cpu.NO_JPEG}: cuaug.io cannot decode", _cpu.INSTALL_JPEG)


def _check_driver() -> Iterator[Finding]:
    driver = find_driver()
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
            oldest = CUDA_MAJORS[-1][1]
            yield Finding(
                "FAIL", "driver", f"driver {driver['version']} is older than {oldest}, the first that CUDA 12 runs on",
                f"install driver {oldest} or newer",
            )  # fmt: skip
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        yield Finding(
            "note", "driver", "CUDA_VISIBLE_DEVICES is empty and hides every GPU", "unset CUDA_VISIBLE_DEVICES"
        )


def _check_cupy() -> Iterator[Finding]:
    wheels, extra = installed_wheels("cupy"), cuda_extra()
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
    if version_numbers(version) < _CUPY_FLOOR:
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
    if not cuda_extra() or len(installed_wheels("cupy")) != 1:
        return  # said above
    try:
        found = "ok" if _warps(cupy_import.cupy()) else "FAIL"
    except BackendError as error:
        yield Finding("FAIL", "gpu", str(error))
    else:
        yield Finding(
            found, "gpu", "a kernel was compiled and ran" + (", with a wrong result" if found == "FAIL" else "")
        )


def _check_cache() -> Iterator[Finding]:
    folder = cache_folder()
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
    try:
        yield Finding("ok", "compiler", f"{' '.join(compiler.compiler_command())} compiles a PixelOp for the CPU")
    except BackendError as error:
        yield Finding("note", "compiler", str(error))


def _check_opencv() -> Iterator[Finding]:
    wheels = installed_wheels("opencv-")
    if len(wheels) > 1:
        yield Finding(
            "FAIL", "opencv", f"{' and '.join(wheels)} overwrite each other",
            f'pip uninstall -y {" ".join(wheels)} && pip install "cuaug[opencv-headless]"',
        )  # fmt: skip
    elif not wheels:
        yield Finding("note", "opencv", "not installed: warps do not need it", 'pip install "cuaug[opencv-headless]"')
    else:
        ((name, version),) = wheels.items()
        if version_numbers(version)[0] < _OPENCV_FLOOR:
            upgrade = f'pip install --upgrade "{name}>={_OPENCV_FLOOR}"'
            yield Finding("note", "opencv", f"{name} {version} is older than {_OPENCV_FLOOR} and not used", upgrade)
        else:
            yield Finding("ok", "opencv", f"{name} {version}")


def _warps(xp: Any) -> bool:
    """Whether a small image moves by (2, 1), and what it leaves is filled."""
    image = xp.arange(35, dtype="uint8").reshape(1, 5, 7, 1)
    moved = warp_affine(image, [[1, 0, 2], [0, 1, 1]])
    return bool((moved[0, 1:, 2:] == image[0, :-1, :-2]).all() and not moved[0, 0].any() and not moved[0, :, :2].any())


def _decodes() -> bool:
    """Whether a grey image comes back as it was, in part."""
    image = np.full((16, 16, 1), 99, np.uint8)
    return bool((io.decode_and_crop_jpeg(io.encode_jpeg(image), 3, 5, 7, 9, color="gray") == 99).all())
