"""`Compose.check`: the targets and results that it reports, and its warnings of suspicious values."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import assert_equal

from cuaug import transforms as T

SHAPE = (3, 17, 11, 3)
BATCH = noise(SHAPE)
FLOATS = np.linspace(0, 1, BATCH.size, dtype=np.float32).reshape(SHAPE)
JITTER = T.Compose([T.RandomHorizontalFlip(), T.ColorJitter(0.2)], seed=0)
FLIP = T.Compose([T.RandomHorizontalFlip()], seed=0)
BOXES = np.array([[[1.0, 2, 5, 9], [2, 1, 10, 16]]] * 3)


MEANS, STDS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Flip(T.RandomHorizontalFlip):
    """A class of a user."""


def with_value(array, value):
    array = array.copy()
    array.reshape(-1)[7] = value
    return array


SUSPICIOUS = {
    "floats in 0..255": (
        lambda: JITTER.check(FLOATS * 255),
        "values 0..255, but ops of the recipe read floats as 0..1",
    ),
    "normalized floats": (lambda: JITTER.check(FLOATS * 4 - 2), "before they are normalized"),
    "floats in a RandomApply": (
        lambda: T.Compose([T.RandomApply([T.ColorJitter(0.2)])]).check(FLOATS * 255),
        "divide them by 255",
    ),
    "NaN": (lambda: FLIP.check(with_value(FLOATS, np.nan)), "images have 1 values that are NaN"),
    "uint8 of only 1": (lambda: FLIP.check(BATCH // 255 | 1), "no value above 1"),
    "uint8 to Normalize": (
        lambda: T.Compose([T.Normalize(0.5, 0.5)]).check(BATCH),
        "Normalize scales uint8 images to 0..1 first",
    ),
    "int16 to Normalize": (
        lambda: T.Compose([T.Normalize(0.5, 0.5)]).check(BATCH.astype(np.int16)),
        "Normalize scales int16 images to -1..1 first, and makes float32 of them: mean and std must be those of -1..1",
    ),
    "uint8 to Normalize before ToDtype": (
        lambda: T.Compose([T.Normalize(0.5, 0.5), T.ToDtype("float16")]).check(BATCH),
        "Normalize scales uint8 images to 0..1 first: mean and std must be those of 0..1",
    ),
    "unscaled floats to ColorJitter": (
        lambda: T.Compose([T.ToDtype("float32"), T.RandomApply([T.ColorJitter(0.2)])]).check(BATCH),
        "ToDtype without scale=True keeps the levels of uint8, but ColorJitter after it expects floats in 0..1: pass",
    ),
    "unscaled floats to Normalize": (
        lambda: T.Compose([T.ToDtype("float32"), T.CenterCrop(9), T.Normalize(MEANS, STDS)]).check(BATCH),
        "but Normalize after it expects floats in 0..1: pass scale=True",
    ),
    "floats in 0..255 to scaled integers": (
        lambda: T.Compose([T.ToDtype("uint8", scale=True)]).check(FLOATS * 255),
        "divide them by 255",
    ),
    "floats in 0..255 to clipped noise": (
        lambda: T.Compose([T.GaussianNoise(sigma=0.1)]).check(FLOATS * 255),
        "divide them by 255",
    ),
    "floats in 0..255 to Normalize": (
        lambda: T.Compose([T.ToDtype("float32", scale=True), T.Normalize(MEANS, STDS)]).check(FLOATS * 255),
        "values 0..255, but mean and std of Normalize are those of 0..1: divide the images by 255",
    ),
    "transposed": (
        lambda: FLIP.check(noise((2, 3, 20, 21)), layout="NHWC"),
        "axis H of 3, which looks like the channels",
    ),
    "channels first of NumPy": (
        lambda: FLIP.check(noise((4, 5, 64, 48))),
        "read as NHWC, with 48 channels and an axis H of 5, which looks like the channels: pass layout='NCHW'",
    ),
    "13 bands of NumPy": (lambda: FLIP.check(noise((2, 13, 64, 64))), "axis H of 13"),
    "channels last of torch": (
        lambda: FLIP.check(torch.from_numpy(noise((2, 64, 48, 5)))),
        "read as NCHW, with 64 channels and an axis W of 5, which looks like the channels: pass layout='NHWC'",
    ),
    "noise in levels": (
        lambda: T.Compose([T.RandomApply([T.GaussianNoise(sigma=8)])]).check(BATCH),
        "GaussianNoise has sigma 8, but noise is on the scale 0..1 for every dtype: for levels of uint8 pass 8 / 255",
    ),
    "masks of floats": (lambda: FLIP.check(BATCH, FLOATS[..., 0]), "masks are float32"),
    "masks of bfloat16": (
        lambda: FLIP.check(torch.zeros(2, 3, 7, 6, dtype=torch.uint8), torch.zeros(2, 7, 6, dtype=torch.bfloat16)),
        "masks are bfloat16",
    ),
    "boxes in 0..1": (lambda: FLIP.check(BATCH, boxes=BOXES / 20), "boxes are in 0..1"),
    "boxes at the upper left, outside": (
        lambda: FLIP.check(BATCH, boxes=BOXES * 0 + [-50, -40, 1, 1]),
        "6 of 6 boxes reach out of the image of 17 x 11 as XYXY",
    ),
    "boxes of another format": (lambda: FLIP.check(BATCH, boxes=BOXES[..., [2, 3, 0, 1]]), "6 of 6 boxes have x2 < x1"),
    "boxes outside": (lambda: FLIP.check(BATCH, boxes=BOXES * 3), "boxes reach out of the image of 17 x 11 as XYXY"),
    "keypoints in 0..1": (lambda: FLIP.check(BATCH, keypoints=BOXES[..., :2] / 20), "keypoints are in 0..1"),
    "keypoints at the upper left, outside": (
        lambda: FLIP.check(BATCH, keypoints=BOXES[..., :2] * 0 + [-50, 1]),
        "6 of 6 keypoints are outside of the image of 17 x 11",
    ),
    "keypoints outside": (
        lambda: FLIP.check(BATCH, keypoints=BOXES[..., :2] * 9),
        "keypoints are outside of the image",
    ),
    "the width of a crop as its padding": (
        lambda: T.Compose([T.RandomCrop(8, 8)]).check(BATCH),
        "RandomCrop pads by 8, which is not less than a side of its size (8, 8)",
    ),
    "negative labels": (
        lambda: FLIP.check(BATCH, labels=np.array([0, -1, 2])),
        "labels contain -1, but classes are numbered from 0",
    ),
    "labels of NaN": (lambda: FLIP.check(BATCH, labels=np.array([0, np.nan, 2])), "labels have values that are NaN"),
}


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_compose_check_warns_of_suspicious_values(name):
    call, message = SUSPICIOUS[name]
    report = call()
    assert len(report.warnings) == 1, report.warnings
    assert message in report.warnings[0]
    assert report.warnings[0] in str(report)


TO_FLOAT = T.ToDtype("float32", scale=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: JITTER.check(BATCH),
        lambda: JITTER.check(FLOATS),
        lambda: FLIP.check(FLOATS * 255),
        lambda: T.Compose([T.RandomApply([T.RandomRotation(9)]), T.ToDtype("float16")]).check(FLOATS * 255),
        lambda: T.Compose([TO_FLOAT, T.Normalize(0.5, 0.5)]).check(BATCH),
        lambda: T.Compose([TO_FLOAT, T.ColorJitter(0.2), T.Normalize(0.5, 0.5)]).check(BATCH),
        lambda: T.Compose([T.ToDtype("float32"), T.Normalize(127.5, 58.0)]).check(BATCH),
        lambda: T.Compose([T.ToDtype("float32"), T.ToDtype("uint8"), T.ColorJitter(0.2)]).check(BATCH),
        lambda: T.Compose([T.ToDtype("float32"), T.ToDtype("uint8"), TO_FLOAT, T.Normalize(0.5, 0.5)]).check(BATCH),
        lambda: T.Compose([T.ToDtype("uint8"), T.ColorJitter(0.2)]).check(FLOATS * 255),
        lambda: T.Compose([Flip(), T.ElasticTransform(), T.GaussianBlur(3), T.RGB()]).check(FLOATS * 255),
        lambda: T.Compose([T.RandomGrayscale(), T.RandomChannelPermutation()]).check(FLOATS * 255),
        lambda: T.Compose([T.RandomErasing(), T.RandomMask(), T.Grayscale(3), T.MixUp()]).check(FLOATS * 255),
        lambda: T.Compose([T.CutMix(), T.Normalize(127.5, 58.0)]).check(FLOATS * 255),
        lambda: FLIP.check(BATCH, BATCH[..., 0], BOXES, BOXES[..., :2], np.arange(3)),
        lambda: FLIP.check(BATCH, boxes=np.full((3, 2, 4), np.nan)),
        lambda: FLIP.check(BATCH, boxes=np.zeros((3, 0, 4)), keypoints=np.zeros((3, 0, 2))),
        lambda: FLIP.check(BATCH[:0]),
        lambda: T.Compose([T.RandomCrop(8, 4)]).check(BATCH),
        lambda: T.Compose([T.Pad(1)]).check([noise((9, 8, 3)), noise((7, 8, 3))]),
        lambda: FLIP.check(FLOATS.astype(np.float16)),
        lambda: FLIP.check(noise((2, 7, 7, 64))),
        lambda: FLIP.check(noise((2, 40, 30, 13))),
        lambda: FLIP.check(torch.from_numpy(noise((2, 64, 7, 7)))),
        lambda: FLIP.check(torch.from_numpy(noise((2, 64, 8, 6)))),
        lambda: T.Compose([T.GaussianNoise(sigma=1)]).check(BATCH),
        lambda: T.Compose([T.GaussianNoise(sigma=8, clip=False)]).check(FLOATS),
    ],
)
def test_compose_check_does_not_warn_of_usual_values(call):
    report = call()
    assert report.warnings == []
    assert str(report).endswith("warnings  none")


def test_compose_check_describes_targets_and_results():
    boxes = torch.from_numpy(BOXES)
    recipe = T.Compose([T.Resize((8, 6)), T.ToDtype("float16", scale=True)], boxes=T.Boxes("XYXY"))
    sample = {"image": torch.from_numpy(BATCH).permute(0, 3, 1, 2), "target": {"boxes": boxes}, "labels": [1, 2, 3]}
    report = recipe.check(sample)
    targets = "\n".join(report.targets)
    for part in (
        "images: uint8 (3, 3, 17, 11), values 0..255, found by name at ['image'], read as NCHW: 17 x 11, 3 channels",
        "boxes: float64 (3, 2, 4), values 1..16, XYXY, found by name at ['target']['boxes']",
        "labels: 3 of int, found by name at ['labels']",
    ):
        assert part in targets
    assert report.results[0] == "images: float16 (3, 3, 8, 6)"
    assert str(recipe.plan(sample["image"])).splitlines()[0] in str(report)
    assert "found by position at [1]" in str(FLIP.check((BATCH, np.arange(3))))
    assert "labels: 1 of an empty list, found by name" in str(FLIP.check({"image": BATCH[0], "labels": []}))


def test_compose_check_is_no_call():
    """The draws of the next call are the same, and so are the arguments."""
    images, expected = BATCH.copy(), T.Compose([T.RandomAffine(30)], seed=5)(BATCH)
    recipe = T.Compose([T.RandomAffine(30)], seed=5)
    recipe.check(images)
    recipe.check(images, labels=np.arange(3), ids=[4, 5, 6], step=9)
    assert recipe.state_dict() == {"seed": 5, "step": 0}
    assert_equal(images, BATCH)
    assert_equal(recipe(images), expected)


def test_compose_check_raises_what_a_call_raises():
    with pytest.raises(ValueError, match=r"^cuaug\.transforms\.Compose.*: no image found"):
        FLIP.check({"x": BATCH})
    with pytest.raises(TypeError, match=r"^cuaug\.transforms\.Compose: RandomEqualize: images must be uint8"):
        T.Compose([T.RandomEqualize()]).check(FLOATS)


def test_compose_check_reads_each_image_in_its_own_layout():
    image_module = pytest.importorskip("PIL.Image")
    channels_first = np.moveaxis(BATCH[1], 2, 0).copy()
    report = FLIP.check(
        {"a": {"image": image_module.fromarray(BATCH[0])}, "b": {"image": channels_first}}, layout="CHW"
    )
    assert "read as HWC: 17 x 11" in report.targets[0]
    assert report.results == ("images: uint8 (17, 11, 3)", "images: uint8 (3, 17, 11)")


def test_compose_check_warns_of_the_values_of_each_image():
    uint8, floats = {"image": BATCH[0]}, {"image": FLOATS[0]}
    assert JITTER.check({"a": floats, "b": uint8}).warnings == []
    (warning,) = JITTER.check({"a": uint8, "b": {"image": FLOATS[2] * 255}}).warnings
    assert warning.startswith("images are float32 with values ")


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_compose_check_reads_gpu_arrays(library):
    report = JITTER.check(put(FLOATS * 255, (library, "cuda")), layout="NHWC")
    assert "divide them by 255" in report.warnings[0]
    assert f"{library} on GPU 0" in report.targets[0]
