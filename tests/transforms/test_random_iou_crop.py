"""`RandomIoUCrop`: which crops it takes, and which objects stay."""

import numpy as np
import pytest
import torch
from helpers.compare import Tolerance, assert_equal
from helpers.detection_samples import SIZE, boxes, detection

import cuaug
from cuaug import transforms as T
from cuaug._fusion.host_draws import HostDraws

CONVERTED = Tolerance(absolute=1e-4, reason="boxes are converted to another format in float32, and back")


def test_random_iou_crop_removes_objects_whose_centres_are_outside():
    aug = T.Compose([T.RandomIoUCrop(max_scale=0.7, sampler_options=[0.1])], seed=3, boxes=T.Boxes(compact=True))
    image, target = detection()
    for step in range(8):
        crop, objects = aug(image, target, step=step)
        labels = objects["labels"].tolist()
        assert 0 < len(labels) < 5
        assert len(objects["boxes"]) == len(objects["masks"]) == len(labels)
        assert crop.shape[-2:] == objects["masks"].shape[-2:]
        masks, low, high = target["masks"][labels], target["boxes"][:, :2], target["boxes"][:, 2:]
        labels_in_windows = []
        for top in range(SIZE[0] - crop.shape[1] + 1):
            for left in range(SIZE[1] - crop.shape[2] + 1):
                rows, columns = slice(top, top + crop.shape[1]), slice(left, left + crop.shape[2])
                if torch.equal(image[:, rows, columns], crop):
                    assert torch.equal(masks[:, rows, columns], objects["masks"])
                    offsets = (low + high) / 2 - torch.tensor([left, top])
                    is_inside = ((offsets > 0) & (offsets < torch.tensor(crop.shape[:0:-1]))).all(1)
                    labels_in_windows.append(target["labels"][is_inside].tolist())
        assert labels_in_windows == [labels]


def test_random_iou_crop_overlaps_a_box_as_its_options_say():
    instance, count = T.RandomIoUCrop(0.2, 0.9, 0.7, 1.5, [0.6], 30), 200
    rows = [boxes(SIZE, 2, seed).numpy() for seed in range(count)]
    draws = HostDraws(instance.write_draws, "RandomIoUCrop", 0)
    crops = instance.place(
        np.tile(np.array(SIZE), (count, 1)), lambda ids, repetition: draws.table(ids, 1, 2, repetition), rows
    ).box
    cropped = crops[(crops[:, 2:] != SIZE).any(1)]
    assert len(cropped) > count / 4
    for (top, left, height, width), edges in zip(crops, rows, strict=True):
        if (height, width) == SIZE:
            continue
        low, high = np.maximum(edges[:, :2], (left, top)), np.minimum(edges[:, 2:], (left + width, top + height))
        shared = np.maximum(high - low, 0).prod(1)
        iou = shared / ((edges[:, 2:] - edges[:, :2]).prod(1) + height * width - shared)
        centres = (edges[:, :2] + edges[:, 2:]) / 2
        is_inside = ((centres > (left, top)) & (centres < (left + width, top + height))).all(1)
        assert (iou * is_inside).max() >= 0.6
        assert 0.7 <= width / height <= 1.5
        assert 0 <= top <= SIZE[0] - height
        assert 0 <= left <= SIZE[1] - width


def test_random_iou_crop_without_possible_crop_leaves_the_image():
    image, target = detection()
    no_objects = {"boxes": target["boxes"][:0], "labels": target["labels"][:0]}
    assert torch.equal(T.RandomIoUCrop()(image, no_objects)[0], image)
    unreachable = T.RandomIoUCrop(0.3, 0.4, sampler_options=[0.99], trials=1)
    result, objects = unreachable(image, target)
    assert torch.equal(result, image)
    for name in ("boxes", "labels", "masks"):
        assert torch.equal(objects[name], target[name])
    with pytest.raises(TypeError, match=r"^cuaug.transforms.RandomIoUCrop: the sample must have boxes, got none"):
        T.RandomIoUCrop()(image)


