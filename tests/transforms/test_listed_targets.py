"""Targets as nested lists of numbers, and without objects in any form: recipes and loaders read them alike."""

import numpy as np
import pytest
from helpers.arrays import noise
from helpers.compare import assert_equal
from helpers.loader import encoded_file

from cuaug import transforms as T
from cuaug.data import ImageFiles, Loader

FLIP = [T.RandomHorizontalFlip(p=1.0)]
BOX, FLIPPED = [1, 2, 5, 8], [12, 2, 16, 8]  # in an image (23, 17)
POINT, FLIPPED_POINT = [3, 4, 2], [13, 4, 2]


def images_of(library, shape):
    """Images and the library's array type."""
    array = noise(shape)
    if library == "numpy":
        return array, np.ndarray
    if library == "jax":
        jax = pytest.importorskip("jax")
        return jax.numpy.asarray(array), jax.Array
    torch = pytest.importorskip("torch")
    return torch.from_numpy(array).movedim(-1, -3).contiguous(), torch.Tensor


def values(array):
    return np.asarray(array).tolist()


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_compose_targets_as_nested_lists_become_arrays_of_the_images_library(library):
    aug = T.Compose(FLIP)
    image, array_type = images_of(library, (23, 17, 3))
    target = {"boxes": [BOX, (0, 0, 2.5, 3)], "keypoints": [[POINT], [POINT]], "labels": [4, 5]}
    _, moved = aug(image, target)
    assert isinstance(moved["boxes"], array_type)
    assert str(moved["boxes"].dtype).removeprefix("torch.") == "float32"
    assert values(moved["boxes"]) == [FLIPPED, [14.5, 0, 17, 3]]
    assert values(moved["keypoints"]) == [[FLIPPED_POINT], [FLIPPED_POINT]]
    assert moved["labels"] is target["labels"]
    images, _ = images_of(library, (2, 23, 17, 3))
    _, boxes, keypoints = aug(images, boxes=[[BOX], [BOX, BOX]], keypoints=[[POINT], [POINT]])
    assert [values(entry) for entry in boxes] == [[FLIPPED], [FLIPPED] * 2]
    assert values(keypoints) == [[FLIPPED_POINT], [FLIPPED_POINT]]
    _, boxes = aug(images, boxes=[[], [BOX]])
    assert [entry.shape for entry in boxes] == [(0, 4), (1, 4)]
    _, moved = aug((list(images), [{"boxes": [BOX]}, {"boxes": []}]))
    assert [values(entry["boxes"]) for entry in moved] == [[FLIPPED], []]
    assert [entry["boxes"].shape for entry in moved] == [(1, 4), (0, 4)]


EMPTY = {
    "lists": list,
    "NumPy": lambda: np.array([]),
    "torch": lambda: pytest.importorskip("torch").tensor([]),
}


def targets_without_objects(form, key):
    """A target with an object, and one without."""
    full = {
        "boxes": np.array([BOX], np.float32),
        "labels": np.array([3]),
        "keypoints": np.array([[POINT]], np.float32),
        "masks": np.ones((1, 23, 17), np.uint8),
    }
    torch = pytest.importorskip("torch") if form == "torch" else None
    full = {k: v if torch is None else torch.from_numpy(v) for k, v in full.items() if k in ("boxes", "labels", key)}
    return full, {k: EMPTY[form]() for k in full}


SHAPES = {"boxes": (0, 4), "keypoints": (0, 1, 3), "masks": (0, 23, 17)}


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("key", SHAPES)
@pytest.mark.parametrize("form", EMPTY)
def test_compose_image_without_objects(form, key, compact):
    aug = T.Compose(FLIP, boxes=T.Boxes(compact=compact))
    full, empty = targets_without_objects(form, key)
    image = images_of("torch" if form == "torch" else "numpy", (23, 17, 3))[0]
    for targets in ([full, empty], [empty, full]):
        _, moved = aug(([image, image], targets))
        (result,) = (entry for entry in moved if len(entry["labels"]) == 0)
        assert tuple(result["boxes"].shape) == (0, 4)
        assert tuple(result[key].shape) == SHAPES[key]
        assert str(moved[int(targets[1] is full)]["boxes"].dtype).endswith("float32")
    _, single = aug(image, empty)
    assert tuple(single["boxes"].shape) == (0, 4)
    assert tuple(single[key].shape) == (SHAPES[key] if key != "keypoints" else (0, 2))


