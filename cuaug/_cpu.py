"""Loops on the CPU: finds the compiled extension."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from ._check import BackendError, public, whole


@functools.cache
def native() -> ModuleType:
    try:
        return importlib.import_module("cuaug._native")
    except ImportError as error:
        raise BackendError(
            f"the CPU needs cuaug's compiled extension, which cannot be loaded ({error}): "
            "pip install --force-reinstall --no-deps cuaug"
        ) from error


@public
def set_num_threads(count: int) -> None:
    """Set how many threads a CPU call uses; 0 means one for each CPU this process may use.

    Example:
        >>> import cuaug
        >>> cuaug.set_num_threads(2)
    """
    native().set_threads(whole("count", count, 0))
