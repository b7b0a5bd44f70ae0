"""Code beside the calls of transforms: a user's subclasses, seeds, and attributes that the file assigns."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import _missing_names, transforms
from .._arrays.tv_tensors import TV_TENSORS
from . import values
from .names import MODULES, Names, OtherName
from .source import assigned_targets

_KINDS = {**TV_TENSORS, "Tensor": "images", "is_pure_tensor": "images"}  # by the last part of a name


class Finding(NamedTuple):
    """A place in the file, with a note or a new text."""

    node: Any
    note: str
    text: str = ""


def find_other_code(tree: ast.Module, names: Names) -> Iterator[Finding]:
    """The places that cuaug reads in another way than torchvision, or refuses."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for subclass, is_plain in _transform_classes(tree, names).items():
        yield from _in_class(subclass, is_plain)
    for node in calls:
        owner = names.resolve(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if _is_transform(owner) and ast.unparse(node.func).endswith(".get_params"):
            yield _finding(node, "get_params")
    yield from _seeds(calls, names)
    yield from _assignments(tree, names)


def _is_transform(other: OtherName | None) -> bool:
    return other is not None and other.module.startswith("torchvision.transforms") and other.name in transforms.__all__


def _transform_classes(tree: ast.Module, names: Names) -> dict[ast.ClassDef, bool]:
    """Subclasses of torchvision's transforms, also of each other, and whether all their bases are ``Transform``."""
    classes = dict[str, bool]()  # by name
    nodes = dict[ast.ClassDef, bool]()
    in_file = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in sorted(in_file, key=lambda node: node.lineno):  # a base stands before its subclasses
        bases = [base for base in map(names.resolve, node.bases) if base is not None and _is_transform(base)]
        own_bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
        if bases or own_bases:
            nodes[node] = classes[node.name] = all([*own_bases, *(base.name == "Transform" for base in bases)])
    return nodes


def kernel_calls(tree: ast.Module, names: Names) -> Iterator[ast.Call]:
    """The calls of ``self._call_kernel`` in subclasses of torchvision's transforms."""
    for node in _transform_classes(tree, names):
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "self._call_kernel":
                yield call


def functions_of_crops(tree: ast.Module, names: Names) -> dict[ast.AST, ast.expr]:
    """The function of each ``Lambda(function)`` of torchvision v1 after ``FiveCrop`` or ``TenCrop``, by the call.

    In v1 the function gets all crops; `Lambda` of v2 and of cuaug calls the function with each crop.
    """
    functions = dict[ast.AST, ast.expr]()
    for node in ast.walk(tree):
        for before, entry in itertools.pairwise(getattr(node, "elts", ())):
            if _name_in_v1(before, names) in ("FiveCrop", "TenCrop") and _name_in_v1(entry, names) == "Lambda":
                arguments = [*entry.args, *(keyword.value for keyword in entry.keywords)]
                if len(arguments) == 1 and not isinstance(arguments[0], ast.Starred):
                    functions[entry] = arguments[0]
    return functions


def _name_in_v1(node: ast.AST, names: Names) -> str:
    """The name of the transform of torchvision v1 that the expression makes, or an empty text."""
    other = names.resolve(node.func) if isinstance(node, ast.Call) else None
    is_in_v1 = other is not None and other.module in ("torchvision.transforms", "torchvision.transforms.transforms")
    return other.name if other is not None and is_in_v1 else ""


def _in_class(node: ast.ClassDef, is_plain: bool) -> Iterator[Finding]:
    """Members that a subclass of a transform has under torchvision's names, and calls of methods of the base class.

    `is_plain`: all bases of the subclass are ``Transform``.
    """
    members = _missing_names.CLASS_NAMES.keys() - {"get_params"}
    for statement in node.body:
        targets = [ast.unparse(target) for target in assigned_targets(statement)]
        if isinstance(statement, ast.FunctionDef) and statement.name in members:
            yield _finding(statement, statement.name)
        elif "_transformed_types" in targets:
            is_replaceable = isinstance(statement, (ast.Assign, ast.AnnAssign)) and len(targets) == 1
            types = getattr(getattr(statement, "value", None), "elts", []) if is_replaceable else []
            kinds = [_KINDS.get(ast.unparse(entry).rpartition(".")[2], "") for entry in types]
            text = f"transformed_kinds = {values.text(tuple(dict.fromkeys(kinds)))}"
            yield Finding(statement, "", text) if kinds and all(kinds) else _finding(statement, "_transformed_types")
    for call in (entry.func for entry in ast.walk(node) if isinstance(entry, ast.Call)):
        name = ast.unparse(call).replace("super().get_params", "get_params").removeprefix("self.")
        if name == "get_params" or (name in _missing_names.CLASS_NAMES and name[:5] == "super" and not is_plain):
            yield _finding(call, name)


def class_note(name: str) -> str:
    """The note about a member of a subclass of a transform."""
    return f"{name} of a transform: {_missing_names.CLASS_NAMES[name]}"


def _finding(node: ast.AST, name: str) -> Finding:
    return Finding(node, class_note(name))


def _seeds(calls: Sequence[ast.Call], names: Names) -> Iterator[Finding]:
    """Seeds of torch in a file that has transforms, unless a recipe of the file has a seed."""
    others = [(node, names.resolve(node.func)) for node in calls]
    recipes = [node for node, other in others if other is not None and MODULES[other.module][1] == "cuaug.transforms"]
    if recipes and not any(keyword.arg == "seed" for node in recipes for keyword in node.keywords):
        for node in calls:
            name = ".".join(names.path(node.func))
            if name in _missing_names.SEEDS:
                yield Finding(node, f"{name}: {_missing_names.SEEDS[name]}")


def _assignments(tree: ast.Module, names: Names) -> Iterator[Finding]:
    """Attributes of transforms that the file assigns: of ``flip``, ``self.flip`` and ``recipe.transforms[0]``."""
    classes = dict[str, str]()  # class name by the source text of the object
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        other = names.resolve(value.func) if isinstance(value, ast.Call) else None
        if other is not None and _is_transform(other):
            classes |= {ast.unparse(target): other.name for target in assigned_targets(node)}
    for node in ast.walk(tree):
        for target in assigned_targets(node):
            if isinstance(target, ast.Attribute) and _is_parameter(target, classes):
                yield Finding(node, f"{ast.unparse(target)} = ...: {_missing_names.ATTRIBUTE_ASSIGNMENT}")


def _is_parameter(target: ast.Attribute, classes: Mapping[str, str]) -> bool:
    """Whether the attribute is a parameter of a transform. `classes`: class name by the source text of the object."""
    owner = ast.unparse(target.value)
    recipe = re.match(r"(.+)\.transforms\[.+\]$", owner)
    if recipe is not None:
        return recipe[1] in classes
    if owner not in classes or target.attr in ("seed", "transforms"):
        return False
    return target.attr in inspect.signature(getattr(transforms, classes[owner])).parameters
