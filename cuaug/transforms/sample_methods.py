"""Finds the methods for whole samples that a user's subclass adds to a transform that a recipe runs.

Such methods are `__call__`, `forward`, `transform`, `make_params` and `check_inputs`.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _missing_names

CALL_METHODS = frozenset(("__call__", "forward"))
_SAMPLE_METHODS = CALL_METHODS | {"check_inputs", "make_params", "transform"}
_RECIPE_METHODS = frozenset(("write", "is_fused"))  # every class that a recipe runs defines one of them


class MissingMethod:
    """A method that torchvision's transforms have: reading it raises an error that says what to use."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        advice = _missing_names.CLASS_NAMES[self._name]
        raise AttributeError(f"{owner.__name__} has no {self._name}, which torchvision has: {advice}")


def recipe_base(cls: type, transform_class: type) -> tuple[type | None, frozenset[str]]:
    """The nearest base class whose objects a recipe runs, or None; its subclasses' methods for whole samples."""
    sample_methods, base = frozenset[str](), None
    for entry in cls.__mro__[: cls.__mro__.index(transform_class)]:
        own_methods = _SAMPLE_METHODS & vars(entry).keys()
        if own_methods:
            base = None
        elif base is None and issubclass(entry, transform_class):
            base = entry  # until a later class of the MRO has methods for samples
        if _RECIPE_METHODS & vars(entry).keys():
            return base or entry, sample_methods
        sample_methods |= own_methods
    return None, sample_methods


def missing_method(title: str, base: type | None, name: str) -> Exception:
    """The error of a transform without this method. `base`: `Transform._recipe_base`."""
    if base is None:
        return NotImplementedError(f"{title} must define transform or forward")
    return TypeError(
        f"{title}: {base.__name__} has no {name}, because a recipe draws its parameters and moves all targets: define "
        "make_params and transform without super(), or define forward(self, *inputs), whose super().forward(*inputs) "
        "gives the result for the whole sample"
    )


def forward_arguments(
    forward: Callable[..., Any], images: Any, targets: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a user's `forward`, by position and by name, in the first of three forms that it takes.

    1. The first targets by position, because `forward` may have other names for them; those after a missing one by
       name. 2. All by position, with None for each missing one; not tried if only labels are given, which a call takes
       as second argument. 3. Only the given ones by position, without gaps, as torchvision's `Compose` passes them.

    `targets`: masks, boxes, keypoints and labels, None if they are missing.
    """
    given = {name: value for name, value in targets.items() if value is not None}
    options = {name: value for name, value in options.items() if value is not None}
    first_names = list(itertools.takewhile(given.__contains__, targets))
    first, others = [given[name] for name in first_names], {n: v for n, v in given.items() if n not in first_names}
    forms = [([images, *first], others | options)]
    if others:
        with_gaps = list(targets.values())[: list(targets).index(list(given)[-1]) + 1]
        forms += [([images, *with_gaps], options)] if list(given) != ["labels"] else []
        forms += [([images, *given.values()], options)]
    return next((form for form in forms if takes_arguments(forward, *form)), forms[0])


def takes_only_first(function: Any, args: Sequence[Any]) -> bool:
    """Whether a function, or a module of torch, cannot be called with these arguments, but with the first of them."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        has_own_call = type(function).__call__ is not torch.nn.Module.__call__
        function = function if has_own_call else function.forward
    try:
        return not takes_arguments(function, args, {}) and takes_arguments(function, args[:1], {})
    except ValueError:  # a builtin without a signature
        return False


def takes_arguments(function: Callable[..., Any], args: Sequence[Any], named_args: Mapping[str, Any]) -> bool:
    """Whether a function can be called with these arguments."""
    try:
        inspect.signature(function).bind(*args, **named_args)
    except TypeError:
        return False
    return True
