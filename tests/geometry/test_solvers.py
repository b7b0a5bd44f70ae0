"""Matrices estimated from points, against OpenCV, scikit-image and float64 NumPy."""

import cv2
import numpy as np
import pytest
import skimage.transform
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.matrices import FLOAT64, LIBRARIES, batches, fixed_settings, move, numbers, put
from hypothesis import given
from hypothesis import strategies as st

from cuaug.fit import estimate_affine, get_affine_transform, get_perspective_transform
from cuaug.geometry import get_rotation_matrix, transform_points

SOLVER = Tolerance(
    absolute=1e-6, relative=1e-8, reason="sums in another order; OpenCV solves about the origin, cuaug about the centre"
)


def same_length(src, dst):
    """The first samples of both batches, as many as both have."""
    count = min(len(src), len(dst))
    return src[:count], dst[:count]


@fixed_settings()
@given(batches(3), batches(3))
def test_get_affine_transform_equals_opencv(src, dst):
    src, dst = same_length(src, dst)
    expected = np.stack(
        [cv2.getAffineTransform(*pair) for pair in zip(src.astype("f4"), dst.astype("f4"), strict=True)]
    )
    assert_equal(get_affine_transform(src, dst), expected, tolerance=SOLVER)
    assert_equal(transform_points(src, get_affine_transform(src, dst)), dst, tolerance=FLOAT64)


@fixed_settings()
@given(batches(4), batches(4))
def test_get_perspective_transform_maps_corners(src, dst):
    src, dst = same_length(src, dst)
    M = get_perspective_transform(src, dst)
    assert_equal(transform_points(src, M), dst, tolerance=Tolerance(1e-5, reason="horizons close to the origin"))


@fixed_settings()
@given(batches(4, max_offset=100), batches(4, max_offset=100))
def test_get_perspective_transform_equals_opencv(src, dst):
    src, dst = same_length(src, dst)
    for sample, a, b in zip(get_perspective_transform(src, dst), src.astype("f4"), dst.astype("f4"), strict=True):
        expected = move((a + a.mean(0)) / 2, cv2.getPerspectiveTransform(a, b))
        assert_equal(
            move((a + a.mean(0)) / 2, sample), expected, tolerance=Tolerance(1e-5, reason="OpenCV's 8x8 solver")
        )


def test_get_perspective_transform_last_entry_is_one():
    src = np.array([(10, 10), (200, 20), (190, 180), (15, 170)], np.float64)
    dst = np.array([(0, 0), (224, 0), (224, 224), (0, 224)], np.float64)
    expected = cv2.getPerspectiveTransform(src.astype("f4"), dst.astype("f4"))
    assert_equal(get_perspective_transform(src, dst), expected, tolerance=FLOAT64)


def test_get_perspective_transform_origin_on_horizon():
    # x' = (x + 1) / x, y' = y / x: the last entry is exactly 0, so no division can make it 1.
    src = np.array([(2, -1), (8, -2), (8, 2), (2, 1)], np.float64)
    expected = np.array([(1, 0, 1), (0, 1, 0), (1, 0, 0)])
    M = get_perspective_transform(src, move(src, expected))
    assert M[2, 2] == 0
    probe = np.array([(1.5, 0.5), (4, 3)])
    assert_equal(transform_points(probe, M), move(probe, expected), tolerance=FLOAT64)


KINDS = ["affine", "similarity", "rigid"]


def least_squares(src, dst, kind):
    """Least squares in float64. Not scikit-image's affine estimate, which is *total* least squares. [P, 2] to [2, 3]"""
    if kind != "affine":
        transforms = {
            "similarity": skimage.transform.SimilarityTransform,
            "rigid": skimage.transform.EuclideanTransform,
        }
        return transforms[kind].from_estimate(src, dst).params[:2]
    center = src.mean(0)  # relative to the origin, lstsq would be less accurate than cuaug
    solved = np.linalg.lstsq(np.column_stack([src - center, np.ones(len(src))]), dst, rcond=None)[0].T
    return np.column_stack([solved[:, :2], solved[:, 2] - solved[:, :2] @ center])


@pytest.mark.parametrize("kind", KINDS)
@fixed_settings()
@given(batches(5), batches(5))
def test_estimate_affine_is_least_squares(kind, src, dst):
    src, dst = same_length(src, dst)
    expected = np.stack([least_squares(*pair, kind) for pair in zip(src, dst, strict=True)])
    assert_equal(estimate_affine(src, dst, kind), expected, tolerance=SOLVER)


