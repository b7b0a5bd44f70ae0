"""A list of dicts, or of pairs (image, target), has one entry per sample: each sample has draws of its own."""

import numpy as np
import pytest
import torch
from helpers.compare import assert_equal

from cuaug import transforms as T
from cuaug.transforms.sample_structure import parse_sample

IMAGE = np.full((8, 9, 3), 100, np.uint8)
MASK, BOXES, POINTS = np.arange(72, dtype=np.uint8).reshape(8, 9), np.array([[0.0, 0, 4, 4]]), np.zeros((2, 2))
SAMPLES = {
    "images": {"image": IMAGE},
    "stacked masks": {"image": IMAGE, "masks": np.stack([MASK] * 2)},
    "masks in a list": {"image": IMAGE, "masks": [MASK, MASK]},
    "masks in a tuple": {"image": IMAGE, "masks": (MASK, MASK)},
    "stacks in a list": {"image": IMAGE, "masks": [MASK, np.stack([MASK] * 3)]},
    "no masks": {"image": IMAGE, "masks": []},
    "masks of objects": {"image": IMAGE, "objects": [{"mask": MASK}, {"mask": MASK}]},
    "pair": (IMAGE, {"masks": [MASK, MASK], "boxes": BOXES}),
}


def images_of(sample):
    return sample["image"] if isinstance(sample, dict) else sample[0]


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_compose_list_of_dicts_draws_for_each(sample):
    aug = T.Compose([T.ColorJitter(0.9), T.RandomHorizontalFlip()], seed=0)
    assert parse_sample([sample] * 4).samples == 4
    expected = aug(np.stack([IMAGE] * 4), step=0)
    assert len({int(image[0, 0, 0]) for image in expected}) == 4
    for _ in range(2):  # the second call finds the sample's structure in the cache
        results = aug([sample] * 4, step=0)
        for result, image in zip(results, expected, strict=True):
            assert_equal(images_of(result), image)


@pytest.mark.parametrize("container", [list, tuple])
def test_compose_listed_masks_of_dicts_follow_their_images(container, tv):
    image = torch.arange(72, dtype=torch.uint8).reshape(1, 8, 9)
    samples = [{"image": image, "masks": container([tv.Mask(image[0]), tv.Mask(image[0] + 1)])} for _ in range(8)]
    results = T.Compose([T.RandomHorizontalFlip(), T.RandomVerticalFlip()], seed=0)(samples)
    assert len({int(result["image"][0, 0, 0]) for result in results}) > 2
    for result in results:
        assert type(result["masks"]) is container
        for i, mask in enumerate(result["masks"]):
            assert isinstance(mask, tv.Mask)
            assert_equal(mask.as_subclass(torch.Tensor), result["image"][0] + i)


def test_compose_listed_masks_of_targets_follow_their_images():
    images = np.stack([IMAGE + MASK[..., None]] * 8)
    aug = T.Compose([T.RandomHorizontalFlip(), T.RandomVerticalFlip()], seed=0)
    result, targets = aug(images, [{"masks": [MASK, MASK, MASK]} for _ in images])
    for image, target in zip(result, targets, strict=True):
        for mask in target["masks"]:
            assert_equal(mask, image[..., 0] - 100)


def test_compose_list_of_dicts_keeps_values_of_objects():
    """Their number may differ between the samples."""
    samples = [{"image": IMAGE, "objects": [{"label": i, "area": 2.0} for i in range(n)]} for n in (2, 3)]
    aug = T.Compose([T.ColorJitter(0.9)], seed=0)
    results = aug(samples, step=0)
    assert [result["objects"] for result in results] == [sample["objects"] for sample in samples]
    assert not np.array_equal(results[0]["image"], results[1]["image"])
    chosen = T.Compose([T.RandomChoice([T.Lambda(lambda sample: sample), T.Identity()])], seed=0)(samples)
    assert [result["objects"] for result in chosen] == [sample["objects"] for sample in samples]


