"""Overlaps of boxes: intersection over union (IoU) of all pairs of two sets, and its generalizations.

The result is in the library and on the device of the boxes. Leading axes ``[...]`` are accepted. float16 and bfloat16
are computed in float32, integers and lists in float64, or in float32 beside an array of narrower floats.
"""

from __future__ import annotations

from typing import Any, get_args, overload

from . import _check
from ._arrays.small_matrices import broadcast_arguments
from ._check import prefix_errors
from ._detection.box_formats import ALL_FORMATS, ROTATED_FORMATS, convert_format, convert_rotated, require_format
from ._detection.box_iou import pairwise_iou
from ._detection.box_pairs import compare_pairs
from .typing import Array, HostNumbers, IouKind, LowerCaseBoxFormat, NumPyArray

__all__ = ["box_iou", "complete_box_iou", "distance_box_iou", "generalized_box_iou"]

_KINDS = get_args(IouKind)
_BOX_FORMATS = tuple(format.lower() for format in ALL_FORMATS)
# For a format passed as `kind`: the third parameter of torchvision's `box_iou` is `fmt`.
_FORMAT_ADVICE = {format: f"pass fmt={format!r}" for format in _BOX_FORMATS}


@overload
def box_iou(
    boxes1: HostNumbers, boxes2: HostNumbers, kind: IouKind = "iou", fmt: LowerCaseBoxFormat = "xyxy"
) -> NumPyArray: ...
@overload
def box_iou(
    boxes1: Array | HostNumbers, boxes2: Array | HostNumbers, kind: IouKind = "iou", fmt: LowerCaseBoxFormat = "xyxy"
) -> Array: ...
@prefix_errors
def box_iou(boxes1: Any, boxes2: Any, kind: IouKind = "iou", fmt: LowerCaseBoxFormat = "xyxy") -> Any:
    """Intersection over union (IoU) of each box of one set with each box of another.

    Args:
        boxes1: In the format ``fmt``; NaN gives NaN. [..., P, 4], [..., P, 5], [..., P, 8]
        boxes2: As ``boxes1``. [..., Q, 4], [..., Q, 5], [..., Q, 8]
        kind: "iou"; "giou": IoU minus the fraction of the smallest enclosing box that neither covers (Rezatofighi et
            al. 2019); "diou": IoU minus the squared distance of the centres over the squared diagonal of that box
            (Zheng et al. 2020); "ciou": "diou" minus a penalty for different proportions (same paper). 0 / 0 is 0.
        fmt: A format of :func:`box_convert`. With "xyxy" five numbers are a rotated box, "cxcywhr".

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape, ``kind`` or ``fmt`` is wrong; rotated boxes have "iou" only.

    >>> print(box_iou([(0, 0, 2, 2)], [(1, 0, 3, 2), (0, 0, 2, 2)]).round(3))
    [[0.333 1.   ]]
    """
    _check.one_of("kind", kind, _KINDS, _FORMAT_ADVICE)
    _check.one_of("fmt", fmt, _BOX_FORMATS)
    format = fmt.upper()
    columns = (4, 5) if format == "XYXY" else (ROTATED_FORMATS.get(format, 4),)
    a, b = _pair(boxes1, boxes2, columns, ("XYXY", "CXCYWHR") if format == "XYXY" else (format,))
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("boxes1 and boxes2 must be both upright or both rotated")
    if a.shape[-1] == 4:
        return pairwise_iou(convert_format(a, format, "XYXY"), convert_format(b, format, "XYXY"), kind)
    if kind != "iou":
        raise ValueError(f"kind must be 'iou' for rotated boxes, got {kind!r}")
    source = "CXCYWHR" if format == "XYXY" else format
    return compare_pairs(convert_rotated(a, source, "CXCYWHR"), convert_rotated(b, source, "CXCYWHR"))


@overload
def generalized_box_iou(boxes1: HostNumbers, boxes2: HostNumbers) -> NumPyArray: ...
@overload
def generalized_box_iou(boxes1: Array | HostNumbers, boxes2: Array | HostNumbers) -> Array: ...
@prefix_errors
def generalized_box_iou(boxes1: Any, boxes2: Any) -> Any:
    """Generalized IoU of all pairs, in -1..1: ``box_iou(boxes1, boxes2, "giou")``.

    Args:
        boxes1: Corners; NaN gives NaN. [..., P, 4]
        boxes2: As ``boxes1``. [..., Q, 4]

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape is wrong.

    >>> print(generalized_box_iou([(0, 0, 2, 2)], [(0, 0, 2, 1), (2, 0, 4, 2), (3, 0, 4, 2)]))
    [[ 0.5   0.   -0.25]]
    """
    a, b = _pair(boxes1, boxes2)
    return pairwise_iou(a, b, "giou")


@overload
def distance_box_iou(boxes1: HostNumbers, boxes2: HostNumbers, eps: float = 1e-7) -> NumPyArray: ...
@overload
def distance_box_iou(boxes1: Array | HostNumbers, boxes2: Array | HostNumbers, eps: float = 1e-7) -> Array: ...
@prefix_errors
def distance_box_iou(boxes1: Any, boxes2: Any, eps: float = 1e-7) -> Any:
    """Distance IoU of all pairs, in -1..1: "diou" of :func:`box_iou`, with torchvision's epsilon.

    Args:
        boxes1: Corners; NaN gives NaN. [..., P, 4]
        boxes2: As ``boxes1``. [..., Q, 4]
        eps: Added to the squared diagonal of the enclosing box; 0 gives results that do not depend on the unit.

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape or ``eps`` is wrong.

    >>> print(distance_box_iou([(0, 0, 2, 2)], [(0, 0, 2, 2), (2, 2, 4, 4)]).round(3))
    [[ 1.   -0.25]]
    """
    _check.number("eps", eps, 0)
    a, b = _pair(boxes1, boxes2)
    return pairwise_iou(a, b, "diou", eps)


@overload
def complete_box_iou(boxes1: HostNumbers, boxes2: HostNumbers, eps: float = 1e-7) -> NumPyArray: ...
@overload
def complete_box_iou(boxes1: Array | HostNumbers, boxes2: Array | HostNumbers, eps: float = 1e-7) -> Array: ...
@prefix_errors
def complete_box_iou(boxes1: Any, boxes2: Any, eps: float = 1e-7) -> Any:
    """Complete IoU of all pairs: "ciou" of :func:`box_iou`, with torchvision's epsilon.

    Args:
        eps: Added to the squared diagonal of the enclosing box, and to the denominator of the weight of the penalty.

    All other arguments, the result and the errors are those of :func:`distance_box_iou`.

    >>> print(complete_box_iou([(0, 0, 2, 2)], [(0, 0, 2, 2), (0, 0, 2, 1)]).round(3))
    [[1.    0.466]]
    """
    _check.number("eps", eps, 0)
    a, b = _pair(boxes1, boxes2)
    return pairwise_iou(a, b, "ciou", eps)


def _pair(boxes1: Any, boxes2: Any, columns: tuple[int, ...] = (4,), formats: tuple[str, ...] = ("XYXY",)) -> list[Any]:
    """Two sets of boxes, which may hold NaN, as arrays of floats of one library, device and dtype."""
    for name, value in (("boxes1", boxes1), ("boxes2", boxes2)):
        require_format(name, value, *formats)
    sizes = (), columns
    return broadcast_arguments(("boxes1", "boxes2"), boxes1=(boxes1, sizes), boxes2=(boxes2, sizes))
