"""Finds the calls of Albumentations transforms, such as ``self.transform(image=image, mask=mask)``."""

from __future__ import annotations

import ast
import re

from .names import Names
from .source import assigned_targets

# Names of recipes that another file makes: `transform`, `train_transforms`, `self.augmentation`.
_USUAL_NAME = re.compile(r"(\w*_)?(transforms?|aug(ment(ation|er)?)?s?)")


class Recipes:
    """The variables and functions of a file that hold or return Albumentations transforms."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._has_albumentations = any(path.partition(".")[0] == "albumentations" for path in names.full.values())
        nodes = [*ast.walk(tree)]
        functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        self._functions = {function.name for function in functions}
        self._makers = set[str]()  # functions that return transforms
        self._makers = {function.name for function in functions if self._returns_transforms(function)}
        # Without their owner: "transform" of `self.transform`.
        self._variables = {
            _name(_callable(target))
            for node in nodes
            for target in assigned_targets(node)
            if self._holds_transforms(getattr(node, "value", None)) or self._is_annotated_as_transform(node)
        }
        parameters = [node for node in nodes if isinstance(node, ast.arg)]
        self._variables |= {parameter.arg for parameter in parameters if self._is_annotated_as_transform(parameter)}

    def is_call(self, node: ast.Call) -> bool:
        """Whether the call is one of a variable that holds transforms, or of an unknown object with a usual name."""
        keywords = {keyword.arg for keyword in node.keywords}  # None: unpacked, `**sample`
        if node.args or keywords.isdisjoint(("image", None)):
            return False
        has_image, function = "image" in keywords, _callable(node.func)
        other, name, is_direct = self._names.resolve(function), _name(function), function is node.func
        if other is not None:
            return other.library == "Albumentations" and (has_image or not is_direct)
        if name in self._variables or (name in self._makers and not is_direct):
            return True
        if not has_image or self._names.path(function) or (is_direct and name in self._functions):
            return False
        return self._has_albumentations and _USUAL_NAME.fullmatch(name) is not None

    def _is_annotated_as_transform(self, node: ast.AST) -> bool:
        annotation = getattr(node, "annotation", None)
        others = map(self._names.resolve, ast.walk(annotation) if annotation is not None else ())
        return any(other is not None and other.library == "Albumentations" for other in others)

    def _returns_transforms(self, function: ast.AST) -> bool:
        return any(isinstance(node, ast.Return) and self._holds_transforms(node.value) for node in ast.walk(function))

    def _holds_transforms(self, value: ast.expr | None) -> bool:
        """Whether an expression is a transform, or a conditional or a container with one."""
        if isinstance(value, ast.Call):
            other = self._names.resolve(value.func)
            return other.library == "Albumentations" if other else _name(value.func) in self._makers
        parts: list[ast.expr] = []
        if isinstance(value, ast.IfExp):
            parts = [value.body, value.orelse]
        elif isinstance(value, ast.Dict):
            parts = value.values
        elif isinstance(value, (ast.Tuple, ast.List)):
            parts = value.elts
        return any(map(self._holds_transforms, parts))


def _callable(node: ast.expr) -> ast.expr:
    """The expression before subscripts and calls: ``transforms`` of ``transforms["train"]``."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node


def _name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
