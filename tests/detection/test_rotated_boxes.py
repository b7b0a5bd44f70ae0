"""Overlap and suppression of rotated boxes, against areas summed row by row; results limited by max_output."""

import functools

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.arrays import every_backend, put, seeded
from helpers.child_process import python
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from numpy.testing import assert_allclose, assert_array_equal
from tables import detection as reference_ops

import cuaug

ROW_SUMS = Tolerance(1e-6, reason="the reference sums 20,000 rows")


def rotated_boxes(count, seed=0):
    """Boxes of which many overlap. [count, 5]"""
    rng = seeded("rotated", count, seed)
    angles = np.where(rng.random(count) < 0.3, 90.0 * rng.integers(-5, 6, count), rng.uniform(-400, 400, count))
    return np.stack([*rng.uniform(0, 30, (2, count)), *rng.uniform(2, 30, (2, count)), angles], 1)


def upright(boxes):
    """Boxes of corners as rotated boxes with an angle of 0."""
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2], 0 * boxes[:, :1]], 1)


@functools.cache
def boxes_with_expected(dtype):
    """Boxes, and the IoU of each with the first nine."""
    boxes = box_cases.rounded(rotated_boxes(17), dtype)
    return boxes, np.array([[reference_ops.rotated_iou(a, b) for b in boxes[:9]] for a in boxes])


@every_backend
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_box_iou_rotated_equals_reference(dtype, backend):
    boxes, expected = boxes_with_expected(dtype)
    arrays = put(boxes, backend, dtype)
    library, device, _ = describe(arrays)
    actual = cuaug.box_iou(arrays, arrays[:9])
    dtype_name = "float64" if dtype == "float64" else "float32"
    assert_equal(actual, expected, tolerance=ROW_SUMS, library=library, device=device, dtype=dtype_name)
    assert 20 < (expected > 0.05).sum() < expected.size


def test_box_iou_of_a_rotated_box_with_itself_is_at_most_1():
    """Rounding must not let suppression at the threshold 1 remove an identical box."""
    boxes = rotated_boxes(2000, seed=1)
    box = [6.289549845497133, 59.866188242789164, 1.4785677436340103, 30.611861012698892, 25.94842661684126]
    boxes = np.concatenate([boxes, [box]])  # 1.0000000000000002 with a fused multiply-add
    itself = np.array([cuaug.box_iou(row[None], row[None])[0, 0] for row in boxes])
    assert (itself <= 1).all()
    assert (itself > 1 - 1e-9).all()
    twice, scores = np.concatenate([boxes[-1:]] * 2), np.array([1, 0.5])
    assert cuaug.nms(twice, scores, 1.0).tolist() == [0, 1]


def test_box_iou_rotated_angle_zero_equals_upright():
    boxes = box_cases.random(40, spread=100.0)[0]
    expected = cuaug.box_iou(boxes, boxes)
    assert_allclose(cuaug.box_iou(upright(boxes), upright(boxes)), expected, atol=1e-14)
    quarter_turned = upright(boxes)
    quarter_turned[:, 2:4], quarter_turned[:, 4] = quarter_turned[:, [3, 2]], 90 + 180 * (np.arange(40) % 5 - 2)
    assert_allclose(cuaug.box_iou(quarter_turned, upright(boxes)), expected, atol=1e-14)


def test_box_iou_rotated_known_areas():
    """The overlaps of a square with itself rotated by 45 degrees (a regular octagon), and with shifted squares."""
    square, rotated = (0, 0, 2, 2, 0), (0, 0, 2, 2, 45)
    octagon = 8 * (np.sqrt(2) - 1)
    others = np.array([rotated, (1, 0, 2, 2, 0), (1, 1, 2, 2, 90), (2, 0, 2, 2, 0), (9, 9, 2, 2, 30), square])
    actual = cuaug.box_iou(np.array([square], float), others.astype(float))[0]
    assert_allclose(actual, [octagon / (8 - octagon), 2 / 6, 1 / 7, 0, 0, 1], atol=1e-15)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_box_iou_rotated_is_invariant_to_scale_shift_and_rotation(scale):
    boxes = rotated_boxes(30, 1)
    expected = cuaug.box_iou(boxes, boxes)
    assert_allclose(expected, expected.T, atol=1e-13)
    assert_allclose(np.diag(expected), 1, atol=1e-13)
    angle, moved = np.radians(33.0), boxes.copy()
    x, y = boxes[:, 0], boxes[:, 1]
    moved[:, 0], moved[:, 1] = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    moved[:, :2] += 17.0
    moved[:, :4] *= scale
    moved[:, 4] += 33.0
    assert_allclose(cuaug.box_iou(moved, moved), expected, atol=1e-12)


