"""Detection: boxes, IoU, non-maximum suppression and RoI pooling.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes. Functions of boxes alone accept leading axes ``[...]``; they
compute float16 and bfloat16 in float32, integers and lists in float64.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from . import _check
from ._arrays.convert import namespace
from ._arrays.small_matrices import broadcast_arguments
from ._check import prefix_errors
from ._detection.box_formats import area, from_edges, to_edges
from ._detection.box_iou import pairwise_iou
from ._detection.rotated_iou import pairwise_rotated_iou
from ._detection.soft_nms import suppress_softly
from ._detection.torch_ops import pool, suppress

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
        ValueError: A shape is wrong.

    >>> print(box_area([(0, 0, 3, 2)]))
    [6.]
    """
    (boxes,) = broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))  # ("boxes",): arguments that may hold NaN
    return area(boxes)


@prefix_errors("cuaug")
def box_convert(boxes: Any, in_fmt: Format, out_fmt: Format) -> Any:
    """Convert boxes from one format to another.

    Args:
        boxes: In the format ``in_fmt``. [..., 4]
        in_fmt: "xyxy": two corners; "xywh": a corner and the size; "cxcywh": the centre and the size.
        out_fmt: The result's format.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or a format is wrong.

    >>> print(box_convert([(1, 2, 3, 4)], "xywh", "xyxy"))
    [[1. 2. 4. 6.]]
    """
    for name, value in (("in_fmt", in_fmt), ("out_fmt", out_fmt)):
        _check.one_of(name, value, ("xyxy", "xywh", "cxcywh"))
    (boxes,) = broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    if in_fmt == out_fmt:
        return boxes + 0
    return from_edges(to_edges(boxes, in_fmt.upper()), out_fmt.upper())


@prefix_errors("cuaug")
def box_iou(boxes1: Any, boxes2: Any, kind: Kind = "iou") -> Any:
    """Intersection over union (IoU) of each box of one set with each box of another.

    Args:
        boxes1: Corners; NaN gives NaN. [..., P, 4]
            Rotated: centre, width, height, degrees counter-clockwise. [..., P, 5]
        boxes2: As ``boxes1``. [..., Q, 4], [..., Q, 5]
        kind: "iou"; "giou": IoU minus the fraction of the smallest enclosing box that neither covers (Rezatofighi et
            al. 2019); "diou": IoU minus the squared distance of the centres over the squared diagonal of that box
            (Zheng et al. 2020); "ciou": "diou" minus a penalty for different proportions (same paper). 0 / 0 is 0.

    Returns:
        [..., P, Q]

    Raises:
        ValueError: A shape or ``kind`` is wrong; rotated boxes have "iou" only.

    >>> print(box_iou([(0, 0, 2, 2)], [(1, 0, 3, 2), (0, 0, 2, 2)]).round(3))
    [[0.333 1.   ]]
    """
    _check.one_of("kind", kind, ("iou", "giou", "diou", "ciou"))
    sizes = (), (4, 5)
    boxes1, boxes2 = broadcast_arguments(("boxes1", "boxes2"), boxes1=(boxes1, sizes), boxes2=(boxes2, sizes))
    if boxes1.shape[-1] != boxes2.shape[-1]:
        raise ValueError("boxes1 and boxes2 must be both upright or both rotated")
    if boxes1.shape[-1] == 5:
        _check.one_of("kind", kind, ("iou",))
        return pairwise_rotated_iou(boxes1, boxes2)
    return pairwise_iou(boxes1, boxes2, kind)


