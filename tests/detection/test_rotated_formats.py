"""Formats of rotated boxes in box_convert and box_iou, against float64 NumPy written from the definition."""

import itertools

import numpy as np
import pytest
from helpers.arrays import every_backend, put, seeded
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from tables import detection as reference_ops

import cuaug
from cuaug.transforms import functional as F

NEAR = Tolerance(2e-4, 1e-5, reason="float32 coordinates of up to 200, and angles")
FORMATS = ("cxcywhr", "xywhr", "xyxyxyxy")


def boxes_by_format(shape=(3, 5)):
    """The same rotated boxes in each format, in float64."""
    rng = seeded("rotated formats", shape)
    centers, sizes = rng.uniform(0, 100, (*shape, 2)), rng.uniform(4, 90, (*shape, 2))
    centered = np.concatenate([centers, sizes, rng.uniform(-179, 179, (*shape, 1))], -1)
    centered.reshape(-1, 5)[:4, 4] = 0, 90, -90, 180
    corners = np.array([reference_ops.corners(box) for box in centered.reshape(-1, 5)]).reshape(*shape, 8)
    return {
        "cxcywhr": centered,
        "xywhr": np.concatenate([corners[..., :2], centered[..., 2:]], -1),
        "xyxyxyxy": corners,
    }


@every_backend
@pytest.mark.parametrize(("source", "target"), [*itertools.product(FORMATS, FORMATS)])
def test_box_convert_of_rotated_boxes_equals_reference(source, target, backend):
    values = boxes_by_format()
    boxes, expected = put(values[source], backend, "float32"), values[target].astype(np.float32)
    actual, (library, device, dtype) = cuaug.box_convert(boxes, source, target), describe(boxes)
    if target != "xyxyxyxy":  # 180 and -180 degrees are one angle
        half_turn = np.abs(to_numpy(actual)[..., 4] - expected[..., 4]) > 180
        expected[..., 4] = np.where(half_turn, -expected[..., 4], expected[..., 4])
    assert_equal(actual, expected, library=library, device=device, dtype=dtype, tolerance=NEAR)
    assert actual is not boxes


def test_box_convert_turns_counter_clockwise_about_the_corner():
    expected = [[10, 20, 10, 14, 13, 14, 13, 20]]  # the upper side of 6 pixels points up, the left side to the right
    assert np.allclose(cuaug.box_convert([(10, 20, 6, 3, 90)], "xywhr", "xyxyxyxy"), expected)


@every_backend
@pytest.mark.parametrize("fmt", FORMATS)
def test_box_iou_of_rotated_formats_equals_reference(fmt, backend):
    values = boxes_by_format()
    boxes = put(values[fmt], backend, "float32")
    actual, (library, device, dtype) = cuaug.box_iou(boxes, boxes[:, :2], fmt=fmt), describe(boxes)
    expected = np.array(
        [[[reference_ops.rotated_iou(a, b) for b in row[:2]] for a in row] for row in values["cxcywhr"].tolist()]
    )
    tolerance = Tolerance(1e-3, reason="the reference sums 20,000 rows; corners in float32")
    assert_equal(actual, expected, library=library, device=device, dtype=dtype, tolerance=tolerance)


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
@pytest.mark.parametrize("kind", ["iou", "giou", "diou", "ciou"])
def test_box_iou_of_formats_equals_that_of_corners(kind, fmt):
    corners = seeded("formats").uniform(0, 50, (7, 4))
    corners[:, 2:] += corners[:, :2]
    boxes = cuaug.box_convert(corners, "xyxy", fmt)
    expected = cuaug.box_iou(corners, corners[:3], kind)
    assert_equal(cuaug.box_iou(boxes, boxes[:3], kind, fmt), expected, tolerance=Tolerance(1e-12, reason="float64"))
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    assert_equal(cuaug.box_area(boxes, fmt), areas, tolerance=Tolerance(1e-9, reason="float64"))


