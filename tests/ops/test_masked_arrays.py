"""NumPy's masked arrays are refused wherever arrays are passed: their mask would be lost."""

import numpy as np
import pytest
from helpers.arrays import SHAPE, noise
from tables.warps import MAIN_ROWS

import cuaug
import cuaug.transforms as T
from cuaug import io as cio

MASKED = np.ma.masked_greater(noise(), 200)
BOXES = np.ma.masked_less(np.array([[0.0, 0, 5, 5], [1, 1, 6, 6]]), 1)
NUMBERS = np.ma.masked_equal(np.array([1.0, 2, 3]), 2)

CALLS = {
    "adjust_brightness": lambda: cuaug.adjust_brightness(noise(), NUMBERS),
    "warp_affine": lambda: cuaug.warp_affine(noise(), np.ma.array(np.eye(3)[:2])),
    "remap": lambda: cuaug.remap(noise(), *np.ma.zeros((2, 4, 5))),
    "lut": lambda: cuaug.lut(noise(), np.ma.zeros(256)),
    "lut, list": lambda: cuaug.lut(noise(), [np.ma.zeros(256)]),
    "warp_affine, list": lambda: cuaug.warp_affine(noise(), [np.ma.array(np.eye(3)[:2])] * 3),
    "transform_points, nested list": lambda: cuaug.transform_points([[NUMBERS[:2]] * 4], np.eye(3)[:2]),
    "transform_points, numbers": lambda: cuaug.transform_points([[1.0, NUMBERS[1]]], np.eye(3)[:2]),
    "normalize, list": lambda: cuaug.normalize(noise(), [*NUMBERS], 1.0),
    "box_iou, list": lambda: cuaug.box_iou([*BOXES], BOXES.filled(0)),
    "estimate_affine, list": lambda: cuaug.estimate_affine([*BOXES[:, :2]], BOXES.filled(0)[:, 2:]),
    "hflip": lambda: cuaug.hflip(noise(), out=np.ma.zeros(SHAPE, np.uint8)),
    "mixup": lambda: cuaug.mixup(noise(), 0.5, NUMBERS - 1),
    "mix_labels": lambda: cuaug.mix_labels(np.ma.array([0, 1, 2]), 0.5, num_classes=3),
    "nms": lambda: cuaug.nms(BOXES, np.ones(2), 0.5),
    "nms, scores": lambda: cuaug.nms(BOXES.filled(0), NUMBERS[:2], 0.5),
    "box_iou": lambda: cuaug.box_iou(BOXES, BOXES),
    "box_area": lambda: cuaug.box_area(BOXES),
    "transform_boxes": lambda: cuaug.transform_boxes(BOXES, np.eye(3)[:2]),
    "estimate_affine": lambda: cuaug.estimate_affine(BOXES[:, :2], BOXES[:, 2:]),
    "Compose": lambda: T.Compose([T.RandomHorizontalFlip()])(MASKED),
    "Compose, list": lambda: T.Compose([T.Resize((4, 4))])([MASKED[0], noise()[1, :7]]),
    "Compose, masks": lambda: T.Compose([T.RandomHorizontalFlip()])(noise(), MASKED[..., 0]),
    "Compose, boxes": lambda: T.Compose([T.RandomHorizontalFlip()], boxes=T.Boxes("XYXY"))(noise(), boxes=[BOXES] * 3),
    "Compose, dict": lambda: T.Compose([T.RandomHorizontalFlip()])({"image": MASKED}),
    "encode_jpeg": lambda: cio.encode_jpeg(MASKED),
    "decode_jpeg": lambda: cio.decode_jpeg(np.ma.zeros(9, np.uint8)),
    "decode_jpeg, out": lambda: cio.decode_jpeg(
        cio.encode_jpeg(np.zeros((8, 8, 3), np.uint8)), out=np.ma.zeros((8, 8, 3), np.uint8)
    ),
    "grid": lambda: cuaug.grid(MASKED),
}


@pytest.mark.parametrize("row", MAIN_ROWS, ids=str)
def test_op_rejects_masked_images(row):
    with pytest.raises(TypeError, match=rf"cuaug\.{row.op}: .*masked array.*\.filled\("):
        getattr(cuaug, row.op)(MASKED, **row.options, **row.parameters())


@pytest.mark.parametrize("name", CALLS)
def test_call_rejects_masked_arrays(name):
    with pytest.raises(TypeError, match=r"cuaug\..*masked array.*\.filled\("):
        CALLS[name]()
