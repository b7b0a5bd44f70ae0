"""box_iou and other functions of boxes, against float64 NumPy written from the definitions."""

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.arrays import every_backend, put, seeded
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from numpy.testing import assert_array_equal
from PIL import Image
from tables import detection as reference_ops

import cuaug
from cuaug._detection.box_formats import XYXYBoxes

FORMATS = {
    "xyxy": lambda b: b,
    "xywh": lambda b: np.concatenate([b[..., :2], b[..., 2:] - b[..., :2]], -1),
    "cxcywh": lambda b: np.concatenate([(b[..., :2] + b[..., 2:]) / 2, b[..., 2:] - b[..., :2]], -1),
}
NEAR = Tolerance(1e-4, 1e-6, reason="float32 coordinates of up to 500")


@every_backend
def test_box_functions_equal_reference(backend):
    boxes = box_cases.random(12)[0].reshape(3, 4, 4).astype(np.float32)
    boxes_of_library = put(boxes, backend)
    library, device, dtype = describe(boxes_of_library)
    expected_kind = {"library": library, "device": device, "dtype": dtype}
    assert_equal(
        cuaug.box_area(boxes_of_library),
        reference_ops.area(boxes.astype(float)),
        tolerance=Tolerance(0, 1e-5, reason="products of float32 differences"),
        **expected_kind,
    )
    expected = np.clip(boxes, 0, [300, 200, 300, 200])
    for clip in (cuaug.clip_boxes, cuaug.clip_boxes_to_image):
        assert_equal(clip(boxes_of_library, (200, 300)), expected, **expected_kind)
    for (a, to_a), (b, to_b) in zip(FORMATS.items(), [*FORMATS.items()][::-1], strict=True):
        converted = cuaug.box_convert(put(to_a(boxes.astype(float)).astype(np.float32), backend), a, b)
        assert_equal(converted, to_b(boxes.astype(float)), tolerance=NEAR, **expected_kind)
    sizes = boxes[0, :, 2:] - boxes[0, :, :2]
    limit = float(np.sort(sizes.min(-1))[1])
    assert_array_equal(
        to_numpy(cuaug.remove_small_boxes(boxes_of_library[0], limit)), np.flatnonzero((sizes >= limit).all(-1))
    )
    actual = cuaug.box_iou(boxes_of_library, boxes_of_library[:1])
    expected = np.stack([reference_ops.iou(b, boxes[0]) for b in boxes])
    assert_equal(actual, expected, tolerance=Tolerance(1e-5, reason="ratios of float32 areas"), **expected_kind)


def test_box_convert_keeps_infinite_sides():
    sides, edges = np.array([[1.0, 2, np.inf, 4]]), np.array([[1.0, 2, np.inf, 6]])
    assert_array_equal(cuaug.box_convert(sides, "xywh", "xyxy"), edges)
    assert_array_equal(cuaug.box_convert(edges, "xyxy", "xywh"), sides)


def overlap_of_pair(kind, a, b):
    """The overlap of one pair, as the papers define it."""
    iou = float(reference_ops.iou([a], [b])[0, 0])
    if kind == "iou":
        return iou
    width, height = max(a[2], b[2]) - min(a[0], b[0]), max(a[3], b[3]) - min(a[1], b[1])
    if kind == "giou":
        shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
        union = reference_ops.area(np.array(a)) + reference_ops.area(np.array(b)) - shared
        return iou - (width * height - union) / (width * height)
    distance = ((a[0] + a[2]) / 2 - (b[0] + b[2]) / 2) ** 2 + ((a[1] + a[3]) / 2 - (b[1] + b[3]) / 2) ** 2
    diou = iou - distance / (width**2 + height**2)
    if kind == "diou":
        return diou
    aspect_angles = [np.arctan((box[2] - box[0]) / (box[3] - box[1])) for box in (a, b)]
    v = 4 / np.pi**2 * (aspect_angles[0] - aspect_angles[1]) ** 2
    return diou - (v / ((1 - iou) + v) * v if v else 0.0)


