"""Batches of 2x3 and 3x3 matrices: conversion of arguments to one library and one batch shape, and matrix algebra.

Products are elementwise products and sums: a library's solver or matrix product may synchronise, or round to TF32.
"""

import math
import reprlib
from typing import Any

import numpy as np

from . import scalar_matrices
from .convert import asarray, detach, is_host, namespace

# One entry for each of an argument's last axes: the extents that it may have; an empty entry allows any extent.
Sizes = tuple[tuple[int, ...], ...]
NUMBER: Sizes = ()
PAIR: Sizes = ((2,),)
POINTS: Sizes = ((), (2,))
MATRIX: Sizes = ((2, 3), (3,))
# Scale and shift of both axes, (sx, tx, sy, ty): u = sx * x + tx, v = sy * y + ty. Numbers or arrays [..., 1].
AxisScaling = tuple[Any, Any, Any, Any]


def broadcast_arguments(may_be_nonfinite: tuple[str, ...] = (), /, **arguments: tuple[Any, Sizes]) -> list[Any]:
    """Arguments as arrays of one library, device, dtype and batch, from ``name=(value, sizes of its last axes)``.

    `may_be_nonfinite`: names of arguments that may hold infinities and NaN.
    """
    arrays = [value for value, _ in arguments.values() if hasattr(value, "dtype")]
    like = next((array for array in arrays if not is_host(array)), arrays[0] if arrays else np.empty(0))
    floats = {_dtype_name(array) for array in arrays} & {"float16", "bfloat16", "float32", "float64"}
    dtype = "float64" if "float64" in floats or not floats else "float32"
    results, batches = [], []
    for name, (value, sizes) in arguments.items():
        array = asarray(value, like=like, dtype=dtype, parameter=name)
        batch_ndim = array.ndim - len(sizes)
        shape = tuple(array.shape)
        if batch_ndim < 0 or any(
            allowed and n not in allowed for n, allowed in zip(shape[batch_ndim:], sizes, strict=True)
        ):
            expected = ", ".join(["...", *("|".join(map(str, allowed)) or "P" for allowed in sizes)])
            raise ValueError(f"{name} must have shape [{expected}], got {list(shape)}")
        results.append(array)
        batches.append(shape[:batch_ndim])
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"{', '.join(arguments)} must agree in their batch, got {batches}") from None
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


def require(name: str, array: Any, valid: Any, rule: str) -> None:
    """Raises a ValueError that names the first sample whose flag in `valid` is False. `valid` has the batch's shape.

    Does nothing for device arrays.
    """
    if not is_host(valid):
        return
    flags = valid.reshape(-1).tolist()
    if False in flags:
        sample = flags.index(False)
        value = array.reshape((len(flags), *array.shape[valid.ndim :]))[sample].tolist()
        raise ValueError(f"{name} {rule}, got {reprlib.repr(value)} in sample {sample}")


