"""Detection targets as in torchvision's references: which entries are transformed, and which stay as they are."""

import pathlib

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T
from cuaug.transforms import sample_kinds
from cuaug.transforms.sample_structure import parse_sample

CROP = [T.CenterCrop((15, 9))]  # of (23, 17): 4 rows and 4 columns are cut off at each side
BOXES = [(0.0, 0, 3, 3), (5, 6, 10, 12), (4, 5, 8, 9)]  # the crop removes the first
UNTOUCHED = ("image_id", "size", "orig_size", "path", "file", "none", "count", "score", "weights", "segmentation")
PER_OBJECT = ("labels", "area", "iscrowd", "difficult")


def image():
    return torch.from_numpy(noise((3, 23, 17)))


def target(count=3, tv=None):
    """A target of an image (23, 17) with `count` objects; of tv_tensors if the module is given."""
    boxes, masks = torch.tensor(BOXES[:count]).reshape(count, 4), torch.zeros(count, 23, 17, dtype=torch.uint8)
    masks[:, 6:9, 5:8] = torch.arange(10, 10 + count, dtype=torch.uint8)[:, None, None]
    if tv is not None:
        boxes, masks = tv.BoundingBoxes(boxes, format="XYXY", canvas_size=(23, 17)), tv.Mask(masks)
    return {
        "boxes": boxes, "labels": torch.arange(count), "masks": masks, "keypoints": torch.full((count, 5, 3), 7.0),
        "area": torch.arange(count) * 100.0, "iscrowd": torch.arange(count) % 2,
        "difficult": torch.arange(count) % 2, "image_id": torch.tensor([7]),
        "size": torch.tensor([23, 17]), "orig_size": torch.tensor([46, 34]), "path": "a.jpg",
        "file": pathlib.Path("a.jpg"), "none": None, "count": count, "score": np.float32(0.5),
        "weights": torch.ones(23, 17), "segmentation": [[1.0, 2, 3, 4]],
    }  # fmt: skip


def calls(aug, tv=None):
    """The targets before and after calls with targets of 3, 0 and 1 objects, in each structure."""
    before = [target(count, tv) for count in (3, 0, 1)]
    images = [image() if tv is None else tv.Image(image()) for _ in before]
    pairs = list(zip(images, before, strict=True))
    in_dicts = [{"image": picture, **target_dict} for picture, target_dict in pairs]
    after = {
        "(image, target)": [aug(pair)[1] for pair in pairs],
        "image, target": [aug(*pair)[1] for pair in pairs],
        "a list of pairs": [moved for _, moved in aug(pairs)],
        "lists": aug((images, before))[1],
        "tuples, as arguments": aug(tuple(images), tuple(before))[1],
        "a batch and a list": aug(torch.stack(images), before)[1],
        "dicts": [aug(sample) for sample in in_dicts],
        "a list of dicts": aug(in_dicts),
        "a target in a dict": [
            aug({"image": picture, "target": target_dict})["target"] for picture, target_dict in pairs
        ],
    }
    return before, after


@pytest.mark.parametrize("use_types", [False, True], ids=["plain", "tv_tensors"])
def test_compose_detection_target_keeps_entries_that_are_no_targets(tv, use_types):
    before, after = calls(T.Compose(CROP), tv if use_types else None)
    for name, targets in after.items():
        for old, new in zip(before, targets, strict=True):
            changed = [key for key in (*UNTOUCHED, *PER_OBJECT) if new[key] is not old[key]]
            assert not changed, f"changed in {name}: {changed}"
            assert type(new["boxes"]) is type(old["boxes"])
            assert type(new["masks"]) is type(old["masks"])
            assert tuple(new["masks"].shape) == (len(old["labels"]), 15, 9)
            assert set(new) - {"image"} == {*old, "valid"}  # `Compose` adds which boxes are still within the image


@pytest.mark.parametrize("use_types", [False, True], ids=["plain", "tv_tensors"])
def test_compose_compact_removes_all_entries_of_an_object(tv, use_types):
    before, after = calls(T.Compose(CROP, boxes=T.Boxes(compact=True)), tv if use_types else None)
    for targets in after.values():
        for old, new, rows in zip(before, targets, ([1, 2], [], []), strict=True):
            for key in PER_OBJECT:
                assert_equal(new[key], old[key][rows])
            assert [len(new[key]) for key in ("boxes", "masks", "keypoints")] == [len(rows)] * 3
            assert all(new[key] is old[key] for key in UNTOUCHED)


def test_compose_compact_without_removed_boxes_returns_entries_as_they_are():
    sample = target()
    sample["boxes"] = torch.tensor([(5.0, 6, 10, 12)] * 3)
    _, moved = T.Compose(CROP, boxes=T.Boxes(compact=True))(image(), sample)
    assert all(moved[key] is sample[key] for key in (*UNTOUCHED, *PER_OBJECT))


def test_compose_compact_removes_entries_of_padded_batch():
    stacked = {key: torch.stack([value, value]) for key, value in target().items() if torch.is_tensor(value)}
    moved = T.Compose(CROP, boxes=T.Boxes(compact=True))({"images": torch.stack([image()] * 2), **stacked})
    for key in PER_OBJECT:
        assert_equal(moved[key][1], stacked[key][1][1:])
    assert all(moved[key] is stacked[key] for key in ("image_id", "size", "orig_size"))


