"""Rows of `cuaug._equivalents.ALBUMENTATIONS`: migrated calls give Albumentations' pixels, or a note says so.

The tests that call Albumentations run where it is installed. The others compare with its formulas, in NumPy and OpenCV.
"""

import importlib
import inspect

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal

from cuaug import transforms as T
from cuaug._equivalents import ALBUMENTATIONS, Equivalent
from cuaug._migration.migrate import migrate

WARP = Tolerance(absolute=1, exact=0.95, reason="OpenCV rounds the coordinates of warps, or the result")
ROUNDING = Tolerance(absolute=1, reason="Albumentations truncates, cuaug rounds")
HUE = Tolerance(absolute=4, reason="OpenCV's hue of uint8 images has 180 levels")
ROWS = {name: row for name, row in ALBUMENTATIONS.items() if isinstance(row, Equivalent)}
IN_BOTH = {  # names of Albumentations 2.0.8 and cuaug.transforms
    "CenterCrop", "ColorJitter", "Compose", "ElasticTransform", "GaussianBlur", "Lambda", "Normalize", "Pad",
    "RandomCrop", "RandomOrder", "RandomResizedCrop", "Resize", "from_dict",
}  # fmt: skip
# Calls that draw from ranges of one value.
EQUAL = [
    ("Affine(rotate=30, p=1)", WARP),
    ("Affine((1.2, 1.2), None, None, (-20, -20), p=1)", WARP),
    ("Affine(rotate=20, fill=100, interpolation=0, p=1)", WARP),
    ("CenterCrop(20, 30)", ROUNDING),
    ("ColorJitter((1.3, 1.3), (1, 1), (1, 1), (0, 0), p=1)", ROUNDING),
    ("ColorJitter((1, 1), (1.3, 1.3), (1, 1), (0, 0), p=1)", ROUNDING),
    ("ColorJitter((1, 1), (1, 1), (1.3, 1.3), (0, 0), p=1)", ROUNDING),
    ("ColorJitter((1, 1), (1, 1), (1, 1), (0.1, 0.1), p=1)", HUE),
    ("Compose([A.HorizontalFlip(p=1), A.VerticalFlip(p=1)])", ROUNDING),
    ("GaussNoise((0, 0), (0.1, 0.1), p=1)", ROUNDING),
    ("GaussianBlur((5, 5), (1.1, 1.1), p=1)", ROUNDING),
    ("GaussianBlur(0, (1.1, 1.1), p=1)", ROUNDING),
    ("HorizontalFlip(p=1)", ROUNDING),
    ("HueSaturationValue((10, 10), (0, 0), (0, 0), p=1)", HUE),
    ("InvertImg(p=1)", ROUNDING),
    ("LongestMaxSize(40)", ROUNDING),
    ("NoOp(p=1)", ROUNDING),
    ("Normalize()", Tolerance(absolute=1e-5, reason="float32")),
    ("OneOf([A.HorizontalFlip(p=0.3)], p=1)", ROUNDING),
    ("Pad((1, 2), border_mode=4)", ROUNDING),
    ("Pad((1, 2, 3, 4), 100)", ROUNDING),
    ("PixelDropout(dropout_prob=1, drop_value=9, p=1)", ROUNDING),
    ("Posterize(3, p=1)", ROUNDING),
    ("RGBShift((20, 20), (-10, -10), (5, 5), p=1)", ROUNDING),
    ("RandomBrightnessContrast((0.1, 0.1), (0.3, 0.3), p=1)", ROUNDING),
    ("RandomCrop(48, 64)", ROUNDING),
    ("RandomGamma((150, 150), p=1)", ROUNDING),
    ("RandomResizedCrop((20, 30), (1.0, 1.0), (4 / 3, 4 / 3))", ROUNDING),
    ("Resize(20, 30, interpolation=2)", ROUNDING),
    ("Rotate((30, 30), 0, p=1)", WARP),
    ("Sequential([A.HorizontalFlip(p=1)], p=1)", ROUNDING),
    ("ShiftScaleRotate((0, 0), (0.2, 0.2), (20, 20), p=1)", WARP),
    ("SmallestMaxSize(100)", ROUNDING),
    ("Solarize((0.3, 0.3), p=1)", ROUNDING),
    ("ToFloat()", Tolerance(absolute=1e-6, reason="float32")),
    ("ToGray(p=1)", ROUNDING),
    ("VerticalFlip(p=1)", ROUNDING),
]
DIFFERENT = [
    "Affine(shear=10, p=1)",
    "Affine(rotate=20, shear=5, p=1)",
    "Affine(translate_percent=0.1, p=1)",
    "CenterCrop(21, 31)",
    "Equalize(p=1)",
    "HueSaturationValue((0, 0), (20, 20), (0, 0), p=1)",
    "ImageCompression('jpeg', (50, 50), p=1)",
    "Perspective((0.1, 0.1), p=1)",
    "Sharpen((0.3, 0.3), p=1)",
    "ShiftScaleRotate((0.1, 0.1), (0, 0), (0, 0), p=1)",
]
NOT_COMPARED = {  # random even with ranges of one value, or no transform of an image
    "BboxParams", "ChannelShuffle", "CoarseDropout", "ElasticTransform", "KeypointParams", "RandomRotate90",
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:ShiftScaleRotate is a special case:UserWarning")


@pytest.fixture(scope="module")
def albumentations():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_ALBUMENTATIONS_UPDATE", "1")
        pytest.importorskip("albumentations", minversion="2.0.8")
        return importlib.import_module("albumentations")


@pytest.fixture(scope="module")
def image():
    """Smooth, so that warps agree; the values cover 0..255. [48, 64, 3]"""
    cv2 = pytest.importorskip("cv2")
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3)).astype(np.float32)
    smooth = cv2.GaussianBlur(noise, (0, 0), 3)
    return np.rint(255 * (smooth - smooth.min()) / np.ptp(smooth)).astype(np.uint8)


