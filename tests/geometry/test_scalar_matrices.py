"""Matrices of plain numbers have the bits, the dtype and the errors of matrices of arrays."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise, seeded

import cuaug
from cuaug._arrays import scalar_matrices, small_matrices
from cuaug._passes import parameters

IMAGES = noise((9, 11, 3))
ANGLES = [0, 90, -90, 180, 270.0, 450, 1e-9, 33.3, -721.5, 1e6, 90.0 + 1e-10]


def random_arguments(rng):
    """Angle, translation, scale, shear and centre as plain numbers."""
    angle = float(rng.choice(ANGLES)) if rng.random() < 0.5 else float(rng.uniform(-400, 400))
    pairs = [tuple(rng.uniform(-60, 60, 2).tolist()) for _ in range(3)]
    return angle, pairs[0], float(rng.uniform(0.1, 4)), pairs[1], list(pairs[2])


def test_matrix_of_plain_numbers_has_bits_of_matrix_of_arrays():
    rng = seeded("scalar matrices")
    for _ in range(500):
        angle, translate, scale, shear, center = random_arguments(rng)
        arrays = [np.array(value) for value in (angle, translate, scale, shear, center)]
        for plain, expected in (
            (scalar_matrices.affine_matrix(angle, translate, scale, shear, center), cuaug.affine_matrix(*arrays)),
            (
                scalar_matrices.rotation_matrix(angle, scale, center),
                cuaug.get_rotation_matrix(arrays[0], arrays[2], arrays[4]),
            ),
        ):
            assert plain is not None
            assert (plain.dtype, plain.shape) == (expected.dtype, expected.shape)
            assert plain.tobytes() == expected.tobytes(), (angle, translate, scale, shear, center)


def test_public_matrix_functions_take_plain_numbers(monkeypatch):
    monkeypatch.setattr(
        small_matrices, "broadcast_arguments", lambda *_, **__: pytest.fail("the path of arrays was taken")
    )
    assert np.array_equal(cuaug.get_rotation_matrix(90, center=(2, 0)), [[0, 1, 2], [-1, 0, 2]])
    assert np.array_equal(cuaug.affine_matrix(90, (0, 0), 1, (0, 0), (2, 2)), [[0, -1, 3], [1, 0, 0]])


@pytest.mark.parametrize("rows", [2, 3])
def test_entries_of_plain_matrix_are_those_of_array(rows):
    entries_of = scalar_matrices.affine_entries if rows == 2 else scalar_matrices.perspective_entries
    rng = seeded("scalar matrices")
    for _ in range(200):
        matrix = rng.normal(0, 10.0 ** rng.integers(-3, 4), (rows, 3))
        expected = tuple(matrix.ravel().tolist())
        for value in (matrix, matrix.tolist(), tuple(map(tuple, matrix.tolist()))):
            assert entries_of(value) == expected
        assert entries_of(matrix.astype(np.float32)) == tuple(matrix.astype(np.float32).ravel().tolist())
    assert scalar_matrices.affine_entries([[1, 0, 2], [0, 1, 3], [0, 0, 1]]) == (1.0, 0.0, 2.0, 0.0, 1.0, 3.0)


REJECTED = {  # `affine_entries` returns None; the code for arrays then raises, or accepts the batch
    "not finite": [[1, 0, np.nan], [0, 1, 0]],
    "singular": [[1, 2, 0], [2, 4, 0]],
    "determinant without inverse": [[1e-160, 0, 0], [0, 1e-160, 0]],
    "another last row": [[1, 0, 0], [0, 1, 0], [0, 0, 2]],
    "text": [["1", 0, 0], [0, 1, 0]],
    "flags": [[True, False, False], [False, True, False]],
    "one row": [[1, 0, 0]],
    "rows of two": [[1, 0], [0, 1]],
    "numbers": [1, 0, 0],
    "beyond float64": [[10**400, 0, 0], [0, 1, 0]],
    "complex": np.eye(3) + 0j,
    "a batch": np.eye(3)[None],
}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="longdouble is float64")
@pytest.mark.parametrize("warp", [cuaug.warp_affine, cuaug.warp_perspective])
def test_longdouble_matrix_is_checked_as_float64(warp):
    singular = np.array([[1, 1, 0], [1, 1 + np.longdouble(2) ** -60, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="M must be invertible"):
        warp(IMAGES, singular)


@pytest.mark.parametrize("name", REJECTED)
def test_affine_entries_are_none_for_rejected_values(name):
    assert scalar_matrices.affine_entries(REJECTED[name]) is None


@pytest.mark.parametrize("name", ["not finite", "singular", "determinant without inverse", "another last row"])
@pytest.mark.parametrize("as_array", [False, True])
def test_warp_refuses_invalid_matrix(name, as_array):
    value = np.array(REJECTED[name], np.float64) if as_array else REJECTED[name]
    with pytest.raises(ValueError, match=r"^cuaug.warp_affine: M must be (finite|invertible|affine, with)"):
        cuaug.warp_affine(IMAGES, value)


def test_large_entries_whose_sum_overflows_are_accepted():
    matrix = [[1.0, 0.0, 1e308], [0.0, 1.0, 1e308]]
    assert scalar_matrices.affine_entries(matrix) is None
    assert np.array_equal(cuaug.warp_affine(IMAGES, matrix, fill=7), np.full_like(IMAGES, 7))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, (0, 0), 1, (0, 0), (2, 2)), "angle must be finite"),
        ((0, (0, 0), 0, (0, 0), (2, 2)), "scale must be greater than 0"),
        ((0, (0, 0), -1.5, (0, 0), (2, 2)), "scale must be greater than 0"),
        ((0, (0, np.inf), 1, (0, 0), (2, 2)), "translate must be finite"),
        ((0, (0, 0, 0), 1, (0, 0), (2, 2)), "translate must have shape"),
        (("5", (0, 0), 1, (0, 0), (2, 2)), "angle must hold numbers"),
    ],
)
def test_invalid_plain_numbers_are_refused(arguments, message):
    assert scalar_matrices.affine_matrix(*arguments) is None
    with pytest.raises((ValueError, TypeError), match=message):
        cuaug.affine_matrix(*arguments)


def test_rotation_by_plain_angle_equals_rotation_by_array():
    rng = seeded("scalar matrices")
    for angle in [*ANGLES, *rng.uniform(-400, 400, 20).tolist()]:
        expected = cuaug.rotate(IMAGES, np.array([angle]), "bilinear")
        assert np.array_equal(cuaug.rotate(IMAGES, angle, "bilinear"), expected), angle
        about_center = cuaug.rotate(IMAGES, np.array([angle]), "bilinear", center=np.array([2.0, 3.0]))
        assert np.array_equal(cuaug.rotate(IMAGES, angle, "bilinear", center=[2.0, 3.0]), about_center), angle


def test_affine_entries_are_stored_in_the_record():
    image = cuaug._arrays.images.describe_images(IMAGES)
    for value in ([[1, 0, 0], [0, 1, 0]], np.eye(3), np.eye(3)[:2].astype(np.float32)):
        matrix = parameters.matrices("M", value, image, rows=2)
        assert matrix.table is parameters.NULL_ARRAY
        assert matrix.inline == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dynamo")  # Dynamo warns of functions of the extension
@pytest.mark.parametrize("dynamic", [None, True])
def test_rotate_in_torch_compile_with_many_sizes_and_angles(dynamic):
    """torch.compile traces functions of scalar_matrices.py with symbolic numbers."""
    torch.compiler.reset()
    rotate = torch.compile(lambda image, angle: cuaug.rotate(image, angle), backend="eager", dynamic=dynamic)
    for i in range(6):
        image, angle = torch.from_numpy(noise((3, 10 + i, 20 + 2 * i))), 37.25 * i - 100
        difference = (rotate(image, angle).int() - cuaug.rotate(image, angle).int()).abs()
        assert (difference > 0).float().mean() < 0.01  # a rounding error of the matrix may move a pixel
