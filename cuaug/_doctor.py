"""Checks of `python -m cuaug doctor`: problems of this machine's set-up, and the commands that repair them."""

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
from ._host import compiler, extension
from ._host.installation import REINSTALL, install_command
from ._info import (
    CUDA_MAJORS,
    CUPY,
    OPENCV,
    cuda_extra,
    extension_path,
    find_driver,
    installed_wheels,
    libjpeg_version,
    version_numbers,
)
from .warp import warp_affine

_MIN_CUPY = (14, 2)  # disk caches of earlier versions lose or confuse kernels that have a name expression
_MIN_OPENCV = 5  # warps of earlier versions round coordinates to 1/32 pixel
_CHOOSE_CACHE = 'export CUPY_CACHE_DIR="$(mktemp -d)"'


class Finding(NamedTuple):
    """The result of a check; ``state`` is "ok", "note" (cuaug works without the subject) or "FAIL"."""

    state: str
    subject: str
    message: str
    repair: str = ""

    def __str__(self) -> str:
        return f"{self.state:<4}  {self.subject:<9}  {self.message}" + (f": {self.repair}" if self.repair else "")


def diagnose() -> Iterator[Finding]:
    """Runs every check. An exception in a check becomes a failure, and the next check runs."""
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
        yield Finding(
            "FAIL", "extension", "the compiled extension is missing: arrays on the CPU do not work", REINSTALL
        )
    elif _warp_is_correct(np):
        yield Finding("ok", "extension", "a warp on the CPU is correct")
    else:
        yield Finding("FAIL", "extension", "a warp on the CPU is wrong", REINSTALL)


def _check_jpeg() -> Iterator[Finding]:
    version = libjpeg_version()
    if version and _jpeg_is_correct():
        yield Finding("ok", "jpeg", f"libjpeg-turbo {version} decodes a test image correctly")
    elif version:
        yield Finding("FAIL", "jpeg", f"libjpeg-turbo {version} decodes to wrong values", REINSTALL)
    elif extension_path() is not None:
        yield Finding("note", "jpeg", f"{extension.NO_JPEG}: cuaug.io cannot decode", extension.INSTALL_JPEG)


