"""Recipes of other libraries run after the edits that ``python -m cuaug migrate`` prints, and give the same results."""

import functools
import re

import numpy as np
import pytest
import torch
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.pages import ROOT
from tables.migration import ROWS, pillow, small_pillow, tensor

from cuaug import transforms as T
from cuaug._migration.migrate import migrate

FOLDER = ROOT / "tests" / "migration" / "recipes"
DETERMINISTIC = {
    "CenterCrop", "ClampBoundingBoxes", "ConvertBoundingBoxFormat", "ConvertImageDtype", "Lambda", "Normalize",
    "PILToTensor", "Resize", "SanitizeBoundingBoxes", "ToDtype", "ToImage", "ToPureTensor", "ToTensor",
    "UniformTemporalSubsample",
}  # fmt: skip
BOXES = Tolerance(absolute=1e-3, reason="float32 coordinates up to 1,333")
CALLS = 200
MAX_STANDARD_ERRORS = 4

pytestmark = pytest.mark.filterwarnings("ignore:.*ToTensor.*:UserWarning")  # torchvision's


@pytest.fixture(scope="module", autouse=True)
def v2():
    return pytest.importorskip("torchvision.transforms.v2")


def text_of(row):
    return (FOLDER / f"{row.name}.py").read_text()


@functools.cache
def migration_of(row):
    return migrate(text_of(row))


def parametrize(condition):
    """Run a test for the rows that satisfy the condition."""
    return pytest.mark.parametrize("row", list(filter(condition, ROWS)), ids=lambda row: row.name)


def runs(row):
    return not row.missing


def is_of_torchvision(row):
    """Whether torchvision runs the recipe, and the file calls it `transform`."""
    text = text_of(row)
    return runs(row) and "\ntransform = " in text and ("from torchvision" in text or "import torchvision" in text)


def run_text(text):
    """Run a program, and return its variables. Recipes of cuaug get a seed."""
    variables = {"__name__": "recipe"}
    exec(compile(text, "<recipe>", "exec"), variables)
    for value in list(variables.values()):
        if isinstance(value, T.Compose):
            value.seed = 20261126
    return variables


