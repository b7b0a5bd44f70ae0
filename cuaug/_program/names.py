"""Name expressions: a skeleton (a kernel template) with its functors, dtypes and layouts as template arguments.

The name determines the kernel completely: its text, its record and its key in the caches.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence


def name_expression(skeleton: str, *arguments: str | int) -> str:
    return f"cuaug::{skeleton}<{', '.join(str(a) if isinstance(a, int) else f'cuaug::{a}' for a in arguments)}>"


def batched_name(name: str) -> str:
    """The variant of a kernel that does several launches in one (kernels/gpu/batched_launch.cuh)."""
    return f"{name[:-1]}, cuaug::BatchedLaunch>"


def chain(ops: Sequence[str]) -> str:
    """The template argument for a sequence of ops."""
    return _chain(tuple(ops))


@functools.lru_cache(4096)
def _chain(ops: tuple[str, ...]) -> str:
    return f"Chain<{', '.join(f'cuaug::{op}' for op in ops)}>"


def op_structs(name: str) -> list[str]:
    """The structs of the ops in a kernel's chains."""
    ops = [op.strip() for chain_ops in re.findall(r"Chain<(.*?)>", name) for op in chain_ops.split(",") if op]
    return [op.removeprefix("cuaug::") for op in dict.fromkeys(ops)]


def template_arguments(name: str) -> list[str]:
    """All words in the template arguments of a name expression, including those of nested templates."""
    return re.findall(r"\w+", name.partition("<")[2].replace("cuaug::", ""))


def snake_case(struct: str) -> str:
    """The stem of a struct's file: `adjust_hue` for `AdjustHue`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", struct).lower()


def skeleton_of(name: str) -> str:
    """A kernel's skeleton, which is also the stem of its file."""
    return name.partition("<")[0].removeprefix("cuaug::")
