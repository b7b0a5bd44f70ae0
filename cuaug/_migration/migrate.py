"""Rewrites a file: its imports, the calls of other libraries, and what is left to do by hand."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from .. import _missing_names, _option_names, transforms
from .._equivalents import DALI, Equivalent, Row
from .equivalent_call import Arguments, EquivalentCall
from .names import MODULES, Names, OtherName, names_of
from .values import literal, text

_BATCH = (
    "runs on one image in a worker process; for one call per batch, give the images one size here, and call the recipe "
    "after the DataLoader: recipe(images.to(device))"
)
_ONE = ast.parse("1", mode="eval").body  # the probability of an entry of a choice
_OTHER_ROWS: dict[str | None, Any] = {
    "cuaug.ops": _missing_names.FUNCTIONS,
    "cuaug.transforms": _missing_names.TRANSFORMS,
    "cuaug.transforms.functional": _missing_names.FUNCTIONALS,
    None: {"DALI": DALI, "OpenCV": _missing_names.FUNCTIONS["OpenCV"], "imgaug": _missing_names.TRANSFORMS["imgaug"]},
}


@dataclass
class Migration:
    """The text of a file for cuaug."""

    text: str
    notes: list[tuple[int, str]] = field(default_factory=list)  # line of the file, and what the text does not say
    missing: list[str] = field(default_factory=list)  # names that the text still has although cuaug lacks them


def migrate(source: str) -> Migration:
    """Parse a file, and return its text for cuaug. Raises a SyntaxError for text that is not Python."""
    return _Rewriter(source).migration


class _Rewriter:
    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        lengths = [len(line) for line in self._bytes.splitlines(keepends=True)]
        self._starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self.migration = Migration(source)
        tree = ast.parse(source)
        self._names: Names = names_of(tree)
        self._one_probability = set[ast.expr]()  # calls in a choice, which apply for certain
        body = [(node, self._edits(node)) for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        edits = [edit for _, found in body for edit in found]
        edits += [(*self._span(node), replacement) for node, replacement in self._names.edits.items()]
        self.migration.text = self._spliced(0, len(self._bytes), edits)
        self.migration.notes.sort()

    def _span(self, node: Any) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset
        )  # fmt: skip

    def _spliced(self, start: int, end: int, edits: list[tuple[int, int, str]]) -> str:
        parts, position = list[bytes](), start
        for first, last, replacement in sorted(edits):
            parts += [self._bytes[position:first], replacement.encode()]
            position = last
            if not replacement and self._bytes[position : position + 1] == b"\n" and parts[-2][-1:] in (b"", b"\n"):
                position += 1  # a removed import or entry leaves no empty line
        return b"".join([*parts, self._bytes[position:end]]).decode()

    def _write(self, node: ast.expr) -> str:
        return self._spliced(*self._span(node), self._edits(node))

    def _note(self, node: Any, note: str) -> None:
        if (node.lineno, note) not in self.migration.notes:
            self.migration.notes.append((node.lineno, note))

    def _edits(self, node: ast.AST) -> list[tuple[int, int, str]]:
        """The edits inside a node."""
        replacement = self._replacement(node)
        if replacement is not None:
            return [(*self._span(node), replacement)]
        edits = list[tuple[int, int, str]]()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.List) and self._is_left_out(child):
                edits.append((*self._entry_span(child), ""))
            else:
                edits += self._edits(child)
        return edits

    def _replacement(self, node: ast.AST) -> str | None:
        """The new text of a node; None if only nodes inside it change."""
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
        return _OTHER_ROWS[MODULES[other.module][1]].get(other.library, {}).get(other.name)

    def _is_left_out(self, node: Any) -> bool:
        other = self._names.resolve(node.func) if isinstance(node, ast.Call) else None
        row = None if other is None else self._row(other)
        if other is None or not isinstance(row, str) or not row.startswith("leave it out"):
            return False
        self._note(node, f"{other.name} {row.replace('leave it out', 'is left out', 1)}")
        return True

    def _entry_span(self, node: Any) -> tuple[int, int]:
        """Of an entry of a list, with its comma, and its line if it has one alone."""
        start, end = self._span(node)
        after = re.match(rb"\s*,[ \t]*", self._bytes[end:])
        before = (
            re.search(rb",?\s*$", self._bytes[:start]) if after is None else re.search(rb"[ \t]*$", self._bytes[:start])
        )
        assert before is not None
        return before.start(), end if after is None else end + after.end()

    def _reference(self, node: Any, other: OtherName) -> str | None:
        """A name that is not called."""
        target = MODULES[other.module][1]
        if target is not None and other.name in importlib.import_module(target).__all__:
            return f"{other.prefix}{other.name}"
        if other.prefix == "" and other.name in transforms.__all__:  # `names_of` imports it from there
            return other.name
        self._advise(node, other, self._row(other))
        return None

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
        target = MODULES[other.module][1]
        if target is not None and row is None and other.name in importlib.import_module(target).__all__:
            head = (*self._span(node.func), f"{other.prefix}{other.name}")
            return self._spliced(*self._span(node), [head, *self._argument_edits(node, other)])
        if other.library != "OpenCV" or row is not None:
            self._advise(node, other, row)
        return self._spliced(*self._span(node), self._argument_edits(node, other))

    def _argument_edits(self, node: ast.Call, other: OtherName) -> list[tuple[int, int, str]]:
        """Of a call that cuaug has under the same name."""
        edits = list[tuple[int, int, str]]()
        values = [(None, value) for value in node.args] + [(keyword.arg, keyword.value) for keyword in node.keywords]
        for name, value in values:
            replacement = self._value(name, value) if other.library == "torchvision" else None
            edits += self._edits(value) if replacement is None else [(*self._span(value), replacement)]
        return edits

    def _value(self, name: str | None, node: ast.expr) -> str | None:
        """A value of torchvision that cuaug does not take: numbers and names of Pillow, a dict by type."""
        if name in ("interpolation", None) and (member := re.search(r"^(?:PIL\.)?Image\.([A-Z]+)$", ast.unparse(node))):
            return text(member[1].lower())
        number = literal(node)
        if name == "interpolation" and isinstance(number, int) and number in _option_names.PILLOW_INTERPOLATIONS:
            return text(_option_names.PILLOW_INTERPOLATIONS[number])
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and ast.unparse(key).endswith("Image"):
                    self._note(
                        node, "one value, for images: masks, boxes and labels keep their dtype, masks get 0 outside"
                    )
                    return self._write(value)
        return None

    def _equivalent(self, node: ast.Call, other: OtherName, row: Equivalent) -> str:
        arguments = Arguments(row, node)
        if not arguments.are_known:
            self._note(node, f"{other.name}: its arguments are not in the call; {row.advice}")
            self._add_missing(other)
            return self._spliced(*self._span(node), self._argument_edits(node, other))
        weights = self._weights(arguments) if "weights" in row.code else None
        if node in self._one_probability:
            arguments.nodes["p"] = _ONE
        call = EquivalentCall(row, arguments, other.prefix, self._write_argument, weights)
        hints = _missing_names.ARGUMENTS["__init__"]
        unused = [f"{name}=" for name in arguments.nodes if name in hints and not re.search(rf"\b{name}\b", row.code)]
        for argument in [*arguments.unknown, *unused]:
            hint = hints.get(argument.removesuffix("="), "it has no counterpart")
            self._note(node, f"{other.name}({argument}) is dropped: {hint}")
        if call.by_hand:
            self._note(node, f"{other.name}: a value is not in the file, or has no equal; finish {call.text} by hand")
        if row.note:
            self._note(node, f"{other.name}: {row.note}")
        return call.text

    def _write_argument(self, node: ast.expr) -> str:
        return "1" if node is _ONE else self._write(node)

    def _weights(self, arguments: Arguments) -> str | None:
        """Of a choice whose entries' `p` are weights: their list, or None if they are equal."""
        entries = getattr(arguments.nodes.get("transforms"), "elts", [])
        weights = []
        for entry in entries:
            other = self._names.resolve(entry.func) if isinstance(entry, ast.Call) else None
            row = None if other is None else self._row(other)
            self._one_probability.add(entry)
            weights.append(Arguments(row, entry).value("p") if isinstance(row, Equivalent) else 0.5)
        return None if len({*map(str, weights)}) < 2 else text(weights)

    def _call_site(self, node: ast.Call) -> str | None:
        """``aug(image=image, mask=mask)`` of Albumentations, and data sets that call a recipe."""
        names = [keyword.arg for keyword in node.keywords]
        if not node.args and "image" in names and None not in names and "albumentations" in str(self._names.full):
            entries = ", ".join(f'"{keyword.arg}": {self._write(keyword.value)}' for keyword in node.keywords)
            return f"{self._write(node.func)}({{{entries}}})"
        if isinstance(node.func, ast.Attribute) and node.func.attr == "_call_kernel":  # of torchvision's Transform
            arguments = [self._write(value) for value in node.args[1:]]
            arguments += [f"{keyword.arg}={self._write(keyword.value)}" for keyword in node.keywords]
            return f"{self._write(node.args[0])}({', '.join(arguments)})"
        for keyword in node.keywords:
            if keyword.arg in ("transform", "transforms") and ast.unparse(node.func).rpartition(".")[2][:1].isupper():
                self._note(keyword.value, f"{ast.unparse(node.func)}({keyword.arg}=) {_BATCH}")
        return None

    def _note_calls_in_dataset(self, function: ast.FunctionDef) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and re.match(r"self\._?\w*(transform|aug)\w*$", ast.unparse(node.func)):
                self._note(node, f"{ast.unparse(node.func)}(...) {_BATCH}")
