"""Non-maximum suppression.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the boxes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

import numpy as np
import numpy.typing as npt

from ._check import prefix_errors
from ._detection.soft_nms import suppress_softly
from ._detection.torch_ops import suppress
from ._second_names import second_names
from .typing import AnyArray, Array, NmsMethod, NumPyArray

__all__ = ["batched_nms", "nms", "soft_nms"]

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
        TypeError, ValueError: A dtype, a library, a shape or a threshold is wrong; 2**30 boxes or more per sample,
            or about 2**31 in all.

    >>> import numpy as np
    >>> nms(np.array([(0, 0, 9, 9), (0, 0, 9, 8), (5, 5, 9, 9.0)]), np.array([0.5, 0.75, 0.25]), 0.5)
    array([1, 2])
    """
    return suppress(boxes, scores, None, counts, iou_threshold, score_threshold, max_output, fixed_size)


@overload
def batched_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    idxs: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> npt.NDArray[np.int64]: ...
@overload
def batched_nms(
    boxes: NumPyArray,
    scores: AnyArray,
    idxs: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[True],
    **options: Unpack[_NmsOptions],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
@overload
def batched_nms(
    boxes: Array,
    scores: AnyArray,
    idxs: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[False] = False,
    **options: Unpack[_NmsOptions],
) -> Array: ...
@overload
def batched_nms(
    boxes: Array,
    scores: AnyArray,
    idxs: AnyArray,
    iou_threshold: float,
    *,
    fixed_size: Literal[True],
    **options: Unpack[_NmsOptions],
) -> tuple[Array, Array]: ...
@prefix_errors
@second_names(classes="idxs")
def batched_nms(
    boxes: Any,
    scores: Any,
    idxs: Any,
    iou_threshold: float,
    *,
    score_threshold: float | None = None,
    max_output: int | None = None,
    fixed_size: bool = False,
    counts: Any = None,
) -> Any:
    """As :func:`nms`, but boxes remove only boxes of their own class; coordinates are not shifted to separate classes.

    Args:
        idxs: The class of each box, any integers: uint8, int16, int32 or int64. Also called ``classes``. [K], [N, K]

    All other arguments, the result and the errors are those of :func:`nms`.

    >>> import numpy as np
    >>> boxes, scores = np.array([(0, 0, 9, 9), (0, 0, 9, 8), (0, 0, 9, 9.0)]), np.array([0.5, 0.75, 0.25])
    >>> batched_nms(boxes, scores, np.array([7, -1, 7]), 0.5)
    array([1, 0])
    """
    if idxs is None:
        raise TypeError("idxs must be an array, got None (nms takes no classes)")
    return suppress(boxes, scores, idxs, counts, iou_threshold, score_threshold, max_output, fixed_size)


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
        score_threshold: At least 0. A box takes part as long as its score is greater.
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
