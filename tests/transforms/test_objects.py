"""Objects of a sample: images without objects, and boxes that are compacted with all that belongs to their objects."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, images, noise, put
from helpers.compare import assert_equal, to_numpy
from helpers.mask_recipes import MASK_RECIPES, recipe

from cuaug import transforms as T
from cuaug._arrays import convert


def photo(backend, height=23, seed=0):
    return images(backend, shape=(1, height, 17, 3), seed=seed)[0]


def stack(backend, count, height=23, dtype="uint8"):
    return put(noise((count, height, 17), dtype, seed=count), backend)


@every_backend
@pytest.mark.parametrize("name", MASK_RECIPES)
def test_compose_empty_stack_of_masks_takes_the_new_size(backend, name):
    aug, batch = recipe(name), images(backend, shape=(3, 23, 17, 3))
    (height, width), dtype = aug.draw(batch).result_size, "int32"
    _, moved = aug(photo(backend), stack(backend, 0, dtype=dtype))
    assert_equal(moved, put(np.zeros((0, height, width), dtype), backend))
    _, moved = aug(batch, put(np.zeros((3, 0, 23, 17), dtype), backend))
    assert_equal(moved, put(np.zeros((3, 0, height, width), dtype), backend))
    _, moved = aug(batch, put(np.zeros((3, 23, 17, 0), dtype), backend))
    assert_equal(moved, put(np.zeros((3, height, width, 0), dtype), backend))


@every_backend
@pytest.mark.parametrize("heights", [(23, 23, 23), (23, 30, 18)], ids=["one size", "ragged"])
@pytest.mark.parametrize("counts", [(0, 2, 3), (2, 0, 2), (0, 0, 0)], ids=str)
@pytest.mark.parametrize("name", ["antialiased", "two passes", "colours"])
def test_compose_lists_with_empty_stacks_equal_single_masks(backend, heights, counts, name):
    photos = [photo(backend, height, seed=i) for i, height in enumerate(heights)]
    stacks = [stack(backend, *sizes) for sizes in zip(counts, heights, strict=True)]
    moved_images, moved = recipe(name)(photos, stacks, step=1)
    for i, (image, masks) in enumerate(zip(moved_images, moved, strict=True)):
        size = tuple(image.shape[1:] if backend[0] == "torch" else image.shape[:2])
        assert tuple(masks.shape) == (counts[i], *size)
        if counts[i]:
            assert_equal(masks, recipe(name)(photos[i], stacks[i], ids=i, step=1)[1])


def test_compose_empty_masks_of_video_take_the_new_size():
    video = np.moveaxis(noise((2, 3, 23, 17, 3)), -1, 2)
    _, moved = recipe("crops")(video, np.zeros((2, 3, 0, 23, 17), bool), layout="NTCHW")
    assert_equal(moved, np.zeros((2, 3, 0, 15, 12), bool))


@pytest.mark.parametrize("masks", [np.zeros((0, 23, 16)), np.zeros((0, 17, 23))], ids=np.shape)
def test_compose_empty_masks_of_another_size_are_refused(masks):
    with pytest.raises(ValueError, match=r"cuaug.transforms.Compose: masks must be one mask.*\(23, 17\), got shape"):
        recipe("crops")(noise((23, 17, 3)), masks)


def detection_target(backend, count, height=23):
    arrays = {
        "boxes": np.tile([1.0, 2, 9, 9], (count, 1)),
        "labels": np.arange(count),
        "keypoints": np.ones((count, 5, 3)),
    }
    target = {name: put(array.astype("float32"), backend) for name, array in arrays.items()}
    return target | {"masks": stack(backend, count, height)}


@every_backend
@pytest.mark.parametrize("compact", [False, True])
def test_compose_detection_targets_without_objects_keep_their_shapes(backend, compact):
    aug = T.Compose([T.RandomRotation(9), T.Resize((11, 12))], boxes=T.Boxes(compact=compact))
    shapes = {"boxes": (0, 4), "labels": (0,), "keypoints": (0, 5, 3), "masks": (0, 11, 12)}

    def shapes_of(target):
        return {name: tuple(target[name].shape) for name in shapes}

    assert shapes_of(aug({"image": photo(backend), **detection_target(backend, 0)})) == shapes
    sizes = [(0, 23), (2, 23), (0, 30)]
    pairs = [(photo(backend, height), detection_target(backend, count, height)) for count, height in sizes]
    moved = [target for _, target in aug(pairs)]
    in_dicts = aug([{"image": image, **target} for image, target in pairs])
    for targets in (moved, in_dicts):
        assert [shapes_of(targets[i]) for i in (0, 2)] == [shapes, shapes]
        assert tuple(targets[1]["masks"].shape[1:]) == (11, 12)
    batch = images(backend, shape=(2, 23, 17, 3))
    _, moved = aug((batch, [detection_target(backend, 0)] * 2))
    assert [shapes_of(target) for target in moved] == [shapes, shapes]
    padded = {"masks": (0, 23, 17)} | {name: shapes[name] for name in ("boxes", "labels", "keypoints")}
    padded = {name: put(np.zeros((2, *shape), "float32"), backend) for name, shape in padded.items()}
    moved = aug({"images": batch, **padded})
    assert {name: tuple(moved[name][1].shape) for name in shapes} == shapes


def detection_samples(backend):
    """Photos with the targets of 2, 0 and 3 objects, and which of these objects `CROP` keeps.

    Object k of a sample has the number 10 + k in its mask, and the keypoints (7 + k, 7 + k, 2).
    """
    boxes = [[(0, 0, 3, 3), (5, 6, 10, 12)], [], [(4, 5, 8, 9), (0, 20, 4, 23), (9, 9, 12, 14)]]
    kept = [[1], [], [0, 2]]
    samples = []
    for n, edges in enumerate(boxes):
        masks = np.zeros((len(edges), 23, 17), np.uint8)
        for k, (left, top, right, bottom) in enumerate(edges):
            masks[k, top:bottom, left:right] = 10 + k
        points = np.ones((len(edges), 5, 3), "f4") * np.arange(len(edges), dtype="f4")[:, None, None]
        points[..., :2], points[..., 2] = points[..., :2] + 7, 2
        arrays = {
            "boxes": np.array(edges, "f4").reshape(-1, 4),
            "labels": np.arange(len(edges), dtype="i4") + 10 * n,
            "masks": masks,
            "keypoints": points,
        }
        samples.append((photo(backend, seed=n), {name: put(array, backend) for name, array in arrays.items()}))
    return samples, kept


CROP = [T.CenterCrop((15, 9))]  # of (23, 17): 4 rows and 4 columns are cut off at each side


def check_objects(compacted, target, kept):
    """All arrays of a target, compacted, are those of the kept objects, moved as without compacting."""
    indices = np.array(kept, int)
    for name in ("boxes", "labels", "masks", "keypoints"):
        assert len(compacted[name]) == len(kept)
        assert_equal(to_numpy(compacted[name]), to_numpy(target[name])[indices])


@every_backend
def test_compose_compact_removes_all_of_an_object(backend):
    samples, kept = detection_samples(backend)
    moved = [target for _, target in T.Compose(CROP)(samples)]
    compact = T.Compose(CROP, boxes=T.Boxes(compact=True))
    in_pairs = [target for _, target in compact(samples)]
    in_dicts = compact([{"image": image, **target} for image, target in samples])
    single = [compact({"image": image, "target": target})["target"] for image, target in samples]
    names = "masks", "boxes", "keypoints", "labels"
    by_argument = [compact(image, **{name: target[name] for name in names}) for image, target in samples]
    named = [dict(zip(names, results[1:], strict=True)) for results in by_argument]
    for results in (in_pairs, in_dicts, single, named):
        for result, target, indices in zip(results, moved, kept, strict=True):
            check_objects(result, target, indices)
    assert [int(to_numpy(mask).max()) for mask in in_pairs[2]["masks"]] == [10, 12]


@every_backend
def test_compose_compact_removes_objects_of_padded_batch(backend):
    samples, kept = detection_samples(backend)
    samples, kept = [samples[0], samples[2]], [kept[0], kept[2]]

    def padded(name):
        arrays = [to_numpy(target[name]) for _, target in samples]
        result = np.zeros((2, 3, *arrays[0].shape[1:]), arrays[0].dtype)
        for row, array in zip(result, arrays, strict=True):
            row[: len(array)] = array
        return put(result, backend)

    batch = {name: padded(name) for name in ("boxes", "labels", "masks", "keypoints")}
    batch["images"] = images(backend, shape=(2, 23, 17, 3))
    moved, compacted = (T.Compose(CROP, boxes=T.Boxes(compact=value))(batch) for value in (False, True))
    for n in range(2):
        target = {name: moved[name][n] for name in ("boxes", "labels", "masks", "keypoints")}
        check_objects({name: compacted[name][n] for name in target}, target, kept[n])


def test_compose_compact_removes_objects_of_ragged_images():
    samples, _ = detection_samples(("numpy", "cpu"))
    heights = (23, 27, 31)
    for n, height in enumerate(heights):
        image, target = samples[n]
        pad = [(0, height - 23), (0, 0)]
        samples[n] = np.pad(image, [*pad, (0, 0)]), target | {"masks": np.pad(target["masks"], [(0, 0), *pad])}
    smaller = [T.Resize((15, 9)), T.CenterCrop((11, 7))]
    options = [T.Boxes(min_area=4, compact=compact) for compact in (False, True)]
    moved, compacted = (T.Compose(smaller, boxes=boxes)(samples) for boxes in options)
    for (_, target), (_, result) in zip(moved, compacted, strict=True):
        check_objects(result, target, np.flatnonzero(target["valid"]))
    assert [len(result["masks"]) for _, result in compacted] != [2, 0, 3]


@pytest.mark.parametrize("as_labels", [lambda rows: rows, lambda rows: [np.array(row) for row in rows], np.array])
@pytest.mark.parametrize("as_boxes", [np.asarray, list])
def test_compose_compact_removes_labels_of_boxes(as_boxes, as_labels):
    """Also labels in an array beside boxes in a list."""
    boxes = np.array([[[0, 0, 5, 5], [9, 9, 9, 9]], [[3, 3, 3, 9], [1, 1, 8, 8]]], np.float32)  # one of each is empty
    aug = T.Compose([T.Identity()], boxes=T.Boxes(compact=True))
    sample = {"images": noise((2, 10, 10, 3)), "boxes": as_boxes(boxes), "labels": as_labels([[1, 2], [3, 4]])}
    _, new_boxes, labels = aug(sample).values()
    assert [[int(label) for label in entry] for entry in labels] == [[1], [4]]
    assert [entry.tolist() for entry in new_boxes] == [[[0, 0, 5, 5]], [[1, 1, 8, 8]]]
    weights = np.eye(3)[:2]  # of three classes
    assert aug(sample | {"labels": weights})["labels"] is weights


def test_compose_compact_leaves_arrays_that_are_not_per_object():
    """As many entries in each sample, but not as many as boxes: masks of classes, points of the image."""
    boxes = [np.array([(0.0, 0, 3, 3), (5, 6, 10, 12)]), np.array([(0.0, 0, 3, 3)])]
    photos, compact = [noise((23, 17, 3))] * 2, T.Compose(CROP, boxes=T.Boxes(compact=True))
    for count in (1, 3):
        masks, points = [np.ones((count, 23, 17), np.uint8)] * 2, [np.full((count, 4, 2), 6.0)] * 2
        _, masks, moved, points = compact(photos, masks, boxes, points)
        assert [len(entry) for entry in moved] == [1, 0]
        assert [entry.shape for entry in masks] == [(count, 15, 9)] * 2
        assert [entry.shape for entry in points] == [(count, 4, 2)] * 2
    # Two boxes: masks [H, W] are of the image, masks [H, W, 2] of classes, points [2, 2] of the image.
    for masks in (np.ones((23, 17), np.uint8), np.ones((23, 17, 2), np.uint8)):
        _, cropped, moved, points = compact(photos[0], masks, boxes[0], np.full((2, 2), 6.0))
        assert (len(moved), cropped.shape, points.shape) == (1, (15, 9, *masks.shape[2:]), (2, 2))


def test_compose_compact_leaves_masks_of_frames():
    video, boxes = np.moveaxis(noise((1, 2, 23, 17, 3)), -1, 2), np.array([[(0.0, 0, 3, 3), (5, 6, 10, 12)]])
    compact = T.Compose(CROP, boxes=T.Boxes(compact=True))
    _, masks, moved = compact(video, np.ones((1, 2, 23, 17), np.uint8), boxes, layout="NTCHW")
    assert (len(moved[0]), masks.shape) == (1, (1, 2, 15, 9))


@pytest.mark.parametrize("name", ["masks", "keypoints"])
def test_compose_compact_rejects_other_numbers_per_sample(name):
    samples, _ = detection_samples(("numpy", "cpu"))
    samples[2][1][name] = samples[2][1][name][:1]
    message = rf"cuaug.transforms.Compose: {name}\[2\] must hold one entry per box, 3, got 1; .*compact=False"
    with pytest.raises(ValueError, match=message):
        T.Compose(CROP, boxes=T.Boxes(compact=True))(samples)
    assert len(T.Compose(CROP)(samples)[2][1][name]) == 1


@pytest.mark.parametrize("key", ["label", "labels", "difficult", "mask", "masks"])
def test_compose_compact_names_the_key_of_the_sample(key):
    """`label` and `mask` are other keys of labels and masks."""
    images, boxes = [noise((23, 17, 3))] * 2, [np.array([[1.0, 1, 9, 9]] * n) for n in (3, 1)]
    values = [np.ones((3, 23, 17), np.uint8), np.ones((2, 23, 17), np.uint8)] if "mask" in key else [[1, 2, 3], [4, 5]]
    sample = {"images": images, "boxes": boxes, key: values}
    with pytest.raises(
        ValueError, match=rf"cuaug.transforms.Compose: {key}\[1\] must hold one entry per box, 1, got 2"
    ):
        T.Compose(CROP, boxes=T.Boxes(compact=True))(sample)


def test_compose_compact_waits_once_for_all_of_an_object(monkeypatch):
    samples, _ = detection_samples(("numpy", "cpu"))
    waits, to_host = [], convert.to_host
    monkeypatch.setattr(convert, "to_host", lambda value: waits.append(1) or to_host(value))
    T.Compose(CROP, boxes=T.Boxes(compact=True))(samples)
    assert len(waits) == 1


def test_compose_compact_keeps_type_of_tv_masks(tv):
    _, target = detection_samples(("torch", "cpu"))[0][0]
    boxes = tv.BoundingBoxes(target["boxes"], format="XYXY", canvas_size=(23, 17))
    sample = tv.Image(torch.zeros(3, 23, 17)), boxes, tv.Mask(target["masks"])
    _, moved, masks = T.Compose(CROP, boxes=T.Boxes(compact=True))(sample)
    assert (type(moved), type(masks), len(moved), tuple(masks.shape)) == (tv.BoundingBoxes, tv.Mask, 1, (1, 15, 9))
