"""The text of a user's value in a message."""

from __future__ import annotations

import reprlib
from typing import Any

_LENGTH = 80  # characters of a text, or of a value without a length

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = _LENGTH
_repr.maxtuple = _repr.maxlist = _repr.maxdict = _repr.maxarray = 8  # entries


def value_text(value: Any) -> str:
    """As `repr`, but short and on one line: a value may be an array."""
    text = " ".join(_repr.repr(value).split())
    return text if len(text) <= 2 * _LENGTH else f"{text[: 2 * _LENGTH - 3]}..."