@prefix_errors("cuaug")
def clip_boxes(boxes: Any, size: tuple[int, int]) -> Any:
    """Clip boxes to an image, as torchvision's ``clip_boxes_to_image``.

    Args:
        boxes: Corners; NaN stays NaN. [..., 4]
        size: (H, W) of the image.

    Returns:
        [..., 4]

    Raises:
        ValueError: A shape or ``size`` is wrong.

    >>> print(clip_boxes([(-1, 2, 9, 9)], (6, 8)))
    [[0. 2. 8. 6.]]
    """
    height, width = _check.size("size", size)
    (boxes,) = broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
    xp, limits = namespace(boxes), (width, height, width, height)
    edges = [xp.where(boxes[..., i] < 0, 0.0, boxes[..., i]) for i in range(4)]
    return xp.stack([xp.where(edge > limit, float(limit), edge) for edge, limit in zip(edges, limits, strict=True)], -1)


@prefix_errors("cuaug")
def remove_small_boxes(boxes: Any, min_size: float) -> Any:
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
    (boxes,) = broadcast_arguments(("boxes",), boxes=(boxes, ((4,),)))
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
    """Indices of the boxes that no kept box of a higher score overlaps by more than a threshold (greedy suppression).

    By default the call waits for the number of indices. With ``fixed_size`` it does not: a CUDA graph can capture it.

    Args:
        boxes: Corners: float16, bfloat16, float32 or float64, compared in float32 or float64. [K, 4], [N, K, 4]
            Rotated: centre, width, height, degrees counter-clockwise. [K, 5], [N, K, 5]
        scores: The same dtypes; of equal scores the lower index comes first. A box with NaN in its coordinates or its
            score comes last, removes no box and is not removed. [K], [N, K]
        iou_threshold: 0 to 1; a box is removed if its IoU is greater. A box without area overlaps none.
        score_threshold: Only boxes of a greater score take part.
        max_output: Return at most this many indices, of the highest scores.
        fixed_size: Return a padded array and the number of valid indices. Required for [N, K, 4].
        counts: The number of boxes of each sample that take part, from the first on. [N]

    Returns:
        Indices by descending score [R]. With ``fixed_size``, ``indices, count``: [max_output or K], padded with -1,
        and []; for a batch [N, max_output or K] and [N]. int64, or JAX's integer dtype.

    Raises:
        TypeError, ValueError: A dtype, a library, a shape or a threshold is wrong; more than 2**30 boxes.

    >>> import numpy as np
    >>> nms(np.array([(0, 0, 9, 9), (0, 0, 9, 8), (5, 5, 9, 9.0)]), np.array([0.5, 0.75, 0.25]), 0.5)
    array([1, 2])
    """
    return suppress(boxes, scores, None, counts, iou_threshold, score_threshold, max_output, fixed_size)


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
    """As :func:`nms`, but boxes remove only boxes of their own class; coordinates are not shifted to separate classes.

    Args:
        classes: Any integers: uint8, int16, int32 or int64. [K], [N, K]

    All other arguments, the result and the errors are those of :func:`nms`.

    >>> import numpy as np
    >>> boxes, scores = np.array([(0, 0, 9, 9), (0, 0, 9, 8), (0, 0, 9, 9.0)]), np.array([0.5, 0.75, 0.25])
    >>> batched_nms(boxes, scores, np.array([7, -1, 7]), 0.5)
    array([1, 0])
    """
    if classes is None:
        raise TypeError("classes must be an array, got None (nms takes no classes)")
    return suppress(boxes, scores, classes, counts, iou_threshold, score_threshold, max_output, fixed_size)


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
    """Indices by descending score, where each chosen box lowers the scores of boxes it overlaps (Bodla et al. 2017).

    Args:
        boxes: As in :func:`nms`, but not rotated. [K, 4], [N, K, 4]
        scores: As in :func:`nms`. [K], [N, K]
        iou_threshold: 0 to 1. "linear": a greater IoU multiplies a score by ``1 - iou``.
        sigma: "gaussian": any IoU multiplies a score by ``exp(-iou**2 / sigma)``.
        score_threshold: A box takes part as long as its score is greater.
        method: "linear" or "gaussian".
        max_output: As in :func:`nms`.
        fixed_size: Return padded arrays and the number of valid entries.
        counts: The number of boxes of each sample that take part. [N]

    Returns:
        Indices and lowered scores, these in their dtype [R]. With ``fixed_size``, ``indices, scores, count`` of
        the shapes of :func:`nms`, padded with -1 and 0.

    Raises:
        TypeError, ValueError: As :func:`nms`.

    >>> import numpy as np
    >>> soft_nms(np.array([(0, 0, 4, 4), (0, 0, 4, 2), (5, 5, 9, 9.0)]), np.array([1, 0.75, 0.5]))
    (array([0, 2, 1]), array([1.   , 0.5  , 0.375]))
    """
    return suppress_softly(boxes, scores, counts, iou_threshold, sigma, score_threshold, method, max_output, fixed_size)


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
    """Pool regions of feature maps: interpolated samples of each bin (He et al. 2017), as torchvision's ``roi_align``.

    Args:
        features: Float maps, or a list of levels, each of half the size of the one before. [N, C, H, W]
        boxes: Sample index, then corners, in the library of the features; or one array per image. [K, 5], [[L, 4]]
            Rotated as in detectron2: index, centre, width, height, degrees counter-clockwise. [K, 6], [[L, 5]]
        output_size: Number of bins, (H, W) or one number for both.
        spatial_scale: Pixels of the map per unit of the boxes; for levels a list: each pools the boxes of its size.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        aligned: Whether box coordinates start at the map's corner; otherwise at the centre of the first pixel.
        mode: "avg", or "max" of a bin's samples, as in mmcv. A sample more than a pixel outside the map is 0.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.
        canonical_size: Side of a square box that is pooled from the level ``canonical_level``.
        canonical_level: The level of scale ``2**-canonical_level``; a box twice as large belongs to the next one.

    Returns:
        [K, C, h, w], in the features' layout and dtype. torch's gradient of ``features`` is the same in every
        run on a CPU, and on a GPU after ``torch.use_deterministic_algorithms(True)``, which takes longer.

    Raises:
        TypeError, ValueError: A dtype, a shape or a sample index is wrong.

    >>> import numpy as np
    >>> rows = np.arange(8.0).reshape(1, 8, 1, 1) * np.ones((1, 8, 8, 1))
    >>> roi_align(rows, np.array([(0, 0, 2, 4, 6.0)]), (2, 1), aligned=True).ravel()
    array([2.5, 4.5])
    """
    _check.one_of("mode", mode, ("avg", "max"))
    options = (spatial_scale, sampling_ratio, aligned, mode, layout, canonical_size, canonical_level)
    return pool(features, boxes, output_size, *options)


