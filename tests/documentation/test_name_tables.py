"""The tables of other libraries' names: written by docs/name_tables.py, compared with torchvision."""

import dataclasses
import importlib
import sys

import pytest
from helpers.pages import ROOT

pytest.importorskip("torchvision.transforms.v2")


@pytest.fixture(scope="module", autouse=True)
def _docs():
    sys.path.insert(0, str(ROOT / "docs"))
    yield
    sys.path.remove(str(ROOT / "docs"))


@pytest.fixture
def names():
    return importlib.import_module("torchvision_names")


def test_every_difference_from_torchvision_has_a_reason(names):
    """A name that is missing, and a parameter that is missing, moved, keyword only or has another default."""
    assert names.unexplained() == []


def test_torchvision_names_are_all_compared(names):
    counts = {package.name: len(names.compare(package)) for package in names.PACKAGES}
    assert counts == {"transforms": 65, "functional": 57, "ops": 39}


@pytest.mark.parametrize("page", ["docs/migration.md", "docs/differences.md"])
def test_tables_of_names_are_those_of_the_packages(page):
    name_tables = importlib.import_module("name_tables")
    assert set(name_tables.TABLES) == {"docs/migration.md", "docs/differences.md"}
    assert (ROOT / page).read_text() == name_tables.page_with_tables(page), "run `python docs/name_tables.py`"


class Theirs:
    def __init__(self, size, mode=3, *, p=0.5, **others):
        pass


class Ours:
    def __init__(self, mode=4, size=None, *, p=0.5, layout, seed=1):
        pass


class WithKeyword:
    def __init__(self, size, *, mode=3):
        pass


@pytest.mark.parametrize(
    ("ours", "differences", "extra_parameters"),
    [
        (Theirs, [], []),
        (
            Ours,
            [("size", "default"), ("mode", "default"), ("layout", "required")],
            ["layout", "seed"],
        ),
        (WithKeyword, [("mode", "keyword only"), ("p", "missing")], []),
    ],
)
def test_comparison_finds_parameters_that_differ(names, ours, differences, extra_parameters):
    comparison = names._compare_parameters(Theirs, ours)
    assert [(difference.parameter, difference.what) for difference in comparison.differences] == differences
    assert comparison.extra_parameters == extra_parameters


def test_unexplained_names_what_has_no_reason_and_what_needs_none(names, monkeypatch):
    ops = names.PACKAGES[2]
    reasons = {"nms": "none is needed"} | {key: text for key, text in ops.reasons.items() if key != "StochasticDepth"}
    monkeypatch.setattr(names, "PACKAGES", [dataclasses.replace(ops, reasons=reasons)])
    monkeypatch.setattr(names, "REASONS", {("ops", "nms", "boxes"): "none is needed"})
    assert names.unexplained() == [
        "cuaug.ops has no StochasticDepth, and no reason",
        "cuaug.ops.box_iou: position of fmt has no reason",
        "('ops', 'nms') has a reason, but no difference",
        "('ops', 'nms', 'boxes') has a reason, but no difference",
    ]
