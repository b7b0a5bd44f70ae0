"""Loops on the CPU: finds the compiled extension."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from .._check import BackendError, integer, prefix_errors
from .._program import user_ops


@functools.cache
def extension() -> ModuleType:
    try:
        return importlib.import_module("cuaug._native")
    except ImportError as error:
        raise BackendError(
            f"the CPU needs cuaug's compiled extension, which cannot be loaded ({error}): "
            "pip install --force-reinstall --no-deps cuaug"
        ) from error


def thread_count() -> int:
    """How many a call uses; without the extension one."""
    try:
        return int(extension().threads())
    except BackendError:
        return 1


def jpeg() -> ModuleType:
    """The extension, if it was built with a decoder."""
    found = extension()
    if not hasattr(found, "jpeg_decode"):
        raise BackendError(f"{NO_JPEG}: {INSTALL_JPEG}")
    return found


NO_JPEG = "cuaug's extension was built where libjpeg-turbo 2.1 or newer was not, and has no JPEG decoder"
INSTALL_JPEG = (
    "apt install libjpeg62-turbo-dev (Ubuntu: libjpeg-turbo8-dev; conda: libjpeg-turbo; brew: jpeg-turbo), "
    "then pip install --force-reinstall --no-deps --no-binary cuaug cuaug"
)


def chain_ops(structs: tuple[str, ...]) -> list[str | tuple[int, int]]:
    """What the extension knows the ops of a chain by: their names, and of users' their loops and how many fields."""
    return [_user_op(own) if (own := user_ops.find(struct)) else struct for struct in structs]


def _user_op(own: user_ops.UserOp) -> tuple[int, int]:
    from . import compiler as _compiler

    return _compiler.loop_address(own, extension().compiler_flags()), own.fields


@prefix_errors("cuaug")
def set_num_threads(count: int) -> None:
    """Set how many threads a CPU call uses; 0 means one for each CPU this process may use.

    Example:
        >>> import cuaug
        >>> cuaug.set_num_threads(2)
    """
    extension().set_threads(integer("count", count, 0))