@prefix_errors("cuaug")
def roi_pool(
    features: Any,
    boxes: Any,
    output_size: int | tuple[int, int],
    spatial_scale: float = 1.0,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Any:
    """The maximum pixel of each bin of regions; bins are rounded to whole pixels (Girshick 2015), as in torchvision.

    Args:
        features: Float maps. [N, C, H, W]
        boxes: Sample index, then corners, in the library of the features; or one array per image. [K, 5], [[L, 4]]
        output_size: Number of bins, (H, W) or one number for both; a bin outside the map is 0.
        spatial_scale: Pixels of the map per unit of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    Returns:
        [K, C, h, w], in the features' layout and dtype. The first of equal maxima gets the gradient; NaN is maximal.

    Raises:
        TypeError, ValueError: A dtype, a shape or a sample index is wrong.

    >>> import numpy as np
    >>> roi_pool(np.arange(64.0).reshape(1, 8, 8, 1), np.array([(0, 0, 2, 3, 5.0)]), 2)[..., 0]
    array([[[25., 27.],
            [41., 43.]]])
    """
    # roi_align's parameters in its order, with its defaults: "pixels", the mode of roi_pool, uses only the layout.
    return pool(features, boxes, output_size, spatial_scale, -1, False, "pixels", layout, 224, 4)
