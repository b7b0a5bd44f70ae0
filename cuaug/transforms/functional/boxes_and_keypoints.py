"""Formats, limits and validity of boxes and keypoints."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _check, boxes
from ..._arrays import convert
from ..._arrays.tv_tensors import tv_kind, without_type, wrap_like
from ..._check import prefix_errors
from ..._detection.box_formats import stated_format
from ..._detection.box_shapes import box_shape
from ..._value_text import is_array
from ...typing import Array, BoxFormat
from .. import point_map
from . import box_values
from .dispatch import require_writable

__all__ = [
    "clamp_bounding_boxes",
    "clamp_keypoints",
    "convert_bounding_box_format",
    "sanitize_bounding_boxes",
    "sanitize_keypoints",
]


@prefix_errors
def convert_bounding_box_format(
    inpt: Array,
    old_format: BoxFormat | enum.Enum | None = None,
    new_format: BoxFormat | enum.Enum | None = None,
    inplace: bool = False,
) -> Array:
    """Convert boxes to another format.

    Args:
        inpt: ``BoundingBoxes``, or an array of any library. [..., 4]; of rotated boxes [..., 5] or [..., 8]
        old_format: "XYXY", "XYWH", "CXCYWH", or of rotated boxes "XYWHR", "CXCYWHR", "XYXYXYXY", or a member of
            torchvision's ``BoundingBoxFormat``; of arrays only, as ``BoundingBoxes`` state theirs.
        new_format: As ``old_format``: of upright boxes if that is, else of rotated ones.
        inplace: Write the numbers to ``inpt``, too. The format that ``inpt`` itself states stays as it was.

    Returns:
        The boxes in the type and the dtype of ``inpt``; integers are rounded, halves up.

    Raises:
        ValueError: A format is unknown, or ``old_format`` is missing for an array or given for ``BoundingBoxes``.
        TypeError: ``inpt`` is another tv_tensor, or ``new_format`` is missing.

    >>> import numpy as np
    >>> convert_bounding_box_format(np.array([[1, 2, 3, 4]]), "XYWH", "XYXY")
    array([[1, 2, 4, 6]])
    """
    values = _plain_values("inpt", inpt, "boxes", old_format=old_format)
    if new_format is None:
        raise TypeError("new_format must be a format of boxes, got None")
    target = box_values.format_name("new_format", new_format)
    source = box_values.format_name("old_format", stated_format(inpt) or old_format)
    result = _convert(values, source, target)
    if point_map.is_integer(values.dtype):
        result = box_values.rounded_half_up(result)
    result = box_values.cast(result, values.dtype)
    if inplace:
        if stated_format(values) not in (None, target):
            raise ValueError(f"inplace must be False: {type(values).__name__} state {source}, and cannot hold {target}")
        if (old := values.shape[-1]) != (new := result.shape[-1]):
            raise ValueError(f"inplace must be False: {old} numbers of {source} cannot hold {new} of {target}")
        require_writable(inpt)
        values[...] = result
        result = values
    return wrap_like(result, inpt, format=target)


@prefix_errors
def clamp_bounding_boxes(
    inpt: Array,
    format: BoxFormat | enum.Enum | None = None,
    canvas_size: Sequence[int] | None = None,
    clamping_mode: str | None = "auto",
) -> Array:
    """Clamp boxes to the canvas.

    A rotated box becomes the smallest box of the same angle around what is inside the canvas; zeros if nothing is.

    Args:
        inpt: ``BoundingBoxes``, or an array of any library. [..., 4]; of rotated boxes [..., 5] or [..., 8]
        format: The format of an array, as in :func:`convert_bounding_box_format`; ``BoundingBoxes`` state theirs.
        canvas_size: (H, W), of an array; ``BoundingBoxes`` state theirs.
        clamping_mode: "soft" and "hard" clamp, rotated boxes only "soft"; None leaves the boxes as they are; "auto" is
            the mode of ``BoundingBoxes``.

    Returns:
        The boxes in the type and the dtype of ``inpt``.

    Raises:
        ValueError: An argument is missing for an array, or is given for ``BoundingBoxes``.
        TypeError: ``inpt`` is another tv_tensor.

    >>> import numpy as np
    >>> clamp_bounding_boxes(np.array([[-1, 2, 9, 9]]), "XYXY", (6, 8), "soft")
    array([[0, 2, 8, 6]])
    """
    values = _plain_values("inpt", inpt, "boxes", format=format, canvas_size=canvas_size)
    source, size = box_values.format_name("format", stated_format(inpt) or format), _canvas(inpt, canvas_size)
    _check.one_of("clamping_mode", clamping_mode, ("auto", "soft", "hard", None))
    if clamping_mode == "auto":
        if tv_kind(inpt) is None:
            raise ValueError("clamping_mode must be 'soft', 'hard' or None for an array, got 'auto'")
        clamping_mode = box_values.clamping_mode(inpt)
    box_values.check_clamping_mode(clamping_mode, source)
    if clamping_mode is None:
        return inpt
    shape = box_shape(source)
    rows = shape.clip(_convert(values, source, shape.row_format), (0, 0, size[1], size[0]))
    return wrap_like(box_values.cast(shape.boxes(rows), values.dtype), inpt)


@prefix_errors
def clamp_keypoints(inpt: Array, canvas_size: Sequence[int] | None = None) -> Array:
    """Clamp keypoints to the pixels of the canvas: x to 0..W - 1, y to 0..H - 1.

    Args:
        inpt: ``KeyPoints``, or an array of any library; a third column, the visibility, stays as it is.
            [..., 2 or 3]
        canvas_size: (H, W), of an array; ``KeyPoints`` state theirs.

    Returns:
        The keypoints in the type and the dtype of ``inpt``; NaN stays NaN.

    Raises:
        ValueError: ``canvas_size`` is missing for an array, or is given for ``KeyPoints``.
        TypeError: ``inpt`` is another tv_tensor.

    >>> import numpy as np
    >>> clamp_keypoints(np.array([[-1.0, 2.0], [9.0, 9.0]]), (6, 8))
    array([[0., 2.],
           [7., 5.]])
    """
    points = _plain_points("inpt", inpt, canvas_size)
    height, width = _canvas(inpt, canvas_size)
    xp, limit = convert.namespace(points), max(height, width)
    if point_map.is_integer(points.dtype):  # torch refuses a bound beyond the dtype
        limit = np.iinfo(convert.dtype_name(points.dtype)).max
    x, y, *others = (points[..., i] for i in range(points.shape[-1]))
    clamped = [xp.clip(axis, 0, min(extent - 1, limit)) for axis, extent in ((x, width), (y, height))]
    return wrap_like(xp.stack([*clamped, *others], -1), inpt)


@prefix_errors
def sanitize_bounding_boxes(
    bounding_boxes: Array,
    format: BoxFormat | enum.Enum | None = None,
    canvas_size: Sequence[int] | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Array, Any]:
    """Remove boxes that are too small, or that reach beyond the canvas. Waits for the device.

    Args:
        bounding_boxes: ``BoundingBoxes``, or an array of any library. [K, 4]; of rotated boxes [K, 5] or [K, 8]
        format: As in :func:`clamp_bounding_boxes`.
        canvas_size: As in :func:`clamp_bounding_boxes`.
        min_size: Minimum width and height.
        min_area: Minimum area.

    Returns:
        The valid boxes, and a mask of them. [V, ...], [K]

    Raises:
        ValueError: An argument is missing for an array, or is given for ``BoundingBoxes``.
        TypeError: ``bounding_boxes`` is another tv_tensor.

    >>> import numpy as np
    >>> sanitize_bounding_boxes(np.array([[0, 0, 3, 2], [-1, 0, 3, 2], [0, 0, 3, 0]]), "XYXY", (6, 8))
    (array([[0, 0, 3, 2]]), array([ True, False, False]))
    """
    values = _plain_values("bounding_boxes", bounding_boxes, "boxes", format=format, canvas_size=canvas_size)
    height, width = _canvas(bounding_boxes, canvas_size)
    _check.number("min_size", min_size, 0)
    _check.number("min_area", min_area, 0)
    source = box_values.format_name("format", stated_format(bounding_boxes) or format)
    shape = box_shape(source)
    rows = _convert(values, source, shape.row_format)
    sizes = shape.sizes(rows)
    valid = (sizes >= min_size).all(-1) & (sizes[..., 0] * sizes[..., 1] >= min_area) & (rows >= 0).all(-1)
    valid = valid & (rows[..., 0::2] <= width).all(-1) & (rows[..., 1::2] <= height).all(-1)
    return wrap_like(values[valid], bounding_boxes), valid


@prefix_errors
def sanitize_keypoints(key_points: Array, canvas_size: Sequence[int] | None = None) -> tuple[Array, Any]:
    """Keep the keypoints with 0 <= x < W and 0 <= y < H. Waits for the device.

    Args:
        key_points: ``KeyPoints``, or an array of any library. With more than two axes, an entry of the first axis is
            kept if all its points are inside. [K, ..., 2 or 3]
        canvas_size: As in :func:`clamp_keypoints`.

    Returns:
        The valid keypoints, and a mask of them. [V, ..., 2 or 3], [K]

    Raises:
        ValueError: ``canvas_size`` is missing for an array, or is given for ``KeyPoints``.
        TypeError: ``key_points`` is another tv_tensor.

    >>> import numpy as np
    >>> sanitize_keypoints(np.array([[0, 0], [8, 0]]), (6, 8))
    (array([[0, 0]]), array([ True, False]))
    """
    points = _plain_points("key_points", key_points, canvas_size)
    height, width = _canvas(key_points, canvas_size)
    x, y = points[..., 0], points[..., 1]
    inside = (x >= 0) & (y >= 0) & (x < width) & (y < height)
    while inside.ndim > 1:
        inside = inside.all(-1)
    return wrap_like(points[inside], key_points), inside


def _plain_values(name: str, value: Any, kind: str, **arguments: Any) -> Any:
    """Boxes or keypoints as a plain array, after checks of the kind and of format and canvas.

    `arguments`: format and canvas, which must be given for an array, and not for a tv_tensor.
    """
    type_kind = tv_kind(value)
    if type_kind not in (None, kind):
        raise TypeError(f"{name} must be {kind}, got {type(value).__name__}")
    if not is_array(value):
        raise TypeError(f"{name} must be an array of {kind}, got {type(value).__name__}")
    for argument, passed in arguments.items():
        if type_kind is None and passed is None:
            raise ValueError(f"{argument} must be given for an array of {kind}")
        if type_kind is not None and passed is not None:
            raise ValueError(f"{argument} must be left out: {type(value).__name__} state it")
    return without_type(value)


def _plain_points(name: str, value: Any, canvas_size: Any) -> Any:
    """Keypoints as a plain array, after the checks of `_plain_values` and of the number of columns."""
    points = _plain_values(name, value, "keypoints", canvas_size=canvas_size)
    if points.ndim < 1 or points.shape[-1] not in (2, 3):
        raise ValueError(f"{name} must have shape [..., 2|3], got {list(points.shape)}")
    return points


def _canvas(value: Any, canvas_size: Any) -> tuple[int, int]:
    """(H, W)"""
    return _check.size("canvas_size", value.canvas_size if canvas_size is None else canvas_size)


def _convert(values: Any, source: str, target: str) -> Any:
    formats: Any = source.lower(), target.lower()
    return boxes.box_convert(values, *formats)
