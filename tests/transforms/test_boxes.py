"""Boxes follow their images: against OpenCV, kornia, and float64 NumPy, box by box."""

import math

import cv2
import numpy as np
import pytest
import torch
from helpers.arrays import device_of, every_backend, every_backend_slow_on_jax, put, seeded
from helpers.compare import EXACT, assert_equal, to_numpy
from helpers.targets import (
    EYE,
    FLOAT32,
    FLOAT64,
    HFLIP,
    OUT_SIZE,
    SIZE,
    Boxes,
    Keypoints,
    formatted,
    left_top_width_height,
    maps,
    move_boxes,
    move_keypoints,
    opencv_points,
    some_boxes,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cuaug._arrays import convert
from cuaug.transforms import boxes as boxes_module


def box_edges(box, format):
    a, b, c, d = box
    return {
        "XYXY": (a, b, c, d),
        "XYWH": (a, b, a + c, b + d),
        "CXCYWH": (a - c / 2, b - d / 2, a + c / 2, b + d / 2),
    }[format]


def expected_box(box, M, format, out_size, rounded=False):
    """One transformed box in float64, its area, and its area before clipping."""
    left, top, right, bottom = box_edges(np.asarray(box, np.float64), format)
    corners = opencv_points([(x - 0.5, y - 0.5) for x in (left, right) for y in (top, bottom)], M) + 0.5
    edges = np.array([*corners.min(0), *corners.max(0)])
    edges = np.rint(edges) if rounded else edges
    before = (edges[2] - edges[0]) * (edges[3] - edges[1])
    height, width = out_size
    edges = np.clip(edges, 0, (width, height, width, height))
    return formatted(edges, format), (edges[2] - edges[0]) * (edges[3] - edges[1]), before


def expected_boxes(boxes, M, format="XYXY", out_size=OUT_SIZE, min_area=0, min_visibility=0, rounded=False):
    """Transformed boxes and their validity. [N, B, 4] and [N, B]"""
    boxes_and_areas = [
        [expected_box(box, m, format, out_size, rounded) for box in sample] for sample, m in zip(boxes, M, strict=True)
    ]
    moved = np.array([[box for box, _, _ in sample] for sample in boxes_and_areas])
    valid = [[a > 0 and a >= min_area and a >= min_visibility * b for _, a, b in sample] for sample in boxes_and_areas]
    return moved, np.array(valid)


def assert_boxes(actual, expected, backend, dtype, tolerance):
    (boxes, valid), (expected_values, expected_valid) = actual, expected
    kind = {"library": backend[0], "device": device_of(backend)}
    assert_equal(boxes, expected_values, dtype=dtype, tolerance=tolerance, **kind)
    assert_equal(valid, expected_valid, dtype="bool", **kind)


@every_backend_slow_on_jax
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["affine", "perspective"])
def test_boxes_are_clipped_bounds_of_moved_corners(backend, format, dtype, kind):
    M, source = maps(5, kind), formatted(some_boxes((5, 7)), format).astype(dtype)
    options = Boxes(format, min_area=400, min_visibility=0.6)
    moved = move_boxes(put(source, backend), put(M.astype(dtype), backend), OUT_SIZE, options)
    expected = expected_boxes(source, M.astype(dtype).astype(float), format, OUT_SIZE, 400, 0.6)
    assert 0 < expected[1].mean() < 1
    assert_boxes(moved, expected, backend, dtype, FLOAT64 if dtype == "float64" else FLOAT32)


@every_backend_slow_on_jax
@pytest.mark.parametrize("format", ["XYXY", "XYWH"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "int16"])
def test_boxes_integer_edges_are_rounded(backend, format, dtype):
    M, source = maps(4), formatted(np.rint(some_boxes((4, 6))), format).astype(dtype)
    moved = move_boxes(put(source, backend), put(M.astype("f4"), backend), OUT_SIZE, Boxes(format, min_visibility=0.5))
    expected = expected_boxes(source, M.astype("f4").astype(float), format, OUT_SIZE, 0, 0.5, rounded=True)
    assert_boxes(moved, expected, backend, dtype, EXACT)


