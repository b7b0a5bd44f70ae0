"""Lists with one mask for each box: compacted with the boxes."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from PIL import Image

from cuaug import transforms as T

BOXES = np.array([[0.0, 0, 0, 0], [1, 1, 5, 5]])
MASKS = [np.full((9, 8), value, np.uint8) for value in (1, 2)]
FLIP = T.RandomHorizontalFlip(1.0)


def compact(*transforms):
    return T.Compose([*transforms], boxes=T.Boxes(compact=True), seed=0)


def sample(masks=MASKS, boxes=BOXES):
    return {"image": noise((9, 8, 3)), "masks": masks, "boxes": boxes, "labels": [*range(len(boxes))]}


def values(masks):
    return [int(np.asarray(mask).max()) for mask in masks]


@pytest.mark.parametrize("transforms", [[FLIP], [FLIP, T.Lambda(lambda value: value), FLIP], [T.RandomZoomOut(p=1.0)]])
@pytest.mark.parametrize("form", [list, tuple])
def test_compose_compact_removes_listed_masks(transforms, form):
    result = compact(*transforms)(sample(form(MASKS)))
    assert type(result["masks"]) is form
    assert (values(result["masks"]), len(result["boxes"]), result["labels"]) == ([2], 1, [1])
    assert [mask.shape for mask in result["masks"]] == [result["image"].shape[:2]]


def test_compose_compact_removes_listed_masks_of_each_sample():
    results = compact(FLIP)([sample(), sample(boxes=BOXES[::-1]), sample(boxes=BOXES[[1, 1]]), sample(boxes=BOXES * 0)])
    assert [values(result["masks"]) for result in results] == [[2], [1], [1, 2], []]
    assert [len(result["boxes"]) for result in results] == [1, 1, 2, 0]


def test_compose_compact_removes_listed_masks_of_several_containers():
    image = {"image": noise((9, 8, 3))}
    target = {"masks": MASKS, "boxes": BOXES}
    result = compact(FLIP)(image | {"a": target, "b": target | {"boxes": BOXES[::-1]}})
    assert [values(result[key]["masks"]) for key in "ab"] == [[2], [1]]


def test_compose_compact_keeps_type_of_listed_masks(tv):
    result = compact(FLIP)(sample([Image.fromarray(mask) for mask in MASKS]))
    assert (values(result["masks"]), isinstance(result["masks"][0], Image.Image)) == ([2], True)
    boxes = tv.BoundingBoxes(torch.tensor(BOXES), format="XYXY", canvas_size=(9, 8))
    _, masks, _ = compact(FLIP)((tv.Image(torch.zeros(3, 9, 8)), [tv.Mask(mask) for mask in MASKS], boxes))
    assert (values(masks), type(masks[0])) == ([2], tv.Mask)


@pytest.mark.parametrize("masks", [[*MASKS, MASKS[0]], {"a": MASKS[0], "b": MASKS[1]}, [np.ones((3, 9, 8), bool)] * 2])
def test_compose_compact_leaves_masks_that_are_not_one_per_box(masks):
    assert len(compact(FLIP)(sample(masks))["masks"]) == len(masks)


def test_compose_show_leaves_removed_masks_out():
    pytest.importorskip("matplotlib")
    without_first_mask = [np.zeros_like(MASKS[0]), MASKS[1]]
    pictures = [compact(FLIP).show(sample(masks), step=0).axes for masks in (MASKS, without_first_mask)]
    before, after = (np.array_equal(*(axes[i].images[0].get_array() for axes in pictures)) for i in (0, 1))
    assert (before, after) == (False, True)
