"""Positional targets that torchvision's recipes take, too: None, and labels that follow a tv_tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._arrays.tv_tensors import tv_kind
from .sample_kinds import are_labels_after_tv_tensor

_NAMES = "masks", "boxes", "keypoints", "labels"


def targets_by_position(call: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `Compose.__call__`. The results are in the order of the arguments.

    If all targets are None, the result has None in their places: ``image, target = transforms(image, None)``. After
    a tv_tensor, labels may be in the place of the boxes or the keypoints: ``transforms(image, boxes, labels)``.
    """

    @functools.wraps(call)
    def call_by_position(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 2 or len(args) > 1 + len(_NAMES) or "forward" in self._sample_methods:
            return call(self, *args, **kwargs)
        images, *targets = args
        if all(target is None for target in targets):
            if any(kwargs.get(name) is not None for name in _NAMES):
                return call(self, *args, **kwargs)
            return call(self, images, **kwargs), *targets
        place = _place_of_labels(targets) if kwargs.get("labels") is None else None
        if place is None:
            return call(self, *args, **kwargs)
        labels, targets[place] = targets[place], None
        *results, labels = call(self, images, *targets[:3], **kwargs | {"labels": labels})
        results.insert(1 + sum(target is not None for target in targets[:place]), labels)
        return tuple(results)

    return call_by_position


def _place_of_labels(targets: Sequence[Any]) -> int | None:
    """The index of labels in the place of the boxes or the keypoints. None: there are none."""
    if len(targets) == len(_NAMES) and targets[-1] is not None:
        return None
    kinds = [tv_kind(targets[0])]
    for place, name in enumerate(_NAMES[1 : min(len(targets), 3)], 1):
        if any(kinds) and are_labels_after_tv_tensor(targets[place], name in kinds):
            return place
        kinds.append(tv_kind(targets[place]))
    return None
