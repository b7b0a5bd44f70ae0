"""Transforms of users and functions in a recipe: they run on whole samples, between its fused parts."""

import collections
import copy
import json
import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T

SHAPE = (4, 9, 11, 3)
BEFORE, AFTER = [T.RandomHorizontalFlip(), T.RandomCrop(7)], [T.RandomInvert(), T.RandomAffine(20, fill=3)]


class Halve(T.Transform):
    """Halves each target, and counts the calls of each method."""

    transformed_kinds = ("images", "masks", "boxes", "keypoints")

    def __init__(self, by=2):
        super().__init__()
        self.by = by
        self.calls = collections.Counter()

    def check_inputs(self, flat_inputs):
        self.calls["check_inputs"] += 1

    def make_params(self, flat_inputs):
        self.calls["make_params"] += 1
        return {"by": self.by, "shapes": [tuple(np.shape(value)) for value in flat_inputs]}

    def transform(self, inpt, params):
        self.calls["transform"] += 1
        assert tuple(np.shape(inpt)) in params["shapes"]
        return inpt // params["by"]


class Pair(T.Transform):
    """Takes the arguments of a call by position, as a transform of torchvision may."""

    def forward(self, images, masks, boxes):
        return images + 1, masks + 2, boxes + 3


def halve(images):
    return images // 2


