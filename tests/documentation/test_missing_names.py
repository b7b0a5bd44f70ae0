"""Names of other libraries: the AttributeError says what to use instead."""

import inspect
import re

import pytest

import cuaug
from cuaug import _missing_names
from cuaug import transforms as T

MISSING_TRANSFORMS = [(lib, name) for lib, names in _missing_names.TRANSFORMS.items() for name in names]
MISSING_FUNCTIONS = [(lib, name) for lib, names in _missing_names.FUNCTIONS.items() for name in names]
# Words with a capital letter that are no names of cuaug.
OTHER_WORDS = {"True", "NTCHW"}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("HorizontalFlip", "has no HorizontalFlip, which Albumentations has: use RandomHorizontalFlip"),
        ("ToImage", "has no ToImage, which torchvision has: leave it out"),
        ("ColorJiggle", "which kornia has: use ColorJitter"),
        ("randomhorizontalflip", "did you mean RandomHorizontalFlip?"),
        ("RandomHorizontalFip", "did you mean RandomHorizontalFlip?"),
        ("horizontalflip", "did you mean HorizontalFlip of Albumentations? use RandomHorizontalFlip"),
        ("hflip", "use cuaug.hflip"),
    ],
)
def test_transforms_say_what_replaces_a_missing_name(name, part):
    with pytest.raises(
        AttributeError, match=rf"cuaug\.transforms.*{re.escape(part)}$" if "leave" not in part else part
    ):
        getattr(T, name)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("horizontal_flip", "has no horizontal_flip, which torchvision has: use hflip"),
        ("warpAffine", "which OpenCV has: use warp_affine"),
        ("warpafine", "did you mean warpAffine of OpenCV? use warp_affine"),
        ("Compose", "use cuaug.transforms.Compose"),
        ("Loader", "use cuaug.data.Loader"),
        ("decode_jpeg", "use cuaug.io.decode_jpeg"),
        ("gausian_blur", "did you mean gaussian_blur?"),
    ],
)
def test_cuaug_says_what_replaces_a_missing_name(name, part):
    with pytest.raises(AttributeError, match=rf"cuaug.*{re.escape(part)}$"):
        getattr(cuaug, name)


@pytest.mark.parametrize("module", [cuaug, T])
@pytest.mark.parametrize("name", ["__path_of_nothing__", "_private", "zzz_nothing_like_it"])
def test_missing_name_like_no_other_has_the_plain_message(module, name):
    with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attribute '{name}'$"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("module", "tables", "missing"),
    [(T, _missing_names.TRANSFORMS, MISSING_TRANSFORMS), (cuaug, _missing_names.FUNCTIONS, MISSING_FUNCTIONS)],
    ids=["transforms", "cuaug"],
)
def test_missing_names_are_missing_and_their_replacements_exist(module, tables, missing):
    names = [name for _, name in missing]
    assert len(names) == len(set(names)) > 20
    assert not set(names) & set(module.__all__)
    for library, name in missing:
        advice = tables[library][name]
        with pytest.raises(AttributeError, match=re.escape(f"which {library} has: {advice}")):
            getattr(module, name)
        for path in re.findall(r"cuaug\.([\w.]+\w)", advice):
            owner = cuaug
            for part in path.split("."):
                owner = getattr(owner, part)
        for word in set(re.findall(r"(?<!['\"\w.])[A-Z]\w+(?!['\"])", advice)) - OTHER_WORDS:
            assert word in T.__all__, f"{name}: {word}"
        if replacement := re.match(r"use (\w+)(?![.\w])", advice):
            assert replacement[1] in module.__all__, f"{name}: {replacement[1]}"


def test_transforms_have_or_explain_every_name_of_torchvision():
    v2 = pytest.importorskip("torchvision.transforms.v2")
    torchvision_names = {name for name in dir(v2) if name[0] != "_" and inspect.isclass(getattr(v2, name))}
    assert torchvision_names - set(T.__all__) - set(_missing_names.TRANSFORMS["torchvision"]) == set()


def test_missing_names_of_the_migration_page_are_explained():
    """Every transform of Albumentations that docs/migration.md replaces."""
    from helpers.pages import ROOT

    page = (ROOT / "docs" / "migration.md").read_text()
    names = set(re.findall(r"`A\.(\w+)", page)) | set(re.findall(r"\bK\.(\w+)", page))
    assert len(names) > 20
    for name in names - set(T.__all__):
        with pytest.raises(AttributeError, match=f"cuaug.transforms has no {name}, which "):
            getattr(T, name)
