"""Targets without pixels: boxes and keypoints under the recipe's matrices, and the labels of boxes."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import boxes as _boxes
from . import keypoints as _keypoints
from .boxes import Boxes
from .keypoints import Keypoints
from .sample_structure import ParsedSample
from .sample_target import Target


def transform_targets(
    parsed: ParsedSample, matrices: Any, out_size: Any, boxes: Boxes, keypoints: Keypoints
) -> dict[str, list[Any]]:
    """Boxes, their validity masks, keypoints, and labels if boxes are compacted: results for `ParsedSample.rebuild`.

    Args:
        parsed: The sample and its targets.
        matrices: Source to destination, in pixels with centres at integers. [N, 3, 3]
        out_size: The canvas (H, W), or an array with one per sample. [N, 2]
        boxes: With `compact`, boxes, and labels with an entry per box, are lists of the valid ones.
        keypoints: Options of the keypoints.
    """
    results: dict[str, list[Any]] = {"keypoints": [], "boxes": [], "valid": []}
    for target in parsed.of("keypoints"):
        results["keypoints"].append(_keypoints.transform_keypoints(target.value, matrices, out_size, keypoints))
    valid = []
    for target in parsed.of("boxes"):
        mask = next((mask.value for mask in parsed.of("valid") if _are_siblings(mask, target)), None)
        options = boxes if target.format is None else dataclasses.replace(boxes, format=target.format)
        moved, moved_valid = _boxes.transform_boxes(target.value, matrices, out_size, options, mask)
        valid.append(moved_valid)
        if boxes.compact:
            moved, moved_valid = _boxes.compact(moved_valid, moved, moved_valid)
        results["boxes"].append(moved)
        results["valid"].append(moved_valid)
    if boxes.compact:
        results["labels"] = [_compact_labels(parsed, target, valid) for target in parsed.of("labels")]
    if parsed.of("valid"):
        results["valid"] = [_sibling_mask(parsed, target, results["valid"]) for target in parsed.of("valid")]
    elif boxes.compact:  # every entry is true: the sample gains no mask
        del results["valid"]
    return results


def _compact_labels(parsed: ParsedSample, labels: Target, valid: list[Any]) -> Any:
    """Labels of the valid boxes beside them, or of the only boxes; labels of images as they are."""
    boxes = parsed.of("boxes")
    indices = [i for i, target in enumerate(boxes) if _are_siblings(target, labels)] or list(range(len(boxes)))
    if len(indices) != 1 or not _boxes.has_label_per_box(labels.value, boxes[indices[0]].value):
        return labels.value
    return _boxes.compact(valid[indices[0]], labels.value)[0]


def _sibling_mask(parsed: ParsedSample, mask: Target, valid: list[Any]) -> Any:
    """The new mask of the boxes beside the old mask."""
    pairs = zip(valid, parsed.of("boxes"), strict=True)
    return next((new_mask for new_mask, target in pairs if _are_siblings(mask, target)), mask.value)


def _are_siblings(one: Target, other: Target) -> bool:
    """Whether both lie in the same container, in every sample."""
    return [path[:-1] for path in one.paths] == [path[:-1] for path in other.paths]