@pytest.mark.parametrize("kind", ["iou", "giou", "diou", "ciou"])
def test_box_iou_kinds_equal_reference(kind):
    boxes = np.concatenate(
        [box_cases.random(12, spread=80.0)[0], [(0, 0, 5, 5), (0, 0, 5, 5), (1, 1, 4, 4), (5, 0, 9, 5)]]
    )
    expected = np.array([[overlap_of_pair(kind, a, b) for b in boxes.tolist()] for a in boxes.tolist()])
    actual = cuaug.box_iou(boxes, boxes, kind)
    assert_equal(actual, expected, tolerance=Tolerance(1e-12, reason="float64"))
    assert (actual[np.arange(16), np.arange(16)] == 1).all()
    of_small_boxes = cuaug.box_iou(boxes * 1e-6, boxes * 1e-6, kind)
    assert_equal(of_small_boxes, expected, tolerance=Tolerance(1e-9, reason="no overlap depends on the unit"))


@every_backend
def test_generalized_distance_complete_box_iou_equal_reference(backend):
    boxes = box_cases.random(12, spread=80.0)[0].reshape(2, 6, 4).astype(np.float32)
    boxes_of_library, pairs = put(boxes, backend), [[(a, b) for b in sample[:4]] for sample in boxes for a in sample]
    library, device, dtype = describe(boxes_of_library)
    for function, kind in (
        (cuaug.generalized_box_iou, "giou"),
        (cuaug.distance_box_iou, "diou"),
        (cuaug.complete_box_iou, "ciou"),
    ):
        expected = np.array([[overlap_of_pair(kind, *np.float64(pair)) for pair in row] for row in pairs])
        assert_equal(
            function(boxes_of_library, boxes_of_library[:, :4]),
            expected.reshape(2, 6, 4),
            tolerance=Tolerance(1e-5, reason="ratios of float32 areas"),
            library=library,
            device=device,
            dtype=dtype,
        )


def test_distance_complete_box_iou_add_eps_to_the_denominators():
    a, b = [(0, 0, 2, 2)], [(1, 0, 4, 2)]  # IoU 1/4, centres 1.5 apart, diagonal sqrt(20)
    diou = 1 / 4 - 2.25 / (20 + 5)
    assert cuaug.distance_box_iou(a, b, 5) == pytest.approx(diou)
    v = 4 / np.pi**2 * (np.arctan(1) - np.arctan(3 / 2)) ** 2
    assert cuaug.complete_box_iou(a, b, eps=5) == pytest.approx(diou - v * v / (1 - 1 / 4 + v + 5))
    assert cuaug.distance_box_iou(a, b) != cuaug.distance_box_iou(a, b, 0) == cuaug.box_iou(a, b, "diou")
    assert cuaug.complete_box_iou(a, b, 0) == cuaug.box_iou(a, b, "ciou")


@every_backend
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32"])
def test_masks_to_boxes_equals_reference(dtype, backend):
    masks = seeded("masks").random((9, 7, 5)) < np.linspace(0, 0.1, 9)[:, None, None]
    masks[1:4] = False
    masks[1, 6, 4] = masks[2, 3] = masks[3, :, 2] = True  # a corner, a row, a column
    values = masks * (-3 if dtype in ("int32", "float32") else 1)
    array = put(values, backend, dtype)
    library, device, _ = describe(array)
    expected = np.float32([reference_ops.box_of_mask(mask) for mask in masks])
    assert_equal(cuaug.masks_to_boxes(array), expected, library=library, device=device, dtype="float32")
    assert len(np.unique(expected, axis=0)) > 6


@pytest.mark.parametrize("shape", [(0, 4, 5), (3, 0, 5), (3, 4, 0)])
def test_masks_to_boxes_of_no_pixels_are_zeros(shape):
    assert_equal(cuaug.masks_to_boxes(np.ones(shape)), np.zeros((shape[0], 4), np.float32))


class ExportsOnly:
    def __dlpack__(self):
        raise AssertionError("not an array of a library, so it must not be read")


