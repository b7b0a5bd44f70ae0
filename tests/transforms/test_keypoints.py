"""Keypoints follow their images: against float64 NumPy, point by point."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.arrays import device_of, every_backend_slow_on_jax, put
from helpers.compare import EXACT, assert_equal, to_numpy
from helpers.targets import (
    EYE,
    FLIP_PAIRS,
    FLOAT32,
    HFLIP,
    OUT_SIZE,
    SIZE,
    Keypoints,
    maps,
    move_keypoints,
    moves_to,
    opencv_points,
    some_points,
)
from hypothesis import given
from hypothesis import strategies as st

from cuaug.transforms.point_map import groups_of_kind


def expected_points(points, M, out_size=OUT_SIZE, pairs=(), hide=True, rounded=False):
    """Transformed points in float64. [N, P, 2 or 3]"""
    result = np.array(points, np.float64)
    for n, m in enumerate(M):
        middle = np.linalg.solve(m, [(out_size[1] - 1) / 2, (out_size[0] - 1) / 2, 1])
        middle = middle[:2] / middle[2]
        origin, right, below = opencv_points(middle + np.array([(0, 0), (1e-3, 0), (0, 1e-3)]), m)
        mirrored = np.linalg.det(np.stack([right - origin, below - origin], -1)) < 0
        sample = np.array(points[n], np.float64)
        for left, right in pairs if mirrored else ():
            sample[[left, right]] = sample[[right, left]]
        result[n] = sample
        result[n, :, :2] = opencv_points(sample[:, :2], m)
        if sample.shape[-1] == 3:
            for point in result[n]:
                inside = -0.5 <= point[0] < out_size[1] - 0.5 and -0.5 <= point[1] < out_size[0] - 0.5
                point[2] *= inside or not hide
                point[:2] *= point[2] > 0
    return np.rint(result) if rounded else result


@every_backend_slow_on_jax
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("with_visibility", [False, True], ids=["xy", "xyv"])
@pytest.mark.parametrize("options", [Keypoints(FLIP_PAIRS), Keypoints(), Keypoints(FLIP_PAIRS, hide_outside=False)])
def test_keypoints_move_swap_and_hide(backend, dtype, with_visibility, options):
    M, rounded = maps(6).astype("f4"), "int" in dtype
    source = some_points((6, 7), with_visibility)
    source = (np.rint(source) if rounded else source).astype(dtype)
    moved = move_keypoints(put(source, backend), put(M, backend), OUT_SIZE, options)
    expected = expected_points(source, M.astype(float), OUT_SIZE, options.flip_pairs, options.hide_outside, rounded)
    if with_visibility and options.hide_outside:
        assert 0 < (expected[..., 2] > 0).mean() < (source[..., 2] > 0).mean()
    kind = {"library": backend[0], "device": device_of(backend)}
    assert_equal(moved, expected, dtype=dtype, tolerance=EXACT if rounded else FLOAT32, **kind)


@every_backend_slow_on_jax
def test_keypoints_of_ragged_lists_equal_reference(backend):
    M, counts = maps(4).astype("f4"), [2, 0, 1, 3]
    M[2:] = M[:1] @ np.diag([1, -1, 1]).astype("f4")  # mirrored exactly if sample 0 is not
    ragged = [some_points((n, 7), seed=n).astype("f4") for n in counts]
    moved = move_keypoints(
        [put(points_of_sample, backend) for points_of_sample in ragged],
        put(M, backend),
        OUT_SIZE,
        Keypoints(FLIP_PAIRS),
    )
    for i, points_of_sample in enumerate(ragged):
        expected = expected_points(
            points_of_sample, np.repeat(M[i : i + 1].astype(float), len(points_of_sample), 0), pairs=FLIP_PAIRS
        )
        kind = {"library": backend[0], "device": device_of(backend)}
        assert_equal(moved[i], expected.reshape(points_of_sample.shape), dtype="float32", tolerance=FLOAT32, **kind)


@every_backend_slow_on_jax
def test_keypoints_instance_axes_are_kept(backend):
    M, source = maps(3).astype("f4"), some_points((3, 2, 7)).astype("f4")
    moved = move_keypoints(put(source, backend), put(M, backend), OUT_SIZE, Keypoints(FLIP_PAIRS))
    expected = expected_points(source.reshape(6, 7, 3), np.repeat(M.astype(float), 2, 0), pairs=FLIP_PAIRS).reshape(
        source.shape
    )
    assert_equal(to_numpy(moved), expected.astype("f4"), tolerance=FLOAT32)


@every_backend_slow_on_jax
def test_keypoints_canvas_per_sample(backend):
    M, sizes = maps(3).astype("f4"), [(160, 240), (80, 300), (150, 90)]
    source = some_points((3, 7)).astype("f4")
    expected = [expected_points(source[i : i + 1], M[i : i + 1].astype(float), sizes[i], FLIP_PAIRS) for i in range(3)]
    moved = move_keypoints(put(source, backend), put(M, backend), np.array(sizes), Keypoints(FLIP_PAIRS))
    assert_equal(to_numpy(moved).astype(float), np.concatenate(expected), tolerance=FLOAT32)


@given(st.lists(st.tuples(st.integers(0, 299), st.integers(0, 199)), min_size=6, max_size=6), st.booleans())
def test_keypoints_identity_and_double_flip(points, flip):
    source, M = np.array([points], float), HFLIP if flip else EYE
    once = move_keypoints(source, M[None], SIZE, Keypoints(FLIP_PAIRS))
    assert_equal(move_keypoints(once, M[None], SIZE, Keypoints(FLIP_PAIRS)), source)
    expected = source[:, [0, 2, 1, 5, 4, 3]] * (-1, 1) + (299, 0) if flip else source
    assert_equal(once, expected)


@pytest.mark.parametrize(
    ("M", "mirrored"),
    [
        (HFLIP, True),
        (np.diag([1.0, -1, 1]), True),
        (np.diag([-1.0, -1, 1]), False),  # half a turn
        (np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]]), True),  # a transpose
        (np.array([[0.0, 1, 0], [-1, 0, 99], [0, 0, 1]]), False),  # a quarter turn
        (-HFLIP, True),  # the same map as HFLIP
        (-EYE, False),
        (np.array([[1.0, 0, 0], [0, 1, 0], [1e-3, 1e-3, 1]]), False),
        (HFLIP @ np.array([[1.0, 0, 0], [0, 1, 0], [1e-3, 1e-3, 1]]), True),
    ],
)
def test_keypoints_swap_only_under_mirrors(M, mirrored):
    source = np.array([[(10, 10, 1), (10, 10, 2.0)]])
    moved = move_keypoints(source, M[None], (500, 500), Keypoints([(0, 1)], hide_outside=False))
    assert moved[0, :, 2].tolist() == ([2, 1] if mirrored else [1, 2])


def test_keypoints_beyond_horizon_or_missing():
    tilt = np.array([[[1.0, 0, 0], [0, 1, 0], [-0.01, 0, 1]]])
    source = np.array([[(50, 20), (100, 20), (150, 20), (math.nan, 3), (3, math.inf)]])
    assert_equal(move_keypoints(source, tilt, SIZE, Keypoints()), np.array([[(100, 40)] + [(math.nan,) * 2] * 4]))
    rounded = move_keypoints(source[:, :3].astype(int), tilt, SIZE, Keypoints())
    assert rounded.tolist() == [[[100, 40], [0, 0], [0, 0]]]
    seen = np.concatenate([source, np.full((1, 5, 1), 2.0)], -1)
    for options in (Keypoints(), Keypoints(hide_outside=False)):
        assert move_keypoints(seen, tilt, SIZE, options).tolist() == [[[100, 40, 2]] + [[0, 0, 0]] * 4]


@every_backend_slow_on_jax
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_keypoints_integers_saturate(backend, dtype):
    M = np.array([[[1e9, 0, 0], [0, -1e9, 0], [0, 0, 1]]], "f4")
    # cuaug clips integers to 2**30: the sides of images are below it, and float32 holds it exactly.
    high = 2**15 - 1 if dtype == "int16" else 2**30
    low = -(2**15) if dtype == "int16" else -(2**30)
    moved = move_keypoints(put(np.array([[(9, 9)]], dtype), backend), put(M, backend), SIZE, Keypoints())
    assert to_numpy(moved).tolist() == [[[high, low]]]


def test_keypoints_pixel_belongs_to_canvas():
    edge = [(-0.5, 0), (-0.51, 0), (299.49, 0), (299.5, 0), (0, -0.5), (0, -0.51), (0, 199.49), (0, 199.5)]
    source = np.array([[(*point, 2) for point in edge]])
    moved = move_keypoints(source, EYE[None], SIZE, Keypoints())
    assert moved[0, :, 2].tolist() == [2, 0, 2, 0] * 2


class CupyLikeDevice:
    """CuPy's devices can be compared and printed, and have no hash."""

    __hash__ = None

    def __init__(self, index):
        self.index = index

    def __eq__(self, other):
        return self.index == other.index

    def __str__(self):
        return f"<CUDA Device {self.index}>"


def test_points_of_a_list_are_grouped_by_devices_without_hash():
    samples = [SimpleNamespace(dtype="float32", device=CupyLikeDevice(index)) for index in (0, 0, 1)]
    groups = groups_of_kind(samples, moves_to(maps(3), OUT_SIZE))
    assert [indices for indices, _ in groups] == [[0, 1], [2]]
