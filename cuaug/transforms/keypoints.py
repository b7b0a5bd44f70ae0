"""Keypoints under their samples' matrices: moved, swapped in mirrored samples, of visibility 0 outside the canvas."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._detection.rotated_boxes import Edges
from .._value_text import value_text
from . import point_map
from .moves import Move
from .point_map import PointMap
from .registry import register

__all__ = ["Keypoints"]


@register
@dataclass(frozen=True)
class Keypoints:
    """Properties of the keypoints given to a ``Compose``, and the treatment of those that leave the image.

    Coordinates are (x, y) in pixels, with the centre of the first pixel at 0, as in OpenCV, Albumentations
    and torchvision's ``KeyPoints``. They are moved, never clipped: a clipped landmark would be at a wrong place.
    A third column is COCO's visibility (0 not labelled, 1 hidden, 2 visible): a point that leaves the result's canvas,
    or that of an earlier step of the recipe (a crop, for example), or that a perspective moves beyond the horizon
    (w = 0), gets visibility 0, and a point of visibility 0 gets (0, 0), as in COCO. Without that column a point outside
    the canvas keeps its coordinates; beyond the horizon it becomes NaN (integers: 0).

    Args:
        flip_pairs: Pairs (left, right) of keypoint numbers to swap in mirrored samples, so that a left eye stays the
            left eye of the person.
        hide_outside: Whether a point that leaves the canvas gets visibility 0.

    Raises:
        TypeError: An argument is of another type.
        ValueError: A keypoint is in two pairs, or is its own partner.

    >>> Keypoints(flip_pairs=[(1, 2), (3, 4)])
    Keypoints(flip_pairs=((1, 2), (3, 4)), hide_outside=True)
    """

    flip_pairs: Any = ()
    hide_outside: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "flip_pairs", _pairs(self.flip_pairs))
        _check.boolean("hide_outside", self.hide_outside)


def _pairs(value: Any) -> tuple[tuple[int, int], ...]:
    rule = "flip_pairs must be pairs of keypoint numbers, [(left, right), ...]"
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise TypeError(f"{rule}, got {value_text(value)}")
    pairs = []
    for i, pair in enumerate(value):
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"{rule}, got {value_text(pair)}")
        left, right = (_check.integer(f"flip_pairs[{i}][{j}]", number, 0) for j, number in enumerate(pair))
        pairs.append((left, right))
    (repeated, count), *_ = Counter(number for pair in pairs for number in pair).most_common(1) or [(0, 0)]
    if count > 1:
        raise ValueError(f"flip_pairs must name a keypoint once, got {repeated} twice")
    return tuple(pairs)


def transform_keypoints(keypoints: Any, moves: Sequence[Move], options: Keypoints) -> Any:
    """Keypoints under the moves of their samples. Does not wait for a device.

    Args:
        keypoints: (x, y) or (x, y, visibility), with any axes of instances before them: an array [N, ..., P, 2 or 3],
            or a list of N arrays [..., P_i, 2 or 3]
        moves: At least one.
        options: The pairs to swap, and whether points outside a canvas get visibility 0.

    Returns:
        The keypoints in their library, shape and dtype, on the device of the matrices if these are on a GPU.
    """
    samples = int(moves[0].matrices.shape[0])
    if not isinstance(keypoints, (list, tuple)):
        columns = _columns("keypoints", keypoints, 3)
        _check.per_sample("keypoints", int(keypoints.shape[0]), samples)
        shape = tuple(keypoints.shape)
        flat = keypoints.reshape(samples, math.prod(shape[1:-1]), columns)
        float_keypoints, maps = point_map.float_values_and_maps("keypoints", flat, moves)
        swapped_points = None
        if options.flip_pairs:
            order = _swap_order(shape[1:], options)
            swapped_points = float_keypoints[:, convert.asarray(order, like=float_keypoints, dtype="int64")]
        result = _transform(float_keypoints, swapped_points, maps, options, keypoints.dtype)
        return point_map.cast_back(result, keypoints.dtype).reshape(shape)
    _check.per_sample("keypoints", len(keypoints), samples)
    if not keypoints:
        return []
    columns = _columns("keypoints[0]", keypoints[0], 2)
    for i, points in enumerate(keypoints):
        if _columns(f"keypoints[{i}]", points, 2) != columns:
            raise ValueError(f"keypoints must all have {columns} columns, got {points.shape[-1]} in sample {i}")
    results = [None] * samples
    for group, group_moves in point_map.groups_of_kind(keypoints, moves):
        moved = _transform_list([keypoints[i] for i in group], columns, group_moves, options)
        for i, points in zip(group, moved, strict=True):
            results[i] = points
    return results


def _transform_list(keypoints: Sequence[Any], columns: int, moves: Sequence[Move], options: Keypoints) -> list[Any]:
    """As `transform_keypoints`, for a list of checked arrays of one library and dtype."""
    shapes = [tuple(points.shape) for points in keypoints]
    lengths = [math.prod(shape[:-1]) for shape in shapes]
    entries, indices = point_map.entries_and_samples([points.reshape(-1, columns) for points in keypoints])
    float_keypoints, maps = point_map.float_values_and_maps("keypoints", entries, moves, indices)
    swapped_points = None
    if options.flip_pairs:
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        order = np.concatenate([s + _swap_order(shape, options) for s, shape in zip(starts, shapes, strict=True)])
        order = convert.asarray(order, like=float_keypoints, dtype="int64")
        swapped_points = float_keypoints.reshape(-1, columns)[order].reshape(float_keypoints.shape)
    result = _transform(float_keypoints, swapped_points, maps, options, entries.dtype)
    result = point_map.cast_back(result, entries.dtype).reshape(-1, columns)
    return [points.reshape(shape) for points, shape in zip(point_map.split(result, lengths), shapes, strict=True)]


def _columns(parameter: str, keypoints: Any, min_axes: int) -> int:
    shape = getattr(keypoints, "shape", None)
    if shape is None:
        raise TypeError(f"{parameter} must be an array, got {type(keypoints).__name__}")
    if len(shape) < min_axes or shape[-1] not in (2, 3):
        expected = "[N, ..., P, 2|3]" if min_axes == 3 else "[..., P, 2|3]"
        raise ValueError(f"{parameter} must have shape {expected}, got {list(shape)}")
    return int(shape[-1])


def _swap_order(shape: tuple[int, ...], options: Keypoints) -> np.ndarray:
    """For each point of one sample [..., P, 2 or 3], in C order, the point that replaces it in a mirrored sample."""
    points, instances = shape[-2], math.prod(shape[:-2])
    partner = np.arange(points)
    for left, right in options.flip_pairs if points else ():
        if max(left, right) >= points:
            raise ValueError(f"flip_pairs must name keypoints below {points}, got {(left, right)}")
        partner[[left, right]] = right, left
    return (np.arange(instances)[:, None] * points + partner).reshape(-1)


def _transform(points: Any, swapped_points: Any, maps: Sequence[PointMap], options: Keypoints, dtype: Any) -> Any:
    """Points [N, K, 2 or 3] of a float dtype, moved. The caller casts the result to `dtype`; integers have no NaN."""
    xp = convert.namespace(points)
    if swapped_points is not None:
        mirrored = maps[0].handedness() < 0
        for mapping in maps[1:]:
            mirrored = mirrored ^ (mapping.handedness() < 0)
        points = xp.where(mirrored[:, None, None], swapped_points, points)
    has_position = xp.isfinite(points[..., :2]).all(-1)
    positions, is_visible = xp.where(has_position[..., None], points[..., :2], 0.0), has_position
    hide_outside = options.hide_outside and points.shape[-1] == 3
    for mapping in maps:
        if hide_outside and mapping.source_box is not None:
            is_visible = is_visible & _is_inside(positions, mapping.source_box)
        moved = mapping.move_points(positions)
        is_valid = xp.isfinite(moved).all(-1) if mapping.is_affine else mapping.in_front(positions)
        has_position = has_position & is_valid
        positions = xp.where(has_position[..., None], moved, 0.0)
        if hide_outside:
            is_visible = is_visible & _is_inside(positions, mapping.canvas)
    if points.shape[-1] == 2:
        return xp.where(has_position[..., None], positions, 0.0 if point_map.is_integer(dtype) else math.nan)
    visibility = xp.where(has_position & is_visible, points[..., 2], 0.0)
    positions = xp.where((visibility > 0)[..., None], positions, 0.0)
    return xp.concatenate([positions, visibility[..., None]], -1)


def _is_inside(positions: Any, canvas: Edges) -> Any:
    """Whether positions [N, K, 2] are on the canvas, whose edge is half a pixel beyond the centres of its pixels."""
    (x, y), (left, top, right, bottom) = (positions[..., 0], positions[..., 1]), canvas
    return (x >= left - 0.5) & (y >= top - 0.5) & (x < right - 0.5) & (y < bottom - 0.5)
