"""Targets of a loader's samples: checked, moved with the decoded crops, and copied to the images' device together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from reprlib import repr  # shortens: a value may be long
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import convert
from .._arrays.registry import library_of
from .._arrays.tv_tensors import tv_kind
from .._detection.box_formats import FORMATS, convert_format, stated_format
from ..transforms.sample_kinds import KINDS
from .labels import integer_label
from .receivers import NumPyReceiver, holds_numbers

TargetDict: TypeAlias = "dict[str, Any]"
Targets: TypeAlias = "np.ndarray | list[TargetDict]"  # numbers [N, ...], or a dict for each sample

# By kind: the shape in messages, the numbers of axes, and the extents of the last axis (None: any).
_SHAPES = {
    "boxes": ("[B, 4]", (2,), (4,)),
    "keypoints": ("[P, 2|3] or [B, P, 2|3]", (2, 3), (2, 3)),
    "masks": ("[H, W] or [B, H, W]", (2, 3), None),
    "valid": ("[B]", (1,), None),
}
_DTYPES = {"boxes": np.float32, "keypoints": np.float32, "valid": np.bool_}
_ALIGNMENT = 16  # bytes; torch's `view(dtype)` needs an offset that is a multiple of the element size


class CropMap(NamedTuple):
    """The map from each image to its crop, of coordinates from the image's corner: ``scale * x + offset``."""

    scale: np.ndarray  # (x, y) [N, 2]
    offset: np.ndarray  # (x, y) [N, 2]


def batch_targets(
    values: Sequence[Any], ids: Sequence[int], name_of: Callable[[int], str], box_format: str
) -> Targets | None:
    """The targets of the samples with these ids, checked; None if the samples have none.

    Boxes whose type states another format are converted to `box_format`.

    Raises:
        TypeError: A target is neither a dict nor an integer, the targets of the batch are of both kinds, or an entry
            is no array where its key requires one.
        ValueError: An entry of a dict has another shape, dtype, box format or number of labels than its key requires.
    """
    if values and all(value is None for value in values):
        return None
    if not any(isinstance(value, Mapping) for value in values):
        rule = "targets must be dicts, or integers"
        labels = [integer_label(value, rule, f" for {name_of(i)}") for value, i in zip(values, ids, strict=True)]
        return np.array(labels, np.int64)
    for value, i in zip(values, ids, strict=True):
        if not isinstance(value, Mapping):
            raise TypeError(
                f"targets must all be dicts or all be integers, got {type(value).__name__} for {name_of(i)}"
            )
    return [_checked_target(value, name_of(i), box_format) for value, i in zip(values, ids, strict=True)]


def _checked_target(target: Mapping[str, Any], name: str, box_format: str) -> TargetDict:
    result: TargetDict = {}
    for key, value in target.items():
        kind = KINDS.get(key)
        if kind == "images":
            raise ValueError(f"targets must not have {key!r}, the image is the file's, for {name}")
        format = stated_format(value) or box_format
        if kind == "boxes" and format not in FORMATS:
            formats = ", ".join(FORMATS)
            raise ValueError(f"targets must have {key!r} in one of the formats {formats}, got {format} for {name}")
        if (type_kind := tv_kind(value)) not in (None, kind):
            raise ValueError(f"targets must have {type_kind} under a key such as {type_kind!r}, got {key!r} for {name}")
        result[key] = _checked_entry(key, kind, value, name)
        if kind == "boxes":
            result[key] = convert_format(result[key], format, box_format)
    _check_counts(result, name)
    return result


def _check_counts(target: TargetDict, name: str) -> None:
    """Checks the counts of the first value of kind "labels" and of kind "valid" against the first of kind "boxes"."""
    first: dict[str | None, tuple[str, Any]] = {}
    for key, value in target.items():
        first.setdefault(KINDS.get(key), (key, value))
    for key, value in (first[kind] for kind in ("labels", "valid") if kind in first and "boxes" in first):
        box_count = first["boxes"][1].shape[0]
        # A value without axes, such as a number, has no count to compare.
        count = len(value) if isinstance(value, (list, tuple)) else (*getattr(value, "shape", ()), box_count)[0]
        if count != box_count:
            raise ValueError(f"targets must have {key!r} for each of the {box_count} boxes, got {count} for {name}")


