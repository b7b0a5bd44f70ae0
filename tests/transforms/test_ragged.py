"""Lists of images of different sizes: results equal those of each image alone, and few batches are run."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from tables.ragged_recipes import CROP, CROPPABLE, FLIPS, JITTER, NORMALIZED, RECIPES, SIZES, ragged_images

from cuaug import transforms as T
from cuaug._arrays import images as images_module
from cuaug._arrays.convert import namespace
from cuaug._fusion import draw_kernel, launch_plan
from cuaug._passes import warp as warp_module
from cuaug.transforms.plan_cache import PlanCache

every_recipe = pytest.mark.parametrize("name", RECIPES)


def tolerance_of_single(backend, dtype="uint8", source="uint8"):
    """Between a single image and a batch: a GPU may use different kernels, which depend on layout and resize factor."""
    if backend[1] == "cpu":
        return EXACT
    if dtype == "uint8":
        return Tolerance(absolute=1, exact=0.97, reason="a value that is nearly a tie may be rounded either way")
    if source == "uint8":
        return Tolerance(
            absolute=4 / 255 / 0.2, reason="a level, which the jitter multiplies and Normalize divides by 0.2"
        )
    return Tolerance(absolute=2e-4, reason="float32 sums in another order, divided by 0.2")


@pytest.fixture
def batches(monkeypatch):
    """Records the sizes of the drawn batches."""
    sizes, draw = [], draw_kernel.draw

    def recording_draw(*arguments):
        sizes.append(arguments[-1].samples)
        return draw(*arguments)

    monkeypatch.setattr(draw_kernel, "draw", recording_draw)
    return sizes


@every_backend
@every_recipe
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_ragged_images_equal_single_images(backend, name, dtype, batches):
    transforms, sizes, count = RECIPES[name]
    aug, ragged = T.Compose(transforms, seed=5), ragged_images(backend, sizes, dtype)
    results = aug(ragged, step=4, ids=7)
    assert len(batches) == count
    assert sum(batches) == len(sizes)
    assert type(results) is list
    for i, (result, image) in enumerate(zip(results, ragged, strict=True)):
        near = tolerance_of_single(backend, str(result.dtype).removeprefix("torch."), dtype)
        assert_equal(result, aug(image, step=4, ids=7 + i), tolerance=near)


@every_backend
@pytest.mark.parametrize("channels", [1, 2, 4, 7])
def test_ragged_images_of_any_channels_equal_single_images(backend, channels, batches):
    aug, layout = T.Compose([T.RandomCrop(12), CROP, *FLIPS], seed=1), "CHW" if backend[0] == "torch" else "HWC"
    ragged = ragged_images(backend, CROPPABLE, channels=channels)
    results = aug(ragged, step=0, layout=layout)
    assert batches == [len(CROPPABLE)]
    for i, (result, image) in enumerate(zip(results, ragged, strict=True)):
        assert_equal(result, aug(image, step=0, ids=i, layout=layout), tolerance=tolerance_of_single(backend))


@every_backend
def test_ragged_targets_follow_images(backend, batches):
    aug = T.Compose([T.RandomResizedCrop(20), *FLIPS], seed=3)
    sizes = CROPPABLE
    sample = {
        "image": ragged_images(backend, sizes),
        "mask": [put(noise(size, seed=i), backend) for i, size in enumerate(sizes)],
        "boxes": [put(np.array([[1.0, 2, 9, 8]] * i).reshape(-1, 4), backend) for i in range(len(sizes))],
        "keypoints": [put(np.array([[3.0, 4.0]]), backend) for _ in sizes],
        "label": [*range(len(sizes))],
    }
    ids = np.array([8, 3, 5, 1, 2])
    results = aug(sample, step=2, ids=ids)
    assert batches == [len(sizes)]
    assert results["label"] == sample["label"]
    for i, sample_id in enumerate(ids):
        single = aug({kind: values[i] for kind, values in sample.items()}, step=2, ids=int(sample_id))
        assert_equal(results["image"][i], single["image"], tolerance=tolerance_of_single(backend))
        assert_equal(results["mask"][i], single["mask"])
        for kind in ("boxes", "keypoints"):
            near = Tolerance(
                1e-4, 1e-5, reason="JAX inverts in float32, a single matrix with other roundings than a batch"
            )
            assert_equal(results[kind][i], single[kind], tolerance=near)


@every_backend
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
@pytest.mark.parametrize("several_masks", [False, True])
def test_ragged_masks_of_different_sizes_are_warped_in_one_pass(backend, dtype, several_masks, monkeypatch):
    if backend[0] == "jax" and dtype == "int64":
        pytest.skip("JAX holds 64-bit numbers only with jax_enable_x64")
    aug, ragged = T.Compose([T.RandomResizedCrop(20), *FLIPS], seed=3), ragged_images(backend, CROPPABLE)
    masks = [
        put(noise((2, *size) if several_masks else size, dtype, seed=i), backend) for i, size in enumerate(CROPPABLE)
    ]
    monkeypatch.setattr(launch_plan, "_launch_plan", lambda *arguments, **options: None)  # a replay runs no pass
    warped, warp = [], warp_module.warp
    monkeypatch.setattr(
        warp_module,
        "warp",
        lambda image, *rest, **options: (warped.append(image.dtype), warp(image, *rest, **options))[1],
    )
    results = aug(ragged, masks, step=1)[1]
    assert warped.count(dtype) == 1
    for i in range(len(CROPPABLE)):
        assert_equal(results[i], aug(ragged[i], masks[i], step=1, ids=i)[1])


def test_ragged_masks_of_several_dtypes_equal_single_masks():
    aug, ragged = T.Compose([T.RandomResizedCrop(20), *FLIPS], seed=3), ragged_images(("numpy", "cpu"), CROPPABLE)
    masks = [noise(size, "uint8" if i else "int32", seed=i) for i, size in enumerate(CROPPABLE)]
    results = aug(ragged, masks, step=1)[1]
    for i in range(len(CROPPABLE)):
        assert_equal(results[i], aug(ragged[i], masks[i], step=1, ids=i)[1])
    with pytest.raises(
        ValueError, match=r"masks must be one mask, .* for images of 1 sample of size \(30, 18\), got shape"
    ):
        aug(ragged, [masks[0]] * len(masks))
    with pytest.raises(ValueError, match=r"masks must be a list with an array per sample, as the images have sev"):
        aug(ragged, np.zeros((len(masks), 30, 30), np.uint8))


def test_ragged_batches_of_several_dtypes_keep_order(batches):
    """Images of two dtypes alternate, with their targets."""
    rng = np.random.default_rng(0)
    ragged = [noise((*size, 3), dtype, seed=i) for i, size in enumerate(CROPPABLE) for dtype in ("uint8", "float32")]
    order = rng.permutation(len(ragged))
    sample = {"image": [ragged[i] for i in order], "keypoints": [np.array([[3.0, 4.0]])] * len(ragged)}
    aug = T.Compose([T.RandomCrop((13, 14)), *FLIPS], seed=3)
    results = aug(sample, step=1)
    assert sorted(batches) == [5, 5]
    for i in range(len(ragged)):
        single = aug({kind: values[i] for kind, values in sample.items()}, step=1, ids=i)
        assert_equal(results["image"][i], single["image"])
        assert_equal(results["keypoints"][i], single["keypoints"])


def test_ragged_equal_sizes_are_a_batch(batches):
    aug = T.Compose([CROP], seed=3)
    for count in (1, 3):
        results = aug([noise((9, 8, 3), seed=i) for i in range(count)], step=0)
        assert len(results) == count
    assert batches == [1, 3]


def test_ragged_images_are_unchanged_and_results_share_memory():
    aug, ragged = T.Compose([CROP, *FLIPS, *NORMALIZED], seed=3), ragged_images(("torch", "cpu"), SIZES)
    before = [image.clone() for image in ragged]
    results = aug(ragged)
    assert all(torch.equal(a, b) for a, b in zip(ragged, before, strict=True))
    assert len({result.untyped_storage().data_ptr() for result in results}) == 1  # views of one batch


def test_ragged_new_sizes_need_no_new_plan(monkeypatch):
    aug = T.Compose([CROP, *FLIPS, JITTER], seed=3)
    aug(ragged_images(("numpy", "cpu"), SIZES))
    monkeypatch.setattr(PlanCache, "new_plan", lambda *_: pytest.fail("a plan was written"))
    aug(ragged_images(("numpy", "cpu"), [(h + 5, w + 3) for h, w in SIZES]))
    aug(ragged_images(("numpy", "cpu"), CROPPABLE))


def test_ragged_sizes_are_evicted(monkeypatch):
    monkeypatch.setattr("cuaug._fusion.ragged._MAX_SIZES", 4)
    aug, ragged = T.Compose([CROP], seed=3), ragged_images(("numpy", "cpu"), SIZES)
    first, second = aug(ragged, step=0), aug(ragged, step=0)
    assert len(aug._fused.plans.prefixes._cache) <= 4
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_ragged_equal_size_by_chance_is_no_fixed_size():
    """`RaggedPrefixes.length` is the number of transforms after which images of every size have one size, or 0.

    To find the number, it tries the image's size and a second size, whose height, width and ratio all differ.
    """
    image = images_module.placeholder((1, 40, 60, 3), "uint8")

    def prefix_length(*transforms):
        return T.Compose(transforms)._fused.plans.prefixes.length(image)

    assert prefix_length(T.Resize(12), T.Pad(2), T.CenterCrop(8), T.RandomCrop(4)) == 3
    assert prefix_length(T.Resize((40, 60)), T.RandomCrop(4)) == 1
    assert prefix_length(T.Resize(12), T.RandomHorizontalFlip()) == 0


@every_backend
@pytest.mark.parametrize("mix", [T.MixUp(alpha=1.0), T.CutMix()], ids=["mixup", "cutmix"])
def test_ragged_images_are_mixed_after_the_crop_as_a_batch(backend, mix, batches):
    before, ragged = [CROP, *FLIPS, JITTER], ragged_images(backend, SIZES)
    labels = put(np.eye(len(SIZES), dtype=np.float32), backend)
    aug = T.Compose([*before, mix], seed=3)
    results, result_labels = aug(ragged, labels=labels, step=2)
    assert type(results) is list
    assert batches == [len(SIZES)]
    crops = namespace(ragged[0]).stack(T.Compose(before, seed=3)(ragged, step=2))
    expected, expected_labels = aug.after(len(before))(crops, labels=labels, step=2)
    assert_equal(result_labels, expected_labels, tolerance=EXACT)
    for result, image, unmixed in zip(results, expected, crops, strict=True):
        assert_equal(result, image, tolerance=EXACT)
        assert not np.array_equal(to_numpy(result), to_numpy(unmixed))


@pytest.mark.parametrize("images", ["of several sizes", "of two dtypes"])
def test_ragged_rejects_mixing_of_several_batches(images):
    before, ragged = [], ragged_images(("numpy", "cpu"), SIZES)
    if images == "of two dtypes":
        before, ragged[0] = [CROP], ragged[0].astype(np.float32)
    message = r"^cuaug.transforms.Compose: images must form one batch where samples are mixed \(MixUp\): they must have"
    with pytest.raises(ValueError, match=message):
        T.Compose([*before, T.MixUp()])(ragged, labels=np.eye(len(SIZES)))


def test_ragged_rejects_image_smaller_than_crop():
    with pytest.raises(ValueError, match=r"RandomCrop: size must fit into the image, which is \(1, 1\) here"):
        T.Compose([T.RandomCrop(12)])(ragged_images(("numpy", "cpu"), [*CROPPABLE, (1, 1)]))


def test_ragged_images_are_one_batch_after_an_image_is_refused(batches):
    aug = T.Compose([T.RandomCrop(12)])
    with pytest.raises(ValueError, match="size must fit into the image"):
        aug(ragged_images(("numpy", "cpu"), [(1, 1), *CROPPABLE]))
    aug(ragged_images(("numpy", "cpu"), CROPPABLE))
    assert batches == [len(CROPPABLE)]


def test_ragged_plan_describes_batches():
    aug = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), *NORMALIZED])
    plan = aug.plan(ragged_images(("numpy", "cpu"), CROPPABLE))
    assert str(plan).startswith("ragged, 5 images at once: 1 pass, 2 launches, ")
    assert "pass 1  uint8 [H, W, 3] -> float32 [224, 224, 3]" in str(plan)
    assert plan.passes[0].read == round(sum(3 * h * w for h, w in CROPPABLE) / 5)
    flips_plan = T.Compose(FLIPS).plan(ragged_images(("numpy", "cpu"), SIZES))
    assert str(flips_plan).startswith("9 images in 8 batches; the largest, of 2: 1 pass, 2 launches, ")
    assert "uint8 [23, 17, 3]" in str(flips_plan)
    assert str(aug.plan([noise((9, 8, 3))])).startswith("1 image at once: ")


def test_ragged_invalid_probe_size_is_no_error():
    """CenterCrop rejects the second size, with which `RaggedPrefixes.length` probes a recipe."""
    aug = T.Compose([T.RandomApply([T.CenterCrop(32)], 0.5), *FLIPS], seed=0)
    ragged = [noise((32, 32, 3), "uint8"), noise((32, 32, 3), "float32"), noise((32, 32, 1), "uint8")]
    results = aug({"images": ragged}, step=1)["images"]
    for i in range(len(ragged)):
        assert_equal(results[i], aug(ragged[i], step=1, ids=i))


def test_ragged_masks_of_several_libraries_keep_their_library():
    aug, ragged = T.Compose([T.RandomResizedCrop(20), *FLIPS], seed=3), ragged_images(("numpy", "cpu"), CROPPABLE)
    masks = [noise(size, "uint8", seed=i) for i, size in enumerate(CROPPABLE)]
    masks[1] = torch.from_numpy(masks[1])
    results = aug(ragged, masks, step=1)[1]
    for i in range(len(CROPPABLE)):
        assert_equal(results[i], aug(ragged[i], masks[i], step=1, ids=i)[1])


@pytest.mark.parametrize("ids", [[1, 2, 3, 4, 5], [[1, 2, 3]], [1, 2], np.array([3])], ids=str)
@pytest.mark.parametrize("recipe", [[T.RandomResizedCrop(20)], FLIPS], ids=["one batch", "several"])
def test_ragged_ids_are_one_per_image(ids, recipe):
    with pytest.raises(ValueError, match="ids must be 3 integers"):
        T.Compose(recipe)(ragged_images(("numpy", "cpu"), CROPPABLE[:3]), ids=ids)


def test_ragged_rejects_empty_list():
    with pytest.raises(ValueError, match="images must be at least one, got an empty list"):
        T.Compose(FLIPS)({"images": []})
