"""Matrices: build, invert, compose, convert and apply 2x3 affine and 3x3 perspective maps.

A matrix maps source to destination pixels, in ``(x, y)`` order, with pixel centres at integers, as ``warp_affine`` and
``warp_perspective`` take it. Arguments are arrays of any library, numbers or lists. The result has the library and the
device of the first device array, else of the first array. The result is float64 if an argument is float64 or if none is
a float array, else float32. Leading axes ``[...]`` are the batch and broadcast: one template and N sets of points give
N matrices. Host values are checked. Device values are never read: a sample without a solution becomes NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from . import _check
from ._arrays import small_matrices
from ._arrays.small_matrices import MATRIX
from ._arrays.tv_tensors import box_format, wrap_like
from ._detection.box_formats import ALL_FORMATS, stated_format
from ._detection.box_shapes import box_shape
from ._matrices import builders, matrices
from ._matrices.formulas import map_each_point
from ._value_text import value_text
from .typing import Array, BoxFormat, Convention, HostNumbers, NumPyArray

__all__ = [
    "affine_matrix",
    "compose_affine",
    "convert_matrix",
    "get_rotation_matrix",
    "invert_affine",
    "transform_boxes",
    "transform_points",
]


@overload
def get_rotation_matrix(
    angle: HostNumbers, scale: HostNumbers = 1.0, center: HostNumbers = (0.0, 0.0)
) -> NumPyArray: ...
@overload
def get_rotation_matrix(
    angle: Array | HostNumbers, scale: Array | HostNumbers = 1.0, center: Array | HostNumbers = (0.0, 0.0)
) -> Array: ...
@_check.prefix_errors
def get_rotation_matrix(angle: Any, scale: Any = 1.0, center: Any = (0.0, 0.0)) -> Any:
    """Rotation and scale about a point, as ``cv2.getRotationMatrix2D(center, angle, scale)``, in another order.

    Args:
        angle: Degrees, counter-clockwise as seen on the screen. A number or [N]. Multiples of 90 are exact: the
            cosine and the sine are 0, 1 or -1.
        scale: A number or [N]
        center: The fixed point (x, y), in pixels with centres at integers: 0.5 less than the ``center`` of
            :func:`affine_matrix`. [2] or [N, 2]

    Returns:
        ``M``. [2, 3] or [N, 2, 3]

    Raises:
        TypeError: ``center`` is a number, as in a call with the arguments in OpenCV's order.
        ValueError: A shape does not fit; a host value is not finite.

    >>> print(get_rotation_matrix(90, center=(2, 0)) + 0)
    [[ 0.  1.  2.]
     [-1.  0.  2.]]
    """
    if isinstance(center, (int, float, np.generic)):
        raise TypeError(
            f"center must be (x, y), got {value_text(center)}: the order is angle, scale, center, unlike cv2's"
        )
    return matrices.rotation_matrix(angle, scale, center)


@overload
def affine_matrix(
    angle: HostNumbers, translate: HostNumbers, scale: HostNumbers, shear: HostNumbers, center: HostNumbers
) -> NumPyArray: ...
@overload
def affine_matrix(
    angle: Array | HostNumbers,
    translate: Array | HostNumbers,
    scale: Array | HostNumbers,
    shear: Array | HostNumbers,
    center: Array | HostNumbers,
) -> Array: ...
@_check.prefix_errors
def affine_matrix(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> Any:
    """The map of torchvision's ``affine``: shear, then scale, then rotate about ``center``, then translate.

    Args:
        angle: Degrees, clockwise as seen on the screen. A number or [N]. Multiples of 90 are exact.
        translate: Pixels (x, y). [2] or [N, 2]
        scale: Greater than 0. A number or [N]
        shear: Degrees (x, y). [2] or [N, 2]
        center: (x, y) from the image's corner, as in torchvision: ``(W / 2, H / 2)`` is the middle, 0.5 more than in
            :func:`get_rotation_matrix`. [2] or [N, 2]

    Returns:
        ``M``, source to destination, pixel centres at integers. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite, or a ``scale`` not positive.

    >>> print(affine_matrix(90, (0, 0), 1, (0, 0), center=(2, 2)) + 0)
    [[ 0. -1.  3.]
     [ 1.  0.  0.]]
    """
    return matrices.affine_matrix(angle, translate, scale, shear, center)


@overload
def invert_affine(M: HostNumbers) -> NumPyArray: ...
@overload
def invert_affine(M: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def invert_affine(M: Any) -> Any:
    """The inverse map, as ``cv2.invertAffineTransform``; also for 3x3 perspective matrices.

    Args:
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        The inverse, in the shape of ``M``.

    Raises:
        ValueError: A host matrix is not finite, or is singular in the precision of its dtype.

    >>> print(invert_affine([(2, 0, 6), (0, 2, 8)]) + 0)
    [[ 0.5  0.  -3. ]
     [ 0.   0.5 -4. ]]
    """
    return builders.INVERSE(M=M)


@overload
def compose_affine(*M: HostNumbers) -> NumPyArray: ...
@overload
def compose_affine(*M: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def compose_affine(*M: Any) -> Any:
    """Compose maps into one map that applies the first argument first.

    Args:
        *M: At least one matrix; batches broadcast. [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        ``M[-1] @ ... @ M[0]``. [..., 2, 3] if all are 2x3, else [..., 3, 3]

    Raises:
        TypeError: No matrix is given.
        ValueError: A shape does not fit; a host value is not finite.

    >>> shift, double = [(1, 0, 5), (0, 1, 0)], [(2, 0, 0), (0, 2, 0)]
    >>> print(compose_affine(shift, double))
    [[ 2.  0. 10.]
     [ 0.  2.  0.]]
    """
    if not M:
        raise TypeError("M must be at least one matrix, got none")
    return matrices.composition(M)


@overload
def convert_matrix(
    M: HostNumbers,
    source: Convention,
    target: Convention,
    *,
    size: Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
) -> NumPyArray: ...
@overload
def convert_matrix(
    M: Array | HostNumbers,
    source: Convention,
    target: Convention,
    *,
    size: Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
) -> Array: ...
@_check.prefix_errors
def convert_matrix(
    M: Any,
    source: Convention,
    target: Convention,
    *,
    size: Sequence[int] | None = None,
    out_size: Sequence[int] | None = None,
) -> Any:
    """Rewrite a matrix from one library's convention into another's.

    Args:
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        source: The convention of ``M``. "cuaug", "opencv", "kornia": source to destination, pixel centres at integers.
            The others map destination to source: "dali", "pillow" in pixels from the corner, centres at +0.5 (also
            torchvision's perspective coefficients); "torchvision" in pixels from the middles of the two images (its
            ``_get_inverse_affine_matrix``); "torch" in -1..1, the theta of ``affine_grid(align_corners=False)``.
        target: The convention of the result.
        size: (H, W) of the source image; required for "torchvision" and "torch".
        out_size: (H, W) of the destination image; default ``size``.

    Returns:
        A new matrix in the shape of ``M``.

    Raises:
        ValueError: A convention is unknown, or needs ``size``; a shape does not fit; a host matrix is not finite, or is
            singular and must be inverted.

    >>> print(convert_matrix([(1, 0, 4), (0, 1, 0)], "cuaug", "torch", size=(8, 8)) + 0)  # 4 px are half of -1..1
    [[ 1.  0. -1.]
     [ 0.  1.  0.]]
    """
    for name, value in (("source", source), ("target", target)):
        _check.one_of(name, value, tuple(_CONVENTIONS))
        if size is None and _CONVENTIONS[value].needs_size:
            raise ValueError(f"size must be (H, W) for {value!r}, got None")
    start, end = _CONVENTIONS[source], _CONVENTIONS[target]
    input_size = _check.size("size", (1, 1) if size is None else size)
    output_size = input_size if out_size is None else _check.size("out_size", out_size)
    # The sizes of the images that M maps from and to.
    from_size, to_size = (output_size, input_size) if start.inverse else (input_size, output_size)
    changes = *_coordinate_change(end, start, from_size), *_coordinate_change(start, end, to_size)
    builder = builders.CONVERSION if start.inverse == end.inverse else builders.INVERSE_CONVERSION
    return builder(changes, M=M)


@overload
def transform_points(points: HostNumbers, M: HostNumbers) -> NumPyArray: ...
@overload
def transform_points(points: Array | HostNumbers, M: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def transform_points(points: Any, M: Any) -> Any:
    """Map points by ``M``, as ``warp_affine(images, M)`` moves the pixels.

    Args:
        points: (x, y) in pixels with centres at integers; NaN stays NaN. [P, 2] or [N, P, 2]
        M: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]

    Returns:
        [P, 2], or [N, P, 2] if either argument is a batch; torchvision's ``KeyPoints`` stay ``KeyPoints``

    Raises:
        ValueError: A shape does not fit; a host matrix is not finite.

    >>> print(transform_points([(1, 2), (3, 4)], [(1, 0, 10), (0, 1, 0)]))
    [[11.  2.]
     [13.  4.]]
    """
    return wrap_like(builders.MAPPED_POINTS(points=points, M=M), points)


@overload
def transform_boxes(boxes: HostNumbers, M: HostNumbers, format: BoxFormat = "XYXY") -> NumPyArray: ...
@overload
def transform_boxes(boxes: Array | HostNumbers, M: Array | HostNumbers, format: BoxFormat = "XYXY") -> Array: ...
@_check.prefix_errors
def transform_boxes(boxes: Any, M: Any, format: BoxFormat = "XYXY") -> Any:
    """Map boxes by ``M``: the tight boxes around the mapped corners.

    A rotated box becomes the smallest rectangle around its mapped corners that is parallel to the longer of its mapped
    upper and left sides.

    Args:
        boxes: Edges from the image's corner, as in torchvision and COCO: the whole image is ``(0, 0, W, H)``. A box
            stays around its pixels under ``warp_affine(images, M)``. [P, 4] or [N, P, 4]; rotated boxes have 5 or 8
            numbers
        M: In pixels with centres at integers. [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        format: "XYXY", "XYWH" or "CXCYWH", for ``boxes`` and the result; of rotated boxes "XYWHR", "CXCYWHR" or
            "XYXYXYXY", as in :func:`cuaug.box_convert`. For torchvision's ``BoundingBoxes``, their own format is used.

    Returns:
        The mapped boxes, not clipped to any image. ``BoundingBoxes`` stay ``BoundingBoxes`` with their canvas; they
        take one ``M`` only. In the shape of ``boxes``, or [N, P, ...] if either argument is a batch

    Raises:
        ValueError: A shape or ``format`` does not fit; a host matrix is not finite.

    >>> print(transform_boxes([(0, 0, 3, 2)], [(-1, 0, 9), (0, 1, 0)]))  # flips an image 10 pixels wide
    [[ 7.  0. 10.  2.]]
    """
    original, format_name = boxes, stated_format(boxes) or format
    _check.one_of("format", format_name, ALL_FORMATS)
    shape = box_shape(format_name)
    # ("boxes",): the arguments that may hold NaN and infinities.
    boxes, M = small_matrices.broadcast_arguments(("boxes",), boxes=(boxes, ((), (shape.columns,))), M=(M, MATRIX))
    if box_format(original) and M.ndim > 2:
        raise ValueError(
            "M must be one matrix for BoundingBoxes, which have no axis of samples, got one per sample: pass "
            "boxes.as_subclass(torch.Tensor) and format="
        )
    with np.errstate(divide="ignore", invalid="ignore"):  # corners on the horizon map to infinity
        corners = map_each_point(shape.corners(shape.rows(boxes)), M[..., None, :, :])
        return wrap_like(shape.boxes(shape.enclose(corners)), original)


class _Convention(NamedTuple):
    """A library's matrices: their direction, and their coordinates on an axis of n pixels.

    The coordinates are ``scale(n) * x + shift(n)``, where x has pixel centres at integers.
    """

    inverse: bool  # matrices map destination to source
    scale: Callable[[int], float]
    shift: Callable[[int], float]
    needs_size: bool

    def axis(self, n: int) -> tuple[float, float]:
        return self.scale(n), self.shift(n)


_PIXEL = _Convention(inverse=False, scale=lambda n: 1.0, shift=lambda n: 0.0, needs_size=False)
_CORNER = _Convention(inverse=True, scale=lambda n: 1.0, shift=lambda n: 0.5, needs_size=False)
_CONVENTIONS = {
    "cuaug": _PIXEL,
    "opencv": _PIXEL,
    "kornia": _PIXEL,
    "dali": _CORNER,
    "pillow": _CORNER,
    "torchvision": _Convention(inverse=True, scale=lambda n: 1.0, shift=lambda n: (1 - n) / 2, needs_size=True),
    "torch": _Convention(inverse=True, scale=lambda n: 2 / n, shift=lambda n: 1 / n - 1, needs_size=True),
}


def _coordinate_change(start: _Convention, end: _Convention, size: tuple[int, int]) -> tuple[float, ...]:
    """(sx, tx, sy, ty): the change from one convention's coordinates to another's on an image of this size."""
    height, width = size
    changes: list[float] = []
    for n in (width, height):
        (scale, shift), (new_scale, new_shift) = start.axis(n), end.axis(n)
        changes += [new_scale / scale, new_shift - shift * new_scale / scale]
    return tuple(changes)
