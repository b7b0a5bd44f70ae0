"""The compiled extension `cuaug._native`: CPU loops, JPEG, and replay of recorded launches."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from .._check import BackendError, integer, prefix_errors
from .._program import user_ops
from .installation import REINSTALL


@functools.cache
def extension() -> ModuleType:
    try:
        return importlib.import_module("cuaug._native")
    except ImportError as error:
        raise BackendError(
            f"the CPU needs cuaug's compiled extension, which cannot be loaded ({error}): {REINSTALL}"
        ) from error


def thread_count() -> int:
    """The number of threads that a call may use; 1 without the extension."""
    try:
        return int(extension().threads())
    except BackendError:
        return 1


def jpeg_extension() -> ModuleType:
    """The extension. Raises if it was built without the JPEG decoder."""
    module = extension()
    if not hasattr(module, "jpeg_decode"):
        raise BackendError(f"{NO_JPEG}: {INSTALL_JPEG}")
    return module


NO_JPEG = "cuaug's extension was built without libjpeg-turbo 2.1 or newer, and has no JPEG decoder"
INSTALL_JPEG = (
    "apt install libjpeg62-turbo-dev (Ubuntu: libjpeg-turbo8-dev; conda: libjpeg-turbo; brew: jpeg-turbo), "
    f"then {REINSTALL}"
)


def chain_ops(structs: tuple[str, ...]) -> list[str | tuple[int, int]]:
    """The ops of a chain for the extension: a name, or for a user's op (address of its loop, `param_count`)."""
    return [_user_op(op) if (op := user_ops.find(struct)) else struct for struct in structs]


def _user_op(op: user_ops.UserOp) -> tuple[int, int]:
    from .compiler import loop_address  # imports subprocess, which only users' ops need

    return loop_address(op, extension().compiler_flags()), op.param_count


@prefix_errors
def set_num_threads(count: int) -> None:
    """Set how many threads a CPU call may use; 0 means one for each CPU this process may use.

    Example:
        >>> import cuaug
        >>> cuaug.set_num_threads(2)
    """
    extension().set_threads(integer("count", count, 0, (1 << 31) - 1))
