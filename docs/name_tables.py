"""Writes the tables of other libraries' names into docs/migration.md and docs/differences.md.

Run ``python docs/name_tables.py`` after a change of a public name, a parameter or a row of `cuaug._equivalents`. It
needs torchvision. A test compares the tables with the two packages.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping

import torchvision_names
from written_tables import ROOT, with_tables

from cuaug import _missing_names
from cuaug._equivalents import ALBUMENTATIONS, DALI, KORNIA, Equivalent, Row


def torchvision() -> str:
    """The code that the command `migrate` has notes about."""
    rows = dict(_missing_names.CLASS_NAMES)
    rows |= {f"{name}(0)": advice for name, advice in _missing_names.SEEDS.items()}
    rows |= {
        f"{name}({parameter}={value!r})".replace("'", '"'): advice
        for (name, parameter), (value, advice) in _missing_names.VALUES.items()
    }
    rows["ToDtype({tv_tensors.BoundingBoxes: torch.float64})"] = _missing_names.TO_DTYPE_ENTRIES
    rows["flip.p = 0.3"] = _missing_names.ATTRIBUTE_ASSIGNMENT
    rows["resize_mask"] = _missing_names.kernel_advice(["resize"])["resize_mask"]
    lines = [f"| `{name}` | {_with_code(advice)} |" for name, advice in rows.items()]
    return "\n".join(["| torchvision | cuaug |", "|---|---|", *lines])


def kornia() -> str:
    return equivalents("kornia", "K", KORNIA)


def albumentations() -> str:
    return equivalents("Albumentations", "A", ALBUMENTATIONS)


def dali() -> str:
    rows = [f"| `fn.{name}` | {_with_code(advice)} |" for name, advice in DALI.items()]
    return "\n".join(["| operator of DALI | cuaug |", "|---|---|", *rows])


def transforms() -> str:
    return torchvision_names.table(torchvision_names.PACKAGES[0])


def functional() -> str:
    return torchvision_names.table(torchvision_names.PACKAGES[1])


def ops() -> str:
    return torchvision_names.table(torchvision_names.PACKAGES[2])


def equivalents(title: str, alias: str, rows: Mapping[str, Row]) -> str:
    """A row for each call; names with one advice share a row."""
    calls = {
        f"`{alias}.{name}({_used_parameters(row)})`": _code(row)
        for name, row in rows.items()
        if isinstance(row, Equivalent)
    }
    advice = dict[str, list[str]]()
    for name, row in rows.items():
        if isinstance(row, str):
            advice.setdefault(row, []).append(f"`{alias}.{name}`")
    calls |= {", ".join(names): _with_code(text) for text, names in advice.items()}
    lines = [f"| {call} | {answer} |".replace("||", "\\|\\|") for call, answer in calls.items()]
    return "\n".join([f"| {title} | cuaug |", "|---|---|", *lines])


def _used_parameters(row: Equivalent) -> str:
    """The names of the parameters that the code, or a `RandomApply` around it, uses."""
    names = re.findall(r"(\*?\b[a-z]\w*)(?==|,|$)", re.sub(r"'[^']*'|\([^)]*\)", "", row.parameters))
    names = [name for name in names if name == "p" or re.search(rf"{re.escape(name)}\b", row.code)]
    return ", ".join(name for name in names if name != "p" or "p=1" not in row.parameters)


def _code(row: Equivalent) -> str:
    code = re.sub(r"\b([A-Z]\w+)\(", r"T.\1(", row.code)
    if row.needs_random_apply and "p=1" not in row.parameters:
        code = f"T.RandomApply([{code}], p)"
    return f"`{code}`" + (f": {row.note}" if row.note else "")


def _with_code(advice: str) -> str:
    """The advice with its names and calls marked as code."""
    return re.sub(r"(?:\b[A-Za-z]+\.)*\b[A-Za-z]\w*\((?:[^()]|\([^()]*\))*\)|\b(?:T|cuaug)\.\w+", r"`\g<0>`", advice)


TABLES: dict[str, list[Callable[[], str]]] = {
    "docs/migration.md": [torchvision, kornia, albumentations, dali],
    "docs/differences.md": [transforms, functional, ops],
}


def page_with_tables(page: str) -> str:
    return with_tables(page, "docs/name_tables.py", TABLES[page])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    importlib.import_module("helpers.torchvision").define_missing_operators()
    for page_name in TABLES:
        (ROOT / page_name).write_text(page_with_tables(page_name))
