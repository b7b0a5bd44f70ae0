"""The only import of CuPy, with checks of its installation, its version and its kernel cache."""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from .._check import BackendError
from .._host.installation import install_per_driver

# What has initialized the driver in this process, as text for debugging. While the list is empty, a forked child may
# use CUDA. Even a query of the number of GPUs initializes the driver, and an initialized driver fails in a child.
cuda_users: list[str] = []


def _is_writable(folder: Path) -> bool:
    import tempfile  # takes 3 ms, which only the first GPU call pays

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def kernel_cache_dir() -> Path | None:
    """CuPy's folder of compiled kernels; None if it would be in the home folder, and the user has none."""
    configured = os.environ.get("CUPY_CACHE_DIR")
    try:
        return Path(configured) if configured else Path.home() / ".cupy" / "kernel_cache"
    except RuntimeError:
        return None


def prepare_cache() -> None:
    """Ensures a writable kernel cache. CuPy chooses the folder at import, and fails if it cannot create it."""
    folder = kernel_cache_dir()
    if folder and _is_writable(folder):
        return
    from .._host.private_folder import private_folder  # imports shutil and tempfile

    os.environ["CUPY_CACHE_DIR"] = str(private_folder())
    warnings.warn(
        f"cuaug: the kernel cache {folder or '~/.cupy/kernel_cache'} cannot be written; each process compiles its "
        "kernels again. Set CUPY_CACHE_DIR to a private folder",
        RuntimeWarning,
        stacklevel=2,
    )


@functools.cache
def cupy() -> ModuleType:
    """CuPy. Raises if it is missing, too old, installed from several wheels, or finds no driver."""
    from importlib import metadata  # takes 60 ms, which only the first GPU call pays

    wheels = sorted(
        {
            name
            for dist in metadata.distributions()
            if re.fullmatch(r"cupy(-cuda\w+|-rocm[\w-]+)?", name := (dist.metadata["Name"] or "").lower())
        }
    )
    if len(wheels) > 1:
        raise BackendError(
            f"several CuPy wheels in one environment overwrite each other: "
            f"pip uninstall {' '.join(wheels)}, then {install_per_driver('cuda')}"
        )
    if "cupy" not in sys.modules:
        prepare_cache()
    try:
        module = importlib.import_module("cupy")
    except ImportError as error:
        if not wheels:
            raise BackendError(f"the GPU needs CuPy, which is not installed: {install_per_driver('cuda')}") from error
        raise BackendError(
            f"{', '.join(wheels)} cannot be imported ({error}): pip install --force-reinstall {wheels[0]}"
        ) from error
    if tuple(int(number) for number in module.__version__.split(".")[:2]) < (14, 2):
        raise BackendError(
            f"the GPU needs CuPy 14.2 or newer, found {module.__version__}: {install_per_driver('cuda')}"
        )
    if not module.cuda.is_available():
        raise BackendError(
            "no NVIDIA driver found, or no GPU that it can use: "
            "see nvidia-smi, and https://www.nvidia.com/drivers for a driver"
        )
    cuda_users.append("the number of GPUs")
    return module


def is_available() -> bool:
    """Whether CuPy can be used and finds a GPU."""
    try:
        cupy()
    except BackendError:
        return False
    return True


def from_dlpack(array: Any) -> Any:
    """A CuPy array that shares the array's memory."""
    return cupy().from_dlpack(array)
