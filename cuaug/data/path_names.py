"""Finds the name in a table that is the end of a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TypeVar

T = TypeVar("T")


def entry_of_path(entries: Mapping[str, T], path: str) -> T | None:
    """The entry whose name is the end of the path, with as many folders as possible; None if there is none."""
    parts = PurePath(path).parts
    names = ("/".join(parts[first:]) for first in range(len(parts)))
    return next((entries[name] for name in (path, *names) if name in entries), None)
