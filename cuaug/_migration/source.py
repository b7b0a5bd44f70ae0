"""The text of a file by the nodes of its syntax tree, and edits of it."""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
import warnings
from typing import Any, NamedTuple


class Edit(NamedTuple):
    """Bytes of the file, and the text in their place."""

    start: int
    end: int
    text: str


_SPACE = rb"(?:\s|#[^\n]*\n)*"  # between two tokens in brackets: white space and comments


def assigned_targets(node: ast.AST) -> list[ast.expr]:
    """The targets of ``x = y = 1``, ``x, y = 1, 2``, ``x += 1``, ``x: int = 1`` and ``x := 1``; [] for other nodes."""
    if isinstance(node, ast.Assign):
        return [part for target in node.targets for part in getattr(target, "elts", [target])]
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) else []


def comment_count(code: str) -> int:
    """The number of comments in the text of an expression."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(code).readline))


def is_python(code: str) -> bool:
    """Whether the text of a file can be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "\d", for example, which the file has, too
            ast.parse(code)
    except SyntaxError:
        return False
    return True


class Source:
    """The text of a file and its syntax tree, in bytes of UTF-8, which the columns of the tree count."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._starts = [0]  # of lines
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.tree = ast.parse(text)

    def replace(self, node: Any, text: str) -> Edit:
        """An edit that gives a node another text."""
        start, end = self._span(node)
        return Edit(start, end, re.sub("\r?\n", self._newline, text))

    def replace_statement(self, node: ast.stmt, lines: list[str]) -> Edit:
        """An edit that gives a statement other lines; without any it removes the statement, with its line."""
        start, end = self._span(node)
        before = self._bytes[self._starts[node.lineno - 1] : start]
        if before.strip():  # `if x: import y` and `x = 1; import y`
            return self.replace(node, "; ".join(lines or ["pass"]))
        if lines:
            return self.replace(node, f"\n{before.decode()}".join(lines))
        is_last = re.match(rb"[ \t]*;", self._bytes[end:]) is None
        return Edit(start - len(before), end, "") if is_last else Edit(start, end, "pass")

    def remove_entry(self, node: Any) -> Edit:
        """An edit that removes an entry of a list, with its comma, and its line if it has one alone."""
        start, end = self._span(node)
        while (opening := re.search(rb"\(" + _SPACE + rb"\Z", self._bytes[:start])) is not None:
            closing = re.match(_SPACE + rb"\)", self._bytes[end:])
            if closing is None:
                break
            start, end = opening.start(), end + closing.end()
        after = re.match(_SPACE + rb",[ \t]*", self._bytes[end:])
        # A comma in a line above stays, as it may be part of a comment.
        before = re.search(rb",?[ \t]*\Z" if after is None else rb"[ \t]*\Z", self._bytes[:start])
        assert before is not None  # both patterns match an empty text
        return Edit(before.start(), end if after is None else end + after.end(), "")

    def edited(self, node: Any, edits: list[Edit]) -> str:
        """The text of a node after the edits inside it; of the whole file for the tree."""
        position, end = (0, len(self._bytes)) if node is self.tree else self._span(node)
        parts = list[bytes]()
        for edit in sorted(edits):
            parts += [self._bytes[position : edit.start], edit.text.encode()]
            position = edit.end
            text_before = next((part for part in reversed(parts[:-1]) if part), b"\n")
            begins_line = text_before.endswith(b"\n")
            newline = re.match(rb"\r?\n", self._bytes[position : position + 2])
            if not edit.text and begins_line and newline is not None:
                position += newline.end()  # a removed import or entry leaves no empty line
        return b"".join([*parts, self._bytes[position:end]]).decode()

    def line(self, position: int) -> int:
        """The line of a byte, from 1."""
        return bisect.bisect_right(self._starts, position)

    def _span(self, node: Any) -> tuple[int, int]:
        start, end = self._starts[node.lineno - 1], self._starts[node.end_lineno - 1]
        return start + node.col_offset, end + node.end_col_offset
