"""A transform that draws sizes and the crop after it run as one part, which resizes only what the crop keeps."""

import numpy as np
import pytest
import torch
from helpers.arrays import default_layout, every_backend, images, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy

from cuaug import transforms as T
from cuaug.transforms.size_part import SizePart

COUNT, SIZE = 5, (61, 47)
SIZED = {
    "ScaleJitter": T.ScaleJitter((50, 60), (0.6, 1.5)),
    "RandomShortestSize": T.RandomShortestSize([31, 40, 55], 70),
    "RandomResize": T.RandomResize(30, 70, interpolation="bicubic"),
}
CROPS = {
    "crop": [T.RandomCrop((24, 20))],
    "flips, crop, flip": [T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.CenterCrop(25), T.RandomVerticalFlip()],
    "padded crop": [T.RandomHorizontalFlip(), T.RandomCrop(48, pad_if_needed=True, fill=7)],
    "crop, conversion": [T.RandomCrop(22), T.ToDtype("float32", scale=True), T.Normalize((0.5,) * 3, (0.2,) * 3)],
}
every_crop = pytest.mark.parametrize("crop", CROPS)
every_sized = pytest.mark.parametrize("sized", SIZED)
# The resample kernel on its own, and within a ragged batch, may round ties of uint8 differently on a GPU.
ROUNDED = Tolerance(absolute=1, exact=0.97, reason="a value that is nearly a tie may be rounded either way")
CONVERTED = Tolerance(absolute=0.03, reason="a level of uint8 after the conversion, divided by 0.2")


def tolerance(backend, crop):
    if backend[1] == "cpu":
        return EXACT if crop != "crop, conversion" else Tolerance(absolute=2e-6, reason="another order of operations")
    return CONVERTED if crop == "crop, conversion" else ROUNDED


def recipes(sized, crop):
    """The recipe, and its two parts as recipes of their own with the same draws."""
    recipe = T.Compose([SIZED[sized], *CROPS[crop]], seed=4)
    return recipe, T.Compose([SIZED[sized]], seed=4), recipe.after(1)


@pytest.fixture
def joined(monkeypatch):
    """Whether each call of a size part ran together with the next part."""
    calls = []
    transform_parsed = SizePart.transform_parsed

    def recorded(self, *arguments):
        *result, includes_next = transform_parsed(self, *arguments)
        calls.append(includes_next)
        return *result, includes_next

    monkeypatch.setattr(SizePart, "transform_parsed", recorded)
    return calls


@every_backend
@every_sized
@every_crop
@pytest.mark.parametrize("kind", ["batch", "list", "single"])
def test_compose_resizes_and_crops_as_two_recipes(backend, sized, crop, kind, joined):
    recipe, resize, remainder = recipes(sized, crop)
    batch = images(backend, shape=(COUNT, *SIZE, 3))
    layout = default_layout(backend)[1:]
    sample = {"batch": batch, "list": list(batch)[1:], "single": batch[2]}[kind]
    options = {"step": 1, "layout": default_layout(backend) if kind == "batch" else layout}
    result = recipe(sample, **options)
    assert joined == [True]
    single = resize(sample, **options)
    expected = remainder(single, step=1, layout=layout)
    assert isinstance(result, list) == (kind == "list")
    assert len(result) == len(expected)
    pairs = [(result, expected)] if kind == "single" else zip(result, expected, strict=True)
    for image, expected_image in pairs:
        assert_equal(to_numpy(image), to_numpy(expected_image), tolerance=tolerance(backend, crop))


@every_backend
@every_sized
@every_crop
@pytest.mark.parametrize("kind", ["batch", "list", "single"])
def test_compose_moves_targets_of_resized_crops_as_two_recipes(backend, sized, crop, kind, joined):
    recipe, resize, remainder = recipes(sized, crop)
    layout = default_layout(backend)[1:]
    corners = np.sort(np.random.default_rng(0).uniform(-0.1, 1.1, (COUNT, 6, 2, 2)) * SIZE[::-1], axis=2)
    sample = {
        "image": images(backend, shape=(COUNT, *SIZE, 3)),
        "mask": put(noise((COUNT, *SIZE), seed=1).astype(np.int32), backend),
        "boxes": put(corners.reshape(COUNT, 6, 4).astype(np.float32), backend),
        "keypoints": put(corners[:, :, 0].astype(np.float32), backend),
    }
    if kind != "batch":
        samples = {key: list(value) for key, value in sample.items()}
        sample = samples if kind == "list" else {key: value[3] for key, value in samples.items()}
    options = {"step": 1, "layout": default_layout(backend) if kind == "batch" else layout}
    result = recipe(sample, **options)
    assert joined == [True]
    expected = remainder(resize(sample, **options), step=1, layout=layout)
    assert result.keys() == expected.keys()
    ties = Tolerance(absolute=255, exact=0.95, reason="two labels are equally near to some pixels")
    for n in range(1 if kind == "single" else COUNT):
        moved, expected_targets = (
            {key: to_numpy(target if kind == "single" else target[n]) for key, target in sample.items()}
            for sample in (result, expected)
        )
        assert_equal(moved["valid"], expected_targets["valid"])
        for key in ("boxes", "keypoints"):  # the coordinates of boxes that are not valid may differ
            kept = slice(None) if key == "keypoints" else moved["valid"]
            np.testing.assert_allclose(moved[key][kept], expected_targets[key][kept], atol=2e-4)
        assert_equal(moved["mask"], expected_targets["mask"], tolerance=ties)


