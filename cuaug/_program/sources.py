"""The text of a kernel and the options that it is compiled with; needs neither CuPy nor a GPU."""

from __future__ import annotations

import functools
from pathlib import Path

from . import user_ops
from .names import op_structs, skeleton_of, snake_case
from .records import record_of

KERNELS = Path(__file__).parents[1] / "kernels"
OPTIONS = ("--std=c++17", "--device-as-default-execution-space", f"-I{KERNELS}")


@functools.cache
def kernels_digest() -> str:
    """Digest of the paths and texts of all kernel files.

    Every kernel's text contains it, because the key of CuPy's cache does not cover included files.
    """
    import hashlib  # loads OpenSSL, which `import cuaug` need not

    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cu*")):
        digest.update(path.relative_to(KERNELS).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def kernel_source(name: str) -> tuple[str, tuple[str, ...]]:
    """The text and the options that compile to the kernel of this name expression."""
    record = record_of(name)
    text = (
        "".join(_op_text(struct) for struct in op_structs(name))
        + f'#include "{_kernel_file(skeleton_of(name))}"\n// {kernels_digest()}\n'
        + f'static_assert(sizeof(cuaug::{record.name}) == {record.size}, "see cuaug/_program/records.py");\n'
    )
    return text, OPTIONS


@functools.cache
def _kernel_file(skeleton: str) -> str:
    """The file of a skeleton, relative to kernels/."""
    return next(KERNELS.rglob(f"{skeleton}.cu")).relative_to(KERNELS).as_posix()


def _op_text(struct: str) -> str:
    """An include of a file of kernels/ops, or the text of a user's op."""
    user_op = user_ops.find(struct)
    return user_op.struct_text if user_op else f'#include "ops/{snake_case(struct)}.cuh"\n'
