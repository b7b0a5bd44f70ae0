"""Products of more matrices than one builder takes."""

import numpy as np
import pytest
from helpers.arrays import seeded
from helpers.compare import Tolerance, assert_equal

import cuaug

ROUNDING = Tolerance(absolute=1e-9, relative=1e-11, reason="float64 sums in another order")


@pytest.mark.parametrize("count", [1, 4, 5, 6, 9, 10, 14])
def test_compose_affine_multiplies_any_number_of_matrices(count):
    maps = seeded("products").normal(0, 1, (count, 7, 2, 3))
    expected = np.eye(3)
    for matrix in maps:
        row = np.broadcast_to([[[0, 0, 1.0]]], (7, 1, 3))
        expected = np.concatenate([matrix, row], 1) @ expected
    assert_equal(cuaug.compose_affine(*maps), expected[:, :2], tolerance=ROUNDING)


def test_compose_affine_names_the_matrix_that_is_not_finite():
    maps = [np.eye(2, 3)] * 9
    maps[7] = np.full((2, 3), np.nan)
    with pytest.raises(ValueError, match=r"compose_affine: M\[7\] must be finite"):
        cuaug.compose_affine(*maps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compose_affine_of_many_matrices_has_the_precision_of_its_arrays(dtype):
    """Integer matrices do not decide the result's dtype; a float64 matrix, first or last, makes it float64."""
    rng = seeded("products")
    maps = [rng.integers(-3, 4, (2, 3)), *(rng.normal(0, 1, (7, 2, 3)).astype("f4") for _ in range(5))]
    maps += [rng.integers(-3, 4, (2, 3)) for _ in range(6)] + [rng.normal(0, 1, (2, 3)).astype(dtype)]
    for order in (maps, maps[::-1]):
        product = cuaug.compose_affine(*order)
        assert product.dtype == dtype
        exact = cuaug.compose_affine(*(matrix.astype("f8") for matrix in order))
        assert_equal(
            product.astype("f8"),
            exact,
            tolerance=ROUNDING
            if dtype == np.float64
            else Tolerance(absolute=2e-5, relative=2e-5, reason="a float32 result, rounded once"),
        )