@every_backend
def test_compose_resizes_and_crops_images_of_several_sizes(backend, joined):
    recipe, resize, remainder = recipes("ScaleJitter", "padded crop")
    layout = default_layout(backend)[1:]
    batch = [images(backend, shape=(1, 40 + 7 * n, 60 - 5 * n, 3), seed=n)[0] for n in range(COUNT)]
    result = recipe(batch, step=2, layout=layout)
    assert joined == [True]
    expected = remainder(resize(batch, step=2, layout=layout), step=2, layout=layout)
    for image, expected_image in zip(result, expected, strict=True):
        assert_equal(to_numpy(image), to_numpy(expected_image), tolerance=tolerance(backend, "padded crop"))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_compose_resizes_and_crops_without_antialias_as_two_recipes(dtype, joined):
    jitter = T.ScaleJitter((50, 60), (0.6, 1.5), antialias=False)
    recipe = T.Compose([jitter, *CROPS["crop"]], seed=4)
    batch = noise((COUNT, *SIZE, 3), dtype)
    result = recipe(batch, step=1)
    assert joined == [True]
    expected = recipe.after(1)(T.Compose([jitter], seed=4)(batch, step=1), step=1, layout="HWC")
    errors = {"uint8": 0, "uint16": 1, "float32": 1e-5}
    near = Tolerance(absolute=errors[dtype], reason="coordinates of float32, counted from another pixel")
    assert_equal(result, np.stack(expected), tolerance=near)


@pytest.mark.parametrize(
    "after",
    [
        [T.RandomHorizontalFlip()],
        [T.ColorJitter(0.4), T.RandomCrop(16)],
        [T.RandomCrop(16, padding=2, padding_mode="reflect")],
        [T.RandomRotation(30), T.CenterCrop(16)],
    ],
    ids=str,
)
def test_compose_runs_other_transforms_after_sizes_as_parts_of_their_own(after, joined):
    recipe = T.Compose([SIZED["RandomResize"], *after], seed=4)
    batch = noise((COUNT, *SIZE, 3))
    result = recipe(batch, step=1)
    assert joined == [False]
    expected = recipe.after(1)(T.Compose([SIZED["RandomResize"]], seed=4)(batch, step=1), step=1, layout="HWC")
    for image, expected_image in zip(result, expected, strict=True):
        assert_equal(image, expected_image)


def test_compose_names_size_transform_that_refuses_a_dtype():
    recipe = T.Compose([T.ScaleJitter((50, 60)), T.RandomCrop(8, pad_if_needed=True)])
    with pytest.raises(TypeError, match="Compose: ScaleJitter: int32 holds labels"):
        recipe(noise((2, *SIZE, 3), "int32"))


def test_compose_names_crop_that_does_not_fit_resized_image():
    recipe = T.Compose([T.ScaleJitter((50, 60), (0.5, 0.5)), T.RandomCrop(48)])
    with pytest.raises(
        ValueError, match=r"Compose: RandomCrop: size must fit into the image, which is \(30, 23\) here"
    ):
        recipe(noise((2, *SIZE, 3)))


def test_compose_counts_call_of_resized_crops_once():
    recipe = T.Compose([SIZED["ScaleJitter"], *CROPS["crop"]], seed=4)
    batch = noise((2, *SIZE, 3))
    first, second = recipe(batch), recipe(batch)
    assert recipe.state_dict() == {"seed": 4, "step": 2}
    assert_equal(first, recipe(batch, step=0))
    assert_equal(second, recipe(batch, step=1))


class SubclassOfZoomOut(T.RandomZoomOut):
    def forward(self, *inputs):
        return super().forward(*inputs)


@pytest.mark.parametrize("last", [[], [T.CenterCrop(4)], [T.RandomVerticalFlip()]])
def test_compose_makes_a_batch_after_a_subclass_of_a_size_transform_as_after_the_class(last):
    batch, masks = torch.from_numpy(noise((3, 3, 9, 11))), torch.from_numpy(noise((3, 9, 11)))
    for sample, get in ((batch, lambda result: (result,)), ({"image": batch, "masks": masks}, dict.values)):
        expected, result = (
            T.Compose([zoom_out(p=1.0), *last], seed=2)(sample) for zoom_out in (T.RandomZoomOut, SubclassOfZoomOut)
        )
        for value, expected_value in zip(get(result), get(expected), strict=True):
            assert type(value) is type(expected_value)


@pytest.mark.parametrize("transform", [T.RandomZoomOut(), T.RandomResize(4, 9), T.RandomHorizontalFlip()])
def test_compose_of_no_samples_adds_masks_of_validity(transform):
    result = T.Compose([transform])({"image": noise((0, 8, 9, 3)), "boxes": np.zeros((0, 2, 4))})
    assert result["valid"].shape == (0, 2)
    assert result["valid"].dtype == bool