@every_backend_slow_on_jax
@pytest.mark.parametrize("dtype", ["int32", "int64", "int16"])
@pytest.mark.parametrize("width", [16, 17])
def test_boxes_integer_centres_and_sizes_flip_exactly(backend, dtype, width):
    """Two flips restore a box, also one of odd size, whose edges lie on pixel centres."""
    rng = seeded("flip", width)
    boxes = np.concatenate([rng.integers(4, 12, (1, 50, 2)), rng.integers(1, 8, (1, 50, 2))], -1).astype(dtype)
    flip = np.array([[[-1, 0, width - 1], [0, 1, 0], [0, 0, 1]]], "f4")
    moved, valid = move_boxes(put(boxes, backend), put(flip, backend), (20, width), Boxes("CXCYWH"))
    assert to_numpy(valid).all()
    assert_array_equal(to_numpy(moved), np.stack([width - boxes[..., 0], *np.moveaxis(boxes, -1, 0)[1:]], -1))
    again, _ = move_boxes(moved, put(flip, backend), (20, width), Boxes("CXCYWH"))
    assert_array_equal(to_numpy(again), boxes)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_boxes_half_precision_moves_in_float32(dtype):
    """Results are rounded once: the error is at most half of the distance between two numbers of the dtype."""
    source = torch.from_numpy(some_boxes((1, 50)) + 100).to(dtype)
    scale, shift = torch.tensor([1.37, 0.83] * 2), torch.tensor([3.3, 0.7] * 2)
    M = torch.tensor([[[1.37, 0, 3.3], [0, 0.83, 0.7], [0, 0, 1]]])
    moved, _ = move_boxes(source, M, (5000, 5000), Boxes())
    exact = scale.double() * source.double() + shift.double() + 0.5 - 0.5 * scale.double()
    distance = torch.finfo(dtype).eps * 2 ** exact.log2().floor()
    in_half = (scale.to(dtype) * source + shift.to(dtype)) + (0.5 - 0.5 * scale).to(dtype)
    assert moved.dtype == dtype
    assert ((moved.double() - exact).abs() / distance).max() < 0.5 + 1e-3
    assert ((in_half.double() - exact).abs() / distance).max() > 0.9  # arithmetic in the dtype itself


@every_backend_slow_on_jax
def test_boxes_ragged_equal_dense(backend):
    M, lengths = maps(4).astype("f4"), [3, 0, 1, 5]
    ragged = [some_boxes((n,), seed=n).astype("f4") for n in lengths]
    options = Boxes(min_visibility=0.5)
    moved, valid = move_boxes(
        [put(boxes_of_sample, backend) for boxes_of_sample in ragged], put(M, backend), OUT_SIZE, options
    )
    assert [tuple(boxes_of_sample.shape) for boxes_of_sample in moved] == [(n, 4) for n in lengths]
    assert [tuple(boxes_of_sample.shape) for boxes_of_sample in valid] == [(n,) for n in lengths]
    for i, boxes_of_sample in enumerate(ragged):
        if len(boxes_of_sample):
            expected = expected_boxes(boxes_of_sample[None], M[i : i + 1].astype(float), min_visibility=0.5)
            assert_boxes((moved[i][None], valid[i][None]), expected, backend, "float32", FLOAT32)


@every_backend_slow_on_jax
def test_boxes_canvas_per_sample(backend):
    M, sizes = maps(3).astype("f4"), np.array([(160, 240), (50, 300), (200, 40)])
    source = some_boxes((3, 4)).astype("f4")
    expected = [
        expected_boxes(source[i : i + 1], M[i : i + 1].astype(float), out_size=tuple(sizes[i])) for i in range(3)
    ]
    expected = tuple(np.concatenate(part) for part in zip(*expected, strict=True))
    for canvas in (sizes, [tuple(map(int, size)) for size in sizes]):
        dense = move_boxes(put(source, backend), put(M, backend), canvas, Boxes())
        assert_boxes(dense, expected, backend, "float32", FLOAT32)
        boxes, valid = move_boxes([put(sample, backend) for sample in source], put(M, backend), canvas, Boxes())
        for i in range(3):
            assert_boxes((boxes[i], valid[i]), (expected[0][i], expected[1][i]), backend, "float32", FLOAT32)