def leaves(value):
    """Images, targets and numbers of a sample, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for entry in value for leaf in leaves(entry)] if isinstance(value, (list, tuple)) else [value]


def test_migration_rows_are_the_files():
    assert {path.stem for path in FOLDER.glob("*.py")} == {row.name for row in ROWS}
    assert len(ROWS) == 40
    assert sum(map(runs, ROWS)) >= 34
    assert sum(row.by_import for row in filter(runs, ROWS)) >= 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_migrate_edits_imports_and_names_what_is_missing(row):
    migration = migration_of(row)
    old, new = text_of(row).splitlines(), migration.text.splitlines()
    removed = [line for line in old if line not in new]
    assert removed
    assert row.by_import == all(line.startswith(("import ", "from ")) for line in removed)
    assert tuple(migration.missing) == row.missing
    assert all(any(note.startswith(f"{name} of ") for _, note in migration.notes) for name in row.missing)
    assert row.missing or migrate(migration.text).text == migration.text


@parametrize(runs)
def test_migrated_recipe_runs(row):
    variables = run_text(migration_of(row).text)
    result = leaves(variables.get("augment", variables.get("transform"))(*row.sample()))
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in result)
    assert len(np.unique(np.asarray(result[0]))) > 100


def flattened(transforms):
    return [leaf for t in transforms for leaf in (flattened(t.transforms) if type(t).__name__ == "Compose" else [t])]


def deterministic_part(text):
    return [t for t in flattened(run_text(text)["transform"].transforms) if type(t).__name__ in DETERMINISTIC]


def has_deterministic_part(row):
    return is_of_torchvision(row) and any(f".{name}(" in text_of(row) for name in DETERMINISTIC)


def image_tolerance(steps, image):
    """A level of uint8, in the units of the result: 0..255, 0..1 or normalized."""
    level = 1 if image.max() > 10 else 1 / 255
    levels = [1 / 255 / np.min(t.std) for t in steps if type(t).__name__ == "Normalize"]
    is_bicubic = any("bicubic" in str(vars(t).get("interpolation", "")).lower() for t in steps)
    if is_bicubic:
        reason = "bicubic resizes of Pillow clamp between the passes: docs/differences.md"
        return Tolerance(absolute=1.01 * max(levels, default=level), beyond=2e-3, reason=reason)
    return Tolerance(absolute=1.01 * max(levels, default=level), reason="a level of uint8")


@parametrize(has_deterministic_part)
def test_deterministic_part_of_migrated_recipe_equals_torchvision(row, v2):
    steps, expected_steps = deterministic_part(migration_of(row).text), deterministic_part(text_of(row))
    results = T.Compose(steps)(*row.sample())
    if isinstance(results, tuple) and isinstance(results[1], dict):
        results[1].pop("valid", None)  # torchvision has no such entry
    results = leaves(results)
    expected = leaves(v2.Compose(expected_steps)(*row.sample()))
    assert_equal(
        np.asarray(results[0]),
        np.asarray(expected[0]),
        tolerance=image_tolerance(expected_steps, np.asarray(expected[0])),
    )
    assert len(results) == len(expected)
    is_resized = any(type(t).__name__ == "Resize" for t in steps)
    for actual, target in zip(results[1:], expected[1:], strict=True):
        is_mask = actual.shape[-1] > 4  # the others are boxes [3, 4] and labels [3]
        assert type(actual) is type(target)
        assert actual.shape == target.shape
        if not (is_resized and is_mask):  # "nearest" of masks reads another pixel: docs/differences.md
            assert_equal(actual.numpy(), target.numpy(), tolerance=BOXES if target.is_floating_point() else EXACT)


def draws_more_than_a_resized_crop(row):
    """Whether the recipe takes one image, and draws more than a RandomResizedCrop."""
    has_other_draws = re.search(r"ColorJitter|Augment|RandomCrop|RandomAffine", text_of(row))
    return is_of_torchvision(row) and has_other_draws and row.sample in (pillow, small_pillow, tensor)


def without_crop(text, module):
    """The recipe without RandomResizedCrop, whose variance would hide a difference of the other draws."""
    steps = flattened(run_text(text)["transform"].transforms)
    recipe = module.Compose([t for t in steps if type(t).__name__ != "RandomResizedCrop"])
    if module is T:
        recipe.seed = 20261126
    return recipe


def statistics(recipe, image):
    """Mean, contrast, asymmetry, colour and sharpness of the results of many calls, each [C, 32, 32]. [CALLS, 5]"""
    rows = []
    for _ in range(CALLS):
        result = np.asarray(recipe(image), np.float64)
        asymmetry = result[..., :16].mean() - result[..., 16:].mean()
        colour, sharpness = np.ptp(result, axis=0).mean(), np.abs(np.diff(result, axis=2)).mean()
        rows.append((result.mean(), result.std(), asymmetry, colour, sharpness))
    return np.array(rows)


@pytest.fixture
def one_thread():
    """torch's threads cost more than they gain on small images."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@parametrize(draws_more_than_a_resized_crop)
def test_distribution_of_migrated_recipe_is_that_of_torchvision(row, v2):
    """Means of the statistics differ by less than 4 standard errors."""
    torch.manual_seed(0)
    (image,) = small_pillow() if row.sample is not tensor else tensor()
    image = image[:, 100:132, 100:132].contiguous() if isinstance(image, torch.Tensor) else image
    texts = (migration_of(row).text, T), (text_of(row), v2)
    actual, expected = (statistics(without_crop(text, module), image) for text, module in texts)
    error = np.sqrt((actual.var(axis=0) + expected.var(axis=0)) / CALLS)
    assert (error > 0).any()
    differences = np.abs(actual.mean(axis=0) - expected.mean(axis=0))
    assert (differences <= MAX_STANDARD_ERRORS * error + 1e-9).all(), (differences, error)
