"""Attributes of transforms, assigned after the constructor: this takes effect until a call reads them, then raises."""

import copy
import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal
from tables.transforms import INSTANCES, SAMPLE_ROWS

from cuaug import transforms as T
from cuaug.transforms import assigned_attributes

SHAPE = (2, 9, 11, 3)
UNFUSED = {
    "RandomApply": (lambda: T.RandomApply([T.Lambda(lambda x: 255 - x)], p=1.0), "p", 0.0),
    "RandomChoice": (lambda: T.RandomChoice([T.Lambda(lambda x: 255 - x), T.Identity()], p=[1, 0]), "p", [0, 1]),
    "RandomResize": (lambda: T.RandomResize(4, 16), "max_size", 5),
    "RandomResize, min_size": (lambda: T.RandomResize(4, 6), "min_size", 5),
    "RandomZoomOut": (lambda: T.RandomZoomOut(side_range=(3, 3), p=1.0), "p", 0.0),
    "RandomZoomOut, side_range": (lambda: T.RandomZoomOut(side_range=(3, 3), p=1.0), "side_range", (1.0, 1.0)),
    "RandomZoomOut, fill": (lambda: T.RandomZoomOut(side_range=(3, 3), p=1.0), "fill", 9),
    "ScaleJitter": (lambda: T.ScaleJitter((9, 9), scale_range=(1, 1)), "scale_range", (2.0, 2.0)),
    "RandomShortestSize": (lambda: T.RandomShortestSize([8]), "min_size", [4]),
    "PadBatch": (lambda: T.PadBatch(16), "fill", 9),
    "PadBatch, size": (lambda: T.PadBatch(16), "size", (20, 20)),
}

ALL = [*INSTANCES.values(), *(row.instance for row in SAMPLE_ROWS)]
TRANSFORMS = [entry for entry in ALL if isinstance(entry, T.Transform)]


def result_lists(recipe):
    return [np.asarray(image).tolist() for image in recipe(noise(SHAPE), step=1)]


@pytest.mark.parametrize("is_inside", [False, True], ids=["in the recipe", "in a choice"])
@pytest.mark.parametrize("name", UNFUSED)
def test_transform_attributes_take_effect_until_a_call_has_read_them(name, is_inside):
    new, attribute, value = UNFUSED[name]
    recipe = T.Compose([T.RandomApply([new()], p=1.0) if is_inside else new()], seed=3)

    def transform_of(recipe):
        (entry,) = recipe.transforms
        return entry.transforms[0] if is_inside else entry

    transform, unused_copy = transform_of(recipe), copy.deepcopy(recipe)
    result = result_lists(recipe)
    with pytest.raises(AttributeError, match=rf"{type(transform).__name__}.{attribute} must not change, as calls"):
        setattr(transform, attribute, value)
    assert result_lists(recipe) == result
    expected = new()
    setattr(expected, attribute, value)
    expected = T.Compose([T.RandomApply([expected], p=1.0) if is_inside else expected], seed=3)
    for copied in (unused_copy, copy.deepcopy(recipe)):
        setattr(transform_of(copied), attribute, value)
        assert result_lists(copied) == result_lists(expected) != result


def test_transform_attributes_that_a_subclass_has_read_cannot_change():
    class Twice(T.RandomHorizontalFlip):
        def __init__(self, p, times):
            super().__init__(p)
            self.times = times

        def forward(self, *inputs):
            for _ in range(self.times):
                inputs = (super().forward(*inputs),)
            return inputs[0]

    images, transform = noise((9, 11, 3)), Twice(1.0, 2)
    assert_equal(transform(images), images)
    transform.times = 1
    assert_equal(transform(images), images[:, ::-1])
    with pytest.raises(AttributeError, match=r"Twice.p must not change, as calls no longer read it: use"):
        transform.p = 0.0
    copied = copy.deepcopy(transform)
    copied.p = 0.0
    assert_equal(copied(images), images)


def test_compose_options_may_be_assigned_before_the_first_call():
    images, boxes = noise((1, 9, 11, 3)), np.array([[[1.0, 2, 4, 6]]])
    recipe = T.Compose([T.RandomHorizontalFlip(1.0)], seed=3)
    recipe.boxes = T.Boxes("XYWH")
    assert_equal(recipe(images, boxes=boxes)[1], np.array([[[6.0, 2, 4, 6]]]))
    with pytest.raises(
        AttributeError, match=r"Compose.boxes must .* read it: use a new Compose\(\.\.\., boxes=\.\.\.\) in"
    ):
        recipe.boxes = T.Boxes()
    copied = copy.deepcopy(recipe)
    copied.boxes = T.Boxes()
    assert_equal(copied(images, boxes=boxes)[1], np.array([[[7.0, 2, 10, 6]]]))


