"""`LinearTransformation`: a matrix times all values of an image, as for whitening."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._arrays import convert, small_matrices
from .._arrays.pillow_library import PILLOW
from .._arrays.registry import library_of
from .._arrays.tv_tensors import without_type, wrap_like
from ..typing import AnyArray
from .transform import Transform

__all__ = ["LinearTransformation"]


class LinearTransformation(Transform):
    """Subtract a vector from the flattened image, and multiply by a matrix; D is the number of an image's values.

    The values are flattened in the order of the image's axes. The result has the wider float dtype of the image and the
    matrix (an integer dtype does not count); float32 if both hold integers. Lists, also those of ``to_dict``, are
    float32.

    Args:
        transformation_matrix: [D, D]
        mean_vector: [D]
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images",)

    def __init__(self, transformation_matrix: AnyArray, mean_vector: AnyArray) -> None:
        matrix, mean = (_array(value) for value in (transformation_matrix, mean_vector))
        shape, mean_shape = tuple(matrix.shape), tuple(mean.shape)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"transformation_matrix must be square, got shape {shape}")
        if mean_shape != shape[:1]:
            raise ValueError(f"mean_vector must have shape {shape[:1]}, as the matrix, got {mean_shape}")
        self.transformation_matrix: Any = matrix
        self.mean_vector: Any = mean

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if library_of(type(inpt)) is PILLOW:
            raise TypeError("images must be arrays, got an image of Pillow: put ToImage or ToTensor before")
        images = without_type(inpt)
        shape, size = tuple(images.shape), int(self.mean_vector.shape[0])
        if len(shape) < 2 or int(np.prod(shape[-3:])) != size:
            raise ValueError(f"images must have {size} values each, as many as the matrix has rows, got shape {shape}")
        dtype = _float_dtype(images, self.transformation_matrix)
        matrix, mean, values = (
            convert.asarray(value, like=images, dtype=dtype)
            for value in (self.transformation_matrix, self.mean_vector, images)
        )
        return wrap_like(((values.reshape(-1, size) - mean) @ matrix).reshape(shape), inpt)


def _array(value: Any) -> Any:
    """An array, also from the lists of a description."""
    return np.asarray(value, np.float32) if library_of(type(value)) is None else value


def _float_dtype(images: Any, matrix: Any) -> str:
    names = {small_matrices.float_name(array.dtype) for array in (images, matrix)} - {None}
    (name,) = names if len(names) == 1 else ("float64" if "float64" in names else "float32",)
    return str(name)
