"""Laws of recipes: each test is one sentence about every row of ``tables/recipes.py``."""

import numpy as np
import pytest
from helpers.arrays import (
    NEGATIVE,
    VIEWS,
    device_of,
    every_home,
    from_layout,
    images,
    noise,
    put,
    to_layout,
)
from helpers.compare import EXACT, assert_equal, describe, to_numpy
from tables.recipes import BY_NAME, CASES, one_by_one

import cuaug
from cuaug import transforms as T
from cuaug._gpu import executor

SAMPLES, SIZE = 6, (17, 11)
CPU = ("numpy", "cpu")
SEEDS = 11, 12
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def batch_of(case, home=CPU, dtype=None, layout=None, channels=None, samples=SAMPLES, size=SIZE):
    return images(home, dtype or case.dtypes[0], layout, (samples, *size, channels or case.channels[-1]))


def near(case, home, dtype):
    """Tolerance of results that only differ in how they were read: on a CPU none."""
    return EXACT if home[1] == "cpu" else case.between_devices(dtype, case.dtypes[0])


@pytest.mark.parametrize(
    ("case", "dtype", "channels"),
    [(c, d, k) for c in CASES for d in c.dtypes if d != "float16" for k in c.channels],
    ids=str,
)
def test_recipe_equals_functions_one_by_one(case, dtype, channels):
    batch = batch_of(case, dtype=dtype, channels=channels)
    for seed in SEEDS:
        aug = case.compose(dtype, seed)
        params = aug.draw(batch)
        expected = one_by_one(case, dtype, batch, params, "NHWC")
        assert_equal(aug.apply(batch, params), expected, tolerance=case.tolerance(str(expected.dtype)))


@every_home
@every_case
def test_recipe_libraries_and_layouts_agree(case, home):
    for dtype in case.dtypes:
        reference = case.compose(dtype)(batch_of(case, dtype=dtype))
        for layout in ("NHWC", "NCHW"):
            made = case.compose(dtype)(batch_of(case, home, dtype, layout), layout=layout)
            assert describe(made) == (home[0], device_of(home), str(reference.dtype))
            values = from_layout(to_numpy(made), layout)
            assert_equal(values, reference, tolerance=near(case, home, str(reference.dtype)))


@every_case
def test_recipe_sample_order_equals_loop_order(case):
    from cuaug import _native as native

    batch = batch_of(case, samples=4, size=(67, 61))
    made = []
    try:
        for threads in (1, 16):  # sixteen have too few samples each, and share the work of every loop
            native.set_threads(threads)
            made.append(case.compose(case.dtypes[0], SEEDS[0])(batch))
    finally:
        native.set_threads(0)
    assert_equal(made[1], made[0], tolerance=EXACT)


def test_recipe_reuses_intermediate_memory(monkeypatch):
    taken, made = [], []
    library, empty = (
        type(cuaug._arrays.registry.library_of(np.ndarray)),
        cuaug._arrays.registry.library_of(np.ndarray).empty,
    )
    monkeypatch.setattr(library, "empty", lambda self, *what: taken.append(what[0]) or empty(*what))
    loops = executor.CollectingExecutor.loop
    monkeypatch.setattr(executor.CollectingExecutor, "loop", lambda self, loop: made.append(loop) or loops(self, loop))
    T.Compose([T.RandAugment(num_ops=6)], seed=0)(noise((4, 20, 30, 3)))
    assert len(made) > 12
    assert taken.count((4, 20, 30, 3)) == 3  # what a pass reads, and what its loops read and make


def check_devices(case, size):
    """CPU runs store the images between any two steps, a GPU keeps them in registers."""
    for dtype in case.dtypes:
        for channels in case.channels:
            for layout in ("NHWC", "NCHW"):
                batch = batch_of(case, ("torch", "cpu"), dtype, layout, channels, size=size)
                expected = case.compose(dtype)(batch, layout=layout)
                made = case.compose(dtype)(batch.cuda(), layout=layout)
                assert str(made.device) == "cuda:0"
                assert_equal(made.cpu(), expected, tolerance=case.between_devices(describe(expected)[2], dtype))


@pytest.mark.gpu
@pytest.mark.parametrize("size", [(17, 11), (70, 131), (33, 64)], ids=str)
@every_case
def test_recipe_devices_agree(case, size):
    check_devices(case, size)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["flips", "jitter", "rotation-affine", "antialiased-recipe", "imagenet", "pad-pad"])
def test_recipe_devices_agree_on_single_pixel(name):
    check_devices(BY_NAME[name], (1, 1))


@every_home
@every_case
def test_recipe_batch_equals_samples_and_input_is_unchanged(case, home):
    for dtype in case.dtypes[:1] + case.dtypes[-1:]:
        batch, aug = batch_of(case, home, dtype), case.compose(dtype)
        before = to_numpy(batch)
        whole = aug(batch, step=3)
        tolerance = near(case, home, describe(whole)[2])
        for n in range(SAMPLES):
            assert_equal(aug(batch[n : n + 1], step=3, ids=n), whole[n : n + 1], tolerance=tolerance)
        order = np.array([4, 1, 5])
        shuffled = put(before[order], home, dtype)
        chosen = put(to_numpy(whole)[order], home, describe(whole)[2])
        assert_equal(aug(shuffled, step=3, ids=order), chosen, tolerance=tolerance)
        assert_equal(to_numpy(batch), before)


