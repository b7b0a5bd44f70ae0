"""One sample through several parts of a recipe: the results equal those of the parts one after another."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise

from cuaug import transforms as T
from cuaug._detection.box_formats import XYXYBoxes
from cuaug.transforms import fused_part, sample_chain, sample_structure

RECIPES = {
    "size, fused": [T.RandomZoomOut(0, (1.2, 1.8), 1.0), T.RandomHorizontalFlip(p=1)],
    "fused, size": [T.ColorJitter(0.3), T.ScaleJitter((40, 40))],
    "four parts": [
        T.RandomAffine(20, (0.2, 0.2)),
        T.RandomZoomOut(0, (1.2, 1.8), 1.0),
        T.RandomIoUCrop(),
        T.RandomVerticalFlip(p=1),
    ],
    "a function between": [T.ScaleJitter((40, 40), (0.8, 1.2)), T.Lambda(torch.nn.Identity()), T.RandomCrop(24)],
}
BOXES = [[2.0, 3, 12, 14], [30, 1, 36, 5], [0, 20, 30, 30]]


def torchvision_pair(tv):
    boxes = tv.BoundingBoxes(torch.tensor(BOXES), format="XYXY", canvas_size=(32, 40))
    masks = tv.Mask(torch.from_numpy(noise((3, 32, 40), "bool")))
    return tv.Image(torch.from_numpy(noise((3, 32, 40)))), {"boxes": boxes, "labels": torch.arange(3), "masks": masks}


def dict_of_tensors(tv):
    keypoints, labels = torch.tensor(BOXES).reshape(3, 2, 2), torch.arange(3)
    sample = {"image": torch.from_numpy(noise((3, 32, 40))), "boxes": torch.tensor(BOXES), "keypoints": keypoints}
    return {**sample, "labels": labels, "name": "a.jpg", "others": {"boxes": torch.tensor(BOXES[:1])}}


def dict_with_validity(tv):
    return {"image": noise((32, 40, 3)), "boxes": np.float32(BOXES), "valid": np.array([True, False, True])}


def boxes_of_a_data_set(tv):
    """Their type states a format, which may not be the recipe's."""
    return {"image": noise((32, 40, 3)), "boxes": np.float32(BOXES).view(XYXYBoxes), "labels": np.arange(3)}


SAMPLES = [torchvision_pair, dict_of_tensors, dict_with_validity, boxes_of_a_data_set]


def leaves(node):
    if isinstance(node, dict):
        return [(key, *leaf) for key, value in node.items() for leaf in leaves(value)]
    if isinstance(node, (list, tuple)):
        return [(type(node), i, *leaf) for i, value in enumerate(node) for leaf in leaves(value)]
    if hasattr(node, "shape"):
        box_format = getattr(node, "format", None), getattr(node, "canvas_size", None)
        return [(type(node), str(node.dtype), *box_format, np.asarray(node).tolist())]
    return [(node,)]


@pytest.mark.parametrize("options", [{}, {"format": "XYWH"}, {"compact": True}], ids=str)
@pytest.mark.parametrize("make_sample", SAMPLES)
@pytest.mark.parametrize("transforms", RECIPES.values(), ids=RECIPES)
def test_compose_of_several_parts_equals_recipes_of_one_part(transforms, make_sample, options, tv):
    """A recipe of one part puts its results in the sample, which the next recipe searches anew."""
    sample = make_sample(tv)
    before = leaves(sample)
    aug = T.Compose(transforms, seed=3, boxes=T.Boxes(**options))
    for _ in range(2):  # the second call knows the sample's form
        result = aug(sample, step=5)
    expected = sample
    for position in range(len(transforms)):
        recipe = aug.after(position)
        recipe.transforms = recipe.transforms[:1]
        expected = recipe(expected, step=5)
    assert leaves(result) == leaves(expected)
    assert leaves(sample) == before


def test_compose_searches_a_sample_once_for_adjacent_parts(tv, monkeypatch):
    aug, sample, searched = T.Compose(RECIPES["four parts"], seed=3), torchvision_pair(tv), []
    aug(sample)

    def parse_sample(sample):
        searched.append(sample)
        return sample_structure.parse_sample(sample)

    for module in (sample_chain, fused_part):
        monkeypatch.setattr(module, "parse_sample", parse_sample)
    result = aug(sample)
    assert [entry is sample for entry in searched] == [True]
    assert result[1].keys() == {*sample[1], "valid"}


def test_compose_keeps_boxes_invalid_after_the_next_part(tv):
    """Each part has the same limit: the crop leaves 4 pixels of the first box, which the next part makes 64."""
    aug = T.Compose([T.CenterCrop(8), T.ScaleJitter((32, 32), (1, 1))], boxes=T.Boxes(min_area=9))
    boxes = torch.tensor([[0.0, 0, 18, 14], [17, 13, 22, 18]])
    sample = {"image": torch.from_numpy(noise((3, 32, 40))), "boxes": boxes}
    gt_boxes = tv.BoundingBoxes(boxes, format="XYXY", canvas_size=(32, 40))
    for _ in range(2):
        result, _ = aug((sample, gt_boxes))
    assert result["boxes"].tolist() == [[0, 0, 8, 8], [4, 4, 24, 24]]
    assert result["valid"].tolist() == [False, True]


def test_compose_reads_boxes_in_its_format_after_the_first_part():
    """The type of data set boxes states XYXY. After the first part they are in the recipe's XYWH.

    The crop, which keeps boxes whose centres are inside, must read them as XYWH.
    """
    boxes = [[4, 4, 24, 28], [16, 10, 38, 28]]
    transforms = [T.RandomZoomOut(0, (1.5, 1.5), 1.0), T.RandomIoUCrop(sampler_options=[0.3])]
    data_set_boxes = {"image": noise((32, 40, 3)), "boxes": np.float32(boxes).view(XYXYBoxes)}
    xywh_boxes = {
        "image": noise((32, 40, 3)),
        "boxes": np.float32(boxes) - np.float32([[0, 0, x, y] for x, y, *_ in boxes]),
    }
    aug = T.Compose(transforms, seed=1, boxes=T.Boxes("XYWH"))
    results = [[aug(sample, step=step) for step in range(20)] for sample in (data_set_boxes, xywh_boxes)]
    assert leaves(results[0]) == leaves(results[1])
    assert len({result["image"].shape for result in results[0]}) > 5
