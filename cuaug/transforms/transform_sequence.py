"""A list of transforms and its parts, which follow changes of the list."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from .._fusion.recipe import Recipe
from .._value_text import value_text
from . import parts
from .boxes import Boxes
from .fused_part import FusedPart
from .keypoints import Keypoints
from .sample_methods import CALL_METHODS
from .transform import Transform
from .transform_list import TransformContainer, inner_transforms, is_changed, planned_lists


class TransformSequence(TransformContainer, has_description=False):
    """Transforms one after the other. The user may change the list, as in torchvision: the next call sees the change.

    `_planned_list`: the transforms of the current parts. `_inner_lists`: transforms that contain a list, with a copy.
    """

    boxes: Boxes
    keypoints: Keypoints
    _first_position: int
    _parts: parts.Parts
    _planned_list: list[Transform] | None  # None before the first call
    _inner_lists: list[tuple[Any, list[Transform]]]

    @property
    def _fused(self) -> FusedPart:
        """The only part; a ValueError if a transform is not fused."""
        self._split_if_changed()
        return parts.single_fused_part(self._parts)

    @property
    def _fused_call(self) -> FusedPart:
        """The only part, for methods that describe a call; a ValueError if it is not all that a call runs."""
        if self.has_own_forward:
            raise ValueError(f"{self.title} has a forward of its own: check, show and plan take recipes without one")
        return self._fused

    @property
    def has_own_forward(self) -> bool:
        """Whether a user's subclass defines `forward` or `__call__`, so that its transforms are not those of a call."""
        return not self._sample_methods.isdisjoint(CALL_METHODS)

    def _check_inner_options(self) -> None:
        """Checks that recipes in this recipe have its `boxes` and `keypoints`, or the defaults."""
        for name, kind in (("boxes", Boxes), ("keypoints", Keypoints)):
            for inner in map(operator.attrgetter(name), _inner_recipes(self.transforms)):
                if inner not in (getattr(self, name), kind()):
                    raise ValueError(
                        f"{name} must be given to the outer recipe, Compose(..., {name}=...), which runs it, "
                        f"got {name}={inner!r} in the inner recipe"
                    )

    def flattened(self) -> Iterator[Transform]:
        if self.has_own_forward:
            yield self
            return
        for transform in self.transforms:
            yield from transform.flattened()

    @property
    def draw_position_count(self) -> int:
        return sum(transform.draw_position_count for transform in self.transforms)

    def append_to(self, recipe: Recipe) -> None:
        """Append the transforms, as if they were in the recipe themselves."""
        recipe.count_transform()
        for transform in self.transforms:
            transform.append_to(recipe)

    def __getstate__(self) -> dict[str, Any]:
        """A copy begins without parts."""
        state = super().__getstate__() | {"_planned_list": None}
        return {name: value for name, value in state.items() if name not in ("_parts", "_inner_lists")}

    def _split_if_changed(self) -> None:
        """Make the parts again if the user has changed the recipe's list of transforms, or one inside of it."""
        if is_changed(self.transforms, self._planned_list) or any(
            is_changed(owner.transforms, planned) for owner, planned in self._inner_lists
        ):
            self._split()

    def _split(self) -> None:
        self._check_inner_options()
        attributes = vars(self)  # not setattr, which is slow and refuses changes
        (_, planned_list), *inner_lists = planned_lists(self)
        attributes["_parts"] = parts.split(self.transforms, self._first_position, self.boxes, self.keypoints)
        attributes["_inner_lists"] = inner_lists
        attributes["_planned_list"] = planned_list  # last: until then another thread makes parts, too

    def _assigned_value(self, name: str, value: Any) -> Any:
        kind = {"boxes": Boxes, "keypoints": Keypoints}.get(name)
        if kind is None:
            return super()._assigned_value(name, value)
        if not isinstance(value, (kind, type(None))):
            raise TypeError(f"{name} must be {kind.__name__}(...), got {value_text(value)}")
        return kind() if value is None else value

    def _planned_names(self) -> Collection[str]:
        return ("boxes", "keypoints") if vars(self).get("_planned_list") is not None else ()


def _inner_recipes(transforms: Iterable[Any]) -> Iterator[TransformSequence]:
    """The recipes among the transforms, and those inside of them, except in a user's subclasses that run themselves."""
    for transform in transforms:
        if isinstance(transform, TransformContainer) and not transform.calls_recipe:
            if isinstance(transform, TransformSequence):
                yield transform
            yield from _inner_recipes(inner_transforms(transform))
