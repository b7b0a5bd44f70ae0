"""Rotations and other warps of images, videos, masks, boxes and keypoints.

Boxes become the tight boxes around their moved corners, clamped to the canvas if their clamping mode is not
None. Keypoints are moved, and never clamped.
"""

from __future__ import annotations

from ... import warp
from ..._arrays.tv_tensors import tv_kind
from ..._check import prefix_errors
from ..._matrices import canvas_maps
from ...typing import Array, Fill, Interpolation, Layout, Numbers, PerSample
from .dispatch import fill_value, move, move_pixels

__all__ = ["affine", "elastic", "elastic_transform", "perspective", "rotate"]


@prefix_errors
def rotate(
    inpt: Array,
    angle: PerSample,
    interpolation: Interpolation = "nearest",
    expand: bool = False,
    center: Numbers | None = None,
    fill: Fill = None,
    *,
    layout: Layout | None = None,
) -> Array:
    """Rotate about a point, as :func:`cuaug.rotate`.

    Masks take the nearest pixel. ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other
    arguments are those of :func:`cuaug.rotate`.

    >>> import numpy as np
    >>> rotate(np.array([[1, 2], [3, 4]], np.uint8), 90)
    array([[2, 4],
           [1, 3]], dtype=uint8)
    """
    return move(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: warp.rotate(
            images, angle, interpolation, expand, center, fill_value(fill), layout=layout
        ),
        lambda size: canvas_maps.rotation(size, angle, expand, center),
    )


@prefix_errors
def affine(
    inpt: Array,
    angle: PerSample,
    translate: Numbers,
    scale: PerSample,
    shear: Numbers,
    interpolation: Interpolation = "nearest",
    fill: Fill = None,
    center: Numbers | None = None,
    *,
    layout: Layout | None = None,
) -> Array:
    """Shear, scale, rotate and translate, as :func:`cuaug.affine`.

    Masks take the nearest pixel. ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other
    arguments are those of :func:`cuaug.affine`.

    >>> import numpy as np
    >>> affine(np.array([[1, 2, 3]], np.uint8), angle=0, translate=(1, 0), scale=1, shear=(0, 0))
    array([[0, 1, 2]], dtype=uint8)
    """
    return move(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: warp.affine(
            images, angle, translate, scale, shear, interpolation, fill_value(fill), center, layout=layout
        ),
        lambda size: canvas_maps.affine(size, angle, translate, scale, shear, center),
    )


@prefix_errors
def perspective(
    inpt: Array,
    startpoints: Numbers | None,
    endpoints: Numbers | None,
    interpolation: Interpolation = "bilinear",
    fill: Fill = None,
    coefficients: Numbers | None = None,
    *,
    layout: Layout | None = None,
) -> Array:
    """Map four points to four points, as :func:`cuaug.perspective`.

    Masks take the nearest pixel. ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other
    arguments are those of :func:`cuaug.perspective`.

    >>> import numpy as np
    >>> square = [[0, 0], [3, 0], [3, 1], [0, 1]]
    >>> perspective(np.array([[1, 2, 3]], np.uint8), square, [[x + 1, y] for x, y in square])
    array([[0, 1, 2]], dtype=uint8)
    """
    return move(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: warp.perspective(
            images, startpoints, endpoints, interpolation, fill_value(fill), coefficients, layout=layout
        ),
        lambda size: canvas_maps.perspective(size, startpoints, endpoints, coefficients),
    )


@prefix_errors
def elastic(
    inpt: Array,
    displacement: Numbers,
    interpolation: Interpolation = "bilinear",
    fill: Fill = None,
    *,
    layout: Layout | None = None,
) -> Array:
    """Displace each pixel by a field, as :func:`cuaug.elastic`; ``elastic_transform`` is the same function.

    Masks take the nearest pixel. Boxes and keypoints are refused: the field maps the result to the source, and has no
    inverse. ``inpt``, the result and the errors are those of :func:`horizontal_flip`. All other arguments are those of
    :func:`cuaug.elastic`.

    >>> import numpy as np
    >>> field = np.zeros((1, 1, 4, 2)); field[..., 0] = 2 / 4  # one pixel: the width of 4 pixels is 2 units
    >>> elastic(np.array([[1, 2, 3, 4]], np.uint8), field)
    array([[2, 3, 4, 0]], dtype=uint8)
    >>> elastic_transform is elastic
    True
    """
    if tv_kind(inpt) in ("boxes", "keypoints"):
        raise TypeError(f"inpt must be images or masks, got {type(inpt).__name__}: the displacement has no inverse")
    return move_pixels(
        inpt,
        layout,
        interpolation,
        lambda images, interpolation, layout: warp.elastic(
            images, displacement, interpolation, fill_value(fill), layout=layout
        ),
    )


elastic_transform = elastic
