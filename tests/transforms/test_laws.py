"""Laws of recipes. Each test is a law of every row of ``tables/recipes.py``."""

import math

import numpy as np
import pytest
from helpers.arrays import (
    REVERSED_VIEWS,
    VIEWS,
    default_layout,
    device_of,
    every_backend,
    every_backend_slow_on_jax,
    from_layout,
    images,
    noise,
    put,
    to_layout,
)
from helpers.compare import EXACT, assert_equal, describe, to_numpy
from tables.recipes import BY_NAME, RECIPES
from tables.transforms import USES_WHOLE_CLIP, one_by_one

from cuaug import transforms as T
from cuaug._arrays import registry

SAMPLES, SIZE = 6, (17, 11)
CPU = ("numpy", "cpu")
SEEDS = 11, 12
every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=str)


def batch_of(recipe, backend=CPU, dtype=None, layout=None, channels=None, samples=SAMPLES, size=SIZE):
    return images(backend, dtype or recipe.dtypes[0], layout, (samples, *size, channels or recipe.channels[-1]))


def near(recipe, backend, dtype):
    """Tolerance between calls with the same images in another library, layout or batch: on the CPU, equal results."""
    return EXACT if backend[1] == "cpu" else recipe.between_devices(dtype, recipe.dtypes[0])


@pytest.mark.parametrize(
    ("recipe", "dtype", "channels"),
    [(r, d, c) for r in RECIPES for d in r.dtypes if d != "float16" for c in r.channels],
    ids=str,
)
def test_recipe_equals_functions_one_by_one(recipe, dtype, channels):
    batch = batch_of(recipe, dtype=dtype, channels=channels)
    for seed in SEEDS:
        aug = recipe.compose(dtype, seed)
        params = aug.draw(batch)
        expected = one_by_one(recipe, dtype, batch, params, "NHWC")
        assert_equal(aug.apply(batch, params), expected, tolerance=recipe.tolerance(str(expected.dtype)))


@every_backend
@every_recipe
def test_recipe_libraries_and_layouts_agree(recipe, backend):
    for dtype in recipe.dtypes:
        reference = recipe.compose(dtype)(batch_of(recipe, dtype=dtype))
        for layout in ("NHWC", "NCHW"):
            result = recipe.compose(dtype)(batch_of(recipe, backend, dtype, layout), layout=layout)
            assert describe(result) == (backend[0], device_of(backend), str(reference.dtype))
            values = from_layout(to_numpy(result), layout)
            assert_equal(values, reference, tolerance=near(recipe, backend, str(reference.dtype)))


@every_recipe
def test_recipe_sample_by_sample_equals_loop_by_loop(recipe):
    from cuaug import _native as native

    batch = batch_of(recipe, samples=4, size=(67, 61))
    results = []
    try:
        # One thread runs all loops on a sample before the next sample. 16 threads for 4 samples share each loop. The
        # first call runs the passes, the second records the loops and runs them.
        for threads in (1, 16):
            native.set_threads(threads)
            aug = recipe.compose(recipe.dtypes[0], SEEDS[0])
            results += [aug(batch, step=0) for _ in range(2)]
    finally:
        native.set_threads(0)
    for result in results[1:]:
        assert_equal(result, results[0], tolerance=EXACT)


def test_recipe_reuses_intermediate_memory(monkeypatch):
    """A policy of many passes needs one batch beside its result, and small tables."""
    sizes = []
    library = registry.library_of(np.ndarray)
    empty = library.empty

    def recording_empty(self, shape, *rest):
        sizes.append(math.prod(shape))
        return empty(shape, *rest)

    monkeypatch.setattr(type(library), "empty", recording_empty)
    batch = noise((4, 100, 120, 3))
    recipe = T.Compose([T.RandAugment(num_ops=6)], seed=0)
    assert len(recipe.plan(batch).passes) >= 6
    recipe(batch)
    sizes.clear()
    recipe(batch)
    result_size, scratch_size = sizes
    assert result_size == batch.size
    assert batch.size < scratch_size < 1.3 * batch.size