def call_by_hand(images, seed, step, ids):
    """The parts of `[*BEFORE, halve, *AFTER]`, one after the other."""
    before = T.Compose(BEFORE, seed=seed)(images, step=step, ids=ids)
    after = T.Compose([*BEFORE, T.Identity(), *AFTER], seed=seed).after(len(BEFORE) + 1)
    return after(before // 2, step=step, ids=ids)


@pytest.mark.parametrize("between", [halve, Halve(), lambda images: images // 2], ids=["function", "class", "lambda"])
@pytest.mark.parametrize("ids", [None, 5, np.array([3, 9, 1, 2])], ids=["none", "first", "all"])
def test_compose_parts_draw_as_one_recipe(between, ids):
    aug = T.Compose([*BEFORE, between, *AFTER], seed=11)
    for step in range(3):
        images = noise(SHAPE, seed=step)
        result = aug(images, ids=ids)
        assert_equal(result, call_by_hand(images, 11, step, ids))
        assert_equal(aug(images, ids=ids, step=step), result)
    assert aug.state_dict() == {"seed": 11, "step": 3}


@pytest.mark.parametrize(
    "transforms", [[halve], [halve, halve], [halve, *AFTER], [*BEFORE, halve], [halve, T.Identity(), halve]]
)
def test_compose_parts_may_be_at_any_position(transforms):
    images, expected = noise(SHAPE), noise(SHAPE)
    for position, transform in enumerate(transforms):
        if transform is halve:
            expected = expected // 2
        else:
            inner = [T.Identity()] * position + [transform]
            expected = T.Compose(inner, seed=2).after(position)(expected, step=0)
    assert_equal(T.Compose(transforms, seed=2)(images), expected)


def test_transform_of_user_gets_each_target_once_per_call():
    between = Halve()
    sample = {
        "image": noise((9, 11, 3)),
        "mask": noise((9, 11)),
        "target": {"boxes": np.array([[2, 2, 8, 8]]), "labels": np.array([7])},
        "name": "a.jpg",
    }
    result = T.Compose([T.RandomHorizontalFlip(p=1.0), between], seed=0)(sample)
    expected = T.RandomHorizontalFlip(p=1.0)(sample)
    assert_equal(result["image"], expected["image"] // 2)
    assert_equal(result["mask"], expected["mask"] // 2)
    assert_equal(result["target"]["boxes"], expected["target"]["boxes"] // 2)
    assert_equal(result["target"]["labels"], np.array([7]))
    assert result["name"] == "a.jpg"
    assert between.calls == {"check_inputs": 1, "make_params": 1, "transform": 3}


def test_transform_of_user_gets_plain_masks_and_boxes_only_if_it_names_their_kinds():
    class Negative(T.Transform):
        def transform(self, inpt, params):
            return -inpt

    image, mask, boxes = noise((9, 11, 3)), noise((9, 11)), np.array([[2, 2, 8, 8]])
    result = Negative()({"image": image, "mask": mask, "boxes": boxes, "labels": np.array([7])})
    assert_equal(result["image"], -image)
    assert_equal(result["mask"], mask)
    assert_equal(result["boxes"], boxes)


def test_transform_of_user_gets_each_image_of_a_list():
    images = [noise((5, 6, 3), seed=1), noise((7, 4, 3), seed=2)]
    between = Halve()
    for result, image in zip(between((images, [0, 1]))[0], images, strict=True):
        assert_equal(result, image // 2)
    assert between.calls["transform"] == 2


def test_transform_of_user_may_return_any_object_for_a_target():
    class Wrap(T.Transform):
        transformed_kinds = ("images",)

        def transform(self, inpt, params):
            return {"pixels": inpt}

    result = Wrap()({"image": noise((5, 6, 3)), "mask": noise((5, 6))})
    assert_equal(result["image"]["pixels"], noise((5, 6, 3)))
    assert_equal(result["mask"], noise((5, 6)))


def test_transform_of_user_gets_images_of_pillow():
    image_module = pytest.importorskip("PIL.Image")
    image = image_module.fromarray(noise((5, 6, 3)))

    class Mode(T.Transform):
        def transform(self, inpt, params):
            return inpt.mode

    assert T.Compose([Mode()])((image, 3)) == ("RGB", 3)


def test_compose_gives_forward_the_arguments_of_the_call():
    images, masks, boxes = noise(SHAPE), noise(SHAPE[:3]), np.ones((4, 1, 4), np.float32)
    results = T.Compose([Pair(), T.RandomVerticalFlip(p=1.0)], seed=0)(images, masks, boxes)
    expected = T.Compose([T.Identity(), T.RandomVerticalFlip(p=1.0)], seed=0)(images + 1, masks + 2, boxes + 3)
    assert isinstance(results, tuple)
    for result, array in zip(results[:2], expected[:2], strict=True):
        assert_equal(result, array)
    assert_equal(results[2], expected[2])


def test_compose_runs_modules_of_torch():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(torch.tensor(0.5))

        def forward(self, images):
            return images * self.factor

    images = torch.from_numpy(noise((2, 3, 5, 6), "float32"))
    aug = T.Compose([T.RandomHorizontalFlip(p=1.0), Scale()], seed=0)
    result = aug(images)
    assert_equal(result.detach().numpy(), images.flip(-1).numpy() / 2)
    result.sum().backward()
    assert aug.transforms[1].function.factor.grad is not None


def test_transform_of_user_is_module_of_torch():
    between = Halve()
    assert isinstance(between, torch.nn.Module)
    assert_equal(between.forward(noise(SHAPE)), noise(SHAPE) // 2)
    assert_equal(torch.nn.Sequential(between, between)(noise(SHAPE)), noise(SHAPE) // 4)
    fused = T.RandomHorizontalFlip(p=1.0)
    assert_equal(fused.forward(noise(SHAPE)), noise(SHAPE)[:, :, ::-1])


@pytest.mark.parametrize(
    "copy_recipe", [copy.deepcopy, lambda aug: pickle.loads(pickle.dumps(aug))], ids=["copy", "pickle"]
)
def test_compose_copy_of_parts_draws_the_same(copy_recipe):
    aug = T.Compose([*BEFORE, Halve(), *AFTER], seed=4)
    aug(noise(SHAPE))
    assert_equal(copy_recipe(aug)(noise(SHAPE)), aug(noise(SHAPE)))


def test_compose_after_keeps_positions_of_parts():
    aug = T.Compose([*BEFORE, halve, *AFTER], seed=4)
    rest = aug.after(1)
    assert rest.first_position == 1
    first = T.Compose(BEFORE[:1], seed=4)(noise(SHAPE), step=0)
    assert_equal(rest(first, step=0), aug(noise(SHAPE), step=0))


def test_compose_in_compose_is_taken_apart():
    aug = T.Compose([T.Compose([*BEFORE, halve]), T.Compose(AFTER)], seed=3)
    assert_equal(aug(noise(SHAPE)), call_by_hand(noise(SHAPE), 3, 0, None))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: T.Compose([3]),
            r"^cuaug.transforms.Compose: every transform must be a transform or a function, got 3$",
        ),
        (
            lambda: T.Compose([T.RandomInvert]),
            r"^cuaug.transforms.Compose: every transform must be an object, got the class RandomInvert: call it$",
        ),
        (
            lambda: T.Compose([T.RandomApply([halve])]).plan(noise(SHAPE)),
            r"^cuaug.transforms.Compose.plan: RandomApply is not fused with other",
        ),
        (
            lambda: T.Compose([halve]).plan(noise(SHAPE)),
            r"^cuaug.transforms.Compose.plan: halve is not fused with other",
        ),
        (lambda: T.Compose([halve, *AFTER]).draw(noise(SHAPE)), r"^cuaug.transforms.Compose.draw: halve is not fused"),
        (lambda: T.Compose([halve]).show(noise(SHAPE)), r"^cuaug.transforms.Compose.show: halve is not fused"),
        (lambda: T.Compose([halve]).check(noise(SHAPE)), r"^cuaug.transforms.Compose.check: halve is not fused"),
        (lambda: T.Compose([halve]).to_dict(), r"^cuaug.transforms.Compose.to_dict: transforms must not be functions"),
        (lambda: T.from_dict({"name": "Halve"}), r"name must be that of a transform, got 'Halve'"),
        (
            lambda: T.from_dict({"name": "SampleFunction", "function": "len"}),
            r"must be that of a transform, got 'Sample",
        ),
        (lambda: T.from_dict({"name": "Lambda", "lambd": "len"}), r"Lambda: lambd must be a function, got 'len'$"),
        (lambda: T.Transform()(noise(SHAPE)), r"Transform must define transform or forward"),
    ],
)
def test_parts_error_says_what_to_do(call, message):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        call()


def test_transform_that_is_not_fused_refuses_arguments_by_name():
    for name, value in {"layout": "NHWC", "ids": 3, "step": 1, "masks": noise(SHAPE[:3])}.items():
        message = rf" is not fused: it takes the sample, or its targets, by position only, got {name}=$"
        with pytest.raises(TypeError, match=f"^cuaug.transforms.Lambda: Lambda{message}"):
            T.Lambda(halve)(noise(SHAPE), **{name: value})
        with pytest.raises(TypeError, match=f"^Halve{message}"):
            Halve()(noise(SHAPE), **{name: value})


@pytest.mark.parametrize("transforms", [BEFORE, [halve], [*BEFORE, halve, *AFTER]], ids=["fused", "function", "both"])
def test_compose_forward_is_a_call(transforms):
    aug, expected = T.Compose(transforms, seed=5), T.Compose(transforms, seed=5)
    for _ in range(2):
        assert_equal(aug.forward(noise(SHAPE)), expected(noise(SHAPE)))


@pytest.mark.parametrize("transforms", [BEFORE, [*BEFORE, halve], [halve, *BEFORE]], ids=["fused", "before", "after"])
def test_compose_refused_call_is_not_counted(transforms):
    aug = T.Compose(transforms, seed=5)
    for refused in (noise(SHAPE).astype(np.complex64), noise((4, 3, 3, 3)), {"name": "a.jpg"}):
        with pytest.raises((TypeError, ValueError)):
            aug(refused)
    assert aug.state_dict()["step"] == 0
    aug(noise(SHAPE))
    assert aug.state_dict()["step"] == 1


def test_error_of_user_class_has_no_name_of_cuaug():
    class Resize(T.Transform):
        def transform(self, inpt, params):
            raise ValueError("mine")

    class RandomCrop(T.RandomCrop):
        pass

    with pytest.raises(ValueError, match=r"^mine$"):
        Resize()(noise(SHAPE))
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose: RandomCrop: "):
        RandomCrop(30)(noise(SHAPE))
    with pytest.raises(ValueError, match=r"^cuaug.transforms.RandomCrop: (?!RandomCrop)"):
        T.RandomCrop(30)(noise(SHAPE))


def test_compose_check_refuses_before_it_runs():
    calls = []
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose.check: append is not fused"):
        T.Compose([calls.append]).check(noise(SHAPE))
    assert not calls
    with pytest.raises(TypeError, match=r"^cuaug.transforms.Compose.check: Compose.check\(\) got .* argument 'foo'"):
        T.Compose(BEFORE).check(noise(SHAPE), foo=3)


def test_transform_of_user_is_described_by_its_arguments():
    assert json.dumps(Halve(3).to_dict()) == '{"name": "Halve", "by": 3}'
    assert repr(Halve(3)) == "Halve(by=3)"


@pytest.mark.parametrize("error_type", [ZeroDivisionError, OverflowError])
def test_error_of_a_function_keeps_its_type_and_traceback(error_type):
    def fail(images):
        raise error_type("mine")

    with pytest.raises(error_type, match=r"^mine$") as error:
        T.Compose([*BEFORE, fail])(noise(SHAPE))
    assert error.traceback[-1].name == "fail"


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (lambda images, labels: images, "Tensor"),
        (lambda images, labels: {"images": images, "labels": labels}, "dict"),
        (lambda images, labels: (images, labels, 1), "a tuple of 3"),
        (lambda images, labels: None, "NoneType"),
    ],
)
def test_function_with_several_arguments_must_return_as_many(result, got):
    recipe = T.Compose([result, T.RandomHorizontalFlip(1.0)])
    expected = f"Compose: <lambda> must return a tuple of 2, as it is called with images, labels, got {got}"
    with pytest.raises(TypeError, match=expected):
        recipe(torch.from_numpy(noise((2, 3, 9, 11))), torch.arange(2))
