"""Boxes: area, formats, IoU, clipping and filtering.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes. Leading axes ``[...]`` are accepted. float16 and bfloat16 are
computed in float32, integers and lists in float64, or in float32 beside an array of narrower floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _check
from ._arrays.convert import namespace
from ._arrays.small_matrices import broadcast_arguments
from ._check import prefix_errors
from ._detection.box_formats import area, from_edges, require_format, to_edges
from ._detection.box_iou import pairwise_iou
from ._detection.rotated_iou import pairwise_rotated_iou
from .typing import Array, HostNumbers, IouKind, LowerCaseBoxFormat, Number, NumPyArray

__all__ = ["box_area", "box_convert", "box_iou", "clip_boxes", "remove_small_boxes"]


@overload
def box_area(boxes: HostNumbers) -> NumPyArray: ...
@overload
def box_area(boxes: Array | HostNumbers) -> Array: ...
@prefix_errors
def box_area(boxes: Any) -> Any:
    """Width times height.

    Args:
        boxes: Corners. [..., 4]

    Returns:
        [...]

    Raises:
        ValueError: A shape is wrong.

    >>> print(box_area([(0, 0, 3, 2)]))
    [6.]
    """
    return area(_corners(boxes))


@overload
def box_convert(boxes: HostNumbers, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> NumPyArray: ...
@overload
def box_convert(boxes: Array | HostNumbers, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> Array: ...
@prefix_errors
def box_convert(boxes: Any, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> Any:
    """Convert boxes from one format to another.

    Args:
        boxes: In the format ``in_fmt``. [..., 4]
        in_fmt: "xyxy": two corners; "xywh": a corner and the size; "cxcywh": the centre and the size.
        out_fmt: The result's format.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or a format is wrong.

    >>> print(box_convert([(1, 2, 3, 4)], "xywh", "xyxy"))
    [[1. 2. 4. 6.]]
    """
    for name, value in (("in_fmt", in_fmt), ("out_fmt", out_fmt)):
        _check.one_of(name, value, ("xyxy", "xywh", "cxcywh"))
    require_format("boxes", boxes, in_fmt.upper())
    boxes = _as_array(boxes)
    if in_fmt == out_fmt:
        return boxes + 0
    return from_edges(to_edges(boxes, in_fmt.upper()), out_fmt.upper())


@overload
def box_iou(boxes1: HostNumbers, boxes2: HostNumbers, kind: IouKind = "iou") -> NumPyArray: ...
@overload
def box_iou(boxes1: Array | HostNumbers, boxes2: Array | HostNumbers, kind: IouKind = "iou") -> Array: ...
@prefix_errors
def box_iou(boxes1: Any, boxes2: Any, kind: IouKind = "iou") -> Any:
    """Intersection over union (IoU) of each box of one set with each box of another.

    Args:
        boxes1: Corners; NaN gives NaN. [..., P, 4]
            Rotated: centre, width, height, degrees counter-clockwise. [..., P, 5]
        boxes2: As ``boxes1``. [..., Q, 4], [..., Q, 5]
        kind: "iou"; "giou": IoU minus the fraction of the smallest enclosing box that neither covers (Rezatofighi et
            al. 2019); "diou": IoU minus the squared distance of the centres over the squared diagonal of that box
            (Zheng et al. 2020); "ciou": "diou" minus a penalty for different proportions (same paper). 0 / 0 is 0.

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape or ``kind`` is wrong; rotated boxes have "iou" only.

    >>> print(box_iou([(0, 0, 2, 2)], [(1, 0, 3, 2), (0, 0, 2, 2)]).round(3))
    [[0.333 1.   ]]
    """
    _check.one_of("kind", kind, ("iou", "giou", "diou", "ciou"))
    for name, value in (("boxes1", boxes1), ("boxes2", boxes2)):
        require_format(name, value, "XYXY", "CXCYWHR")
    sizes = (), (4, 5)
    boxes1, boxes2 = broadcast_arguments(("boxes1", "boxes2"), boxes1=(boxes1, sizes), boxes2=(boxes2, sizes))
    if boxes1.shape[-1] != boxes2.shape[-1]:
        raise ValueError("boxes1 and boxes2 must be both upright or both rotated")
    if boxes1.shape[-1] == 5:
        if kind != "iou":
            raise ValueError(f"kind must be 'iou' for rotated boxes, got {kind!r}")
        return pairwise_rotated_iou(boxes1, boxes2)
    return pairwise_iou(boxes1, boxes2, kind)


@overload
def clip_boxes(boxes: HostNumbers, size: Sequence[int]) -> NumPyArray: ...
@overload
def clip_boxes(boxes: Array | HostNumbers, size: Sequence[int]) -> Array: ...
@prefix_errors
def clip_boxes(boxes: Any, size: Sequence[int]) -> Any:
    """Clip boxes to an image, as torchvision's ``clip_boxes_to_image``.

    Args:
        boxes: Corners; NaN stays NaN. [..., 4]
        size: (H, W) of the image.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or ``size`` is wrong.

    >>> print(clip_boxes([(-1, 2, 9, 9)], (6, 8)))
    [[0. 2. 8. 6.]]
    """
    height, width = _check.size("size", size)
    boxes = _corners(boxes)
    xp, limits = namespace(boxes), (width, height, width, height)
    edges = [xp.where(boxes[..., i] < 0, 0.0, boxes[..., i]) for i in range(4)]
    return xp.stack([xp.where(edge > limit, float(limit), edge) for edge, limit in zip(edges, limits, strict=True)], -1)


@overload
def remove_small_boxes(boxes: HostNumbers, min_size: Number) -> npt.NDArray[np.int64]: ...
@overload
def remove_small_boxes(boxes: Array | HostNumbers, min_size: Number) -> Array: ...
@prefix_errors
def remove_small_boxes(boxes: Any, min_size: Number) -> Any:
    """Indices of the boxes whose width and height are at least ``min_size``. Waits for the device.

    Args:
        boxes: Corners. [K, 4]
        min_size: Minimum width and height; a box with NaN is removed.

    Returns:
        Indices in ascending order. [R]

    Raises:
        ValueError: A shape is wrong.

    >>> print(remove_small_boxes([(0, 0, 3, 2), (0, 0, 1, 9)], 2))
    [0]
    """
    _check.number("min_size", min_size, -math.inf)
    boxes = _corners(boxes)
    if boxes.ndim != 2:
        raise ValueError(f"boxes must have shape [K, 4], got {list(boxes.shape)}")
    return namespace(boxes).where((boxes[..., 2:] - boxes[..., :2] >= min_size).all(-1))[0]


def _corners(boxes: Any) -> Any:
    require_format("boxes", boxes, "XYXY")
    return _as_array(boxes)


def _as_array(boxes: Any) -> Any:
    """Boxes as an array of floats, which may hold NaN. [..., 4]"""
    (array,) = broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    return array
