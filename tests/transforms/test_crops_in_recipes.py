"""Transforms after `FiveCrop` and `TenCrop` in a recipe: the crops of an image share its draws."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, images, noise
from helpers.compare import assert_equal

from cuaug import transforms as T
from cuaug.transforms import functional

RANDOM = [T.RandomInvert(), T.RandomHorizontalFlip(), T.RandomAffine(20)]
CROPS = {
    "FiveCrop": (T.FiveCrop(5), lambda batch: functional.five_crop(batch, 5)),
    "TenCrop": (T.TenCrop((5, 7), vertical_flip=True), lambda batch: functional.ten_crop(batch, (5, 7), True)),
}


@every_backend
@pytest.mark.parametrize("name", CROPS)
def test_crops_of_a_batch_are_each_transformed_with_the_draws_of_their_images(backend, name):
    transform, crops = CROPS[name]
    batch = images(backend, shape=(6, 11, 9, 3))
    alone = T.Compose([T.Identity(), *RANDOM], seed=3)  # the same positions in the recipe
    results = T.Compose([transform, *RANDOM], seed=3)(batch, step=2)
    assert len(results) == len(crops(batch))
    for result, crop in zip(results, crops(batch), strict=True):
        assert_equal(result, alone(crop, step=2))


FORMS = {
    "pair": (lambda batch: (batch, np.arange(6)), lambda result, n, k: result[0][k][n]),
    "named": (lambda batch: {"image": batch, "label": np.arange(6)}, lambda result, n, k: result["image"][k][n]),
    "list": (list, lambda result, n, k: result[n][k]),
    "pairs": (lambda batch: [(image, 1) for image in batch], lambda result, n, k: result[n][0][k]),
    "dicts": (lambda batch: [{"image": image} for image in batch], lambda result, n, k: result[n]["image"][k]),
}


@pytest.mark.parametrize("form", FORMS)
def test_crops_in_a_structure_are_transformed_as_those_of_a_batch(form):
    make_sample, crop_of = FORMS[form]
    batch = noise((6, 11, 9, 3))
    for last in ([], [T.RandomApply([lambda sample: sample])]):
        recipe = T.Compose([T.FiveCrop(5), *RANDOM, *last], seed=3)
        expected, result = recipe(batch, step=2), recipe(make_sample(batch), step=2)
        for n in range(6):
            for k in range(5):
                assert_equal(crop_of(result, n, k), expected[k][n])


def test_crops_of_one_image_are_those_of_the_batch():
    image_module = pytest.importorskip("PIL.Image")
    batch = noise((6, 11, 9, 3))
    recipe = T.Compose([T.FiveCrop(5), *RANDOM], seed=3)
    expected = recipe(batch, step=2)
    single, pillow = (recipe(form(batch[4]), ids=4, step=2) for form in (np.asarray, image_module.fromarray))
    for k in range(5):
        assert_equal(single[k], expected[k][4])
        assert_equal(np.asarray(pillow[k]), expected[k][4])
    labelled, label = recipe((batch[4], 7), ids=4, step=2)
    assert label == 7
    assert_equal(labelled[4], expected[4][4])


def test_crops_with_labels_by_name_and_a_function_that_stacks_them():
    batch, labels = torch.from_numpy(noise((6, 3, 11, 9))), torch.arange(6)

    def stack(crops, labels):
        return torch.stack(crops), labels

    aug = T.Compose([T.FiveCrop(5), T.ToDtype(torch.float32, scale=True), T.Normalize(0.5, 0.5), stack])
    result, result_labels = aug(batch, labels=labels)
    expected = torch.stack([T.Normalize(0.5, 0.5)(crop) for crop in functional.five_crop(batch, 5)])
    assert_equal(result, expected)
    assert result_labels is labels


@pytest.mark.parametrize("form", ["list", "pairs", "dicts", "batch"])
def test_crops_of_crops_are_transformed_with_the_draws_of_their_images(form):
    make_sample, crops_of = FORMS.get(form, (lambda batch: batch, lambda result, n, k: [crop[n] for crop in result[k]]))
    batch = noise((6, 11, 9, 3))
    alone = T.Compose([T.Identity(), T.Identity(), *RANDOM], seed=3)
    result = T.Compose([T.FiveCrop(7), T.FiveCrop(5), *RANDOM], seed=3)(make_sample(batch), step=2)
    for k, outer in enumerate(functional.five_crop(batch, 7)):
        for j, inner in enumerate(functional.five_crop(outer, 5)):
            for n, expected in enumerate(alone(inner, step=2)):
                assert_equal(crops_of(result, n, k)[j], expected)


class ThreeCrops(T.FiveCrop):
    def transform(self, inpt, params):
        return super().transform(inpt, params)[:3]


class CallOfFiveCrop(T.FiveCrop):
    def __call__(self, *inputs):
        return super().__call__(*inputs)[:3]


class ForwardOfFiveCrop(T.FiveCrop):
    def forward(self, *inputs):
        return super().forward(*inputs)[:3]


CROPS_INSIDE = {
    "branch": T.RandomApply([T.FiveCrop(5)], p=1.0),
    "transform": ThreeCrops(5),
    "call": CallOfFiveCrop(5),
    "forward": ForwardOfFiveCrop(5),
    "nested": T.Compose([ThreeCrops(5)]),
}


@pytest.mark.parametrize("name", CROPS_INSIDE)
def test_crops_of_a_branch_or_a_subclass_have_the_draws_of_their_images(name):
    batch = noise((6, 11, 9, 3))
    positions = [T.Identity()] * CROPS_INSIDE[name].draw_position_count
    alone = T.Compose([*positions, *RANDOM], seed=3)
    results = T.Compose([CROPS_INSIDE[name], *RANDOM], seed=3)(batch, step=2)
    assert type(results) is tuple
    assert len(results) == (5 if name == "branch" else 3)
    for result, crop in zip(results, functional.five_crop(batch, 5)[: len(results)], strict=True):
        assert_equal(result, alone(crop, step=2))


def test_crops_keep_the_draws_of_their_images_after_a_function():
    batch = noise((6, 11, 9, 3))
    alone = T.Compose([T.Identity(), T.Identity(), *RANDOM], seed=3)
    recipe = T.Compose([T.FiveCrop(5), lambda crops: tuple(255 - crop for crop in crops), *RANDOM], seed=3)
    for result, crop in zip(recipe(batch, step=2), functional.five_crop(batch, 5), strict=True):
        assert_equal(result, alone(255 - crop, step=2))


@pytest.mark.parametrize(
    "form", [lambda batch: batch, lambda batch: {"image": batch}, lambda batch: (batch, [1, 2, 3])]
)
@pytest.mark.parametrize(("layout", "as_array"), [("NCHW", np.asarray), ("NHWC", torch.from_numpy)])
@pytest.mark.parametrize(
    "last", [[T.RandomInvert()], [T.RandomZoomOut(), T.FiveCrop(2), T.RandomInvert()], [T.PadBatch(9)]]
)
def test_crops_of_images_of_drawn_sizes_have_the_layout_of_the_call(form, layout, as_array, last):
    channels_last = noise((3, 8, 7, 3))
    recipe = T.Compose([T.RandomZoomOut(p=1.0), T.FiveCrop(4), *last], seed=1)
    expected = recipe(list(channels_last), step=0)
    batch = channels_last if layout == "NHWC" else np.moveaxis(channels_last, 3, 1).copy()
    result = recipe(form(as_array(batch)), step=0, layout=layout)
    images = result["image"] if isinstance(result, dict) else result[0] if isinstance(result, tuple) else result
    for actual, crops in zip(images, expected, strict=True):
        for crop, expected_crop in zip(np.asarray(actual), np.asarray(crops), strict=True):
            assert np.array_equal(crop if layout == "NHWC" else np.moveaxis(crop, -3, -1), expected_crop)


@pytest.mark.parametrize("kind", ["masks", "boxes", "keypoints"])
def test_uniform_temporal_subsample_refuses_targets_of_frames(kind):
    video = noise((1, 6, 11, 9, 3))
    target = {"masks": video[..., 0], "boxes": np.ones((1, 6, 4)), "keypoints": np.ones((1, 6, 2))}[kind]
    recipe = T.Compose([T.UniformTemporalSubsample(3)])
    with pytest.raises(
        TypeError, match=rf"UniformTemporalSubsample: {kind} must not be given, got some at \['{kind}'\]"
    ):
        recipe({"image": video, kind: target}, layout="NTHWC")
    result, label = recipe((video, [4]), layout="NTHWC")
    assert_equal(result, video[:, [0, 2, 5]])
    assert label == [4]


@pytest.mark.parametrize("sample", [noise((11, 9, 3)), noise((2, 11, 9, 3)), {"image": noise((2, 11, 9, 3))}])
def test_crops_are_plain_tuples_for_users(sample):
    """The pytrees of torch and JAX do not look into instances of a class derived from tuple."""
    seen = []

    def record(value):
        seen.append(value)
        return value

    crop = T.FiveCrop(5)
    crop.register_forward_hook(lambda module, inputs, result: record(result) and None)
    T.Compose([crop])(sample)
    seen += [crop.forward(sample), T.Compose([T.RandomApply([T.FiveCrop(5)], p=1.0)])(sample)]
    for transforms in ([T.RandomInvert()], [record], [T.RandomApply([record], p=1.0)], [T.RandomInvert(), record], []):
        for recipe in (T.FiveCrop(5), T.Compose([T.FiveCrop(5), *transforms])):
            seen.append(recipe(sample))
    assert {type(value["image"] if isinstance(value, dict) else value) for value in seen} == {tuple}
