"""`Compose`: its arguments, results and messages. Expected results come from other forms of the same call."""

import copy
import doctest

import numpy as np
import pytest
from helpers.arrays import every_backend, images, noise, put
from helpers.compare import assert_equal, to_numpy
from helpers.mask_recipes import CROPS, SHAPE, random_masks, recipe

from cuaug import transforms as T
from cuaug.transforms import compose

SOFT_LABELS = np.zeros((5, 7))  # [N, classes]


@every_backend
def test_compose_returns_array_or_tuple_in_signature_order(backend):
    batch, classes = images(backend, shape=SHAPE), put(np.arange(5, dtype=np.int32), backend)
    masks = put(random_masks(), backend)
    boxes, points = (put(np.full((5, 2, n), 4, np.float32), backend) for n in (4, 2))
    aug = recipe("crops")
    single_result = aug(batch, step=3)
    three_results = aug(batch, masks=masks, labels=classes, step=3)
    all_results = aug(batch, masks, boxes, points, classes, step=3)
    assert type(single_result) is type(batch)
    assert [type(result) for result in three_results] == [type(batch)] * 3
    assert [tuple(result.shape) for result in all_results[1:]] == [(5, 15, 12), (5, 2, 4), (5, 2, 2), (5,)]
    for result in (three_results, all_results):
        assert isinstance(result, tuple)
        assert_equal(result[0], single_result)
    assert three_results[2] is classes
    assert_equal(three_results[1], all_results[1])


@every_backend
def test_compose_returns_sample_in_its_structure(backend):
    batch, masks = images(backend, shape=SHAPE), put(random_masks(), backend)
    aug, sample = recipe("rotated"), {"image": batch, "extra": ["kept"], "more": {"mask": masks}}
    result = aug(sample, step=1)
    expected_images, moved_masks = aug(batch, masks, step=1)
    assert list(result) == list(sample)
    assert result["extra"] is sample["extra"]
    assert_equal(result["image"], expected_images)
    assert_equal(result["more"]["mask"], moved_masks)
    pair = aug((batch, "label"), step=1)
    assert isinstance(pair, tuple)
    assert pair[1] == "label"
    assert_equal(pair[0], expected_images)


def test_compose_list_of_samples_equals_batch():
    batch, masks = noise(SHAPE), random_masks()
    boxes = [np.full((n, 4), (2, 2, 9, 9), np.float32) for n in range(5)]
    aug = recipe("rotated")
    images, moved_masks = aug(batch, masks, step=1)
    samples = [{"image": batch[i], "mask": masks[i], "boxes": boxes[i]} for i in range(5)]
    listed = aug(samples, step=1)
    for i, sample in zip(range(5), listed, strict=True):
        assert_equal(sample["image"], images[i])
        assert_equal(sample["mask"], moved_masks[i])
        assert sample["boxes"].shape == (i, 4)
        single = aug(samples[i], step=1, ids=i)
        assert_equal(single["image"], images[i])
        assert_equal(single["mask"], moved_masks[i])
        assert_equal(single["boxes"], sample["boxes"])


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_compose_ragged_draws_by_id(library):
    sizes = [(23, 17), (30, 18), (23, 17)]
    batch = [images((library, "cpu"), shape=(1, *size, 3), seed=i)[0] for i, size in enumerate(sizes)]
    masks = [put(random_masks(shape=size, seed=i), (library, "cpu")) for i, size in enumerate(sizes)]
    points = [put(np.array([[3.0, 4.0]]), (library, "cpu")) for _ in sizes]
    aug = recipe("crops", seed=2)
    result = aug(batch, masks, keypoints=points, step=4, ids=np.array([8, 3, 5]))
    assert [type(part) for part in result] == [list] * 3
    for i, sample_id in enumerate((8, 3, 5)):
        image, mask, point = aug(batch[i], masks[i], keypoints=points[i], step=4, ids=sample_id)
        assert_equal(result[0][i], image)
        assert_equal(result[1][i], mask)
        assert_equal(result[2][i], point)


def test_compose_images_of_one_sample_share_draws_and_size():
    left, right = noise(SHAPE, seed=1), noise((*SHAPE[:3], 1), "float32", seed=2)
    aug = recipe("crops")
    result = aug({"left": {"image": left}, "right": {"image": right}}, step=1)
    assert_equal(result["left"]["image"], aug(left, step=1))
    assert_equal(result["right"]["image"], aug(right, step=1))
    with pytest.raises(
        ValueError, match=r"cuaug.transforms.Compose: images of one sample must have one size, got \(23, 17\)"
    ):
        aug({"left": {"image": left}, "right": {"image": right[:, :-1]}})