@pytest.mark.parametrize("kind", KINDS)
def test_estimate_affine_weights_are_repetitions(kind):
    rng = np.random.default_rng(0)
    src, dst, times = rng.uniform(0, 99, (6, 2)), rng.uniform(0, 99, (6, 2)), np.array([1, 3, 0, 2, 1, 1])
    expected = least_squares(np.repeat(src, times, 0), np.repeat(dst, times, 0), kind)
    assert_equal(estimate_affine(src, dst, kind, weights=times), expected, tolerance=FLOAT64)


@pytest.mark.parametrize("kind", ["similarity", "rigid"])
def test_estimate_affine_never_reflects(kind):
    src = np.array([(0, 0), (9, 1), (8, 7), (-1, 4)], np.float64)
    dst = src * (-1, 1) + (50, 3)
    M = estimate_affine(src, dst, kind)
    assert np.linalg.det(M[:, :2]) > 0
    assert_equal(M, least_squares(src, dst, kind), tolerance=FLOAT64)


@pytest.mark.parametrize("kind", ["similarity", "rigid"])
def test_estimate_affine_maps_two_points(kind):
    src, dst = np.array([(1, 1), (3, 1)], np.float64), np.array([(5, 5), (5, 7)], np.float64)
    assert_equal(transform_points(src, estimate_affine(src, dst, kind)), dst, tolerance=FLOAT64)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 5, 68, 20000])
def test_estimate_affine_float32_far_from_origin(library, kind, count):
    rng = np.random.default_rng(count)
    face = np.array([(-20, -18), (21, -17), (1, 2), (-16, 22), (17, 21)], np.float64)
    face = face[:count] if count <= 5 else np.vstack([face, rng.uniform(-25, 25, (count - 5, 2))])
    src = (face + rng.normal(0, 2, (8, count, 2)) + 3000).astype("f4")
    dst = (face * 1.7 @ [[0.6, 0.8], [-0.8, 0.6]] + rng.normal(0, 1, (8, count, 2)) + 2900).astype("f4")
    M = estimate_affine(put(src, library, "float32"), put(dst, library, "float32"), kind)
    assert str(M.dtype).endswith("float32")
    src, dst = src.astype(np.float64), dst.astype(np.float64)
    expected = np.stack([least_squares(*pair, kind) for pair in zip(src, dst, strict=True)])
    error = np.abs(move(src, to_numpy(M)) - move(src, expected))
    assert error.max() < 0.01, f"{error.max():.4f} px"


def test_get_perspective_transform_float32_far_from_origin():
    rng = np.random.default_rng(0)
    quad = np.array([(0, 0), (400, 0), (400, 400), (0, 400)])
    src, dst = ((quad + rng.uniform(-40, 40, (500, 4, 2)) + 2800).astype("f4") for _ in range(2))
    error = np.abs(move(src, get_perspective_transform(src, dst)) - dst)
    assert error.max() < 0.01, f"{error.max():.4f} px"


@fixed_settings()
@given(numbers(-720, 720), numbers(0.1, 10), numbers(-4000, 4000), numbers(-4000, 4000))
def test_get_rotation_matrix_equals_opencv(angle, scale, x, y):
    center = float(np.float32(x)), float(np.float32(y))  # OpenCV's point is float32
    expected = cv2.getRotationMatrix2D(center, angle, scale)
    assert_equal(get_rotation_matrix(angle, scale, center), expected, tolerance=FLOAT64)


@pytest.mark.parametrize("kind", KINDS)
@fixed_settings()
@given(batches(7), batches(7), st.permutations(range(7)))
def test_estimate_affine_ignores_point_order(kind, src, dst, order):
    src, dst = same_length(src, dst)
    permuted = estimate_affine(src[:, order], dst[:, order], kind)
    assert_equal(permuted, estimate_affine(src, dst, kind), tolerance=FLOAT64)


@fixed_settings()
@given(batches(4), batches(4), st.permutations(range(4)))
def test_get_perspective_transform_ignores_corner_order(src, dst, order):
    src, dst = same_length(src, dst)
    M, permuted = get_perspective_transform(src, dst), get_perspective_transform(src[:, order], dst[:, order])
    assert_equal(
        transform_points(src, permuted),
        transform_points(src, M),
        tolerance=Tolerance(1e-5, reason="horizons close to the origin"),
    )


def test_error_of_a_sample_in_a_batch_of_several_axes():
    src = np.array([[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]])
    dst = np.ones((2, 3, 3, 2)) * [1, 2]
    with pytest.raises(ValueError, match=r"src must not be collinear or coincident, got .*2.* in sample 2"):
        get_affine_transform(src, dst)
    with pytest.raises(ValueError, match=r"src must not be collinear or coincident, got .*2.* in sample 2"):
        get_affine_transform(put(src, "torch"), put(dst, "torch"))