def _checked_entry(key: str, kind: str | None, value: Any, name: str) -> Any:
    """A NumPy array, if the value is an array of numbers, or a list of them under a key of `KINDS`; else the value."""
    try:
        is_array = library_of(type(value)) is not None
    except TypeError as error:  # a masked array, or a tracer of JAX
        raise TypeError(f"{error}, as {key!r} for {name}") from None
    is_list = kind is not None and isinstance(value, (list, tuple))
    if kind in _SHAPES and not (is_array or is_list):
        raise TypeError(f"targets must have an array as {key!r}, got {type(value).__name__} for {name}")
    array = _numbers(key, value) if is_array or is_list else None
    if kind not in _SHAPES:
        if array is None:
            return value
        is_index = kind == "labels" and (array.dtype.kind in "iu" or not array.size)
        if is_index and array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
            raise ValueError(f"targets must have integers of 64 bits as {key!r}, got {array.max()} for {name}")
        return array.astype(np.int64) if is_index else array
    if array is None:
        raise ValueError(f"targets must have rows of numbers as {key!r}, got {repr(value)} for {name}")
    shape_text, axes, last_extents = _SHAPES[kind]
    if array.shape == (0,):  # `[]`: the recipe adds the other axes, as they depend on the image or other samples
        array = array.reshape((0, 4)) if kind == "boxes" else array
    elif array.ndim not in axes or (last_extents is not None and array.shape[-1] not in last_extents):
        raise ValueError(f"targets must have {key!r} of shape {shape_text}, got {array.shape} for {name}")
    with np.errstate(over="ignore"):  # too large for float32: infinite, and the recipe marks the box as not valid
        return array.astype(_DTYPES.get(kind, array.dtype), copy=False)


def _numbers(key: str, value: Any) -> np.ndarray | None:
    """An array in the byte order of the machine; None for values that are no numbers."""
    try:
        array = np.empty(0, np.uint8) if isinstance(value, (list, tuple)) and not value else value
        array = convert.host_values(key, array)
    except (TypeError, ValueError):  # such as sparse tensors, complex numbers, and rows of several lengths
        return None
    return array.astype(array.dtype.newbyteorder("="), copy=False) if holds_numbers(array) else None


def have_masks(targets: Targets | None) -> bool:
    return isinstance(targets, list) and any(KINDS.get(key) == "masks" for target in targets for key in target)


def move_to_crops(targets: Sequence[TargetDict], crops: CropMap, format: str) -> list[TargetDict]:
    """Targets in pixels of the crops. Nothing is clipped, as the rest of the recipe moves the objects once more."""
    return [
        {key: _moved_entry(KINDS.get(key), value, scale, offset, format) for key, value in target.items()}
        for target, scale, offset in zip(targets, crops.scale, crops.offset, strict=True)
    ]


def _moved_entry(kind: str | None, value: Any, scale: np.ndarray, offset: np.ndarray, format: str) -> Any:
    if kind == "boxes":
        # Width and height have no offset.
        offsets = [*offset, *(offset if format == "XYXY" else (0, 0))]
        return (value * [*scale, *scale] + offsets).astype(np.float32)
    if kind == "keypoints" and value.size:
        # Edges are measured from the corner of the first pixel, keypoints from its centre.
        points = (value[..., :2] + 0.5) * scale + offset - 0.5
        return np.concatenate([points, value[..., 2:]], -1).astype(np.float32)
    return value


def to_receiver(targets: Sequence[TargetDict], receiver: NumPyReceiver) -> list[TargetDict]:
    """Targets whose arrays are the receiver's: views of one block of memory, which is copied once."""
    arrays = [value for target in targets for value in target.values() if holds_numbers(value)]
    starts = np.cumsum([0, *(-(-array.nbytes // _ALIGNMENT) * _ALIGNMENT for array in arrays)]).tolist()
    block = np.zeros(max(starts[-1], 1), np.uint8)
    for array, start in zip(arrays, starts, strict=False):
        block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)[...] = array
    received = receiver.array(block)
    views = (receiver.view(received, start, array) for array, start in zip(arrays, starts, strict=False))
    return [
        {key: next(views) if holds_numbers(value) else value for key, value in target.items()} for target in targets
    ]


def arrays_with_kind(target: TargetDict) -> TargetDict:
    """The entries that a recipe may move, mix or remove."""
    return {key: value for key, value in target.items() if key in KINDS and library_of(type(value)) is not None}
