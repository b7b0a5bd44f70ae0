"""RandomApply, RandomChoice, RandomOrder of transforms that are not fused: called with the samples that drew them."""

import copy
import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal
from tables.transforms import INSTANCES

from cuaug import transforms as T
from cuaug._fusion.recipe import Recipe

SHAPE = (16, 9, 11, 3)


def invert(value):
    return 255 - value


CHOICES = {
    "apply": lambda f: T.RandomApply([f], 0.4),
    "apply several": lambda f: T.RandomApply([T.RandomHorizontalFlip(), f, T.RandomVerticalFlip()], 0.6),
    "choice": lambda f: T.RandomChoice([f, T.Identity(), T.RandomHorizontalFlip()], [2, 1, 1]),
    "order": lambda f: T.RandomOrder([f, T.RandomHorizontalFlip(), T.RandomPosterize(2, 1.0)]),
    "nested": lambda f: T.RandomApply(
        [T.RandomChoice([f, T.Compose([T.RandomVerticalFlip()])]), T.RandomAffine(9)], 0.7
    ),
    "in Compose": lambda f: T.Compose([T.RandomApply([T.RandomOrder([f, f])], 0.7)]),
}
every_choice = pytest.mark.parametrize("make", CHOICES.values(), ids=CHOICES)


def recipes(make, function=invert):
    """A recipe with a choice of fused transforms, and the same one with a function that does the same."""
    before, after = [T.RandomVerticalFlip()], [T.RandomHorizontalFlip(), T.RandomCrop(7)]
    return [T.Compose([*before, make(f), *after], seed=3) for f in (T.RandomInvert(1.0), function)]


@every_choice
@pytest.mark.parametrize("ids", [None, 7, np.arange(16) * 5], ids=["none", "first", "all"])
def test_choice_of_function_equals_choice_of_fused_transform(make, ids):
    """The same samples get the function, and all other draws are the same."""
    images, (fused, parts) = noise(SHAPE), recipes(make)
    for step in range(3):
        assert_equal(parts(images, ids=ids, step=step), fused(images, ids=ids, step=step))
    assert_equal(copy.deepcopy(parts)(images, step=1), fused(images, step=1))
    assert_equal(pickle.loads(pickle.dumps(parts))(images, step=1), fused(images, step=1))
    assert_equal(parts.after(1)(images, step=2), fused.after(1)(images, step=2))


def pairs(images):
    return [(image, n) for n, image in enumerate(images)]


SAMPLES = {
    "torch": lambda images: torch.from_numpy(images).permute(0, 3, 1, 2),
    "list of images": list,
    "images of several sizes": lambda images: [image[: 7 + n % 3] for n, image in enumerate(images)],
    "one image": lambda images: images[3],
    "labels": lambda images: (images, np.arange(len(images))),
    "masks": lambda images: {"image": images, "mask": images[..., 0], "name": "a"},
    "boxes": lambda images: {
        "images": images,
        "boxes": np.full((len(images), 2, 4), (2.0, 1.0, 8.0, 7.0)),
        "labels": 3,
    },
    "list of pairs": pairs,
    "list of dicts": lambda images: [{"image": image, "label": n} for image, n in pairs(images)],
}


