"""The text of a call of another library as a call of cuaug, by a row of `_equivalents`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import transforms
from .._equivalents import Equivalent
from .values import HELPERS, UNKNOWN, literal, text

Write = Callable[[ast.expr], str]  # the text of an argument


class Arguments:
    """The arguments of a call, by the parameters of the other library."""

    def __init__(self, row: Equivalent, call: ast.Call) -> None:
        self.nodes: dict[str, Any] = {}  # a node, or a list of nodes for `*args`
        self.unknown: list[str] = []  # names of arguments that the row does not have
        self.layout = ("", ", ", "")  # what precedes, separates and follows the arguments
        if call.args and call.args[0].lineno > call.lineno:
            line = "\n" + " " * call.args[0].col_offset
            self.layout = (line, f",{line}", ",\n" + " " * max(0, call.args[0].col_offset - 4))
        function = ast.parse(f"lambda {row.parameters}: None", mode="eval").body
        assert isinstance(function, ast.Lambda)
        parameters = function.args
        positional = [parameter.arg for parameter in parameters.args]
        defaults = dict(zip(positional[len(positional) - len(parameters.defaults) :], parameters.defaults, strict=True))
        keywords = [parameter.arg for parameter in parameters.kwonlyargs]
        for name, default in zip(keywords, parameters.kw_defaults, strict=True):
            defaults |= {} if default is None else {name: default}
        self.defaults: dict[str, ast.expr] = defaults
        self.names = [*positional, *keywords]
        self.are_known = not any(isinstance(node, ast.Starred) for node in call.args)
        self.are_known &= all(keyword.arg for keyword in call.keywords)
        for index, node in enumerate(call.args):
            if index < len(positional):
                self.nodes[positional[index]] = node
            elif parameters.vararg is not None:
                self.nodes.setdefault(parameters.vararg.arg, []).append(node)
            else:
                self.unknown.append(ast.unparse(node))
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg in self.names:
                self.nodes[keyword.arg] = keyword.value
            else:
                self.unknown.append(f"{keyword.arg}=")
        self.are_known &= {*self.names} <= {*self.nodes, *self.defaults}

    def value(self, name: str) -> Any:
        """The literal value of an argument or a default."""
        node = self.nodes.get(name, self.defaults.get(name))
        return UNKNOWN if node is None or isinstance(node, list) else literal(node)


class EquivalentCall:
    """Writes the code of a row with the arguments of one call."""

    def __init__(self, row: Equivalent, arguments: Arguments, prefix: str, write: Write, weights: str | None) -> None:
        self._arguments, self._prefix, self._write = arguments, prefix, write
        self._weights = weights  # the text that replaces the name `weights`; None to leave the argument out
        self.by_hand = False  # a helper of the row needs a value that the file computes, or cuaug refuses a value
        code = ast.parse(row.code, mode="eval").body
        assert isinstance(code, ast.Call)
        self.text = self._call(code, *(() if "*" in row.code else arguments.layout))
        if row.needs_random_apply and arguments.value("p") not in (1, 1.0):
            p = self._code(ast.Name("p"))
            self.text = f"{prefix}RandomApply([{self.text}], p={p})"
        self.by_hand = self.by_hand or self._is_refused()

    def _is_refused(self) -> bool:
        """Whether cuaug refuses the values. Calls with code of the file are not tried."""
        if any(self._arguments.value(name) is UNKNOWN for name in self._arguments.nodes):
            return False
        scope: Any = vars(transforms)
        for part in reversed(self._prefix.split(".")[:-1]):
            scope = {part: SimpleNamespace(**scope)}
        try:
            eval(self.text, dict(scope))
        except NameError:  # a constant of OpenCV
            return False
        except (TypeError, ValueError):
            return True
        return False

    def _code(self, node: ast.expr) -> str:
        names = {entry.id for entry in ast.walk(node) if isinstance(entry, ast.Name)}
        used = names & {*self._arguments.names}
        if isinstance(node, ast.Name) and used:
            given = self._arguments.nodes.get(node.id)
            return text(self._arguments.value(node.id)) if given is None else self._write(given)
        if names <= {*self._arguments.names, *HELPERS}:
            return self._evaluate(node, used)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.List):
            return self._list(node)
        assert isinstance(node, ast.Name), ast.dump(node)
        return node.id

    def _evaluate(self, node: ast.expr, used: set[str]) -> str:
        values = {name: self._arguments.value(name) for name in used}
        is_known = not any(value is UNKNOWN for value in values.values())
        if is_known:
            try:
                return text(eval(ast.unparse(node), {"__builtins__": {}}, {**HELPERS, **values}))
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                pass  # a value that the other library reads in another way
        # A tuple of names, such as the size (height, width), is complete with code of the file.
        is_complete = isinstance(node, ast.Tuple) and all(isinstance(entry, ast.Name) for entry in node.elts)
        self.by_hand |= is_known or not is_complete
        nodes = {name: (self._arguments.defaults | self._arguments.nodes)[name] for name in used}
        return ast.unparse(_Substitute(nodes).visit(node))

    def _call(self, node: ast.Call, before: str = "", between: str = ", ", after: str = "") -> str:
        assert isinstance(node.func, ast.Name)
        cls = getattr(transforms, node.func.id)
        parts = [self._code(argument) for argument in node.args]
        for keyword in node.keywords:
            if isinstance(keyword.value, ast.Name) and keyword.value.id == "weights":
                value = self._weights
            else:
                value = self._code(keyword.value)
            parameter = inspect.signature(cls).parameters.get(keyword.arg or "")
            if value is not None and (parameter is None or value != text(parameter.default)):
                parts.append(f"{keyword.arg}={value}")
        return f"{self._prefix}{node.func.id}({before}{between.join(parts)}{after})"

    def _list(self, node: ast.List) -> str:
        """The text of a list of transforms. The entries of ``[*args]`` have the layout of the arguments."""
        if isinstance(node.elts[0], ast.Starred):
            (name,) = (entry.id for entry in ast.walk(node) if isinstance(entry, ast.Name))
            before, between, after = self._arguments.layout
            entries = [self._write(entry) for entry in self._arguments.nodes.get(name, [])]
            return f"[{before}{between.join(entries)}{after}]"
        return f"[{', '.join(self._code(entry) for entry in node.elts)}]"


class _Substitute(ast.NodeTransformer):
    """Replaces the parameters of a row by the arguments of a call."""

    def __init__(self, nodes: dict[str, ast.expr]) -> None:
        self._nodes = nodes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._nodes.get(node.id, node)
