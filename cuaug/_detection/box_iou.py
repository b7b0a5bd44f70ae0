"""IoU of upright boxes, and its generalizations: GIoU, DIoU and CIoU."""

from __future__ import annotations

import math
from typing import Any

from .._arrays.autograd import needs_torch_ops
from .._arrays.convert import detach, namespace
from .box_formats import area
from .box_pairs import compare_pairs


def pairwise_iou(boxes1: Any, boxes2: Any, kind: str, eps: float = 0.0) -> Any:
    """[..., P, 4] and [..., Q, 4] to [..., P, Q]. `kind`: "iou", "giou", "diou" or "ciou".

    `eps` is added to the denominators of the penalties of "diou" and "ciou".
    """
    if needs_torch_ops(boxes1, boxes2):
        return _pairwise_iou(boxes1, boxes2, kind, eps)
    return compare_pairs(boxes1, boxes2, kind, eps)


def _pairwise_iou(boxes1: Any, boxes2: Any, kind: str, eps: float) -> Any:
    a, b = boxes1[..., :, None, :], boxes2[..., None, :, :]
    xp = namespace(a)
    size = xp.minimum(a[..., 2:], b[..., 2:]) - xp.maximum(a[..., :2], b[..., :2])
    size = xp.maximum(size, xp.zeros_like(size))
    intersection = size[..., 0] * size[..., 1]
    union = area(a) + area(b) - intersection
    iou = _quotient(intersection, union)
    if kind == "iou":
        return iou
    enclosing = xp.maximum(a[..., 2:], b[..., 2:]) - xp.minimum(a[..., :2], b[..., :2])
    if kind == "giou":
        enclosing_area = enclosing[..., 0] * enclosing[..., 1]
        return iou - _quotient(enclosing_area - union, enclosing_area)
    distance = (a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2
    diou = iou - _quotient((distance * distance).sum(-1), (enclosing * enclosing).sum(-1), eps)
    if kind == "diou":
        return diou
    v = (2 / math.pi * (_aspect_angle(a) - _aspect_angle(b))) ** 2
    weighted = detach(v) * v, detach(1 - iou + v)  # gradients take the weight of v as a constant, as the paper does
    return diou - _quotient(*weighted, eps)


def _aspect_angle(boxes: Any) -> Any:
    """The angle whose tangent is width over height."""
    return namespace(boxes).arctan2(boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1])


def _quotient(numerator: Any, denominator: Any, eps: float = 0.0) -> Any:
    """The quotient, whose denominator is increased by `eps`. 0 / 0 is 0."""
    if eps:
        denominator = denominator + eps  # still 0 if `eps` is 0 in the dtype
    xp, zeros = namespace(numerator), (numerator == 0) & (denominator == 0)
    quotient = numerator / xp.where(zeros, 1.0, denominator)  # a NaN here would make the gradient NaN
    return xp.where(zeros, 0.0, quotient)
