"""Flips, crops, padding and resizing of images, videos, masks, boxes and keypoints.

Boxes become the tight boxes around their moved corners, clamped to the new canvas if their clamping mode is not None;
flips and ``resize`` do not clamp, but ``resize`` clamps rotated boxes. Keypoints are moved, and never clamped.
"""

from __future__ import annotations

from typing import Any

from ... import _check, _sizes, crop_resize
from ..._arrays.convert import parameter_column
from ..._check import prefix_errors
from ..._integers import has_length
from ..._matrices.canvas_maps import CanvasMap, along_axes
from ..._passes.parameters import box_columns
from ..._value_text import value_text
from ...typing import Array, Border, Fill, Layout, PerSample, ResizeInterpolation, Size
from .box_values import are_rotated_boxes
from .dispatch import fill_value, move

__all__ = [
    "center_crop",
    "crop",
    "hflip",
    "horizontal_flip",
    "pad",
    "resize",
    "resized_crop",
    "vertical_flip",
    "vflip",
]


@prefix_errors
def horizontal_flip(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Mirror left and right; ``hflip`` is the same function.

    Args:
        inpt: Images, or one of torchvision's ``Image``, ``Video``, ``Mask``, ``BoundingBoxes`` and ``KeyPoints``.
            Tensors have the axes [..., C, H, W], masks [..., H, W]; other libraries the axes of :func:`cuaug.hflip`.
        layout: The axes of images, e.g. "NHWC"; default: channels-first for torch, else channels-last.

    Returns:
        The result, in the type of ``inpt``.

    Raises:
        ValueError: A shape or an option does not fit.
        TypeError: A dtype, a library or a device is not supported.

    >>> import numpy as np
    >>> horizontal_flip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    >>> hflip is horizontal_flip
    True
    """
    return move(
        inpt,
        layout,
        "nearest",
        lambda images, _, layout: crop_resize.hflip(images, layout=layout),
        lambda size: along_axes((-1, size[1] - 1), (1, 0), size),
        clamps=False,
    )


hflip = horizontal_flip


@prefix_errors
def vertical_flip(inpt: Array, *, layout: Layout | None = None) -> Array:
    """Mirror top and bottom; ``vflip`` is the same function.

    All arguments, the result and the errors are those of :func:`horizontal_flip`.

    >>> import numpy as np
    >>> vertical_flip(np.array([[1, 2], [3, 4]], np.uint8))
    array([[3, 4],
           [1, 2]], dtype=uint8)
    >>> vflip is vertical_flip
    True
    """
    return move(
        inpt,
        layout,
        "nearest",
        lambda images, _, layout: crop_resize.vflip(images, layout=layout),
        lambda size: along_axes((1, 0), (-1, size[0] - 1), size),
        clamps=False,
    )


vflip = vertical_flip


@prefix_errors
def resize(
    inpt: Array,
    size: Size | None,
    interpolation: ResizeInterpolation = "bilinear",
    max_size: int | None = None,
    antialias: bool | None = True,
    *,
    layout: Layout | None = None,
) -> Array:
    """Resize, as :func:`cuaug.resize`.

    Masks take the nearest pixel. ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other
    arguments are those of :func:`cuaug.resize`.

    >>> import numpy as np
    >>> resize(np.array([[0, 2, 4, 6]], np.uint8), (1, 2))
    array([[1, 5]], dtype=uint8)
    """

    def canvas_map(canvas: tuple[int, int]) -> CanvasMap:
        return _resized_box((0, 0, *canvas), _sizes.resized_size(canvas, size, max_size))

    return move(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: crop_resize.resize(
            images, size, interpolation, max_size, antialias, layout=layout
        ),
        canvas_map,
        clamps=are_rotated_boxes(inpt),  # as torchvision does
    )


@prefix_errors
def crop(
    inpt: Array, top: PerSample, left: PerSample, height: int, width: int, *, layout: Layout | None = None
) -> Array:
    """Crop a box, as :func:`cuaug.crop`; pixels outside the image are 0.

    ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other arguments are those of
    :func:`cuaug.crop`.

    >>> import numpy as np
    >>> crop(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 3)
    array([[2, 3, 0]], dtype=uint8)
    """

    def canvas_map(_: tuple[int, int]) -> CanvasMap:
        size = _check.size("(height, width)", (height, width))
        y, x = parameter_column("top", top), parameter_column("left", left)
        return along_axes((1, -x), (1, -y), size)

    return move(
        inpt,
        layout,
        "nearest",
        lambda images, _, layout: crop_resize.crop(images, top, left, height, width, layout=layout),
        canvas_map,
    )


@prefix_errors
def center_crop(inpt: Array, output_size: Size, *, layout: Layout | None = None) -> Array:
    """Crop the middle, as :func:`cuaug.center_crop`; a larger size pads with 0.

    Args:
        output_size: (H, W), or one number for both.

    All other arguments, the result and the errors are those of :func:`horizontal_flip`.

    >>> import numpy as np
    >>> center_crop(np.array([[1, 2, 3]], np.uint8), 1)
    array([[2]], dtype=uint8)
    """

    def canvas_map(canvas: tuple[int, int]) -> CanvasMap:
        size = _sizes.square_or_size("output_size", output_size)
        top, left = _sizes.center_offsets(canvas, size)
        return along_axes((1, -left), (1, -top), size)

    return move(
        inpt,
        layout,
        "nearest",
        lambda images, _, layout: crop_resize.center_crop(images, output_size, layout=layout),
        canvas_map,
    )


@prefix_errors
def resized_crop(
    inpt: Array,
    top: PerSample,
    left: PerSample,
    height: PerSample,
    width: PerSample,
    size: Size,
    interpolation: ResizeInterpolation = "bilinear",
    antialias: bool | None = True,
    *,
    layout: Layout | None = None,
) -> Array:
    """Crop a box and resize it, as :func:`cuaug.resized_crop`.

    Masks take the nearest pixel. ``inpt``, the result and the errors are those of :func:`horizontal_flip`.

    Args:
        size: (H, W) of the result; or one number for its shorter side, with the aspect ratio of the box, as
            torchvision's. One number needs one ``height`` and one ``width`` for all images, on the host.

    All other arguments are those of :func:`cuaug.resized_crop`.

    >>> import numpy as np
    >>> resized_crop(np.array([[9, 0, 2, 4, 6]], np.uint8), 0, 1, 1, 4, (1, 2))
    array([[1, 5]], dtype=uint8)
    """
    box = top, left, height, width
    new_size = _resized_crop_size(box, size)
    return move(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: crop_resize.resized_crop(
            images, *box, new_size, interpolation, antialias, layout=layout
        ),
        lambda _: _resized_box(box, new_size),
    )


@prefix_errors
def pad(
    inpt: Array, padding: Size, fill: Fill = None, padding_mode: Border = "constant", *, layout: Layout | None = None
) -> Array:
    """Pad on each side, as :func:`cuaug.pad`; negative numbers crop.

    Boxes and keypoints need the mode "constant". ``inpt``, the result and the errors are those of
    :func:`horizontal_flip`. All other arguments are those of :func:`cuaug.pad`.

    >>> import numpy as np
    >>> pad(np.array([[1, 2, 3]], np.uint8), (1, 0), padding_mode="edge")
    array([[1, 1, 2, 3, 3]], dtype=uint8)
    """

    def canvas_map(canvas: tuple[int, int]) -> CanvasMap:
        if padding_mode != "constant":  # other modes show parts of an object outside its box
            got = value_text(padding_mode)
            raise ValueError(f"padding_mode must be 'constant' for {type(inpt).__name__}, got {got}")
        left, top, right, bottom = _sizes.padding_of(padding)
        size = _check.size("the padded size", (canvas[0] + top + bottom, canvas[1] + left + right))
        return along_axes((1, left), (1, top), size)

    return move(
        inpt,
        layout,
        "nearest",
        lambda images, _, layout: crop_resize.pad(images, padding, fill_value(fill), padding_mode, layout=layout),
        canvas_map,
    )


def _resized_crop_size(box: tuple[Any, Any, Any, Any], size: Any) -> tuple[int, int]:
    """(H, W) of the result. One number is the shorter side, and the longer side has the aspect ratio of the box."""
    if size is None or (has_length(size) and len(size) != 1):
        return _sizes.square_or_size("size", size)
    *_, height, width = box_columns(box)
    if not (isinstance(height, float) and isinstance(width, float)):
        raise ValueError(
            f"size must be (H, W) where height or width is an array, got {value_text(size)}: one number keeps the "
            "aspect ratio of the box, which must be one for all images"
        )
    return _sizes.resized_size((height, width), size, None)


def _resized_box(box: tuple[Any, Any, Any, Any], size: tuple[int, int]) -> CanvasMap:
    """The map of a box (top, left, height, width) to a canvas of this size, with pixel centres at integers."""
    top, left, height, width = box_columns(box)
    x_scale, y_scale = size[1] / width, size[0] / height
    x_offset, y_offset = (s * (0.5 - low) - 0.5 for s, low in ((x_scale, left), (y_scale, top)))
    return along_axes((x_scale, x_offset), (y_scale, y_offset), size)
