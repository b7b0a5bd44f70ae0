"""Transforms with the arguments of torchvision's documentation give its results, with the same drawn parameters."""

import numpy as np
import pytest
import torch
from helpers.arrays import seeded
from helpers.compare import Tolerance, assert_equal
from tables.functional_calls import SIZE
from tables.torchvision_cases import CASES

from cuaug import transforms as T

NUMBERS = Tolerance(absolute=2e-4, reason="torchvision computes in float32")
FORMATS = ["XYXY", "XYWH", "CXCYWH"]
INTERPOLATIONS = ("nearest", "nearest-exact", "bilinear", "bicubic")


def sample_of(case, tv, draw):
    """An image with a mask, boxes in one of the formats, and keypoints, as far as the case has them."""
    from torchvision.transforms.v2.functional import convert_bounding_box_format

    rng = seeded(case.id, draw)
    pixels = torch.from_numpy(rng.integers(0, 256, (3, *SIZE), np.uint8))
    corner = rng.uniform(1, 10, (3, 2))
    boxes = torch.from_numpy(np.concatenate([corner, corner + rng.uniform(3, 9, (3, 2))], 1)).float()
    boxes = tv.BoundingBoxes(boxes, format="XYXY", canvas_size=SIZE)
    points = torch.from_numpy(rng.uniform(2, 18, (4, 2))).float()
    values = {
        "image": tv.Image(pixels if case.dtype == "uint8" else pixels.float() / 255),
        "mask": tv.Mask(torch.from_numpy(rng.integers(0, 9, SIZE, np.uint8))),
        "boxes": convert_bounding_box_format(boxes, new_format=FORMATS[draw]),
        "keypoints": tv.KeyPoints(points, canvas_size=SIZE),
    }
    return {name: value for name, value in values.items() if name in ("image", *case.targets)}


def shifted(sample, tv, distance):
    """The sample with its keypoints moved by the distance to the right and down."""
    points = sample.get("keypoints")
    return sample if points is None else {**sample, "keypoints": tv.wrap(points + distance, like=points)}


def expected_of(case, transform, params, sample, tv):
    """torchvision's results, with keypoints as cuaug has them: the centre of the first pixel is (0, 0)."""
    offset = 0.5 if case.from_corner else 0.0  # of the first pixel's centre, in torchvision
    sample = shifted(sample, tv, offset)
    if params is None:
        return shifted(transform(sample), tv, -offset)
    return shifted({name: transform.transform(value, params) for name, value in sample.items()}, tv, -offset)


def transforms_of(case, v2, tv):
    """The transform of both packages."""

    def member(value):
        return v2.InterpolationMode(value) if value in INTERPOLATIONS else value

    args = [getattr(torch, value) if case.name == "ToDtype" else member(value) for value in case.args]
    keywords = case.keywords(tv.Image)
    keywords |= {name: member(value) for name, value in keywords.items() if name == "interpolation"}
    return getattr(T, case.name)(*case.args, **dict(case.kwargs)), getattr(v2, case.name)(*args, **keywords)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_transform_equals_torchvision_with_the_same_parameters(case, v2, real_tv):
    transform, reference = transforms_of(case, v2, real_tv)
    recipe = T.Compose([transform], seed=20261126)
    for draw in range(len(FORMATS) if case.to_params else 1):
        sample = sample_of(case, real_tv, draw)
        params = None
        if case.to_params:
            drawn = recipe.draw(sample["image"], step=draw)
            columns = {name.rpartition(".")[2]: float(drawn[name][0]) for name in drawn.names}
            params = case.to_params(columns, transform)
        assert_sample_equals(
            case, recipe(sample, step=draw), expected_of(case, reference, params, sample, real_tv), real_tv
        )


def assert_sample_equals(case, result, expected, tv):
    assert type(result["image"]) is tv.Image
    assert_equal(np.asarray(result["image"]), np.asarray(expected["image"]), tolerance=case.image)
    if "mask" in case.targets:
        assert_equal(np.asarray(result["mask"]), np.asarray(expected["mask"]), tolerance=case.mask)
    if "keypoints" in case.targets:
        assert_equal(np.asarray(result["keypoints"]), np.asarray(expected["keypoints"]), tolerance=NUMBERS)
    if "boxes" in case.targets:
        assert result["boxes"].format == expected["boxes"].format
        assert result["boxes"].canvas_size == expected["boxes"].canvas_size
        valid = np.asarray(result["valid"])
        assert valid.any()
        assert_equal(np.asarray(result["boxes"])[valid], np.asarray(expected["boxes"])[valid], tolerance=NUMBERS)
