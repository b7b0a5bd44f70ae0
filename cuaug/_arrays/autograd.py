"""What torch's autograd and compiler ask of a call."""

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


def torch_module() -> Any:
    """torch, where there is a tensor of it."""
    return sys.modules["torch"]


def requires_gradient(*arrays: Any) -> bool:
    """Whether torch would follow what is computed from these."""
    return any(getattr(array, "requires_grad", False) for array in arrays) and bool(
        torch_library().torch.is_grad_enabled()
    )


def is_deterministic() -> bool:
    """Whether torch has been told that every run must give the same."""
    return bool(torch_library().torch.are_deterministic_algorithms_enabled())


def apply_with_backward(
    forward: Callable[..., Any], backward: Callable[..., Sequence[Any]], saved: Sequence[Any], inputs: Sequence[Any]
) -> Any:
    """``forward(*inputs)``, of which torch learns that ``backward(gradient, *saved)`` is its gradient, once."""
    return _gradient().apply(forward, backward, len(saved), *saved, *inputs)


@functools.cache
def _gradient() -> Any:
    function = torch_library().torch.autograd.function

    class Gradient(function.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, forward: Any, backward: Any, count: int, *arrays: Any) -> Any:
            ctx.save_for_backward(*arrays[:count])
            ctx.backward = backward
            return forward(*arrays[count:])

        @staticmethod
        @function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            saved = ctx.saved_tensors
            return None, None, None, *(None for _ in saved), *ctx.backward(gradient, *saved)

    return Gradient
