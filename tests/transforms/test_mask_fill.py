"""`fill` of masks other than 0, given as torchvision's dict by type."""

import json

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T

FILLED = {
    "Pad": lambda fill: T.Pad(2, fill=fill),
    "Pad, reflect": lambda fill: T.Pad(2, fill=fill, padding_mode="reflect"),
    "PadBatch": lambda fill: T.PadBatch(32, fill=fill),
    "RandomAffine": lambda fill: T.RandomAffine(30, translate=(0.3, 0.3), fill=fill),
    "RandomCrop": lambda fill: T.RandomCrop((9, 8), padding=4, fill=fill),
    "RandomCrop, pad_if_needed": lambda fill: T.RandomCrop((19, 6), pad_if_needed=True, fill=fill),
    "RandomPerspective": lambda fill: T.RandomPerspective(p=0.7, fill=fill),
    "RandomRotation": lambda fill: T.RandomRotation(90, fill=fill),
    "RandomZoomOut": lambda fill: T.RandomZoomOut(fill, p=0.9),
    "ElasticTransform": lambda fill: T.ElasticTransform(200.0, fill=fill),
    "AutoAugment": lambda fill: T.AutoAugment(fill=fill),
    "RandAugment": lambda fill: T.RandAugment(4, fill=fill),
    "TrivialAugmentWide": lambda fill: T.TrivialAugmentWide(fill=fill),
}
FORMS = {
    "batch": lambda images, masks: (images, masks),
    "single": lambda images, masks: (images[0], masks[0]),
    "several masks": lambda images, masks: (images, np.stack([masks, masks // 2], axis=1)),
    "list": lambda images, masks: ([*images], [*masks]),
    "sizes": lambda images, masks: tuple([array[: 11 - i] for i, array in enumerate(a)] for a in (images, masks)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FILLED)
def test_fill_of_masks_is_their_value_outside(name, form, tv):
    """Masks + 1 have no 0: in their result, filled with 0, a pixel of 0 is one from outside."""
    images, masks = FORMS[form](noise((8, 11, 9, 3)), noise((8, 11, 9), seed=1) // 2)
    plus_1 = [mask + 1 for mask in masks] if isinstance(masks, list) else masks + 1
    outside = 0
    for image_value in (None, 7, (7, 8, 9)):

        def run(fill, masks):
            aug = T.Compose([T.RandomHorizontalFlip(), FILLED[name](fill), T.RandomInvert()], seed=4)
            return T.from_dict(aug.to_dict())(images, masks, step=2)

        result, moved = run({tv.Image: image_value, tv.Mask: 255}, masks)
        expected, moved_plus_1 = run(image_value, plus_1)
        for image, expected_image in zip(result, expected, strict=True):
            assert_equal(image, expected_image)
        for mask, expected_mask in zip(moved, moved_plus_1, strict=True):
            assert_equal(mask, expected_mask - np.uint8(1))  # 0 - 1 is 255
            outside += int((mask == 255).sum())
    if form != "single":
        assert (outside > 0) == (name != "Pad, reflect")


def test_fill_of_masks_is_described_as_a_dict_by_kind(tv):
    pad = T.Pad(2, fill={tv.Image: (7, 8), tv.Mask: 255})
    assert pad.to_dict()["fill"] == {"images": [7, 8], "masks": 255}
    assert T.from_dict(json.loads(json.dumps(pad.to_dict()))).to_dict() == pad.to_dict()


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"name": "FillByKind", "images": 0, "masks": 1}, r"name must be that of a transform, got 'FillByKind'"),
        ({"images": 0, "masks": 1}, r"name must be that of a transform, got None"),
        ({"name": "Pad", "padding": {"images": 0, "masks": 1}}, r"name must be that of a transform, got None"),
        ({"name": "Pad", "padding": 1, "fill": {"z": 1}}, r"^cuaug.transforms.Pad: fill must be one value, or a dict"),
        ({"name": "Pad", "padding": 1, "fill": {"images": {"masks": 1}}}, r"Pad: fill must be a number or one per ch"),
    ],
)
def test_fill_of_masks_is_no_transform_of_a_description(description, message):
    with pytest.raises((TypeError, ValueError), match=message):
        T.from_dict(description)


def test_fill_of_masks_may_have_the_names_of_kinds(tv):
    pad = T.Pad(2, fill={"masks": 255, "images": 7})
    assert repr(pad) == "Pad(padding=2, fill={'images': 7, 'masks': 255}, padding_mode='constant')"
    assert eval(repr(pad), vars(T)).to_dict() == pad.to_dict() == T.Pad(2, fill={tv.Image: 7, tv.Mask: 255}).to_dict()


@pytest.mark.parametrize("name", FILLED)
def test_fill_of_masks_may_be_assigned(name, tv):
    transform, by_type = FILLED[name](0), {tv.Image: 3, tv.Mask: 4}
    transform.fill = by_type
    assert transform.to_dict() == FILLED[name](by_type).to_dict()
    images, masks = noise((2, 9, 8, 3)), noise((2, 9, 8), seed=1)
    for result, expected in zip(
        T.Compose([transform], seed=1)(images, masks, step=2),
        T.Compose([FILLED[name](by_type)], seed=1)(images, masks, step=2),
        strict=True,
    ):
        for array, expected_array in zip(result, expected, strict=True):
            assert_equal(array, expected_array)
    with pytest.raises(ValueError, match=r"fill of masks must be at most 9007199254740992"):
        FILLED[name](0).fill = {tv.Mask: 1 << 60}


def test_fill_of_masks_is_that_of_each_transform(tv):
    """Fills differ: the recipe's result is that of the transforms one after the other."""
    images, masks = noise((3, 11, 9, 3)), noise((3, 11, 9), seed=1) // 2 + 1
    transforms = [
        T.RandomRotation((30, 30), fill={tv.Mask: 255}),
        T.Pad(2, fill={tv.Mask: 254}),
        T.RandomAffine((9, 9), fill=0),
    ]
    result, moved = images, masks
    for transform in transforms:
        result, moved = transform(result, moved)
    together, moved_together = T.Compose(transforms)(images, masks)
    assert_equal(together, result)
    assert_equal(moved_together, moved)
    assert {0, 254, 255} <= set(np.unique(moved).tolist())


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "float32"])
def test_fill_of_masks_may_be_negative(dtype, tv):
    masks = np.ones((2, 5, 5), dtype)
    for transform in (T.Pad(1, fill={tv.Mask: -100}), T.RandomZoomOut({tv.Mask: -100.0}, (3.0, 3.0), p=1.0)):
        moved = transform(noise((2, 5, 5, 3)), masks)[1]
        assert all(mask.dtype == dtype and set(np.unique(mask).tolist()) == {-100, 1} for mask in moved)