@every_home
@every_case
def test_recipe_no_samples_and_single_image(case, home):
    batch, aug = batch_of(case, home), case.compose(case.dtypes[0])
    whole = aug(batch, step=0)
    assert_equal(aug(batch[:0], step=0), whole[:0])
    tolerance = near(case, home, describe(whole)[2])
    assert_equal(aug(batch[0], step=0), whole[0], tolerance=tolerance)


@every_home
@pytest.mark.parametrize("view", [*VIEWS, *NEGATIVE])
def test_recipe_strided_view_equals_copy(view, home):
    if view in NEGATIVE and home[0] == "torch":
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
        case = BY_NAME[name]
        for dtype in case.dtypes[:1] + case.dtypes[-1:]:
            seen = {**VIEWS, **NEGATIVE}[view](images(home, dtype, "NHWC", (20, 24, 27, 3)))
            if seen.shape[-1] not in case.channels:
                continue
            copy = put(to_numpy(seen), home, dtype)
            made, expected = (case.compose(dtype)(batch, layout="NHWC") for batch in (seen, copy))
            assert_equal(made, expected, tolerance=near(case, home, describe(made)[2]))


@every_home
@every_case
def test_recipe_video_has_one_draw(case, home):
    """Frame by frame as an image of the clip's id; but a contrast is about the mean of all frames."""
    if "jitter" in case.name or case.name in ("imagenet", "antialiased-recipe"):
        pytest.skip("its contrast is about the mean of all frames: tested below")
    dtype = case.dtypes[-1]
    clips = noise((3, 4, *SIZE, case.channels[-1]), dtype)
    aug = case.compose(dtype)
    for layout, axis in (("NTHWC", 1), ("NTCHW", 1)):
        batch = put(np.moveaxis(clips, -1, 2) if layout == "NTCHW" else clips, home, dtype)
        made = aug(batch, step=5, layout=layout)
        result = describe(made)[2]
        for t in range(4):
            frame = put(to_layout(clips[:, t], "NCHW" if layout == "NTCHW" else "NHWC"), home, dtype)
            expected = aug(frame, step=5, layout=layout.replace("T", ""))
            found = to_numpy(made).take(t, axis)
            assert_equal(found, to_numpy(expected), tolerance=near(case, home, result))


@every_home
@pytest.mark.parametrize("name", ["jitter", "imagenet", "antialiased-recipe", "jitter-crop-jitter"])
def test_recipe_contrast_of_video_uses_mean_of_all_frames(name, home):
    """Which do not change when frames change places, but do when the others are missing."""
    case = BY_NAME[name]
    dtype = case.dtypes[-1]
    clips = noise((3, 4, *SIZE, 3), dtype)
    clips[:, 0] = clips[:, 0] * 0.25
    made = to_numpy(case.compose(dtype)(put(clips, home, dtype), layout="NTHWC"))
    alone = to_numpy(case.compose(dtype)(put(clips[:, 1], home, dtype), layout="NHWC"))
    assert not np.allclose(made[:, 1], alone, atol=0.01)
    for order in ([3, 2, 1, 0], [2, 0, 3, 1]):
        other = to_numpy(case.compose(dtype)(put(clips[:, order], home, dtype), layout="NTHWC"))
        tolerance = case.between_devices(str(made.dtype), dtype)
        assert_equal(other, made[:, order], tolerance=tolerance)


@every_home
def test_recipe_video_mean_equals_stacked_frames(home):
    clips = noise((3, 4, *SIZE, 3), "float32") * np.linspace(0.2, 1, 4, dtype="float32")[:, None, None, None]
    aug = T.Compose([T.ColorJitter(0.3, 0.5, 0.3)], seed=4)
    tall = clips.reshape(3, 4 * SIZE[0], SIZE[1], 3)
    made = to_numpy(aug(put(clips, home), layout="NTHWC", step=0))
    expected = to_numpy(aug(put(tall, home), layout="NHWC", step=0)).reshape(made.shape)
    assert_equal(made, expected, tolerance=BY_NAME["jitter"].tolerance("float32"))


@every_home
@every_case
def test_recipe_same_parameters_same_bits(case, home):
    batch, aug = batch_of(case, home), case.compose(case.dtypes[0])
    params = aug.draw(batch)
    first = aug.apply(batch, params)
    assert_equal(aug.apply(batch, params), first)
    assert_equal(case.compose(case.dtypes[0])(batch), first)


@pytest.mark.parametrize("channels", [2, 4, 5])
@pytest.mark.parametrize(
    "transform", [T.ColorJitter(contrast=0.4), T.ColorJitter(hue=0.1), T.RandomGrayscale()], ids=str
)
def test_recipe_color_ops_need_color_images(transform, channels):
    with pytest.raises(
        ValueError, match=f"{type(transform).__name__}: images must have 1 or 3 channels, got {channels}"
    ):
        T.Compose([transform])(images(CPU, "uint8", "NHWC", (2, *SIZE, channels)))
