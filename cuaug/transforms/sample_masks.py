"""Masks of a sample: transformed by the parameters that were drawn for its images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.images import ImageBatch, describe_images
from .._arrays.registry import library_of
from .._fusion import execute, launch_plan
from .._passes.ragged import ragged_batch
from .._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES
from .params import Params
from .sample_groups import Group, in_call_order, stack_equal_sizes
from .sample_target import Target

_MASK_DTYPES = tuple(dict.fromkeys(LABEL_DTYPES + IMAGE_DTYPES))


def transform_masks(target: Target, groups: Sequence[Group], is_single: bool) -> Any:
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
        return stack_equal_sizes(target, results)
    return convert.namespace(results[0]).stack(results)


def _transform_group_masks(masks: Sequence[Any], group: Group) -> Sequence[Any]:
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
