"""Parameters that torchvision takes as a dict by type: `ToDtype` and `fill`, with values for images and for masks."""

import collections

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T


@pytest.mark.parametrize("form", ["batch", "single", "lists", "tv_tensors", "numpy"])
def test_to_dtype_casts_masks_without_scaling(form, tv):
    images, masks = noise((2, 3, 9, 11)), noise((2, 9, 11), seed=1)
    expected = masks[..., ::-1].astype(np.int64)
    dtypes = {tv.Image: torch.float32, tv.Mask: torch.int64, "others": None}
    recipe = T.Compose([T.RandomHorizontalFlip(1.0), T.ToDtype(dtypes, scale=True), T.Normalize(0.5, 0.25)], seed=0)
    if form == "numpy":
        result, moved = recipe(np.moveaxis(images, 1, 3).copy(), masks)
        result = np.moveaxis(result, 3, 1)
    elif form == "lists":
        result, moved = recipe([*torch.from_numpy(images)], [*torch.from_numpy(masks)])
    elif form == "batch":
        result, moved = recipe(torch.from_numpy(images), torch.from_numpy(masks))
    else:
        make_mask = tv.Mask if form == "tv_tensors" else torch.Tensor.clone
        pairs = zip(torch.from_numpy(images), torch.from_numpy(masks), strict=True)
        results = [recipe({"image": image, "mask": make_mask(mask)}) for image, mask in pairs]
        assert form == "single" or {type(r["mask"]) for r in results} == {tv.Mask}
        result, moved = ([r[name] for r in results] for name in ("image", "mask"))
    assert {str(mask.dtype).removeprefix("torch.") for mask in moved} == {"int64"}
    assert np.array_equal(np.stack([*map(np.asarray, moved)]), expected)
    assert np.allclose(np.stack([*map(np.asarray, result)]), (images[..., ::-1] / 255 - 0.5) / 0.25, atol=1e-6)


def test_to_dtype_of_masks_alone_casts_them_in_the_order_of_the_recipe(tv):
    images, masks = torch.from_numpy(noise((2, 3, 9, 11))), torch.full((2, 9, 11), 300)
    recipe = T.Compose([T.ToDtype({tv.Mask: torch.uint8}), T.CenterCrop(5), T.ToDtype(None, mask_dtype="float32")])
    for _ in range(3):  # the second call is recorded, the third replayed
        result, moved = T.from_dict(recipe.to_dict())(images, masks)
        assert torch.equal(result, images[..., 2:7, 3:8])
        assert torch.equal(moved, torch.full((2, 5, 5), 44.0))
    assert len(recipe.plan(images).passes) == 1


@pytest.mark.parametrize("dtype", [None, {"others": None}, {"images": None}], ids=str)
def test_to_dtype_of_none_changes_nothing(dtype):
    """torchvision's dicts by type may have None for every type."""
    images, masks = noise((2, 9, 11, 3)), noise((2, 9, 11), seed=1)
    transform = T.ToDtype(dtype)
    assert_equal(transform(images), images)
    recipe = T.Compose([T.from_dict(transform.to_dict()), T.RandomHorizontalFlip(1.0)])
    for result, expected in zip(recipe(images, masks), (images[:, :, ::-1], masks[:, :, ::-1]), strict=True):
        assert_equal(result, expected)


@pytest.mark.parametrize("name", ["Pad", "RandomRotation", "RandAugment", "RandomZoomOut"])
def test_fill_of_a_dict_by_type_is_that_of_images(name, tv):
    arguments = {"Pad": (2,), "RandomRotation": (9,)}.get(name, ())
    for fill in (
        {tv.Image: 7, tv.Mask: 0}, {tv.Video: 7, tv.BoundingBoxes: 3}, {torch.Tensor: 7, "others": [0, 0, 0]},
        collections.defaultdict(lambda: 7, {tv.Mask: 0}), {tv.Image: 7, "images": 7.0, tv.Video: np.uint8(7)},
    ):  # fmt: skip
        assert getattr(T, name)(*arguments, fill=fill).to_dict() == getattr(T, name)(*arguments, fill=7).to_dict()
    for value in (np.nan, [np.nan, 1, 2]):
        fill = {np.ndarray: torch.tensor(value), torch.Tensor: np.array(value)}
        values = getattr(T, name)(*arguments, fill=fill).fill
        assert np.array_equal(values, value, equal_nan=True)
    for value, other in ((7, 8), (np.nan, 8), ([7, 7], [7, np.nan]), ([7], [7, 7])):
        with pytest.raises(ValueError, match=r"fill must have one value for all images, got \[?(7|nan).* and "):
            getattr(T, name)(*arguments, fill={tv.Image: value, tv.Video: other})
    with pytest.raises(TypeError, match=r"fill must be one value, or a dict by type"):
        getattr(T, name)(*arguments, fill={"image": 7, "mask": 0})
