"""Imports CuPy: the only file that does, after its cache folder and its version are checked."""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from .._check import BackendError
from .failures import INSTALL


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


def from_dlpack(array: Any) -> Any:
    """An array of CuPy's, of the same memory."""
    return cupy().from_dlpack(array)
