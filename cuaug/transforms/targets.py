"""Targets without pixels: boxes and keypoints under the recipe's matrices, and the labels of boxes."""

from __future__ import annotations

import dataclasses
from typing import Any

from .boxes import Boxes, compact, has_label_per_box, transform_boxes
from .keypoints import Keypoints, transform_keypoints
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
        boxes: Options of the boxes. With `compact`, the results hold only valid boxes, and labels of these boxes.
        keypoints: Options of the keypoints.
    """
    results: dict[str, list[Any]] = {"keypoints": [], "boxes": [], "valid": []}
    for target in parsed.targets_of("keypoints"):
        results["keypoints"].append(transform_keypoints(target.value, matrices, out_size, keypoints))
    new_masks = []
    for target in parsed.targets_of("boxes"):
        mask = next((mask.value for mask in parsed.targets_of("valid") if _are_siblings(mask, target)), None)
        options = boxes if target.format is None else dataclasses.replace(boxes, format=target.format)
        new_boxes, new_mask = transform_boxes(target.value, matrices, out_size, options, mask)
        new_masks.append(new_mask)
        if boxes.compact:
            new_boxes, new_mask = compact(new_mask, new_boxes, new_mask)
        results["boxes"].append(new_boxes)
        results["valid"].append(new_mask)
    if boxes.compact:
        results["labels"] = [_compact_labels(parsed, target, new_masks) for target in parsed.targets_of("labels")]
    if parsed.targets_of("valid"):
        results["valid"] = [_sibling_mask(parsed, target, results["valid"]) for target in parsed.targets_of("valid")]
    elif boxes.compact:  # every entry is true: the sample gains no mask
        del results["valid"]
    return results


def _compact_labels(parsed: ParsedSample, labels: Target, new_masks: list[Any]) -> Any:
    """Labels with an entry per box, for valid boxes only. Labels of images stay as they are.

    The boxes are those in the same container, or the only boxes of the sample.
    """
    boxes = parsed.targets_of("boxes")
    indices = [i for i, target in enumerate(boxes) if _are_siblings(target, labels)] or list(range(len(boxes)))
    if len(indices) != 1 or not has_label_per_box(labels.value, boxes[indices[0]].value):
        return labels.value
    return compact(new_masks[indices[0]], labels.value)[0]


def _sibling_mask(parsed: ParsedSample, mask: Target, valid: list[Any]) -> Any:
    """The new mask of the boxes beside the old mask."""
    pairs = zip(valid, parsed.targets_of("boxes"), strict=True)
    return next((new_mask for new_mask, target in pairs if _are_siblings(mask, target)), mask.value)


def _are_siblings(one: Target, other: Target) -> bool:
    """Whether both are in the same container, in every sample."""
    return [path[:-1] for path in one.paths] == [path[:-1] for path in other.paths]
