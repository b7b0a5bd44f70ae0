"""Labels of a dataset: integers, or numbers in arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .._arrays.convert import host_values
from .._value_text import value_text
from .receivers import holds_numbers


def integer_label(value: Any, rule: str = "labels must be integers", subject: str = "") -> int:
    """A label of an image, which fits into 64 bits. `rule` and `subject` are the beginning and the end of messages."""
    try:
        label = operator.index(bool(value) if isinstance(value, np.bool_) else value)
    except TypeError as error:
        raise TypeError(f"{rule}, got {value_text(value)}{subject}") from error
    if not -1 << 63 <= label < 1 << 63:
        raise ValueError(f"{rule} of 64 bits, got {value_text(label)}{subject}")
    return label


def label_array(labels: Any, count: int) -> np.ndarray:
    """The labels of a dataset, in the byte order of the machine: an array of any library, or a list. [N, ...]"""
    array = host_values("source.labels", labels)
    if not holds_numbers(array) or array.shape[:1] != (count,):
        rule = f"real numbers of at most 64 bits, one for each of {count} images"
        raise ValueError(f"source.labels must be {rule}, got {array.dtype} of shape {array.shape}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
