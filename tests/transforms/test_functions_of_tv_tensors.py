"""Functions return torchvision's tv_tensors for tv_tensors, as torchvision's functions do."""

import itertools

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal
from helpers.figures import drawn_boxes

import cuaug
from cuaug import transforms as T

CALLS = {
    "hflip": cuaug.hflip,
    "rotate": lambda x: cuaug.rotate(x, 30),
    "resize": lambda x: cuaug.resize(x, (9, 7)),
    "resized_crop": lambda x: cuaug.resized_crop(x, 1, 2, 9, 8, 5),
    "solarize": lambda x: cuaug.solarize(x, 99),
    "adjust_contrast": lambda x: cuaug.adjust_contrast(x, 0.5),
    "equalize": cuaug.equalize,
    "rgb_to_grayscale": cuaug.rgb_to_grayscale,
    "gaussian_blur": lambda x: cuaug.gaussian_blur(x, 3, 1.0),
    "adjust_sharpness": lambda x: cuaug.adjust_sharpness(x, 2.0),
    "to_dtype": lambda x: cuaug.to_dtype(x, torch.float32, scale=True),
    "normalize": lambda x: cuaug.normalize(x, [0.5] * 3, [0.2] * 3, dtype=torch.float32),
    "mixup": lambda x: cuaug.mixup(x, 0.5),
    "apply": lambda x: (aug := T.Compose([T.RandomInvert()], seed=1)).apply(x, aug.draw(x)),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    # A Video is one clip with one draw, the plain tensor a batch of images with a draw each.
    [pair for pair in itertools.product(("Image", "Mask", "Video"), CALLS) if pair != ("Video", "apply")],
)
def test_functions_keep_type_of_tv_tensor(tv, name, kind):
    plain = torch.from_numpy(noise((4, 3, 11, 10)))
    expected, result = CALLS[name](plain), CALLS[name](getattr(tv, kind)(plain))
    assert (type(expected), type(result)) == (torch.Tensor, getattr(tv, kind))
    assert_equal(result.as_subclass(torch.Tensor), expected)


def test_functions_return_out_as_it_is(tv):
    images = torch.from_numpy(noise((4, 3, 11, 10)))
    out = torch.empty_like(images)
    assert cuaug.hflip(tv.Image(images), out=out) is out


@pytest.mark.parametrize(("name", "box"), [("XYXY", (1.0, 2, 4, 6)), ("XYWH", (1.0, 2, 3, 4))])
def test_transform_boxes_keeps_bounding_boxes(tv, name, box):
    boxes = tv.BoundingBoxes(torch.tensor([box]), format=name, canvas_size=(8, 10))
    moved = cuaug.transform_boxes(boxes, np.array([(-1.0, 0, 9), (0, 1, 0)]))  # flips an image 10 pixels wide
    assert (type(moved), moved.format.name, moved.canvas_size) == (tv.BoundingBoxes, name, (8, 10))
    assert moved.tolist() == [[6, 2, *((9, 6) if name == "XYXY" else (3, 4))]]
    assert type(cuaug.transform_boxes(torch.tensor([box]), np.eye(3))) is torch.Tensor
    with pytest.raises(ValueError, match=r"transform_boxes: M must be one matrix for BoundingBoxes, .*as_subclass"):
        cuaug.transform_boxes(boxes, np.ones((2, 2, 3)))


