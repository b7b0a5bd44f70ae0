"""torch's autograd and torch.compile: whether they are active, and how a function gets a gradient."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .torch_library import torch_library


def is_compiling() -> bool:
    """Whether torch.compile is tracing the caller."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def is_exporting() -> bool:
    """Whether torch.export is tracing the caller. False for a torch that cannot tell."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch.compiler, "is_exporting") and torch.compiler.is_exporting()


def imported_torch() -> Any:
    """The torch module. The caller holds a tensor, so torch is imported."""
    return sys.modules["torch"]


def requires_gradient(*arrays: Any) -> bool:
    """Whether autograd records computations on one of these arrays."""
    return any(getattr(array, "requires_grad", False) for array in arrays) and bool(
        torch_library().torch.is_grad_enabled()
    )


def context_needs_torch_ops() -> bool:
    """Whether torch follows the operations of all tensors.

    It does under torch.compile, torch.func, forward-mode autograd and dispatch modes.
    """
    torch = sys.modules.get("torch")
    return torch is not None and bool(
        torch.compiler.is_compiling()
        or torch._C._functorch.peek_interpreter_stack() is not None
        or torch._C._len_torch_dispatch_stack()
        or torch.autograd.forward_ad._current_level >= 0
    )


def values_need_torch_ops(*values: Any) -> bool:
    """Whether autograd records operations on one of the values, or only torch's operations can read one of them.

    Only they read tensors on devices other than the CPU and CUDA devices, and tensors of classes that define
    `__torch_dispatch__`.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    for value in values:
        if isinstance(value, torch.Tensor) and (
            (value.requires_grad and torch.is_grad_enabled())
            or not (value.is_cuda or value.is_cpu)
            or type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
        ):
            return True
    return False


def needs_torch_ops(*values: Any) -> bool:
    """Whether a result must be computed by torch's operations, not by a kernel or a loop."""
    return values_need_torch_ops(*values) or context_needs_torch_ops()


def is_deterministic() -> bool:
    """Whether ``torch.use_deterministic_algorithms(True)`` is in force."""
    return bool(torch_library().torch.are_deterministic_algorithms_enabled())


def apply_with_backward(
    forward: Callable[..., Any], backward: Callable[..., Sequence[Any]], saved: Sequence[Any], inputs: Sequence[Any]
) -> Any:
    """``forward(*inputs)``, differentiable once: ``backward(gradient, *saved)`` returns the gradients of `inputs`."""
    return _gradient_class().apply(forward, backward, len(saved), *saved, *inputs)


@functools.cache
def _gradient_class() -> Any:
    function = torch_library().torch.autograd.function

    class Gradient(function.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, forward: Any, backward: Any, saved_count: int, *arrays: Any) -> Any:
            ctx.save_for_backward(*arrays[:saved_count])
            ctx.backward = backward
            return forward(*arrays[saved_count:])

        @staticmethod
        @function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            saved = ctx.saved_tensors
            return None, None, None, *(None for _ in saved), *ctx.backward(gradient, *saved)

    return Gradient
