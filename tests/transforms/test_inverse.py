"""`Compose.inverse`: results mapped back to the pixels of their images."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, images, noise
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.mask_recipes import SHAPE, random_masks, recipe
from tables import warp_reference as reference

from cuaug import transforms as T


@every_backend
def test_compose_inverse_restores_crop(backend):
    batch = noise(SHAPE)
    aug = T.Compose([T.RandomCrop((15, 12)), T.RandomHorizontalFlip(), T.RandomVerticalFlip()], seed=4)
    inputs = images(backend, shape=SHAPE)
    params = aug.draw(inputs)
    restored = aug.inverse(aug.apply(inputs, params), params, fill=9)
    expected = np.full_like(batch, 9)
    for i in range(5):
        top, left = (int(params[f"0.RandomCrop.{name}"][i]) for name in ("top", "left"))
        box = slice(top, top + 15), slice(left, left + 12)
        expected[i][box] = batch[i][box]
    assert_equal(to_numpy(restored), np.moveaxis(expected, -1, 1) if backend[0] == "torch" else expected)


@pytest.mark.parametrize("name", ["rotated", "perspective", "two passes", "antialiased"])
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_compose_inverse_uses_inverse_matrices(name, interpolation):
    """Against float64 NumPy, for heat maps with other channels and another dtype than the images."""
    aug = recipe(name)
    params = aug.draw(noise(SHAPE))
    maps = noise((5, *params.result_size, 2), "float32", seed=8)
    restored = aug.inverse(maps, params, interpolation=interpolation, fill=0.5)
    assert restored.shape == (5, 23, 17, 2)
    expected = np.stack(
        [
            reference.warp(maps[i].astype(float), M, (23, 17), inverse=True, interpolation=interpolation, fill=0.5)
            for i, M in enumerate(params.matrices)
        ]
    )
    if interpolation == "nearest":
        differing = (restored != expected.astype(np.float32)).any(-1)
        assert differing.mean() < 0.005, "more than the coordinates halfway between two pixels differ"
        restored = np.where(differing[..., None], expected.astype(np.float32), restored)
    near = Tolerance(1e-4, reason="the accuracy of every warp")
    assert_equal(restored, expected.astype(np.float32), tolerance=near)


def test_compose_inverse_labels_are_nearest():
    aug, masks = recipe("rotated"), random_masks("int64")
    params = aug.draw(noise(SHAPE))
    restored = aug.inverse(masks[..., None], params, interpolation="nearest")
    expected = [
        reference.warp(mask[..., None].astype(float), M, (23, 17), inverse=True, interpolation="nearest", fill=0)
        for mask, M in zip(masks, params.matrices, strict=True)
    ]
    assert_equal(restored, np.stack(expected).astype(np.int64))


def test_compose_inverse_rejects_wrong_size():
    aug = recipe("crops")
    params = aug.draw(noise(SHAPE))
    with pytest.raises(
        ValueError, match=r"cuaug.transforms.Compose.inverse: images must be 5 of size \(15, 12\).* got 5 of \(23, 17\)"
    ):
        aug.inverse(noise(SHAPE), params)


@pytest.mark.parametrize("shape", [(3, 4), (3, 5, 4)])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_inverse_of_boxes_names_transform_boxes(library, shape):
    aug = T.Compose([T.RandomAffine(10, scale=(0.8, 1.2)), T.CenterCrop((16, 12))], seed=2)
    params = aug.draw(noise((3, 20, 18, 3)))
    boxes = pytest.importorskip(library).ones(shape)
    with pytest.raises(
        ValueError, match=r"^cuaug\.transforms\.Compose\.inverse: images must have .*\(16, 12\), got"
    ) as error:
        aug.inverse(boxes, params)
    assert str(error.value).endswith("move boxes by cuaug.transform_boxes(boxes, cuaug.invert_affine(params.matrices))")


def test_inverse_takes_images_of_four_channels_or_four_columns():
    aug = T.Compose([T.RandomHorizontalFlip(1.0)], seed=2)
    for shape, layout in (((16, 12, 4), "HWC"), ((3, 16, 4), "CHW"), ((16, 4), "HW")):
        image = noise(shape)
        np.testing.assert_array_equal(
            aug.inverse(
                aug(image, layout=layout), aug.draw(image, layout=layout), layout=layout, interpolation="nearest"
            ),
            image,
        )


def test_inverse_of_masks_without_channels_names_the_index_that_adds_them():
    aug = T.Compose([T.RandomHorizontalFlip(1.0)], seed=2)
    masks, params = torch.ones(4, 8, 9), aug.draw(torch.ones(4, 3, 8, 9))
    with pytest.raises(ValueError, match=r"got 1 of \(8, 9\): masks need an axis of channels, masks\[:, None\]$"):
        aug.inverse(masks, params)
    assert_equal(aug.inverse(masks[:, None], params), masks[:, None])
