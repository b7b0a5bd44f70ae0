"""Keypoints follow their images: moved, renamed where left and right change places, hidden where they leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check, geometry
from .._arrays import convert
from . import point_map as _map


@dataclass(frozen=True)
class Keypoints:
    """What the keypoints given to a ``Compose`` are, and what becomes of those that leave the image.

    Coordinates are (x, y) in pixels, with the centre of the first pixel at 0, as OpenCV, Albumentations and
    torchvision's ``KeyPoints`` count. They are moved, never clipped: a clipped landmark would lie in a wrong place.
    A third column is COCO's visibility (0 not labelled, 1 hidden, 2 visible): a point that leaves the canvas, or that
    a perspective takes beyond the horizon, gets 0, and what has 0 gets (0, 0), as COCO has it. Without that column
    such a point keeps the place it moved to; beyond the horizon there is none, and it becomes NaN (integers: 0).

    Args:
        flip_pairs: Pairs (left, right) of keypoint numbers that change places in samples that were mirrored, so that a
            left eye stays the left eye of the person.
        hide_outside: Whether visibility changes where a point leaves the canvas.

    Raises:
        TypeError: An argument is of another type.
        ValueError: A keypoint is in two pairs, or its own partner.

    >>> Keypoints(flip_pairs=[(1, 2), (3, 4)])
    Keypoints(flip_pairs=((1, 2), (3, 4)), hide_outside=True)
    """

    flip_pairs: Any = ()
    hide_outside: bool = True

    @_check.public
    def __post_init__(self) -> None:
        object.__setattr__(self, "flip_pairs", _pairs(self.flip_pairs))
        _check.flag("hide_outside", self.hide_outside)


def _pairs(value: Any) -> tuple[tuple[int, int], ...]:
    rule = "flip_pairs must be pairs of keypoint numbers, [(left, right), ...]"
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise TypeError(f"{rule}, got {value!r}")
    pairs = []
    for pair in value:
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"{rule}, got {pair!r}")
        left, right = (_check.whole("flip_pairs", number, 0) for number in pair)
        pairs.append((left, right))
    numbers = [number for pair in pairs for number in pair]
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise ValueError(f"flip_pairs must name a keypoint once, got {twice} twice")
    return tuple(pairs)


def move(keypoints: Any, matrices: Any, out_size: Any, options: Keypoints) -> Any:
    """Keypoints under the matrices of their samples; nothing waits for a device.

    Args:
        keypoints: (x, y) or (x, y, visibility), with any axes of instances before them: an array [N, ..., P, 2 or 3],
            or a list of N arrays [..., P_i, 2 or 3]
        matrices: Source to destination, in pixels with centres at integers. [N, 3, 3]
        out_size: The canvas (H, W), or an array with one per sample. [N, 2]
        options: Which points change places, and whether points hide.

    Returns:
        The keypoints in their library, shape and dtype, on the device of `matrices` if that is one.
    """
    samples = int(matrices.shape[0])
    if not isinstance(keypoints, (list, tuple)):
        columns = _columns("keypoints", keypoints, 3)
        _check.one_each("keypoints", int(keypoints.shape[0]), samples)
        shape = tuple(keypoints.shape)
        flat = keypoints.reshape(samples, math.prod(shape[1:-1]), columns)
        loaded, to = _map.load("keypoints", flat, matrices, out_size)
        swapped = None
        if options.flip_pairs:
            order = _mirrored(shape[1:], options)
            swapped = loaded[:, convert.asarray(order, like=loaded, dtype="int64")]
        return _map.restored(_move(loaded, swapped, to, options, keypoints.dtype), keypoints.dtype).reshape(shape)
    _check.one_each("keypoints", len(keypoints), samples)
    if not keypoints:
        return []
    columns = _columns("keypoints[0]", keypoints[0], 2)
    for sample, own in enumerate(keypoints):
        if _columns(f"keypoints[{sample}]", own, 2) != columns:
            raise ValueError(f"keypoints must all have {columns} columns, got {own.shape[-1]} in sample {sample}")
    shapes = [tuple(own.shape) for own in keypoints]
    lengths = [math.prod(shape[:-1]) for shape in shapes]
    together = convert.namespace(keypoints[0]).concatenate([own.reshape(-1, 1, columns) for own in keypoints])
    loaded, to = _map.load("keypoints", together, matrices, out_size, _map.owners(lengths))
    swapped = None
    if options.flip_pairs:
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        order = np.concatenate([s + _mirrored(shape, options) for s, shape in zip(starts, shapes, strict=True)])
        swapped = loaded[convert.asarray(order, like=loaded, dtype="int64")]
    moved = _map.restored(_move(loaded, swapped, to, options, together.dtype), together.dtype)
    return [own.reshape(shape) for own, shape in zip(_map.split(moved, lengths), shapes, strict=True)]


def _columns(parameter: str, keypoints: Any, least_axes: int) -> int:
    shape = getattr(keypoints, "shape", None)
    if shape is None:
        raise TypeError(f"{parameter} must be an array, got {type(keypoints).__name__}")
    if len(shape) < least_axes or shape[-1] not in (2, 3):
        wanted = "[N, ..., P, 2|3]" if least_axes == 3 else "[..., P, 2|3]"
        raise ValueError(f"{parameter} must have shape {wanted}, got {list(shape)}")
    return int(shape[-1])


def _mirrored(shape: tuple[int, ...], options: Keypoints) -> np.ndarray:
    """Which of the points of one sample [..., P, 2 or 3], in C order, takes the place of each in a mirror."""
    points, instances = shape[-2], math.prod(shape[:-2])
    partner = np.arange(points)
    for left, right in options.flip_pairs if points else ():
        if max(left, right) >= points:
            raise ValueError(f"flip_pairs must name keypoints below {points}, got {(left, right)}")
        partner[[left, right]] = right, left
    return (np.arange(instances)[:, None] * points + partner).reshape(-1)


def _move(points: Any, swapped: Any, to: _map.Map, options: Keypoints, dtype: Any) -> Any:
    """Points [N, K, 2 or 3] of a float dtype, to a result of `dtype`."""
    xp, (mirror, side) = convert.namespace(points), to.orientation()
    if swapped is not None:
        points = xp.where((mirror < 0)[:, None, None], swapped, points)
    known = xp.isfinite(points[..., :2]).all(-1)
    at = xp.where(known[..., None], points[..., :2], 0.0)
    known = known & to.in_front(at, side)
    moved = geometry.transform_points(at, to.M)
    if points.shape[-1] == 2:
        return xp.where(known[..., None], moved, 0.0 if _map.is_whole(dtype) else math.nan)
    x, y = moved[..., 0], moved[..., 1]
    if options.hide_outside:  # a pixel reaches half a pixel beyond its centre
        known = known & (x >= -0.5) & (y >= -0.5) & (x < to.width - 0.5) & (y < to.height - 0.5)
    visibility = xp.where(known, points[..., 2], 0.0)
    placed = xp.where((visibility > 0)[..., None], moved, 0.0)
    return xp.concatenate([placed, visibility[..., None]], -1)
