"""Functions return torchvision's tv_tensors for tv_tensors, as torchvision's functions do."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

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


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["Image", "Mask", "Video"])
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


def test_transform_points_keeps_key_points(tv):
    points = tv.KeyPoints(torch.tensor([(1.0, 2)]), canvas_size=(8, 10))
    moved = cuaug.transform_points(points, [(-1.0, 0, 9), (0, 1, 0)])
    assert (type(moved), moved.canvas_size, moved.tolist()) == (tv.KeyPoints, (8, 10), [[8, 2]])
