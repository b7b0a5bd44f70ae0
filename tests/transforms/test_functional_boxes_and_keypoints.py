"""Formats, limits and validity of boxes and keypoints in cuaug.transforms.functional, as in torchvision."""

import itertools

import numpy as np
import pytest
import torch
from helpers.arrays import put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.tv_tensors import plain

from cuaug._detection.box_formats import XYXYBoxes
from cuaug.transforms import functional as F

FORMATS = ["XYXY", "XYWH", "CXCYWH"]
SIZE = (20, 30)  # (H, W)
NUMBERS = Tolerance(absolute=1e-5, reason="torchvision computes in float32")


def box_numbers(format, count=60, seed=0):
    """Boxes inside, across and outside of the canvas, empty and inverted ones, and one with NaN."""
    rng = seeded("boxes of all kinds", format, seed)
    low, size = rng.uniform(-10, 25, (count, 2)), rng.uniform(-1, 12, (count, 2))
    low[::3] = np.abs(low[::3])
    size[7], size[8] = 0, (0, 5)
    values = np.concatenate(
        {"XYXY": (low, low + size), "XYWH": (low, size), "CXCYWH": (low + size / 2, size)}[format], 1
    )
    values[5, 1] = np.nan
    return values.astype(np.float32)


@pytest.mark.parametrize(("source", "target"), [*itertools.product(FORMATS, FORMATS)])
@pytest.mark.parametrize("inplace", [False, True])
def test_convert_bounding_box_format_equals_torchvision(TF, real_tv, source, target, inplace):
    numbers = torch.from_numpy(np.nan_to_num(box_numbers(source)))
    boxes = real_tv.BoundingBoxes(numbers.clone(), format=source, canvas_size=SIZE, clamping_mode=None)
    expected = TF.convert_bounding_box_format(boxes.clone(), new_format=target)
    result = F.convert_bounding_box_format(boxes, new_format=target, inplace=inplace)
    assert type(result) is real_tv.BoundingBoxes
    assert (result.format, result.canvas_size, result.clamping_mode) == (expected.format, SIZE, None)
    assert_equal(plain(result), plain(expected), tolerance=NUMBERS)
    assert_equal(plain(boxes), plain(expected) if inplace else numbers, tolerance=NUMBERS)
    assert (result.data_ptr() == boxes.data_ptr()) == inplace
    for old, new in ((source, target), (boxes.format, expected.format), (source.lower(), target.lower())):
        assert_equal(F.convert_bounding_box_format(numbers, old, new), plain(expected), tolerance=NUMBERS)


@pytest.mark.parametrize("backend", [("numpy", "cpu"), ("jax", "cpu")])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_functions_of_boxes_take_arrays_of_every_library(backend, dtype):
    numbers = np.array([[1, 2, 4, 7], [-3, 4, 40, 9], [2, 3, 2, 8]], dtype)
    boxes = put(numbers, backend)

    def check(result, expected):
        assert_equal(np.asarray(result), np.asarray(expected, dtype))
        assert type(result) is type(boxes)

    check(F.convert_bounding_box_format(boxes, "XYXY", "XYWH"), [[1, 2, 3, 5], [-3, 4, 43, 5], [2, 3, 0, 5]])
    check(F.clamp_bounding_boxes(boxes, "XYXY", SIZE, "hard"), [[1, 2, 4, 7], [0, 4, 30, 9], [2, 3, 2, 8]])
    valid_boxes, valid = F.sanitize_bounding_boxes(boxes, "XYXY", SIZE)
    check(valid_boxes, numbers[:1])
    assert np.asarray(valid).tolist() == [True, False, False]
    points = put(np.array([[-1, 2], [3, 4], [29, 20]], dtype), backend)
    check(F.clamp_keypoints(points, SIZE), [[0, 2], [3, 4], [29, 19]])
    inside, valid = F.sanitize_keypoints(points, SIZE)
    check(inside, [[3, 4]])
    assert np.asarray(valid).tolist() == [False, True, False]


def test_functions_of_boxes_use_the_format_of_data_set_boxes():
    """As recipes do. The type states the format, whatever the argument says."""
    boxes = np.array([[1.0, 2, 5, 27]]).view(XYXYBoxes)
    assert F.convert_bounding_box_format(boxes, "XYWH", "XYXY").tolist() == boxes.tolist()
    assert F.clamp_bounding_boxes(boxes, "XYWH", SIZE, "soft").tolist() == [[1, 2, 5, 20]]
    assert F.sanitize_bounding_boxes(boxes, "CXCYWH", (27, 30))[1].tolist() == [True]
    with pytest.raises(ValueError, match="inplace must be False: XYXYBoxes state XYXY, and cannot hold XYWH"):
        F.convert_bounding_box_format(boxes, "XYXY", "XYWH", inplace=True)


