"""Rows of `cuaug._equivalents.KORNIA`: the migrated calls give kornia's pixels, or a note says how they differ."""

import importlib
import inspect

import pytest
import torch
from helpers.compare import EXACT, Tolerance, assert_equal

from cuaug import transforms as T
from cuaug._equivalents import KORNIA, Equivalent
from cuaug._migration.migrate import migrate

ROUNDING = Tolerance(absolute=5e-5, reason="float32; kornia converts hues to radians and back")
LUMA = Tolerance(absolute=2e-4, reason="kornia's luma has 0.299 for red, torchvision's 0.2989")
ROWS = {name: row for name, row in KORNIA.items() if isinstance(row, Equivalent)}
# Random even with ranges of one value, or compared by test_migrated_call_gives_the_levels_of_kornia_for_uint8.
NOT_COMPARED = {"RandomChannelShuffle", "RandomErasing", "RandomPerspective", "RandomEqualize", "RandomPosterize"}
# Calls that draw from ranges of one value.
EQUAL = [
    "AugmentationSequential(K.RandomInvert(p=1.0), K.RandomVerticalFlip(p=1.0))",
    "ImageSequential(K.RandomInvert(p=1.0), K.RandomVerticalFlip(p=1.0))",
    "CenterCrop((9, 11))",
    "ColorJitter(brightness=(1.3, 1.3))",
    "ColorJitter(contrast=(1.3, 1.3))",
    "ColorJitter(saturation=(1.3, 1.3))",
    "ColorJitter(hue=(0.1, 0.1))",
    "Normalize(0.5, 0.25)",
    "RandomAffine((10.0, 10.0), scale=(1.2, 1.2), shear=(5.0, 5.0, 3.0, 3.0), p=1.0)",
    "RandomAffine((10.0, 10.0), resample='nearest', align_corners=True, p=1.0)",
    "RandomBrightness((1.3, 1.3))",
    "RandomContrast((1.3, 1.3))",
    "RandomCrop((23, 28), (1, 2, 3, 4), fill=0.25)",
    "RandomCrop((21, 28), 2, padding_mode='reflect')",
    "RandomGaussianBlur((3, 5), (1.1, 1.1), p=1.0)",
    "RandomGaussianNoise(0.2, 0.0, p=1.0)",
    "RandomGrayscale(p=1.0)",
    "RandomHorizontalFlip(1.0)",
    "RandomHue((0.1, 0.1))",
    "RandomInvert(p=1.0)",
    "RandomResizedCrop((8, 9), (1.0, 1.0), (24 / 17, 24 / 17), align_corners=False)",
    "RandomRotation((10.0, 10.0), p=1.0)",
    "RandomSharpness((0.5, 0.5), p=1.0)",
    "RandomShear((10.0, 10.0), p=1.0)",
    "RandomSolarize((0.4, 0.4), (0.1, 0.1), p=1.0)",
    "RandomSolarize((0.6, 0.6), (-0.2, -0.2), p=1.0)",
    "RandomVerticalFlip(1.0)",
    "Resize((8, 9), align_corners=False)",
    "Resize(8, 'short', 'bicubic', False)",
    "Resize(8, resample='nearest')",
]
DIFFERENT = [
    "CenterCrop((8, 9))",
    "ColorJiggle(brightness=(1.3, 1.3))",
    "ColorJiggle(contrast=(1.3, 1.3))",
    "ColorJiggle(saturation=(1.3, 1.3))",
    "RandomResizedCrop((8, 9), (1.0, 1.0), (24 / 17, 24 / 17))",
    "RandomSaturation((1.3, 1.3))",
    "RandomTranslate((0.1, 0.1), p=1.0)",
    "Resize((8, 9))",
    "Resize((8, 9), align_corners=False, antialias=True)",
]


@pytest.fixture(scope="module")
def kornia():
    """At least 0.9: shears, nearest resizes and the crops of RandomResizedCrop of kornia 0.8 differ."""
    pytest.importorskip("kornia", minversion="0.9")
    return importlib.import_module("kornia.augmentation")


def results(call, kornia):
    """The results of cuaug and of kornia, and the notes."""
    images = torch.rand(2, 3, 17, 24, generator=torch.Generator().manual_seed(0))
    migration = migrate(f"import kornia.augmentation as K\nt = K.{call}\n")
    variables = {}
    exec(migration.text, variables)
    return variables["t"](images), eval(f"K.{call}", {"K": kornia})(images), [note for _, note in migration.notes]


@pytest.mark.parametrize("call", EQUAL)
def test_migrated_call_gives_the_pixels_of_kornia(call, kornia):
    actual, expected, _ = results(call, kornia)
    assert_equal(actual, expected, tolerance=LUMA if "Grayscale" in call else ROUNDING)


@pytest.mark.parametrize("call", DIFFERENT)
def test_migrate_notes_pixels_that_differ_from_kornia(call, kornia):
    actual, expected, notes = results(call, kornia)
    assert any("similar, not equal" in note for note in notes)
    assert actual.shape == expected.shape
    assert (actual - expected).abs().max() > 0.1


def test_every_kornia_row_is_compared_or_in_not_compared():
    assert {call.partition("(")[0] for call in [*EQUAL, *DIFFERENT]} | NOT_COMPARED == {*ROWS}


def test_names_in_both_kornia_and_cuaug_have_rows(kornia):
    """`migrate` keeps the call of a name without a row, although its parameters may have another meaning."""
    assert {name for name in T.__all__ if hasattr(kornia, name)} <= {*KORNIA}


@pytest.mark.parametrize("call", ["RandomEqualize(p=1.0)", "RandomPosterize((3.0, 3.0), p=1.0)"])
def test_migrated_call_gives_the_levels_of_kornia_for_uint8(call, kornia):
    """For uint8 images. kornia takes floats only, and truncates them to levels: the test adds half a level."""
    images = torch.randint(0, 200, (2, 3, 17, 24), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    variables = {}
    exec(migrate(f"import kornia.augmentation as K\nt = K.{call}\n").text, variables)
    levels = torch.round(255 * eval(f"K.{call}", {"K": kornia})((images + 0.5) / 255))
    assert_equal(variables["t"](images), levels.to(torch.uint8), tolerance=EXACT)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("RandomPosterize()", "RandomPosterize(6, 0.5)"),
        ("RandomPosterize(3, p=1.0)", "RandomPosterize(6, 1.0)"),
        ("RandomPosterize((2, 4), p=0.3)", "RandomPosterize(3, 0.3)"),
    ],
)
def test_migrate_replaces_range_of_posterize_bits_by_its_mean(call, expected):
    """kornia draws the bits of each sample from a range; one number x is the range x..8."""
    assert migrate(f"import kornia.augmentation as K\nK.{call}\n").text.endswith(f"\nK.{expected}\n")


@pytest.mark.parametrize("name", ROWS)
def test_row_begins_with_the_parameters_of_kornia(name, kornia):
    """A row has the first parameters of kornia's; `migrate` reports the others as arguments without a counterpart."""
    ours = inspect.signature(eval(f"lambda {ROWS[name].parameters}: None")).parameters.values()
    theirs = [*inspect.signature(getattr(kornia, name)).parameters.values()][: len(ours)]
    assert [(value.name, value.kind) for value in ours] == [(value.name, value.kind) for value in theirs]
    for value, other in zip(ours, theirs, strict=True):
        if value.name != "data_keys":  # an enumeration
            assert str(value.default).lower() == str(other.default).lower()
