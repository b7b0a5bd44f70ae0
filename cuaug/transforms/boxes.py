"""Boxes follow their images: moved, clipped to the new canvas, and judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check, geometry
from .._arrays import convert
from .._arrays.registry import library_of
from .._detection.box_formats import ANCHORS, area, from_edges, to_edges
from . import point_map as _map


@dataclass(frozen=True)
class Boxes:
    """What the boxes given to a ``Compose`` are, and which of them count afterwards.

    Coordinates are edges counted from the image's corner, in pixels, as torchvision and COCO count: the whole image is
    ``(0, 0, W, H)``. A moved box is the tight upright box around its four moved corners, clipped to the new canvas; if
    boxes are integers, edges are rounded first. A box is *valid* if it was not empty (or NaN) before, is not empty
    after clipping, and passes both limits below. One that was empty, or that a perspective takes beyond the horizon,
    becomes ``(0, 0, 0, 0)``.

    Args:
        format: "XYXY", "XYWH" or "CXCYWH"; torchvision's ``BoundingBoxes`` bring their own.
        min_area: Least area after clipping, in pixels of the result.
        min_visibility: Least share of a moved box's area that clipping leaves, 0 to 1.
        compact: Return lists of the valid boxes alone, and of their labels, instead of all boxes and a mask. Waits for
            the device, on which the lengths of the lists depend.

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

    @_check.public
    def __post_init__(self) -> None:
        _check.one_of("format", self.format, tuple(ANCHORS))
        _check.number("min_area", self.min_area, 0)
        _check.number("min_visibility", self.min_visibility, 0, 1)
        _check.flag("compact", self.compact)


def move(boxes: Any, matrices: Any, out_size: Any, options: Boxes, valid: Any = None) -> tuple[Any, Any]:
    """Boxes under the matrices of their samples, and which of them are valid; nothing waits for a device.

    Args:
        boxes: An array [N, B, 4], or a list of N arrays [B_i, 4]
        matrices: Source to destination, in pixels with centres at integers. [N, 3, 3]
        out_size: The canvas (H, W), or an array with one per sample. [N, 2]
        options: Their format, and what makes a box valid.
        valid: What is false stays false; default: all are true. [N, B], or a list of N arrays [B_i]

    Returns:
        The boxes in their library, format and dtype, on the device of `matrices` if that is one, and the mask: two
        arrays, or two lists of arrays.
    """
    samples = int(matrices.shape[0])
    if not isinstance(boxes, (list, tuple)):
        _check.shape("boxes", boxes, (samples, None, 4))
        loaded, to = _map.load("boxes", boxes, matrices, out_size)
        if valid is not None:
            _check.shape("valid", valid, boxes.shape[:2])
        return _move(loaded, to, options, boxes.dtype, valid)
    _check.one_each("boxes", len(boxes), samples)
    if not boxes:
        return [], []
    for sample, own in enumerate(boxes):
        _check.shape(f"boxes[{sample}]", own, (None, 4))
    lengths = [int(own.shape[0]) for own in boxes]
    together = convert.namespace(boxes[0]).concatenate(list(boxes))[:, None]
    loaded, to = _map.load("boxes", together, matrices, out_size, _map.owners(lengths))
    if valid is not None:
        _check.one_each("valid", len(valid), samples)
        for sample, own in enumerate(valid):
            _check.shape(f"valid[{sample}]", own, (lengths[sample],))
        valid = convert.namespace(valid[0]).concatenate(list(valid))[:, None]
    moved, kept = _move(loaded, to, options, together.dtype, valid)
    return _map.split(moved[:, 0], lengths), _map.split(kept[:, 0], lengths)


