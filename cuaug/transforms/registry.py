"""Classes of objects that the description of a recipe may contain, by name."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["from_dict"]

_Class = TypeVar("_Class", bound=type)
_CLASSES: dict[str, type] = {}


def register(cls: _Class) -> _Class:
    """Let `from_dict` create objects of the class by its name."""
    _CLASSES[cls.__name__] = cls
    return cls


def is_registered(name: str) -> bool:
    return name in _CLASSES


def from_dict(description: dict[str, Any]) -> Any:
    """The transform that ``to_dict`` described.

    >>> from cuaug import transforms as T
    >>> T.from_dict({"name": "RandomHorizontalFlip", "p": 0.25})
    RandomHorizontalFlip(p=0.25)
    """
    name = str(description.get("name"))
    if name not in _CLASSES:
        raise ValueError(f"cuaug.from_dict: name must be that of a transform, got {name!r}")
    return _CLASSES[name](**{key: _value_of(value) for key, value in description.items() if key != "name"})


def _value_of(value: Any) -> Any:
    if isinstance(value, dict) and "name" in value:
        return from_dict(value)
    return [_value_of(item) for item in value] if isinstance(value, list) else value
