"""Targets without pixels: boxes and keypoints under the recipe's moves; entries of invalid boxes are removed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .._arrays.tv_tensors import tv_kind
from .._detection.box_formats import convert_format, stated_format
from .boxes import Boxes, compact, has_stack_per_box, has_value_per_box, transform_boxes
from .host_targets import in_own_libraries, numpy_view, numpy_view_of_jax
from .keypoints import Keypoints, transform_keypoints
from .moves import Move
from .sample_kinds import VALUE_KINDS, only_entry
from .sample_rebuild import value_at
from .sample_structure import ParsedSample
from .sample_target import REMOVED, Path, Target


def transform_targets(
    parsed: ParsedSample,
    moves: Sequence[Move],
    out_size: Any,
    boxes: Boxes,
    keypoints: Keypoints,
    masks: Sequence[Any] = (),
) -> dict[str, list[Any]]:
    """Boxes, their validity masks and keypoints: results for `ParsedSample.rebuild`.

    With `boxes.compact` the results hold only valid boxes, and also the kinds of `VALUE_KINDS` and masks. Entries per
    object are those of the valid boxes.

    Args:
        parsed: The sample and its targets.
        moves: Those of the recipe.
        out_size: The canvas (H, W), or an array with one per sample. [N, 2]
        boxes: Options of the boxes.
        keypoints: Options of the keypoints.
        masks: The transformed masks of each target; () if none can be per object.
    """
    results: dict[str, list[Any]] = {"keypoints": [], "boxes": [], "valid": []}
    for target in parsed.targets_of("keypoints"):
        results["keypoints"].append(transform_keypoints(numpy_view(target.value), moves, keypoints))
    if boxes.compact:
        results |= {kind: [target.value for target in parsed.targets_of(kind)] for kind in VALUE_KINDS}
        results |= {"masks": list(masks)} if masks else {}
    for target, mask in zip(parsed.targets_of("boxes"), parsed.validity_targets, strict=True):
        valid = numpy_view_of_jax(mask.value) if parsed.has(mask) else None
        value, format = _boxes_and_format(target, boxes.format)
        options = boxes if format == boxes.format else dataclasses.replace(boxes, format=format)
        new_boxes, new_valid = transform_boxes(value, moves, options, valid)
        if boxes.compact:
            new_boxes, new_valid = _compact(parsed, target, new_boxes, new_valid, results, out_size)
        results["boxes"].append(new_boxes)
        results["valid"].append(new_valid)
    if boxes.compact and not parsed.targets_of("valid"):  # every entry is true: the sample gains no mask
        del results["valid"]
    return in_own_libraries(parsed, results)


def _boxes_and_format(target: Target, format: str) -> tuple[Any, str]:
    """Boxes to move, and their format: `format`, but torchvision's BoundingBoxes keep their own.

    Other boxes whose type states a format (`XYXYBoxes`, of data sets) are converted to `format`.
    """
    value, original = numpy_view_of_jax(target.value), target.original
    if target.format in (None, format):
        return value, format
    if tv_kind(only_entry(original[0]) if isinstance(original, (list, tuple)) else original) is not None:
        return value, target.format
    if isinstance(value, list):
        return [convert_format(entry, stated_format(entry) or format, format) for entry in value], format
    return convert_format(value, target.format, format), format


def _compact(
    parsed: ParsedSample, boxes: Target, new_boxes: Any, new_mask: Any, results: dict[str, list[Any]], out_size: Any
) -> tuple[Any, Any]:
    """The valid boxes and their mask. Entries per object of other kinds in `results` become those of these boxes.

    Values that are not per object stay as they are.
    """
    places, entries = [], []
    for kind in (*VALUE_KINDS, "keypoints", "masks"):
        for i, value in enumerate(results.get(kind, ())):
            # A mask array of one image has no axis of samples.
            by_sample, target = [value] if kind == "masks" and parsed.is_single else value, parsed.targets_of(kind)[i]
            if boxes_of(parsed, target) is boxes and _is_per_box(target, by_sample, boxes, out_size):
                places.append((kind, i))
                entries.append(by_sample)
    listed_masks = _masks_listed_per_box(parsed, boxes) if results.get("masks") else []
    numbers = [[list(range(len(positions)))] * len(new_mask) for positions in listed_masks]
    new_boxes, new_mask, *entries = compact(new_mask, new_boxes, new_mask, *numbers, *entries)
    for positions, valid_numbers in zip(listed_masks, entries, strict=False):
        for number, i in enumerate(positions):
            masks = [results["masks"][i]] if parsed.is_single else results["masks"][i]
            masks = [mask if number in valid else REMOVED for mask, valid in zip(masks, valid_numbers, strict=True)]
            results["masks"][i] = masks[0] if parsed.is_single else masks
    entries = entries[len(listed_masks) :]
    for (kind, i), by_sample in zip(places, entries, strict=True):
        results[kind][i] = by_sample[0] if kind == "masks" and parsed.is_single else by_sample
    return new_boxes, new_mask


def _is_per_box(target: Target, by_sample: Any, boxes: Target, out_size: Any) -> bool:
    if target.kind in VALUE_KINDS:
        return has_value_per_box(target.name, by_sample, boxes.value)
    return has_stack_per_box(target.name, by_sample, boxes.value, out_size if target.kind == "masks" else None)


def _masks_listed_per_box(parsed: ParsedSample, boxes: Target) -> list[list[int]]:
    """Of each list with one mask [H, W] for each box, in every sample: the positions of its masks in the targets."""
    masks = parsed.targets_of("masks")
    positions_by_paths: dict[tuple[Path, ...], list[int]] = {}
    for i, target in enumerate(masks):
        positions_by_paths.setdefault(tuple(path[:-1] for path in target.paths), []).append(i)
    counts = {len(sample_boxes) for sample_boxes in boxes.value}

    def is_per_box(list_paths: tuple[Path, ...], positions: list[int]) -> bool:
        if counts != {len(positions)} or boxes_of(parsed, masks[positions[0]]._replace(paths=list_paths)) is not boxes:
            return False
        are_lists = all(_is_list_of(value_at(parsed.sample, path), len(positions)) for path in list_paths)
        return are_lists and all(_are_planes(masks[i], parsed.is_single) for i in positions)

    return [positions for paths, positions in positions_by_paths.items() if is_per_box(paths, positions)]


def _is_list_of(value: Any, count: int) -> bool:
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and len(value) == count


def _are_planes(masks: Target, is_single: bool) -> bool:
    """Whether this is one mask without an axis of masks for each sample."""
    return all(mask.ndim == 2 for mask in ([masks.value] if is_single else masks.value))


def boxes_of(parsed: ParsedSample, target: Target) -> Target | None:
    """The boxes in the same container, or the only boxes of the sample."""
    boxes = parsed.targets_of("boxes")
    candidates = [entry for entry in boxes if are_siblings(entry, target)] or boxes
    return candidates[0] if len(candidates) == 1 else None


def are_siblings(one: Target, other: Target) -> bool:
    """Whether both are in the same container, in every sample."""
    return [path[:-1] for path in one.paths] == [path[:-1] for path in other.paths]
