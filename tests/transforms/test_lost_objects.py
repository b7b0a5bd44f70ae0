"""Objects that an op in the middle of a recipe moves off its canvas are lost, as their pixels are."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, every_backend_slow_on_jax, images, noise, put, seeded
from helpers.compare import to_numpy

from cuaug import transforms as T

FLOAT32 = {"atol": 1e-3, "rtol": 1e-5}  # coordinates of a hundred pixels
# Every draw has one value: these recipes do the same as their transforms one by one.
FIXED = {
    "crop, pad": [T.CenterCrop(60), T.Pad(20)],
    "crop, flip, rotation": [T.CenterCrop((60, 50)), T.RandomHorizontalFlip(1.0), T.RandomRotation((30, 30))],
    "two rotations": [
        T.RandomRotation((30, 30)),
        T.RandomVerticalFlip(1.0),
        T.RandomAffine((20, 20), scale=(0.5, 0.5)),
    ],
    "resize, affine": [
        T.Resize((50, 40)),
        T.RandomAffine((-25, -25)),
        T.CenterCrop((30, 60)),
        T.RandomAffine((40, 40)),
    ],
    "pad, crop": [T.Pad(10), T.CenterCrop(40), T.RandomInvert(1.0), T.Pad((30, 0), padding_mode="reflect")],
    "padded if needed": [
        T.RandomAffine((30, 30), scale=(0.8, 0.8)),
        T.RandomHorizontalFlip(1.0),
        T.CenterCrop(70),
        T.RandomRotation((45, 45)),
    ],
    "groups of one size": [
        T.RandomRotation((10, 10)),
        T.RandomAffine((0, 0), scale=(1.2, 1.2)),
        T.RandomHorizontalFlip(1.0),
        T.RandomRotation((45, 45)),
    ],
    "three passes, two moves": [T.RandomRotation((30, 30)), T.Resize((50, 40)), T.RandomRotation((45, 45))],
    "crops of some images": [T.RandomRotation((10, 10)), T.CenterCrop((66, 66)), T.RandomRotation((45, 45))],
    "rotation, crop": [T.RandomRotation((30, 30)), T.CenterCrop(50)],
}
# No recipe shrinks a painted square of 7 pixels to less than a pixel. "resized crop, affine" enlarges most: 0.3 of the
# pixels of the smallest image, (66, 66), become 64 x 64, and are scaled by 1.2.
LARGEST_SQUARE = 7 * 7 * 64 * 64 / (0.3 * 66 * 66) * 1.2**2  # pixels
RANDOM = {
    "resized crop, affine": [T.RandomResizedCrop(64, (0.3, 1.0)), T.RandomAffine(40, (0.3, 0.3), (0.7, 1.2))],
    "crop, perspective": [T.RandomCrop(48), T.RandomHorizontalFlip(), T.RandomPerspective(0.5, 0.7)],
    "policy": [T.RandomCrop(64), T.RandAugment(3, 20)],
    "gated": [
        T.CenterCrop(50),
        T.RandomApply([T.RandomRotation(90)], 0.5),
        T.RandomChoice([T.RandomRotation(60), T.RandomAffine(0, (0.4, 0.4))]),
    ],
    "nearest resized crop": [T.RandomResizedCrop(64, (0.3, 1.0), interpolation="nearest"), T.RandomRotation(45)],
}


def squares(size, count, seed):
    """The integer edges of squares of 7 pixels. [count, 4]"""
    corner = seeded("squares", size, seed).integers(0, (size[1] - 7, size[0] - 7), (count, 2))
    return np.concatenate([corner, corner + 7], 1)


def painted(boxes, size):
    """A mask for each box. [B, H, W]"""
    y, x = np.mgrid[: size[0], : size[1]]
    left, top, right, bottom = (boxes[:, i, None, None] for i in range(4))
    return ((x >= left) & (x < right) & (y >= top) & (y < bottom)).astype(np.uint8)


def centres(boxes):
    """The middle of each box as a visible keypoint. [B, 1, 3]"""
    middle = (boxes[:, :2] + boxes[:, 2:] - 1) / 2
    return np.concatenate([middle, np.full((len(boxes), 1), 2.0)], 1)[:, None]


@every_backend_slow_on_jax
@pytest.mark.parametrize("sizes", [[(90, 80)] * 3, [(90, 80), (120, 70), (66, 66)]], ids=["batch", "list"])
@pytest.mark.parametrize("name", FIXED)
def test_compose_loses_objects_as_its_transforms_one_by_one(backend, name, sizes):
    options = {"keypoints": T.Keypoints(flip_pairs=[(0, 1)])}
    boxes = [squares(size, 40, seed).astype("f4") for seed, size in enumerate(sizes)]
    points = [np.concatenate([centres(entry), centres(entry) + np.array([1, 2, 0])], 1).astype("f4") for entry in boxes]
    photos = [put(noise((*size, 3), seed=i), backend) for i, size in enumerate(sizes)]
    inputs = {
        "image": [photo.permute(2, 0, 1) for photo in photos] if backend[0] == "torch" else photos,
        "boxes": [put(entry, backend) for entry in boxes],
        "keypoints": [put(entry, backend) for entry in points],
    }
    result, expected = T.Compose(FIXED[name], **options)(inputs), inputs
    for transform in FIXED[name]:
        expected = T.Compose([transform], **options)(expected)
    lost = 0
    for i in range(len(sizes)):
        valid = to_numpy(expected["valid"][i])
        np.testing.assert_array_equal(to_numpy(result["valid"][i]), valid)
        assert valid.any()
        lost += int((~valid).sum())
        for kind, which in (("boxes", valid), ("keypoints", slice(None))):
            actual = to_numpy(result[kind][i])[which]
            np.testing.assert_allclose(actual, to_numpy(expected[kind][i])[which], **FLOAT32)
    assert lost


@every_backend_slow_on_jax
@pytest.mark.parametrize("sizes", [[(90, 80)] * 4, [(90, 80), (120, 70), (66, 66), (90, 80)]], ids=["batch", "list"])
@pytest.mark.parametrize("name", RANDOM)
def test_compose_keypoints_are_visible_where_their_pixels_are(backend, name, sizes):
    for step in range(3):
        boxes = [squares(size, 30, seed) for seed, size in enumerate(sizes)]
        masks = [painted(entry, size) for entry, size in zip(boxes, sizes, strict=True)]
        photos = [put(noise((*size, 3), seed=i), backend) for i, size in enumerate(sizes)]
        photos = [photo.permute(2, 0, 1) for photo in photos] if backend[0] == "torch" else photos
        sample = {
            "image": photos,
            "masks": [put(mask, backend) for mask in masks],
            "keypoints": [put(centres(entry).astype("f4"), backend) for entry in boxes],
            "boxes": [put(entry.astype("f4"), backend) for entry in boxes],
        }
        result = T.Compose(RANDOM[name], seed=11)(sample, step=step)
        kept = lost = 0
        for mask, points, valid in zip(result["masks"], result["keypoints"], result["valid"], strict=True):
            for pixels, (x, y, visibility), is_valid in zip(
                to_numpy(mask), to_numpy(points)[:, 0], to_numpy(valid), strict=True
            ):
                near = pixels[max(0, round(y) - 1) : round(y) + 2, max(0, round(x) - 1) : round(x) + 2]
                if visibility > 0:
                    kept += 1
                    assert near.any()
                    assert is_valid
                else:
                    lost += 1
                    # Without its middle, at most half of a square is left; the rest of the bound is rounding.
                    assert pixels.sum() <= 0.6 * LARGEST_SQUARE
                if pixels.any():
                    assert is_valid
        assert kept
        assert lost


@every_backend
def test_compose_compacts_objects_lost_on_the_way(backend):
    size = (100, 100)
    boxes = np.array([[82, 40, 95, 50], [40, 40, 60, 60]])
    image = put(noise((*size, 3)), backend)
    sample = {
        "image": image.permute(2, 0, 1) if backend[0] == "torch" else image,
        "boxes": put(boxes.astype("f4"), backend),
        "labels": put(np.array([3, 5]), backend),
        "masks": put(painted(boxes, size), backend),
        "keypoints": put(centres(boxes).astype("f4"), backend),
    }
    result = T.Compose([T.CenterCrop(60), T.Pad(20)], boxes=T.Boxes(compact=True))(sample)
    assert to_numpy(result["labels"]).tolist() == [5]
    assert [len(result[key]) for key in ("boxes", "masks", "keypoints")] == [1, 1, 1]
    np.testing.assert_allclose(to_numpy(result["boxes"]), [[40, 40, 60, 60]])


@pytest.mark.parametrize(("min_visibility", "valid"), [(0.2, True), (0.3, False)])
def test_boxes_min_visibility_counts_every_canvas(min_visibility, valid):
    """The crop leaves a half of the box, the second crop, after a pad, a half of that."""
    transforms = [T.CenterCrop(60), T.Pad(20), T.CenterCrop((100, 50)), T.Pad((25, 0))]
    image, boxes = np.zeros((100, 100, 3), np.uint8), np.array([[70.0, 40, 90, 60]])
    aug = T.Compose(transforms, boxes=T.Boxes(min_visibility=min_visibility))
    result = aug({"image": image, "boxes": boxes})
    assert result["valid"].tolist() == [valid]
    np.testing.assert_allclose(result["boxes"], [[70, 40, 75, 60]])


def test_compose_keypoints_without_visibility_keep_their_coordinates():
    image, point = torch.zeros(3, 100, 100, dtype=torch.uint8), torch.tensor([[90.0, 45.0]])
    result = T.Compose([T.CenterCrop(60), T.Pad(20)])({"image": image, "keypoints": point})
    assert result["keypoints"].tolist() == [[90.0, 45.0]]


@every_backend
@pytest.mark.parametrize("sizes", [[(60, 60)] * 2, [(60, 60), (50, 70)]], ids=["batch", "list"])
def test_compose_after_loses_what_is_outside_of_its_images(backend, sizes):
    """The images of `after(1)` are results of the first transform, as the Loader's decoder makes them."""
    recipe = T.Compose([T.CenterCrop(60), T.CenterCrop(90)])
    boxes = np.array([(62, 20, 75, 30), (10, 10, 70, 20), (20, 20, 30, 30)], "f4")
    photos = [put(noise((*size, 3)), backend) for size in sizes]
    photos = [photo.permute(2, 0, 1) for photo in photos] if backend[0] == "torch" else photos
    sample = {"image": photos, "boxes": [put(boxes, backend) for _ in sizes]}
    for i, (height, width) in enumerate(sizes):
        result = recipe.after(1)(sample)
        left, top = (90 - width) // 2, (90 - height) // 2
        valid = to_numpy(result["valid"][i])
        assert valid.tolist() == [width > 62, True, True]
        expected = np.clip(boxes, 0, width) + np.array([left, top, left, top])
        np.testing.assert_allclose(to_numpy(result["boxes"][i])[valid], expected[valid], **FLOAT32)


