"""Several arrays of boxes in one dict: each has a validity mask of its own."""

import numpy as np
import pytest
import torch

from cuaug import transforms as T

INSIDE, OUTSIDE = [12.0, 12, 16, 16], [22.0, 22, 26, 26]  # of the crop of 10 pixels
IMAGE = torch.zeros(3, 30, 30)


def boxes_of(tv, *rows):
    return tv.BoundingBoxes(torch.tensor(rows), format="XYXY", canvas_size=(30, 30))


def recipe(*others, **options):
    return T.Compose([T.CenterCrop(10), *others], **options)


@pytest.mark.parametrize("first", ["boxes", "gt_boxes"])
@pytest.mark.parametrize("others", [[], [lambda sample: sample, T.RandomHorizontalFlip(p=1)]], ids=["one", "parts"])
def test_compose_gives_each_array_of_boxes_its_mask(first, others, tv):
    """Each array has a mask, in any order of the keys."""
    arrays = {"boxes": boxes_of(tv, INSIDE, OUTSIDE), "gt_boxes": boxes_of(tv, OUTSIDE, INSIDE, INSIDE)}
    keys = sorted(arrays, reverse=first == "gt_boxes")
    result = recipe(*others)({"image": tv.Image(IMAGE), **{key: arrays[key] for key in keys}})
    assert result["valid"].tolist() == [True, False]
    assert result["valid_gt_boxes"].tolist() == [False, True, True]
    assert result.keys() == {"image", "boxes", "gt_boxes", "valid", "valid_gt_boxes"}


def test_compose_gives_each_array_of_a_dict_of_boxes_its_mask():
    """No mask is called "valid", as no key of the dict is a name of boxes. A second recipe reads all masks."""
    boxes = {"a": np.float32([INSIDE, OUTSIDE]), "b": np.float32([OUTSIDE])}
    sample = {"image": np.zeros((30, 30, 3), np.uint8), "boxes": boxes}
    result = recipe()(sample)
    masks = {key: mask.tolist() for key, mask in result["boxes"].items() if key.startswith("valid")}
    assert masks == {"valid_a": [True, False], "valid_b": [False]}
    flipped = T.Compose([T.RandomHorizontalFlip(p=1)])(result)["boxes"]
    assert flipped["a"][0].tolist() == [4, 2, 8, 6]
    masks = {key: mask.tolist() for key, mask in flipped.items() if key.startswith("valid")}
    assert masks == {"valid_a": [True, False], "valid_b": [False]}


def test_compose_writes_a_mask_for_boxes_beside_boxes_that_have_one(tv):
    sample = {"image": tv.Image(IMAGE), "gt": boxes_of(tv, OUTSIDE), "boxes": boxes_of(tv, INSIDE)}
    result = recipe()({**sample, "valid": torch.tensor([False])})
    assert result["valid"].tolist() == [False]
    assert result["valid_gt"].tolist() == [False]


def test_compose_masks_of_several_boxes_where_a_choice_is_drawn(tv):
    """The masks have an entry for every sample, whether its branch moves boxes or not."""
    samples = [
        {"image": tv.Image(IMAGE), "boxes": boxes_of(tv, INSIDE, OUTSIDE), "gt": boxes_of(tv, OUTSIDE)}
        for _ in range(8)
    ]
    identity = T.Lambda(lambda image: image)
    results = T.Compose([T.RandomApply([identity, T.RandomRotation((180, 180))], p=0.5)], seed=0)(samples)
    assert [result["valid"].tolist() for result in results] == [[True, True]] * 8
    assert [result["valid_gt"].tolist() for result in results] == [[True]] * 8


def test_sanitize_bounding_boxes_cuts_the_mask_of_each_array_of_boxes(tv):
    sample = {"image": tv.Image(IMAGE), "boxes": boxes_of(tv, INSIDE, OUTSIDE), "gt": boxes_of(tv, OUTSIDE, INSIDE)}
    result = recipe(T.SanitizeBoundingBoxes(labels_getter=None))(sample)
    assert result["valid"].tolist() == [True]
    assert result["valid_gt"].tolist() == [True]
    assert [len(result["boxes"]), len(result["gt"])] == [1, 1]


def test_compose_compact_removes_boxes_of_several_arrays(tv):
    sample = {"image": tv.Image(IMAGE), "boxes": boxes_of(tv, INSIDE, OUTSIDE), "gt": boxes_of(tv, OUTSIDE, INSIDE)}
    result = recipe(boxes=T.Boxes(compact=True))(sample)
    assert [len(result["boxes"]), len(result["gt"])] == [1, 1]
    assert result.keys() == sample.keys()


@pytest.mark.parametrize("value", ["yes", True, None, 3])
@pytest.mark.parametrize("others", [[], [lambda sample: sample, T.RandomApply([T.RandomHorizontalFlip(p=1)])]])
def test_compose_leaves_a_value_that_is_no_mask_at_the_key_of_the_mask(value, others):
    """A number, text or None stays there, and no mask is written. In a list, all samples have the key or none has."""
    result = recipe(*others)({"image": IMAGE, "boxes": torch.tensor([INSIDE]), "valid": value})
    assert result["valid"] is value
    assert result["boxes"].shape == (1, 4)
    sample = {"image": IMAGE, "boxes": torch.tensor([INSIDE])}
    results = recipe(*others)([sample | {"valid": value}, sample | {"valid": "other"}])
    assert [result["valid"] for result in results] == [value, "other"]
    with pytest.raises(ValueError, match=r"Compose: samples must all have the key 'valid' beside their boxes, or none"):
        recipe(*others)([sample | {"valid": value}, sample])


def test_compose_leaves_a_key_that_only_looks_like_a_mask(tv):
    """The mask of "boxes" is "valid"; "valid_boxes" and "valid_for" are a user's own."""
    sample = {"image": tv.Image(IMAGE), "boxes": boxes_of(tv, INSIDE), "gt": boxes_of(tv, INSIDE)}
    own = {"valid_boxes": torch.arange(7), "valid_for": torch.arange(5)}
    result = recipe()({**sample, **own})
    assert all(result[key] is value for key, value in own.items())
    assert result["valid"].tolist() == result["valid_gt"].tolist() == [True]


def test_compose_moves_masks_of_a_dict_of_which_one_is_called_valid():
    """In a dict of masks "valid" is the name of a class, not a mask of boxes."""
    masks = {"valid": torch.rand(2, 30, 30).gt(0.5), "sky": torch.ones(2, 30, 30, dtype=torch.uint8)}
    result = recipe()({"image": torch.zeros(2, 3, 30, 30), "masks": masks})
    assert torch.equal(result["masks"]["valid"], masks["valid"][:, 10:20, 10:20])
    assert tuple(result["masks"]["sky"].shape) == (2, 10, 10)
