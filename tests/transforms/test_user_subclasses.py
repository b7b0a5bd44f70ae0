"""A user's subclasses of `Compose`, of choices and of transforms that define `forward` or `__call__` themselves."""

import copy
import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import data, io
from cuaug import transforms as T


class ForwardOfCompose(T.Compose):
    def forward(self, *inputs, **options):
        return 255 - super().forward(*inputs, **options)


class CallOfCompose(T.Compose):
    def __call__(self, *inputs, **options):
        return 255 - super().__call__(*inputs, **options)


class BothOfCompose(T.Compose):
    def forward(self, *inputs, **options):
        return 255 - super().forward(*inputs, **options)

    def __call__(self, *inputs, **options):
        return super().__call__(*inputs, **options)


class InheritsForward(ForwardOfCompose):
    pass


class CallOfChoice(T.RandomApply):
    def __init__(self, transforms):
        super().__init__(transforms, p=1.0)

    def __call__(self, *inputs, **options):
        return 255 - super().__call__(*inputs, **options)


class CallOfFlip(T.RandomHorizontalFlip):
    def __init__(self, transforms):
        super().__init__(p=1.0)

    def __call__(self, *inputs, **options):
        return 255 - super().__call__(*inputs, **options)


class CallOfTransform(T.Transform):
    def __init__(self, transforms):
        pass

    def __call__(self, image):
        return 255 - T.RandomHorizontalFlip(1.0)(image)