@pytest.mark.parametrize("masks", [None, [[1]], Image.new("L", (4, 5)), ExportsOnly()], ids=type)
def test_masks_to_boxes_refuses_other_values_than_arrays(masks):
    with pytest.raises(TypeError, match=r"^cuaug.masks_to_boxes: masks must be an array of torch, cupy, numpy or jax"):
        cuaug.masks_to_boxes(masks)


def test_box_iou_of_boxes_without_area_is_0():
    point, box = [(2, 2, 2, 2)], [(0, 0, 4, 4)]
    for kind in ("iou", "giou", "diou", "ciou"):
        assert_array_equal(cuaug.box_iou(point, point, kind), [[0]])
    assert_array_equal(cuaug.box_iou(point, box), [[0]])
    assert np.isnan(cuaug.box_iou([(0, 0, np.nan, 1)], box)).all()


BOXES = np.zeros((3, 4))
INVALID_CALLS = [
    ("kind must be one of", lambda: cuaug.box_iou(BOXES, BOXES, "best")),
    ("in_fmt must be one of", lambda: cuaug.box_convert(BOXES, "XYXY", "xywh")),
    ("boxes must have shape", lambda: cuaug.box_area(np.zeros((3, 5)))),
    ("boxes must have shape", lambda: cuaug.remove_small_boxes(np.zeros((2, 3, 4)), 1)),
    ("size must be", lambda: cuaug.clip_boxes(BOXES, 5)),
]


@pytest.mark.parametrize(("message", "call"), INVALID_CALLS, ids=[message for message, _ in INVALID_CALLS])
def test_box_functions_reject_invalid_arguments(message, call):
    with pytest.raises(ValueError, match=r"^cuaug\.\w+: .*" + message):
        call()


@pytest.mark.parametrize("function", [cuaug.distance_box_iou, cuaug.complete_box_iou])
def test_distance_complete_box_iou_with_gradient_take_an_eps_that_is_0_in_float32(function):
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[1.0, 1, 2, 2], [1, 1, 1, 1]])  # for two equal points, a ratio is 0 / 0
    values = function(boxes.clone().requires_grad_(), boxes, 1e-50)
    assert torch.equal(values.detach(), function(boxes, boxes, 1e-50))
    assert values.diagonal().tolist() == [1, 0]


@pytest.mark.parametrize(
    "function",
    [cuaug.box_iou, cuaug.generalized_box_iou, cuaug.distance_box_iou, cuaug.complete_box_iou],
    ids=lambda function: function.__name__,
)
def test_box_iou_gradient_of_empty_boxes_is_finite(function):
    """Recipes give (0, 0, 0, 0) for boxes that they lose."""
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[1.0, 1, 5, 5], [0, 0, 0, 0]], requires_grad=True)
    values = function(boxes, torch.tensor([[1.0, 1, 4, 4], [0, 0, 0, 0]]))
    values.sum().backward()
    assert torch.isfinite(boxes.grad).all()
    assert (boxes.grad[0] != 0).any()
    if function is cuaug.box_iou:
        assert (boxes.grad[1] == 0).all()


DATA_SET_BOXES = np.array([[1.0, 2, 5, 7]]).view(XYXYBoxes)


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
def test_box_functions_refuse_data_set_boxes_of_another_format(fmt):
    """The boxes of `cuaug.data.coco` and `voc` are converted to corners, and their type says so."""
    rule = rf"in the format {fmt.upper()}, got XYXYBoxes in XYXY: pass cuaug.box_convert\(boxes1?, 'xyxy', '{fmt}'\)$"
    for call in (
        lambda: cuaug.box_area(DATA_SET_BOXES, fmt),
        lambda: cuaug.box_convert(DATA_SET_BOXES, fmt, "xyxy"),
        lambda: cuaug.box_iou(DATA_SET_BOXES, DATA_SET_BOXES, fmt=fmt),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    assert cuaug.box_area(DATA_SET_BOXES).tolist() == [20]


def test_transform_boxes_uses_the_format_of_data_set_boxes():
    shift = [(1, 0, 10), (0, 1, 20)]
    assert cuaug.transform_boxes(DATA_SET_BOXES, shift, format="CXCYWH").tolist() == [[11, 22, 15, 27]]
