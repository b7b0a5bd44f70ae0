"""Detection: non-maximum suppression and RoI pooling.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

import numpy as np
import numpy.typing as npt

from . import _check
from ._check import prefix_errors
from ._detection.soft_nms import suppress_softly
from ._detection.torch_ops import pool, suppress
from .typing import AnyArray, Array, NmsMethod, NumPyArray, RoiMode, Size

__all__ = [
    "batched_nms",
    "nms",
    "roi_align",
    "roi_pool",
    "soft_nms",
]

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _BatchOptions(TypedDict, total=False):
    max_output: int | None
    counts: AnyArray | None


class _NmsOptions(_BatchOptions, total=False):
    score_threshold: float | None


@overload
def nms(
    boxes: NumPyArray,
    scores: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> npt.NDArray[np.int64]: ...
@overload
def nms(
    boxes: NumPyArray,
    scores: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[True],
    **options: Unpack[_NmsOptions],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
@overload
def nms(
    boxes: Array,
    scores: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> Array: ...
@overload
def nms(
    boxes: Array, scores: AnyArray, iou_threshold: float, *, fixed_size: Literal[True], **options: Unpack[_NmsOptions]
) -> tuple[Array, Array]: ...
@prefix_errors
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
        Indices by descending score [R]. With ``fixed_size``, ``indices, count`` of shapes [max_output or K], padded
        with -1, and []; for a batch [N, max_output or K] and [N]. int64, or JAX's integer dtype.

    Raises:
        TypeError, ValueError: A dtype, a library, a shape or a threshold is wrong; 2**30 boxes or more per sample.

    >>> import numpy as np
    >>> nms(np.array([(0, 0, 9, 9), (0, 0, 9, 8), (5, 5, 9, 9.0)]), np.array([0.5, 0.75, 0.25]), 0.5)
    array([1, 2])
    """
    return suppress(boxes, scores, None, counts, iou_threshold, score_threshold, max_output, fixed_size)


@overload
def batched_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    classes: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> npt.NDArray[np.int64]: ...
@overload
def batched_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    classes: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[True],
    **options: Unpack[_NmsOptions],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
@overload
def batched_nms(
    boxes: Array,
    scores: AnyArray,
    classes: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> Array: ...
@overload
def batched_nms(
    boxes: Array,
    scores: AnyArray,
    classes: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[True],
    **options: Unpack[_NmsOptions],
) -> tuple[Array, Array]: ...
@prefix_errors
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


@overload
def soft_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: NmsMethod = "linear",
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_BatchOptions],
) -> tuple[npt.NDArray[np.int64], NumPyArray]: ...
@overload
def soft_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: NmsMethod = "linear",
    *,
    fixed_size: Literal[True],
    **options: Unpack[_BatchOptions],
) -> tuple[npt.NDArray[np.int64], NumPyArray, npt.NDArray[np.int64]]: ...
@overload
def soft_nms(
    boxes: Array,
    scores: AnyArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: NmsMethod = "linear",
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_BatchOptions],
) -> tuple[Array, Array]: ...
@overload
def soft_nms(
    boxes: Array,
    scores: AnyArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: NmsMethod = "linear",
    *,
    fixed_size: Literal[True],
    **options: Unpack[_BatchOptions],
) -> tuple[Array, Array, Array]: ...
@prefix_errors
def soft_nms(
    boxes: Any,
    scores: Any,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 1e-3,
    method: NmsMethod = "linear",
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
        Indices, and lowered scores in the dtype of ``scores`` [R]. With ``fixed_size``, ``indices, scores, count`` of
        the shapes of :func:`nms`, padded with -1 and 0.

    Raises:
        TypeError, ValueError: As :func:`nms`.

    >>> import numpy as np
    >>> soft_nms(np.array([(0, 0, 4, 4), (0, 0, 4, 2), (5, 5, 9, 9.0)]), np.array([1, 0.75, 0.5]))
    (array([0, 2, 1]), array([1.   , 0.5  , 0.375]))
    """
    return suppress_softly(boxes, scores, counts, iou_threshold, sigma, score_threshold, method, max_output, fixed_size)


@prefix_errors
def roi_align(
    features: Array | Sequence[Array],
    boxes: AnyArray | Sequence[AnyArray],
    output_size: Size,
    spatial_scale: float | Sequence[float] = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
    mode: RoiMode = "avg",
    layout: Literal["NCHW", "NHWC"] | None = None,
    *,
    canonical_size: float = 224,
    canonical_level: int = 4,
) -> Array:
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


@prefix_errors
def roi_pool(
    features: Array,
    boxes: AnyArray | Sequence[AnyArray],
    output_size: Size,
    spatial_scale: float = 1.0,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Array:
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
    if isinstance(features, (list, tuple)):
        raise TypeError("features must be one array, got a list: roi_align takes the levels of a pyramid")
    # roi_align's parameters in its order, with its defaults: "pixels", the mode of roi_pool, uses only the layout.
    return pool(features, boxes, output_size, spatial_scale, -1, False, "pixels", layout, 224, 4)
