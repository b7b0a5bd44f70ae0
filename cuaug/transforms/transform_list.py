"""Lists of transforms: those that a user passes, and the end of a recipe."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from .. import _check
from .._fusion.recipe import MAX_TRANSFORMS
from .._value_text import value_text
from .functions import SampleFunction
from .transform import Transform

_MAX_LEVELS = 32  # the walks through a recipe are recursive


class TransformContainer(Transform, has_description=False):
    """A transform that contains a list of transforms. The user may change the list."""

    transforms: list[Transform]

    def _assigned_value(self, name: str, value: Any) -> Any:
        return assigned_list(value) if name == "transforms" else super()._assigned_value(name, value)


def inner_transforms(transform: Transform) -> list[Any]:
    """The transforms in a container; [] for others, also for a user's own with an attribute `transforms`."""
    # A container whose constructor raised before it assigned the list has none.
    return vars(transform).get("transforms", []) if isinstance(transform, TransformContainer) else []


def transform_list(transforms: Any) -> list[Transform]:
    """The transforms of a list, or of a torch ``ModuleList``; other callables become a `SampleFunction`.

    Raises ValueError for more than `MAX_TRANSFORMS` transforms, or for nesting deeper than `_MAX_LEVELS` levels.
    """
    if isinstance(transforms, type):
        name = transforms.__name__
        raise TypeError(f"transforms must be a list of transforms, got the class {name}: pass [{name}(...)]")
    if not isinstance(transforms, Iterable):
        raise TypeError(f"transforms must be a list of transforms, got {type(transforms).__name__}")
    if isinstance(transforms, (set, frozenset)):
        raise TypeError(f"transforms must be a list of transforms, got {type(transforms).__name__}: a set has no order")
    given = list(itertools.islice(transforms, MAX_TRANSFORMS + 1))
    entries = [entry if isinstance(entry, Transform) else _sample_function(entry) for entry in given]
    for count, level in enumerate(_levels(entries), 1):
        if count > MAX_TRANSFORMS:
            raise ValueError(f"transforms must be at most {MAX_TRANSFORMS}, nested ones included, got more")
        if level > _MAX_LEVELS:
            raise ValueError(f"transforms must be nested at most {_MAX_LEVELS} levels deep, got more")
    return entries


def _sample_function(value: Any) -> SampleFunction:
    if isinstance(value, type):
        raise TypeError(f"every transform must be an object, got the class {value.__name__}: call it")
    if not callable(value):
        raise TypeError(f"every transform must be a transform or a function, got {value_text(value)}")
    return SampleFunction(value)


def _levels(transforms: Iterable[Transform], level: int = 1) -> Iterator[int]:
    """The level of each transform, and of those inside of it."""
    for transform in transforms:
        yield level
        inner = inner_transforms(transform)
        yield from _levels((entry for entry in inner if isinstance(entry, Transform)), level + 1)


def assigned_list(transforms: Any) -> list[Transform]:
    """`transform_list` of what the user assigned. A list is changed in place, so that the user may change it later."""
    entries = transform_list(transforms)
    if not isinstance(transforms, list):
        return entries
    transforms[:] = entries
    return transforms


def is_changed(transforms: list[Transform], planned_list: list[Transform] | None) -> bool:
    """Whether the user has changed the list. Transforms may compare in ways of their own: only identity counts."""
    if planned_list is None or len(transforms) != len(planned_list):
        return True
    return any(map(operator.is_not, transforms, planned_list))


def planned_lists(recipe: Transform) -> list[tuple[Any, list[Transform]]]:
    """The recipe, and all transforms in it that contain a list of transforms, each with a copy of its list.

    Functions that the user has added to the lists become a `SampleFunction`.
    """
    owner: Any = recipe
    vars(owner)["transforms"] = entries = assigned_list(owner.transforms)
    inner = [planned_lists(entry) for entry in entries if isinstance(entry, TransformContainer)]
    return [(owner, list(entries)), *itertools.chain.from_iterable(inner)]


def transforms_after(transform: Transform, first: int) -> list[Transform]:
    """The innermost transforms from index `first` on."""
    transforms = list(transform.flattened())
    return transforms[_check.integer("first", first, 0, len(transforms)) :]
