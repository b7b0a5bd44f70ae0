"""Targets that are nested lists of numbers, and empty targets without the axes of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.registry import library_of

LISTED_KINDS = ("boxes", "keypoints")


class ListedNumbers(np.ndarray):
    """Numbers of nested lists. The result in their place is an array of the images' library."""


def listed_numbers(node: Sequence[Any], kind: str) -> Any:
    """The numbers as float32: an array, or for lists of samples a list of arrays; None for other values.

    Boxes on three levels are those of several samples. Keypoints on three levels are an array, which fits both several
    samples and several objects of one, unless the lengths differ.
    """
    numbers = _number_array(node)
    has_numbers = numbers is not None and numbers.size > 0
    if numbers is not None and (numbers.shape == (0,) or (has_numbers and (numbers.ndim == 2 or kind == "keypoints"))):
        return numbers
    entries = [listed_numbers(entry, kind) if isinstance(entry, (list, tuple)) else _array(entry) for entry in node]
    return None if any(entry is None or isinstance(entry, list) for entry in entries) else entries


def empty_masks() -> ListedNumbers:
    """The masks of a sample without objects, from ``[]``."""
    return np.zeros(0, np.uint8).view(ListedNumbers)


def _array(entry: Any) -> Any:
    return entry if library_of(type(entry)) is not None else None


def _number_array(node: Sequence[Any]) -> ListedNumbers | None:
    try:
        array = np.asarray(node)
    except (TypeError, ValueError, RuntimeError):  # rows of several lengths; tensors on a device
        return None
    with np.errstate(over="ignore"):  # numbers beyond float32 are infinite
        return array.astype(np.float32).view(ListedNumbers) if array.dtype.kind in "iuf" else None


def with_library(value: ListedNumbers, images: Any) -> Any:
    """The numbers as an array of the images' library, on their device."""
    return convert.asarray(value.view(np.ndarray), like=images, dtype=value.dtype.name)


def with_axes(kind: str, values: list[Any]) -> list[Any]:
    """Arrays of the samples. Those of shape (0,), from `[]`, get the dtype and, except masks, the axes of their kind.

    The axes are those of another sample, else [B, 4] for boxes and [P, 2] for keypoints; masks get theirs in
    `with_mask_axes`, which knows the size. The dtype is that of another sample: an empty array must not change the
    dtype of the result.
    """
    example = next((value for value in values if len(value.shape) > 1), None)
    default = {"boxes": (4,), "keypoints": (2,), "masks": ()}[kind]
    shape = default if example is None or kind == "masks" else tuple(example.shape[1:])

    def with_shape(value: Any) -> Any:
        if tuple(value.shape) != (0,):
            return value
        dtype = convert.dtype_name((value if example is None else example).dtype)
        return convert.asarray(value.reshape((0, *shape)), like=value, dtype=dtype)

    return [with_shape(value) for value in values]