def test_convert_bounding_box_format_rounds_integers():
    boxes = torch.tensor([[2, 3, 9, 11]])
    assert F.convert_bounding_box_format(boxes, "XYXY", "CXCYWH").tolist() == [[6, 7, 7, 8]]  # the centre is 5.5
    assert F.convert_bounding_box_format(boxes, "XYXY", "CXCYWH").dtype == torch.int64


@pytest.mark.parametrize("backend", [("numpy", "cpu"), ("torch", "cpu"), ("jax", "cpu")])
@pytest.mark.parametrize("dtype", ["int16", "int32"])
def test_convert_bounding_box_format_keeps_the_size_of_integer_boxes(backend, dtype):
    """The edges of a box of odd size are halves: both are rounded up."""
    centers, sizes = np.meshgrid(np.arange(-4, 24), np.arange(1, 8))
    columns = [axis.ravel() for axis in (centers, centers + 1, sizes, sizes[::-1])]
    boxes = put(np.stack(columns, -1).astype(dtype), backend)
    corners = F.convert_bounding_box_format(boxes, "CXCYWH", "XYXY")
    assert corners.dtype == boxes.dtype
    assert np.array_equal(np.asarray(corners[:, 2:] - corners[:, :2]), np.asarray(boxes[:, 2:]))
    assert np.array_equal(np.asarray(corners[:, 0]), np.ceil(columns[0] - columns[2] / 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize("mode", ["soft", "hard", None, "auto"])
@pytest.mark.parametrize("own_mode", ["soft", None])
@pytest.mark.parametrize("format", FORMATS)
def test_clamp_bounding_boxes_equals_torchvision(TF, real_tv, format, own_mode, mode, dtype):
    numbers = torch.from_numpy(np.nan_to_num(box_numbers(format)))
    if dtype == torch.int64 and format == "CXCYWH":
        numbers = (numbers / 2).round() * 2  # the edges are integers
    boxes = real_tv.BoundingBoxes(numbers.to(dtype), format=format, canvas_size=SIZE, clamping_mode=own_mode)
    expected, result = (module.clamp_bounding_boxes(boxes, clamping_mode=mode) for module in (TF, F))
    assert type(result) is real_tv.BoundingBoxes
    assert (result.format, result.canvas_size, result.clamping_mode) == (boxes.format, SIZE, own_mode)
    tolerance = EXACT if dtype == torch.int64 else NUMBERS
    if dtype == torch.int64 and format == "CXCYWH":
        tolerance = Tolerance(
            absolute=1, exact=0.95, reason="cuaug rounds centres and sizes, torchvision truncates them"
        )
    assert_equal(plain(result), plain(expected), tolerance=tolerance)
    if mode != "auto":
        assert_equal(F.clamp_bounding_boxes(plain(boxes), format, SIZE, mode), plain(result))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("limits", [{}, {"min_size": 3.0}, {"min_area": 30.0}, {"min_size": 0, "min_area": 0}])
def test_sanitize_bounding_boxes_equals_torchvision(TF, real_tv, format, limits):
    boxes = real_tv.BoundingBoxes(torch.from_numpy(box_numbers(format)), format=format, canvas_size=SIZE)
    (expected, expected_valid), (result, valid) = (m.sanitize_bounding_boxes(boxes, **limits) for m in (TF, F))
    assert 0 < int(valid.sum()) < len(valid)
    assert (type(result), type(valid), result.format) == (real_tv.BoundingBoxes, torch.Tensor, boxes.format)
    assert_equal(plain(result), plain(expected))
    assert_equal(valid, expected_valid)
    result, valid = F.sanitize_bounding_boxes(plain(boxes), format, SIZE, **limits)
    assert_equal(valid, expected_valid)
    assert_equal(result, plain(expected))


def point_numbers(*axes):
    points = seeded("points", axes).uniform(-2, 32, (*axes, 2))
    points.reshape(-1, 2)[:4] = [(0, 0), (29.5, 19.5), (30, 3), (np.nan, 2)]
    return torch.from_numpy(points.astype(np.float32))


@pytest.mark.parametrize("axes", [(40,), (30, 2)])
def test_functions_of_keypoints_equal_torchvision(TF, real_tv, axes):
    points = real_tv.KeyPoints(point_numbers(*axes), canvas_size=SIZE)
    clamped = F.clamp_keypoints(points)
    assert (type(clamped), clamped.canvas_size) == (real_tv.KeyPoints, SIZE)
    assert_equal(plain(clamped), plain(TF.clamp_keypoints(points)))
    assert_equal(F.clamp_keypoints(plain(points), SIZE), plain(clamped))
    (expected, expected_valid), (result, valid) = TF.sanitize_keypoints(points), F.sanitize_keypoints(points)
    assert 0 < int(valid.sum()) < len(valid)
    assert (type(result), type(valid)) == (real_tv.KeyPoints, torch.Tensor)
    assert_equal(plain(result), plain(expected))
    assert_equal(valid, expected_valid)


@pytest.mark.parametrize("backend", [("numpy", "cpu"), ("torch", "cpu"), ("jax", "cpu")])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_functions_of_keypoints_keep_visibility(backend, dtype):
    points = put(np.array([[-1, 2, 2], [40, 30, 1], [3, 4, 0]], dtype), backend)
    clamped, (inside, _) = F.clamp_keypoints(points, SIZE), F.sanitize_keypoints(points, SIZE)
    assert_equal(np.asarray(clamped), np.array([[0, 2, 2], [29, 19, 1], [3, 4, 0]], dtype))
    assert_equal(np.asarray(inside), np.array([[3, 4, 0]], dtype))


def test_functions_of_boxes_and_keypoints_refuse_other_values_and_shapes():
    rotated, frozen = np.zeros((2, 5)), np.zeros((2, 4))
    frozen.flags.writeable = False
    for call, message in (
        (
            lambda: F.clamp_bounding_boxes([[0, 0, 1, 2]], "XYXY", SIZE, "soft"),
            "inpt must be an array of boxes, got li",
        ),
        (
            lambda: F.convert_bounding_box_format([[0, 0, 1, 2]], "XYXY", "XYWH"),
            "inpt must be an array of boxes, got l",
        ),
        (lambda: F.sanitize_bounding_boxes([[0, 0, 1, 2]], "XYXY", SIZE), "bounding_boxes must be an array of boxes"),
        (lambda: F.clamp_keypoints([[0, 0]], SIZE), "inpt must be an array of keypoints, got list"),
        (lambda: F.sanitize_keypoints([[0, 0]], SIZE), "key_points must be an array of keypoints, got list"),
        (lambda: F.clamp_keypoints(np.zeros((2, 1)), SIZE), r"inpt must have shape \[..., 2\|3\], got \[2, 1\]"),
        (lambda: F.clamp_keypoints(np.zeros((2, 4)), SIZE), r"inpt must have shape \[..., 2\|3\], got \[2, 4\]"),
        (lambda: F.sanitize_keypoints(np.array(1.0), SIZE), r"key_points must have shape \[..., 2\|3\], got \[\]"),
        (
            lambda: F.convert_bounding_box_format(rotated, "XYWHR", "XYXYXYXY", inplace=True),
            "inplace must be False: 5 numbers of XYWHR cannot hold 8 of XYXYXYXY",
        ),
        (
            lambda: F.convert_bounding_box_format(frozen, "XYXY", "XYWH", inplace=True),
            "inpt must be writable for inplace=True, got a read-only ndarray",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.transforms\.functional\.\w+: {message}"):
            call()


def test_functions_of_boxes_and_keypoints_say_which_argument_is_missing(real_tv):
    numbers, points = torch.zeros(2, 4), torch.zeros(2, 2)
    boxes = real_tv.BoundingBoxes(numbers, format="XYXY", canvas_size=SIZE)
    keypoints = real_tv.KeyPoints(points, canvas_size=SIZE)
    for call, message in (
        (lambda: F.clamp_bounding_boxes(numbers, canvas_size=SIZE), "format must be given for an array of boxes"),
        (lambda: F.clamp_bounding_boxes(numbers, "XYXY"), "canvas_size must be given for an array of boxes"),
        (lambda: F.clamp_bounding_boxes(numbers, "XYXY", SIZE), "clamping_mode must be 'soft', 'hard' or None"),
        (lambda: F.clamp_bounding_boxes(boxes, "XYXY"), "format must be left out: BoundingBoxes state it"),
        (lambda: F.sanitize_bounding_boxes(boxes, canvas_size=SIZE), "canvas_size must be left out"),
        (lambda: F.convert_bounding_box_format(numbers, new_format="XYWH"), "old_format must be given"),
        (lambda: F.convert_bounding_box_format(boxes, "XYXY", "XYWH"), "old_format must be left out"),
        (lambda: F.convert_bounding_box_format(boxes), "new_format must be a format of boxes, got None"),
        (lambda: F.convert_bounding_box_format(boxes, new_format="YXYX"), "new_format must be one of 'XYXY'"),
        (lambda: F.clamp_bounding_boxes(keypoints), "inpt must be boxes, got KeyPoints"),
        (lambda: F.clamp_keypoints(points), "canvas_size must be given for an array of keypoints"),
        (lambda: F.clamp_keypoints(keypoints, SIZE), "canvas_size must be left out: KeyPoints state it"),
        (lambda: F.sanitize_keypoints(boxes), "key_points must be keypoints, got BoundingBoxes"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.transforms\.functional\.\w+: {message}"):
            call()
