"""What `geometry` and `fit` share: arguments as arrays of one library and batch, and the algebra of small matrices.

Everything is elementwise: a library's solver or matrix product may synchronise, or round to TF32.
"""

import math
import reprlib
from typing import Any

import numpy as np

from .convert import asarray, is_host, namespace

# Sizes allowed for the last axes of an argument; () allows any.
Sizes = tuple[tuple[int, ...], ...]
NUMBER: Sizes = ()
PAIR: Sizes = ((2,),)
POINTS: Sizes = ((), (2,))
MATRIX: Sizes = ((2, 3), (3,))
# Scale and shift of both axes, (sx, tx, sy, ty): u = sx * x + tx, v = sy * y + ty.
Frame = tuple[Any, Any, Any, Any]


def broadcast_arguments(any_value: tuple[str, ...] = (), /, **arguments: tuple[Any, Sizes]) -> list[Any]:
    """Arguments as arrays of one library, device, dtype and batch, from ``name=(value, sizes of its last axes)``.

    `any_value`: those that need not be finite.
    """
    arrays = [value for value, _ in arguments.values() if hasattr(value, "dtype")]
    like = next((array for array in arrays if not is_host(array)), arrays[0] if arrays else np.empty(0))
    floats = {_dtype(array) for array in arrays} & {"float16", "bfloat16", "float32", "float64"}
    dtype = "float64" if "float64" in floats or not floats else "float32"
    loaded, batches = [], []
    for name, (value, sizes) in arguments.items():
        array = asarray(value, like=like, dtype=dtype)  # a number may arrive as [1]
        cut = array.ndim - len(sizes)
        shape = tuple(array.shape)
        if cut < 0 or any(allowed and n not in allowed for n, allowed in zip(shape[cut:], sizes, strict=True)):
            wanted = ", ".join(["...", *("|".join(map(str, allowed)) or "P" for allowed in sizes)])
            raise ValueError(f"{name} must have shape [{wanted}], got {list(shape)}")
        loaded.append(array)
        batches.append(shape[:cut])
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"{', '.join(arguments)} must agree in their batch, got {batches}") from None
    for i, (name, own) in enumerate(zip(arguments, batches, strict=True)):
        array = loaded[i]
        if own != batch:
            array = loaded[i] = namespace(like).broadcast_to(array, (*batch, *array.shape[len(own) :]))
        if name not in any_value and is_host(array):
            finite = namespace(like).isfinite(array)
            for _ in range(array.ndim - len(batch)):
                finite = finite.all(-1)
            require(name, array, finite, "must be finite")
    return loaded


def require(name: str, array: Any, proper: Any, rule: str) -> None:
    """Refuse the first sample [...] of a host array that is not proper; a device array is not read."""
    if not is_host(proper):
        return
    flags = proper.reshape(-1).tolist()
    if False in flags:
        sample = flags.index(False)
        value = array.reshape((len(flags), *array.shape[proper.ndim :]))[sample].tolist()
        raise ValueError(f"{name} {rule}, got {reprlib.repr(value)} in sample {sample}")


def _dtype(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def rounding_error(array: Any) -> float:
    """Four units in the last place, relative: what a subtraction of two of its numbers cannot be trusted below."""
    return 4 * float(np.finfo(_dtype(array)).eps)


def linear(a: Any, b: Any, c: Any, d: Any) -> Any:
    """[[a, b], [c, d]]."""
    stack = namespace(a).stack
    return stack([stack([a, b], -1), stack([c, d], -1)], -2)


def map_through(linear: Any, start: Any, end: Any) -> Any:
    """The map with this linear part [..., 2, 2] that takes ``start`` to ``end`` [..., 2]."""
    shift = end - (linear * start[..., None, :]).sum(-1)
    return namespace(linear).concatenate([linear, shift[..., None]], -1)


def to_3x3(M: Any) -> Any:
    """A 2x3 matrix with the row (0, 0, 1) below it."""
    if M.shape[-2] == 3:
        return M
    xp, zero = namespace(M), namespace(M).zeros_like(M[..., :1, 0])
    return xp.concatenate([M, xp.stack([zero, zero, zero + 1], -1)], -2)


def inverse(M: Any) -> Any:
    """In the shape of `M`; NaN for what has none."""
    xp, full = namespace(M), to_3x3(M)
    signed = cofactors(full)
    terms = full * signed
    determinant, size = terms.sum(-1), abs(terms).sum(-1)
    # All three rows expand to the determinant. One that is all rounding says that there is none.
    proper = (abs(determinant) > rounding_error(M) * size).all(-1)
    require("M", M, proper, "must not be singular")
    with np.errstate(divide="ignore", invalid="ignore"):
        found = xp.swapaxes(signed, -1, -2) / determinant[..., :1, None]
    return xp.where(proper[..., None, None], found, math.nan)[..., : M.shape[-2], :]


def cofactors(M: Any) -> Any:
    """Each row: the cross product of the two rows after it."""
    roll = namespace(M).roll
    a, b = roll(M, -1, -2), roll(M, 1, -2)
    return roll(a, -1, -1) * roll(b, 1, -1) - roll(a, 1, -1) * roll(b, -1, -1)


def change_frame(M: Any, before: Frame, after: Frame) -> Any:
    """``after @ M @ before`` for a 3x3 matrix; a frame's entries are numbers or [..., 1]."""
    stack = namespace(M).stack
    sx, tx, sy, ty = before
    x, y, one = M[..., 0], M[..., 1], M[..., 2]
    M = stack([x * sx, y * sy, x * tx + y * ty + one], -1)
    sx, tx, sy, ty = after
    x, y, one = M[..., 0, :], M[..., 1, :], M[..., 2, :]
    return stack([x * sx + one * tx, y * sy + one * ty, one], -2)
