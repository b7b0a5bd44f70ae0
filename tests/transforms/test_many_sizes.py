"""Single images of many sizes on a CPU: an image has the same result with the shared plan as with one for its size."""

import gc
import weakref

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import EXACT, assert_equal
from tables.ragged_recipes import CROP, CROPPABLE, FLIPS, JITTER, NORMALIZED, RECIPES, ragged_images

from cuaug import transforms as T
from cuaug.transforms import plan_cache, ragged_plans

MANY_SIZES = plan_cache._MANY_SIZES
CPU_BACKENDS = [("numpy", "cpu"), ("torch", "cpu"), ("jax", "cpu")]
every_cpu_backend = pytest.mark.parametrize("backend", CPU_BACKENDS, ids=lambda backend: backend[0])


def shared_and_size_plans(transforms, monkeypatch):
    """Two functions that call the same recipe: with a plan that all sizes share, and with a plan of each size.

    The third result is the recipe that the first function calls.
    """
    with_shared_plan, with_size_plans = T.Compose(transforms, seed=5), T.Compose(transforms, seed=5)

    def call_shared(*args, **options):
        monkeypatch.setattr(plan_cache, "_MANY_SIZES", 0)
        return with_shared_plan(*args, **options)

    def call_size_plan(*args, **options):
        monkeypatch.setattr(plan_cache, "_MANY_SIZES", 1 << 30)
        return with_size_plans(*args, **options)

    return call_shared, call_size_plan, with_shared_plan


def plan_count(aug):
    return len(aug._fused.plans._plans)


@every_cpu_backend
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_compose_shared_plan_equals_plan_of_size(backend, name, dtype, monkeypatch):
    transforms, sizes, plans = RECIPES[name]
    call_shared, call_size_plan, with_shared_plan = shared_and_size_plans(transforms, monkeypatch)
    for step in range(3):  # later steps use cached rows of the table of images, and recorded loops
        for i, image in enumerate(ragged_images(backend, sizes, dtype, seed=step)):
            assert_equal(call_shared(image, step=step, ids=i), call_size_plan(image, step=step, ids=i))
    assert plan_count(with_shared_plan) == plans


@every_cpu_backend
@pytest.mark.parametrize("several_masks", [False, True])
@pytest.mark.parametrize("name", ["crop", "padded crop", "antialiased crop, to floats, jitter", "affine, crop"])
def test_compose_targets_of_shared_plan_equal_those_of_plan_of_size(backend, name, several_masks, monkeypatch):
    call_shared, call_size_plan, with_shared_plan = shared_and_size_plans(RECIPES[name][0], monkeypatch)
    for i, (image, size) in enumerate(zip(ragged_images(backend, CROPPABLE), CROPPABLE, strict=True)):
        sample = {
            "image": image,
            "mask": put(noise((2, *size) if several_masks else size, seed=i), backend),
            "boxes": put(np.array([[1.0, 2, 9, 8]] * i).reshape(-1, 4), backend),
            "keypoints": put(np.array([[3.0, 4.0]]), backend),
            "label": i,
        }
        result, expected = call_shared(sample, step=2, ids=i), call_size_plan(sample, step=2, ids=i)
        assert list(result) == list(expected)
        assert result["label"] == i
        for kind in ("image", "mask", "boxes", "keypoints"):
            assert_equal(result[kind], expected[kind])
    assert plan_count(with_shared_plan) == 1


def test_compose_shared_plan_keeps_tv_tensors(tv, monkeypatch):
    call_shared, call_size_plan, with_shared_plan = shared_and_size_plans([CROP, *FLIPS], monkeypatch)
    image, mask = tv.Image(torch.from_numpy(noise((3, 40, 30)))), tv.Mask(torch.from_numpy(noise((40, 30))))
    alone, expected = call_shared(image, step=1), call_size_plan(image, step=1)
    pair = call_shared((image, mask), step=1)
    assert [type(alone), *map(type, pair)] == [tv.Image, tv.Image, tv.Mask]
    assert torch.equal(alone.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor))
    assert plan_count(with_shared_plan) == 1


def test_compose_mixing_of_single_images_shares_a_plan(monkeypatch):
    monkeypatch.setattr(plan_cache, "_MANY_SIZES", 0)
    aug = T.Compose([CROP, T.MixUp()], seed=5)
    for i in range(3):
        image = noise((40, 30 + i, 3))
        assert aug(image).shape == aug({"image": image})["image"].shape == (13, 14, 3)
        assert_equal(aug(image, step=7), T.Compose([CROP], seed=5)(image, step=7), tolerance=EXACT)  # with itself
    assert plan_count(aug) == 1


def test_compose_new_sizes_need_no_new_plan(monkeypatch):
    aug = T.Compose([CROP, *FLIPS, JITTER, *NORMALIZED], seed=3)
    for i in range(MANY_SIZES + 1):
        aug(noise((40, 30 + i, 3)))
    # One for each of the first sizes, and one that further sizes share.
    assert plan_count(aug) == MANY_SIZES + 1
    monkeypatch.setattr(plan_cache.PlanCache, "new_plan", lambda *_: pytest.fail("a new plan was made"))
    for i in range(200):
        aug(noise((41, 30 + i, 3)))


def test_compose_batches_have_a_plan_per_size():
    aug = T.Compose([CROP], seed=3)
    for i in range(2 * MANY_SIZES):
        aug(noise((2, 40, 30 + i, 3)))
    assert plan_count(aug) == 2 * MANY_SIZES


def test_compose_does_not_keep_images_alive():
    aug = T.Compose([CROP], seed=3)
    for i in range(MANY_SIZES + 1):
        image = noise((40, 30 + i, 3))
        aug(image)
    reference = weakref.ref(image)
    del image
    gc.collect()
    assert reference() is None
    assert len(aug._fused.plans.ragged._rows) == 1


def test_compose_limits_cached_rows_of_the_table_of_images(monkeypatch):
    monkeypatch.setattr(ragged_plans, "_MAX_ROWS", 4)
    aug = T.Compose([CROP], seed=3)
    for _ in range(2):
        for i in range(MANY_SIZES + 20):
            aug(noise((40, 30 + i, 3)))
    assert 1 <= len(aug._fused.plans.ragged._rows) <= 4