def test_compose_step_counts_calls():
    aug, batch = recipe("crops"), noise(SHAPE)
    aug(batch)
    aug(batch, random_masks())
    aug({"image": list(batch), "other": 1})
    aug(batch, step=9)
    assert aug.state_dict() == {"seed": 7, "step": 3}


@every_backend
def test_cutmix_second_argument_is_labels(backend):
    batch, labels = images(backend), put(np.array([0, 2, 1]), backend)
    aug = T.CutMix(num_classes=3)
    result, shares = aug(batch, labels)
    expected_images, expected_shares = T.Compose([T.CutMix(num_classes=3)], seed=aug._single_recipe.seed)(
        batch, labels=labels
    )
    assert_equal(to_numpy(result), to_numpy(expected_images))
    assert_equal(to_numpy(shares), to_numpy(expected_shares))
    assert to_numpy(shares).shape == (3, 3)


@every_backend
@pytest.mark.parametrize("mix", [T.MixUp, T.CutMix])
def test_mixup_and_cutmix_take_labels_of_no_samples(backend, mix):
    batch, labels = images(backend, shape=(0, 8, 8, 3)), put(np.zeros(0, np.int32), backend)
    result, shares = T.Compose([mix(num_classes=3)])(batch, labels=labels)
    assert (to_numpy(result).shape, to_numpy(shares).shape) == (to_numpy(batch).shape, (0, 3))


NESTED = {
    "a recipe": lambda recipe: T.Compose([T.Identity(), recipe]),
    "a choice": lambda recipe: T.Compose([T.RandomApply([recipe], p=1.0)]),
    "two levels": lambda recipe: T.Compose([T.Compose([recipe])]),
    "another format": lambda recipe: T.Compose([recipe], boxes=T.Boxes("CXCYWH")),
    "a choice alone": lambda recipe: T.RandomApply([recipe], p=1.0)(noise(SHAPE)),
    "a changed list": lambda recipe: appended(T.Compose([]), recipe)(noise(SHAPE)),
}


def appended(recipe, transform):
    recipe.transforms.append(transform)
    return recipe


@pytest.mark.parametrize("name", NESTED)
def test_compose_refuses_boxes_of_an_inner_recipe(name):
    with pytest.raises(ValueError, match=r"boxes must be given to the outer recipe, .* got boxes=Boxes\(format='XYWH'"):
        NESTED[name](T.Compose([T.RandomHorizontalFlip()], boxes=T.Boxes("XYWH")))


def test_compose_takes_an_inner_recipe_with_its_own_options():
    options = {"boxes": T.Boxes("XYWH"), "keypoints": T.Keypoints([(0, 1)])}
    flip = T.Compose([T.RandomHorizontalFlip(1.0)], seed=5, **options)
    outer = T.Compose([flip, T.Compose([])], seed=3, **options)
    boxes = np.full((5, 2, 4), 4, np.float32)
    assert outer.seed == 3
    np.testing.assert_array_equal(outer(noise(SHAPE), boxes=boxes)[1], flip(noise(SHAPE), boxes=boxes)[1])
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose: keypoints must be given to the outer recipe"):
        T.Compose([flip], boxes=T.Boxes("XYWH"))