def _check_driver() -> Iterator[Finding]:
    driver = find_driver()
    if driver is None and (Path("/dev/nvidiactl").exists() or Path("/proc/driver/nvidia/version").exists()):
        yield Finding(
            "FAIL", "driver", "there is a GPU but no driver library, as in a container started without GPUs",
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
            yield _unsupported_gpu_or_driver(driver)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    # CUDA ignores all entries from the first invalid one on.
    if visible is not None and visible.strip()[:1] in ("", "-"):
        yield Finding(
            "note", "driver", f"CUDA_VISIBLE_DEVICES={visible!r} hides every GPU", "unset CUDA_VISIBLE_DEVICES"
        )


def _unsupported_gpu_or_driver(driver: dict[str, Any]) -> Finding:
    major, min_driver, min_capability = CUDA_MAJORS[-1]
    if version_numbers(driver["version"])[0] < min_driver:
        message = f"driver {driver['version']} is older than {min_driver}, the oldest for CUDA {major}"
        return Finding("FAIL", "driver", message, f"install driver {min_driver} or newer")
    gpu = min(driver["gpus"], key=lambda gpu: version_numbers(gpu["compute_capability"]))
    lowest = ".".join(map(str, min_capability))
    message = (
        f"{gpu['name']} has compute capability {gpu['compute_capability']}, below {lowest}, the lowest for CUDA {major}"
    )
    return Finding("FAIL", "driver", message)


def _check_cupy() -> Iterator[Finding]:
    wheels, extra = installed_wheels(CUPY), cuda_extra()
    install = install_command(extra or "cuda13")
    if len(wheels) > 1:
        yield Finding(
            "FAIL", "cupy", f"{' and '.join(wheels)} overwrite each other",
            f"pip uninstall -y {' '.join(wheels)} && {install}",
        )  # fmt: skip
        return
    if not wheels:
        if extra:
            yield Finding("FAIL", "cupy", "there is a GPU but no CuPy, which compiles the kernels", install)
        else:
            yield Finding("note", "cupy", "not installed, not needed without a supported GPU")
        return
    ((name, version),) = wheels.items()
    if version_numbers(version) < _MIN_CUPY:
        min_version = ".".join(map(str, _MIN_CUPY))
        has_newer = not name.startswith("cupy-cuda") or name in {f"cupy-cuda{major}x" for major, *_ in CUDA_MAJORS}
        repair = f"pip install --upgrade {name}" if has_newer else f"pip uninstall -y {name} && {install}"
        yield Finding("FAIL", "cupy", f"{name} {version} is older than {min_version}", repair)
    elif extra and name.startswith("cupy-cuda") and name > f"cupy-{extra}x":  # names sort by CUDA version
        yield Finding(
            "FAIL", "cupy", f"{name} {version} is for a newer CUDA than this driver or GPU supports",
            f"pip uninstall -y {name} && {install}",
        )  # fmt: skip
    else:
        yield Finding("ok", "cupy", f"{name} {version}")


def _check_gpu() -> Iterator[Finding]:
    if not cuda_extra() or len(installed_wheels(CUPY)) != 1:
        return  # an earlier check reports this
    try:
        correct = _warp_is_correct(cupy_import.cupy())
    except BackendError as error:
        yield Finding("FAIL", "gpu", str(error))
    else:
        message = "a kernel was compiled and ran"
        yield Finding("ok", "gpu", message) if correct else Finding("FAIL", "gpu", f"{message}, with a wrong result")


def _check_cache() -> Iterator[Finding]:
    folder = cupy_import.kernel_cache_dir()
    if folder is None:
        yield Finding("FAIL", "cache", "the user has no home folder: every process compiles the kernels", _CHOOSE_CACHE)
        return
    existing = next(f for f in (folder, *folder.parents) if f.exists())
    if not existing.is_dir():
        yield Finding("FAIL", "cache", f"{existing} is not a folder", _CHOOSE_CACHE)
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield Finding("FAIL", "cache", f"{existing} is not writable: every process compiles the kernels", _CHOOSE_CACHE)
    elif existing == folder and folder.stat().st_mode & stat.S_IWOTH:
        yield Finding("FAIL", "cache", f"every user may write code to {folder}", f"chmod 700 {folder}")
    elif existing == folder and folder.stat().st_uid not in (os.getuid(), 0):
        yield Finding(
            "FAIL", "cache", f"{folder} belongs to another user, whose kernels would run in this process", _CHOOSE_CACHE
        )
    else:
        yield Finding("ok", "cache", f"compiled kernels are stored in {folder}")


def _check_compiler() -> Iterator[Finding]:
    try:
        command = " ".join(compiler.compiler_command())
        yield Finding("ok", "compiler", f"{command} is installed and will compile each PixelOp for the CPU")
    except BackendError as error:
        yield Finding("note", "compiler", str(error))


def _check_opencv() -> Iterator[Finding]:
    wheels = installed_wheels(OPENCV)
    if len(wheels) > 1:
        yield Finding(
            "FAIL", "opencv", f"{' and '.join(wheels)} overwrite each other",
            f"pip uninstall -y {' '.join(wheels)} && {install_command('opencv-headless')}",
        )  # fmt: skip
    elif not wheels:
        message = "not installed; only cuaug.io.decode_image uses it, for files other than JPEG where Pillow is missing"
        yield Finding("note", "opencv", message, install_command("opencv-headless"))
    else:
        ((name, version),) = wheels.items()
        if version_numbers(version)[0] < _MIN_OPENCV:
            upgrade = f'pip install --upgrade "{name}>={_MIN_OPENCV}"'
            yield Finding("note", "opencv", f"{name} {version} rounds coordinates of warps to 1/32 pixel", upgrade)
        else:
            yield Finding("ok", "opencv", f"{name} {version}")


def _warp_is_correct(xp: Any) -> bool:
    """Whether a small image, shifted by (2, 1), has the expected values."""
    image = xp.arange(35, dtype="uint8").reshape(1, 5, 7, 1)
    shifted = warp_affine(image, [[1, 0, 2], [0, 1, 1]])
    inside = shifted[0, 1:, 2:] == image[0, :-1, :-2]
    return bool(inside.all() and not shifted[0, 0].any() and not shifted[0, :, :2].any())


def _jpeg_is_correct() -> bool:
    """Whether a part of an encoded grey image decodes to the image's value."""
    image = np.full((16, 16, 1), 99, np.uint8)
    return bool((io.decode_and_crop_jpeg(io.encode_jpeg(image), 3, 5, 7, 9, color="gray") == 99).all())
