"""Parameters that torchvision takes as a dict by type: one value for images, another one for masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._arrays.registry import library_of
from .._arrays.tv_tensors import kind_of_type
from .._integers import python_value
from .._value_text import value_text


class ValuesByKind(NamedTuple):
    """The entries of a dict by type; None where the dict has none."""

    images: Any = None
    masks: Any = None
    boxes: Any = None
    keypoints: Any = None
    others: Any = None  # of "others", or of a defaultdict


def values_by_kind(name: str, values: Mapping[Any, Any]) -> ValuesByKind:
    """The entries by kind. `name`: of the parameter. A class of arrays or of images of Pillow stands for images."""
    factory = getattr(values, "default_factory", None)
    by_kind: dict[Any, Any] = {} if factory is None else {"others": factory()}
    for key, value in values.items():
        kind = "others" if key == "others" else _kind_of_key(key)
        if kind in by_kind and kind not in ("others", None) and not _are_equal(by_kind[kind], value):
            raise ValueError(
                f"{name} must have one value for all {kind}, got {value_text(by_kind[kind])} and {value_text(value)}"
            )
        by_kind[kind] = value
    if not by_kind or None in by_kind:
        raise TypeError(
            f"{name} must be one value, or a dict by type (tv_tensors.Image or 'images', tv_tensors.Mask or 'masks', "
            f"..., 'others'), got {value_text(values)}"
        )
    return ValuesByKind(**by_kind)


def _are_equal(a: Any, b: Any) -> bool:
    """Whether numbers, or sequences of numbers, of any library are equal; NaN is equal to NaN."""
    a, b = python_value(a), python_value(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    return bool(a == b or (a != a and b != b))


def _kind_of_key(key: Any) -> str | None:
    """The kind that a key of the dict stands for; None if it stands for none."""
    if key in ("images", "masks"):
        return str(key)
    if not isinstance(key, type):
        return None
    return kind_of_type(key) or (None if library_of(key) is None else "images")
