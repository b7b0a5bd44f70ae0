"""Rewrites the imports of a file and its calls of other libraries, and notes what is left to do by hand."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from .. import _missing_names, transforms
from .._equivalents import DALI, Equivalent, Row
from ..transforms import functional
from .equivalent_call import Arguments, EquivalentCall
from .names import MODULES, Names, OtherName, names_of
from .other_code import class_note, find_other_code, functions_of_crops, kernel_calls
from .recipes import Recipes
from .source import Edit, Source, comment_count, is_python
from .values import UNKNOWN, casts_others, literal, pillow_interpolation, refused_mask_fill, text

_PER_IMAGE_NOTE = (
    "runs on one image in a worker process; for one call per batch, give the images one size here, and call the recipe "
    "after the DataLoader: recipe(images.to(device))"
)
_WEIGHTS_NOTE = (
    "OneOf: the p of its entries are weights, and an entry is not a call in the list, unpacks arguments, or has no "
    "counterpart: write the weights as p= of RandomChoice, and p=1 in every entry"
)
_NO_EDIT = "the edit of this place would not be valid Python: edit it by hand"
_ONE = ast.parse("1", mode="eval").body  # the probability of an entry of a choice
# Arguments that `_is_dropped` does not report: `p` goes to RandomApply; `align_corners` does not change warps, and the
# notes of resizes name it; results have the rank of the images in any case (`keepdim`); `separable` changes only speed.
_WITHOUT_EFFECT = {"align_corners", "keepdim", "p", "separable"}
_KERNELS = _missing_names.kernel_advice(functional.__all__)
_OTHER_ROWS: dict[str | None, Any] = {  # module of cuaug, as in `MODULES` -> library -> name -> row
    "cuaug.ops": _missing_names.FUNCTIONS,
    "cuaug.transforms": _missing_names.TRANSFORMS,
    "cuaug.transforms.functional": _missing_names.FUNCTIONALS,
    None: {"DALI": DALI, "OpenCV": _missing_names.FUNCTIONS["OpenCV"], "imgaug": _missing_names.TRANSFORMS["imgaug"]},
}


@dataclass
class Migration:
    """The text of a file for cuaug."""

    text: str
    notes: list[tuple[int, str]] = field(default_factory=list)  # line of the file, and the manual step
    missing: list[str] = field(default_factory=list)  # names that the text still has although cuaug lacks them


def migrate(source: str) -> Migration:
    """Parse a file, and return its text for cuaug. Raises SyntaxError (not Python) or RecursionError (deep nesting)."""
    return _Rewriter(source).migration


class _Rewriter:
    def __init__(self, text: str) -> None:
        self._source = Source(text)
        self.migration = Migration(text)
        tree = self._source.tree
        self._names: Names = names_of(tree)
        self._recipes = Recipes(tree, self._names)
        self._kernel_calls = {*kernel_calls(tree, self._names)}
        self._functions_of_crops = functions_of_crops(tree, self._names)
        self._one_probability = set[ast.expr]()  # calls in a choice, which apply for certain
        other_code = [*find_other_code(tree, self._names)]
        self._new_texts: dict[ast.AST, str] = {finding.node: finding.text for finding in other_code if finding.text}
        edits = self._edits(tree)  # can add to the edits of imports
        edits += [self._source.replace_statement(node, lines) for node, lines in self._names.edits.items()]
        noted = {*self.migration.missing}  # names that got a note at each use
        for node, other in self._names.missing:
            if other.name not in noted:
                self._advise(node, other, _missing_names.STAR_IMPORT if other.name == "*" else self._row(other))
        for finding in other_code:
            if finding.note:
                self._note(finding.node, finding.note)
        self.migration.text = self._source.edited(tree, self._valid(edits))
        self.migration.notes.sort()

    def _valid(self, edits: list[Edit]) -> list[Edit]:
        """The edits after which the file is still Python. The others get a note."""
        if is_python(self._source.edited(self._source.tree, edits)):
            return edits
        valid = list[Edit]()
        for edit in sorted(edits):
            if is_python(self._source.edited(self._source.tree, [*valid, edit])):
                valid.append(edit)
            else:
                self.migration.notes.append((self._source.line(edit.start), _NO_EDIT))
        return valid

    def _write(self, node: ast.expr) -> str:
        if node is _ONE:
            return "1"
        text = self._source.edited(node, self._edits(node))
        # The nodes of these expressions do not include the parentheses.
        return f"({text})" if isinstance(node, (ast.NamedExpr, ast.Yield, ast.YieldFrom)) else text

    def _note(self, node: Any, note: str) -> None:
        if (node.lineno, note) not in self.migration.notes:
            self.migration.notes.append((node.lineno, note))

    def _edits(self, node: ast.AST) -> list[Edit]:
        """The edits inside a node, without those of imports."""
        replacement = self._replacement(node)
        if replacement is not None:
            return [self._source.replace(node, replacement)]
        if isinstance(node, ast.JoinedStr):  # Python 3.11 misplaces its nodes
            self._note_names(node, node)
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr)):
            return []
        edits = list[Edit]()
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.List) and self._is_left_out(child):
                edits.append(self._source.remove_entry(child))
            else:
                edits += self._edits(child)
        return edits

    def _note_names(self, f_string: ast.JoinedStr, node: Any) -> None:
        """Notes about the names in a part of an f-string, which is not edited."""
        callee = node.func if isinstance(node, ast.Call) else None
        other = self._names.resolve(callee or node)
        row = None if other is None else self._row(other)
        if other is None:
            if callee is not None and (self._recipes.is_call(node) or node in self._kernel_calls):
                self._note(f_string, f"{ast.unparse(callee)}(...) is in an f-string: edit it by hand")
        elif _has_counterpart(other):
            if other.same_name != ast.unparse(callee or node) or (callee is not None and isinstance(row, Equivalent)):
                self._note(f_string, f"{other.name} is in an f-string: edit it by hand")
                self._add_missing(other)
        elif other.library != "OpenCV" or row is not None:
            self._advise(f_string, other, row)
        for child in ast.iter_child_nodes(node):
            if other is None or (callee is not None and child is not callee):
                self._note_names(f_string, child)

    def _replacement(self, node: ast.AST) -> str | None:
        """The new text of a node; None if only nodes inside it change."""
        if node in self._new_texts:
            return self._new_texts[node]
        if node in self._functions_of_crops:
            return self._write(self._functions_of_crops[node])
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            self._note_calls_in_dataset(node)
        if isinstance(node, ast.Call):
            other = self._names.resolve(node.func)
            return self._call_site(node) if other is None else self._call(node, other)
        if isinstance(node, (ast.Name, ast.Attribute)):
            other = self._names.resolve(node)
            return None if other is None else self._reference(node, other)
        return None

    def _row(self, other: OtherName) -> Row | None:
        target = MODULES[other.module][1]
        row: Row | None = _OTHER_ROWS[target].get(other.library, {}).get(other.name)
        return _KERNELS.get(other.name) if row is None and target == functional.__name__ else row

    def _is_left_out(self, node: Any) -> bool:
        other = self._names.resolve(node.func) if isinstance(node, ast.Call) else None
        row = None if other is None else self._row(other)
        if other is None or not isinstance(row, str) or not row.startswith("leave it out"):
            return False
        self._note(node, f"{other.name} {row.replace('leave it out', 'is left out', 1)}")
        return True

    def _reference(self, node: Any, other: OtherName) -> str:
        """A name that is not called."""
        if _has_counterpart(other):
            return other.same_name
        self._advise(node, other, self._row(other))
        return self._source.edited(node, [])

    def _advise(self, node: ast.AST, other: OtherName, row: Row | None) -> None:
        """A note about a name that has no equivalent call."""
        advice = row if isinstance(row, str) else row.advice if row else "there is no counterpart in cuaug"
        self._note(node, f"{other.name} of {other.library}: {advice}")
        self._add_missing(other)

    def _add_missing(self, other: OtherName) -> None:
        if other.library != "OpenCV" and other.name not in self.migration.missing:
            self.migration.missing.append(other.name)

    def _call(self, node: ast.Call, other: OtherName) -> str | None:
        row = self._row(other)
        if isinstance(row, Equivalent):
            return self._equivalent(node, other, row)
        function = _counterpart(other)
        if row is None and function is not None:
            self._note_arguments(node, other, function)
            head = self._source.replace(node.func, other.same_name)
            return self._source.edited(node, [head, *self._argument_edits(node, other, function)])
        if other.library != "OpenCV" or row is not None:
            self._advise(node, other, row)
        return self._source.edited(node, self._argument_edits(node, other))

    def _note_arguments(self, node: ast.Call, other: OtherName, function: Any) -> None:
        """Notes about keywords that cuaug does not have, and values that cuaug refuses."""
        parameters = inspect.signature(function).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        hints = _missing_names.ARGUMENTS["__init__"]
        for name, value in _arguments(node, function):
            refused, advice = _missing_names.VALUES.get((other.name, name or ""), (UNKNOWN, ""))
            if refused is not UNKNOWN and literal(value) == refused:
                self._note(node, f"{other.name}({name}={text(refused)}): {advice}")
            if name is not None and name not in parameters and not takes_all:
                hint = hints.get(name, "cuaug has no such parameter: docs/differences.md")
                self._note(node, f"{other.name}({name}=): {hint}")

    def _argument_edits(self, node: ast.Call, other: OtherName, function: Any = None) -> list[Edit]:
        """The edits of a call whose arguments stay. `function`: of cuaug, if one has the name."""
        edits = list[Edit]()
        for name, value in _arguments(node, function):
            replacement = self._value(other.name, name, value) if other.library == "torchvision" else None
            edits += self._edits(value) if replacement is None else [self._source.replace(value, replacement)]
        return edits

    def _value(self, function: str, name: str | None, node: ast.expr) -> str | None:
        """The new text of an argument of torchvision; None if it stays. Adds notes about values that cuaug refuses."""
        path = ".".join(self._names.path(node)) or ast.unparse(node)
        if name == "interpolation" and (interpolation := pillow_interpolation(node, path)) is not None:
            if interpolation:
                return text(interpolation)
            self._note(node, f"{function}(interpolation={ast.unparse(node)}): cuaug does not have this filter")
        if function == "ToDtype" and casts_others(node):
            self._note(node, _missing_names.TO_DTYPE_ENTRIES)
        if name == "fill" and (reason := refused_mask_fill(node)):
            self._note(node, f"{function}: {reason}")
        return None

    def _equivalent(self, node: ast.Call, other: OtherName, row: Equivalent) -> str:
        arguments = Arguments(row, node)
        if not arguments.are_known:
            self._note(node, f"{other.name}: its arguments are not in the call; {row.advice}")
            self._add_missing(other)
            return self._source.edited(node, self._argument_edits(node, other))
        weights = self._weights(node, arguments) if "weights" in row.code else None
        if node in self._one_probability:
            arguments.nodes["p"] = _ONE
        call = EquivalentCall(row, arguments, other.prefix, self._write, weights)
        hints = _missing_names.ARGUMENTS["__init__"]
        unused = [f"{name}=" for name in arguments.nodes if _is_dropped(name, arguments, row)]
        for argument in [*arguments.unknown, *unused]:
            hint = hints.get(argument.removesuffix("="), "it has no counterpart")
            self._note(node, f"{other.name}({argument}) is dropped: {hint}")
        if call.by_hand:
            self._note(node, f"{other.name}: a value is not in the file, or has no equal; finish {call.text} by hand")
        if row.note:
            self._note(node, f"{other.name}: {row.note}")
        if comment_count(self._source.edited(node, [])) > comment_count(call.text):
            self._note(node, f"{other.name}: comments inside the call are dropped")
        return call.text

    def _weights(self, node: ast.Call, arguments: Arguments) -> str | None:
        """The weights of a choice: the list of its entries' `p`; None if they are equal, or their number is unknown."""
        entries: list[ast.expr] | None = getattr(arguments.nodes.get("transforms"), "elts", None)
        weights, are_known = list[str](), entries is not None
        for entry in entries or ():
            if self._is_left_out(entry):
                continue
            other = self._names.resolve(entry.func) if isinstance(entry, ast.Call) else None
            row = None if other is None else self._row(other)
            p = next((keyword.value for keyword in getattr(entry, "keywords", ()) if keyword.arg == "p"), None)
            if isinstance(entry, ast.Call) and isinstance(row, Equivalent):
                self._one_probability.add(entry)
                given = Arguments(row, entry)
                are_known &= all(keyword.arg for keyword in entry.keywords)  # `**options` may hold a p
                p = given.nodes.get("p", given.defaults.get("p"))
            else:
                are_known = False
            weights.append("0.5" if p is None else ast.unparse(p))
        if not are_known:
            self._note(node, _WEIGHTS_NOTE)
        has_unpacked = any(isinstance(entry, ast.Starred) for entry in entries or ())
        return None if has_unpacked or len({*weights}) < 2 else f"[{', '.join(weights)}]"

    def _call_site(self, node: ast.Call) -> str | None:
        """``aug(image=image, mask=mask)`` of Albumentations, ``self._call_kernel``, and ``Data(transform=recipe)``."""
        if self._recipes.is_call(node):
            return f"{self._write(node.func)}({{{', '.join(map(self._dict_entry, node.keywords))}}})"
        if node in self._kernel_calls:
            return self._kernel_call(node)
        callee = ast.unparse(node.func)
        for keyword in node.keywords:
            if keyword.arg in ("transform", "transforms") and callee.rpartition(".")[2][:1].isupper():
                self._note(keyword.value, f"{callee}({keyword.arg}=) {_PER_IMAGE_NOTE}")
        return None

    def _dict_entry(self, keyword: ast.keyword) -> str:
        text = self._write(keyword.value)
        if keyword.arg is not None:
            return f'"{keyword.arg}": {text}'
        # In a dict, `**` takes fewer expressions than in a call: no `or`, for example.
        return f"**{text}" if isinstance(keyword.value, (ast.Name, ast.Attribute, ast.Subscript)) else f"**({text})"

    def _kernel_call(self, node: ast.Call) -> str | None:
        """``F.hflip(image)`` for ``self._call_kernel(F.hflip, image)`` of torchvision's Transform."""
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        function = keywords.get("functional", node.args[0] if node.args else None)
        if function is None or isinstance(function, ast.Starred):
            self._note(node, class_note("_call_kernel"))
            return None
        values = [keywords["inpt"]] if "inpt" in keywords else []
        values += node.args if "functional" in keywords else node.args[1:]
        arguments = [self._write(value) for value in values]
        for keyword in node.keywords:
            if keyword.arg not in ("functional", "inpt"):
                arguments.append(f"{f'{keyword.arg}=' if keyword.arg else '**'}{self._write(keyword.value)}")
        callee = self._write(function)
        if not isinstance(function, (ast.Name, ast.Attribute)):
            callee = f"({callee})"  # a lambda
        return f"{callee}({', '.join(arguments)})"

    def _note_calls_in_dataset(self, function: ast.FunctionDef) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and re.match(r"self\._?\w*(transform|aug)\w*$", ast.unparse(node.func)):
                self._note(node, f"{ast.unparse(node.func)}(...) {_PER_IMAGE_NOTE}")


