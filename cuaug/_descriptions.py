"""Checks of descriptions (of recipes and parameters) and of states: dicts and lists that may come from any file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_VALUES = 1 << 16  # of a recipe's description; a recipe of ten transforms, three of them policies, has about 100
_MAX_LEVELS = 80  # of a description; 32 transforms inside each other take 64: each is a dict in a list


def check_nesting(parameter: str, value: Any, max_values: int) -> None:
    """Limits the depth and size of nested lists and dicts, so that walks through them neither fail nor take long."""
    count, pending = 0, [(value, 1)]
    while pending:
        item, level = pending.pop()
        if isinstance(item, (dict, list, tuple)):
            count += len(item)
            if level > _MAX_LEVELS:
                raise ValueError(f"{parameter} must have at most {_MAX_LEVELS} levels of lists and dicts, got more")
            if count > max_values:
                raise ValueError(f"{parameter} must have at most {max_values} values, got more")
            pending += [(inner, level + 1) for inner in (item.values() if isinstance(item, dict) else item)]


def state_entries(value: Any, *names: str) -> list[Any]:
    """The entries with these names of a dict that `state_dict` returned."""
    if not isinstance(value, Mapping):
        raise TypeError(f"state must be a dict, a result of state_dict, got {type(value).__name__}")
    check_nesting("state", value, 100)
    if not value.keys() >= {*names}:
        raise ValueError(f"state must be a result of state_dict, which has {', '.join(names)}, got {list(value)}")
    return [value[name] for name in names]