def test_transform_attributes_of_a_subclass_with_another_constructor_cannot_change_after_a_call():
    class Often(T.RandomHorizontalFlip):
        def __init__(self, probability):
            super().__init__(probability)

    images, transform = noise((9, 11, 3)), Often(1.0)
    assert_equal(transform(images), images[:, ::-1])
    with pytest.raises(AttributeError, match=r"Often.p must not change, as calls no longer read it"):
        transform.p = 0.0


@pytest.mark.parametrize("method", ["insert", "assign", "function", "inner", "inner of RandomApply"])
def test_compose_transforms_may_change_after_a_call(method):
    images, inner = noise((2, 9, 11, 3)), T.Compose([T.Identity()])
    choice = T.RandomApply([T.Identity()], p=1.0)
    recipe = T.Compose([T.RandomHorizontalFlip(1.0), inner, choice], seed=0)
    flip = T.RandomVerticalFlip(1.0)
    for _ in range(3):
        assert np.array_equal(recipe(images), images[:, :, ::-1])
    if method == "insert":
        recipe.transforms.insert(0, flip)
    elif method == "assign":
        recipe.transforms = (recipe.transforms[0], flip)
    elif method == "function":
        recipe.transforms.append(lambda batch: batch[:, ::-1].copy())
    else:
        (inner if method == "inner" else choice).transforms.append(flip)
    for copied in (recipe, copy.deepcopy(recipe), recipe):
        assert np.array_equal(copied(images), images[:, ::-1, ::-1])
    recipe.transforms[:] = [T.Identity()]
    assert np.array_equal(recipe(images), images)
    assert len(recipe.plan(images).passes) == 1


def test_compose_transforms_are_compared_by_identity():
    class Equal(T.RandomSolarize):
        def __eq__(self, other):
            return True

        __hash__ = None

    images = noise((2, 9, 11, 3))
    recipe = T.Compose([T.RandomApply([Equal(255, 0.0)], p=1.0), Equal(255, 0.0)])
    assert_equal(recipe(images), images)
    recipe.transforms[1] = T.RandomInvert(1.0)
    assert_equal(recipe(images), 255 - images)
    recipe.transforms[0].transforms[0] = T.RandomInvert(1.0)
    assert_equal(recipe(images), images)


def test_compose_transforms_may_be_a_list_that_the_user_keeps():
    images, recipe, transforms = noise((2, 9, 11, 3)), T.Compose([]), [T.RandomInvert(1.0)]
    recipe.transforms = transforms
    assert_equal(recipe(images), 255 - images)
    transforms.append(T.RandomHorizontalFlip(1.0))
    assert_equal(recipe(images), 255 - images[:, :, ::-1])