def _move(boxes: Any, to: _map.Map, options: Boxes, dtype: Any, valid: Any) -> tuple[Any, Any]:
    """Boxes [N, B, 4] of a float dtype, to a result of `dtype`."""
    xp, (samples, count) = convert.namespace(boxes), boxes.shape[:2]
    edges = to_edges(boxes, options.format)
    proper = xp.isfinite(edges).all(-1) & (edges[..., 2:] > edges[..., :2]).all(-1)
    edges = xp.where(proper[..., None], edges, 0.0)
    # Edges are counted from the corner of the first pixel, matrices from its centre.
    left, top, right, bottom = (edges[..., i] for i in range(4))
    corners = xp.stack([left, top, right, top, right, bottom, left, bottom], -1).reshape(samples, 4 * count, 2) - 0.5
    _, side = to.orientation()
    proper = proper & to.in_front(corners, side).reshape(samples, count, 4).all(-1)
    moved = (geometry.transform_points(corners, to.M) + 0.5).reshape(samples, count, 4, 2)
    edges = xp.where(proper[..., None], xp.concatenate([xp.amin(moved, -2), xp.amax(moved, -2)], -1), 0.0)
    edges = xp.round(edges) if _map.is_whole(dtype) else edges
    across, down = _clipped(edges[..., 0::2], to.width), _clipped(edges[..., 1::2], to.height)
    clipped = xp.stack([across, down], -1).reshape(samples, count, 4)
    before, after = area(edges), area(clipped)
    kept = proper & (after > 0) & (after >= options.min_area) & (after >= options.min_visibility * before)
    if valid is not None:
        kept = kept & convert.asarray(valid, like=kept, dtype="bool")
    return _map.restored(from_edges(clipped, options.format), dtype), kept


def _clipped(values: Any, limit: Any) -> Any:
    """Values [N, B, 2] into 0..limit, which is a number or [N, 1]."""
    xp = convert.namespace(values)
    if isinstance(limit, int):
        return xp.clip(values, 0, limit)
    values, limit = xp.where(values > 0, values, 0.0), limit[..., None]
    return xp.where(values < limit, values, limit)


def compact(valid: Any, *targets: Any) -> list[list[Any]]:
    """For each of the targets, the entries that are valid, as a list of N. Waits for the device, once.

    Args:
        valid: As :func:`move` gives it. [N, B], or a list of N arrays [B_i]
        *targets: What has an entry per box: boxes, labels, masks of instances. Arrays [N, B, ...] or lists of N arrays
            or lists [B_i, ...]
    """
    lengths = [int(own.shape[0]) for own in valid]
    if not lengths:
        return [[] for _ in targets]
    together = convert.namespace(*valid).concatenate(list(valid)) if isinstance(valid, (list, tuple)) else valid
    flags = convert.to_host(together).astype(bool).reshape(-1)
    kept = [np.flatnonzero(own) for own in _map.split(flags, lengths)]
    return [[_taken(target[sample], own) for sample, own in enumerate(kept)] for target in targets]


def per_box(labels: Any, boxes: Any) -> bool:
    """Whether labels go along with the boxes, one for each, rather than one for each image; shapes alone say it."""
    if not isinstance(boxes, (list, tuple)):
        shape = tuple(getattr(labels, "shape", ()))
        return len(shape) > 1 and shape[:2] == tuple(boxes.shape[:2])
    if not isinstance(labels, (list, tuple)) or not all(_is_list(own) for own in labels):
        return False
    _check.one_each("labels", len(labels), len(boxes))
    for sample, (own, box) in enumerate(zip(labels, boxes, strict=True)):
        if len(own) != box.shape[0]:
            raise ValueError(f"labels[{sample}] must hold one label per box, {box.shape[0]}, got {len(own)}")
    return True


def _is_list(entry: Any) -> bool:
    return isinstance(entry, (list, tuple)) or getattr(entry, "ndim", 0) > 0


def _taken(entries: Any, kept: np.ndarray) -> Any:
    if library_of(type(entries)) is None:
        return [entries[i] for i in kept]
    return entries[convert.asarray(kept, like=entries, dtype="int64")]
