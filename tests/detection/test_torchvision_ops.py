"""cuaug.ops beside torchvision.ops: results on the CPU."""

import importlib
import inspect

import numpy as np
import pytest
import torch
from helpers.arrays import seeded
from numpy.testing import assert_allclose, assert_array_equal

from cuaug import ops
from cuaug._missing_ops import MISSING_OPS

tv_ops = pytest.importorskip("torchvision.ops")


def random_boxes(*key, count=40, size=100.0):
    rng = seeded("torchvision ops", *key)
    corner = rng.uniform(0, size, (count, 2))
    return torch.from_numpy(np.concatenate([corner, corner + rng.uniform(0.5, size, (count, 2))], 1))


def rotated_boxes():
    boxes = random_boxes("rotated")
    angles = torch.from_numpy(seeded("angles").uniform(-179, 179, (len(boxes), 1)))
    return tv_ops.box_convert(torch.cat([boxes, angles], 1), "cxcywhr", "xywhr")


@pytest.mark.parametrize("source", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("target", ["xyxy", "xywh", "cxcywh"])
def test_box_convert_equals_torchvision(target, source):
    boxes = random_boxes(source)
    assert_allclose(ops.box_convert(boxes, source, target), tv_ops.box_convert(boxes, source, target), atol=1e-12)


@pytest.mark.parametrize("source", ["xywhr", "cxcywhr", "xyxyxyxy"])
@pytest.mark.parametrize("target", ["xywhr", "cxcywhr", "xyxyxyxy"])
def test_box_convert_of_rotated_boxes_equals_torchvision(target, source):
    boxes = tv_ops.box_convert(rotated_boxes(), "xywhr", source)
    assert_allclose(ops.box_convert(boxes, source, target), tv_ops.box_convert(boxes, source, target), atol=1e-11)


@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
def test_box_area_box_iou_equal_torchvision(fmt):
    a, b = (tv_ops.box_convert(random_boxes(key), "xyxy", fmt) for key in "ab")
    assert_allclose(ops.box_area(a, fmt=fmt), tv_ops.box_area(a, fmt=fmt), rtol=1e-12)
    assert_allclose(ops.box_iou(a, b, fmt=fmt), tv_ops.box_iou(a, b, fmt=fmt), atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", ["generalized_box_iou", "distance_box_iou", "complete_box_iou"])
@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_box_iou_functions_equal_torchvision_with_gradient(scale, name, dtype):
    """At scale 1e-4 the default ``eps`` of distance and complete IoU changes results by up to 0.002."""
    results = []
    for module in (ops, tv_ops):
        a, b = (random_boxes(key).to(dtype).mul(scale).requires_grad_() for key in "cd")
        result = getattr(module, name)(a, b)
        weights = torch.from_numpy(seeded("weights").normal(0, 1, result.shape)).to(dtype)
        gradients = torch.autograd.grad((result * weights).sum(), (a, b))
        results.append((result.detach(), *(gradient * scale for gradient in gradients)))
    tolerance = 1e-14 if dtype == torch.float64 else 2e-6  # a few roundings; ``eps`` changes gradients by up to 2e-4
    for actual, expected in zip(*results, strict=True):
        assert_allclose(actual, expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("name", ["generalized_box_iou", "distance_box_iou", "complete_box_iou"])
def test_box_iou_losses_of_missing_ops_equal_torchvision(name):
    """`MISSING_OPS` gives a Python expression for each loss that cuaug does not have."""
    boxes1, boxes2 = random_boxes("e"), random_boxes("f")
    code = MISSING_OPS[f"{name}_loss"].partition(" is ")[0]
    actual = eval(code, {name: getattr(ops, name), "boxes1": boxes1, "boxes2": boxes2})
    expected = getattr(tv_ops, f"{name}_loss")(boxes1, boxes2)
    # torchvision's losses add an eps of 1e-7 to areas of hundreds.
    assert_allclose(actual, expected, rtol=0, atol=1e-10)


def test_clip_boxes_to_image_remove_small_boxes_equal_torchvision():
    boxes = random_boxes("clip") - 20
    assert_array_equal(ops.clip_boxes_to_image(boxes, (70, 90)), tv_ops.clip_boxes_to_image(boxes, (70, 90)))
    assert_array_equal(ops.remove_small_boxes(boxes, 20.0), tv_ops.remove_small_boxes(boxes, 20.0))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float32], ids=str)
def test_masks_to_boxes_equals_torchvision(dtype):
    masks = torch.from_numpy(seeded("masks").random((30, 9, 13)) < 0.02).to(dtype)
    expected = tv_ops.masks_to_boxes(masks)
    assert len(expected.unique(dim=0)) > 10
    assert torch.equal(ops.masks_to_boxes(masks), expected)


@pytest.fixture
def eager_roi_align(monkeypatch):
    """Without its extension torchvision runs roi_align as Python code under torch.compile; here it runs uncompiled.

    The extension gives 0 at sampling points more than a pixel outside the map, the Python code does not: regions must
    be inside.
    """
    module = importlib.import_module("torchvision.ops.roi_align")
    monkeypatch.setattr(module, "_roi_align", inspect.unwrap(module._roi_align))


@pytest.mark.usefixtures("eager_roi_align")
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, -1])
def test_roi_align_roi_modules_equal_torchvision(ratio, aligned):
    features = torch.from_numpy(seeded("features").normal(0, 1, (2, 5, 24, 18)))
    boxes = [random_boxes(key, count=9, size=18.0) for key in "gh"]
    expected = tv_ops.roi_align(features, boxes, (3, 2), 0.5, ratio, aligned)
    assert_allclose(ops.roi_align(features, boxes, (3, 2), 0.5, ratio, aligned), expected, atol=1e-12)
    module = ops.RoIAlign((3, 2), 0.5, ratio, aligned)
    assert_allclose(module(features, boxes), tv_ops.RoIAlign((3, 2), 0.5, ratio, aligned)(features, boxes), atol=1e-12)


@pytest.mark.usefixtures("eager_roi_align")
def test_multi_scale_roi_align_equals_torchvision():
    levels = {str(i): torch.from_numpy(seeded("level", i).normal(0, 1, (2, 4, 256 >> i, 192 >> i))) for i in range(4)}
    shrink = torch.from_numpy(seeded("shrink").random((30, 1)))
    boxes = [random_boxes(key, count=30, size=380.0) * shrink for key in "ij"]
    arguments = levels, boxes, [(1024, 768), (1000, 720)]
    for names in (["0", "1", "2", "3"], ["1", "2"], ["0"]):
        actual, expected = (module.MultiScaleRoIAlign(names, 3, 2)(*arguments) for module in (ops, tv_ops))
        assert_allclose(actual, expected, atol=1e-12)