def _is_dropped(name: str, arguments: Arguments, row: Equivalent) -> bool:
    """Whether an argument has an effect in the other library, and none on the code of the row."""
    if name in _WITHOUT_EFFECT or isinstance(arguments.nodes[name], list) or re.search(rf"\b{name}\b(?!=)", row.code):
        return False
    return name not in arguments.defaults or arguments.value(name) != literal(arguments.defaults[name])


def _has_counterpart(other: OtherName) -> bool:
    """Whether cuaug has an object of the same name."""
    is_imported = other.imported_as != "" and other.name in transforms.__all__  # `names_of` imports it from there
    return is_imported or _counterpart(other) is not None


def _counterpart(other: OtherName) -> Any:
    """The function or the class of cuaug that replaces one of the same name; None if there is none."""
    target = MODULES[other.module][1]
    module = None if target is None else importlib.import_module(target)
    return getattr(module, other.name) if module is not None and other.name in module.__all__ else None


def _arguments(node: ast.Call, function: Any) -> list[tuple[str | None, ast.expr]]:
    """The arguments of a call with their parameters; None for the parameters that are not known."""
    parameters = [] if function is None else inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    if any(isinstance(value, ast.Starred) for value in node.args):
        names = []
    positional = itertools.zip_longest(names[: len(node.args)], node.args)
    return [*positional, *((keyword.arg, keyword.value) for keyword in node.keywords)]