def assert_same(result, expected):
    assert type(result) is type(expected)
    if isinstance(expected, dict):
        assert list(result) == list(expected)
        result, expected = list(result.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(result) == len(expected)
        for entry, expected_entry in zip(result, expected, strict=True):
            assert_same(entry, expected_entry)
    elif hasattr(expected, "shape"):
        assert_equal(result, expected)
    else:
        assert result == expected


class InvertImages(T.Transform):
    """Inverts images, whatever the structure of the sample."""

    transformed_kinds = ("images",)

    def transform(self, inpt, params):
        return 255 - inpt


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("kind", ["apply", "choice", "order"])
def test_choice_of_users_transform_keeps_structures(kind, name):
    sample = SAMPLES[name](noise(SHAPE))
    fused, parts = recipes(CHOICES[kind], InvertImages())
    assert_same(parts(sample, step=1), fused(sample, step=1))


def test_choice_of_function_takes_arguments_by_name():
    images, masks, labels = noise(SHAPE), noise(SHAPE[:3]), np.arange(16)
    fused, parts = recipes(CHOICES["apply several"], InvertImages())
    assert_same(parts(images, masks, labels=labels, step=1), fused(images, masks, labels=labels, step=1))


@pytest.mark.parametrize("listed", [False, True], ids=["batch", "list of dicts"])
def test_choice_with_fused_transforms_says_which_boxes_are_valid(listed):
    images, boxes = noise(SHAPE), np.tile([[2.0, 1, 8, 7], [0, 0, 2, 2]], (16, 1, 1))
    sample = {"images": images, "boxes": boxes}
    if listed:
        sample = [{"images": image, "boxes": rows} for image, rows in zip(images, boxes, strict=True)]
    move = T.RandomAffine(0, (0.5, 0.5))
    results = [
        T.Compose([T.RandomApply([move, invert], 0.6)], seed=3)(sample, step=1)
        for invert in (T.RandomInvert(1.0), InvertImages())
    ]
    assert_same(results[1], results[0])
    entries = results[1] if listed else [results[1]]
    assert len({flag for entry in entries for flag in entry["valid"].ravel()}) == 2


def test_choice_of_function_returns_tv_tensors_in_their_type():
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    images = torch.from_numpy(noise(SHAPE)).permute(0, 3, 1, 2)
    sample = tv_tensors.Image(images), tv_tensors.Mask(images[:, 0])
    fused, parts = recipes(CHOICES["apply several"], lambda pair: (255 - pair[0], pair[1]))
    for result, expected in zip(parts(sample, step=1), fused(sample, step=1), strict=True):
        assert type(result) is type(expected)
        assert torch.equal(result, expected)


def test_choice_called_alone_draws_by_step_and_calls_function_once():
    sizes = []

    def count(images):
        sizes.append(len(images))
        return invert(images)

    images, choice = noise((64, 9, 11, 3)), T.RandomApply([count], 0.5)  # no seed: the test fails once in 2**62 runs
    results = [choice(images) for _ in range(2)]
    changed = [(result != images).reshape(64, -1).any(1) for result in results]
    assert [flags.sum() for flags in changed] == sizes
    assert 0 < sizes[0] < 64
    assert (changed[0] != changed[1]).any()
    assert_equal(choice(images, step=0), results[0])


def test_choice_of_conversion_changes_the_type_of_one_sample():
    image_module = pytest.importorskip("PIL.Image")
    aug = T.Compose([T.RandomApply([T.ToPILImage()], 0.5)], seed=1)
    results = [aug(noise((9, 11, 3)), step=step) for step in range(20)]
    converted = sum(isinstance(result, image_module.Image) for result in results)
    assert 0 < converted < 20


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: x[:, 1:],
            r"RandomApply: must not change the images of some samples only, from numpy uint8 \(9, 11, 3\) to ",
        ),
        (
            lambda x: x / 2,
            r"RandomApply: must not change the images of some samples only, from numpy uint8 .* to numpy float64",
        ),
        (
            lambda x: list(x),
            r"RandomApply: must not change the images of some samples only, from numpy uint8 .* to list$",
        ),
        (
            lambda x: x[:1],
            r"RandomApply: must not change the images of some samples only, from 9 samples to 1$",
        ),
    ],
)
def test_choice_of_function_rejects_another_shape_of_some_samples(function, message):
    with pytest.raises(ValueError, match=message):
        T.Compose([T.RandomApply([function])], seed=0)(noise(SHAPE))


def test_choice_of_function_rejects_another_structure():
    aug = T.Compose([T.RandomApply([lambda sample: sample["image"]])], seed=0)
    message = r"RandomApply: must return the structure of its argument, which has images at \['image'\]$"
    for image in (noise(SHAPE), torch.from_numpy(noise(SHAPE))):
        with pytest.raises(ValueError, match=message):
            aug({"image": image})


META = {"name": "a", "matrix": np.eye(2)}


