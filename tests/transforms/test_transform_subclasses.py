"""A user's subclasses of cuaug's transforms that define `transform`, `make_params` or `forward` themselves."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise

from cuaug import transforms as T

SHAPE = (4, 9, 11, 3)


class Zero(T.RandomHorizontalFlip):
    def transform(self, inpt, params):
        return inpt * int(self.p - 1)  # 0, because the base has set p to 1.0


class Logged(T.RandomHorizontalFlip):
    def forward(self, images):
        return super().forward(images), "logged"


class Angle(T.RandomRotation):
    def make_params(self, flat_inputs):
        return {"angle": 90.0}


@pytest.mark.parametrize("in_recipe", [False, True])
def test_subclass_of_a_fused_transform_runs_its_own_methods(in_recipe):
    def run(transform):
        return (T.Compose([transform]) if in_recipe else transform)(torch.from_numpy(noise((3, 9, 11))))

    assert int(run(Zero(1.0)).sum()) == 0
    for _ in range(2):
        result, text = run(Logged(1.0))
        assert np.array_equal(result, noise((3, 9, 11))[:, :, ::-1])
        assert text == "logged"
    with pytest.raises(TypeError, match=r"Angle: RandomRotation has no transform, because a recipe draws its"):
        run(Angle(0))


class CallsTransform(T.RandomHorizontalFlip):
    def transform(self, inpt, params):
        return super().transform(inpt, params)


class CallsMakeParams(T.RandomHorizontalFlip):
    def make_params(self, flat_inputs):
        return super().make_params(flat_inputs)

    def transform(self, inpt, params):
        return inpt


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: CallsTransform(1.0)(noise(SHAPE)), "CallsTransform: RandomHorizontalFlip has no transform"),
        (lambda: CallsMakeParams()(noise(SHAPE)), "CallsMakeParams: RandomHorizontalFlip has no make_params"),
        (lambda: T.RandomCrop(3).make_params([noise(SHAPE)]), "RandomCrop: RandomCrop has no make_params"),
        (lambda: T.RandomResize(3, 9).make_params([]), "RandomResize: RandomResize has no make_params"),
        (lambda: T.RandomApply([T.Identity()]).transform([], {}), "RandomApply: RandomApply has no transform"),
    ],
)
def test_transform_that_a_recipe_runs_has_neither_transform_nor_make_params(call, fact):
    with pytest.raises(TypeError, match=rf"^{fact}, because a recipe draws .* whose super\(\).forward\(\*inputs\)"):
        call()


@pytest.mark.parametrize("in_recipe", [False, True])
@pytest.mark.parametrize("base", [T.RandomResize, T.RandomApply, T.PadBatch], ids=lambda base: base.__name__)
def test_subclass_of_random_resize_random_apply_pad_batch_runs_its_own_methods(base, in_recipe):
    class Same(base):
        def transform(self, inpt, params):
            return inpt + 1

    class Forward(base):
        def forward(self, *inputs):
            return *inputs, super().forward(*inputs)

    arguments = {T.RandomResize: (20, 21), T.RandomApply: ([T.RandomInvert(1.0)], 1.0), T.PadBatch: (20,)}[base]
    images = noise((9, 11, 3))
    same, forward = (cls(*arguments) for cls in (Same, Forward))
    assert np.array_equal((T.Compose([same]) if in_recipe else same)(images), images + 1)
    original, result = (T.Compose([forward]) if in_recipe else forward)(images)
    assert original is images
    assert np.array_equal(result, base(*arguments)(images))


class FirstArgument(T.RandomHorizontalFlip):
    def forward(self, *inputs):
        return inputs[0]


def test_subclass_with_forward_takes_samples_of_its_own():
    """A recipe does not search for targets in them."""
    image = noise((9, 8, 3))
    for sample in ((image, np.zeros((5, 6))), [{"image": image}, {"image": image, "boxes": np.zeros((1, 4))}]):
        assert T.Compose([FirstArgument()])(sample) is sample
