"""Objects of a sample: images without objects, and boxes that are compacted with all that belongs to their objects."""

import numpy as np
import pytest
from helpers.arrays import every_backend, images, noise, put
from helpers.compare import assert_equal
from helpers.moves import MOVES, recipe

from cuaug import transforms as T


def photo(backend, height=23, seed=0):
    return images(backend, shape=(1, height, 17, 3), seed=seed)[0]


def stack(backend, count, height=23, dtype="uint8"):
    return put(noise((count, height, 17), dtype, seed=count), backend)


@every_backend
@pytest.mark.parametrize("name", MOVES)
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
    with pytest.raises(ValueError, match=r"cuaug.Compose: masks must be one mask.*\(23, 17\), got shape"):
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