def test_compose_repr_reads_as_written():
    assert repr(T.Compose([], seed=4)) == "Compose([], seed=4)"
    nested = T.Compose([T.RandomHorizontalFlip(), T.Compose([T.RandomInvert(0.25)], 1)], 2, boxes=T.Boxes("XYWH"))
    assert repr(nested).splitlines() == [
        "Compose([",
        "    RandomHorizontalFlip(p=0.5),",
        "    Compose([",
        "        RandomInvert(p=0.25),",
        "    ], seed=1),",
        "], seed=2, boxes=Boxes(format='XYWH', min_area=0.0, min_visibility=0.0, compact=False))",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.RandomCrop(0), r"^cuaug.transforms.RandomCrop: size must be at least 1, got 0$"),
        (lambda: T.Normalize(0.5, 0), r"^cuaug.transforms.Normalize: std must not be 0"),
        (lambda: T.Normalize(None, 1), r"^cuaug.transforms.Normalize: mean must be a finite number, got None"),
        (
            lambda: T.Normalize([], 1),
            r"^cuaug.transforms.Normalize: mean must be a number or one per channel, got \[\]",
        ),
        (lambda: T.Resize(8, antialias="no"), r"^cuaug.transforms.Resize: antialias must be True or False, got 'no'"),
        (lambda: T.ColorJitter(hue=0.6), r"^cuaug.transforms.ColorJitter: hue must be in 0.0..0.5, got 0.6"),
        (lambda: T.ColorJitter(hue=(-0.6, 0.2)), r"^cuaug.transforms.ColorJitter: hue must be in -0.5..0.5, got -0.6"),
        (
            lambda: T.Compose([T.RandomInvert(), T.RandomCrop(99)])(noise(SHAPE)),
            r"^cuaug.transforms.Compose: RandomCrop: size must fit",
        ),
        (lambda: T.RandomCrop(99)(noise(SHAPE)), r"^cuaug.transforms.RandomCrop: size must fit"),
        (
            lambda: T.Compose(["RandomInvert"]),
            r"^cuaug.transforms.Compose: every transform must be a transform or a function, got 'RandomInvert'$",
        ),
        (
            lambda: T.Compose(T.RandomInvert()),
            r"^cuaug.transforms.Compose: transforms must be a list of transforms, got RandomI",
        ),
        (
            lambda: T.Compose(T.RandomInvert),
            r"^cuaug.transforms.Compose: .* got the class RandomInvert: pass \[RandomInvert\(\.\.\.\)\]$",
        ),
        (
            lambda: T.RandomChoice({T.RandomInvert(), T.RandomCrop(3)}),
            r"^cuaug.transforms.RandomChoice: transforms must be a list of transforms, got set: a set has no order$",
        ),
        (lambda: T.RandomApply([]), r"^cuaug.transforms.RandomApply: transforms must be at least one, got none$"),
        (
            lambda: T.ToDtype({"image": "float32"}),
            r"^cuaug.transforms.ToDtype: dtype must be one value, or a dict by type .*, got {'image': 'float32'}$",
        ),
        (
            lambda: T.ToDtype({np.ndarray: "float32", "others": "int64"}),
            r"^cuaug.transforms.ToDtype: dtype must have dtypes for images and masks only",
        ),
        (lambda: T.ToDtype(mask_dtype="complex64"), r"ToDtype: mask_dtype must be one of 'bool', .* got 'complex64'"),
        (lambda: T.ConvertImageDtype({np.ndarray: "float32"}), r"ConvertImageDtype: dtype must be a dtype or its name"),
        (lambda: T.ConvertImageDtype("int64"), r"ConvertImageDtype: dtype must be one of 'uint8', .*, got 'int64'"),
        (lambda: T.ToPILImage("XX"), r"ToPILImage: mode must be one of 'L', .*, 'RGBX', got 'XX'"),
        (lambda: T.ToPILImage(5), r"ToPILImage: mode must be one of 'L', .*, 'RGBX', got 5"),
        (
            lambda: T.RandomApply([T.ToDtype(None, mask_dtype="int64")])(noise(SHAPE)),
            r"^cuaug.transforms.RandomApply: ToDtype: must not change the dtype of the masks of some samples only",
        ),
        (lambda: T.Pad(1, fill={int: 1}), r"^cuaug.transforms.Pad: fill must be one value, or a dict by type"),
        (
            lambda: T.RandomInvert()(noise((5, 5, 7, 3)), SOFT_LABELS),
            r"^cuaug.transforms.RandomInvert: masks must be one mask.*labels are given as labels=",
        ),
        (
            lambda: T.MixUp()(noise(SHAPE), SOFT_LABELS[..., None]),
            r"^cuaug.transforms.MixUp: masks must not be given .* labels are given as labels=",
        ),
        (lambda: T.Compose([], seed=-1), r"^cuaug.transforms.Compose: seed must be at least 0, got -1"),
        (lambda: T.Compose([], boxes=[]), r"^cuaug.transforms.Compose: boxes must be Boxes\(...\), got \[\]"),
        (lambda: T.Compose([], boxes="XYXY"), r"^cuaug.transforms.Compose: boxes must be Boxes\(...\), got 'XYXY'"),
        (lambda: T.Compose([])("images"), r"^cuaug.transforms.Compose: no image found in the argument \(a str\)"),
    ],
)
def test_compose_error_names_the_transform(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_compose_seed_is_drawn_at_construction():
    aug, other = T.Compose(CROPS), T.Compose(CROPS)
    assert aug.seed != other.seed
    assert 0 <= aug.seed < 1 << 63
    assert aug.to_dict()["seed"] == aug.seed == copy.deepcopy(aug).seed


@pytest.mark.parametrize(
    "documented", [T.Compose, T.Compose.plan, T.PixelOp, T.from_dict], ids=lambda documented: documented.__qualname__
)
def test_transforms_docstring_example_runs(documented):
    test = doctest.DocTestParser().get_doctest(
        documented.__doc__, vars(compose).copy(), documented.__qualname__, None, 0
    )
    assert [example for example in test.examples if example.want]
    message = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=message.append)
    assert runner.failures == 0, "".join(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 2**63}, "step must be at most"),
        ({"step": -1}, "step must be at least 0"),
        ({"ids": 2**63}, "ids must be at most"),
        ({"ids": -(2**63)}, "ids must be at least"),
    ],
)
def test_compose_rejects_seed_step_ids_out_of_range(options, message):
    aug, batch = T.Compose([T.RandomHorizontalFlip()], seed=1), np.zeros((2, 4, 4, 3), np.uint8)
    with pytest.raises(ValueError, match=message):
        aug(batch, **options)
    with pytest.raises(ValueError, match="seed must be at most"):
        aug.load_state_dict({"seed": 2**63, "step": 0})
    assert aug.state_dict()["seed"] == 1
    aug(batch, step=2**63 - 1, ids=2**63 - 3)