class Incomparable:
    """Compares as a table of pandas does."""

    def __eq__(self, other):
        return np.array([True, False])

    def __deepcopy__(self, copies):
        return self


@pytest.mark.parametrize(
    ("function", "fact"),
    [
        (lambda sample: {**sample, "flag": 1}, r"add \['flag'\] for some samples only: add it for all samples"),
        (
            lambda sample: {**sample, "meta": {}},
            r"remove \['meta'\]\['name'\] for some samples only: remove it for all",
        ),
        (
            lambda sample: {**sample, "meta": {**META, "name": "b"}},
            r"change \['meta'\]\['name'\] for some samples only",
        ),
        (lambda sample: {**sample, "meta": {**META, "matrix": np.ones(2)}}, r"change \['meta'\]\['matrix'\] for some"),
        (
            lambda sample: {**sample, "meta": None},
            r"change \['meta'\] for some samples only, as all samples share this",
        ),
        (lambda sample: {**sample, "list": [True, 2]}, r"change \['list'\]\[0\] for some samples only"),
        (lambda sample: {**sample, "nan": np.zeros(1)}, r"change \['nan'\] for some samples only"),
        (lambda sample: {**sample, "nan": np.full(2, np.nan)}, r"change \['nan'\] for some samples only"),
        (lambda sample: {**sample, "incomparable": Incomparable()}, r"change \['incomparable'\] for some samples only"),
        (lambda sample: {**sample, "list": [*sample["list"], 3]}, r"add \['list'\]\[2\] for some samples only"),
        (
            lambda sample: {**sample, "list": (1, 2)},
            r"change \['list'\] for some .* keypoints and labels have an entry",
        ),
        (lambda sample: {**sample, "list": [1.0, 2]}, r"change \['list'\]\[0\] for some samples only"),
    ],
)
def test_choice_of_function_rejects_values_that_other_samples_would_lack(function, fact):
    sample = {"image": noise(SHAPE), "meta": META, "list": [1, 2], "nan": np.full(1, np.nan)}
    sample["incomparable"] = Incomparable()
    aug = T.Compose([T.RandomApply([function])], seed=0)
    with pytest.raises(ValueError, match=rf"^cuaug.transforms.Compose: RandomApply: must not {fact}"):
        aug(sample, step=0)
    same = T.Compose([T.RandomApply([copy.deepcopy])], seed=0)(sample, step=0)
    assert_equal(same["image"], sample["image"])
    always = T.Compose([T.RandomApply([function], p=1.0)])(sample)
    assert always.keys() == function(sample).keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda sample: sample["meta"].update(name="b"),
        lambda sample: sample["meta"]["inner"].append(1),
        lambda sample: sample["list"].pop(),
    ],
)
def test_choice_of_function_rejects_changes_in_place_of_values_that_other_samples_share(change):
    sample = {"image": noise(SHAPE), "meta": {"name": "a", "inner": []}, "list": [1, 2]}
    expected = copy.deepcopy({key: sample[key] for key in ("meta", "list")})
    aug = T.Compose([T.RandomApply([lambda given: (change(given), given)[1]])], seed=0)
    with pytest.raises(ValueError, match=r"must not (change|add|remove) \['(meta|list)'\]"):
        aug(sample, step=0)
    assert {key: sample[key] for key in ("meta", "list")} == expected


def call_flip(sample):
    return T.Compose([T.RandomHorizontalFlip(1.0)])(sample)


class CallFlip(T.Transform):
    def forward(self, sample):
        return call_flip(sample)


