"""Checks of paths, and look-up of a path's entry in a table by the end of the path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar

T = TypeVar("T")


def checked_path(parameter: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{parameter} must be a path, got {type(value).__name__}")
    return Path(value)


def normal_path(path: str) -> str:
    """The path without "./" and other parts that do not change it; absolute if it begins with "../"."""
    path = os.path.normpath(path)
    return os.path.abspath(path) if PurePath(path).parts[:1] == ("..",) else path  # noqa: PTH100 (links stay)


def entry_of_path(entries: Mapping[str, T], path: str) -> T | None:
    """The entry whose name is the end of the path, with as many folders as possible; None if there is none.

    The names are results of `normal_path`, relative or absolute.
    """
    path = os.path.abspath(path)  # noqa: PTH100 (links stay)
    parts = PurePath(path).parts
    names = ("/".join(parts[first:]) for first in range(1, len(parts)))
    return next((entries[name] for name in (path, *names) if name in entries), None)