def migrated(call):
    """The transform of cuaug, and the notes."""
    migration = migrate(f"import albumentations as A\nt = A.{call}\n")
    variables = {}
    exec(migration.text, variables)
    return variables["t"], [note for _, note in migration.notes]


@pytest.mark.parametrize(("call", "tolerance"), EQUAL, ids=lambda value: value if isinstance(value, str) else "")
def test_migrated_call_gives_the_pixels_of_albumentations(call, tolerance, albumentations, image):
    expected = eval(f"A.{call}", {"A": albumentations})(image=image)["image"]
    assert_equal(np.asarray(migrated(call)[0](image)), expected, tolerance=tolerance)


@pytest.mark.parametrize("call", DIFFERENT)
def test_migrate_notes_pixels_that_differ_from_albumentations(call, albumentations, image):
    expected = eval(f"A.{call}", {"A": albumentations})(image=image)["image"]
    transform, notes = migrated(call)
    assert any("similar, not equal" in note for note in notes)
    assert np.abs(transform(image).astype(int) - expected).max() > 4


def test_every_albumentations_row_is_compared_or_in_not_compared():
    calls = {call.partition("(")[0] for call in [*(call for call, _ in EQUAL), *DIFFERENT]}
    assert calls | NOT_COMPARED == {*ROWS}


def test_names_in_both_albumentations_and_cuaug_have_rows():
    """`migrate` keeps the call of a name without a row, although its parameters may have another meaning."""
    assert {*IN_BOTH} <= {*T.__all__} & {*ALBUMENTATIONS}


def test_list_of_names_in_both_is_that_of_albumentations(albumentations):
    assert {name for name in T.__all__ if hasattr(albumentations, name)} == IN_BOTH


@pytest.mark.parametrize("name", ROWS)
def test_row_begins_with_the_parameters_of_albumentations(name, albumentations):
    """The row's other parameters are keyword-only: passed by position, they are reported as without a counterpart."""
    ours = inspect.signature(eval(f"lambda {ROWS[name].parameters}: None")).parameters.values()
    theirs = inspect.signature(getattr(albumentations, name)).parameters
    by_position = [value.name for value in ours if value.kind is value.POSITIONAL_OR_KEYWORD]
    assert by_position == [*theirs][: len(by_position)]
    for value in ours:
        if value.default is not value.empty and name != "KeypointParams":  # Albumentations has no default of format
            assert value.default == theirs[value.name].default, value.name


def affine(rotate, scale, shear, center):
    """The matrix of Albumentations, for points (x, y): scale, then rotate, then shear, about a center. [2, 3]"""
    angle, tangent = np.deg2rad(rotate), np.tan(np.deg2rad(-shear))
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    linear = scale * np.array([[1, tangent], [tangent, 1]]) @ rotation
    return np.column_stack([linear, center - linear @ center])


@pytest.mark.parametrize(
    ("call", "rotate", "scale", "shear"),
    [
        ("Affine(rotate=30, p=1)", 30, 1, 0),
        ("Affine((1.2, 1.2), rotate=(-20, -20), p=1)", -20, 1.2, 0),
        ("Affine(shear=3, p=1)", 0, 1, 3),
        ("ShiftScaleRotate(0, (0.2, 0.2), (20, 20), p=1)", 20, 1.2, 0),
        ("Rotate((30, 30), p=1)", 30, 1, 0),
    ],
)
def test_migrated_warp_equals_opencv_with_the_matrix_of_albumentations(call, rotate, scale, shear, image):
    """Shears differ slightly: torchvision and cuaug add the product of both tangents to the scale of y."""
    cv2 = pytest.importorskip("cv2")
    expected = cv2.warpAffine(image, affine(rotate, scale, shear, np.array([31.5, 23.5])), (64, 48))
    difference = np.abs(migrated(call)[0](image).astype(int) - expected)[4:-4, 4:-4]
    assert difference.mean() < (1 if shear else 0.1)


def test_migrated_sharpen_has_the_strength_of_albumentations(image):
    """The image plus alpha times the sum of its differences from the eight neighbors; the lightness is 1."""
    cv2 = pytest.importorskip("cv2")
    kernel = 0.1 * np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], np.float64)
    kernel[1, 1] += 1
    result = migrated("Sharpen((0.1, 0.1), (1.0, 1.0), p=1)")[0](image)
    assert_equal(result[1:-1, 1:-1], cv2.filter2D(image, -1, kernel)[1:-1, 1:-1], tolerance=ROUNDING)


def test_migrated_brightness_clamps_floats_as_albumentations(image):
    for call in ("RandomBrightnessContrast((0.5, 0.5), (0, 0), p=1)", "RGBShift((99, 99), (99, 99), (99, 99), p=1)"):
        assert migrated(call)[0]((image / 255).astype(np.float32)).max() == 1


@pytest.mark.parametrize("name", ["Lambda(image=f)", "RandomOrder([A.HorizontalFlip(p=1)])", "from_dict(d)"])
def test_migrate_notes_names_of_cuaug_with_another_meaning(name):
    migration = migrate(f"import albumentations as A\nA.{name}\n")
    assert migration.missing == [name.partition("(")[0]]


def test_migrated_elastic_transform_keeps_its_probability():
    text = migrate("import albumentations as A\nA.ElasticTransform(alpha=120, sigma=6)\n").text
    assert text.endswith("A.RandomApply([A.ElasticTransform(90.0, 6)], p=0.5)\n")