def _dtype_name(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def relative_error_bound(array: Any) -> float:
    """4 eps of the dtype. Times the sum of the terms' absolute values, it bounds the rounding error of a short sum."""
    return 4 * float(np.finfo(_dtype_name(array)).eps)


def cosine_sine(degrees: Any) -> tuple[Any, Any]:
    """Cosine and sine. On the host, those of multiples of 90 degrees are exactly 0, 1 or -1.

    On a device they are rounded, e.g. 6e-17 instead of 0 in float64: exact ones would take more launches.
    """
    xp, radians = namespace(degrees), degrees * (math.pi / 180)
    cosine, sine = xp.cos(radians), xp.sin(radians)
    if not is_host(degrees) or (degrees % 90).all():
        return cosine, sine
    is_multiple, quarter = degrees % 90 == 0, detach(degrees) % 360 / 90
    # `quarter` is 0, 1, 2 or 3 where it is used. The differences are 0, and have the gradient of cosine and sine.
    exact_cosine = abs(quarter - 2) - 1 + (cosine - detach(cosine))
    exact_sine = 1 - abs(quarter - 1) + (sine - detach(sine))
    return xp.where(is_multiple, exact_cosine, cosine), xp.where(is_multiple, exact_sine, sine)


def rotation_matrix(angle: Any, scale: Any, center: Any) -> Any:
    """`cuaug.get_rotation_matrix`, whose errors name the function that calls it."""
    matrix = scalar_matrices.rotation_matrix(angle, scale, center)
    if matrix is not None:
        return matrix
    angle, scale, center = broadcast_arguments(angle=(angle, NUMBER), scale=(scale, NUMBER), center=(center, PAIR))
    cosine, sine = cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    return linear_to_affine(matrix_2x2(cosine, sine, -sine, cosine), center, center)


def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Any:
    """`cuaug.affine_matrix`, whose errors name the function that calls it."""
    matrix = scalar_matrices.affine_matrix(angle, translate, scale, shear, center)
    if matrix is not None:
        return matrix
    angle, translate, scale, shear, center = broadcast_arguments(
        angle=(angle, NUMBER),
        translate=(translate, PAIR),
        scale=(scale, NUMBER),
        shear=(shear, PAIR),
        center=(center, PAIR),
    )
    require("scale", scale, scale > 0, "must be greater than 0")
    xp, radians = namespace(angle), shear * (math.pi / 180)
    slope_x, slope_y = xp.tan(radians[..., 0]), xp.tan(radians[..., 1])
    cosine, sine = cosine_sine(angle)
    cosine, sine = scale * cosine, scale * sine
    # As in torchvision: rotate(angle) @ shear_y @ shear_x, about a centre that is measured from the image's corner.
    a, c = cosine + sine * slope_y, sine - cosine * slope_y
    b, d = -a * slope_x - sine, cosine - c * slope_x
    return linear_to_affine(matrix_2x2(a, b, c, d), center - 0.5, center - 0.5 + translate)


def matrix_2x2(a: Any, b: Any, c: Any, d: Any) -> Any:
    """[[a, b], [c, d]]."""
    return namespace(a).stack([a, b, c, d], -1).reshape((*a.shape, 2, 2))


def linear_to_affine(linear: Any, start: Any, end: Any) -> Any:
    """The 2x3 matrix with this linear part [..., 2, 2] that maps the point ``start`` to ``end`` [..., 2]."""
    shift = end - (linear * start[..., None, :]).sum(-1)
    return namespace(linear).concatenate([linear, shift[..., None]], -1)


def to_3x3(M: Any) -> Any:
    """Appends the row (0, 0, 1) to a 2x3 matrix."""
    if M.shape[-2] == 3:
        return M
    xp, zero = namespace(M), namespace(M).zeros_like(M[..., :1, 0])
    return xp.concatenate([M, xp.stack([zero, zero, zero + 1], -1)], -2)


def inverse(M: Any) -> Any:
    """The inverse, in the shape of `M`. A singular `M` raises ValueError on the host and gives NaN on a device."""
    xp, full = namespace(M), to_3x3(M)
    cofactor_matrix = cofactors(full)
    terms = full * cofactor_matrix
    determinant, magnitude = terms.sum(-1), abs(terms).sum(-1)
    # The expansion along each row gives the determinant. If one of the three expansions differs from 0 by no more than
    # its rounding error, the matrix counts as singular.
    valid = (abs(determinant) > relative_error_bound(M) * magnitude).all(-1)
    require("M", M, valid, "must not be singular")
    with np.errstate(divide="ignore", invalid="ignore"):
        result = xp.swapaxes(cofactor_matrix, -1, -2) / determinant[..., :1, None]
    return xp.where(valid[..., None, None], result, math.nan)[..., : M.shape[-2], :]


def cofactors(M: Any) -> Any:
    """The cofactor matrix: each row is the cross product of the two rows after it, cyclically."""
    roll = namespace(M).roll
    a, b = roll(M, -1, -2), roll(M, 1, -2)
    return roll(a, -1, -1) * roll(b, 1, -1) - roll(a, 1, -1) * roll(b, -1, -1)


def change_coordinates(M: Any, before: AxisScaling, after: AxisScaling) -> Any:
    """``after @ M @ before``, with `before` and `after` as 3x3 matrices. [..., 3, 3]"""
    stack = namespace(M).stack
    sx, tx, sy, ty = before
    column_x, column_y, column_1 = M[..., 0], M[..., 1], M[..., 2]
    M = stack([column_x * sx, column_y * sy, column_x * tx + column_y * ty + column_1], -1)
    sx, tx, sy, ty = after
    row_x, row_y, row_1 = M[..., 0, :], M[..., 1, :], M[..., 2, :]
    return stack([row_x * sx + row_1 * tx, row_y * sy + row_1 * ty, row_1], -2)