UPRIGHT, ROTATED, CORNERS = np.zeros((3, 4)), np.zeros((3, 5)), np.zeros((3, 8))
INVALID_CALLS = [
    ("both upright or both rotated, got 'xyxy' and 'xywhr'", lambda: cuaug.box_convert(UPRIGHT, "xyxy", "xywhr")),
    ("both upright or both rotated, got 'xywhr' and 'xywh'", lambda: cuaug.box_convert(ROTATED, "xywhr", "xywh")),
    (r"boxes must have shape \[..., 8\]", lambda: cuaug.box_convert(ROTATED, "xyxyxyxy", "xywhr")),
    ("out_fmt must be one of .* got 'xyr'", lambda: cuaug.box_convert(ROTATED, "xywhr", "xyr")),
    ("fmt must be one of .* got 'xywhr'", lambda: cuaug.box_area(ROTATED, "xywhr")),
    ("fmt must be one of .* got 'giou'", lambda: cuaug.box_iou(UPRIGHT, UPRIGHT, fmt="giou")),
    ("kind must be one of .* got 'xywh': pass fmt='xywh'", lambda: cuaug.box_iou(UPRIGHT, UPRIGHT, "xywh")),
    ("kind must be 'iou' for rotated boxes", lambda: cuaug.box_iou(CORNERS, CORNERS, "giou", "xyxyxyxy")),
    (r"boxes1 must have shape \[..., P, 4\]", lambda: cuaug.box_iou(ROTATED, ROTATED, fmt="cxcywh")),
    ("eps must be at least 0", lambda: cuaug.distance_box_iou(UPRIGHT, UPRIGHT, -1)),
    ("eps must be at least 0", lambda: cuaug.complete_box_iou(UPRIGHT, UPRIGHT, -1)),
    (r"boxes2 must have shape \[..., P, 4\]", lambda: cuaug.generalized_box_iou(UPRIGHT, ROTATED)),
    (r"masks must have shape \[N, H, W\]", lambda: cuaug.masks_to_boxes(UPRIGHT)),
    ("size must be", lambda: cuaug.clip_boxes_to_image(UPRIGHT, 5)),
]


@pytest.mark.parametrize(("message", "call"), INVALID_CALLS, ids=[message for message, _ in INVALID_CALLS])
def test_box_functions_reject_invalid_formats_and_shapes(message, call):
    with pytest.raises(ValueError, match=r"^cuaug\.\w+: .*" + message):
        call()


@pytest.mark.parametrize(("source", "target"), [("cxcywhr", "xyxyxyxy"), ("xywhr", "cxcywhr"), ("cxcywhr", "xywhr")])
@pytest.mark.parametrize("angle", [0, 45, 90, 180, -90, 270])
def test_box_convert_gradient_equals_differences(angle, source, target):
    """Also at right angles, at which the corners are exact."""
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[1.0, 2, 3, 4, angle]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda boxes: cuaug.box_convert(boxes, source, target), boxes)


@pytest.mark.parametrize("target", ["xywhr", "cxcywhr"])
@pytest.mark.parametrize("corners", [[1.0, 2] * 4, [1.0, 2, 4, 2, 4, 2, 1, 2]], ids=["a point", "no height"])
def test_box_convert_gradient_of_corners_without_area_is_finite(corners, target):
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([corners], requires_grad=True)
    cuaug.box_convert(boxes, "xyxyxyxy", target).sum().backward()
    assert torch.isfinite(boxes.grad).all()


@pytest.mark.parametrize("size", [(0, 0), (0, 4), (5, 0)], ids=str)
def test_gradients_of_moved_boxes_without_area_are_finite(size):
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[10.0, 10, *size, 30], [10, 10, 4, 5, 30]], requires_grad=True)
    M = torch.tensor([[1.1, 0.2, 3], [-0.1, 0.9, 4], [0, 0, 1]], requires_grad=True)
    cuaug.transform_boxes(boxes, M, format="CXCYWHR").sum().backward()
    assert torch.isfinite(boxes.grad).all()
    assert torch.isfinite(M.grad).all()
    assert M.grad.any()
    boxes.grad = None
    F.clamp_bounding_boxes(boxes, "CXCYWHR", (32, 32), clamping_mode="soft").sum().backward()
    assert torch.isfinite(boxes.grad).all()
