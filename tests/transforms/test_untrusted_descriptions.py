"""Untrusted descriptions of recipes, parameters, states: bounded, or refused with ValueError or TypeError."""

import json

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.child_process import python
from tables.transforms import INSTANCES
from tables.untrusted import IMAGES, VALUES, mutations, nested, nested_recipe

from cuaug import transforms as T
from cuaug.transforms.transform import Transform


def describe(instance):
    """The dict of a transform, or of `Boxes` or `Keypoints`."""
    if isinstance(instance, Transform):
        return instance.to_dict()
    name = type(instance).__name__.lower()
    return T.Compose([], **{name: instance}).to_dict()[name]


@pytest.mark.slow
def test_from_dict_mutated_descriptions_are_refused_or_run():
    """In a child process, whose memory is limited."""
    texts = [json.dumps(describe(instance)) for instance in INSTANCES.values()]
    message, _ = python(
        f"import json; from tables.untrusted import check; print(json.dumps(check({texts!r})))", timeout=300
    )
    counts = json.loads(message)
    assert counts["refused"] > 7000
    assert counts["run"] > 900


@pytest.mark.parametrize(
    ("name", "arguments", "rule"),
    [
        ("RandAugment", {"num_ops": 65535}, "num_ops must be at most 32"),
        ("RandAugment", {"num_magnitude_bins": 10**9}, "num_magnitude_bins must be at most 4096"),
        ("TrivialAugmentWide", {"num_magnitude_bins": 4097}, "num_magnitude_bins must be at most 4096"),
        ("AugMix", {"chain_depth": 10**5}, "chain_depth must be at most 32"),
        ("AugMix", {"chain_depth": 0}, "chain_depth must be at least 1"),
        ("AugMix", {"alpha": 1e308}, "alpha must be greater than 0 and at most 1000000"),
        ("MixUp", {"alpha": 0}, "alpha must be greater than 0 and at most 1000000, got 0"),
        ("MixUp", {"alpha": -1.0}, "alpha must be greater than 0 and at most 1000000, got -1.0"),
        ("CutMix", {"num_classes": 10**9}, "num_classes must be at most 1048576"),
        ("RandomPosterize", {"bits": 17}, "bits must be at most 16"),
        ("RandomCrop", {"size": 8, "padding": [1, 2, 3]}, "padding must be one, two or four ints"),
        ("Pad", {"padding": 2**31}, "padding must be at most 1073741824"),
        ("PixelOp", {"op": "x" * 65, "expression": "px"}, "op must be a name of letters and digits, at most 64"),
        ("PixelOp", {"op": "A", "expression": "px *" + "k" * 65, "k" * 65: 1}, "a name of at most 64 characters"),
        (
            "PixelOp",
            {"op": "A", "expression": "px" + " " * 1000 + "+ 1"},
            "expression must have at most 1000 characters",
        ),
        ("PixelOp", {"op": "A", "expression": "px*u+" * 64 + "px"}, "at most 256 names, numbers and signs, got 257"),
        ("PixelOp", {"op": "A", "expression": "(" * 17 + "px" + ")" * 17}, "at most 16 parentheses inside each other"),
    ],
)
def test_from_dict_and_class_refuse_equally(name, arguments, rule):
    with pytest.raises(ValueError, match=f"^cuaug.transforms.{name}: ") as from_class:
        getattr(T, name)(**arguments)
    with pytest.raises(ValueError, match=f"^cuaug.transforms.{name}: ") as from_dict:
        T.from_dict({"name": name, **arguments})
    assert str(from_class.value) == str(from_dict.value)
    assert rule in str(from_class.value)


@pytest.mark.parametrize("name", ["Compose", "RandomApply", "RandomChoice", "RandomOrder"])
def test_from_dict_and_class_bound_contained_transforms(name):
    cls, identity = getattr(T, name), {"name": "Identity"}
    many, deep = T.Compose([T.Identity()] * 1023), T.Identity()
    assert len(cls([many]).transforms) == 1
    for entries in ([many, T.Identity()], [T.Identity()] * 1025):
        with pytest.raises(ValueError, match=f"^cuaug.transforms.{name}: transforms must be at most 1024, nested ones"):
            cls(entries)
    with pytest.raises(ValueError, match=f"^cuaug.transforms.{name}: transforms must be at most 1024, nested ones"):
        T.from_dict({"name": name, "transforms": [identity] * 1025})
    with pytest.raises(ValueError, match=r"^cuaug.transforms.from_dict: description must have at most 65536 values"):
        T.from_dict({"name": name, "transforms": [identity] * 10**6})
    for _ in range(32):
        deep = cls([deep])
    assert T.from_dict(deep.to_dict()).to_dict() == deep.to_dict()
    for make in (lambda: cls([deep]), lambda: T.from_dict({**deep.to_dict(), "transforms": [deep.to_dict()]})):
        with pytest.raises(ValueError, match=f"^cuaug.transforms.{name}: transforms must be nested at most 32 levels"):
            make()
    with pytest.raises(ValueError, match=r"^cuaug.transforms.from_dict: description must have at most 80 levels"):
        T.from_dict(nested_recipe(300, name))


