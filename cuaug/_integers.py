"""Integers and other numbers that users pass: of Python, of NumPy, or of another library."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._value_text import array_text, is_array, is_on_host, value_text

# Code of all other packages is the user's.
_PACKAGES = frozenset(("cuaug", "cupy", "jax", "jaxlib", "numpy", "torch"))


def integer_value(parameter: str, value: Any) -> int:
    """The value as an int. Refuses floats, bools, arrays with axes, and arrays on a device: reading one would wait."""
    if type(value) is int:
        return value
    refuse_tracer(type(value))
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", ())
    is_integer = hasattr(type(value), "__index__") and (dtype is None or "int" in str(dtype))
    if is_integer and not isinstance(value, bool) and shape == () and is_on_host(value):
        return int(value.__index__())
    if is_array(value):
        raise TypeError(f"{parameter} must be an int, got {array_text(value)}: pass a Python int")
    raise TypeError(f"{parameter} must be an int, got {value_text(value)}{integer_hint(value)}")


def integer_hint(value: Any) -> str:
    """The end of a message about a value that is not an int: the int to pass for a float without a fraction."""
    return f": pass {int(value)}" if isinstance(value, (float, np.floating)) and float(value).is_integer() else ""


def float_value(parameter: str, value: Any) -> float:
    """A number as a float."""
    try:
        return float(value)
    except OverflowError:  # an int beyond the largest float
        raise ValueError(f"{parameter} must be a number that a float holds, got {value_text(value)}") from None


def is_overflow_of_user_code(error: Exception) -> bool:
    """Whether an OverflowError passed through code of the user, such as a function in a recipe."""
    if not isinstance(error, OverflowError):
        return False
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return not {module.partition(".")[0] for module in modules} <= _PACKAGES


def has_length(value: Any) -> bool:
    """Whether `len(value)` works: for containers, also empty ones; not for numbers, arrays without axes, and None."""
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()


def has_positions(value: Any) -> bool:
    """Whether the value has entries at positions, as lists and arrays with axes have; sets and dicts have none."""
    is_container = hasattr(type(value), "__getitem__") and not isinstance(value, (str, bytes, Mapping))
    return is_container and has_length(value)


def python_value(value: Any) -> Any:
    """An array of any library as a number or a list of Python; other values as they are."""
    refuse_tracer(type(value))
    refuse_meta(value)
    return value.tolist() if hasattr(value, "tolist") else value


def refuse_meta(value: Any) -> None:
    """Raises TypeError for a tensor on torch's meta device."""
    if getattr(value, "is_meta", False):
        raise TypeError("a tensor on torch's meta device has no values")


def refuse_tracer(value_type: type) -> None:
    """Raises TypeError for a type of JAX's tracers."""
    tracers = [base for base in value_type.__mro__ if base.__module__.startswith("jax")]
    if not any(base.__name__ == "Tracer" for base in tracers):
        return
    if any(base.__module__.endswith("interpreters.ad") for base in tracers):  # automatic differentiation
        raise TypeError(
            "cuaug has no gradients: pass jax.lax.stop_gradient(array), or give the function a derivative by "
            "jax.custom_vjp (docs/jax.md)"
        )
    raise TypeError(
        "cuaug runs outside of jax.jit and jax.vmap, whose tracers have no values: call cuaug before the jitted "
        "function, or inside of it through jax.pure_callback; a recipe then needs step= (docs/jax.md)"
    )
