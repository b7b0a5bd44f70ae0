"""Targets of a sample are transformed and returned in its structure."""

import collections
import collections.abc

import numpy as np
import pytest
import torch
from helpers.arrays import zeros
from helpers.targets import moves_to

from cuaug import transforms as T
from cuaug.transforms import boxes as boxes_module
from cuaug.transforms import keypoints as keypoints_module
from cuaug.transforms import targets as targets_module
from cuaug.transforms.sample_structure import parse_sample


def shifted(sample, boxes=boxes_module.Boxes()):  # noqa: B008
    """The sample after a shift to the right, by 2 (n + 1) pixels for sample n, on a canvas of (8, 10)."""
    parsed = parse_sample(sample)
    M = np.tile(np.eye(3), (parsed.samples, 1, 1))
    M[:, 0, 2] = 2.0 * np.arange(1, parsed.samples + 1)
    return parsed.rebuild(
        targets_module.transform_targets(parsed, moves_to(M, (8, 10)), (8, 10), boxes, keypoints_module.Keypoints()),
        (8, 10),
    )


def test_structure_detection_targets_follow():
    boxes = [np.array([(0.0, 0, 4, 4), (9, 0, 12, 4)]), np.zeros((0, 4)), np.array([(5.0, 0, 6, 4), (1, 1, 3, 5)])]
    targets = [{"boxes": entry, "labels": np.arange(len(entry)), "n": len(entry)} for entry in boxes]
    images = [zeros(3, 8, 10)] * 3
    _, rebuilt = shifted((images, targets))
    assert [entry["boxes"].tolist() for entry in rebuilt] == [
        [[2, 0, 6, 4], [10, 0, 10, 4]], [], [[10, 0, 10, 4], [7, 1, 9, 5]],
    ]  # fmt: skip
    assert [entry["valid"].tolist() for entry in rebuilt] == [[True, False], [], [False, True]]
    assert [entry["labels"] is target["labels"] for entry, target in zip(rebuilt, targets, strict=True)] == [True] * 3
    _, rebuilt = shifted((images, targets), boxes_module.Boxes(compact=True))
    assert [entry["boxes"].tolist() for entry in rebuilt] == [[[2, 0, 6, 4]], [], [[7, 1, 9, 5]]]
    assert [entry["labels"].tolist() for entry in rebuilt] == [[0], [], [1]]
    assert [sorted(entry) for entry in rebuilt] == [["boxes", "labels", "n"]] * 3


@pytest.mark.parametrize("compact", [False, True])
def test_structure_padded_batch_follows(compact):
    boxes = np.array([[(0.0, 0, 4, 4), (1, 1, 2, 2)], [(0, 0, 4, 4), (8, 0, 9, 9)]])
    valid, classes = np.array([[True, False], [True, True]]), np.array([[5, 0], [6, 7]])
    sample = {"images": zeros(2, 3, 8, 10), "boxes": boxes, "valid": valid, "labels": classes, "a": {"label": [1, 2]}}
    rebuilt = shifted(sample, boxes_module.Boxes(compact=compact))
    expected_valid = [[True], [True]] if compact else [[True, False], [True, False]]
    assert [entry.tolist() for entry in rebuilt["valid"]] == expected_valid
    assert [entry.tolist() for entry in rebuilt["labels"]] == ([[5], [6]] if compact else [[5, 0], [6, 7]])
    assert [entry[0].tolist() for entry in rebuilt["boxes"]] == [[2, 0, 6, 4], [4, 0, 8, 4]]
    assert rebuilt["a"]["label"] == [1, 2]


