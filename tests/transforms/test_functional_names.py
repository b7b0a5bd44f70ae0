"""cuaug.transforms.functional has torchvision's functions, with their parameters and defaults."""

import enum
import importlib
import inspect
import re

import pytest

import cuaug
from cuaug import _missing_names
from cuaug import transforms as T
from cuaug.transforms import functional as F

# Where a parameter may have another default, and why.
OTHER_DEFAULTS = {"to_dtype": "dtype", "convert_image_dtype": "dtype"}  # its name in place of torch's object


@pytest.fixture(scope="module")
def TF():
    return pytest.importorskip("torchvision.transforms.v2.functional")


def functions(module):
    return {n: f for n, f in vars(module).items() if inspect.isfunction(f) and n[0] != "_"}


def is_kernel(name, names):
    """Whether the function is for one type only, such as ``resize_mask``."""
    return any(name.endswith(f"_{kind}") and name.removesuffix(f"_{kind}") in names for kind in _missing_names.KERNELS)


def test_functional_has_or_explains_every_name_of_torchvision(TF):
    names = functions(TF)
    dispatchers = {name for name in names if not is_kernel(name, names)}
    assert 50 < len(dispatchers) < 70
    missing = dispatchers - set(F.__all__)
    assert missing == {"is_pure_tensor", "register_kernel"}
    assert set(F.__all__) - dispatchers == set()
    for name in [*missing, *(name for name in names if is_kernel(name, names)), "InterpolationMode"]:
        with pytest.raises(
            AttributeError, match=rf"^cuaug\.transforms\.functional has no {name}, which torchvision has: "
        ):
            getattr(F, name)


@pytest.mark.parametrize("name", F.__all__)
def test_functional_has_parameters_and_defaults_of_torchvision(TF, name):
    """Further parameters are keywords."""
    expected = inspect.signature(getattr(TF, name)).parameters
    parameters = inspect.signature(getattr(F, name)).parameters
    positional = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in positional] == list(expected)
    assert all(
        p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters.values() if p not in positional
    )
    for parameter in positional:
        default = expected[parameter.name].default
        if parameter.name == OTHER_DEFAULTS.get(name):
            default = str(default).removeprefix("torch.")
        default = default.value if isinstance(default, enum.Enum) else default
        assert parameter.default == default, parameter.name
        assert (parameter.default is parameter.empty) == (default is parameter.empty)


def test_functional_is_a_name_of_transforms():
    assert T.functional is F is importlib.import_module("cuaug.transforms.functional")
    assert "functional" in dir(T)


@pytest.mark.parametrize(
    ("module", "name", "part"),
    [
        (cuaug, "horizontal_flip", "use cuaug.transforms.functional.horizontal_flip"),
        (T, "to_pil_image", "use cuaug.transforms.functional.to_pil_image"),
        (T, "hflip", "use cuaug.hflip"),
        (F, "resize_mask", "which torchvision has: use resize"),
        (F, "warp_affine", "use cuaug.warp_affine"),
        (F, "horizontalflip", "did you mean horizontal_flip?"),
    ],
)
def test_missing_names_lead_to_functional_and_from_it(module, name, part):
    with pytest.raises(AttributeError, match=rf"{re.escape(part)}$"):
        getattr(module, name)
    assert sorted(n for n in dir(F) if not n.startswith("__")) == sorted(F.__all__)
