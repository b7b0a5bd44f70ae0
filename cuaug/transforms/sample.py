"""Transforms a parsed sample: images in groups of one batch each, then the targets that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert
from .._arrays.images import ImageBatch, default_layout, describe_images
from .._arrays.registry import library_of, result_library
from .._fusion import draw, execute, launch_plan
from .._fusion.plan import RecipePlan
from .._fusion.recipe_ops import Blend, Displacement, Mix
from .._fusion.recipe_pass import FirstOp
from .._passes.ragged import ragged_batch
from .._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES
from ..mix import mix_labels
from .boxes import Boxes
from .keypoints import Keypoints
from .moves import merge_moves, moves_of
from .params import Params
from .plan_cache import PlanCache
from .sample_structure import ParsedSample
from .sample_target import Target, UnstackedBatch, image_layout
from .targets import transform_targets

_MASK_DTYPES = tuple(dict.fromkeys(LABEL_DTYPES + IMAGE_DTYPES))


class _Group(NamedTuple):
    """Images that go through the recipe as one batch."""

    indices: np.ndarray  # of the samples in the call [n]
    images: list[ImageBatch]  # the images of a ragged batch one by one; else the batch as the only entry
    batch: ImageBatch
    params: Params


def transform_sample(
    parsed: ParsedSample,
    plans: PlanCache,
    draw_params: Callable[[RecipePlan, ImageBatch, Any], Params],
    ids: Any,
    layout: str | None,
    boxes: Boxes,
    keypoints: Keypoints,
) -> tuple[dict[str, Sequence[Any]], Any]:
    """The results and sizes for `ParsedSample.rebuild`: all images and targets, transformed by the same draws.

    Args:
        parsed: The sample and its targets.
        plans: The recipe's plans.
        draw_params: Function of a plan, a batch and the batch's ids.
        ids: Those of the call.
        layout: The layout of the images.
        boxes: Options of the boxes.
        keypoints: Options of the keypoints.
    """
    image_targets = parsed.targets_of("images")
    batch_key = plans.prefixes.batch_key
    image_groups = [
        group_images(t.value, batch_key, t.layout or image_layout(t.original, layout), parsed.samples)
        for t in image_targets
    ]
    _check_equal_sizes(parsed, image_groups)
    group_ids = _ids_by_group(ids, parsed.samples)

    def planned_group(indices: np.ndarray, images: list[ImageBatch]) -> _Group:
        plan, batch = plans.plan_group(images)
        return _Group(indices, images, batch, draw_params(plan, batch, group_ids(indices)))

    groups_by_target = [[planned_group(*group) for group in groups] for groups in image_groups]
    groups = groups_by_target[0]
    params = groups[0].params
    _check_targets(parsed, params.plan.first_ops)
    mixes = params.plan.mixes
    if mixes and any(len(groups) > 1 for groups in groups_by_target):  # images of a ragged batch have one size by then
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
        results["masks"] = [_transform_masks(target, groups, parsed.is_single) for target in parsed.targets_of("masks")]
    if needs_matrices(parsed):
        moves_by_group = [moves_of(group.params, [image.size for image in group.images]) for group in groups]
        moves = moves_by_group[0]
        if len(groups) > 1:
            moves = merge_moves(moves_by_group, np.argsort(np.concatenate([group.indices for group in groups])))
        masks_per_object = () if "T" in groups[0].batch.axes.layout else results.get("masks", ())
        results |= transform_targets(parsed, moves, size, boxes, keypoints, masks_per_object)
    if mixes:
        results["labels"] = [_mix_labels(target.value, params, mixes) for target in parsed.targets_of("labels")]
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
    array = convert.host_array("ids", ids, np.int64)
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


def group_images(
    value: Any, batch_key: Any, layout: str | None, samples: int
) -> list[tuple[np.ndarray, list[ImageBatch]]]:
    """Indices and images of each group: one batch, or the single images of a ragged batch.

    An array is a batch, and so is a list of arrays of one library and shape with channels. Other images with channels
    are grouped by `batch_key`, a function of an image, whatever their sizes, or by size where it gives None; each image
    [H, W] is a group of its own.
    """
    if not isinstance(value, list):
        return [(np.arange(samples), [describe_images(value, layout)])]
    if not value:
        raise ValueError("images must be at least one, got an empty list")
    if len({(result_library(array), array.shape, str(array.dtype)) for array in value}) == 1 and value[0].ndim == 3:
        return [(np.arange(samples), [_stack(value, layout)])]
    single_images = [describe_images(array, layout) for array in value]
    indices_by_key: dict[Any, list[int]] = {}
    for i, image in enumerate(single_images):
        kind = image.library, image.dtype, image.device, image.axes.layout, image.channels
        key = (*kind, (batch_key(image) or image.size) if value[i].ndim == 3 else i)
        indices_by_key.setdefault(key, []).append(i)
    groups = []
    for key, indices in indices_by_key.items():
        images = [single_images[i] for i in indices]
        if len(indices) > 1 and key[-1] == images[0].size:
            images = [_stack([value[i] for i in indices], images[0].axes.layout)]
        groups.append((np.array(indices), images))
    return groups


def _stack(images: Sequence[Any], layout: str | None) -> ImageBatch:
    """The images as one batch. `layout`: that of an image."""
    batch = convert.namespace(images[0]).stack(images)
    library: Any = result_library(batch)
    layout = layout or default_layout(images[0].shape, library.channels_first)
    return describe_images(batch, f"N{layout}", library)


def in_call_order(groups: Sequence[_Group], values: Sequence[Any]) -> list[Any]:
    """One entry per sample in the order of the call; `values` has a sequence of entries for each group."""
    ordered: list[Any] = [None] * sum(len(group.indices) for group in groups)
    for group, group_values in zip(groups, values, strict=True):
        for index, value in zip(group.indices.tolist(), group_values, strict=True):
            ordered[index] = value
    return ordered


def _transform_images(target: Target, groups: Sequence[_Group]) -> Any:
    """The transformed images, in a list if the target is a list."""
    results = [launch_plan.apply(group.params.plan, group.batch, group.params.table) for group in groups]
    is_batch = len(groups) == 1 and isinstance(target.original, UnstackedBatch)
    if is_batch or not isinstance(target.value, list):
        return results[0]
    pairs = zip(groups, results, strict=True)
    images = in_call_order(groups, [result if "N" in group.batch.axes.layout else [result] for group, result in pairs])
    return _stack_equal_sizes(target, images)


def _stack_equal_sizes(target: Target, arrays: list[Any]) -> Any:
    """The arrays of an `UnstackedBatch` as a batch, if they have one size; else the list, in its type."""
    if not isinstance(target.original, UnstackedBatch):
        return arrays
    if len({tuple(array.shape) for array in arrays}) > 1:
        return UnstackedBatch(arrays)
    return convert.namespace(arrays[0]).stack(arrays)


def _check_equal_sizes(parsed: ParsedSample, image_groups: Sequence[Any]) -> None:
    """Several images of one sample share their draws, which depend on the size."""
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
                raise ValueError(
                    f"images of one sample must have one size, got {sizes_by_target[0][index]} and {size} at "
                    f"{''.join(f'[{key!r}]' for key in target.paths[0])}"
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


def _mix_labels(labels: Any, params: Params, mixes: Sequence[Mix]) -> Any:
    """Labels, mixed as the images are."""
    for op in mixes:
        labels = mix_labels(labels, params[op.lam.name], num_classes=op.classes)
    return labels


def _transform_masks(target: Target, groups: Sequence[_Group], is_single: bool) -> Any:
    """Masks: an array for the batch or for the only sample, or one for each sample.

    `is_single`: as in `ParsedSample`; the images of a video then have an axis N that its masks lack.
    """
    value, first = target.value, groups[0]
    if len(groups) == 1 and len(first.images) == 1 and not isinstance(value, list):
        if first.batch.ragged:
            return _transform_group_masks([value], first)[0]
        batch_axis = "N" if "N" in first.batch.axes.layout and not is_single else ""
        return _transform_mask(value, first.batch, first.params, batch_axis)
    if not isinstance(value, list) and len({image.size for group in groups for image in group.images}) > 1:
        raise ValueError(
            f"masks must be a list with an array per sample, as the images have several sizes, got one array of shape "
            f"{tuple(value.shape)}"
        )
    results = in_call_order(groups, [_transform_group_masks([value[i] for i in g.indices], g) for g in groups])
    if isinstance(value, list):
        return _stack_equal_sizes(target, results)
    return convert.namespace(results[0]).stack(results)


def _transform_group_masks(masks: Sequence[Any], group: _Group) -> Sequence[Any]:
    """The masks of a group, one entry per sample; as one ragged batch if they are of one kind."""
    params, table = group.params, group.params.table
    if group.batch.ragged:
        pairs = [(with_mask_axes(mask, group.images[row]), group.images[row]) for row, mask in enumerate(masks)]
        mask_batches = [describe_masks(mask, image, "", params.plan.first_mask_dtypes) for mask, image in pairs]
        kinds = {(m.library, m.dtype, m.channels, m.axes.layout, is_plane) for m, is_plane in mask_batches}
        if len(kinds) == 1 and mask_batches[0][0].samples:  # 0: every stack is empty
            batch = ragged_batch([mask for mask, _ in mask_batches], np.empty((len(mask_batches), 0)))
            result = launch_plan.apply_to_masks(params.plan, batch, table)
            return list(result[:, 0] if mask_batches[0][1] else result)
    rows = (table._replace(pointer=table.pointer + 8 * table.sample_stride * row) for row in range(len(masks)))
    images = group.images if group.batch.ragged else [group.batch] * len(masks)
    return [_transform_mask(mask, image, params, "", row) for mask, image, row in zip(masks, images, rows, strict=True)]


def _transform_mask(mask: Any, images: ImageBatch, params: Params, batch_axis: str, table: Any = None) -> Any:
    """One array of masks: [N, H, W], or with an axis of masks in the place of the channels.

    `batch_axis`: "N", or "" if the array has none.
    """
    mask = with_mask_axes(mask, images)
    mask_batch, is_plane = describe_masks(mask, images, batch_axis, params.plan.first_mask_dtypes)
    result = launch_plan.apply_to_masks(params.plan, mask_batch, params.table if table is None else table)
    shape = tuple(mask.shape)
    if _has_empty_stack(shape):
        first = len(shape) - (2 if shape[-1] else 3)  # index of H; W follows
        return result.reshape((*shape[:first], *params.result_size, *shape[first + 2 :]))
    result = result[..., 0, :, :] if is_plane else result
    return result[0] if mask.ndim < result.ndim else result


def describe_masks(
    mask: Any, images: ImageBatch, batch_axis: str, dtypes: Sequence[str] = ()
) -> tuple[ImageBatch, bool]:
    """Masks as images, cast to `dtypes`, and whether they have no axis of masks.

    An empty stack is a batch without samples.
    """
    if library_of(type(mask)) is None:
        raise TypeError(f"masks must be an array, or a list of arrays, got {type(mask).__name__}")
    dtype = convert.dtype_name(mask.dtype)
    if dtype not in _MASK_DTYPES:
        raise TypeError(f"masks must be one of {', '.join(_MASK_DTYPES)}, got {dtype}: convert them to int32 or int64")
    shape = tuple(mask.shape)
    if "T" in images.axes.layout:
        mask, batch_axis = (mask if batch_axis else mask[None]), "NT"
    is_plane = mask.ndim == len(batch_axis) + 2
    array = mask[..., None, :, :] if is_plane else mask
    orders = ["CHW", "HWC"] if is_plane or not images.axes.layout.endswith("C") else ["HWC", "CHW"]
    layout = next((batch_axis + order for order in orders if _fits(array, batch_axis + order, images)), None)
    if layout is None:
        samples = f"{images.samples} sample{'s' * (images.samples != 1)} of size {images.size}"
        rule = f"one mask, or several along an axis of their own, for images of {samples}"
        hint = "; labels are given as labels=..." if len(shape) < 3 else ""
        hint = "; boxes are given as boxes=..." if len(shape) > 1 and shape[-1] == 4 else hint
        raise ValueError(f"masks must be {rule}, got shape {shape}{hint}")
    if _has_empty_stack(shape):  # images have channels, but a batch may be without samples
        array, layout = array.reshape((0, 1, *images.size)), "NCHW"
    mask_batch = describe_images(array, layout)
    if mask_batch.device != images.device or (images.device >= 0 and mask_batch.library is not images.library):
        raise TypeError("masks must be of the images' library and on the images' device")
    return describe_images(execute.cast(array, dtypes), layout) if dtypes else mask_batch, is_plane


def with_mask_axes(mask: Any, images: ImageBatch) -> Any:
    """The array; one of shape (0,), as from `[]`, becomes a stack without masks. [0, H, W] or [T, 0, H, W]"""
    frames = (images.frames,) if "T" in images.axes.layout else ()
    return mask.reshape((*frames, 0, *images.size)) if tuple(getattr(mask, "shape", ())) == (0,) else mask


def _has_empty_stack(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape holds no masks: (0, H, W), or (H, W, 0), with any axes before them."""
    return 0 in shape[-3:]


def _fits(masks: Any, layout: str, images: ImageBatch) -> bool:
    if masks.ndim != len(layout):
        return False
    extent = dict(zip(layout, masks.shape, strict=True))
    same_count = extent.get("N", images.samples) == images.samples and extent.get("T", images.frames) == images.frames
    return same_count and (extent["H"], extent["W"]) == images.size
