"""RandomApply, RandomChoice and RandomOrder: each sample equals the result of the function selected for it."""

import itertools

import numpy as np
import pytest
from helpers.arrays import default_layout, every_backend, from_layout, put, seeded, to_layout
from helpers.compare import to_numpy
from helpers.transforms import (
    EFFECTIVE,
    C,
    H,
    N,
    W,
    apply_with_params,
    assert_near,
    batch,
    changed_samples,
    column,
    one_by_one,
)

import cuaug
from cuaug import transforms as T


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("transform", EFFECTIVE, ids=repr)
def test_random_apply_unselected_unchanged(transform, dtype):
    images = batch(dtype)
    result, params = apply_with_params(T.RandomApply([transform], p=0.5), images)
    unselected = column(params, "apply", 0) == 0
    assert 8 < unselected.sum() < N - 8
    assert not changed_samples(result, images)[unselected].any()
    assert changed_samples(result, images)[~unselected].mean() > 0.9


def test_random_apply_unselected_normalized_values_unchanged():
    images = batch("float32") * 4 - 2
    result, params = apply_with_params(T.RandomApply([T.Normalize(0.5, 0.2)], p=0.5), images)
    unselected = column(params, "apply", 0) == 0
    np.testing.assert_array_equal(result[unselected], images[unselected])
    np.testing.assert_allclose(result[~unselected], (images[~unselected] - 0.5) / 0.2, atol=1e-5)


def test_random_apply_unselected_small_floats_unchanged():
    images = seeded("small").random((N, H, W, C), np.float32) ** 3  # as small as 2e-16
    result, params = apply_with_params(
        T.RandomApply([T.Compose([T.RandomPosterize(2, 1.0), T.RandomSolarize(0.5, 1.0)])]), images
    )
    unselected = column(params, "apply", 0) == 0
    np.testing.assert_array_equal(result[unselected], images[unselected])


@every_backend
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_random_apply_unblurred_sample_keeps_values_that_are_not_finite(value, dtype, backend):
    """The taps beside the centre have the weight 0, and 0 times infinity is NaN."""
    values, layout = batch(dtype), default_layout(backend)
    values[:, 3, 4, 1] = values[:, 0, 0, 0] = value
    images = put(to_layout(values, layout), backend)
    for size in (5, (3, 9), 23):
        aug = T.Compose([T.RandomApply([T.GaussianBlur(size)])], seed=7)
        result = from_layout(to_numpy(aug(images, step=3)), layout)
        unblurred = column(aug.draw(values, step=3), "apply", 0) == 0
        assert 0 < unblurred.sum() < N
        np.testing.assert_array_equal(result[unblurred], values[unblurred])
        assert (~np.isfinite(result[~unblurred])).sum() > 2 * (~unblurred).sum()


def test_random_apply_unmixed_sample_reads_no_neighbour():
    images = batch("float32")
    images[::2] = np.nan
    for transform in (T.MixUp(), T.CutMix()):
        result, params = apply_with_params(T.RandomApply([transform], p=0.5), images)
        unmixed = (column(params, "apply", 0) == 0) & (np.arange(N) % 2 == 1)
        np.testing.assert_array_equal(result[unmixed], images[unmixed])


def test_random_apply_nested_probabilities_multiply():
    images = batch()
    inner = T.RandomApply([T.Compose([T.RandomInvert(1.0)])], p=0.5)
    result, params = apply_with_params(T.RandomApply([inner], p=0.5), images)
    outer, both = column(params, "apply", 0), column(params, "apply", 1)
    assert 0 < both.sum() < outer.sum() < N
    assert (both <= outer).all()
    np.testing.assert_array_equal(result, np.where(both[:, None, None, None] == 1, 255 - images, images))


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (T.ToDtype("float32", scale=True), "dtype of some samples only"),
        (T.Resize((16, 16)), "size of some samples only"),
        (T.CenterCrop(16), "size of some samples only"),
        (T.Pad(2), "size of some samples only"),
        (T.Compose([T.Resize((16, 16)), T.Resize((H, W))], seed=0), "size of some samples only"),
        (T.Compose([T.CenterCrop((H - 4, W - 4)), T.Pad(2)], seed=0), "size of some samples only"),
        (T.Grayscale(1), "channels of some samples only"),
        (T.Compose([T.Grayscale(1), T.RGB()], seed=0), "channels of some samples only"),
        (T.Compose([T.ToDtype("float32"), T.ToDtype("uint8")], seed=0), "dtype of some samples only"),
        (
            T.Compose([T.ToDtype("int16", scale=True), T.ToDtype("uint8", scale=True)], seed=0),
            "dtype of some samples only",
        ),
    ],
    ids=str,
)
def test_random_apply_rejects_whole_batch_transforms(transform, message):
    for gated in (T.RandomApply([transform]), T.RandomChoice([T.Identity(), transform]), T.RandomOrder([transform])):
        with pytest.raises(ValueError, match=message):
            T.Compose([gated], seed=0)(batch(samples=2))


