"""RoI pooling: regions of feature maps, each as a grid of bins.

Boxes are corners (left, top, right, bottom), counted from the image's corner: the whole image is ``(0, 0, W, H)``. The
result is in the library and on the device of the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import _check
from ._check import prefix_errors
from ._detection.torch_ops import pool
from ._second_names import second_names
from .typing import AnyArray, Array, RoiMode, Size

__all__ = ["ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"]


@prefix_errors
@second_names(features="input")
def roi_align(
    input: Array | Sequence[Array],
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
        input: Float maps, also called ``features``, or a list of levels, each smaller than the one before. [N, C, H, W]
        boxes: Sample index, then corners, in the library of the input; or one array per image. [K, 5], [[L, 4]]
            Rotated as in detectron2: index, centre, width, height, degrees counter-clockwise. [K, 6], [[L, 5]]
        output_size: Number of bins, (h, w) or one number for both.
        spatial_scale: Pixels of the map per unit of the boxes; for levels a list, one per level: ``canonical_size`` and
            ``canonical_level`` say which level a box is pooled from.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        aligned: Whether box coordinates start at the map's corner; otherwise at the centre of the first pixel.
        mode: "avg", or "max" of a bin's samples, as in mmcv. A sample more than a pixel outside the map is 0.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.
        canonical_size: Side of a square box that is pooled from the level ``canonical_level``.
        canonical_level: The level of scale ``2**-canonical_level``; a box with sides twice as long belongs to the next
            level. Boxes of a level that is missing are pooled from the one before it, or from the first if there is
            none.

    Returns:
        [K, C, h, w], in the layout and dtype of the input. torch's gradient of ``input`` is the same in every
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
    return pool(input, boxes, output_size, *options)


@prefix_errors
@second_names(features="input")
def roi_pool(
    input: Array,
    boxes: AnyArray | Sequence[AnyArray],
    output_size: Size,
    spatial_scale: float = 1.0,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Array:
    """The maximum pixel of each bin of regions; bins are rounded to whole pixels (Girshick 2015), as in torchvision.

    Args:
        input: Float maps, also called ``features``. [N, C, H, W]
        boxes: Sample index, then corners, in the library of the input; or one array per image. [K, 5], [[L, 4]]
        output_size: Number of bins, (h, w) or one number for both; a bin outside the map is 0.
        spatial_scale: Pixels of the map per unit of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    Returns:
        [K, C, h, w], in the layout and dtype of the input. The first of equal maxima gets the gradient; NaN is maximal.

    Raises:
        TypeError, ValueError: A dtype, a shape or a sample index is wrong.

    >>> import numpy as np
    >>> roi_pool(np.arange(64.0).reshape(1, 8, 8, 1), np.array([(0, 0, 2, 3, 5.0)]), 2)[..., 0]
    array([[[25., 27.],
            [41., 43.]]])
    """
    _require_one_map(input)
    # roi_align's parameters in its order, with its defaults: "pixel_max" uses only the layout.
    return pool(input, boxes, output_size, spatial_scale, -1, False, "pixel_max", layout, 224, 4)


@prefix_errors
def ps_roi_align(
    input: Array,
    boxes: AnyArray | Sequence[AnyArray],
    output_size: Size,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Array:
    """Pool position-sensitive maps: each bin has channels of its own (Dai et al. 2016; Li et al. 2017), as torchvision.

    The bins are those of :func:`roi_align` with ``aligned=True``. Gradients need ``h * w`` times the memory of the
    result, in addition.

    Args:
        input: Float maps. Channel ``(c * h + y) * w + x`` gives channel c of the bin (y, x). [N, C * h * w, H, W]
        boxes: Sample index, then corners, in the library of the input; or one array per image. [K, 5], [[L, 4]]
        output_size: Number of bins, (h, w) or one number for both.
        spatial_scale: Pixels of the map per unit of the boxes.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    Returns:
        [K, C, h, w], in the layout and dtype of the input. torch has a gradient of ``input``.

    Raises:
        TypeError, ValueError: As :func:`roi_align`; the number of channels is no multiple of ``h * w``.

    >>> import numpy as np
    >>> channels = np.ones((1, 8, 8, 8)) * np.arange(8)
    >>> ps_roi_align(channels, np.array([(0, 1, 1, 5, 5.0)]), 2)[0, ..., 1]
    array([[4., 5.],
           [6., 7.]])
    """
    _require_one_map(input)
    return pool(input, boxes, output_size, spatial_scale, sampling_ratio, True, "ps_avg", layout, 224, 4)


@prefix_errors
def ps_roi_pool(
    input: Array,
    boxes: AnyArray | Sequence[AnyArray],
    output_size: Size,
    spatial_scale: float = 1.0,
    layout: Literal["NCHW", "NHWC"] | None = None,
) -> Array:
    """Pool position-sensitive maps: the average pixel of each bin, whose channels are its own, as torchvision.

    Regions and bins are rounded to whole pixels. As in torchvision, they do not contain the pixels of their right and
    lower side, nor the map's last row and column (Dai et al. 2016). Gradients need ``h * w`` times the memory of the
    result, in addition.

    Args:
        input: Float maps. Channel ``(c * h + y) * w + x`` gives channel c of the bin (y, x). [N, C * h * w, H, W]
        boxes: Sample index, then corners, in the library of the input; or one array per image. [K, 5], [[L, 4]]
        output_size: Number of bins, (h, w) or one number for both; a bin without pixels is 0.
        spatial_scale: Pixels of the map per unit of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    Returns:
        [K, C, h, w], in the layout and dtype of the input. torch has a gradient of ``input``.

    Raises:
        TypeError, ValueError: As :func:`roi_align`; the number of channels is no multiple of ``h * w``.

    >>> import numpy as np
    >>> channels = np.ones((1, 8, 8, 8)) * np.arange(8)
    >>> ps_roi_pool(channels, np.array([(0, 1, 1, 5, 5.0)]), 2)[0, ..., 1]
    array([[4., 5.],
           [6., 7.]])
    """
    _require_one_map(input)
    return pool(input, boxes, output_size, spatial_scale, -1, False, "pixel_avg", layout, 224, 4)


def _require_one_map(features: Any) -> None:
    if isinstance(features, (list, tuple)):
        raise TypeError("input must be one array, got a list: roi_align takes the levels of a pyramid")