@pytest.mark.parametrize("kind", ["affine", "perspective"])
def test_boxes_unrotated_equal_kornia(kind):
    """kornia applies a matrix to two corners, in coordinates of edges; cuaug's matrices are for pixel centres.

    The maps therefore do not rotate, and the half pixel is added to the matrix.
    """
    bbox = pytest.importorskip("kornia.geometry.bbox")
    M = np.stack([np.diag([-1.3, 0.7, 1.0]), np.diag([0.6, -1.5, 1.0])])
    M[:, :2, 2] = 230, 90
    if kind == "perspective":
        M = np.stack([np.diag([0.9, 1.2, 1.25]), np.diag([1.5, 0.8, 0.8])])
    source = some_boxes((2, 5))
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    expected = bbox.transform_bbox(torch.from_numpy(half @ M @ np.linalg.inv(half)), torch.from_numpy(source)).numpy()
    expected = np.clip(expected, 0, (240, 160, 240, 160))
    moved, _ = move_boxes(source, M, OUT_SIZE, Boxes())
    assert_equal(moved, expected, tolerance=FLOAT64)


@pytest.mark.parametrize(
    "M",
    [
        [(-1, 0, 39), (0, 1, 0), (0, 0, 1)],  # horizontal flip of 40 columns
        [(0, 1, 0), (-1, 0, 39), (0, 0, 1)],  # quarter turn
        [(2, 0, 0.5), (0, 2, 0.5), (0, 0, 1)],  # each pixel becomes 2x2
        [(1, 0, -14), (0, 1, 3), (0, 0, 1)],  # clipped by the canvas
    ],
)
def test_boxes_cover_pixels_that_opencv_moves(M):
    image = np.zeros((40, 40), np.uint8)
    image[5:9, 12:18] = 255
    M = np.array([M], np.float64)
    rows, columns = np.nonzero(cv2.warpAffine(image, M[0, :2], (36, 36), flags=cv2.INTER_NEAREST))
    expected = np.array([[(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)]])
    moved, valid = move_boxes(np.array([[(12, 5, 18, 9)]]), M, (36, 36), Boxes())
    assert_equal(moved, expected)
    assert valid.all()


@given(st.lists(left_top_width_height, min_size=1, max_size=4), st.sampled_from(["XYXY", "XYWH", "CXCYWH"]))
def test_boxes_identity_and_double_flip(boxes, format):
    source = formatted([[(x, y, x + w, y + h) for x, y, w, h in boxes]], format)
    options = Boxes(format, min_visibility=1)
    moved, valid = move_boxes(source, EYE[None], SIZE, options)
    assert_equal(moved, source)
    assert valid.all()
    flipped, _ = move_boxes(source, HFLIP[None], SIZE, options)
    restored, _ = move_boxes(flipped, HFLIP[None], SIZE, options)
    assert_equal(restored, source)


@given(left_top_width_height, st.integers(0, 50), st.floats(0, 1), st.floats(0, 1))
def test_boxes_contain_moved_points(box, seed, across, down):
    x, y, w, h = box
    M = maps(1, seed=seed)
    (px, py), (height, width) = opencv_points([(x + across * w - 0.5, y + down * h - 0.5)], M[0])[0] + 0.5, OUT_SIZE
    moved, _ = move_boxes(np.array([[(x, y, x + w, y + h)]], float), M, OUT_SIZE, Boxes())
    left, top, right, bottom = moved[0, 0]
    if 0 <= px <= width and 0 <= py <= height:
        assert left - 1e-9 <= px <= right + 1e-9
        assert top - 1e-9 <= py <= bottom + 1e-9
    assert 0 <= left <= right <= width
    assert 0 <= top <= bottom <= height


def test_boxes_limits_are_inclusive():
    source = np.array([[(0, 0, 10, 10), (-5, 0, 5, 10), (-5.01, 0, 4.99, 10)]])
    valid = lambda **limits: move_boxes(source, EYE[None], SIZE, Boxes(**limits))[1].tolist()  # noqa: E731
    assert valid(min_visibility=0.5) == [[True, True, False]]
    assert valid(min_area=50) == [[True, True, False]]
    assert valid(min_area=100) == [[True, False, False]]
    assert valid(min_area=100.1) == [[False, False, False]]


