"""The text of a kernel, and the options that it is compiled with. Needs neither cupy nor a GPU."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from . import user_ops
from .names import ops_of, skeleton_of, snake_case
from .records import record_of

KERNELS = Path(__file__).parents[1] / "kernels"
OPTIONS = ("--std=c++17", "--device-as-default-execution-space", f"-I{KERNELS}")


@functools.cache
def digest() -> str:
    """Of every kernel file's path and text: included files are not in the key of CuPy's cache, so a text holds this."""
    total = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cu*")):
        total.update(path.relative_to(KERNELS).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def sources(name: str) -> tuple[str, tuple[str, ...]]:
    """The text and the options that make the kernel of this name expression."""
    record = record_of(name)
    text = "".join(_op(struct) for struct in ops_of(name)) + f'#include "{_file(skeleton_of(name))}"\n// {digest()}\n'
    text += f'static_assert(sizeof(cuaug::{record.name}) == {record.size}, "see cuaug/_program/records.py");\n'
    return text, OPTIONS


@functools.cache
def _file(kernel: str) -> str:
    """The file of a kernel, in one of the folders of kernels/."""
    return next(KERNELS.rglob(f"{kernel}.cu")).relative_to(KERNELS).as_posix()


def _op(struct: str) -> str:
    """The text of an op: a file of kernels/ops, or a user's."""
    own = user_ops.find(struct)
    return own.text if own else f'#include "ops/{snake_case(struct)}.cuh"\n'