@pytest.mark.parametrize("function", [call_flip, CallFlip()])
@pytest.mark.parametrize("form", ["arrays", "lists", "dicts", "torch"])
def test_choice_of_function_that_calls_a_recipe_gives_all_samples_valid_boxes(function, form):
    images, boxes = noise(SHAPE), np.tile(np.float32([[1, 2, 5, 7], [3, 3, 3, 9]]), (len(noise(SHAPE)), 1, 1))
    sample = {"images": images, "boxes": list(boxes) if form == "lists" else boxes}
    if form == "dicts":
        sample = [{"images": image, "boxes": entries} for image, entries in zip(images, boxes, strict=True)]
    elif form == "torch":
        sample = {"images": torch.from_numpy(images).permute(0, 3, 1, 2), "boxes": torch.from_numpy(boxes)}
    result = T.Compose([T.RandomApply([function])], seed=0)(sample, step=0)
    valid = np.array([entry["valid"] for entry in result]) if form == "dicts" else np.asarray(result["valid"])
    lefts = np.asarray([entry["boxes"] for entry in result] if form == "dicts" else result["boxes"])[:, 0, 0]
    is_flipped = lefts != 1
    assert 0 < is_flipped.sum() < len(images)
    expected = np.stack([np.ones(len(images), bool), ~is_flipped], 1)  # the inner recipe calls the empty box invalid
    assert valid.dtype == bool
    assert np.array_equal(valid, expected)


def test_choice_of_function_keeps_entries_that_single_samples_gain():
    """A list of samples, and targets in a list, have an entry for each sample."""
    aug = T.Compose([T.RandomApply([lambda samples: [{**sample, "flag": 1} for sample in samples]])], seed=0)
    results = aug([{"image": image} for image in noise(SHAPE)], step=0)
    assert {len(result) for result in results} == {1, 2}


class SubclassOfFlip(T.RandomHorizontalFlip):
    def forward(self, *inputs):
        return super().forward(*inputs)


def test_choice_of_a_subclass_gives_all_samples_valid_boxes():
    images, boxes = noise(SHAPE), np.tile(np.float32([1, 2, 5, 7]), (len(noise(SHAPE)), 1, 1))
    aug = T.Compose([T.RandomApply([SubclassOfFlip(p=1.0)])], seed=0)
    result = aug({"images": images, "boxes": boxes}, step=0)
    assert result["valid"].shape == (len(images), 1)
    assert len(np.unique(result["boxes"][:, 0, 0])) == 2


TRANSFORMS = [instance for instance in INSTANCES.values() if isinstance(instance, T.Transform)]


@pytest.mark.parametrize(
    "transform", [*TRANSFORMS, T.RandAugment(3), T.AugMix(), T.RandomOrder(TRANSFORMS[:2])], ids=repr
)
def test_transform_position_count_is_that_of_its_draws(transform):
    recipe = Recipe((32, 32), 3, "uint8")
    transform.append_to(recipe)
    assert recipe.position + 1 == transform.draw_position_count


def test_compose_after_choice_draws_as_whole_recipe():
    """The transforms inside of a choice have positions of their own, and so have those of the next part."""
    images, flips = noise(SHAPE), [T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
    aug = T.Compose([T.RandomApply(flips, 0.0), T.RandomHorizontalFlip()], seed=3)
    assert_equal(aug.after(1)(images, step=0), aug(images, step=0))
    parts = T.Compose([T.RandomApply(flips, 0.0), lambda x: x, T.RandomHorizontalFlip()], seed=3)
    expected = T.Compose([T.RandomApply(flips, 0.0), T.Identity(), T.RandomHorizontalFlip()], seed=3)
    assert_equal(parts(images, step=0), expected(images, step=0))


@pytest.mark.parametrize(
    ("transforms", "fact"),
    [
        ([T.CenterCrop(4)], r"CenterCrop: must not change the size of some samples only, from \(8, 8\) to \(4, 4\)"),
        ([T.Pad(1)], r"Pad: must not change the size of some samples only, from \(8, 8\) to \(10, 10\)"),
        ([T.ToDtype("float32")], "ToDtype: must not change the dtype of some samples only, from uint8 to float32"),
        ([T.Grayscale(1)], "Grayscale: must not change the channels of some samples only, from 3 to 1"),
    ],
)
def test_random_apply_names_the_transform_that_changes_a_property(transforms, fact):
    for later in ([], [T.RandomInvert()], [T.RandomHorizontalFlip()]):
        with pytest.raises(ValueError, match=rf"^cuaug.transforms.RandomApply: {fact}$"):
            T.RandomApply([*transforms, *later])(noise((2, 8, 8, 3)))