def check_devices(recipe, size):
    """Compare devices. In a pass with a resample and ops, the CPU stores the resampled images, a GPU does not."""
    for dtype in recipe.dtypes:
        for channels in recipe.channels:
            for layout in ("NHWC", "NCHW"):
                batch = batch_of(recipe, ("torch", "cpu"), dtype, layout, channels, size=size)
                expected = recipe.compose(dtype)(batch, layout=layout)
                result = recipe.compose(dtype)(batch.cuda(), layout=layout)
                assert str(result.device) == "cuda:0"
                assert_equal(result.cpu(), expected, tolerance=recipe.between_devices(describe(expected)[2], dtype))


@pytest.mark.gpu
@pytest.mark.parametrize("size", [(17, 11), (70, 131), (33, 64)], ids=str)
@every_recipe
def test_recipe_devices_agree(recipe, size):
    check_devices(recipe, size)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["flips", "jitter", "rotation-affine", "antialiased-recipe", "imagenet", "pad-pad"])
def test_recipe_devices_agree_on_single_pixel(name):
    check_devices(BY_NAME[name], (1, 1))


@every_backend_slow_on_jax
@every_recipe
def test_recipe_batch_equals_samples_and_input_is_unchanged(recipe, backend):
    for dtype in recipe.dtypes[:1] + recipe.dtypes[-1:]:
        batch, aug = batch_of(recipe, backend, dtype), recipe.compose(dtype)
        before = to_numpy(batch)
        batch_result = aug(batch, step=3)
        tolerance = near(recipe, backend, describe(batch_result)[2])
        for n in range(SAMPLES):
            assert_equal(aug(batch[n : n + 1], step=3, ids=n), batch_result[n : n + 1], tolerance=tolerance)
        order = np.array([4, 1, 5])
        shuffled = put(before[order], backend, dtype)
        chosen = put(to_numpy(batch_result)[order], backend, describe(batch_result)[2])
        assert_equal(aug(shuffled, step=3, ids=order), chosen, tolerance=tolerance)
        assert_equal(to_numpy(batch), before)


@every_backend_slow_on_jax
@every_recipe
def test_recipe_no_samples_and_single_image_equal_batch(recipe, backend):
    batch, aug = batch_of(recipe, backend), recipe.compose(recipe.dtypes[0])
    batch_result = aug(batch, step=0)
    assert_equal(aug(batch[:0], step=0), batch_result[:0])
    tolerance = near(recipe, backend, describe(batch_result)[2])
    image_result = aug(batch[0], step=0, layout=default_layout(backend)[1:])
    assert_equal(image_result, batch_result[0], tolerance=tolerance)


@every_backend_slow_on_jax
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED_VIEWS])
def test_recipe_strided_view_equals_copy(view, backend):
    if view in REVERSED_VIEWS and backend[0] == "torch":
        pytest.skip("torch has no negative strides")
    chosen = (
        "padded-crop-rotation",
        "antialiased-recipe",
        "imagenet",
        "jitter",
        "affine-resized-crop",
        "flips",
        "blend-crop-blend",
    )
    for name in chosen:
        recipe = BY_NAME[name]
        for dtype in recipe.dtypes[:1] + recipe.dtypes[-1:]:
            strided = {**VIEWS, **REVERSED_VIEWS}[view](images(backend, dtype, "NHWC", (20, 24, 27, 3)))
            if strided.shape[-1] not in recipe.channels:
                continue
            copy = put(to_numpy(strided), backend, dtype)
            result, expected = (recipe.compose(dtype)(batch, layout="NHWC") for batch in (strided, copy))
            assert_equal(result, expected, tolerance=near(recipe, backend, describe(result)[2]))


