"""Hostile parameters: an error, or a result of the right shape and dtype, and never a crash or a hang."""

import json

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, noise, put
from helpers.child_process import python_after_import
from helpers.compare import EXACT, assert_equal
from tables.hostile import GROUPS, SHAPE, VALUES

from cuaug import transforms as T
from cuaug.transforms.transform import Transform

IMAGES = noise(SHAPE)
MASK = T.RandomMask(1.0, "pixels", 0.3, 2)
GRID = T.RandomMask(1.0, "grid", 0.3, 5)
JITTER = T.ColorJitter(0.4, 0.4, 0.4, 0.1)


@pytest.mark.parametrize("group", GROUPS)
def test_params_hostile_numbers_never_crash_or_hang(group):
    """In a child process, where a crash is an exit code and an endless loop a timeout."""
    program = f"from tables.hostile import check; print(*check({group!r}))"
    message, _ = python_after_import(["tables.hostile"], program, timeout=120)
    rejected, applied = map(int, message.split())
    assert applied > 100
    assert rejected


def test_params_hostile_numbers_reach_every_transform():
    def names(transforms):
        for transform in transforms:
            yield type(transform).__name__
            yield from names(getattr(transform, "transforms", []))

    tried = {name for recipes in GROUPS.values() for transforms, _ in recipes for name in names(transforms)}
    public = {
        name for name in T.__all__ if isinstance(getattr(T, name), type) and issubclass(getattr(T, name), Transform)
    }
    fused = {name for name in public if getattr(T, name).write is not Transform.write}
    assert len(fused) > 30
    assert fused <= tried


def edited(aug, change):
    """The dict of drawn parameters after JSON, edited by ``change``."""
    description = json.loads(json.dumps(aug.draw(IMAGES, step=0).to_dict()))
    change(description)
    return description


def set_drawn(name, value):
    def change(description):
        description["drawn"][name][1] = value

    return change


@pytest.mark.parametrize(
    ("transform", "name", "value", "rule"),
    [
        *((MASK, "0.RandomMask.size", value, "integers in 1..1073741823") for value in (0, 1e-300, float("nan"), 2.5)),
        *((GRID, "0.RandomMask.size", value, "integers in 1..1073741823") for value in (0, -1, 1e-300, 2.0**30)),
        *((JITTER, "0.ColorJitter.order_2", value, "integers in 0..3") for value in (1e9, -1, 4, 0.5, float("inf"))),
        (T.GaussianNoise(), "0.GaussianNoise.seed_0", 2.0**24, "integers in 0..16777215"),
        *((T.RandomEqualize(), "0.RandomEqualize.apply", value, "integers in 0..1") for value in (2, -1, 0.5)),
        (T.RandAugment(), "1.RandAugment.levels", 4, "integers in 0..3"),
        *((JITTER, "0.ColorJitter.hue_factor", value, "finite numbers") for value in VALUES if not np.isfinite(value)),
    ],
)
def test_params_from_dict_rejects_values_invalid_for_an_op(transform, name, value, rule):
    aug = T.Compose([transform], seed=1)
    with pytest.raises(ValueError, match=r"cuaug\.transforms\.Compose\.params_from_dict: .*sample 1") as refusal:
        aug.params_from_dict(edited(aug, set_drawn(name, value)), IMAGES)
    assert rule in str(refusal.value)
    assert name in str(refusal.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("drawn"),
        lambda d: d.pop("matrices"),
        lambda d: d["drawn"].pop("0.RandomRotation.angle"),
        lambda d: d.update(drawn=[1, 2]),
        lambda d: d.update(matrices={}),
        lambda d: d["matrices"].pop(),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": [1.0]}),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": 1.0}),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": ["a", "b", "c"]}),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": [None, {}, []]}),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": [10**400, 0, 0]}),
        lambda d: d["drawn"].update({"0.RandomRotation.angle": torch.ones(3, requires_grad=True)}),
        lambda d: d["matrices"].__setitem__(0, [[1.0]]),
        lambda d: d["matrices"].__setitem__(0, "abc"),
    ],
)
def test_params_from_dict_rejects_another_structure(change):
    aug = T.Compose([T.RandomRotation(30)], seed=1)
    with pytest.raises(ValueError, match=r"cuaug\.transforms\.Compose\.params_from_dict: "):
        aug.params_from_dict(edited(aug, change), IMAGES)


@pytest.mark.parametrize(
    "change", [lambda d: d.update(images=np.zeros(3)), lambda d: d["images"].update(height=np.array([17, 17]))]
)
def test_params_from_dict_rejects_arrays_as_the_description_of_images(change):
    aug = T.Compose([T.RandomRotation(30)], seed=1)
    with pytest.raises(ValueError, match=r"params must be of the same images: images.* must be .*, got array\("):
        aug.params_from_dict(edited(aug, change), IMAGES)


@pytest.mark.parametrize("shape", [(), (3,), (5,), (0,), (3, 1), (6, 3), (3, 2, 3)])
def test_params_from_dict_rejects_matrices_of_another_shape(shape):
    aug = T.Compose([T.RandomRotation(30)], seed=1)
    description = edited(aug, lambda d: d["matrices"].__setitem__(0, np.ones(shape).tolist()))
    with pytest.raises(ValueError, match=r"^cuaug.*params_from_dict: params must have matrices of shape") as refusal:
        aug.params_from_dict(description, IMAGES)
    assert str(refusal.value).endswith(f"of shape (3, 6), got shape {shape}")


@pytest.mark.parametrize(
    "recipe",
    [pytest.param(recipe, id=f"{name}-{i}") for name, group in GROUPS.items() for i, recipe in enumerate(group)],
)
def test_params_from_dict_accepts_every_draw(recipe):
    """Every number that a transform draws is accepted."""
    transforms, dtype = recipe
    aug = T.Compose(transforms, seed=3)
    images = noise((40, *SHAPE[1:]), dtype)
    params = aug.draw(images, step=0)
    again = aug.params_from_dict(json.loads(json.dumps(params.to_dict())), images)
    assert aug.apply(images, again).tobytes() == aug.apply(images, params).tobytes()


@every_backend
@pytest.mark.parametrize("size", [(9, 1), (1, 9), (1, 1)])
def test_random_perspective_leaves_one_row_or_column_as_it_is(size, backend):
    """Its corners are no quadrilateral: no matrix maps them."""
    aug, images = T.Compose([T.RandomPerspective(0.9, p=1.0)], seed=1), put(noise((4, *size, 3)), backend)
    points = np.tile([[0.0, 0.0], [size[1], size[0]]], (4, 1, 1))
    results, moved = aug(images, keypoints=put(points, backend), layout="NHWC")
    assert_equal(results, images, tolerance=EXACT)
    assert_equal(moved, put(points, backend), tolerance=EXACT)


def test_params_from_dict_accepts_matrices_of_nan():
    """RandomPerspective draws finite matrices only. An image that NaN maps is all fill."""
    aug = T.Compose([T.RandomPerspective(1.0, p=1.0)], seed=1)
    params = aug.draw(IMAGES, step=0)
    description = params.to_dict()
    description["matrices"] = [np.full(np.shape(matrix), np.nan).tolist() for matrix in description["matrices"]]
    again = aug.params_from_dict(description, IMAGES)
    assert not aug.apply(IMAGES, again).any()