@pytest.mark.parametrize("form", ["batch", "sizes", "list of results"])
def test_compose_ids_of_all_samples_have_64_bits(form):
    """`ids` is the id of the first sample, the last one has ids + N - 1: the limit of `ids` is 2**63 - N."""
    transform = T.RandomResize(3, 6) if form == "list of results" else T.RandomHorizontalFlip()
    aug, batch = T.Compose([transform], seed=1), np.zeros((2, 5, 4, 3), np.uint8)
    images = [batch[0], batch[1, :4]] if form == "sizes" else batch
    for ids in (2**63 - 1, 2**63):
        with pytest.raises(ValueError, match=rf"ids must be at most {2**63 - 2}, got {ids}$"):
            aug(images, ids=ids)
    assert len(aug(images, ids=2**63 - 2)) == 2


def test_compose_after_has_the_draws_of_the_whole_recipe():
    """The first two transforms change nothing at p = 0, so the last ones alone give the result of the whole recipe."""
    aug = T.Compose([T.RandomInvert(0.0), T.RandomSolarize(0.5, 0.0), T.RandomHorizontalFlip(), T.RandomInvert()], 3)
    batch = images(("numpy", "cpu"), shape=(40, 8, 8, 3))
    expected = aug(batch, step=0)
    for remainder in (aug.after(2), aug.after(np.int64(2)), aug.after(1).after(1)):
        assert_equal(remainder(batch, step=0), expected)
        assert remainder.first_position == 2
    assert (aug.after(4).transforms, aug.after(4).first_position) == ([], 4)
    aug.load_state_dict({"seed": 3, "step": 5})
    assert_equal(aug.after(2)(batch), aug(batch))
    for first, rule in ((5, "at most 4"), (-1, "at least 0")):
        with pytest.raises(ValueError, match=rf"cuaug\.transforms\.Compose\.after: first must be {rule}, got {first}"):
            aug.after(first)
    for wrong in (1.0, True, "1", None):
        with pytest.raises(TypeError, match=r"cuaug\.transforms\.Compose\.after: first must be an int, got"):
            aug.after(wrong)


@every_backend
@pytest.mark.parametrize("name", ["jitter", "resize, jitter", "jitter, blur, jitter"])
def test_compose_apply_does_not_change_params(backend, name):
    """Several threads may apply the same parameters: the means of the images belong to the call."""
    jitter = T.ColorJitter(contrast=(1.5, 2.0))
    transforms = {
        "jitter": [jitter],
        "resize, jitter": [T.RandomResizedCrop(7), jitter],
        "jitter, blur, jitter": [jitter, T.GaussianBlur(3), jitter],
    }
    aug = T.Compose(transforms[name], seed=3)
    images, others = (put(noise((2, 3, 9, 8), "float32", seed=seed), backend) for seed in range(2))
    params = aug.draw(images, layout="NCHW")
    table = to_numpy(params._library.to_user_array(params.table.owner)).copy()
    for _ in range(3):
        aug.apply(images, params, layout="NCHW")
        aug.apply(others, params, layout="NCHW")
        assert np.array_equal(to_numpy(params._library.to_user_array(params.table.owner)), table, equal_nan=True)


@pytest.mark.parametrize("drawn", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("applied", ["numpy", "torch", "jax"])
def test_compose_applies_params_to_images_of_another_library(drawn, applied):
    aug = T.Compose([T.RandomResizedCrop(7), T.ColorJitter(contrast=(1.5, 2.0))], seed=3)
    images = noise((2, 9, 8, 3))
    params = aug.draw(put(images, (drawn, "cpu")), layout="NHWC")
    result = aug.apply(put(images, (applied, "cpu")), params, layout="NHWC")
    assert_equal(to_numpy(result), aug(images, step=0))