@pytest.mark.parametrize("make_boxes", [np.asarray, torch.tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("make_valid", [np.asarray, torch.tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("format", ["XYXY", "XYWHR"])
def test_structure_valid_keeps_its_library(make_boxes, make_valid, format):
    boxes, valid = [(1.0, 1, 4, 4), (1, 1, 2, 2)], [True, False]
    boxes = [(*box, 5.0) for box in boxes] if format == "XYWHR" else boxes
    sample = {"image": zeros(8, 10, 3), "boxes": make_boxes(boxes), "valid": make_valid(valid)}
    for _ in range(2):
        result = T.Compose([T.RandomAffine(1)], seed=1, boxes=boxes_module.Boxes(format))(sample)
        assert (type(result["boxes"]), type(result["valid"])) == (type(sample["boxes"]), type(sample["valid"]))
        assert result["valid"].tolist() == valid


@pytest.mark.parametrize("listed", [False, True])
def test_structure_valid_with_gradient_is_refused(listed):
    valid = torch.tensor([1.0, 0], requires_grad=True)
    boxes = torch.tensor([(1.0, 1, 4, 4), (1, 1, 2, 2)])
    sample = {"image": torch.zeros(3, 8, 10), "boxes": boxes, "valid": valid}
    with pytest.raises(TypeError, match="a tensor that requires grad would lose its gradient here"):
        T.Compose([T.RandomAffine(1)])([sample] * 2 if listed else sample)


def test_structure_labels_without_boxes_stay():
    compact, labels = boxes_module.Boxes(compact=True), np.array([[1], [2]])
    sample = {"images": zeros(2, 3, 8, 10), "labels": labels}
    assert shifted(sample, compact)["labels"] is labels
    two_boxes = np.array([[(9.0, 0, 10, 4)], [(0, 0, 4, 4)]])
    sample |= {"people": {"boxes": two_boxes}, "cars": {"boxes": two_boxes, "labels": labels}}
    rebuilt = shifted(sample, compact)
    assert rebuilt["labels"] is labels
    assert [entry.tolist() for entry in rebuilt["cars"]["labels"]] == [[], [2]]
    assert [entry.tolist() for entry in rebuilt["people"]["boxes"]] == [[], [[4, 0, 8, 4]]]


def test_structure_albumentations_sample_follows():
    sample = {"image": zeros(8, 10, 3), "bboxes": np.array([(9, 1, 10, 2), (1, 1, 2, 2)]), "labels": ["cat", "dog"],
              "keypoints": np.array([(1.0, 2, 2), (9, 2, 1)])}  # fmt: skip
    rebuilt = shifted(sample, boxes_module.Boxes(compact=True))
    assert rebuilt["bboxes"].tolist() == [[3, 1, 4, 2]]
    assert rebuilt["labels"] == ["dog"]
    assert rebuilt["keypoints"].tolist() == [[3, 2, 2], [0, 0, 0]]


def test_structure_tv_tensors_boxes_keep_their_format(tv):
    boxes = tv.BoundingBoxes(torch.tensor([(0.0, 0, 4, 4)]), format="XYWH", canvas_size=(8, 9))
    points = tv.KeyPoints(torch.tensor([(1.0, 2)]), canvas_size=(8, 9))
    image, moved, moved_points = shifted((tv.Image(torch.zeros(3, 8, 9)), boxes, points))
    assert (type(moved), moved.tolist(), moved.canvas_size) == (tv.BoundingBoxes, [[2, 0, 4, 4]], (8, 10))
    assert (type(moved_points), moved_points.tolist(), moved_points.canvas_size) == (tv.KeyPoints, [[3, 2]], (8, 10))
    assert type(image) is tv.Image


class AttributeMapping(collections.abc.MutableMapping):
    """Keeps its entries in an attribute, which a copy by `copy.copy` shares."""

    def __init__(self, entries):
        self._entries = dict(entries)

    def __getitem__(self, key):
        return self._entries[key]

    def __setitem__(self, key, value):
        self._entries[key] = value

    def __delitem__(self, key):
        del self._entries[key]

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)


@pytest.mark.parametrize("make", [AttributeMapping, collections.UserDict, collections.OrderedDict])
def test_compose_does_not_change_a_mapping(make):
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    sample = make({"image": image, "inner": make({"mask": image[..., 0]})})
    result = T.Compose([T.RandomHorizontalFlip(1.0)], seed=0)(sample)
    assert sample["image"] is image
    assert np.array_equal(sample["inner"]["mask"], image[..., 0])
    assert np.array_equal(result["image"], image[:, ::-1])
    assert np.array_equal(result["inner"]["mask"], image[:, ::-1, 0])
    assert type(result) is (dict if make is AttributeMapping else make)


def test_compose_keeps_an_empty_namedtuple():
    meta = collections.namedtuple("Meta", [])()
    assert T.Compose([T.RandomHorizontalFlip(1.0)], seed=0)({"image": zeros(8, 8, 3), "meta": meta})["meta"] is meta
