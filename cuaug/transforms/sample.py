"""Transforms a parsed sample: images in groups of one batch each, then the targets that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import ImageBatch
from .._fusion import draw, launch_plan
from .._fusion.plan import RecipePlan
from .._fusion.recipe_ops import Blend, Displacement, Mix
from .._fusion.recipe_pass import FirstOp
from ..mix import mix_labels
from .boxes import Boxes
from .keypoints import Keypoints
from .moves import merge_moves, moves_of
from .params import Params
from .plan_cache import PlanCache
from .sample_groups import Group, group_images, group_single_images, in_call_order, stack_equal_sizes
from .sample_kinds import is_array
from .sample_masks import transform_masks
from .sample_search import list_path
from .sample_structure import ParsedSample
from .sample_target import GatheredValues, Target, UnstackedBatch, image_layout, path_text
from .targets import transform_targets


def transform_sample(
    parsed: ParsedSample,
    plans: PlanCache,
    draw_params: Callable[[RecipePlan, ImageBatch, Any], Params],
    ids: Any,
    layout: str | None,
    boxes: Boxes,
    keypoints: Keypoints,
    sized_images: Sequence[Sequence[ImageBatch]] = (),
) -> tuple[dict[str, Sequence[Any]], Any]:
    """The results and sizes for `ParsedSample.rebuild`: all images and targets, transformed by the same draws.

    Args:
        parsed: The sample and its targets.
        plans: The recipe's plans.
        draw_params: Function of a plan, a batch and the batch's ids.
        ids: The ids of the call, as a user passes them.
        layout: The layout of the images.
        boxes: Options of the boxes.
        keypoints: Options of the keypoints.
        sized_images: If sizes were drawn: the single images of each target, each image with its `drawn_size`.
            `plans.prefixes` has a prefix for every image.
    """
    image_targets = parsed.targets_of("images")
    batch_key = plans.prefixes.batch_key
    image_groups = [group_single_images(images, batch_key) for images in sized_images] or [
        group_images(t.value, batch_key, t.layout or image_layout(t.original, layout), parsed.samples)
        for t in image_targets
    ]
    _check_equal_sizes(parsed, image_groups)
    group_ids = _ids_by_group(ids, parsed.samples)

    def planned_group(indices: np.ndarray, images: list[ImageBatch]) -> Group:
        plan, batch = plans.plan_group(images, parsed.is_single)
        return Group(indices, images, batch, draw_params(plan, batch, group_ids(indices)))

    groups_by_target = [[planned_group(*group) for group in groups] for groups in image_groups]
    groups = groups_by_target[0]
    params = groups[0].params
    _check_targets(parsed, params.plan.first_ops)
    mixes = params.plan.mixes
    # A ragged batch is one group: its images have one size before samples are mixed.
    if mixes and any(len(groups) > 1 for groups in groups_by_target):
        raise ValueError(
            f"images must form one batch where samples are mixed ({mixes[0].name}): they must have one dtype and "
            "number of channels, and the recipe must begin with a transform that gives them one size, such as "
            "RandomResizedCrop"
        )
    pairs = zip(image_targets, groups_by_target, strict=True)
    results: dict[str, Sequence[Any]] = {"images": [_transform_images(*pair) for pair in pairs]}
    size: Any = params.result_size
    if len(groups) > 1:
        size = in_call_order(groups, [[group.params.result_size] * len(group.indices) for group in groups])
    if parsed.targets_of("masks"):
        results["masks"] = [transform_masks(target, groups, parsed.is_single) for target in parsed.targets_of("masks")]
    if needs_matrices(parsed):
        moves_by_group = [moves_of(group.params, [image.size for image in group.images]) for group in groups]
        moves = moves_by_group[0]
        if len(groups) > 1:
            moves = merge_moves(moves_by_group, np.argsort(np.concatenate([group.indices for group in groups])))
        masks_per_object = () if "T" in groups[0].batch.axes.layout else results.get("masks", ())
        results |= transform_targets(parsed, moves, size, boxes, keypoints, masks_per_object)
    if mixes:
        image = image_targets[0].value[0] if isinstance(image_targets[0].value, list) else image_targets[0].value
        labels = parsed.targets_of("labels")
        if not labels and image_targets[0].paths != ((),):  # images alone have no place for labels
            check_labels_not_needed(mixes)
        for target in labels:
            _check_samples_with_labels(target, image_targets[0], params.samples)
        results["labels"] = [_mix_labels(target.value, params, mixes, image) for target in labels]
    return results, size


def needs_matrices(parsed: ParsedSample) -> bool:
    """Whether the sample has targets that the recipe's matrix moves."""
    return bool(parsed.targets_of("boxes") or parsed.targets_of("keypoints"))


def id_array(ids: Any, samples: int) -> np.ndarray:
    """The ids of a call as an array. `ids`: as a user passes them. [N]"""
    ids = draw.sample_ids(ids, samples)
    if ids is None or isinstance(ids, int):
        return np.arange(samples) + (ids or 0)
    return _checked_ids(ids, samples)