def test_random_iou_crop_draws_only_for_samples_with_a_centre_in_the_image():
    """Others can have no crop: repeated trials would cost seconds."""
    instance, drawn = T.RandomIoUCrop(sampler_options=[0.0, 0.5]), set()
    draws = HostDraws(instance.write_draws, "RandomIoUCrop", 0)

    def draw(ids, repetition):
        drawn.update(ids.tolist())
        return draws.table(ids, 1, 2, repetition)

    inside, outside = np.array([(3.0, 4, 30, 30)]), np.array([(-9.0, 2, 3, 9)])
    rows = [inside, outside, np.zeros((0, 4)), np.concatenate([outside, inside]), np.full((1, 4), np.nan)]
    crops = instance.place(np.tile(np.array(SIZE), (len(rows), 1)), draw, rows).box
    assert drawn == {0, 3}
    assert [tuple(crop[2:]) == SIZE for crop in crops] == [False, True, True, False, True]


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
def test_random_iou_crop_reads_every_format(format):
    image, target = detection()
    expected = T.Compose([T.RandomIoUCrop()], seed=2)(image, target)
    rows = cuaug.box_convert(target["boxes"], "xyxy", format.lower())
    actual = T.Compose([T.RandomIoUCrop()], seed=2, boxes=T.Boxes(format))(image, target | {"boxes": rows})
    assert torch.equal(actual[0], expected[0])
    assert torch.equal(actual[1]["valid"], expected[1]["valid"])
    converted = cuaug.box_convert(actual[1]["boxes"], format.lower(), "xyxy")
    assert_equal(converted.numpy(), expected[1]["boxes"].numpy(), tolerance=CONVERTED)


def test_random_iou_crop_takes_boxes_of_several_libraries():
    images, rows = [detection()[0] for _ in range(3)], detection()[1]["boxes"]
    aug = T.Compose([T.RandomIoUCrop()], seed=2)
    expected = aug({"image": images, "boxes": [rows] * 3}, step=0)
    result = aug({"image": images, "boxes": [rows, rows.numpy(), rows.double()]}, step=0)
    for actual, image in zip(result["image"], expected["image"], strict=True):
        assert torch.equal(actual, image)


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        (np.zeros(2), r"boxes must have shape \[2, \*, 4\], got \[2\]"),
        ([np.zeros((3, 4)), np.array(1.0)], r"boxes\[1\] must have shape \[\*, 4\], got \[\]"),
        ([np.zeros((3, 4)), np.zeros((3, 5))], r"boxes\[1\] must have shape \[\*, 4\], got \[3, 5\]"),
    ],
)
def test_random_iou_crop_names_the_shape_of_boxes(boxes, message):
    with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.Compose: RandomIoUCrop: {message}"):
        T.Compose([T.RandomIoUCrop()])(np.zeros((2, 8, 8, 3), np.uint8), boxes=boxes)


@pytest.mark.parametrize("form", [np.asarray, torch.as_tensor, list], ids=["numpy", "torch", "list"])
def test_random_iou_crop_takes_no_crop_for_invalid_boxes(form):
    aug, image = T.Compose([T.RandomIoUCrop(sampler_options=[0.7])], seed=0), np.zeros((1, 32, 32, 3), np.uint8)
    boxes, valid = np.array([[[1, 1, 12, 12], [18, 18, 30, 30.0]]]), np.array([[True, False]])
    for step in range(50):
        result = aug({"image": image, "boxes": form(boxes), "valid": form(valid)}, step=step)
        assert np.asarray(result["valid"][0]).tolist() == [True, False]
    whole = aug({"image": image, "boxes": form(boxes), "valid": form(valid & False)})
    assert whole["image"][0].shape == (32, 32, 3)


def test_random_iou_crop_rejects_a_mask_of_another_length():
    sample = {"image": np.zeros((32, 32, 3), np.uint8), "boxes": np.ones((2, 4)), "valid": np.ones(3, bool)}
    with pytest.raises(ValueError, match=r"RandomIoUCrop: valid\[0\] must"):
        T.Compose([T.RandomIoUCrop()])(sample)
