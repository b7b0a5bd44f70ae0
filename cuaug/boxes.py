"""Boxes: area, formats, clipping, filtering, and the boxes of masks.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes. Leading axes ``[...]`` are accepted. float16 and bfloat16 are
computed in float32, integers and lists in float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _check
from ._arrays.convert import asarray, namespace
from ._arrays.dlpack_library import DLPACK
from ._arrays.pillow_library import PILLOW
from ._arrays.registry import result_library
from ._arrays.small_matrices import broadcast_arguments
from ._check import prefix_errors
from ._detection.box_formats import FORMATS, ROTATED_FORMATS, area, convert_format, convert_rotated, require_format
from .typing import Array, HostNumbers, LowerCaseBoxFormat, Number, NumPyArray, UprightBoxFormat

__all__ = ["box_area", "box_convert", "clip_boxes", "clip_boxes_to_image", "masks_to_boxes", "remove_small_boxes"]

_UPRIGHT = tuple(format.lower() for format in FORMATS)
_ROTATED = tuple(format.lower() for format in ROTATED_FORMATS)


@overload
def box_area(boxes: HostNumbers, fmt: UprightBoxFormat = "xyxy") -> NumPyArray: ...
@overload
def box_area(boxes: Array | HostNumbers, fmt: UprightBoxFormat = "xyxy") -> Array: ...
@prefix_errors
def box_area(boxes: Any, fmt: UprightBoxFormat = "xyxy") -> Any:
    """Width times height.

    Args:
        boxes: In the format ``fmt``. [..., 4]
        fmt: "xyxy": two corners; "xywh": a corner and the size; "cxcywh": the centre and the size.

    Returns:
        [...]

    Raises:
        ValueError: A shape or ``fmt`` is wrong.

    >>> print(box_area([(0, 0, 3, 2)]))
    [6.]
    """
    _check.one_of("fmt", fmt, _UPRIGHT)
    require_format("boxes", boxes, fmt.upper())
    boxes = _as_array(boxes)
    return area(boxes) if fmt == "xyxy" else boxes[..., 2] * boxes[..., 3]


@overload
def box_convert(boxes: HostNumbers, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> NumPyArray: ...
@overload
def box_convert(boxes: Array | HostNumbers, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> Array: ...
@prefix_errors
def box_convert(boxes: Any, in_fmt: LowerCaseBoxFormat, out_fmt: LowerCaseBoxFormat) -> Any:
    """Convert boxes from one format to another.

    Args:
        boxes: In the format ``in_fmt``. [..., 4], [..., 5], [..., 8]
        in_fmt: "xyxy": two corners; "xywh": a corner and the size; "cxcywh": the centre and the size. Rotated boxes:
            "xywhr": the box's own upper left corner, which turns with the box, the size, and degrees counter-clockwise;
            "cxcywhr": the centre, the size, degrees; "xyxyxyxy": the corners upper left, upper right, lower right and
            lower left.
        out_fmt: The result's format: upright if ``in_fmt`` is upright, rotated if ``in_fmt`` is rotated.

    Returns:
        [..., 4], [..., 5], [..., 8]

    Raises:
        ValueError: A shape or a format is wrong.

    >>> print(box_convert([(1, 2, 3, 4)], "xywh", "xyxy"))
    [[1. 2. 4. 6.]]
    >>> print(box_convert([(1, 2, 3, 4, 90)], "xywhr", "xyxyxyxy").round(3))
    [[ 1.  2.  1. -1.  5. -1.  5.  2.]]
    """
    for name, value in (("in_fmt", in_fmt), ("out_fmt", out_fmt)):
        _check.one_of(name, value, (*_UPRIGHT, *_ROTATED))
    is_rotated, source, target = in_fmt in _ROTATED, in_fmt.upper(), out_fmt.upper()
    if is_rotated != (out_fmt in _ROTATED):
        raise ValueError(f"in_fmt and out_fmt must be both upright or both rotated, got {in_fmt!r} and {out_fmt!r}")
    require_format("boxes", boxes, source)
    boxes = _as_array(boxes, ROTATED_FORMATS.get(source, 4))
    if in_fmt == out_fmt:
        return boxes + 0  # a copy
    return (convert_rotated if is_rotated else convert_format)(boxes, source, target)


@overload
def clip_boxes_to_image(boxes: HostNumbers, size: Sequence[int]) -> NumPyArray: ...
@overload
def clip_boxes_to_image(boxes: Array | HostNumbers, size: Sequence[int]) -> Array: ...
@prefix_errors
def clip_boxes_to_image(boxes: Any, size: Sequence[int]) -> Any:
    """Clip boxes to an image.

    Args:
        boxes: Corners; NaN stays NaN. [..., 4]
        size: (H, W) of the image.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or ``size`` is wrong.

    >>> print(clip_boxes_to_image([(-1, 2, 9, 9)], (6, 8)))
    [[0. 2. 8. 6.]]
    """
    return _clip(boxes, size)


@overload
def clip_boxes(boxes: HostNumbers, size: Sequence[int]) -> NumPyArray: ...
@overload
def clip_boxes(boxes: Array | HostNumbers, size: Sequence[int]) -> Array: ...
@prefix_errors
def clip_boxes(boxes: Any, size: Sequence[int]) -> Any:
    """A short name of :func:`clip_boxes_to_image`.

    All arguments, the result and the errors are those of :func:`clip_boxes_to_image`.

    >>> print(clip_boxes([(-1, 2, 9, 9)], (6, 8)))
    [[0. 2. 8. 6.]]
    """
    return _clip(boxes, size)


def _clip(boxes: Any, size: Sequence[int]) -> Any:
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


@overload
def masks_to_boxes(masks: NumPyArray) -> npt.NDArray[np.float32]: ...
@overload
def masks_to_boxes(masks: Array) -> Array: ...
@prefix_errors
def masks_to_boxes(masks: Any) -> Any:
    """The boxes of masks, as torchvision's: the first and last column and row with a value other than 0.

    Args:
        masks: Any dtype. [N, H, W]

    Returns:
        float32; zeros for a mask of zeros. The right and lower edges are the indices of the last column and row, 1 less
        than the edges that other functions count. [N, 4]

    Raises:
        TypeError, ValueError: ``masks`` is not an array of three axes.

    >>> import numpy as np
    >>> print(masks_to_boxes(np.eye(5)[None, 1:3]))
    [[1. 0. 2. 1.]]
    """
    if result_library(masks) in (None, PILLOW, DLPACK):
        raise TypeError(f"masks must be an array of torch, cupy, numpy or jax, got {type(masks).__name__}")
    if len(masks.shape) != 3:
        raise ValueError(f"masks must have shape [N, H, W], got {list(masks.shape)}")
    masks = asarray(masks, like=masks, dtype="bool", parameter="masks")
    xp, edges = namespace(masks), []
    for axis in (-2, -1):  # any over rows: the columns that hold a value; any over columns: the rows
        running_count = xp.cumsum(masks.any(axis), -1)
        total = running_count[..., -1:]
        edges.append((((running_count == 0) & (total > 0)).sum(-1), (running_count < total).sum(-1)))
    (left, right), (top, bottom) = edges
    return asarray(xp.stack([left, top, right, bottom], -1), like=masks, dtype="float32")


def _corners(boxes: Any) -> Any:
    require_format("boxes", boxes, "XYXY")
    return _as_array(boxes)


def _as_array(boxes: Any, columns: int = 4) -> Any:
    """Boxes as an array of floats, which may hold NaN. [..., columns]"""
    (array,) = broadcast_arguments(("boxes",), boxes=(boxes, ((columns,),)))
    return array
