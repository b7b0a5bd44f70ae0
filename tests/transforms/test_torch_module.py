"""A recipe is a torch module if torch is imported, and does not need torch."""

import copy
from typing import Generic, TypeVar

import numpy as np
import pytest
import torch
from helpers.arrays import images, noise
from helpers.child_process import python
from helpers.compare import assert_equal
from helpers.mask_recipes import CROPS, SHAPE, recipe
from tables.transforms import INSTANCES

from cuaug import transforms as T
from cuaug.transforms import transform as transform_module

Value = TypeVar("Value")


def test_compose_is_a_torch_module():
    for transform in INSTANCES.values():
        if isinstance(transform, transform_module.Transform):
            assert isinstance(transform, torch.nn.Module)
            assert type(transform).__name__ in T.__all__
            assert isinstance(transform, getattr(T, type(transform).__name__))
            assert not list(transform.parameters())
            assert not list(transform.children())


def test_compose_is_a_layer_of_a_model():
    batch = images(("torch", "cpu"), shape=SHAPE)
    aug = T.Compose([*CROPS, T.ToDtype("float32", scale=True)], seed=3)
    model = torch.nn.Sequential(aug, T.RandomHorizontalFlip(0.0), torch.nn.Flatten(), torch.nn.Linear(15 * 12 * 3, 2))
    model.to("cpu").train().requires_grad_(False).apply(lambda layer: None)
    expected = model[3](aug(batch, step=0).flatten(1))
    assert torch.equal(model(batch), expected)
    assert not model.eval()[0].training
    assert "RandomCrop(size=(15, 12)" in repr(model)
    state = model.state_dict()
    assert set(state) == {"0._extra_state", "3.weight", "3.bias"}
    assert state["0._extra_state"] == aug.state_dict() == {"seed": 3, "step": 1}
    other = copy.deepcopy(model)
    other[0].load_state_dict({"seed": 8, "step": 5})
    assert other[0].state_dict() == {"seed": 8, "step": 5}
    other.load_state_dict(state)
    assert other[0].state_dict() == {"seed": 3, "step": 1}
    assert torch.equal(other(batch), model(batch))


def test_compose_apply_serves_recipe_and_module():
    aug, batch, modules = recipe("crops"), noise(SHAPE), []
    params = aug.draw(batch, step=0)
    assert_equal(aug.apply(batch, params), aug(batch, step=0))
    assert_equal(aug.apply(images=batch, params=params), aug(batch, step=0))
    assert aug.apply(modules.append) is aug
    assert aug.apply(fn=modules.append) is aug
    assert modules == [aug, aug]
    for arguments in ({}, {"images": batch}, {"params": params}):
        with pytest.raises(
            TypeError, match=r"cuaug\.transforms\.Compose\.apply: .*missing [12] required positional arg"
        ):
            aug.apply(**arguments)
    with pytest.raises(TypeError, match=r"cuaug\.transforms\.Compose\.apply: .*missing 1 required .*'params'"):
        aug.apply(batch)


def test_transforms_hide_no_module_attribute():
    allowed = {"forward", "apply", "state_dict", "load_state_dict", "get_extra_state", "set_extra_state"}
    for transform in (
        transform for transform in INSTANCES.values() if isinstance(transform, transform_module.Transform)
    ):
        names = {
            name for cls in type(transform).__mro__[:-2] if cls.__module__.startswith("cuaug") for name in vars(cls)
        }
        names |= set(transform._init_arguments())
        hidden = {name for name in names & set(dir(torch.nn.Module())) if not name.startswith("__")}
        assert hidden <= allowed, type(transform).__name__


def test_compose_torch_may_be_imported_later():
    program = """
import sys, copy, pickle
import numpy as np
from cuaug import transforms as T
aug = T.Compose([T.RandomHorizontalFlip(1.0)], seed=1)
batch = np.arange(12, dtype="u1").reshape(1, 2, 2, 3)
assert (aug(batch) == batch[:, :, ::-1]).all() and "torch" not in sys.modules
written = pickle.dumps(aug)
import torch
assert not isinstance(aug, torch.nn.Module)
flipped = aug(torch.from_numpy(batch).movedim(-1, 1))
assert isinstance(flipped, torch.Tensor)
for later in (copy.deepcopy(aug), T.Compose([T.RandomHorizontalFlip(1.0)], seed=1), pickle.loads(written)):
    assert isinstance(later, torch.nn.Module)
    assert torch.equal(torch.nn.Sequential(later)(torch.from_numpy(batch).movedim(-1, 1)), flipped)
sys.stdout.buffer.write(pickle.dumps(T.Compose([T.Resize(4)], seed=2)).hex().encode())
"""
    written, _ = python(program)
    child_program = f"""
import sys, pickle
aug = pickle.loads(bytes.fromhex("{written}"))
import numpy
print(aug(numpy.zeros((1, 8, 8, 3), "u1")).shape, aug.state_dict())
"""
    message, _ = python(child_program)
    assert message == "(1, 4, 4, 3) {'seed': 2, 'step': 1}"