SUBCLASSES = [
    ForwardOfCompose, CallOfCompose, BothOfCompose, InheritsForward, CallOfChoice, CallOfFlip, CallOfTransform,
]  # fmt: skip
PLACES = {
    "alone": lambda transform: transform,
    "Compose": lambda transform: T.Compose([transform]),
    "beside fused": lambda transform: T.Compose([T.RandomInvert(1.0), transform, T.RandomInvert(1.0)]),
    "two levels": lambda transform: T.Compose([T.Compose([transform, T.Identity()])]),
    "RandomApply": lambda transform: T.RandomApply([transform], p=1.0),
    "RandomChoice": lambda transform: T.Compose([T.RandomChoice([transform])]),
    "RandomOrder": lambda transform: T.RandomOrder([T.Identity(), transform]),
    "after": lambda transform: T.Compose([T.Identity(), transform]).after(1),
    "copy": lambda transform: copy.deepcopy(T.Compose([transform])),
    "pickle": lambda transform: pickle.loads(pickle.dumps(T.Compose([transform]))),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cls", SUBCLASSES, ids=lambda cls: cls.__name__)
def test_compose_calls_the_forward_and_call_of_a_subclass(cls, place):
    images = noise((2, 9, 11, 3))
    run = PLACES[place](cls([T.RandomHorizontalFlip(p=1.0)]))
    for _ in range(3):
        assert_equal(run(images), 255 - images[:, :, ::-1])
    tensors = torch.from_numpy(images).permute(0, 3, 1, 2)
    assert_equal(run(tensors), 255 - tensors.flip(-1))


def test_compose_subclass_gets_the_targets_of_a_call_by_position():
    class Swaps(T.Compose):
        def forward(self, image, target):
            image, target = super().forward(image, target)
            return target, image

    images, masks = torch.from_numpy(noise((2, 3, 9, 11))), torch.from_numpy(noise((2, 9, 11)))
    aug = Swaps([T.RandomHorizontalFlip(p=1.0)])
    for results in (aug(images, masks), T.Compose([aug])(images, masks)):
        assert_equal(results[0], masks.flip(-1))
        assert_equal(results[1], images.flip(-1))


@pytest.mark.parametrize("cls", [ForwardOfCompose, CallOfCompose, BothOfCompose, CallOfChoice, CallOfFlip])
def test_compose_subclass_gets_the_options_of_a_call(cls):
    seen = []

    class Sees(cls):
        def forward(self, *inputs, **options):
            seen.append(options)
            return super().forward(*inputs, **options)

    images = noise((2, 3, 9, 11))
    transform = (Sees if issubclass(cls, T.Compose) else cls)([T.RandomHorizontalFlip(p=1.0)])
    result = transform(images, ids=7, step=3, layout="NCHW")
    assert_equal(result, 255 - images[..., ::-1])
    assert seen == [{"ids": 7, "step": 3, "layout": "NCHW"}] * isinstance(transform, T.Compose)


def test_compose_subclass_runs_hooks_of_torch_once():
    events, images = [], torch.from_numpy(noise((3, 9, 11)))
    aug = ForwardOfCompose([T.RandomHorizontalFlip(p=1.0)])
    aug.register_forward_hook(lambda module, inputs, output: events.append(output))
    for number, run in enumerate((aug, T.Compose([aug])), 1):
        assert_equal(run(images), 255 - images.flip(-1))
        assert len(events) == number


def test_compose_subclass_without_methods_of_its_own_is_fused():
    class Named(T.Compose):
        pass

    images = noise((2, 9, 11, 3))
    inner = [T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
    aug = T.Compose([Named(inner), T.RandomInvert()], seed=5)
    assert Named(inner).is_fused
    assert len(aug.plan(images).passes) == 1
    assert_equal(aug(images), T.Compose([*inner, T.RandomInvert()], seed=5)(images))


def test_compose_draws_after_a_subclass_do_not_depend_on_it():
    images = noise((16, 9, 11, 3))
    inner = [T.RandomHorizontalFlip(p=0.0), T.RandomHorizontalFlip(p=0.0)]
    expected = T.Compose([*inner, T.RandomVerticalFlip()], seed=5)(images)
    aug = T.Compose([ForwardOfCompose(inner), T.RandomVerticalFlip()], seed=5)
    assert_equal(aug(images), 255 - expected)


def test_compose_check_show_and_plan_refuse_a_forward_of_a_subclass():
    images = noise((2, 9, 11, 3))
    aug = ForwardOfCompose([T.RandomHorizontalFlip()])
    for call in (aug.check, aug.show, aug.plan):
        with pytest.raises(ValueError, match=r"ForwardOfCompose has a forward of its own: check, show and plan take"):
            call(images)
        with pytest.raises(ValueError, match=r"Compose.*: ForwardOfCompose is not fused with other transforms: draw"):
            getattr(T.Compose([aug]), call.__name__)(images)


def test_compose_draw_and_apply_ignore_the_forward_of_a_subclass():
    images, aug = noise((2, 9, 11, 3)), ForwardOfCompose([T.RandomHorizontalFlip()])
    assert_equal(aug.apply(images, aug.draw(images, step=0)), 255 - aug(images, step=0))


class NegativeCrop(T.RandomResizedCrop):
    def forward(self, *inputs):
        images = super().forward(*inputs)
        return [255 - image for image in images] if isinstance(images, list) else 255 - images


class NegativeCenter(T.CenterCrop):
    def forward(self, *inputs):
        return 255 - super().forward(*inputs)


@pytest.mark.jpeg
@pytest.mark.parametrize(
    "recipe",
    [
        [NegativeCrop((8, 8), scale=(1.0, 1.0), ratio=(1.0, 1.0))],
        [T.Resize(8), NegativeCenter(8)],
        [ForwardOfCompose([T.Resize((8, 8))])],
        ForwardOfCompose([T.Resize((8, 8))]),
    ],
    ids=["crop", "second", "Compose in a list", "Compose"],
)
def test_collate_runs_the_forward_of_a_subclass(recipe):
    source = data.ImageFiles([io.encode_jpeg(np.full((32, 32, 3), 250, np.uint8))] * 2)
    collate = data.Collate(recipe)
    collate.set_epoch(0)
    images = collate([source[0], source[1]]).images
    assert tuple(images.shape[-2:]) == (8, 8)
    assert int(images.max()) < 9


class ForwardWithOptions(T.Compose):
    def forward(self, *inputs, **options):
        return super().forward(*inputs, **options)


def with_hook(transforms, seed):
    recipe = T.Compose(transforms, seed)
    recipe.register_forward_hook(lambda module, inputs, output: None)
    return recipe


class ForwardWithoutOptions(T.Compose):
    def forward(self, *inputs):
        return super().forward(*inputs)


class ForwardOfFlip(T.RandomHorizontalFlip):
    def __init__(self, transforms, seed):
        super().__init__(p=1.0)

    def forward(self, *inputs):
        return super().forward(*inputs)


def inside(cls):
    return lambda transforms, seed: T.Compose([T.Identity(), cls(transforms, seed)])


FACTORIES = {
    "forward with options": ForwardWithOptions,
    "hook": with_hook,
    "forward with options, inside": inside(ForwardWithOptions),
    "hook, inside": inside(with_hook),
    "forward without options, inside": inside(ForwardWithoutOptions),
    "forward of a flip, inside": inside(ForwardOfFlip),
    "forward without options": ForwardWithoutOptions,
}


@pytest.mark.parametrize("make_recipe", FACTORIES.values(), ids=FACTORIES)
@pytest.mark.parametrize(
    "targets",
    [
        {"masks": torch.arange(96).reshape(2, 6, 8)},
        {"boxes": torch.tensor([[[1.0, 2, 4, 6]]] * 2)},
        {"keypoints": torch.tensor([[[1.0, 2]]] * 2)},
        {"labels": torch.tensor([3, 4])},
        {"boxes": torch.tensor([[[1.0, 2, 4, 6]]] * 2), "labels": torch.tensor([3, 4])},
        {"masks": [{"boxes": torch.tensor([[1.0, 2, 4, 6]])}] * 2},
    ],
    ids=", ".join,
)
def test_compose_subclass_and_hooks_get_targets_by_name(make_recipe, targets):
    images, transforms = torch.from_numpy(noise((2, 3, 6, 8))), [T.RandomHorizontalFlip(1.0)]
    results, expected = (recipe(images, **targets) for recipe in (make_recipe(transforms, 5), T.Compose(transforms, 5)))
    assert len(results) == len(expected)
    for result, expected_result in zip(results, expected, strict=True):
        if isinstance(expected_result, list):
            result, expected_result = result[1]["boxes"], expected_result[1]["boxes"]
        assert_equal(result, expected_result)


def test_compose_subclass_gets_targets_under_names_of_its_own_by_position():
    class Target(T.Compose):
        def forward(self, image, target):
            return super().forward(image), target

    images, labels = torch.from_numpy(noise((2, 3, 6, 8))), torch.tensor([3, 4])
    aug = Target([T.RandomHorizontalFlip(1.0)])
    for run in (aug, T.Compose([aug])):
        for results in (run(images, labels), run(images, labels=labels)):
            assert_equal(results[0], images.flip(-1))
            assert results[1] is labels
    boxes = torch.tensor([[[1.0, 2, 4, 6]]] * 2)
    with pytest.raises(TypeError, match=r"Target.forward\(\) got an unexpected keyword argument 'boxes'"):
        aug(images, boxes=boxes, labels=labels)
    with pytest.raises(TypeError, match=r"Target is not fused: .* by position only, got boxes=, labels="):
        T.Compose([aug])(images, boxes=boxes, labels=labels)
