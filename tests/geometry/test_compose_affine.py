"""Products of more matrices than one builder takes."""

import numpy as np
import pytest
from helpers.arrays import seeded
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.matrices import LIBRARIES, put

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


def test_compose_affine_of_many_matrices_may_overflow():
    """A product is not a matrix of the user, so it is not refused if it is not finite."""
    for count in (5, 6, 10):
        product = cuaug.compose_affine(*[[(1e100, 0, 0), (0, 1e100, 0)]] * count)
        assert not np.isfinite(product[:, :2]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compose_affine_of_many_matrices_has_the_precision_of_its_arrays(dtype):
    """Integer matrices do not decide the result's dtype; a float64 matrix, first or last, makes it float64."""
    rng = seeded("products")
    maps = [rng.integers(-3, 4, (2, 3)), *(rng.normal(0, 1, (7, 2, 3)).astype("f4") for _ in range(5))]
    maps += [rng.integers(-3, 4, (2, 3)) for _ in range(6)] + [rng.normal(0, 1, (2, 3)).astype(dtype)]
    for order in (maps, maps[::-1]):
        product = cuaug.compose_affine(*order)
        exact = cuaug.compose_affine(*(matrix.astype("f8") for matrix in order))
        assert_equal(product, exact.astype(dtype))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("position", [0, 3, 7])
def test_compose_affine_of_many_matrices_is_rounded_once(library, position):
    """One matrix is an array, the others are lists: the result has the array's library and dtype at every position."""
    maps = list(seeded("products").normal(0, 9, (8, 2, 3)))
    maps[position] = np.stack([maps[position]] * 4).astype("f4")
    exact = cuaug.compose_affine(*(matrix.astype("f8") for matrix in maps))
    arguments = [matrix.tolist() for matrix in maps]
    arguments[position] = put(maps[position], library, "float32")
    device = "cuda:0" if library in ("cuda", "cupy") else "cpu"
    expected_library = "torch" if library == "cuda" else library
    by_gpu = Tolerance(relative=1.2e-7, reason="float64 sums in another order on a GPU, rounded once to float32")
    assert_equal(
        cuaug.compose_affine(*arguments),
        exact.astype("f4"),
        library=expected_library,
        device=device,
        dtype="float32",
        tolerance=EXACT if device == "cpu" else by_gpu,
    )


def test_compose_affine_of_many_matrices_has_gradients():
    torch = pytest.importorskip("torch")
    maps = [torch.tensor(matrix) for matrix in seeded("products").normal(0, 1, (11, 2, 3)).astype("f4")]
    expected = cuaug.compose_affine(*maps)
    tolerance = Tolerance(absolute=1e-4, relative=1e-4, reason="the formula computes in the dtype of its tensors")
    maps[6].requires_grad_()
    product = cuaug.compose_affine(*maps)
    assert product.requires_grad
    assert_equal(product.detach(), expected, tolerance=tolerance)