WIDER = [("uint8", "float32"), ("uint16", "float32"), ("int16", "float32"), ("float16", "float32"),
         ("float16", "float64"), ("uint8", "uint16"), ("uint8", "float16"), ("float32", "float32")]  # fmt: skip


@every_backend
@pytest.mark.parametrize(("dtype", "wider"), WIDER)
def test_random_apply_of_wider_dtype_leaves_other_samples_unchanged(dtype, wider, backend):
    scale = {"uint8": 255, "uint16": 65535, "int16": 32767}.get(dtype, 1)
    values, layout = (batch("float64") * scale).astype(dtype), default_layout(backend)
    noise = T.GaussianNoise(0.1, 0.2)
    members = [T.ToDtype(wider, scale=scale > 1), noise, T.ToDtype(dtype, scale=scale > 1)]
    aug = T.Compose([T.RandomApply(members)], seed=7)
    result = from_layout(to_numpy(aug(put(to_layout(values, layout), backend), step=3)), layout)
    applied = column(aug.draw(values, step=3), "apply") == 1
    assert 0 < applied.sum() < N
    np.testing.assert_array_equal(changed_samples(result, values), applied)


def test_random_choice_follows_weights():
    images = np.zeros((4000, 1, 1, 1), np.uint8)
    members = [T.Identity(), T.RandomInvert(1.0), T.RandomPosterize(1, 1.0)]
    for weights in (None, [1, 0, 3]):
        _, params = apply_with_params(T.RandomChoice(members, p=weights), images)
        share = np.bincount(column(params, "chosen").astype(int), minlength=3) / len(images)
        np.testing.assert_allclose(share, np.array(weights or [1, 1, 1]) / sum(weights or [1, 1, 1]), atol=0.03)


def test_random_choice_equals_function():
    images = batch()
    members = [T.RandomInvert(1.0), T.RandomHorizontalFlip(1.0), T.RandomPosterize(2, 1.0), T.Identity()]
    functions = [cuaug.invert, cuaug.hflip, lambda x: cuaug.posterize(x, 2), lambda x: x]
    result, params = apply_with_params(T.RandomChoice(members), images)
    chosen = column(params, "chosen").astype(int)
    assert set(chosen) == {0, 1, 2, 3}
    np.testing.assert_array_equal(result, one_by_one(images, lambda x, n: functions[chosen[n]](x)))


def test_random_choice_of_maps_is_one_resample():
    images = batch()
    affine_options = {"degrees": (15, 30), "interpolation": "bilinear", "fill": 9}
    members = [
        T.RandomAffine(**affine_options),
        T.RandomPerspective(0.6, 1.0, fill=9),
        T.RandomAffine(**affine_options, center=(0, 0)),
    ]
    result, params = apply_with_params(T.RandomChoice(members), images)
    assert len(params.plan.passes) == 1
    matrices = np.asarray(params.matrices)
    expected = cuaug.warp_perspective(images, matrices, interpolation="bilinear", fill=9)
    assert_near(result, expected)
    one_after_the_other, params = apply_with_params(T.Compose(members), images)
    assert len(params.plan.passes) == 3
    assert changed_samples(one_after_the_other, result).all()
    _, params = apply_with_params(T.RandomChoice([T.RandomAffine(20, fill=1), T.RandomAffine(20, fill=2)]), images)
    assert len(params.plan.passes) == 2


def test_random_order_applies_every_permutation():
    images = batch()
    members = [T.RandomInvert(1.0), T.RandomPosterize(2, 1.0), T.RandomSolarize(100, 1.0)]
    functions = [cuaug.invert, lambda x: cuaug.posterize(x, 2), lambda x: cuaug.solarize(x, 100)]
    result, params = apply_with_params(T.RandomOrder(members), images)
    order = np.stack([column(params, f"order_{i}") for i in range(3)], 1).astype(int)
    assert {tuple(row) for row in order} == set(itertools.permutations(range(3)))

    def expected(x, n):
        for i in order[n]:
            x = functions[i](x)
        return x

    np.testing.assert_array_equal(result, one_by_one(images, expected))
    gated, params = apply_with_params(T.RandomApply([T.RandomOrder(members)], p=0.5), images)
    unselected = column(params, "apply", 0) == 0
    np.testing.assert_array_equal(gated[unselected], images[unselected])
    assert (column(params, "order_0")[unselected] == -1).all()