@every_backend_slow_on_jax
@every_recipe
def test_recipe_video_has_one_draw(recipe, backend):
    """Each frame equals a single image with the clip's id, except where an op uses values of all frames."""
    dtype = recipe.dtypes[-1]
    if USES_WHOLE_CLIP & {type(transform).__name__ for transform in recipe.transforms(dtype)}:
        pytest.skip("uses the mean or the histogram of all frames: tested below, and in ops/test_levels.py")
    clips = noise((3, 4, *SIZE, recipe.channels[-1]), dtype)
    aug = recipe.compose(dtype)
    for layout in ("NTHWC", "NTCHW"):
        batch = put(np.moveaxis(clips, -1, 2) if layout == "NTCHW" else clips, backend, dtype)
        result = aug(batch, step=5, layout=layout)
        tolerance = near(recipe, backend, describe(result)[2])
        for t in range(4):
            frame = put(to_layout(clips[:, t], "NCHW" if layout == "NTCHW" else "NHWC"), backend, dtype)
            expected = aug(frame, step=5, layout=layout.replace("T", ""))
            assert_equal(to_numpy(result)[:, t], to_numpy(expected), tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("name", ["jitter", "imagenet", "antialiased-recipe", "jitter-crop-jitter"])
def test_recipe_contrast_of_video_uses_mean_of_all_frames(name, backend):
    """Frames keep their values when they are reordered, and change when the other frames are missing."""
    recipe = BY_NAME[name]
    dtype = recipe.dtypes[-1]
    clips = noise((3, 4, *SIZE, 3), dtype)
    clips[:, 0] = clips[:, 0] * 0.25
    result = to_numpy(recipe.compose(dtype)(put(clips, backend, dtype), layout="NTHWC"))
    image = to_numpy(recipe.compose(dtype)(put(clips[:, 1], backend, dtype), layout="NHWC"))
    assert not np.allclose(result[:, 1], image, atol=0.01)
    for order in ([3, 2, 1, 0], [2, 0, 3, 1]):
        other = to_numpy(recipe.compose(dtype)(put(clips[:, order], backend, dtype), layout="NTHWC"))
        tolerance = recipe.between_devices(str(result.dtype), dtype)
        assert_equal(other, result[:, order], tolerance=tolerance)


@every_backend
def test_recipe_video_mean_equals_stacked_frames(backend):
    clips = noise((3, 4, *SIZE, 3), "float32") * np.linspace(0.2, 1, 4, dtype="float32")[:, None, None, None]
    aug = T.Compose([T.ColorJitter(0.3, 0.5, 0.3)], seed=4)
    tall = clips.reshape(3, 4 * SIZE[0], SIZE[1], 3)
    result = to_numpy(aug(put(clips, backend), layout="NTHWC", step=0))
    expected = to_numpy(aug(put(tall, backend), layout="NHWC", step=0)).reshape(result.shape)
    assert_equal(result, expected, tolerance=BY_NAME["jitter"].tolerance("float32"))


@every_backend
@every_recipe
def test_recipe_same_parameters_give_same_bits(recipe, backend):
    batch, aug = batch_of(recipe, backend), recipe.compose(recipe.dtypes[0])
    params = aug.draw(batch)
    first = aug.apply(batch, params)
    assert_equal(aug.apply(batch, params), first)
    assert_equal(recipe.compose(recipe.dtypes[0])(batch), first)


@pytest.mark.parametrize("channels", [2, 4, 5])
@pytest.mark.parametrize(
    "transform", [T.ColorJitter(contrast=0.4), T.ColorJitter(hue=0.1), T.RandomGrayscale()], ids=str
)
def test_recipe_color_ops_need_color_images(transform, channels):
    with pytest.raises(
        ValueError, match=f"{type(transform).__name__}: images must have 1 or 3 channels, got {channels}"
    ):
        T.Compose([transform])(images(CPU, "uint8", "NHWC", (2, *SIZE, channels)))
