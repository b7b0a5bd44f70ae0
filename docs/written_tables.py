"""Tables that scripts write into pages, between two comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
END = "<!-- until here -->"


def with_tables(page: str, script: str, tables: Sequence[Callable[[], str]]) -> str:
    """The text of a page, with the tables of a script written anew; a table has the name of its function."""
    text = (ROOT / page).read_text()
    for table in tables:
        start = f"<!-- written by {script}: {table.__name__} -->"
        pattern = re.compile(re.escape(start) + ".*?" + re.escape(END), re.S)
        written = f"{start}\n\n{table()}\n\n{END}"
        text, count = pattern.subn(lambda _, written=written: written, text)
        if count != 1:
            raise ValueError(f"{page} must have one place for {table.__name__}, got {count}")
    return text