@pytest.mark.parametrize("is_first_call", [True, False])
@pytest.mark.parametrize("owner", ["recipe", "inner", "choice"])
def test_transforms_may_be_assigned_as_a_list_of_modules(owner, is_first_call):
    images = torch.from_numpy(noise((2, 3, 9, 11)))
    owners = {"inner": T.Compose([T.Identity()]), "choice": T.RandomApply([T.Identity(), T.Lambda(abs)], p=1.0)}
    recipe = owners["recipe"] = T.Compose(list(owners.values()))
    if not is_first_call and owner != "choice":  # a choice's list must not be assigned after a call
        recipe(images)
    for modules in (torch.nn.ModuleList([T.RandomInvert(1.0)]), torch.nn.Sequential(T.RandomInvert(1.0))):
        owners[owner].transforms = modules
        assert type(owners[owner].transforms) is list
        assert not list(owners[owner].children())
    assert_equal(recipe(images), 255 - images)
    recipe = T.Compose([])
    for value, got in ((T.Compose([]), "Compose"), (T.RandomInvert(), "RandomInvert"), ({T.RandomInvert()}, "set")):
        with pytest.raises(TypeError, match=f"transforms must be a list of transforms, got {got}"):
            recipe.transforms = value
    with pytest.raises(TypeError, match=r"every transform must be a transform or a function, got .*1"):
        recipe.transforms = np.array([1, 2])
    assert_equal(recipe(images), images)


@pytest.mark.parametrize("cls", [T.Compose, T.RandomApply])
def test_compose_accepts_module_list(cls):
    transform = cls(torch.nn.ModuleList([T.RandomInvert(), T.GaussianBlur(3)]))
    assert [type(member).__name__ for member in transform.transforms] == ["RandomInvert", "GaussianBlur"]


def model(recipe):
    return torch.nn.Sequential(recipe, torch.nn.Linear(2, 2))


def test_model_state_without_a_recipe_needs_strict_false():
    state = {key: value for key, value in model(T.RandomInvert()).state_dict().items() if "_extra_state" not in key}
    with_recipe = model(T.Compose([T.RandomInvert()], seed=5))
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0\._extra_state"'):  # torch's message
        with_recipe.load_state_dict(state)
    assert with_recipe.load_state_dict(state, strict=False).missing_keys == ["0._extra_state"]
    assert with_recipe[0].state_dict() == {"seed": 5, "step": 0}


def test_model_state_of_another_recipe_has_its_seed_and_step():
    state = model(T.Compose([T.RandomInvert()], seed=5)).state_dict()
    other = model(T.Compose([T.GaussianBlur(3), T.RandomSolarize(9.0)], seed=1))
    other.load_state_dict(state)
    assert other[0].state_dict() == {"seed": 5, "step": 0}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("state", [{}, {"seed": 1}, {"seed": "a", "step": 0}, {"seed": 1, "step": -1}, 5, None])
def test_model_state_that_is_no_recipe_state_is_refused(state, strict):
    with_recipe = model(T.Compose([T.RandomInvert()], seed=5))
    with pytest.raises((TypeError, ValueError), match=r"^cuaug\.transforms\.Compose\.load_state_dict: "):
        with_recipe.load_state_dict({**with_recipe.state_dict(), "0._extra_state": state}, strict=strict)


def test_compose_load_state_dict_takes_strict_as_a_module_does():
    aug = T.Compose([T.RandomInvert()], seed=5)
    aug.load_state_dict({"seed": 8, "step": 3}, strict=False)
    assert aug.state_dict() == {"seed": 8, "step": 3}
    aug.load_state_dict({"_extra_state": {"seed": 9, "step": 4}}, strict=False)
    assert aug.state_dict() == {"seed": 9, "step": 4}


def test_compose_eval_changes_no_draw():
    batch = images(("torch", "cpu"), shape=SHAPE)
    aug = T.Compose([*CROPS, T.RandomHorizontalFlip()], seed=3)
    expected = aug(batch, step=4)
    assert not aug.eval().training
    assert torch.equal(aug(batch, step=4), expected)
    assert torch.equal(torch.nn.Sequential(aug).eval()(batch), aug(batch, step=0))


class Halve(T.Transform):
    def transform(self, inpt, params):
        return inpt // 2


class FlipWithText(T.RandomHorizontalFlip):
    def forward(self, images):
        return super().forward(images), "flipped"


@pytest.mark.parametrize(
    "transform",
    [
        T.RandomHorizontalFlip(1.0),
        Halve(),
        T.Compose([T.Identity()]),
        T.Compose([T.Identity(), Halve()]),
        FlipWithText(1.0),
    ],
)
def test_forward_hooks_of_torch_run(transform):
    images, events = torch.from_numpy(noise((3, 9, 11))), []
    expected = transform(images)
    handle = transform.register_forward_hook(lambda module, inputs, output: events.append((module, output)))
    transform.register_forward_pre_hook(lambda module, inputs: events.append(inputs[0] is images))
    result = transform(images)
    assert len(events) == 2
    assert events[0] is True
    assert events[1][0] is transform
    assert events[1][1] is result
    assert torch.equal(result[0], expected[0])
    if not transform.is_fused and not isinstance(transform, T.Compose):
        T.Compose([transform])(images)
        assert len(events) == 4
    handle.remove()
    transform(images)
    assert events[-1] is True


class Tagged:
    """A mixin whose subclasses have a keyword."""

    def __init_subclass__(cls, tag=None):
        cls.tag = tag


class TaggedInvert(T.RandomInvert, Tagged, tag=3):
    pass


class GenericInvert(T.RandomInvert, Generic[Value]):
    pass


def test_transforms_subclass_with_other_bases_initialises_them():
    assert (TaggedInvert.tag, TaggedInvert(1.0).tag) == (3, 3)
    assert GenericInvert[int].__origin__ is GenericInvert
    for transform in (TaggedInvert(1.0), GenericInvert(1.0), GenericInvert[int](1.0)):
        assert isinstance(transform, torch.nn.Module)
        assert int(transform(torch.zeros(1, 4, 5)).sum()) == 20