def test_box_iou_rotated_batch_and_empty_boxes():
    boxes = rotated_boxes(24, 2).reshape(2, 3, 4, 5)
    actual = cuaug.box_iou(boxes, boxes[:, :1, :2])
    assert actual.shape == (2, 3, 4, 2)
    for index in np.ndindex(2, 3):
        assert_array_equal(actual[index], cuaug.box_iou(boxes[index], boxes[index[0], 0, :2]))
    degenerate_boxes = np.array([(0, 0, 0, 2, 10), (0, 0, 2, -1, 0), (0, 0, np.nan, 1, 0), (0, 0, 1, 1, np.inf)])
    actual = cuaug.box_iou(degenerate_boxes, np.array([(0, 0, 3, 3, 5.0), (0, 0, 0, 0, 0)]))
    assert_array_equal(actual[:2], [[0, 0], [0, 0]])
    assert np.isnan(actual[2:]).all()
    assert cuaug.box_iou(degenerate_boxes[:0], degenerate_boxes).shape == (0, 4)


@every_backend
@pytest.mark.parametrize("count", [1, 2, 65, 150])
def test_nms_rotated_equals_reference(count, backend):
    boxes, scores = rotated_boxes(count, 3).astype(np.float32), seeded("scores", count).random(count).astype(np.float32)
    scores[::7] = 0.5
    overlaps, classes = cuaug.box_iou(boxes.astype(float), boxes.astype(float)), np.arange(count, dtype=np.int32) % 3
    arrays = put(boxes, backend), put(scores, backend)
    for threshold in (0.1, 0.5):
        expected = reference_ops.rotated_nms(boxes, scores, threshold, overlaps)
        assert_array_equal(to_numpy(cuaug.nms(*arrays, threshold)), expected)
        expected = reference_ops.rotated_nms(boxes, scores, threshold, overlaps, classes)
        assert_array_equal(to_numpy(cuaug.batched_nms(*arrays, put(classes, backend), threshold)), expected)
        assert_array_equal(to_numpy(cuaug.nms(*arrays, threshold, max_output=5)),
                           reference_ops.rotated_nms(boxes, scores, threshold, overlaps)[:5])  # fmt: skip


def test_nms_rotated_angle_zero_equals_upright():
    for scene in ("on_grid", "clustered", "chain", "distant"):
        boxes, scores = box_cases.SCENES[scene](200)
        boxes = np.round(boxes * 4) / 4
        for threshold in (0.3, 0.5):
            assert_array_equal(cuaug.nms(upright(boxes), scores, threshold), cuaug.nms(boxes, scores, threshold))


def test_nms_rotated_nan_comes_last():
    boxes = np.array([(0, 0, 4, 4, 0), (0, 0, 4, 4, np.nan), (0, 0, 4, 4, 0), (0, 0, 4, 3.9, 0)])
    assert_array_equal(cuaug.nms(boxes, np.array([0.5, 9, np.nan, 0.25]), 0.5), [0, 1, 2])


@pytest.mark.parametrize("scene", ["random", "clustered", "on_grid", "degenerate", "chain"])
@pytest.mark.parametrize("max_output", [0, 1, 2, 63, 64, 65, 200, 999])
def test_nms_max_output_is_a_prefix(scene, max_output):
    boxes, scores = box_cases.SCENES[scene](700)
    classes = box_cases.labels(700)
    for classes_argument in ((), (classes,), (np.arange(700) % 50,), (-(np.arange(700) % 3),)):
        call = cuaug.batched_nms if classes_argument else cuaug.nms
        all_indices = call(boxes, scores, *classes_argument, 0.4)
        assert_array_equal(call(boxes, scores, *classes_argument, 0.4, max_output=max_output), all_indices[:max_output])
        indices, count = call(boxes, scores, *classes_argument, 0.4, max_output=max_output, fixed_size=True)
        assert int(count) == min(max_output, len(all_indices))
        assert_array_equal(indices[: int(count)], all_indices[:max_output])


STOPS_EARLY = """
import numpy as np, cuaug
from helpers.boxes import distant

boxes, scores = distant(4_000_000)
indices = cuaug.nms(boxes, scores, 0.5, max_output=100)
print(np.array_equal(indices, np.argsort(-scores, kind="stable")[:100]), len(indices))
"""


@pytest.mark.alone
@pytest.mark.slow
def test_nms_max_output_stops_early():
    """Without the limit, each of the disjoint boxes is compared with all before it: 8e12 pairs, which take hours."""
    message, _ = python(STOPS_EARLY, timeout=120)
    assert message == "True 100"


INVALID_CALLS = [
    ("both upright or both rotated", lambda: cuaug.box_iou(np.zeros((2, 4)), np.zeros((2, 5)))),
    (
        "kind must be 'iou' for rotated boxes, got 'giou'",
        lambda: cuaug.box_iou(np.zeros((2, 5)), np.zeros((2, 5)), "giou"),
    ),
    ("boxes1 must have shape", lambda: cuaug.box_iou(np.zeros((2, 6)), np.zeros((2, 6)))),
]


@pytest.mark.parametrize(("message", "call"), INVALID_CALLS, ids=[message for message, _ in INVALID_CALLS])
def test_box_iou_rotated_rejects_invalid_arguments(message, call):
    with pytest.raises(ValueError, match=r"^cuaug\.box_iou: .*" + message):
        call()
