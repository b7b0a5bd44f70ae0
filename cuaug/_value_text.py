"""The text of a user's value in a message."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

_MAX_CHARACTERS = 80  # of a string, of an int, or of an object of another type


class _Repr(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # more digits than `sys.get_int_max_str_digits()`
            return f"an int of {x.bit_length()} bits"


_repr = _Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = _MAX_CHARACTERS
_repr.maxtuple = _repr.maxlist = _repr.maxdict = _repr.maxarray = 8  # entries


def value_text(value: Any) -> str:
    """The value's `repr`, shortened and on one line; of an array of more than 8 numbers, its shape and dtype."""
    if is_array(value):
        if np.prod(getattr(value, "shape", ())) > 8:
            return array_text(value)
        text = repr(value)
    else:
        text = _repr.repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 2 * _MAX_CHARACTERS else f"{text[: 2 * _MAX_CHARACTERS - 3]}..."


def is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and not isinstance(value, (np.generic, type))


def array_text(array: Any) -> str:
    device = "" if is_on_host(array) else f" on {array.device}"
    return f"an array of shape {tuple(getattr(array, 'shape', ()))} and dtype {array.dtype}{device}"


def is_on_host(value: Any) -> bool:
    if not hasattr(value, "__dlpack_device__"):
        return True
    try:
        return int(value.__dlpack_device__()[0]) in (1, 3)  # DLPack's codes of CPU memory and of pinned host memory
    except (BufferError, RuntimeError, TypeError, ValueError):  # such as a tensor on torch's "meta" device
        return False
