"""Finds the calls of Albumentations transforms, such as ``self.transform(image=image, mask=mask)``."""

from __future__ import annotations

import ast
import re

from .names import Names
from .source import assigned_targets

# Names of recipes that another file makes: `transform`, `train_transforms`, `self.augmentation`.
_USUAL_NAME = re.compile(r"(\w*_)?(transforms?|aug(ment(ation|er)?)?s?)")


class Recipes:
    """The variables of a file that hold Albumentations transforms."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._variables = set[str]()  # without their owner: "transform" of `self.transform`
        self._functions = set[str]()
        self._has_albumentations = any(path.partition(".")[0] == "albumentations" for path in names.full.values())
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions.add(node.name)
            value = getattr(node, "value", None)
            other = names.resolve(value.func) if isinstance(value, ast.Call) else None
            if other is not None and other.library == "Albumentations":
                self._variables |= {_name(_callable(target)) for target in assigned_targets(node)}

    def is_call(self, node: ast.Call) -> bool:
        """Whether the call is one of a variable that holds transforms, or of an unknown object with a usual name."""
        keywords = [keyword.arg for keyword in node.keywords]
        if node.args or "image" not in keywords or None in keywords:
            return False
        function = _callable(node.func)
        other = self._names.resolve(function)
        if other is not None or _name(function) in self._variables:
            return other is None or other.library == "Albumentations"
        if self._names.path(function) or (function is node.func and _name(function) in self._functions):
            return False
        return self._has_albumentations and _USUAL_NAME.fullmatch(_name(function)) is not None


def _callable(node: ast.expr) -> ast.expr:
    """The expression before subscripts and calls: ``transforms`` of ``transforms["train"]``."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node


def _name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
