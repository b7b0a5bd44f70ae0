"""Names that cuaug.transforms.functional lacks lead to others; docs/torchvision_names.py compares the names it has."""

import importlib
import re

import pytest

import cuaug
from cuaug import _missing_names
from cuaug import transforms as T
from cuaug.transforms import functional as F


def test_functional_explains_every_function_of_one_type(TF):
    kernels = [
        f"{name}_{suffix}"
        for name in F.__all__
        for suffix in _missing_names.KERNEL_SUFFIXES
        if hasattr(TF, f"{name}_{suffix}")
    ]
    assert len(kernels) > 100
    for name in kernels:
        with pytest.raises(
            AttributeError, match=rf"^cuaug\.transforms\.functional has no {name}, which torchvision has: "
        ):
            getattr(F, name)


def test_functional_is_a_name_of_transforms():
    assert T.functional is F is importlib.import_module("cuaug.transforms.functional")
    assert "functional" in dir(T)


@pytest.mark.parametrize(
    ("module", "name", "part"),
    [
        (cuaug, "horizontal_flip", "use cuaug.transforms.functional.horizontal_flip"),
        (T, "to_pil_image", "use cuaug.transforms.functional.to_pil_image"),
        (T, "hflip", "use cuaug.hflip"),
        (F, "resize_mask", "which torchvision has: call resize: it dispatches on the type"),
        (F, "warp_affine", "use cuaug.warp_affine"),
        (F, "horizontalflip", "did you mean horizontal_flip?"),
    ],
)
def test_missing_names_lead_to_functional_and_from_it(module, name, part):
    with pytest.raises(AttributeError, match=rf"{re.escape(part)}$"):
        getattr(module, name)


def test_functional_dir_equals_all():
    assert sorted(name for name in dir(F) if not name.startswith("__")) == sorted(F.__all__)
