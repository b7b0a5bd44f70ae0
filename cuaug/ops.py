"""Detection: boxes, and which of those that overlap are kept.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes. Functions of boxes alone take leading axes ``[...]``; float16
and bfloat16 become float32 there, integers and lists float64.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from . import _check
from ._arrays import small_matrices as _matrices
from ._arrays.convert import namespace
from ._check import prefix_errors
from ._detection import box_formats as _boxes
from ._detection import rotated_iou as _rotated
from ._detection import soft_nms as _soft_nms
from ._detection import torch_ops as _torch_ops

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes",
    "nms",
    "remove_small_boxes",
    "roi_align",
    "roi_pool",
    "soft_nms",
]

Format = Literal["xyxy", "xywh", "cxcywh"]
Kind = Literal["iou", "giou", "diou", "ciou"]


@prefix_errors("cuaug")
def box_area(boxes: Any) -> Any:
    """Width times height.

    Args:
        boxes: Corners. [..., 4]

    Returns:
        [...]

    Raises:
        ValueError: A shape does not fit.

    >>> print(box_area([(0, 0, 3, 2)]))
    [6.]
    """
    (boxes,) = _matrices.broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    return _boxes.area(boxes)


@prefix_errors("cuaug")
def box_convert(boxes: Any, in_fmt: Format, out_fmt: Format) -> Any:
    """Boxes written in another way.

    Args:
        boxes: In the form of ``in_fmt``. [..., 4]
        in_fmt: "xyxy", two corners; "xywh", a corner and the size; "cxcywh", the centre and the size.
        out_fmt: Of the result, likewise.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or a format does not fit.

    >>> print(box_convert([(1, 2, 3, 4)], "xywh", "xyxy"))
    [[1. 2. 4. 6.]]
    """
    for name, value in (("in_fmt", in_fmt), ("out_fmt", out_fmt)):
        _check.one_of(name, value, ("xyxy", "xywh", "cxcywh"))
    (boxes,) = _matrices.broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    if in_fmt == out_fmt:
        return boxes + 0
    return _boxes.from_edges(_boxes.to_edges(boxes, in_fmt.upper()), out_fmt.upper())


@prefix_errors("cuaug")
@np.errstate(divide="ignore", invalid="ignore")
def box_iou(boxes1: Any, boxes2: Any, kind: Kind = "iou") -> Any:
    """Intersection over union of each box of one set with each of another.

    Args:
        boxes1: Corners; NaN gives NaN. [..., P, 4]
            Rotated: centre, width, height, degrees against the clock. [..., P, 5]
        boxes2: Likewise. [..., Q, 4], [..., Q, 5]
        kind: "iou"; "giou", less the share of the smallest box around both that neither covers (Rezatofighi et al.
            2019); "diou", less the squared distance of the centres over that box's diagonal (Zheng et al. 2020);
            "ciou", less a penalty for other proportions, too (the same). A quotient of 0 and 0 counts as 0.

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape does not fit, or ``kind``: rotated boxes have "iou" alone.

    >>> print(box_iou([(0, 0, 2, 2)], [(1, 0, 3, 2), (0, 0, 2, 2)]).round(3))
    [[0.333 1.   ]]
    """
    _check.one_of("kind", kind, ("iou", "giou", "diou", "ciou"))
    sizes = (), (4, 5)
    boxes1, boxes2 = _matrices.broadcast_arguments(("boxes1", "boxes2"), boxes1=(boxes1, sizes), boxes2=(boxes2, sizes))
    if boxes1.shape[-1] != boxes2.shape[-1]:
        raise ValueError("boxes1 and boxes2 must be both upright or both rotated")
    if boxes1.shape[-1] == 5:
        _check.one_of("kind", kind, ("iou",))
        return _rotated.iou(boxes1, boxes2)
    a, b = boxes1[..., :, None, :], boxes2[..., None, :, :]
    xp = namespace(a)
    size = xp.minimum(a[..., 2:], b[..., 2:]) - xp.maximum(a[..., :2], b[..., :2])
    size = xp.maximum(size, xp.zeros_like(size))
    shared = size[..., 0] * size[..., 1]
    either = _boxes.area(a) + _boxes.area(b) - shared
    iou = _share(shared, either)
    if kind == "iou":
        return iou
    span = xp.maximum(a[..., 2:], b[..., 2:]) - xp.minimum(a[..., :2], b[..., :2])
    if kind == "giou":
        around = span[..., 0] * span[..., 1]
        return iou - _share(around - either, around)
    apart = (a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2
    distant = iou - _share((apart * apart).sum(-1), (span * span).sum(-1))
    if kind == "diou":
        return distant
    v = (2 / math.pi * (_lean(a) - _lean(b))) ** 2
    return distant - _share(v * v, 1 - iou + v)


@prefix_errors("cuaug")
def clip_boxes(boxes: Any, size: tuple[int, int]) -> Any:
    """Boxes cut off at the edges of an image, as torchvision's ``clip_boxes_to_image``.

    Args:
        boxes: Corners; NaN stays NaN. [..., 4]
        size: (H, W) of the image.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or ``size`` does not fit.

    >>> print(clip_boxes([(-1, 2, 9, 9)], (6, 8)))
    [[0. 2. 8. 6.]]
    """
    height, width = _check.size("size", size)
    (boxes,) = _matrices.broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    xp = namespace(boxes)
    cut = []
    for i, most in enumerate((width, height, width, height)):
        side = xp.where(boxes[..., i] < 0, 0.0, boxes[..., i])
        cut.append(xp.where(side > most, float(most), side))
    return xp.stack(cut, -1)


@prefix_errors("cuaug")
def remove_small_boxes(boxes: Any, min_size: float) -> Any:
    """Indices of the boxes whose sides are both at least so long. Waits for the device: how many, only the values tell.

    Args:
        boxes: Corners. [K, 4]
        min_size: Least width and height; a box with NaN has neither.

    Returns:
        Indices in rising order. [kept]

    Raises:
        ValueError: A shape does not fit.

    >>> print(remove_small_boxes([(0, 0, 3, 2), (0, 0, 1, 9)], 2))
    [0]
    """
    _check.number("min_size", min_size, -math.inf)
    (boxes,) = _matrices.broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    if boxes.ndim != 2:
        raise ValueError(f"boxes must have shape [K, 4], got {list(boxes.shape)}")
    return namespace(boxes).where((boxes[..., 2:] - boxes[..., :2] >= min_size).all(-1))[0]


@prefix_errors("cuaug")
def nms(
    boxes: Any,
    scores: Any,
    iou_threshold: float,
    *,
    score_threshold: float | None = None,
    max_output: int | None = None,
    fixed_size: bool = False,
    counts: Any = None,
) -> Any:
    """Indices of the boxes that overlap none of a higher score by more than a threshold: greedy suppression.

    The default waits for the device, to learn how many; ``fixed_size`` does not, and fits into a CUDA graph.

    Args:
        boxes: Corners, float16, bfloat16, float32 or float64, compared in float32 or better. [K, 4], [N, K, 4]
            Rotated: centre, width, height, degrees against the clock. [K, 5], [N, K, 5]
        scores: Likewise; of equal ones the lower index is first. NaN, of a box or a score, comes last, removes none
            and is not removed. [K], [N, K]
        iou_threshold: 0 to 1; a box goes if its IoU is greater. One without area overlaps none.
        score_threshold: Boxes take part only if their score is greater.
        max_output: Keep so many of the highest scores, at most.
        fixed_size: Return a padded array, and how many of it count. For [N, K, 4] it must be True.
        counts: How many boxes of each sample take part, the first ones. [N]

    Returns:
        Indices by falling score [kept]; if ``fixed_size``, ``indices, kept``: [max_output or K] with -1 behind the last
        one, and []; of a batch [N, max_output or K] and [N]. int64, or JAX's integer.

    Raises:
        TypeError: A dtype or a library is not supported.
        ValueError: A shape or a threshold does not fit, or there are more than 2**30 boxes.

    >>> import numpy as np
    >>> nms(np.array([(0, 0, 9, 9), (0, 0, 9, 8), (5, 5, 9, 9.0)]), np.array([0.5, 0.75, 0.25]), 0.5)
    array([1, 2])
    """
    return _torch_ops.suppress(boxes, scores, None, counts, iou_threshold, score_threshold, max_output, fixed_size)


@prefix_errors("cuaug")
def batched_nms(
    boxes: Any,
    scores: Any,
    classes: Any,
    iou_threshold: float,
    *,
    score_threshold: float | None = None,
    max_output: int | None = None,
    fixed_size: bool = False,
    counts: Any = None,
) -> Any:
    """As :func:`nms`, where boxes remove others of their own class alone; coordinates stay as they are.

    Args:
        classes: Any integers; uint8, int16, int32 or int64. [K], [N, K]

    All other arguments, the result and the errors are those of :func:`nms`.

    >>> import numpy as np
    >>> boxes, scores = np.array([(0, 0, 9, 9), (0, 0, 9, 8), (0, 0, 9, 9.0)]), np.array([0.5, 0.75, 0.25])
    >>> batched_nms(boxes, scores, np.array([7, -1, 7]), 0.5)
    array([1, 0])
    """
    if classes is None:
        raise TypeError("classes must be an array, got None (nms takes no classes)")
    return _torch_ops.suppress(boxes, scores, classes, counts, iou_threshold, score_threshold, max_output, fixed_size)


@prefix_errors("cuaug")
def soft_nms(
    boxes: Any,
    scores: Any,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: Literal["linear", "gaussian"] = "linear",
    *,
    max_output: int | None = None,
    fixed_size: bool = False,
    counts: Any = None,
) -> Any:
    """Indices by falling score, where each box lowers the scores of those it overlaps (Bodla et al. 2017).

    Args:
        boxes: As of :func:`nms`, not rotated. [K, 4], [N, K, 4]
        scores: Likewise, and NaN. [K], [N, K]
        iou_threshold: 0 to 1; of "linear": a greater IoU multiplies a score by ``1 - iou``.
        sigma: Of "gaussian": any IoU multiplies a score by ``exp(-iou**2 / sigma)``.
        score_threshold: Boxes take part as long as their score is greater.
        method: "linear" or "gaussian".
        max_output: As of :func:`nms`, like the next two.
        fixed_size: Return padded arrays, and how many of them count.
        counts: How many boxes of each sample take part. [N]

    Returns:
        indices, scores [kept], the scores as lowered, in their dtype; if ``fixed_size``, ``indices, scores, kept`` of
        the shapes of :func:`nms`, padded with -1 and 0.

    Raises:
        TypeError, ValueError: As :func:`nms`.

    >>> import numpy as np
    >>> soft_nms(np.array([(0, 0, 4, 4), (0, 0, 4, 2), (5, 5, 9, 9.0)]), np.array([1, 0.75, 0.5]))
    (array([0, 2, 1]), array([1.   , 0.5  , 0.375]))
    """
    options = (iou_threshold, sigma, score_threshold, method, max_output, fixed_size)
    return _soft_nms.suppress(boxes, scores, counts, *options)


@prefix_errors("cuaug")
def roi_align(
    features: Any,
    boxes: Any,
    output_size: int | tuple[int, int],
    spatial_scale: float | list[float] = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
    mode: Literal["avg", "max"] = "avg",
    layout: Literal["NCHW", "NHWC"] | None = None,
    *,
    canonical_size: float = 224,
    canonical_level: int = 4,
) -> Any:
    """Regions of feature maps, cut into bins and sampled between pixels (He et al. 2017), as torchvision's.

    Args:
        features: Float maps, or a list of levels, each of half the size of the one before. [N, C, H, W]
        boxes: Sample, then corners, in the library of the features; or one array for each image. [K, 5], [[L, 4]]
            Rotated as detectron2's: sample, centre, width, height, degrees against the clock. [K, 6], [[L, 5]]
        output_size: Bins, (H, W) or a number for both.
        spatial_scale: Pixels of the map for one of the boxes; a list for levels: each takes the boxes of its size.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        aligned: Whether boxes count from the map's corner; else from the centre of the first pixel.
        mode: "avg", or "max" of a bin's samples, as mmcv's. A sample beyond the map by more than a pixel is 0.
        layout: "NCHW" or "NHWC"; default: channels first for torch, else last.
        canonical_size: Side of a square box that is pooled from the level ``canonical_level``.
        canonical_level: The level of scale ``2**-canonical_level``; a box twice as large goes to the next one.

    Returns:
        [K, C, h, w], in the features' layout and dtype; torch's gradient of ``features`` is the same in every
        run on a CPU, and on a GPU after ``torch.use_deterministic_algorithms(True)``, which costs time.

    Raises:
        TypeError, ValueError: A dtype, a shape, or a sample's number does not fit.

    >>> import numpy as np
    >>> rows = np.arange(8.0).reshape(1, 8, 1, 1) * np.ones((1, 8, 8, 1))
    >>> roi_align(rows, np.array([(0, 0, 2, 4, 6.0)]), (2, 1), aligned=True).ravel()
    array([2.5, 4.5])
    """
    _check.one_of("mode", mode, ("avg", "max"))
    options = (spatial_scale, sampling_ratio, aligned, mode, layout, canonical_size, canonical_level)
    return _torch_ops.pool(features, boxes, output_size, *options)


@prefix_errors("cuaug")
def roi_pool(
    features: Any,
    boxes: Any,
    output_size: int | tuple[int, int],
    spatial_scale: float = 1.0,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Any:
    """The greatest pixel of each bin of regions, rounded to whole pixels (Girshick 2015), as torchvision's.

    Args:
        features: Float maps. [N, C, H, W]
        boxes: Sample, then corners, in the library of the features; or one array for each image. [K, 5], [[L, 4]]
        output_size: Bins, (H, W) or a number for both; one outside of the map is 0.
        spatial_scale: Pixels of the map for one of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, else last.

    Returns:
        [K, C, h, w], in the features' layout and dtype. A gradient goes to the first of equal pixels; NaN is greatest.

    Raises:
        TypeError: A dtype is not supported.
        ValueError: A shape or a sample's number does not fit.

    >>> import numpy as np
    >>> roi_pool(np.arange(64.0).reshape(1, 8, 8, 1), np.array([(0, 0, 2, 3, 5.0)]), 2)[..., 0]
    array([[[25., 27.],
            [41., 43.]]])
    """
    return _torch_ops.pool(features, boxes, output_size, spatial_scale, -1, False, "pixels", layout, 224, 4)


def _lean(boxes: Any) -> Any:
    """The angle whose tangent is width over height."""
    return namespace(boxes).arctan2(boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1])


def _share(part: Any, whole: Any) -> Any:
    """Of nothing, nothing."""
    return namespace(part).where((part == 0) & (whole == 0), 0.0, part / whole)
