"""Methods for whole samples in a user's subclass of a transform whose draws and passes belong to a recipe."""

from __future__ import annotations

import itertools
from typing import Any

CALL_METHODS = frozenset(("__call__", "forward"))
_SAMPLE_METHODS = CALL_METHODS | {"check_inputs", "make_params", "transform"}
_RECIPE_METHODS = frozenset(("write", "is_fused"))  # every class that a recipe runs defines one of them


def recipe_base(cls: type, transform_class: type) -> tuple[type | None, frozenset[str]]:
    """`Transform._recipe_base` and `Transform._sample_methods` of a class."""
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


def given_arguments(
    masks: Any, boxes: Any, keypoints: Any, labels: Any, options: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call that are not None, by position and by name.

    The first targets are passed by position, because a subclass's `forward` may have other names for them.
    """
    targets = {"masks": masks, "boxes": boxes, "keypoints": keypoints, "labels": labels}
    named_arguments = {name: value for name, value in (targets | options).items() if value is not None}
    first_names = list(itertools.takewhile(named_arguments.__contains__, targets))
    return [named_arguments.pop(name) for name in first_names], named_arguments