@every_backend_slow_on_jax
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_invalid_stay_invalid(backend, ragged):
    nan, inf = math.nan, math.inf
    rows = [(nan, 1, 2, 3), (1, 1, 5, inf), (4, 4, 4, 9), (9, 4, 4, 9), (0, 0, 0, 0), (1, 2, 3, 4)]
    source = put(np.array([rows], "f4"), backend)
    boxes, valid = move_boxes(
        source[0:1] if not ragged else [source[0]], put(EYE[None].astype("f4"), backend), SIZE, Boxes()
    )
    boxes, valid = (boxes[0], valid[0])
    assert to_numpy(valid).tolist() == [False] * 5 + [True]
    assert to_numpy(boxes).tolist() == [[0, 0, 0, 0]] * 5 + [[1, 2, 3, 4]]


@every_backend_slow_on_jax
def test_boxes_outside_are_invalid(backend):
    source = np.array([[(-30, 5, -10, 9), (300, 5, 310, 9), (5, 200, 9, 230), (299, 199, 310, 230)]], "f4")
    boxes, valid = move_boxes(put(source, backend), put(EYE[None].astype("f4"), backend), SIZE, Boxes())
    assert to_numpy(valid).tolist() == [[False, False, False, True]]
    assert to_numpy(boxes)[0].tolist() == [[0, 5, 0, 9], [300, 5, 300, 9], [5, 200, 9, 200], [299, 199, 300, 200]]


@every_backend_slow_on_jax
@pytest.mark.parametrize("sign", [1, -1])
def test_boxes_beyond_horizon_are_invalid(backend, sign):
    tilt = np.array([[1.0, 0, 0], [0, 1, 0], [-0.01, 0, 1]])  # the horizon is at x = 100
    source = np.array([[(10, 10, 40, 40), (80, 10, 120, 40), (150, 10, 190, 40)]], "f4")
    boxes, valid = move_boxes(put(source, backend), put(sign * tilt[None].astype("f4"), backend), SIZE, Boxes())
    assert to_numpy(valid).tolist() == [[True, False, False]]
    expected, _ = expected_boxes(source[:, :1], tilt[None], out_size=SIZE)
    assert_equal(to_numpy(boxes)[:, :1].astype(float), expected, tolerance=FLOAT32)
    assert not to_numpy(boxes)[:, 1:].any()


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 0, 2)], ids=["x", "y"])
@pytest.mark.parametrize(("extent", "valid_index"), [(300, 0), (800, 1)])
def test_boxes_visible_side_of_horizon_is_the_one_mapped_to_the_result_center(axes, extent, valid_index):
    """x' = (400 - 3 x) / (1 - 0.01 x), y' about 50: beyond x = 100 x' is below 300, else above; the same for y.

    The canvas of the result is `extent` long: its centre is 150 or 400.
    """
    M = np.array([[-3.0, 0, 400], [-0.5, 1, 50], [-0.01, 0, 1]])[np.ix_(axes, axes)]
    source = np.array([[(200, 0, 210, 10), (10, 0, 20, 10)]], float)
    source, size = (source, (100, extent)) if axes[0] == 0 else (source[..., [1, 0, 3, 2]], (extent, 100))
    boxes, valid = move_boxes(source, M[None], size, Boxes())
    assert valid.tolist() == [[valid_index == 0, valid_index == 1]]
    expected, _ = expected_boxes(source, M[None], out_size=size)
    assert_equal(boxes[:, valid_index], expected[:, valid_index], tolerance=FLOAT64)
    points = np.array([[(200.0, 5, 2), (10, 5, 2)]])[..., [*axes]]
    visible = move_keypoints(points, M[None], size, Keypoints())[..., 2]
    assert visible.tolist() == [[2 * (valid_index == 0), 2 * (valid_index == 1)]]


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_padding_stays_invalid(ragged):
    source, mask = some_boxes((2, 3)) % 50 + (0, 0, 50, 50), np.array([[True, False, True], [False, True, True]])
    source[0, 2] = 0
    M = np.stack([EYE, EYE])
    _, valid = move_boxes(
        *((list(source), M) if ragged else (source, M)), SIZE, Boxes(), list(mask) if ragged else mask
    )
    assert np.stack(valid).tolist() == [[True, False, False], [False, True, True]]


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_boxes_empty_inputs_give_empty_results(library):
    backend = (library, "cpu")
    no_matrices = put(np.zeros((0, 3, 3), "f4"), backend)
    boxes, valid = move_boxes(put(np.zeros((0, 5, 4), "f4"), backend), no_matrices, SIZE, Boxes())
    assert (tuple(boxes.shape), tuple(valid.shape)) == ((0, 5, 4), (0, 5))
    assert move_boxes([], no_matrices, SIZE, Boxes()) == ([], [])
    one = put(EYE[None].astype("f4"), backend)
    boxes, valid = move_boxes(put(np.zeros((1, 0, 4), "f4"), backend), one, SIZE, Boxes())
    assert (tuple(boxes.shape), tuple(valid.shape)) == ((1, 0, 4), (1, 0))
    boxes, valid = move_boxes([put(np.zeros((0, 4), "f4"), backend)], one, SIZE, Boxes())
    assert (tuple(boxes[0].shape), tuple(valid[0].shape)) == ((0, 4), (0,))
    assert move_keypoints([], no_matrices, SIZE, Keypoints([(0, 1)])) == []
    keypoints = move_keypoints(put(np.zeros((1, 0, 2), "f4"), backend), one, SIZE, Keypoints([(0, 1)]))
    assert tuple(keypoints.shape) == (1, 0, 2)
    (keypoints,) = move_keypoints([put(np.zeros((0, 4, 3), "f4"), backend)], one, SIZE, Keypoints([(0, 1)]))
    assert tuple(keypoints.shape) == (0, 4, 3)