REFUSED = {
    "masks of several lengths": (
        [{"image": IMAGE, "masks": [MASK, MASK]}, {"image": IMAGE, "masks": [MASK]}],
        r"got a list of 2 at \[0\]\['masks'\] and a list of 1 at \[1\]\['masks'\]: stack the masks of each sample",
    ),
    "one without masks": (
        [{"image": IMAGE, "masks": [MASK, MASK]}, {"image": IMAGE, "masks": []}],
        r"got a list of 2 at \[0\]\['masks'\] and a list of 0 at \[1\]\['masks'\]: stack",
    ),
    "a list and an array": (
        [(IMAGE, {"masks": MASK}), (IMAGE, {"masks": [MASK]})],
        r"got an array of shape \(8, 9\) at \[0\]\[1\]\['masks'\] and a list of 1 at \[1\]\[1\]\['masks'\]: stack",
    ),
    "boxes in a list": (
        [{"image": IMAGE, "boxes": [BOXES] * 2}] * 2,
        r"boxes at \[0\]\['boxes'\] must be one array of one sample, .*, got a list of 2",
    ),
    "boxes of a batch": (
        [{"image": IMAGE, "boxes": BOXES}, {"image": IMAGE, "boxes": BOXES[None]}],
        r"boxes at \[1\]\['boxes'\] must be one array of one sample, \[B, 4\].*, got shape \(1, 1, 4\)",
    ),
    "keypoints in a list": (
        [{"image": IMAGE, "keypoints": [POINTS] * 2}] * 2,
        r"keypoints at \[0\]\['keypoints'\] must be one array of one sample, \[P, 2 or 3\] or .*, got a list of 2",
    ),
    "valid in a list": (
        [{"image": IMAGE, "boxes": BOXES, "valid": [np.ones(1, bool)] * 2}] * 2,
        r"valid at \[0\]\['valid'\] must be one array of one sample, \[B\], .*, got a list of 2",
    ),
    "boxes of objects": (
        [{"image": IMAGE, "objects": [{"bbox": BOXES[0]}] * 2}] * 2,
        r"boxes at \[0\]\['objects'\] must be one array of one sample, .*, got a list of 2",
    ),
    "boxes of a list of targets": (
        [(IMAGE, [{"boxes": BOXES}] * 3)] * 2,
        r"boxes at \[0\]\[1\] must be one array of one sample, .*, got a list of 3",
    ),
    "masks of objects": (
        [{"image": IMAGE, "objects": [{"mask": MASK}] * n} for n in (1, 2)],
        r"got a list of 1 at \[0\]\['objects'\] and a list of 2 at \[1\]\['objects'\]: stack",
    ),
    "several images": (
        [{"views": [{"image": IMAGE}] * 2}] * 3,
        r"images at \[0\]\['views'\] must be one array of one sample, .*, got a list of 2",
    ),
    "masks beside a batch": (
        (np.stack([IMAGE] * 2), [{"masks": [MASK] * n} for n in (2, 1)]),
        r"masks at \[1\]\[1\]\['masks'\] must hold 2 entries, one per sample, got 1: stack the masks of each sample",
    ),
    "targets beside a batch": (
        (np.stack([IMAGE] * 2), [{"boxes": BOXES}] * 3),
        r"boxes at \[1\] must hold 2 entries, one per sample, got 3",
    ),
    "an image and a batch": (
        [{"image": IMAGE}, {"image": IMAGE[None]}],
        r"images at \[1\]\['image'\] must be one array of one sample, \[H, W\] or with channels, .*\(1, 8, 9, 3\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("samples", "message"), REFUSED.values(), ids=REFUSED)
def test_compose_list_of_dicts_rejects_targets_not_of_one_sample(samples, message):
    with pytest.raises(ValueError, match=f"cuaug.transforms.Compose: .*{message}"):
        T.Compose([T.RandomHorizontalFlip()], seed=0)(samples)


@pytest.mark.parametrize("form", [lambda video: {"image": video}, lambda video: (video, 3)], ids=["dicts", "pairs"])
def test_compose_lists_of_videos_are_rejected(form, tv):
    """Each is one sample, and a list of several samples holds single images."""
    video = tv.Video(torch.zeros(5, 3, 8, 8))
    with pytest.raises(ValueError, match=r"images at \[0\].*: pass videos as one batch \[N, T, C, H, W\]"):
        T.Compose([T.RandomHorizontalFlip()], seed=0)([form(video), form(video)])


@pytest.mark.parametrize("form", [lambda video: {"image": video}, lambda video: (video, 3)], ids=["dict", "pair"])
def test_compose_list_of_one_video_is_one_sample(form, tv):
    video = tv.Video(torch.arange(320, dtype=torch.int32).to(torch.uint8).reshape(5, 1, 8, 8))
    (result,) = T.Compose([T.RandomHorizontalFlip(1.0)], seed=0)([form(video)])
    assert isinstance(images_of(result), tv.Video)
    assert_equal(images_of(result).as_subclass(torch.Tensor), video.as_subclass(torch.Tensor).flip(-1))


LISTED = {  # targets of one sample, in lists of one array
    "boxes": {"boxes": [BOXES]},
    "boxes in a tuple": {"boxes": (BOXES,)},
    "numbers": {"boxes": [[[0, 0, 4, 4], [20, 20, 30, 30]]]},
    "valid": {"boxes": [BOXES], "valid": [np.zeros(1, bool)]},
    "valid of an array": {"boxes": BOXES, "valid": [np.zeros(1, bool)]},
    "keypoints": {"keypoints": [POINTS]},
}


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("targets", LISTED.values(), ids=LISTED)
def test_compose_list_of_one_array_in_dicts_is_that_array(targets, compact):
    flip = T.Compose([T.RandomHorizontalFlip(1.0)], boxes=T.Boxes(compact=compact), seed=0)
    sample = {"image": IMAGE, **targets}
    expected = flip(sample)
    for _ in range(2):  # the second call finds the sample's structure in the cache
        for result in flip([sample] * 3):
            assert result.keys() == expected.keys()
            for key in expected:
                assert type(result[key]) is type(expected[key])
                assert_equal(np.asarray(result[key]), np.asarray(expected[key]))
        for _, result in flip([(IMAGE, [targets])] * 3):
            assert_equal(*(np.asarray(entry[next(iter(targets))]) for entry in (result[0], expected)))


def test_compose_listed_bounding_boxes_of_dicts_follow_their_images(tv):
    image = torch.arange(72, dtype=torch.uint8).reshape(1, 8, 9)
    boxes = tv.BoundingBoxes(torch.tensor([[0.0, 0, 4, 2]]), format="XYWH", canvas_size=(8, 9))
    aug = T.Compose([T.RandomHorizontalFlip()], seed=0)
    results = aug([{"image": image, "found": [boxes]}] * 8)
    positions = {(int(result["image"][0, 0, 0]), *result["found"][0][0].tolist()) for result in results}
    assert positions == {(0, 0, 0, 4, 2), (8, 5, 0, 4, 2)}
    assert all(isinstance(result["found"][0], tv.BoundingBoxes) for result in results)
    assert "found by its type BoundingBoxes" in str(aug.check([{"image": image, "found": [boxes]}] * 2))


def test_compose_lists_of_masks_of_objects_may_differ_for_one_image():
    objects = [{"masks": [MASK, MASK + 1], "bbox": BOXES}, {"masks": [MASK + 2], "bbox": BOXES}]
    flip = T.Compose([T.RandomHorizontalFlip(1.0)], seed=0)
    for sample in (flip({"image": IMAGE, "objects": objects}), *flip([{"image": IMAGE, "objects": objects[:1]}] * 2)):
        for result, entry in zip(sample["objects"], objects, strict=False):
            assert len(result["masks"]) == len(entry["masks"])
            for moved, mask in zip(result["masks"], entry["masks"], strict=True):
                assert_equal(moved, mask[:, ::-1])


@pytest.mark.parametrize("count", [1, 3])
def test_compose_dicts_of_lists_of_boxes_share_samples(count):
    """As dicts of stacked boxes do, beside a batch."""
    images, listed = np.stack([IMAGE + MASK[..., None]] * 4), [BOXES] * 4
    aug = T.Compose([T.RandomHorizontalFlip()], seed=0)
    result = aug({"image": images, "cameras": [{"boxes": listed}] * count}, step=0)
    stacked = aug({"image": images, "cameras": [{"boxes": np.stack(listed)}] * count}, step=0)
    assert len({int(image[0, 0, 0]) for image in result["image"]}) == 2
    for camera, expected in zip(result["cameras"], stacked["cameras"], strict=True):
        assert_equal(np.stack(camera["boxes"]), expected["boxes"])


MISSING = {
    "no objects": [{"objects": [{"label": 1}]}, {"objects": []}],
    "as many objects as samples": [{"objects": []}, {"objects": [{"label": 1}, {"label": 2}]}],
    "labels": [{}, {"labels": [0, 1]}],
    "areas": [{"area": np.ones(2), "labels": 1}, {"labels": 2}],
}


@pytest.mark.parametrize("targets", MISSING.values(), ids=MISSING)
def test_compose_list_of_dicts_keeps_values_that_some_entries_lack(targets):
    samples = [{"image": IMAGE, **target} for target in targets]
    for aug in (T.ColorJitter(0.9), T.RandomChoice([T.Lambda(lambda sample: sample), T.Identity()])):
        for _ in range(2):  # the second call finds the sample's structure in the cache
            results = T.Compose([aug], seed=0)(samples, step=0)
            for result, sample in zip(results, samples, strict=True):
                assert result.keys() == sample.keys()
                assert all(result[key] is sample[key] or result[key] == sample[key] for key in sample if key != "image")
    first, second = T.Compose([T.ColorJitter(0.9)], seed=0)(samples, step=0)
    assert not np.array_equal(first["image"], second["image"])


@pytest.mark.parametrize("counts", [(1, 0), (2, 0), (0, 3, 0), (1, 2, 0)])
def test_mix_up_rejects_labels_that_some_entries_lack(counts):
    samples = [{"image": IMAGE, "objects": [{"label": 1}] * count} for count in counts]
    with pytest.raises(ValueError, match=f"labels must hold {len(counts)} entries, one per sample, got"):
        T.Compose([T.MixUp(num_classes=3)], seed=0)(samples)


def test_compose_compact_message_of_labels_names_the_remedy():
    sample = {"image": IMAGE, "boxes": np.zeros((2, 4)), "labels": [1]}
    with pytest.raises(ValueError, match=r"one entry per box, 2, got 1; for values that .* T.Boxes\(compact=False\)"):
        T.Compose([T.RandomHorizontalFlip()], boxes=T.Boxes(compact=True), seed=0)(sample)


def test_compose_compact_rejects_labels_that_some_entries_lack():
    samples = [{"image": IMAGE, "boxes": BOXES, "labels": [1]}, {"image": IMAGE, "boxes": BOXES}]
    with pytest.raises(ValueError, match="labels must hold 2 entries, one per sample, got 1"):
        T.Compose([T.RandomHorizontalFlip()], boxes=T.Boxes(compact=True), seed=0)(samples)


def test_compose_dicts_of_batches_share_draws():
    """The dicts are several images of the same samples."""
    left, right = ({"image": np.stack([IMAGE + shift] * 4), "mask": np.stack([MASK] * 4)} for shift in (0, 50))
    aug = T.Compose([T.ColorJitter(hue=0.1), T.RandomHorizontalFlip()], seed=0)
    results = aug([left, right], step=0)
    for sample, result in zip((left, right), results, strict=True):
        assert_equal(result["image"], aug(sample, step=0)["image"])
        assert_equal(result["mask"], results[0]["mask"])


def test_compose_message_of_two_sizes_names_the_sample():
    samples = [{"image": IMAGE, "other": {"image": IMAGE}}, {"image": IMAGE, "other": {"image": IMAGE[:4]}}]
    with pytest.raises(ValueError, match=r"one size, got \(8, 9\) and \(4, 9\) at \[1\]\['other'\]\['image'\]"):
        T.Compose([T.RandomHorizontalFlip()], seed=0)(samples)
