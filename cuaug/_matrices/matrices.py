"""Matrices of plain numbers, which need no builder, and products of any number of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays import scalar_matrices, small_matrices
from .._arrays.small_matrices import MATRIX
from .._program.records import MAX_BUILDER_INPUTS
from .builders import AFFINE_MATRIX, COMPOSITION, ROTATION_MATRIX


def rotation_matrix(angle: Any, scale: Any, center: Any) -> Any:
    """`cuaug.get_rotation_matrix`, whose errors name the function that calls it."""
    matrix = scalar_matrices.rotation_matrix(angle, scale, center)
    return ROTATION_MATRIX(angle=angle, scale=scale, center=center) if matrix is None else matrix


def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Any:
    """`cuaug.affine_matrix`, whose errors name the function that calls it."""
    matrix = scalar_matrices.affine_matrix(angle, translate, scale, shear, center)
    if matrix is not None:
        return matrix
    return AFFINE_MATRIX(angle=angle, translate=translate, scale=scale, shear=shear, center=center)


def composition(maps: Sequence[Any]) -> Any:
    """`cuaug.compose_affine`: a builder multiplies up to five matrices, so more take several calls."""
    values = {f"M[{i}]": matrix for i, matrix in enumerate(maps)}
    names = list(values)
    if len(names) > MAX_BUILDER_INPUTS:  # in the result's dtype: that of a product must not depend on its own matrices
        arrays = small_matrices.broadcast_arguments(**{name: (matrix, MATRIX) for name, matrix in values.items()})
        values = dict(zip(names, arrays, strict=True))
    while len(names) > MAX_BUILDER_INPUTS:
        head, names = names[:MAX_BUILDER_INPUTS], names[MAX_BUILDER_INPUTS - 1 :]
        values[names[0]] = COMPOSITION(**{name: values[name] for name in head})
    return COMPOSITION(**{name: values[name] for name in names})
