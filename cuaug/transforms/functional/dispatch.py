"""How a function treats its input: images and masks as batches, boxes and keypoints by a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ... import _check
from ..._arrays import autograd, convert
from ..._arrays.registry import library_of
from ..._arrays.tv_tensors import tv_kind, without_type, wrap_like
from ..._detection.box_shapes import box_shape
from ..._matrices.canvas_maps import CanvasMap
from ...typing import Interpolation, Layout, ResizeInterpolation
from .. import host_targets, point_map
from ..sample_pillow import image_like, with_pixels
from ..sample_target import image_layout
from .box_values import cast, clamping_mode, format_name

BatchFunction: TypeAlias = Callable[..., Any]  # of images, other arguments, and the keyword `layout`

_TENSOR_LAYOUTS = {2: "HW", 3: "CHW", 4: "NCHW"}  # by number of axes


def require_images(inpt: Any) -> None:
    if tv_kind(inpt) not in (None, "images"):
        raise TypeError(f"inpt must be images, got {type(inpt).__name__}: this function takes images only")


def require_writable(inpt: Any) -> None:
    if convert.describe(convert.detach(without_type(inpt))).read_only:
        raise TypeError(f"inpt must be writable for inplace=True, got a read-only {type(inpt).__name__}")


def apply_to_images(inpt: Any, layout: Layout | None, function: BatchFunction, *arguments: Any) -> Any:
    """Call ``function(images, *arguments, layout=...)``, which changes pixels.

    Masks, boxes and keypoints are refused, as by torchvision's functions.
    """
    require_images(inpt)
    return _call_with_batch(inpt, 3, layout, function, *arguments)


def apply_to_arrays(inpt: Any, layout: Layout | None, function: BatchFunction, *arguments: Any) -> Any:
    """As `apply_to_images`, for a function that does not accept Pillow images.

    The function gets an array instead, and its result becomes an image again.
    """
    pixels = with_pixels(inpt)
    pixels_layout: Any = image_layout(pixels, layout)
    return image_like(apply_to_images(pixels, pixels_layout, function, *arguments), pixels)


def take(array: Any, indices: Sequence[int], axis: int) -> Any:
    """The entries at host indices along an axis, without a copy of the indices to a device."""
    entries = [array[(slice(None),) * axis + (index,)] for index in indices]
    return convert.namespace(array).stack(entries, axis)


def move(
    inpt: Any,
    layout: Layout | None,
    interpolation: Interpolation | ResizeInterpolation,
    warp: BatchFunction,
    canvas_map: Callable[[tuple[int, int]], CanvasMap],
    clamps: bool = True,
) -> Any:
    """Moves images and masks by a warp, and boxes and keypoints by the matrix of the same warp.

    Args:
        inpt: Images, or a tv_tensor.
        layout: The axes of images.
        interpolation: That of images; masks take "nearest".
        warp: Called as ``warp(images, interpolation, layout=...)``; moves images or masks.
        canvas_map: The matrix and the new canvas, for a canvas (H, W).
        clamps: Whether boxes are clamped to the new canvas, unless their clamping mode is None.
    """
    kind = tv_kind(inpt)
    if kind not in ("boxes", "keypoints"):
        return move_pixels(inpt, layout, interpolation, warp)
    point_map.check_dtype(kind, inpt.dtype)
    target_map = canvas_map(_check.size("canvas_size", inpt.canvas_size))
    return _move_boxes(inpt, target_map, clamps) if kind == "boxes" else _move_keypoints(inpt, target_map)


def move_pixels(
    inpt: Any, layout: Layout | None, interpolation: Interpolation | ResizeInterpolation, warp: BatchFunction
) -> Any:
    """Moves images, or masks with the nearest pixel."""
    if tv_kind(inpt) == "masks":
        return _call_with_batch(inpt, 2, layout, warp, "nearest")
    return _call_with_batch(inpt, 3, layout, warp, interpolation)


def fill_value(fill: Any) -> Any:
    """A list of one number fills all channels, as in torchvision."""
    return fill[0] if isinstance(fill, Sequence) and len(fill) == 1 else fill


def _call_with_batch(
    inpt: Any, image_axes: int, layout: Layout | None, function: BatchFunction, *arguments: Any
) -> Any:
    """Call the function with [N, C, H, W]: leading axes become N, and are restored in the result.

    An input that needs no reshape is passed as it is: [H, W], images [C, H, W] or [N, C, H, W], and every input with
    `layout` or from a library that puts channels last. `image_axes`: 3 for images [C, H, W], 2 for masks [H, W].
    """
    # Launch plans are cached for plain tensors only.
    library, values = library_of(type(inpt)), without_type(inpt)
    if layout is not None or library is None or not library.channels_first:
        return wrap_like(function(values, *arguments, layout=layout), inpt)
    shape = tuple(values.shape)
    if len(shape) < 2:
        raise ValueError(f"inpt must have at least the axes [H, W], got shape {shape}")
    if len(shape) == 2 or (image_axes == 3 and len(shape) in _TENSOR_LAYOUTS):
        return wrap_like(function(values, *arguments, layout=_TENSOR_LAYOUTS[len(shape)]), inpt)
    samples, channels = shape[:-image_axes], shape[-3] if image_axes == 3 else 1
    batch = values.reshape(math.prod(samples), channels, *shape[-2:])
    result = function(batch, *arguments, layout="NCHW")
    return wrap_like(result.reshape(*samples, *result.shape[-image_axes:]), inpt)


def _move_boxes(inpt: Any, canvas_map: CanvasMap, clamps: bool) -> Any:
    boxes, shape = without_type(inpt), box_shape(format_name("the format of boxes", inpt.format))
    rows = point_map.move_boxes(shape.rows(_float_rows(boxes)), shape, _one_matrix(canvas_map))
    if point_map.is_integer(boxes.dtype) and shape.is_rounded_before_clipping:
        rows = convert.namespace(rows).round(rows)
    if clamps and clamping_mode(inpt) is not None:
        height, width = canvas_map.size
        rows = shape.clip(rows, (0, 0, width, height))
    return _result(shape.boxes(rows), boxes, inpt, canvas_map.size)


def _move_keypoints(inpt: Any, canvas_map: CanvasMap) -> Any:
    points = without_type(inpt)
    moved = point_map.move_points(_float_rows(points), _one_matrix(canvas_map))
    return _result(moved, points, inpt, canvas_map.size)


def _float_rows(values: Any) -> Any:
    """[..., n] as [rows, n]: integers as float64, float16 and bfloat16 as float32.

    Host values are in NumPy, unless torch must see the operations.
    """
    values = values if autograd.context_needs_torch_ops() else host_targets.numpy_view(values)
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    if point_map.is_integer(values.dtype):
        return convert.asarray(rows, like=rows, dtype="float64")
    # Corners are moved by half a pixel before the matrix is applied (`BoxShape.corners`). float16 cannot hold halves
    # beyond 1024, nor bfloat16 beyond 128.
    is_narrow = convert.dtype_name(values.dtype) in ("float16", "bfloat16")
    return convert.asarray(rows, like=rows, dtype="float32") if is_narrow else rows


def _one_matrix(canvas_map: CanvasMap) -> Any:
    if (axes := np.ndim(canvas_map.M)) != 2:
        raise ValueError(
            f"parameters must be one value each for boxes and keypoints, got a matrix per sample with {axes} axes"
        )
    return canvas_map.M


def _result(rows: Any, values: Any, inpt: Any, canvas_size: tuple[int, int]) -> Any:
    """Moved rows of the plain array `values` in its library, shape and dtype, and in the type of `inpt`."""
    result = cast(rows, values.dtype).reshape(tuple(values.shape))
    return wrap_like(host_targets.in_library_of(values, result), inpt, canvas_size)