@pytest.mark.parametrize(
    ("transform", "attribute", "value", "message"),
    [
        (T.Compose([]), "transforms", 5, "Compose: transforms must be a list of transforms, got int"),
        (T.RandomApply([abs]), "transforms", T.Pad, "RandomApply: transforms must be a list of transforms, got the c"),
        (T.RandomChoice([abs]), "transforms", [T.Pad], "RandomChoice: every transform must be an object, got the cl"),
        (T.Pad(1), "fill", {"images": "x"}, "Pad: fill must be a number or one per channel, got 'x'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_transform_errors_of_assigned_values_name_the_transform(transform, attribute, value, message):
    with pytest.raises(TypeError, match=rf"^cuaug\.transforms\.{message}"):
        setattr(transform, attribute, value)


@pytest.mark.parametrize(
    ("new", "attribute", "value", "stored"),
    [
        (lambda: T.RandomCrop(8), "size", 4, (4, 4)),
        (lambda: T.RandomRotation(8), "degrees", 30, (-30.0, 30.0)),
        (lambda: T.ToDtype("float32"), "dtype", torch.float16, "float16"),
        (lambda: T.PadBatch(16), "size", 20, (20, 20)),
        (lambda: T.RandomShortestSize([8]), "min_size", 4, [4]),
        (lambda: T.RandomChoice([abs, T.Identity()]), "p", (0, 1), [0.0, 1.0]),
    ],
)
def test_transform_attributes_may_be_assigned_in_every_form_of_the_constructor(new, attribute, value, stored):
    transform = new()
    setattr(transform, attribute, value)
    T.Compose([transform])(noise((2, 9, 11, 3)).astype(np.float32))
    assert getattr(transform, attribute) == stored or tuple(getattr(transform, attribute)) == tuple(stored)


@pytest.mark.parametrize(
    ("new", "attribute", "value", "message"),
    [
        (T.RandomHorizontalFlip, "p", 7, r"RandomHorizontalFlip: p must be in 0\.0\.\.1\.0, got 7"),
        (lambda: T.GaussianBlur(5), "sigma", (3, 1), r"GaussianBlur: sigma must be \(low, high\), got \(3, 1\)"),
        (T.RandomZoomOut, "side_range", (4, 1), r"RandomZoomOut: side_range must be \(low, high\), got \(4, 1\)"),
        (T.PadBatch, "size_divisor", 0, "PadBatch: size_divisor must be at least 1, got 0"),
        (lambda: T.RandomApply([abs]), "p", -1, r"RandomApply: p must be in 0\.0\.\.1\.0, got -1"),
    ],
)
def test_transform_rejects_assigned_values_that_the_constructor_rejects(new, attribute, value, message):
    transform, images = new(), noise((2, 9, 11, 3))
    setattr(transform, attribute, value)
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.Compose: {message}"):
            T.Compose([transform])(images)
        with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.{message}"):
            transform(images)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.title)
def test_transform_attributes_assigned_their_own_values_stay_as_they_are(transform):
    copied = copy.deepcopy(transform)
    for name in copied._init_arguments().keys() & vars(copied).keys():
        setattr(copied, name, getattr(copied, name))
    assigned_attributes.read(copied)
    assert repr(copied) == repr(transform)


def test_compose_rejects_assigned_options_that_the_constructor_rejects():
    recipe = T.Compose([])
    with pytest.raises(TypeError, match=r"^cuaug\.transforms\.Compose: boxes must be Boxes\(\.\.\.\), got 'XYWH'"):
        recipe.boxes = "XYWH"
    recipe.keypoints = None
    assert recipe.keypoints == T.Keypoints()


def test_transform_attributes_that_a_plan_has_read_cannot_change():
    images, transform = noise((9, 11, 3)), T.RandomHorizontalFlip(0.0)
    transform.p = 1.0
    assert np.array_equal(transform(images), images[:, ::-1])
    with pytest.raises(AttributeError, match=r"RandomHorizontalFlip.p must not change, as calls no longer read it"):
        transform.p = 0.0
    transform.training = False
    copied = copy.deepcopy(transform)
    copied.p = 0.0
    assert np.array_equal(copied(images), images)
    recipe = T.Compose([T.CenterCrop(3)], seed=0)
    recipe(images)
    with pytest.raises(AttributeError, match=r"Compose.boxes must not change"):
        recipe.boxes = T.Boxes(min_area=2)
    recipe.seed = 4
    crop = T.FiveCrop(3)
    crop(images)
    crop.size = (2, 2)  # not fused: read in each call
    assert crop(images)[0].shape == (2, 2, 3)


@pytest.mark.parametrize(
    "value", [np.float32(3), np.array(3), np.array([3]), [np.int64(3)] * 3, np.array([3, 3, 3])], ids=repr
)
def test_random_erasing_value_may_be_assigned_in_every_form_of_the_constructor(value):
    images, transform = noise((9, 11, 3)), T.RandomErasing(1.0)
    transform.value = value
    assert_equal(T.Compose([transform], seed=1)(images), T.Compose([T.RandomErasing(1.0, value=3)], seed=1)(images))


@pytest.mark.parametrize("value", [None, {1, 2, 3}, b"123"], ids=repr)
def test_random_erasing_rejects_an_assigned_value_that_is_no_number(value):
    transform = T.RandomErasing(1.0)
    transform.value = value
    with pytest.raises(TypeError, match=r"cuaug\.transforms\.RandomErasing: value must be a finite number, got"):
        transform(noise((9, 11, 3)))


def test_pixel_op_ranges_take_effect_until_a_call_has_read_them():
    image, fade = np.full((1, 1, 1), 100, np.uint8), T.PixelOp("Fade", "px * k", k=0.5)
    fade.ranges = {"k": 0.25}
    assert fade(image).item() == 25
    with pytest.raises(AttributeError, match=r"Fade.ranges must not change, as calls no longer read it"):
        fade.ranges = {"k": 1.0}
    with pytest.raises(TypeError, match="mappingproxy"):
        fade.ranges["k"] = 1.0
    assert (fade(image).item(), fade.ranges) == (25, {"k": 0.25})
    copied = pickle.loads(pickle.dumps(copy.deepcopy(fade)))
    copied.ranges["k"] = 1.0
    assert (copied(image).item(), copied.to_dict()["k"]) == (100, 1.0)


@pytest.mark.parametrize(
    ("new", "attribute"),
    [
        (lambda: T.RandomChoice([T.Identity(), T.RandomInvert(1.0)], [0, 1]), "p"),
        (lambda: T.RandomShortestSize([4, 8]), "min_size"),
        (lambda: T.RandomIoUCrop(sampler_options=[0.5, 0.7]), "sampler_options"),
    ],
)
def test_transform_attributes_with_several_numbers_are_tuples(new, attribute):
    transform = new()
    assert isinstance(getattr(transform, attribute), tuple)
    assert repr(T.from_dict(transform.to_dict())) == repr(pickle.loads(pickle.dumps(transform))) == repr(transform)


def test_random_choice_rejects_a_changed_list_that_its_weights_do_not_fit():
    images = np.zeros((4, 1, 1, 1), np.uint8)
    for change in (lambda entries: entries.pop(0), lambda entries: entries.append(T.Identity())):
        choice = T.RandomChoice([T.Identity(), T.RandomInvert(1.0)], p=[0, 1])
        change(choice.transforms)
        with pytest.raises(ValueError, match=r"RandomChoice: p must be one weight for each of the \d transforms"):
            T.Compose([choice], seed=0)(images)
    choice = T.RandomChoice([T.Identity(), T.RandomInvert(1.0)])
    choice.p = [0, 0]
    with pytest.raises(ValueError, match="p must be one weight for each of the 2 transforms, and one of them above 0"):
        choice(images)
    choice = T.RandomChoice([T.Identity(), T.RandomInvert(1.0)], p=[0, 1])
    choice.transforms.reverse()
    assert_equal(T.Compose([choice], seed=0)(images), images)


@pytest.mark.parametrize("cls", [T.RandomApply, T.RandomChoice, T.RandomOrder, T.Compose])
def test_choice_with_an_emptied_list_changes_nothing(cls):
    images, transform = noise((4, 9, 11, 3)), cls([T.RandomInvert(1.0)])
    transform.transforms.clear()
    assert_equal(T.Compose([transform], seed=0)(images), images)


class TransformsAttribute(T.Transform):
    """Has an attribute `transforms`, which only this class uses."""

    def __init__(self, transforms):
        self.transforms = transforms

    def transform(self, inpt, params):
        return 255 - inpt


@pytest.mark.parametrize("make", [lambda: None, lambda: ["flip"], lambda: {"a": 1}, lambda: [len], lambda: 5])
def test_transform_attribute_named_transforms_is_not_read(make):
    images, transform, transforms = noise((4, 9, 11, 3)), TransformsAttribute(make()), make()
    for recipe in (transform, T.Compose([transform]), T.Compose([T.RandomApply([transform], p=1.0)])):
        assert_equal(recipe(images), 255 - images)
        assert transform.transforms == transforms


@pytest.mark.parametrize("make", [lambda: T.RandomHorizontalFlip(), lambda: T.RandomApply([T.RandomInvert()])])
def test_attribute_with_a_refused_value_may_be_assigned_again(make):
    transform, image = make(), noise((1, 9, 8, 3))
    transform.p = 2.0
    for _ in range(2):
        with pytest.raises(ValueError, match="p must be"):
            transform(image)
    transform.p = 1.0
    assert transform(image).shape == image.shape
    with pytest.raises(AttributeError, match="p must not change"):
        transform.p = 0.5


def test_ranges_of_a_pixel_op_become_what_the_constructor_makes_of_them():
    op = T.PixelOp("FadeByRange", "px*k", k=1.0)
    op.ranges = {"k": [0.5, 0.5]}
    assert_equal(op(np.full((1, 2, 2, 1), 100, np.uint8)), np.full((1, 2, 2, 1), 50, np.uint8))
    assert op.ranges == {"k": (0.5, 0.5)}
