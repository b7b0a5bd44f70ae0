"""Arguments of functions of matrices and points: conversion to one library and one batch shape, and checks."""

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from . import autograd
from .convert import asarray, is_host, namespace

# One entry for each of an argument's last axes: the extents that it may have; an empty entry allows any extent.
Sizes = tuple[tuple[int, ...], ...]
NUMBER: Sizes = ()
PAIR: Sizes = ((2,),)
POINTS: Sizes = ((), (2,))
MATRIX: Sizes = ((2, 3), (3,))


def broadcast_arguments(may_be_nonfinite: tuple[str, ...] = (), /, **arguments: tuple[Any, Sizes]) -> list[Any]:
    """Arguments as arrays of one library, device, dtype and batch, from ``name=(value, sizes of its last axes)``.

    `may_be_nonfinite`: names of arguments that may hold infinities and NaN.
    """
    arrays = [value for value, _ in arguments.values() if hasattr(value, "dtype")]
    dtype = result_dtype({float_name(array.dtype) for array in arrays})
    like, _ = result_like(arrays)
    results, batches = [], []
    for name, (value, sizes) in arguments.items():
        array = asarray(value, like=like, dtype=dtype, parameter=name)
        batch_ndim = array.ndim - len(sizes)
        shape = tuple(array.shape)
        if batch_ndim < 0 or any(
            allowed and n not in allowed for n, allowed in zip(shape[batch_ndim:], sizes, strict=True)
        ):
            refuse_shape(name, shape, sizes)
        results.append(array)
        batches.append(shape[:batch_ndim])
    batch = broadcast_batches(arguments, batches)
    for i, (name, argument_batch) in enumerate(zip(arguments, batches, strict=True)):
        array = results[i]
        if argument_batch != batch:
            array = results[i] = namespace(like).broadcast_to(array, (*batch, *array.shape[len(argument_batch) :]))
        if name not in may_be_nonfinite and is_host(array):
            finite = namespace(like).isfinite(array)
            for _ in range(array.ndim - len(batch)):
                finite = finite.all(-1)
            require(name, array, finite, "must be finite")
    return results


def result_like(arrays: Sequence[Any]) -> tuple[Any, bool]:
    """The array that has the library and the device of the result, and whether it is on the host.

    It is the first device array, else the first array.
    """
    for array in arrays:
        if not is_host(array):
            return array, False
    return arrays[0] if arrays else np.empty(0), True


def result_dtype(float_names: set[str | None]) -> str:
    """The dtype of a result, from the `float_name` of each array."""
    return "float64" if "float64" in float_names or not float_names - {None} else "float32"


def float_name(dtype: Any) -> str | None:
    """The name of a dtype of floats of any library; None for other dtypes."""
    name = str(dtype).rpartition(".")[2]
    return name if name in ("float16", "bfloat16", "float32", "float64") else None


def refuse_shape(name: str, shape: Sequence[int], sizes: Sizes) -> NoReturn:
    expected = ", ".join(["...", *("|".join(map(str, allowed)) or "P" for allowed in sizes)])
    raise ValueError(f"{name} must have shape [{expected}], got {list(shape)}")


def broadcast_batches(names: Iterable[str], batches: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    if all(batch == batches[0] for batch in batches):  # to save time
        return batches[0]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"{', '.join(names)} must agree in their batch, got {list(batches)}") from None


def require(name: str, array: Any, valid: Any, rule: str) -> None:
    """Raises a ValueError that names the first sample whose flag in `valid` is False. `valid` has the batch's shape.

    Does nothing for values that cannot be read, such as those on a device or within torch.vmap.
    """
    if not is_host(valid) or autograd.is_exporting():
        return
    try:
        flags = valid.reshape(-1).tolist()
    except RuntimeError:  # within torch.vmap, or under a dispatch mode such as FakeTensorMode
        return
    if False in flags:
        sample = flags.index(False)
        value = array.reshape((len(flags), *array.shape[valid.ndim :]))[sample].tolist()
        raise ValueError(f"{name} {rule}, got {reprlib.repr(value)} in sample {sample}")


def cofactors(M: Any) -> Any:
    """The cofactor matrix: each row is the cross product of the two rows after it, cyclically."""
    join = namespace(M).concatenate

    def columns_from(array: Any, first: int) -> Any:
        """The columns from `first` on, then those before it."""
        return join([array[..., first:], array[..., :first]], -1)  # np.roll takes five times as long

    a, b = (join([M[..., first:, :], M[..., :first, :]], -2) for first in (1, 2))  # the next two rows
    return columns_from(a, 1) * columns_from(b, 2) - columns_from(a, 2) * columns_from(b, 1)
