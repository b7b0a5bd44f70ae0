"""Integers that users pass: of Python, of NumPy, or of another library on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._value_text import value_text


def integer_value(parameter: str, value: Any) -> int:
    """The value as an int. Not a float, not a bool, not an array with axes, and not on a device, which would wait."""
    if type(value) is int:
        return value
    refuse_tracer(type(value))
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", ())
    is_integer = hasattr(type(value), "__index__") and (dtype is None or "int" in str(dtype))
    if is_integer and not isinstance(value, bool) and shape == () and _is_on_host(value):
        return int(value.__index__())
    is_array = dtype is not None and not isinstance(value, (np.generic, type))
    device = "" if not is_array or _is_on_host(value) else f" on {value.device}"
    got = f"an array of shape {tuple(shape)} and dtype {dtype}{device}" if is_array else value_text(value)
    hint = ": pass a Python int" if is_array else integer_hint(value)
    raise TypeError(f"{parameter} must be an int, got {got}{hint}")


def integer_hint(value: Any) -> str:
    """The end of a message about a value that is no int: the int to pass for a float that has no fraction."""
    return f": pass {int(value)}" if isinstance(value, (float, np.floating)) and float(value).is_integer() else ""


def is_one_number(value: Any) -> bool:
    """Whether this is one number, and not a list or an array with axes."""
    return getattr(value, "shape", None) == () or not hasattr(value, "__len__")


def refuse_tracer(value_type: type) -> None:
    """Raises TypeError for a type of JAX's tracers."""
    if any(base.__name__ == "Tracer" and base.__module__.startswith("jax") for base in value_type.__mro__):
        raise TypeError(
            "cuaug runs outside of jax.jit, jax.grad and jax.vmap, whose tracers have no values: call it on the batch "
            "before the jitted function, or within through jax.pure_callback, a recipe with step= (docs/jax.md)"
        )


def _is_on_host(value: Any) -> bool:
    if not hasattr(value, "__dlpack_device__"):
        return True
    try:
        return int(value.__dlpack_device__()[0]) in (1, 3)  # CPU, and host memory that CUDA has pinned
    except (BufferError, RuntimeError, TypeError, ValueError):  # such as a tensor on torch's "meta" device
        return False
