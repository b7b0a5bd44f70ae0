"""`LinearTransformation`: dtypes, and images without a channel axis. test_sample_transforms.py has the other tests."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise

from cuaug import transforms as T


@pytest.mark.parametrize("matrix_type", [np.asarray, torch.from_numpy])
@pytest.mark.parametrize(
    ("matrix_dtype", "image_dtype", "expected"),
    [
        ("float32", "uint8", "float32"),
        ("float64", "uint8", "float64"),
        ("float32", "float64", "float64"),
        ("float64", "float32", "float64"),
        ("float16", "float32", "float32"),
        ("float16", "float16", "float16"),
        ("int64", "uint8", "float32"),
        ("int64", "float32", "float32"),
        ("bool", "float32", "float32"),
        ("bool", "uint8", "float32"),
    ],
)
def test_linear_transformation_computes_in_the_wider_float_dtype(matrix_type, matrix_dtype, image_dtype, expected):
    image = noise((2, 2, 3), image_dtype)
    matrix, mean = matrix_type(np.eye(12).astype(matrix_dtype)), matrix_type(np.zeros(12, matrix_dtype))
    for given in (image, torch.from_numpy(image)):
        result = T.LinearTransformation(matrix, mean)(given)
        assert type(result) is type(given)
        assert str(result.dtype).rpartition(".")[2] == expected
        assert np.array_equal(np.asarray(result), image.astype(expected))


@pytest.mark.parametrize(
    "call", [T.LinearTransformation, lambda *matrices: T.Compose([T.LinearTransformation(*matrices)])]
)
def test_linear_transformation_of_images_without_a_channel_axis(call):
    image, matrix, mean = noise((3, 4)), 2 * np.eye(12), np.arange(12)
    expected = (image - mean.reshape(3, 4)) * 2.0
    whiten = call(matrix, mean)
    np.testing.assert_array_equal(whiten(image), expected)
    np.testing.assert_array_equal(whiten([image, image]), [expected, expected])
    with pytest.raises(ValueError, match=r"images must have 12 values each, as many as the matrix has rows, got shape"):
        whiten(noise((3, 5)))
