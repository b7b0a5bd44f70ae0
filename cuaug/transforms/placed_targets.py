"""Boxes and keypoints with the placements of their samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._detection.box_formats import FORMATS, to_edges
from . import point_map
from .boxes import Boxes
from .host_targets import in_library_of, numpy_view
from .keypoints import Keypoints
from .moves import Move, canvas_edges
from .placement import Placement, edges_of
from .sample_structure import ParsedSample
from .sample_target import Target
from .targets import transform_targets


def moved_targets(
    parsed: ParsedSample, placement: Placement, boxes: Boxes, keypoints: Keypoints, masks: Sequence[Any]
) -> dict[str, Any]:
    """Boxes and keypoints moved by the placements of their samples: the results of `transform_targets`."""
    size = placement.size
    canvas = canvas_edges(tuple(size[0].tolist()) if len(size) == 1 else size)
    moves = [Move(placement.matrices(), canvas, is_affine=True, is_scale_and_shift=True)]
    return transform_targets(parsed, moves, size, boxes, keypoints, masks)


def box_edges(parsed: ParsedSample, format: str) -> list[np.ndarray]:
    """Left, top, right, bottom of the boxes of each sample, on the host: waits for a device on which they are.

    NaN for boxes that are invalid already.

    `format`: of boxes whose type states none.
    """
    targets = parsed.targets_of("boxes")
    if not targets:
        raise TypeError("the sample must have boxes, got none")
    value = targets[0].value
    format = targets[0].format or format
    if format not in FORMATS:
        raise ValueError(f"boxes must be upright, in the format XYXY, XYWH or CXCYWH, got {format}")
    if isinstance(value, list):
        for i, entry in enumerate(value):
            _check.shape(f"boxes[{i}]", entry, (None, 4))
    else:
        _check.shape("boxes", value, (parsed.samples, None, 4))
    edges, mask = [to_edges(entry, format) for entry in _host_entries("boxes", value)], parsed.validity_targets[0]
    if not parsed.has(mask):
        return edges
    return [
        # `transform_boxes` refuses masks of another shape.
        np.where(valid[:, None] != 0, entry, np.nan) if valid.shape == entry.shape[:1] else entry
        for entry, valid in zip(edges, _host_entries("valid", mask.value), strict=True)
    ]


def _host_entries(name: str, values: Any) -> list[np.ndarray]:
    """The values of each sample as float64 on the host, with one copy for each library, dtype and device."""
    if not isinstance(values, list):
        return list(_host(name, values))
    entries: dict[int, np.ndarray] = {}
    for indices, _ in point_map.groups_of_kind(values, ()):
        group = [values[i] for i in indices]
        rows = _host(name, convert.namespace(*group).concatenate(group) if len(group) > 1 else group[0])
        entries |= zip(indices, point_map.split(rows, [len(entry) for entry in group]), strict=True)
    return [entries[i] for i in range(len(values))]


def _host(name: str, values: Any) -> np.ndarray:
    """Values as float64 on the host."""
    return convert.host_array(name, values) if convert.is_host(values) else convert.to_host(values)


def without_lost_boxes(
    parsed: ParsedSample,
    keeps: Callable[[Any, Any], Any],
    sizes: Sequence[tuple[int, int]],
    placement: Placement,
    format: str,
) -> ParsedSample:
    """The sample, with invalid boxes (0, 0, 0, 0) in place of those that the transform does not keep.

    Args:
        parsed: The sample.
        keeps: `SizeTransform.keeps`
        sizes: (H, W) of the images.
        placement: That of the samples. All boxes stay where the image stays as it is.
        format: Of boxes whose type states none.
    """
    edges = edges_of(placement.box).astype(np.float64)
    unchanged = (placement.box[:, :2] == 0).all(1) & (placement.box[:, 2:] == sizes).all(1)
    if unchanged.all():
        return parsed
    edges[unchanged] = -np.inf, -np.inf, np.inf, np.inf

    def zero_lost_boxes(target: Target, boxes: Any, sample_edges: np.ndarray) -> Any:
        values = numpy_view(boxes)
        dtype = "float64" if point_map.is_integer(values.dtype) else convert.dtype_name(values.dtype)
        placement_edges = convert.asarray(sample_edges, like=values, dtype=dtype)
        is_kept = keeps(to_edges(values, target.format or format), placement_edges)
        with np.errstate(invalid="ignore"):  # infinite boxes become NaN, which is not valid either
            zeroed = values * is_kept[..., None]  # keeps an array's type, which may state a format
        return in_library_of(boxes, zeroed)

    def with_zeroed_boxes(target: Target) -> Target:
        if target.kind != "boxes":
            return target
        if isinstance(target.value, list):
            pairs = zip(target.value, edges[:, None], strict=True)
            return target._replace(value=[zero_lost_boxes(target, *pair) for pair in pairs])
        return target._replace(value=zero_lost_boxes(target, target.value, edges[:, None]))

    return parsed.with_targets(map(with_zeroed_boxes, parsed.targets))
