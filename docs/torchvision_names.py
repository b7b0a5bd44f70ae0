"""Compares the names, parameters and defaults of torchvision with those of cuaug. Needs torchvision."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cuaug import _missing_names
from cuaug._missing_ops import MISSING_OPS

Parameters = dict[str, inspect.Parameter]

# What the tables say about a parameter that differs: by module, name and parameter.
REASONS = {
    ("transforms", "MixUp", "labels_getter"): "labels are passed by name, or second in a tuple",
    ("transforms", "CutMix", "labels_getter"): "labels are passed by name, or second in a tuple",
    ("transforms", "ToDtype", "dtype"): "where torchvision has none",
    ("ops", "box_iou", "fmt"): "as the third parameter is `kind`: pass `fmt=` by name",
}


@dataclass(frozen=True)
class Package:
    """A module of torchvision, and the module of cuaug with its names."""

    name: str
    theirs: str
    ours: str
    is_public: Callable[[Any, str, dict[str, Any]], bool]
    reasons: dict[str, str]  # of names that cuaug lacks


@dataclass(frozen=True)
class Difference:
    """A difference in one name, apart from optional parameters that torchvision lacks."""

    parameter: str = ""  # "" if the name is missing
    what: str = ""  # "missing", "default", "position", "keyword only"; "required": torchvision lacks this parameter


@dataclass
class Comparison:
    """The differences of one name."""

    differences: list[Difference] = field(default_factory=list)
    extra_parameters: list[str] = field(default_factory=list)  # those that torchvision lacks


def _is_class(value: Any, name: str, names: dict[str, Any]) -> bool:
    return inspect.isclass(value)


def _is_function(value: Any, name: str, names: dict[str, Any]) -> bool:
    """Functions for every type of input, not those for one type such as ``resize_mask``; and the enumeration."""
    kernel = re.fullmatch(rf"(\w+)_(?:{'|'.join(_missing_names.KERNEL_SUFFIXES)})", name)
    return (inspect.isfunction(value) and not (kernel and kernel[1] in names)) or inspect.isclass(value)


def _is_in_all(value: Any, name: str, names: dict[str, Any]) -> bool:
    return name in names["__all__"]


PACKAGES = [
    Package(
        "transforms", "torchvision.transforms.v2", "cuaug.transforms", _is_class,
        dict(_missing_names.TRANSFORMS["torchvision"]),
    ),
    Package(
        "functional", "torchvision.transforms.v2.functional", "cuaug.transforms.functional", _is_function,
        dict(_missing_names.FUNCTIONALS["torchvision"]),
    ),
    Package("ops", "torchvision.ops", "cuaug.ops", _is_in_all, dict(MISSING_OPS)),
]  # fmt: skip


def compare(package: Package) -> dict[str, Comparison]:
    """A comparison for each public name of torchvision."""
    names = vars(importlib.import_module(package.theirs))
    public = {name: value for name, value in names.items() if name[0] != "_" and package.is_public(value, name, names)}
    ours = importlib.import_module(package.ours)
    present = {*ours.__all__}
    return {
        name: _compare_parameters(value, getattr(ours, name))
        if name in present
        else Comparison([Difference(what="missing")])
        for name, value in sorted(public.items())
    }


def _compare_parameters(theirs: Any, ours: Any) -> Comparison:
    comparison = Comparison()
    for expected, actual in _signatures(theirs, ours):
        for position, (key, parameter) in enumerate(expected.items()):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if key not in actual:
                comparison.differences.append(Difference(key, "missing"))
            elif _plain(actual[key].default) != _plain(parameter.default):
                comparison.differences.append(Difference(key, "default"))
            elif [*actual].index(key) != position and parameter.kind is not parameter.KEYWORD_ONLY:
                comparison.differences.append(Difference(key, "position"))
            elif actual[key].kind is parameter.KEYWORD_ONLY is not parameter.kind:
                comparison.differences.append(Difference(key, "keyword only"))
        for key, parameter in actual.items():
            if key not in expected and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                comparison.extra_parameters.append(key)
                if parameter.default is parameter.empty:
                    comparison.differences.append(Difference(key, "required"))
    return comparison


def _signatures(theirs: Any, ours: Any) -> list[tuple[Parameters, Parameters]]:
    """The parameters of both functions; of classes, those of the constructors and, in torchvision.ops, of `forward`."""
    if not inspect.isclass(theirs):
        return [(_parameters(theirs), _parameters(ours))]
    if issubclass(theirs, enum.Enum):
        return []
    pairs = [(_parameters(theirs.__init__), _parameters(ours.__init__))]
    if "forward" in vars(theirs) and "forward" in vars(ours) and theirs.__module__.startswith("torchvision.ops"):
        pairs.append((_parameters(theirs.forward), _parameters(ours.forward)))
    return pairs


def _parameters(function: Any) -> Parameters:
    return {name: value for name, value in inspect.signature(function).parameters.items() if name != "self"}


def _plain(default: Any) -> Any:
    """A default in a form that both packages share: members of enumerations by value, dtypes by name."""
    value = getattr(default, "value", default)
    text = str(value)
    if text.startswith("torch."):
        return text.removeprefix("torch.")
    return list(value) if isinstance(value, tuple) else value


def unexplained() -> list[str]:
    """Differences without a reason, and reasons without a difference; empty if the tables are complete."""
    texts, used = list[str](), set[Any]()
    for package in PACKAGES:
        for name, comparison in compare(package).items():
            for difference in comparison.differences:
                key = (package.name, name, difference.parameter)
                if not difference.parameter:
                    if name not in package.reasons:
                        texts.append(f"{package.ours} has no {name}, and no reason")
                    used.add((package.name, name))
                elif key not in REASONS:
                    texts.append(f"{package.ours}.{name}: {difference.what} of {difference.parameter} has no reason")
                used.add(key)
    stale = {*REASONS} | {(p.name, name) for p in PACKAGES for name in p.reasons if name in compare(p)}
    return texts + [f"{key} has a reason, but no difference" for key in sorted(stale - used)]


def table(package: Package) -> str:
    """A row for the equal names, for each group of names that differ alike, and for each reason of missing names."""
    rows = dict[str, list[str]]()
    for name, comparison in compare(package).items():
        rows.setdefault(_answer(package, name, comparison), []).append(name)
    order = sorted(rows, key=lambda answer: (answer.startswith("missing"), answer != SAME))
    lines = [f"| {', '.join(f'`{name}`' for name in rows[answer])} | {answer} |" for answer in order]
    return "\n".join([f"| names of {package.theirs} | in {package.ours} |", "|---|---|", *lines])


SAME = "the same parameters and defaults"


def _answer(package: Package, name: str, comparison: Comparison) -> str:
    parts = []
    for difference in comparison.differences:
        if not difference.parameter:
            return f"missing: {package.reasons[name]}"
        reason = REASONS[package.name, name, difference.parameter]
        parts.append(f"`{difference.parameter}`: {difference.what}, {reason}")
    if comparison.extra_parameters:
        parts.append("also " + ", ".join(f"`{key}=`" for key in dict.fromkeys(comparison.extra_parameters)))
    return "; ".join(parts) or SAME
