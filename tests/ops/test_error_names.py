"""Messages begin with a name that a user can import: of the function, the class, or a method."""

import functools
import inspect

import pytest
import torch

import cuaug
from cuaug import data, io
from cuaug import transforms as T

MODULES = (cuaug, T, data, io)
PUBLIC = {f"{module.__name__}.{name}": getattr(module, name) for module in MODULES for name in module.__all__}
WITHOUT_PARAMETERS = {"cuaug.info", "cuaug.is_available", "cuaug.warmup"}
BASE_CLASSES = {f"cuaug.transforms.{name}" for name in ("Transform", "InterpolationMode", "AutoAugmentPolicy")}
RESULTS = {"cuaug.transforms.Params", "cuaug.data.Batch", "cuaug.io.Header"}
OTHER_MISTAKES = {"cuaug.transforms.Boxes": lambda: T.Boxes("?"), "cuaug.transforms.Keypoints": lambda: T.Keypoints(5)}
CHECKED = {
    name: public
    for name, public in PUBLIC.items()
    if name not in WITHOUT_PARAMETERS | BASE_CLASSES | RESULTS
    and not (inspect.isclass(public) and issubclass(public, Exception))
}
MODULES_OF_TORCH = "RoIAlign", "RoIPool", "PSRoIAlign", "PSRoIPool", "MultiScaleRoIAlign"
CLASSES = "transforms.Compose", "data.Collate", "data.Loader", *MODULES_OF_TORCH
METHODS = {
    method: f"cuaug.{cls}.{name}"
    for cls in CLASSES
    for name, method in vars(PUBLIC[f"cuaug.{cls}"]).items()
    if inspect.isfunction(method) and (not name.startswith("_") or name == "__call__")
}
# state_dict has no parameters. The errors of `Compose.forward` get their prefix from `__call__`.
for method in (T.Compose.state_dict, data.Loader.state_dict, T.Compose.forward):
    del METHODS[method]


@pytest.mark.parametrize("name", CHECKED)
def test_every_public_name_begins_its_messages(name):
    mistake = OTHER_MISTAKES.get(name, functools.partial(CHECKED[name], no_such_parameter=1))
    with pytest.raises((TypeError, ValueError), match=rf"^{name}: "):
        mistake()


@pytest.mark.parametrize("method", METHODS, ids=METHODS.get)
def test_methods_begin_their_messages_with_an_importable_name(method):
    with pytest.raises(TypeError, match=r"^cuaug\.") as error:
        method(object(), no_such_parameter=1)
    names = str(error.value).partition(": ")[0].split(".")[1:]
    cls = METHODS[method].rpartition(".")[0]
    assert functools.reduce(getattr, names, cuaug) in (PUBLIC[cls], method)


def test_errors_within_a_recipe_begin_with_compose():
    with pytest.raises(ValueError, match=r"^cuaug\.transforms\.Compose: RandomCrop: size must fit"):
        T.Compose([T.RandomCrop(99)])(torch.zeros(2, 3, 8, 8))