@every_backend
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_compact_keeps_valid_boxes_with_their_labels(backend, ragged, monkeypatch):
    source, mask = some_boxes((3, 4)).astype("f4"), seeded("mask").random((3, 4)) < 0.5
    mask[1] = False
    classes, names = np.arange(12, dtype="i4").reshape(3, 4), [[f"{n}.{b}" for b in range(4)] for n in range(3)]
    waits, to_host = [], convert.to_host
    monkeypatch.setattr(convert, "to_host", lambda value: waits.append(1) or to_host(value))
    arrays = [put(array, backend) for array in (mask, source, classes)]
    valid, boxes, labels = ([array[i] for i in range(3)] for array in arrays) if ragged else arrays
    compacted = boxes_module.compact(valid, boxes, labels, names)
    assert len(waits) == 1
    for n in range(3):
        assert_equal(compacted[0][n], put(source[n][mask[n]], backend))
        assert_equal(compacted[1][n], put(classes[n][mask[n]], backend))
        assert compacted[2][n] == [name for name, flag in zip(names[n], mask[n], strict=True) if flag]
    assert boxes_module.compact([], [], []) == [[], []]


def test_boxes_labels_are_distinguished_from_image_labels():
    dense, ragged = np.zeros((2, 3, 4)), [np.zeros((3, 4)), np.zeros((1, 4))]
    assert boxes_module.has_value_per_box("labels", np.zeros((2, 3)), dense)
    assert boxes_module.has_value_per_box("labels", np.zeros((2, 3, 80)), dense)
    assert not boxes_module.has_value_per_box("labels", np.zeros(2), dense)
    assert not boxes_module.has_value_per_box("labels", np.zeros((2, 80)), dense)
    assert not boxes_module.has_value_per_box("labels", [1, 2], dense)
    assert boxes_module.has_value_per_box("labels", [np.zeros(3), [7]], ragged)
    assert not boxes_module.has_value_per_box("labels", [5, 7], ragged)
    assert not boxes_module.has_value_per_box("labels", ["cat", "dog"], ragged)
    assert not boxes_module.has_value_per_box("labels", [np.array(5), np.array(7)], ragged)
    assert not boxes_module.has_value_per_box("labels", np.zeros(2), ragged)
    with pytest.raises(ValueError, match=r"labels\[1\] must hold one entry per box, 1, got 2"):
        boxes_module.has_value_per_box("labels", [[1, 2, 3], [4, 5]], ragged)
    with pytest.raises(ValueError, match="labels must hold 2 entries, one per sample, got 1"):
        boxes_module.has_value_per_box("labels", [[1, 2, 3]], ragged)