@pytest.mark.parametrize("value", [None, 3, "Identity", [], [{"name": "Identity"}]])
def test_from_dict_refuses_other_types(value):
    with pytest.raises(
        TypeError, match=r"^cuaug.transforms.from_dict: description must be a dict, a result of to_dict"
    ):
        T.from_dict(value)


@pytest.mark.parametrize(
    ("transforms", "rule"),
    [
        ([T.Resize((10**5, 10**5))], "the result's size must be at most 268435456 pixels"),
        ([T.Resize(2**12)], "the result's size must be at most 268435456 pixels"),  # the longer side: over 2**28 pixels
        ([T.RandomResizedCrop((2**14, 2**14 + 1))], "the result's size must be at most 268435456 pixels"),
        ([T.Pad(10**5), T.RandomInvert()], "the result's size must be at most 268435456 pixels"),
        ([T.Pad(10**5), T.GaussianBlur(3), T.CenterCrop(3)], "the result's size must be at most 268435456 pixels"),
        ([T.RandomOrder([T.Compose([])] * 40)], "a recipe must have at most 1024 transforms"),
        ([T.RandomOrder([T.RandomOrder([T.RandomOrder([T.Identity()] * 4)] * 4)] * 4)], "at most 1024 transforms"),
        ([T.TrivialAugmentWide(4096)] * 8, "a recipe must draw from at most 262144 numbers"),
        (
            [T.RandomInvert()] * 129,
            "a recipe must have at most 128 consecutive pointwise ops, got 129 (RandomOrder of n",
        ),
        ([T.PixelOp("A", f"px + {i}") for i in range(17)], "at most 16 different expressions"),
    ],
)
def test_compose_bounds_recipes_before_work(transforms, rule):
    images = np.zeros((1, 1, 65537, 3), np.uint8)
    aug = T.Compose(transforms)
    for call in (aug, aug.draw, aug.plan):
        with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose") as refusal:
            call(images)
        assert rule in str(refusal.value)


def test_compose_result_may_be_as_large_as_the_images():
    images = np.broadcast_to(np.uint8(0), (1, 2**15, 2**14, 3))
    assert "[32768, 16384, 3]" in str(T.Compose([T.RandomHorizontalFlip()]).plan(images))
    with pytest.raises(ValueError, match="at most 268435456 pixels, or not more than the images have"):
        T.Compose([T.Pad(1)]).plan(images)


def test_params_from_dict_mutated_descriptions_are_refused_or_run():
    aug = T.Compose([T.RandomRotation(30), T.RandomApply([T.PixelOp("A", "px * k", k=(0, 1))]), T.RandomMask()], seed=1)
    refused = applied = 0
    description = json.loads(json.dumps(aug.draw(IMAGES).to_dict()))
    with np.errstate(all="ignore"):
        for change, mutated in [*mutations(description), *((f"all is {i}", value) for i, value in enumerate(VALUES))]:
            try:
                params = aug.params_from_dict(mutated, IMAGES)
            except (TypeError, ValueError):
                refused += 1
                continue
            assert aug.apply(IMAGES, params).shape == IMAGES.shape, change
            applied += 1
    assert refused > 1000
    assert applied > 50


def test_params_from_dict_names_the_fault():
    aug = T.Compose([T.RandomRotation(30)])
    with pytest.raises(
        TypeError, match=r"^cuaug.transforms.Compose.params_from_dict: params must be a dict, .* got NoneType"
    ):
        aug.params_from_dict(None, IMAGES)
    for key in ("recipe", "images", "drawn", "matrices"):
        with pytest.raises(
            ValueError, match=r"^cuaug.transforms.Compose.params_from_dict: params must have at most 80 levels"
        ):
            aug.params_from_dict({**aug.draw(IMAGES).to_dict(), key: nested(1000)}, IMAGES)


@pytest.mark.parametrize("is_module", [False, True])
def test_compose_load_state_dict_refuses_what_is_no_state(is_module):
    aug = T.Compose([], seed=1)
    if not is_module:
        aug = object.__new__(T.Compose)
        aug.__dict__.update(T.Compose([], seed=1).__getstate__())
    assert isinstance(aug, torch.nn.Module) == is_module
    refused = 0
    for change, state in [*mutations({"seed": 1, "step": 2}), *((f"all is {i}", v) for i, v in enumerate(VALUES))]:
        before = aug.state_dict()
        try:
            aug.load_state_dict(state)
        except (TypeError, ValueError):
            assert aug.state_dict() == before, change
            refused += 1
        else:
            assert aug.state_dict() == {"seed": state["seed"], "step": state["step"]}, change
        assert aug(noise((1, 3, 3, 1))).shape == (1, 3, 3, 1), change
    assert refused > 90
    with pytest.raises(ValueError, match="state must be a result of state_dict, which has seed, step, got"):
        aug.load_state_dict({"seed": 1})
    with pytest.raises(TypeError, match="state must be a dict, a result of state_dict, got NoneType"):
        aug.load_state_dict(None)
