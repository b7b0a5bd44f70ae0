"""`PadBatch`: images of several sizes in one batch, and the mask of their pixels."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal
from helpers.detection_samples import detection

from cuaug import transforms as T


def test_pad_batch_pads_at_the_right_and_at_the_bottom():
    images = [noise((5, 7, 3), seed=1), noise((6, 2, 3), seed=2)]
    masks = [noise((5, 7), seed=3), noise((6, 2), seed=4)]
    result = T.PadBatch(size_divisor=4, fill=(1, 2, 3))({"images": images, "masks": masks, "labels": [4, 5]})
    expected = np.tile(np.array([1, 2, 3], np.uint8), (2, 8, 8, 1))
    expected_masks, pixels = np.zeros((2, 8, 8), np.uint8), np.zeros((2, 8, 8), bool)
    for i, (image, mask) in enumerate(zip(images, masks, strict=True)):
        window = i, slice(image.shape[0]), slice(image.shape[1])
        expected[window], expected_masks[window], pixels[window] = image, mask, True
    assert_equal(result["images"], expected)
    assert_equal(result["masks"], expected_masks)
    assert_equal(result["pixel_mask"], pixels)
    assert list(result) == ["images", "masks", "labels", "pixel_mask"]
    assert T.PadBatch((9, 7))(images).shape == (2, 9, 7, 3)


def test_pad_batch_of_detection_samples_keeps_stacks_of_masks():
    samples = [
        dict(zip(("image", "target"), detection(size, seed), strict=True))
        for seed, size in enumerate([(37, 51), (40, 20)])
    ]
    samples[1]["target"] = {key: value[:3] for key, value in samples[1]["target"].items()}
    results = T.PadBatch()(samples)
    for sample, result, count in zip(samples, results, (5, 3), strict=True):
        height, width = sample["image"].shape[1:]
        assert result["image"].shape == (3, 40, 51)
        assert result["target"]["masks"].shape == (count, 40, 51)
        assert torch.equal(result["image"][:, :height, :width], sample["image"])
        assert result["pixel_mask"].sum() == height * width
        assert torch.equal(result["target"]["boxes"], sample["target"]["boxes"])


@pytest.mark.parametrize("form", ["arguments", "tuple", "pairs", "one", "batch"])
def test_pad_batch_puts_masks_into_the_dicts_of_targets(form):
    images = [torch.from_numpy(noise((3, *size), seed=1)) for size in ((5, 7), (6, 2))]
    targets = [{"labels": torch.arange(2), "boxes": torch.tensor([[0.0, 0, 2, 2]] * 2)} for _ in images]
    pixels, transform = np.zeros((2, 8, 8), bool), T.PadBatch(size_divisor=8)
    pixels[0, :5, :7] = pixels[1, :6, :2] = True
    if form == "one":
        results = [transform(*pair) for pair in zip(images, targets, strict=True)]
    elif form == "pairs":
        results = transform(list(zip(images, targets, strict=True)))
    elif form == "batch":
        batch, target = transform(images, {"boxes": [target["boxes"] for target in targets]})
        results = [(batch[i], targets[i] | {"pixel_mask": target["pixel_mask"][i]}) for i in range(2)]
    else:
        results = zip(
            *(transform(images, targets) if form == "arguments" else transform((images, targets))), strict=True
        )
    for expected_mask, (image, target) in zip(pixels, results, strict=True):
        assert image.shape == (3, 8, 8)
        assert np.array_equal(target["pixel_mask"], expected_mask)
        assert torch.equal(target["labels"], torch.arange(2))


def test_pad_batch_without_dicts_adds_no_mask():
    images = noise((2, 5, 7, 3))
    result, labels = T.PadBatch(8)(images, np.arange(2))
    assert result.shape == (2, 8, 8, 3)
    assert labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    "form", [list, lambda images: {"images": images}, lambda images: [{"image": i} for i in images]]
)
@pytest.mark.parametrize(("layout", "as_array"), [("CHW", np.asarray), ("HWC", torch.from_numpy)])
@pytest.mark.parametrize(
    "after", [T.RandomHorizontalFlip(1.0), T.RandomZoomOut(p=0.0), T.RandomApply([T.Lambda(lambda image: image)])]
)
def test_pad_batch_result_is_read_in_the_layout_of_the_images(form, layout, as_array, after):
    images = [as_array(noise(shape, seed=1)) for shape in ((3, 5, 3), (3, 4, 3))]
    result = T.Compose([T.PadBatch(7), T.CenterCrop((5, 6)), after])(form(images), layout=layout)
    shape = (3, 5, 6) if layout == "CHW" else (5, 6, 3)
    entries = result["images"] if isinstance(result, dict) else result
    assert [np.shape(entry["image"] if isinstance(entry, dict) else entry) for entry in entries] == [shape] * 2


@pytest.mark.parametrize("layout", [None, "HW"])
def test_pad_batch_result_without_channels_is_not_read_as_one_image(layout):
    images = [noise((height, 2), seed=height) for height in (4, 5, 6)]
    batch = T.PadBatch((6, 3))(images, layout=layout)
    assert batch.shape == (3, 6, 3)
    with pytest.raises(ValueError, match=r"layout 'NHWC' needs 4 axes, got shape \(3, 6, 3\)"):
        T.Compose([T.PadBatch((6, 3)), T.RandomHorizontalFlip(1.0)])(images, layout=layout)
    recipe = T.Compose([T.PadBatch((6, 3)), lambda batch: batch[..., None], T.RandomHorizontalFlip(1.0)])
    assert_equal(recipe(images, layout=layout), batch[:, :, ::-1, None])


def test_pad_batch_of_no_samples_gives_the_size():
    result = T.PadBatch(16)({"images": noise((0, 8, 9, 3)), "masks": noise((0, 8, 9))})
    assert {key: value.shape for key, value in result.items()} == {
        "images": (0, 16, 16, 3),
        "masks": (0, 16, 16),
        "pixel_mask": (0, 16, 16),
    }
    assert T.PadBatch(16)(noise((0, 8, 9, 3))).shape == (0, 16, 16, 3)
    assert T.PadBatch(size_divisor=16)(noise((0, 8, 9, 3))).shape == (0, 8, 9, 3)
