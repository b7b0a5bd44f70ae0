"""Boxes under the matrices of their samples: moved, clipped to the new canvas, and checked for validity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check, _option_names
from .._arrays import convert
from .._arrays.registry import library_of
from .._detection.box_formats import ALL_FORMATS
from .._detection.box_shapes import BoxShape, box_shape
from .._detection.rotated_boxes import Edges
from . import point_map, upright_boxes
from .host_targets import in_library_of, numpy_view
from .moves import Move
from .point_map import PointMap
from .registry import register

__all__ = ["Boxes"]


@register
@dataclass(frozen=True)
class Boxes:
    """The format of the boxes given to a ``Compose``, and the limits for a valid box.

    Coordinates are edges in pixels from the image's corner, as in torchvision and COCO: the whole image is
    ``(0, 0, W, H)``. A moved box is the tight upright box around its four moved corners, clipped to the new canvas. If
    a later transform replaces the outside of a canvas by its border, boxes are clipped to that canvas, too. The edges
    of integer boxes are rounded before the last clipping; in "CXCYWH" centre and size are rounded after it, as edges
    may lie between pixels. A box is *valid* if its size was positive and finite before, it is not empty after
    clipping, and it passes both limits below. A box becomes zeros if it was empty, lies outside an earlier canvas, or
    has a corner beyond the horizon (w = 0) of a perspective.

    A moved rotated box is the tight rectangle around its moved corners that has the direction of the longer side: the
    box itself, if shapes stay similar. Clipped, it is the smallest box of the same angle around what is inside the
    canvas, as in torchvision's clamping mode "soft", and zeros outside. The limits below count the area of that box.

    Args:
        format: "XYXY", "XYWH" or "CXCYWH"; of rotated boxes "XYWHR", "CXCYWHR" or "XYXYXYXY", as in
            :func:`cuaug.box_convert`. torchvision's ``BoundingBoxes`` have their own.
        min_area: Minimum area after clipping, in pixels of the result.
        min_visibility: Minimum fraction of a moved box's area that clipping to all canvases leaves, 0 to 1. After a
            transform that is not fused, the fraction counts anew, of the area that was left before.
        compact: Return lists of the valid boxes instead of all boxes and a mask, and with them the labels, areas, crowd
            and difficult flags, masks and keypoints of the same objects: of one image [B], [B, H, W] and
            [B, P, 2 or 3] for B boxes. Waits for the device, which computes the lengths of the lists. Masks and
            keypoints are compacted if every sample has an axis of objects with one entry per box, and masks [H, W] also
            if they are a list with one per box. Others, such as masks of classes, stay as they are; if the length of
            that axis differs between samples, a call raises a ``ValueError``. Labels, areas and flags are compacted if
            they are an array [N, B] or a list per sample of one entry per box; a list of another length raises a
            ``ValueError``, and other values stay as they are.

    Raises:
        TypeError: An argument is of another type.
        ValueError: An argument is out of its range.

    >>> Boxes("XYWH", min_visibility=0.25)
    Boxes(format='XYWH', min_area=0.0, min_visibility=0.25, compact=False)
    """

    format: str = "XYXY"
    min_area: float = 0.0
    min_visibility: float = 0.0
    compact: bool = False

    def __post_init__(self) -> None:
        _check.one_of("format", self.format, ALL_FORMATS, _option_names.BOX_FORMATS)
        _check.number("min_area", self.min_area, 0)
        _check.number("min_visibility", self.min_visibility, 0, 1)
        _check.boolean("compact", self.compact)


def transform_boxes(boxes: Any, moves: Sequence[Move], options: Boxes, valid: Any = None) -> tuple[Any, Any]:
    """Moves boxes as the pixels of their samples move; finds the valid ones. Does not wait for a device.

    Args:
        boxes: An array [N, B, C], or a list of N arrays [B_i, C]. C: 4, or 5 or 8 of rotated boxes, which are floats
        moves: At least one.
        options: The boxes' format, and the limits for a valid box.
        valid: False for boxes that are invalid already; default: all are valid. [N, B], or a list of N arrays [B_i]

    Returns:
        The boxes in their format and dtype, and the mask: two arrays, or two lists of arrays. They have the boxes'
        library and device; if only the matrices are on a GPU, those of the matrices.
    """
    samples, columns = int(moves[0].matrices.shape[0]), box_shape(options.format).columns
    if not isinstance(boxes, (list, tuple)):
        boxes = _with_columns(boxes, columns)
        _check.shape("boxes", boxes, (samples, None, columns))
        _check_dtype("boxes", boxes, columns)
        if valid is not None:
            _check.shape("valid", valid, boxes.shape[:2])
        return _transform(boxes, moves, options, valid)
    _check.per_sample("boxes", len(boxes), samples)
    if not boxes:
        return [], []
    boxes = [_with_columns(sample_boxes, columns) for sample_boxes in boxes]
    for i, sample_boxes in enumerate(boxes):
        _check.shape(f"boxes[{i}]", sample_boxes, (None, columns))
        _check_dtype(f"boxes[{i}]", sample_boxes, columns)
    if valid is not None:
        _check.per_sample("valid", len(valid), samples)
        for i, mask in enumerate(valid):
            _check.shape(f"valid[{i}]", mask, (int(boxes[i].shape[0]),))
    results, result_valid = [None] * samples, [None] * samples
    for indices, group_moves in point_map.groups_of_kind(boxes, moves):
        group_valid = None if valid is None else [valid[i] for i in indices]
        group_results = _transform_list([boxes[i] for i in indices], group_moves, options, group_valid)
        for i, sample_boxes, mask in zip(indices, *group_results, strict=True):
            results[i], result_valid[i] = sample_boxes, mask
    return results, result_valid


def _transform_list(
    boxes: Sequence[Any], moves: Sequence[Move], options: Boxes, valid: Any
) -> tuple[list[Any], list[Any]]:
    """As `transform_boxes`, for a list of checked arrays of one library and dtype."""
    if len(boxes) == 1:  # to save time: without operations that add an axis of samples and remove it
        results = _moved_upright(boxes[0], moves, options, None if valid is None else valid[0])
        if results is not None:
            return [results[0]], [results[1]]
    lengths, columns = [int(sample_boxes.shape[0]) for sample_boxes in boxes], box_shape(options.format).columns
    entries, indices = point_map.entries_and_samples(boxes)
    if valid is not None:
        valid, _ = point_map.entries_and_samples(valid)
    result, result_valid = _transform(entries, moves, options, valid, indices)
    return (
        point_map.split(result.reshape(-1, columns), lengths),
        point_map.split(result_valid.reshape(-1), lengths),
    )


def _check_dtype(name: str, boxes: Any, columns: int) -> None:
    if columns != 4 and point_map.is_integer(boxes.dtype):
        raise TypeError(f"{name} must be floats if they are rotated, got {convert.dtype_name(boxes.dtype)}")


def _with_columns(boxes: Any, columns: int) -> Any:
    """The boxes. An empty array gets this number of columns: empty lists are parsed as (0, 4), whatever the format."""
    shape = tuple(getattr(boxes, "shape", ()))
    return boxes.reshape(*shape[:-1], columns) if len(shape) > 1 and shape[-2] == 0 and shape[-1] == 4 else boxes


def _transform(
    boxes: Any, moves: Sequence[Move], options: Boxes, valid: Any, row_samples: np.ndarray | None = None
) -> tuple[Any, Any]:
    """Moves boxes: the boxes, and the mask of the valid ones. [R, B, 4 | 5 | 8], [R, B]

    `row_samples`: the sample of each row; None: row n has the boxes of sample n. [R]
    """
    results = _moved_upright(boxes, moves, options, valid, row_samples)
    if results is not None:
        return results
    values, valid = numpy_view(boxes), None if valid is None else numpy_view(valid)
    float_boxes, maps = point_map.float_values_and_maps("boxes", values, moves, row_samples)
    moved, result_valid = _transform_by_arrays(float_boxes, maps, options, values.dtype, valid)
    return in_library_of(boxes, moved), in_library_of(boxes, result_valid)


def _moved_upright(
    boxes: Any, moves: Sequence[Move], options: Boxes, valid: Any, row_samples: np.ndarray | None = None
) -> tuple[Any, Any] | None:
    limits = {"min_area": options.min_area, "min_visibility": options.min_visibility}
    return upright_boxes.move_boxes(boxes, moves, valid, row_samples, format=options.format, **limits)


def _transform_by_arrays(
    boxes: Any, maps: Sequence[PointMap], options: Boxes, dtype: Any, valid: Any
) -> tuple[Any, Any]:
    """As `_transform`, for boxes of a float dtype; the results are of `dtype`."""
    xp, shape = convert.namespace(boxes), box_shape(options.format)
    with np.errstate(invalid="ignore"):  # infinite boxes
        rows = shape.rows(boxes)
        usable = xp.isfinite(rows).all(-1) & (shape.sizes(rows) > 0).all(-1)
    rows = xp.where(usable[..., None], rows, 0.0)
    visible_before_last: Any = 1.0  # the fraction of a box's area inside the rectangles before the last canvas
    for i, mapping in enumerate(maps):
        canvases = [maps[i - 1].canvas] if i > 0 else []
        canvases += [] if mapping.source_box is None else [mapping.source_box]
        for canvas in canvases:
            rows, usable, fraction = _clip_usable(rows, shape, canvas, usable)
            visible_before_last = visible_before_last * fraction
        rows, usable = _move(rows, shape, mapping, usable)
    is_integer = point_map.is_integer(dtype)
    rows = xp.round(rows) if is_integer and shape.is_rounded_before_clipping else rows
    clipped = shape.clip(rows, maps[-1].canvas)
    result = shape.boxes(clipped)
    if is_integer:
        result = xp.round(result)
        clipped = shape.rows(result)
    result, visible_area = point_map.cast_back(result, dtype), _area(clipped, shape)
    area = visible_area
    if convert.dtype_name(dtype) not in ("float32", "float64"):  # a narrow dtype may make a box empty
        stored = convert.asarray(result, like=rows, dtype=convert.dtype_name(rows.dtype))
        area = _area(shape.rows(stored), shape)
    result_valid = usable & (area > 0)
    if options.min_area > 0:
        result_valid = result_valid & (area >= options.min_area)
    if options.min_visibility > 0:
        min_visible_area = options.min_visibility * _area(rows, shape)
        result_valid = result_valid & (visible_area * visible_before_last >= min_visible_area)
    if valid is not None:
        result_valid = result_valid & convert.asarray(valid, like=result_valid, dtype="bool")
    return result, result_valid


def _move(rows: Any, shape: BoxShape, mapping: PointMap, usable: Any) -> tuple[Any, Any]:
    """The boxes around the moved corners, and which are usable; the other boxes are zeros."""
    xp = convert.namespace(rows)
    if mapping.is_scale_and_shift:
        scale, shift = (xp.stack([mapping.M[:, 0, i], mapping.M[:, 1, j]], -1)[:, None] for i, j in ((0, 1), (2, 2)))
        moved = shape.scale_and_shift(rows, scale, shift + 0.5 - 0.5 * scale)
    elif mapping.is_affine:
        moved = point_map.move_boxes(rows, shape, mapping.M[:, :2])
        usable = usable & xp.isfinite(moved).all(-1)  # not if the matrix is singular
    else:
        corners = shape.corners(rows)
        moved = shape.enclose(mapping.move_points(corners))
        usable = usable & mapping.in_front(corners).reshape(*usable.shape, 4).all(-1)
    return xp.where(usable[..., None], moved, 0.0), usable


def _clip_usable(rows: Any, shape: BoxShape, canvas: Edges, usable: Any) -> tuple[Any, Any, Any]:
    """The parts of boxes inside a canvas, which of them are usable, and the fraction of the area that is inside."""
    xp, clipped = convert.namespace(rows), shape.clip(rows, canvas)
    area_before, area_after = _area(rows, shape), _area(clipped, shape)
    usable = usable & (area_after > 0)
    return clipped, usable, xp.where(usable, area_after / xp.where(usable, area_before, 1.0), 0.0)


def _area(rows: Any, shape: BoxShape) -> Any:
    sizes = shape.sizes(rows)
    return sizes[..., 0] * sizes[..., 1]


def compact(valid: Any, *entries: Any) -> list[list[Any]]:
    """For each argument after the mask, a list with the valid entries of each sample. Waits for the device, once.

    Args:
        valid: A mask from :func:`transform_boxes`. [N, B], or a list of N arrays [B_i]
        *entries: Boxes, or what belongs to them, with one entry per box. Arrays [N, B, ...] or lists of N arrays or
            lists [B_i, ...]
    """
    lengths = [int(mask.shape[0]) for mask in valid]
    if not lengths:
        return [[] for _ in entries]
    if len({type(mask) for mask in valid}) > 1:
        valid = [convert.to_host(mask) for mask in valid]
    concatenated = convert.namespace(*valid).concatenate(list(valid)) if isinstance(valid, (list, tuple)) else valid
    flags = convert.to_host(concatenated).astype(bool).reshape(-1)
    indices = [np.flatnonzero(mask) for mask in point_map.split(flags, lengths)]
    return [[_take(argument[i], sample_indices) for i, sample_indices in enumerate(indices)] for argument in entries]


def has_value_per_box(name: str, values: Any, boxes: Any) -> bool:
    """Whether there is one value (a label, an area) per box rather than per image, decided by the shapes only.

    Raises ValueError for a list of lists that differ in length from the boxes of their samples.
    """
    if not isinstance(values, (list, tuple)):
        shape = tuple(getattr(values, "shape", ()))
        if not isinstance(boxes, (list, tuple)):
            return len(shape) > 1 and shape[:2] == tuple(boxes.shape[:2])
        return len(shape) > 1 and len(boxes) > 0 and [shape[1]] * shape[0] == [entry.shape[0] for entry in boxes]
    if not values or not all(_is_list(entry) for entry in values):
        return False
    counts = [shape[0] for shape in _shapes_by_sample(boxes)]
    _check.per_sample(name, len(values), len(counts))
    for i, (sample_values, count) in enumerate(zip(values, counts, strict=True)):
        if len(sample_values) != count:
            raise ValueError(
                f"{name}[{i}] must hold one entry per box, {count}, got {len(sample_values)}; for values that do not "
                "belong to the boxes pass T.Boxes(compact=False)"
            )
    return True


def has_stack_per_box(name: str, stacks: Any, boxes: Any, canvas: Any = None) -> bool:
    """Whether each sample has an array of 3 axes with an entry per box along the first, decided by the shapes only.

    Args:
        name: The name of the arrays in messages.
        stacks: Masks or keypoints: an array [N, ...], or a list of N arrays
        boxes: An array [N, B, 4], or a list of N arrays [B_i, 4]
        canvas: The last two axes of each sample's array, if these are fixed: (H, W), or an array of them [N, 2]

    Raises:
        ValueError: The number of entries differs between samples, so the entries are objects, but it is not the number
            of boxes in every sample.
    """
    shapes, box_shapes = _shapes_by_sample(stacks), _shapes_by_sample(boxes)
    if any(len(shape) != 3 for shape in shapes):
        return False
    if canvas is not None:
        sizes = [canvas] * len(shapes) if isinstance(canvas, tuple) else [(int(h), int(w)) for h, w in canvas]
        if any(shape[1:] != size for shape, size in zip(shapes, sizes, strict=True)):
            return False
    differing = next((i for i, shape in enumerate(shapes) if shape[0] != box_shapes[i][0]), None)
    if differing is not None and len({shape[0] for shape in shapes}) > 1:
        raise ValueError(
            f"{name}[{differing}] must hold one entry per box, {box_shapes[differing][0]}, got "
            f"{shapes[differing][0]}; for entries that do not belong to the boxes pass T.Boxes(compact=False)"
        )
    return differing is None


def _shapes_by_sample(value: Any) -> list[tuple[int, ...]]:
    if isinstance(value, (list, tuple)):
        return [tuple(entry.shape) for entry in value]
    return [tuple(value.shape[1:])] * int(value.shape[0])


def _is_list(entry: Any) -> bool:
    return isinstance(entry, (list, tuple)) or getattr(entry, "ndim", 0) > 0


def _take(entries: Any, indices: np.ndarray) -> Any:
    if len(indices) == len(entries):
        return entries
    if library_of(type(entries)) is None:
        return [entries[i] for i in indices]
    return entries[convert.asarray(indices, like=entries, dtype="int64")]