@pytest.mark.parametrize("is_batch", [False, True], ids=["list", "batch"])
def test_show_draws_bounding_boxes_in_their_format(tv, is_batch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    values = torch.tensor([[10, 200, 100, 100]], dtype=torch.uint8)  # the lower edge is above the largest uint8
    boxes = tv.BoundingBoxes(values, format="XYWH", canvas_size=(320, 120))
    batch = values[None].as_subclass(tv.BoundingBoxes)  # the constructor of new versions refuses three axes
    batch.format = boxes.format
    argument = batch if is_batch else [boxes]
    (axis,) = cuaug.show(np.zeros((1, 320, 120, 3), np.uint8), argument).axes
    assert [edges for edges, _ in drawn_boxes(axis)] == [[10, 200, 110, 300]]
    pyplot.close("all")


def test_transform_points_keeps_key_points(tv):
    points = tv.KeyPoints(torch.tensor([(1.0, 2)]), canvas_size=(8, 10))
    moved = cuaug.transform_points(points, [(-1.0, 0, 9), (0, 1, 0)])
    assert (type(moved), moved.canvas_size, moved.tolist()) == (tv.KeyPoints, (8, 10), [[8, 2]])


SCORES = torch.tensor([0.5, 0.25])
CORNER_CALLS = {
    "box_area": cuaug.box_area,
    "box_iou": lambda boxes: cuaug.box_iou(boxes, boxes),
    "generalized_box_iou": lambda boxes: cuaug.generalized_box_iou(boxes, boxes),
    "distance_box_iou": lambda boxes: cuaug.distance_box_iou(boxes, boxes),
    "complete_box_iou": lambda boxes: cuaug.complete_box_iou(boxes, boxes),
    "clip_boxes": lambda boxes: cuaug.clip_boxes(boxes, (8, 10)),
    "clip_boxes_to_image": lambda boxes: cuaug.clip_boxes_to_image(boxes, (8, 10)),
    "remove_small_boxes": lambda boxes: cuaug.remove_small_boxes(boxes, 1),
    "box_convert": lambda boxes: cuaug.box_convert(boxes, "xyxy", "cxcywh"),
    "nms": lambda boxes: cuaug.nms(boxes, SCORES, 0.5),
    "batched_nms": lambda boxes: cuaug.batched_nms(boxes, SCORES, torch.tensor([0, 0]), 0.5),
    "soft_nms": lambda boxes: cuaug.soft_nms(boxes, SCORES, 0.5)[0],
    "roi_align": lambda boxes: cuaug.roi_align(torch.ones(1, 1, 8, 8), [boxes], 2),
    "roi_pool": lambda boxes: cuaug.roi_pool(torch.ones(1, 1, 8, 8), [boxes], 2),
    "ps_roi_align": lambda boxes: cuaug.ps_roi_align(torch.ones(1, 4, 8, 8), [boxes], 2),
    "ps_roi_pool": lambda boxes: cuaug.ps_roi_pool(torch.ones(1, 4, 8, 8), [boxes], 2),
}


@pytest.mark.parametrize("name", CORNER_CALLS)
def test_functions_of_corners_refuse_bounding_boxes_of_other_formats(tv, name):
    numbers = torch.tensor([(1.0, 2, 4, 6), (2, 2, 5, 5)])
    result = CORNER_CALLS[name](tv.BoundingBoxes(numbers, format="XYXY", canvas_size=(8, 10)))
    assert_equal(result.as_subclass(torch.Tensor), CORNER_CALLS[name](numbers))
    with pytest.raises(
        ValueError, match=rf"cuaug\.{name}: boxes.* in the format XYXY.*, got BoundingBoxes in XYWH: pass"
    ):
        CORNER_CALLS[name](tv.BoundingBoxes(numbers, format="XYWH", canvas_size=(8, 10)))


def test_box_iou_box_convert_take_rotated_bounding_boxes_of_the_stated_format(tv):
    numbers = torch.tensor([(1.0, 2, 4, 6, 30), (2, 2, 5, 5, -10)])
    boxes = tv.BoundingBoxes(numbers, format="XYWHR", canvas_size=(8, 10))
    assert_equal(
        cuaug.box_iou(boxes, boxes, fmt="xywhr").as_subclass(torch.Tensor), cuaug.box_iou(numbers, numbers, fmt="xywhr")
    )
    corners = cuaug.box_convert(boxes, "xywhr", "xyxyxyxy").as_subclass(torch.Tensor)
    assert_equal(corners, cuaug.box_convert(numbers, "xywhr", "xyxyxyxy"))
    rule = r"got BoundingBoxes in XYWHR: pass cuaug\.box_convert\(boxes1?, 'xywhr', 'cxcywhr'\)$"
    for call in (
        lambda: cuaug.box_iou(boxes, boxes),
        lambda: cuaug.nms(boxes, SCORES, 0.5),
        lambda: cuaug.box_convert(boxes, "cxcywhr", "xyxyxyxy"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    with pytest.raises(ValueError, match=r"must be in the format XYXY, got BoundingBoxes in XYWHR$"):
        cuaug.box_area(boxes)
