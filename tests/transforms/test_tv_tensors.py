"""Samples of torchvision's tv_tensors, or of a stand-in: targets by type."""

import pytest
import torch
from helpers.child_process import python

from cuaug.transforms.sample_structure import parse_sample


def add_one(sample, size):
    """The sample with 1 added to every target but labels."""
    parsed = parse_sample(sample)

    def plus(value):
        return [plus(entry) for entry in value] if isinstance(value, list) else value + 1

    kinds = {target.kind for target in parsed.targets} - {"labels"}
    return parsed.rebuild({kind: [plus(target.value) for target in parsed.targets_of(kind)] for kind in kinds}, size)


def test_structure_tv_tensors_are_targets_by_type(tv):
    sample = {
        "anything": tv.Image(torch.zeros(3, 8, 8)),
        "at": [tv.Mask(torch.zeros(8, 8)), torch.zeros(3)],
        "all": tv.BoundingBoxes(torch.zeros(5, 4), format="XYWH", canvas_size=(8, 8)),
        "points": tv.KeyPoints(torch.zeros(6, 2), canvas_size=(8, 8)),
    }
    parsed = parse_sample(sample)
    assert [(target.kind, target.format, target.sample_axis_added) for target in parsed.targets] == [
        ("images", None, False), ("masks", None, False), ("boxes", "XYWH", True), ("keypoints", None, True),
    ]  # fmt: skip
    for target in parsed.targets:
        arrays = target.value if isinstance(target.value, list) else [target.value]
        assert {type(array) for array in arrays} == {torch.Tensor}
    rebuilt = add_one(sample, (5, 6))
    rebuilt_arrays = [rebuilt["anything"], rebuilt["at"][0], rebuilt["all"], rebuilt["points"]]
    assert [type(array) for array in rebuilt_arrays] == [tv.Image, tv.Mask, tv.BoundingBoxes, tv.KeyPoints]
    assert all(bool((array.as_subclass(torch.Tensor) == 1).all()) for array in rebuilt_arrays)
    assert (rebuilt["all"].format.name, rebuilt["all"].canvas_size, rebuilt["points"].canvas_size) == (
        "XYWH",
        (5, 6),
        (5, 6),
    )
    assert sample["all"].canvas_size == (8, 8)
    assert rebuilt["at"][1] is sample["at"][1]


def test_structure_tv_tensors_of_batch_keep_types(tv):
    boxes = [tv.BoundingBoxes(torch.zeros(n, 4), format="XYXY", canvas_size=(8, 8)) for n in (2, 1)]
    sample = (
        tv.Image(torch.zeros(2, 3, 8, 8)),
        [{"boxes": entry, "labels": torch.zeros(len(entry))} for entry in boxes],
    )
    rebuilt = add_one(sample, [(5, 6), (7, 8)])
    assert type(rebuilt[0]) is tv.Image
    assert [entry["boxes"].canvas_size for entry in rebuilt[1]] == [(5, 6), (7, 8)]
    assert [type(entry["boxes"]) for entry in rebuilt[1]] == [tv.BoundingBoxes] * 2
    listed = add_one(([tv.Image(torch.zeros(3, 8, 8)), tv.Image(torch.zeros(3, 9, 8))], boxes), [(5, 6), (7, 8)])
    assert [type(entry) for entry in listed[0]] == [tv.Image] * 2
    assert [entry.canvas_size for entry in listed[1]] == [(5, 6), (7, 8)]
    dense = parse_sample([tv.Image(torch.zeros(3, 8, 8))] * 2).rebuild({"images": [torch.zeros(2, 3, 4, 4)]}, (4, 4))
    assert type(dense) is tv.Image
    assert dense.shape == (2, 3, 4, 4)


def test_structure_tv_tensors_validity_of_boxes_is_a_plain_tensor(tv):
    sample = {"image": tv.Image(torch.zeros(3, 8, 8)),
              "boxes": tv.BoundingBoxes(torch.zeros(2, 4), format="XYXY", canvas_size=(8, 8))}  # fmt: skip
    rebuilt = parse_sample(sample).rebuild({"valid": [[torch.ones(2, dtype=torch.bool)]]}, (8, 8))
    assert type(rebuilt["valid"]) is torch.Tensor


def test_structure_tv_tensors_pair_is_image_and_label_or_mask(tv):
    assert [target.kind for target in parse_sample((tv.Image(torch.zeros(3, 8, 8)), 5)).targets] == ["images", "labels"]
    kinds = [
        target.kind for target in parse_sample((tv.Image(torch.zeros(3, 8, 8)), tv.Mask(torch.zeros(8, 8)))).targets
    ]
    assert kinds == ["images", "masks"]


def test_structure_tv_tensors_video_is_one_sample(tv):
    target = parse_sample(tv.Video(torch.zeros(5, 3, 8, 8))).targets[0]
    assert (tuple(target.value.shape), target.layout) == ((1, 5, 3, 8, 8), "NTCHW")
    rebuilt = add_one({"clip": tv.Video(torch.zeros(5, 3, 8, 8))}, (8, 8))["clip"]
    assert (type(rebuilt), tuple(rebuilt.shape)) == (tv.Video, (5, 3, 8, 8))
    assert parse_sample(tv.Video(torch.zeros(2, 5, 3, 8, 8))).samples == 2


def test_structure_tv_tensors_reject_boxes_of_two_formats(tv):
    boxes = [tv.BoundingBoxes(torch.zeros(2, 4), format=name, canvas_size=(8, 8)) for name in ("XYXY", "XYWH")]
    with pytest.raises(ValueError, match=r"boxes at \['boxes'\] must have one format, got XYWH, XYXY"):
        parse_sample({"images": torch.zeros(2, 3, 8, 8), "boxes": boxes})


def test_structure_does_not_import_torchvision():
    program = """
import sys
import numpy as np
from cuaug.transforms.sample_structure import parse_sample
kinds = [target.kind for target in parse_sample({"images": np.zeros((2, 3, 8, 8))}).targets]
print(kinds, "torchvision" in sys.modules)
"""
    assert python(program)[0] == "['images'] False"
