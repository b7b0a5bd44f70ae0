"""Name expressions: a kernel's name is its program, the skeleton with the functors and dtypes that it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence


def name_expression(skeleton: str, *arguments: str | int) -> str:
    return f"cuaug::{skeleton}<{', '.join(str(a) if isinstance(a, int) else f'cuaug::{a}' for a in arguments)}>"


def batched_name(name: str) -> str:
    """The kernel that does several launches of another at once (kernels/gpu/batched_launch.cuh)."""
    return f"{name[:-1]}, cuaug::BatchedLaunch>"


def chain(ops: Sequence[str]) -> str:
    return f"Chain<{', '.join(f'cuaug::{op}' for op in ops)}>"


def ops_of(name: str) -> list[str]:
    """The structs in a kernel's chains."""
    ops = [op.strip() for found in re.findall(r"Chain<(.*?)>", name) for op in found.split(",") if op]
    return [op.removeprefix("cuaug::") for op in dict.fromkeys(ops)]


def template_arguments(name: str) -> list[str]:
    """All words of a name expression's template arguments, those of nested templates included."""
    return re.findall(r"\w+", name.partition("<")[2].replace("cuaug::", ""))


def snake_case(struct: str) -> str:
    """The name of the struct's file, without its ending."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", struct).lower()


def skeleton_of(name: str) -> str:
    """The file that the kernel is in."""
    return name.partition("<")[0].removeprefix("cuaug::")
