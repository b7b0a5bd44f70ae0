"""The targets of a sample but for its pixels: boxes and keypoints under the matrices, and the labels that go along."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import boxes as _boxes
from . import keypoints as _keypoints
from .boxes import Boxes
from .keypoints import Keypoints
from .sample_structure import Found, Target


def follow(found: Found, matrices: Any, out_size: Any, boxes: Boxes, keypoints: Keypoints) -> dict[str, list[Any]]:
    """Boxes, their masks, keypoints, and labels where boxes are compacted, as :meth:`Found.put_back` takes them.

    Args:
        found: What :func:`_structure.find` made of the sample.
        matrices: Source to destination, in pixels with centres at integers. [N, 3, 3]
        out_size: The canvas (H, W), or an array with one per sample. [N, 2]
        boxes: With `compact`, boxes, and labels with an entry per box, are lists of the valid ones.
        keypoints: What keypoints are.
    """
    results: dict[str, list[Any]] = {"keypoints": [], "boxes": [], "valid": []}
    for target in found.of("keypoints"):
        results["keypoints"].append(_keypoints.move(target.value, matrices, out_size, keypoints))
    valid = []
    for target in found.of("boxes"):
        mask = next((mask.value for mask in found.of("valid") if _are_neighbours(mask, target)), None)
        options = boxes if target.format is None else dataclasses.replace(boxes, format=target.format)
        moved, kept = _boxes.move(target.value, matrices, out_size, options, mask)
        valid.append(kept)
        if boxes.compact:
            moved, kept = _boxes.compact(kept, moved, kept)
        results["boxes"].append(moved)
        results["valid"].append(kept)
    if boxes.compact:
        results["labels"] = [_of_boxes(found, target, valid) for target in found.of("labels")]
    if found.of("valid"):
        results["valid"] = [_of_neighbour(found, target, results["valid"]) for target in found.of("valid")]
    elif boxes.compact:  # all true: worth no place of its own
        del results["valid"]
    return results


def _of_boxes(found: Found, labels: Target, valid: list[Any]) -> Any:
    """Labels of the valid boxes beside them, or of the only boxes; labels of images as they are."""
    boxes = found.of("boxes")
    which = [i for i, target in enumerate(boxes) if _are_neighbours(target, labels)] or list(range(len(boxes)))
    if len(which) != 1 or not _boxes.per_box(labels.value, boxes[which[0]].value):
        return labels.value
    return _boxes.compact(valid[which[0]], labels.value)[0]


def _of_neighbour(found: Found, mask: Target, valid: list[Any]) -> Any:
    """The new mask of the boxes beside the old one."""
    beside = (own for own, target in zip(valid, found.of("boxes"), strict=True) if _are_neighbours(mask, target))
    return next(beside, mask.value)


def _are_neighbours(one: Target, other: Target) -> bool:
    return [path[:-1] for path in one.paths] == [path[:-1] for path in other.paths]