def test_compose_after_takes_groups_of_several_sizes():
    """Two dtypes are two groups, of which one is a ragged batch with a canvas for each image."""
    photos = [noise((60, 60, 3)), noise((50, 70, 3)), noise((64, 56, 3), "float32")]
    boxes = [np.array([(62, 20, 75, 30), (20, 20, 30, 30)], "f4") for _ in photos]
    remainder = T.Compose([T.CenterCrop(60), T.CenterCrop(90)]).after(1)
    result = remainder({"image": photos, "boxes": boxes})
    for i, photo in enumerate(photos):
        alone = remainder({"image": photo, "boxes": boxes[i]})
        np.testing.assert_array_equal(result["valid"][i], alone["valid"])
        np.testing.assert_allclose(result["boxes"][i], alone["boxes"], **FLOAT32)


@pytest.mark.parametrize("value", [[0, 0], (0, 0, 0), [], None, "crowd"], ids=repr)
@pytest.mark.parametrize("transform", [T.RandomHorizontalFlip(), T.RandomZoomOut(p=1.0)])
def test_compose_compact_returns_values_that_are_not_per_sample(value, transform):
    sample = {"image": np.zeros((1, 24, 28, 3), np.uint8), "boxes": np.float32([[[1, 1, 9, 9]]]), "iscrowd": value}
    result = T.Compose([transform], boxes=T.Boxes(compact=True))(sample)
    assert result["iscrowd"] is value


@every_backend
@pytest.mark.parametrize("size", [(7, 32), (2, 128), (4, 4), (3, 5)], ids=str)
def test_random_perspective_keeps_images_whose_corners_meet(backend, size):
    """The strongest distortion of small images: corners may meet or lie on a line, and nearly so."""
    batch = images(backend, shape=(64, *size, 3))
    boxes = put(np.tile(np.array([[1, 1, 3, 3]], np.float32), (64, 1, 1)), backend)
    for seed in range(4):
        aug = T.Compose([T.RandomPerspective(1.0, p=1.0)], seed=seed)
        moved = to_numpy(aug(batch, boxes=boxes, step=1)[1])
        assert np.isfinite(to_numpy(aug.draw(batch, step=1).matrices)).all()
        assert np.isfinite(moved).all()
