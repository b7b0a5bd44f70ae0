"""Matrices of plain numbers, which need no builder, and products of any number of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays import autograd, scalar_matrices
from .._arrays.small_matrices import MATRIX
from .._program.records import MAX_BUILDER_INPUTS
from .builders import AFFINE_MATRIX, COMPOSITION, ROTATION_MATRIX
from .inputs import Domain, describe_inputs, result_input


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
    if len(maps) <= MAX_BUILDER_INPUTS or autograd.needs_torch_ops(*maps):
        return COMPOSITION(**values)  # the formula multiplies any number of matrices
    inputs = describe_inputs(values, (Domain(MATRIX),) * len(maps))
    while len(inputs.numbers) > MAX_BUILDER_INPUTS:
        head, tail = inputs.numbers[:MAX_BUILDER_INPUTS], inputs.numbers[MAX_BUILDER_INPUTS:]
        product = COMPOSITION.result(inputs.for_intermediate(head))
        inputs = inputs._replace(numbers=[result_input(product, inputs.batch), *tail])
    return COMPOSITION.result(inputs)