@pytest.mark.jpeg
@pytest.mark.parametrize("key", SHAPES)
@pytest.mark.parametrize("form", EMPTY)
def test_loader_image_without_objects(form, key):
    targets = targets_without_objects(form, key)
    source = ImageFiles([encoded_file(noise((23, 17, 3)))] * 2, targets=targets)
    ((_, moved),) = Loader(source, 2, T.Compose([T.Resize((23, 17)), *FLIP]), library="numpy")
    assert moved[1]["boxes"].shape == (0, 4)
    assert moved[1]["labels"].shape == (0,)
    assert moved[1][key].shape == SHAPES[key]
    assert moved[1]["labels"].dtype == np.int64
    assert moved[0]["boxes"].dtype == moved[1]["boxes"].dtype == np.float32
    assert_equal(moved[0]["boxes"], np.array([FLIPPED], np.float32))


MESSAGES = {
    "rows of two lengths": (
        lambda aug, x: aug(x, {"boxes": [BOX, [1, 2]]}),
        r"boxes at \['target'\]\['boxes'\] must be",
    ),
    "texts": (lambda aug, x: aug(x, {"boxes": [["a"] * 4]}), r"boxes at \['target'\]\['boxes'\] must be an array"),
    "an object": (lambda aug, x: aug(x, {"boxes": object()}), r"boxes at \['target'\]\['boxes'\] must be an array"),
    "an object in a list of targets": (
        lambda aug, x: aug([x], [{"boxes": object()}]),
        r"boxes at \['target'\]\[0\]\['boxes'\] must be an array",
    ),
    "boxes by position": (
        lambda aug, x: aug(x, np.ones((5, 4))),
        r"masks must be .*\(5, 4\); boxes are given as boxes=",
    ),
    "boxes of a batch by position": (
        lambda aug, x: aug(np.stack([x] * 2), np.ones((2, 5, 4))),
        r"masks must be .*\(2, 5, 4\); boxes are given as boxes=",
    ),
    "lists by position": (
        lambda aug, x: aug(x, [BOX]),
        r"masks must be .* lists of numbers; boxes are given as boxes=",
    ),
    "a list of labels by position": (
        lambda aug, x: aug([x] * 3, [0, 1, 2]),
        "masks must be .* got a list of int; labels are given as labels=",
    ),
}


@pytest.mark.parametrize(("call", "message"), MESSAGES.values(), ids=MESSAGES)
def test_compose_messages_name_what_the_user_wrote(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(T.Compose(FLIP), noise((23, 17, 3)))


def test_compose_moves_boxes_of_the_key_bbox():
    aug = T.Compose(FLIP, boxes=T.Boxes("XYWH"))
    sample = {"image": noise((23, 17, 3)), "bbox": np.array([[1.0, 2, 4, 6]])}
    assert aug(sample)["bbox"].tolist() == [[12, 2, 4, 6]]
    assert aug(sample["image"], {"bbox": [[1, 2, 4, 6]]})[1]["bbox"].tolist() == [[12, 2, 4, 6]]


@pytest.mark.parametrize("lists", [[[], []], [[], [[1.0, 2.0, 5.0, 6.0]]]], ids=["no object", "one object"])
def test_compose_batch_of_listed_boxes_may_have_no_object(lists):
    images = np.zeros((2, 23, 17, 3), np.uint8)
    boxes = T.Compose(FLIP)({"images": images, "boxes": lists})["boxes"]
    assert [tuple(entry.shape) for entry in boxes] == [(len(entry), 4) for entry in lists]


def test_compose_listed_boxes_beyond_float32_are_not_valid():
    """Without a warning of NumPy, which is an error in these tests."""
    images = noise((1, 9, 9, 3))
    boxes = [[[1e300, 0, 1e301, 4], [0, 0, 5, 5]]]
    for transform in (*FLIP, T.RandomIoUCrop(sampler_options=[0.0])):
        moved = T.Compose([transform], seed=1)({"images": images, "boxes": boxes}, step=0)
        assert [valid.tolist() for valid in moved["valid"]] == [[False, True]]
