"""How a function treats its input: images and masks as batches, boxes and keypoints by a matrix."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ... import _check, geometry
from ..._arrays import convert
from ..._arrays.registry import library_of
from ..._arrays.tv_tensors import tv_kind, without_type, wrap_like
from ..._detection.box_formats import FORMATS, from_edges, to_edges
from ..._matrices.canvas_maps import CanvasMap
from ...typing import Interpolation, Layout, ResizeInterpolation
from .. import point_map
from ..boxes import bounds_of, clip, corners_of
from ..sample_pillow import image_like, with_pixels

# Functions of (images, layout), and of (images, layout, interpolation).
ImageFunction: TypeAlias = Callable[[Any, Any], Any]
WarpFunction: TypeAlias = Callable[[Any, Any, Any], Any]

_AXES = {2: "HW", 3: "CHW", 4: "NCHW"}  # by their number, of a tensor


def on_images(inpt: Any, layout: Layout | None, function: ImageFunction) -> Any:
    """Calls a function that changes pixels; refuses masks, boxes and keypoints, as torchvision's functions do."""
    if tv_kind(inpt) not in (None, "images"):
        raise TypeError(f"inpt must be images, got {type(inpt).__name__}: this function changes pixels only")
    return _on_batch(inpt, layout, function, image_axes=3)


def on_pixels(inpt: Any, layout: Layout | None, function: ImageFunction) -> Any:
    """As `on_images`, for a function of arrays: an image of Pillow is an array there, and its result an image again."""
    pixels = with_pixels(inpt)
    return image_like(on_images(pixels, layout, function), pixels)


def take(array: Any, indices: Sequence[int], axis: int) -> Any:
    """The entries at host indices along an axis, without a copy of the indices to a device."""
    entries = [array[(slice(None),) * axis + (index,)] for index in indices]
    return convert.namespace(array).stack(entries, axis)


def move(
    inpt: Any,
    layout: Layout | None,
    interpolation: Interpolation | ResizeInterpolation,
    warp: WarpFunction,
    canvas_map: Callable[[tuple[int, int]], CanvasMap],
    clamps: bool = True,
) -> Any:
    """Moves images and masks by a warp, and boxes and keypoints by the matrix of the same warp.

    Args:
        inpt: Images, or a tv_tensor.
        layout: The axes of images.
        interpolation: That of images; masks take "nearest".
        warp: Moves images, or masks [N, 1, H, W].
        canvas_map: The matrix and the new canvas, for a canvas (H, W).
        clamps: Whether boxes are clamped to the new canvas, unless their clamping mode is None.
    """
    kind = tv_kind(inpt)
    if kind == "boxes":
        return _move_boxes(inpt, canvas_map(inpt.canvas_size), clamps)
    if kind == "keypoints":
        return _move_keypoints(inpt, canvas_map(inpt.canvas_size))
    return move_pixels(inpt, layout, interpolation, warp)


def move_pixels(
    inpt: Any, layout: Layout | None, interpolation: Interpolation | ResizeInterpolation, warp: WarpFunction
) -> Any:
    """Moves images, or masks with the nearest pixel."""
    if tv_kind(inpt) == "masks":
        return _on_batch(inpt, layout, lambda masks, axes: warp(masks, axes, "nearest"), image_axes=2)
    return _on_batch(inpt, layout, lambda images, axes: warp(images, axes, interpolation), image_axes=3)


def fill_value(fill: Any) -> Any:
    """A list of one number fills all channels, as in torchvision."""
    return fill[0] if isinstance(fill, Sequence) and len(fill) == 1 else fill


def _on_batch(inpt: Any, layout: Layout | None, function: ImageFunction, image_axes: int) -> Any:
    """Calls a function with one axis of samples in place of all axes before those of an image.

    `image_axes`: 3 for [C, H, W], 2 for [H, W]. Only libraries that put channels first have any number of axes.
    """
    library, values = library_of(type(inpt)), without_type(inpt)  # calls of plain tensors are replayed
    if layout is not None or library is None or not library.channels_first:
        return wrap_like(function(values, layout), inpt)
    shape = tuple(values.shape)
    if len(shape) < 2:
        raise ValueError(f"inpt must have at least the axes [H, W], got shape {shape}")
    if len(shape) == 2 or (image_axes == 3 and len(shape) in _AXES):
        return wrap_like(function(values, _AXES[len(shape)]), inpt)
    samples, channels = shape[:-image_axes], shape[-3] if image_axes == 3 else 1
    result = function(values.reshape(math.prod(samples), channels, *shape[-2:]), "NCHW")
    return wrap_like(result.reshape(*samples, *result.shape[-image_axes:]), inpt)


def _move_boxes(inpt: Any, canvas_map: CanvasMap, clamps: bool) -> Any:
    boxes, format_name = without_type(inpt), upright_format("the format of boxes", inpt.format)
    corners = corners_of(to_edges(_float_rows(boxes), format_name))
    edges = bounds_of(geometry.transform_points(corners, _one_matrix(canvas_map)))
    is_integer = point_map.is_integer(boxes.dtype)
    if is_integer and format_name != "CXCYWH":  # whose centre may lie between pixels
        edges = convert.namespace(edges).round(edges)
    if clamps and clamping_mode(inpt) is not None:
        height, width = canvas_map.size
        edges = clip(edges, (0, 0, width, height))
    return _result(from_edges(edges, format_name), inpt, canvas_map.size)


def _move_keypoints(inpt: Any, canvas_map: CanvasMap) -> Any:
    points = _float_rows(without_type(inpt))
    return _result(geometry.transform_points(points, _one_matrix(canvas_map)), inpt, canvas_map.size)


def upright_format(parameter: str, value: Any) -> str:
    """The name of a format of upright boxes, from its name or a member of torchvision's enumeration."""
    name = value.name if isinstance(value, enum.Enum) else value.upper() if isinstance(value, str) else value
    _check.one_of(parameter, name, tuple(FORMATS))
    return str(name)


def clamping_mode(boxes: Any) -> str | None:
    """The clamping mode of BoundingBoxes: "soft", "hard" or None. Both clamp upright boxes to the canvas."""
    mode: str | None = getattr(boxes, "clamping_mode", "soft")  # older versions have none, and clamp
    return mode


def cast(values: Any, dtype: Any) -> Any:
    """Values in the dtype of the input; NaN, for which integers have no value, becomes 0 there."""
    if point_map.is_integer(dtype):
        xp = convert.namespace(values)
        values = xp.where(xp.isfinite(values), values, 0.0)
    return point_map.cast_back(values, dtype)


def _float_rows(values: Any) -> Any:
    """Rows of floats, which a matrix moves without a loss. [..., n] to [rows, n]"""
    shape = tuple(values.shape)
    rows = values.reshape(math.prod(shape[:-1]), shape[-1])
    return convert.asarray(rows, like=rows, dtype="float64") if point_map.is_integer(values.dtype) else rows


def _one_matrix(canvas_map: CanvasMap) -> Any:
    if (axes := np.ndim(canvas_map.M)) != 2:
        raise ValueError(
            f"parameters must be one value each for boxes and keypoints, got a matrix per sample with {axes} axes"
        )
    return canvas_map.M


def _result(rows: Any, inpt: Any, canvas_size: tuple[int, int]) -> Any:
    return wrap_like(cast(rows, inpt.dtype).reshape(tuple(inpt.shape)), inpt, canvas_size)