@pytest.mark.parametrize("name", ["Pad", "RandomZoomOut"])
@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("uint8", -1), ("uint8", 256), ("bool", 255), ("int16", 40_000), ("float16", 2_049), ("float32", -(1 << 24) - 1)],
)
def test_fill_of_masks_must_be_a_value_of_their_dtype(name, dtype, fill, tv):
    with pytest.raises(ValueError, match=rf"fill of {dtype} masks must be in -?\d+\.\.\d+, got {fill}"):
        FILLED[name]({tv.Mask: fill})(noise((8, 5, 5, 3)), np.ones((8, 5, 5), dtype))


def test_fill_of_masks_must_be_a_value_of_the_dtypes_that_they_are_cast_to(tv):
    recipe = T.Compose(
        [T.ToDtype("float32", scale=True, mask_dtype="uint8"), T.Pad(1, fill={"images": 0, "masks": -1})]
    )
    with pytest.raises(ValueError, match=r"fill of uint8 masks must be in 0\.\.255, got -1"):
        recipe(noise((2, 5, 5, 3)), np.ones((2, 5, 5), "int64"))


def cast_masks(dtype):
    return T.ToDtype(None, mask_dtype=dtype)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FILLED)
def test_fill_of_masks_has_the_dtype_at_its_place(name, form, tv):
    """After a cast to int64 a fill of uint8 masks may be -100; the cast is made where it stands, in a batch or list."""
    images, masks = FORMS[form](noise((8, 11, 9, 3)), noise((8, 11, 9), seed=1) // 2)
    recipe = T.Compose([T.RandomHorizontalFlip(), cast_masks("int64"), FILLED[name]({"masks": -100})], seed=4)
    wide = [mask.astype("int64") for mask in masks] if isinstance(masks, list) else masks.astype("int64")
    filled = 0
    for _ in range(3):  # the second call is recorded, the third replayed
        for mask, expected in zip(recipe(images, masks, step=2)[1], recipe(images, wide, step=2)[1], strict=True):
            assert_equal(mask, expected)
            filled += int((mask == -100).sum())
    if form != "single":
        assert (filled > 0) == (name != "Pad, reflect")


@pytest.mark.parametrize(
    ("dtypes", "fill", "values"),
    [(["uint8"], 7, {1, 7, 156}), (["uint8", "int64"], -100, {1, -100, 156}), (["int16"], -100, {1, -100})],
)
def test_fill_of_masks_before_a_cast_is_cast(dtypes, fill, values, tv):
    """The casts change the fill of the first `Pad`, -100, to 156. That of the second is a value of the last dtype."""
    images, masks = noise((2, 5, 5, 3)), np.ones((2, 5, 5), "int64")
    transforms = [T.Pad(1, fill={"masks": -100}), *map(cast_masks, dtypes), T.Pad(1, fill={"masks": fill})]
    expected_image, expected = images, masks
    for transform in transforms:
        expected_image, expected = transform(expected_image, expected)
    result = T.Compose(transforms)(images, masks)[1]
    assert_equal(result, expected)
    assert set(np.unique(result).tolist()) == values


def test_fill_of_masks_is_checked_in_the_dtype_of_each_transform(tv):
    pad = T.Pad(1, fill={"masks": -1})
    with pytest.raises(ValueError, match=r"fill of uint8 masks must be in 0\.\.255, got -1"):
        T.Compose([pad, cast_masks("uint8"), pad])(noise((2, 5, 5, 3)), np.ones((2, 5, 5), "int64"))


@pytest.mark.parametrize("count", [0, 1])
def test_fill_of_masks_must_be_a_value_of_the_dtype_of_stacks(count, tv):
    zoom_out = T.RandomZoomOut({"images": 0, "masks": 255}, p=1.0)
    with pytest.raises(ValueError, match=r"fill of bool masks must be in 0\.\.1, got 255"):
        zoom_out({"image": noise((5, 5, 3)), "masks": np.ones((count, 5, 5), bool)})


@pytest.mark.parametrize(
    "fill",
    [1.5, "a", [1, 2], [], float("nan"), True, 1 << 60, [np.array([1, 2])] * 2, torch.ones(2, 2).unbind()],
    ids=repr,
)
def test_fill_of_masks_must_be_an_integer(fill, tv):
    with pytest.raises((TypeError, ValueError), match=r"^cuaug.transforms.Pad: fill of masks must be a"):
        T.Pad(2, fill={tv.Image: 0, tv.Mask: fill})