def test_compose_compact_rejects_other_number_of_areas():
    with pytest.raises(ValueError, match=r"cuaug.transforms.Compose: area\[0\] must hold one entry per box, 3, got 2"):
        T.Compose(CROP, boxes=T.Boxes(compact=True))(image(), target() | {"area": torch.ones(2)})


@pytest.mark.parametrize("form", [list, np.stack], ids=["list", "array"])
def test_compose_compact_rejects_listed_labels_of_another_number(form):
    recipe, boxes = T.Compose(CROP, boxes=T.Boxes(compact=True)), form([np.zeros((2, 4)), np.zeros((2, 4))])
    sample = {"images": [image(), image()], "boxes": boxes}
    with pytest.raises(
        ValueError, match=r"cuaug.transforms.Compose: labels\[0\] must hold one entry per box, 2, got 1"
    ):
        recipe(sample | {"labels": [[1], [1, 2]]})
    assert recipe(sample | {"labels": [5, 6]})["labels"] == [5, 6]  # one per image


@pytest.mark.parametrize("use_types", [False, True], ids=["plain", "tv_tensors"])
def test_compose_empty_list_is_accepted_as_masks_of_one_sample(tv, use_types):
    pictures, targets = [image(), image()], [target(2, tv if use_types else None), target(0)]
    targets[1] |= {"masks": [], "boxes": [] if not use_types else targets[1]["boxes"]}
    targets = [{"masks": target_dict["masks"]} if use_types else target_dict for target_dict in targets]
    aug, masks = T.Compose(CROP), [target_dict["masks"] for target_dict in targets]
    expected = aug(pictures[0], masks[0])[1]
    for name, results in {
        "lists": aug(pictures, masks)[1],
        "lists, the empty one first": aug(pictures, masks[::-1])[1][::-1],
        "a batch": aug(torch.stack(pictures), masks)[1],
        "lists in a dict": aug({"images": pictures, "masks": masks})["masks"],
        "images, targets": [target_dict["masks"] for target_dict in aug(pictures, targets)[1]],
        "pairs": [target_dict["masks"] for _, target_dict in aug([*zip(pictures, targets, strict=True)])],
    }.items():
        assert_equal(results[0].as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor))
        assert (tuple(results[1].shape), results[1].dtype) == ((0, 15, 9), torch.uint8), name
    assert tuple(aug(pictures[0], [])[1].shape) == (0, 15, 9)
    assert tuple(aug({"image": pictures[0], "masks": []})["masks"].shape) == (0, 15, 9)
    clip = torch.stack([image()] * 4)[None]
    assert tuple(aug({"images": clip, "masks": [[]]}, layout="NTCHW")["masks"][0].shape) == (4, 0, 15, 9)


def test_compose_accepts_target_of_only_an_image_id():
    """As torchvision's wrapper of CocoDetection gives for an image without annotations."""
    sample = {"image_id": torch.tensor([7])}
    assert T.Compose(CROP)(image(), sample)[1]["image_id"] is sample["image_id"]


def test_compose_finds_masks_under_unknown_keys_of_second_argument():
    road, lane = torch.ones(23, 17, dtype=torch.uint8), torch.zeros(23, 17, dtype=torch.uint8)
    _, moved = T.Compose(CROP)(image(), {"road": road, "lane": lane, "image_id": 5})
    assert (tuple(moved["road"].shape), tuple(moved["lane"].shape), moved["image_id"]) == ((15, 9), (15, 9), 5)


def test_structure_type_decides_before_key(tv):
    box = tv.BoundingBoxes(torch.zeros(2, 4), format="XYXY", canvas_size=(8, 8))
    sample = {"image": tv.Mask(torch.zeros(8, 8)), "x": tv.Image(torch.zeros(3, 8, 8)), "masks": box, "area": [box]}
    kinds = [target.kind for target in parse_sample(sample).targets]
    assert kinds == ["masks", "images", "boxes", "boxes"]


def test_structure_arrays_beside_tv_tensor_stay(tv):
    box, depth = tv.BoundingBoxes(torch.zeros(2, 4), format="XYXY", canvas_size=(8, 8)), torch.zeros(8, 8)
    sample = (tv.Image(torch.zeros(3, 8, 8)), box, torch.zeros(2), depth)
    assert [target.kind for target in parse_sample(sample).targets] == ["images", "boxes"]
    for pair in (sample[::3], ([sample[0]] * 2, [depth] * 2)):
        assert [target.kind for target in parse_sample(pair).targets] == ["images"]
    with pytest.raises(ValueError, match=r"shape \(8, 8\) at \[3\] could be masks, boxes or other images"):
        parse_sample((torch.zeros(3, 8, 8), *sample[1:]))


@pytest.mark.parametrize("value", [None, "a.png", b"a", 3, 2.5, True, np.float32(1), pathlib.Path("a.png")], ids=repr)
@pytest.mark.parametrize("key", sorted({*sample_kinds.KINDS} - {"images"}))
def test_structure_scalars_and_paths_stay_under_every_key(key, value):
    sample = {"images": torch.zeros(1, 3, 8, 8), key: value}
    parsed = parse_sample(sample)
    assert {target.kind for target in parsed.targets} <= {"images", *sample_kinds.VALUE_KINDS}
    assert parsed.rebuild({"images": [torch.zeros(1, 3, 4, 4)]}, (4, 4))[key] is value
