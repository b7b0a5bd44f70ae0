"""Classes of objects that the description of a recipe may contain, by name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any, TypeVar

from .._arrays.convert import dtype_name
from .._check import prefix_errors
from .._descriptions import MAX_VALUES, check_nesting
from .._value_text import value_text

__all__ = ["from_dict"]

_Class = TypeVar("_Class", bound=type)
_CLASSES: dict[str, type] = {}


def register(cls: _Class) -> _Class:
    """Let `from_dict` create objects of the class by its name, and give errors of its constructor their prefix."""
    _CLASSES[cls.__name__] = cls
    if "__init__" in vars(cls):
        constructed: Any = cls  # type checkers refuse to assign to a class's `__init__`
        constructed.__init__ = prefix_errors(constructed.__init__)
    return cls


def registered_class(name: str) -> type | None:
    return _CLASSES.get(name)


@prefix_errors
def from_dict(description: dict[str, Any]) -> Any:
    """The transform that ``to_dict`` described.

    The description may come from a file that a stranger wrote.

    Args:
        description: At most 65,536 values, in at most 80 levels of lists and dicts.

    Raises:
        TypeError: A value is of another type, or a parameter is unknown or missing.
        ValueError: A value is out of its range, a limit is exceeded, or a name is unknown.

    >>> from cuaug import transforms as T
    >>> T.from_dict({"name": "RandomHorizontalFlip", "p": 0.25})
    RandomHorizontalFlip(p=0.25)
    """
    if not isinstance(description, dict):
        raise TypeError(f"description must be a dict, a result of to_dict, got {type(description).__name__}")
    check_nesting("description", description, MAX_VALUES)
    return _value_of(description)


def _value_of(value: Any, key: str = "") -> Any:
    """The value of a description. `key`: the parameter that it is given to."""
    if isinstance(value, dict):
        name = value.get("name")
        if key == "fill" and name is None:  # a dict by kind, checked by the constructor; all other dicts are objects
            return value
        if not isinstance(name, str) or name not in _CLASSES:
            raise ValueError(f"name must be that of a transform, got {value_text(name)}")
        return _CLASSES[name](**{key: _value_of(entry, key) for key, entry in value.items() if key != "name"})
    return [_value_of(item) for item in value] if isinstance(value, (list, tuple)) else value


def plain_value(value: Any) -> Any:
    """A parameter as plain numbers, strings and lists, from which `from_dict` makes an equal one."""
    if hasattr(value, "to_dict"):  # a transform, or a fill by kind
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain_value(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"name": type(value).__name__, **fields}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if hasattr(value, "tolist"):  # a number or an array of NumPy or another library
        return value.tolist()
    return value if isinstance(value, (int, float, str, bool, type(None))) else dtype_name(value)


@functools.cache
def parameter_names(cls: Any) -> tuple[str, ...]:
    """The names of the constructor's parameters."""
    return tuple(inspect.signature(cls.__init__).parameters)[1:]


@functools.cache
def inherited_parameter_names(cls: type, root: type) -> frozenset[str]:
    """The parameter names of the class and of its bases below `root`: attributes that its objects may have."""
    bases: list[Any] = [base for base in cls.__mro__ if issubclass(base, root) and base is not root]
    return frozenset(name for base in bases for name in parameter_names(base))