def _checked_ids(ids: Any, samples: int) -> np.ndarray:
    array = convert.host_values("ids", ids).astype(np.int64)
    if array.shape != (samples,):
        raise ValueError(f"ids must be {samples} integers, got shape {array.shape}")
    return array


def _ids_by_group(ids: Any, samples: int) -> Callable[[np.ndarray], Any]:
    """Checks the ids of a call. The result gives the ids of a group from the indices of its samples in the call."""
    ids = draw.sample_ids(ids, samples)
    array = None if ids is None or isinstance(ids, int) else _checked_ids(ids, samples)

    def group_ids(indices: np.ndarray) -> Any:
        if len(indices) == samples:
            return ids
        numbers = indices + (ids or 0) if array is None else array[indices]
        return int(numbers[0]) if len(numbers) == 1 else numbers

    return group_ids


def _transform_images(target: Target, groups: Sequence[Group]) -> Any:
    """The transformed images, in a list if the target is a list."""
    results = [launch_plan.apply(group.params.plan, group.batch, group.params.table) for group in groups]
    is_list = isinstance(target.value, list)
    if len(groups) == 1 and (not is_list or isinstance(target.original, UnstackedBatch)):
        return results[0]
    pairs = zip(groups, results, strict=True)
    images = in_call_order(groups, [result if "N" in group.batch.axes.layout else [result] for group, result in pairs])
    return stack_equal_sizes(target, images) if is_list else convert.namespace(images[0]).stack(images)


def _check_equal_sizes(parsed: ParsedSample, image_groups: Sequence[Any]) -> None:
    """Raises ValueError if images of one sample differ in size: they share their draws, which depend on the size."""
    if len(image_groups) == 1:
        return
    sizes_by_target = [
        {
            index: images[row if len(images) > 1 else 0].size
            for indices, images in groups
            for row, index in enumerate(indices)
        }
        for groups in image_groups
    ]
    for target, sizes in zip(parsed.targets_of("images"), sizes_by_target, strict=True):
        for index, size in sizes.items():
            if size != sizes_by_target[0][index]:
                path = target.paths[index if len(target.paths) > 1 else 0]
                raise ValueError(
                    f"images of one sample must have one size, got {sizes_by_target[0][index]} and {size} at "
                    f"{path_text(path)}"
                )


def _check_targets(parsed: ParsedSample, first_ops: Sequence[FirstOp]) -> None:
    for op in first_ops:
        kinds, reason = _REFUSED_TARGETS.get(type(op), ((), ""))
        refused = next((kind for kind in kinds if parsed.targets_of(kind)), None)
        if refused:
            hint = "; labels are given as labels=..." if refused == "masks" and isinstance(op, Mix) else ""
            raise ValueError(f"{refused} must not be given where {reason.format(getattr(op, 'name', ''))}{hint}")


_REFUSED_TARGETS: dict[type, tuple[tuple[str, ...], str]] = {
    Mix: (("masks", "boxes", "keypoints"), "samples are mixed ({}): each of them belongs to one sample"),
    Blend: (("masks", "boxes", "keypoints"), "branches are blended ({}): each branch moves pixels by itself"),
    Displacement: (("boxes", "keypoints"), "pixels are displaced one by one ({}), not by a matrix: masks can be given"),
}


def _check_samples_with_labels(labels: Target, images: Target, count: int) -> None:
    """Raises ValueError if a list of dicts has as many labels as samples, but not one in each dict."""
    path = list_path(images)
    if isinstance(images.original, GatheredValues) and labels.paths[0][: len(path)] == path and len(labels.paths) > 1:
        _check.per_sample("labels", len({label_path[: len(path) + 1] for label_path in labels.paths}), count)


def check_labels_not_needed(mixes: Sequence[Mix]) -> None:
    """Raises ValueError if a transform that mixes samples has a number of classes, but the sample has no labels."""
    for op in mixes:
        if op.classes is not None:
            raise ValueError(
                f"labels must be given where samples are mixed ({op.name}) with num_classes={op.classes}, found none: "
                "pass labels=..., or (images, labels), or name them 'label' or 'labels' in a dict; images without "
                "labels need no num_classes"
            )


def _mix_labels(labels: Any, params: Params, mixes: Sequence[Mix], image: Any) -> Any:
    """Labels, mixed as the images are. Lists of whole numbers become arrays of the image's library."""
    if isinstance(labels, list) and labels:
        _check.per_sample("labels", len(labels), params.samples)
        if all(isinstance(label, (int, np.integer)) and abs(int(label)) < 1 << 63 for label in labels):
            labels = convert.asarray(np.array(labels), like=image, dtype="int64")
        elif len({(type(label), getattr(label, "shape", None)) for label in labels}) == 1 and is_array(labels[0]):
            labels = convert.namespace(labels[0]).stack(labels)
    for op in mixes:
        labels = mix_labels(labels, params[op.lam.name], num_classes=op.classes)
    return labels
