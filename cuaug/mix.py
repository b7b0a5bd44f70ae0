"""Mixing: functions that combine two samples of a batch, and their labels."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _check
from ._arrays import convert
from ._arrays.convert import parameter_column
from ._arrays.images import ImageBatch, describe_images
from ._check import prefix_errors
from ._passes import mix, parameters
from ._passes.replay import replayed
from .typing import AnyArray, Array, Layout, NumPyArray, PerSample

__all__ = ["cutmix", "mix_labels", "mixup"]


@prefix_errors
@replayed
def mixup(
    images: Array,
    lam: PerSample,
    partner: PerSample | None = None,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Blend each sample with another: ``lam * in + (1 - lam) * in[partner]`` (Zhang et al. 2018).

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C]
        lam: The weight of the sample itself, 0 to 1; one number or one per sample. [N]
        partner: Index of the other sample; default: the previous sample, as in torchvision, and for sample 0 the last.
            [N]
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype, in other memory than ``images``.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``; :func:`mix_labels` mixes labels.

    Raises:
        ValueError: A host ``lam`` or ``partner`` is out of range, or not one per sample.
        TypeError: A dtype, a library or a device is not supported.

    >>> import numpy as np
    >>> mixup(np.array([[[[0]]], [[[100]]]], np.uint8), lam=[0.75, 0.5]).ravel()
    array([25, 50], dtype=uint8)
    """
    batch = describe_images(images, layout)
    columns = [_partner(partner, batch), parameters.checked_column("lam", lam, 0, 1)]
    return mix.mix(batch, "Mixup", parameters.per_sample_columns("partner and lam", columns, batch), out)


@prefix_errors
@replayed
def cutmix(
    images: Array,
    top: PerSample,
    left: PerSample,
    height: PerSample,
    width: PerSample,
    partner: PerSample | None = None,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Paste a box of another sample at the same position (Yun et al. 2019).

    Args:
        top: First row of the box, in pixels; it may lie outside the image. [N]
        left: First column. [N]
        height: Height of the box; 0 leaves the sample as it is. [N]
        width: Width of the box; 0 leaves the sample as it is. [N]

    All other arguments, the result and the errors are those of :func:`mixup`. For labels, ``lam`` is one minus the
    fraction of the image that the box covers.

    >>> import numpy as np
    >>> cutmix(np.array([[[[1], [2]]], [[[3], [4]]]], np.uint8), 0, 1, 1, 1).reshape(2, 2)
    array([[1, 4],
           [3, 2]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    box = zip(("top", "left", "height", "width"), (top, left, height, width), strict=True)
    columns = [_partner(partner, batch), *(parameter_column(name, value) for name, value in box)]
    table = parameters.per_sample_columns("partner, top, left, height and width", columns, batch)
    return mix.mix(batch, "Cutmix", table, out)


@overload
def mix_labels(
    labels: NumPyArray, lam: PerSample, partner: PerSample | None = None, num_classes: int | None = None
) -> npt.NDArray[np.float32]: ...
@overload
def mix_labels(
    labels: Array, lam: PerSample, partner: PerSample | None = None, num_classes: int | None = None
) -> Array: ...
@prefix_errors
def mix_labels(labels: Any, lam: PerSample, partner: PerSample | None = None, num_classes: int | None = None) -> Any:
    """Mix labels as ``mixup`` mixes images: ``lam * labels + (1 - lam) * labels[partner]``, float32.

    Args:
        labels: Class indices, 0 to ``num_classes - 1``, or class weights. A sample without a label has weights of 0.
            [N] or [N, classes]
        lam: The weight of the sample itself, 0 to 1; one number or one per sample. [N]
        partner: As in :func:`mixup`. [N]
        num_classes: Required if ``labels`` are class indices.

    Returns:
        Class weights, in the library and on the device of ``labels``. Class indices on a GPU are not checked; the rows
        of a sample whose index is out of range, and of the samples whose partner it is, are NaN. [N, classes]

    Raises:
        ValueError: ``num_classes`` is missing, a host class index is out of range, or a shape does not fit.

    >>> import numpy as np
    >>> mix_labels(np.array([0, 1]), lam=0.75, num_classes=2)
    array([[0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    xp = convert.namespace(labels)
    if not hasattr(labels, "ndim"):
        raise TypeError(f"labels must be an array, got {type(labels).__name__}")
    if labels.ndim == 1:
        if num_classes is None:
            raise ValueError("num_classes must be an int if labels are class indices, got None")
        weights = _class_weights(labels, _check.class_count(num_classes))
    elif labels.ndim == 2:
        weights = convert.asarray(labels, like=labels, dtype="float32")
    else:
        raise ValueError(f"labels must have shape (N,) or (N, classes), got {tuple(labels.shape)}")
    count = weights.shape[0]
    share = convert.asarray(parameters.checked_column("lam", lam, 0, 1), like=labels, dtype="float32").reshape(-1, 1)
    _check.one_or_per_sample("lam", share.shape[0], count)
    if partner is None or not count:
        return share * weights + (1 - share) * xp.roll(weights, 1, 0)
    index = convert.asarray(
        parameters.checked_numbers("partner", partner, count - 1), like=labels, dtype="float64"
    ).reshape(-1)
    _check.one_or_per_sample("partner", index.shape[0], count)
    # As `partner_of` in kernels/records/pointwise.cuh: a negative index is the previous sample, an index beyond the
    # batch the sample itself. Device values are not checked, and an index out of range would trigger a device assert,
    # after which torch's CUDA context is unusable.
    sample_index = convert.asarray(np.arange(count), like=labels, dtype="int64")
    is_in_batch = (index >= 0) & (index < count)
    in_batch_index = convert.asarray(xp.where(is_in_batch, index, xp.zeros_like(index)), like=labels, dtype="int64")
    previous = (sample_index + count - 1) % count
    partners = xp.where(index < 0, previous, xp.where(index < count, in_batch_index, sample_index))
    return share * weights + (1 - share) * weights[partners]


def _class_weights(labels: Any, class_count: int) -> Any:
    """1 for the class of each sample, 0 for the other classes. [N, class_count]"""
    is_label = labels[:, None] == convert.asarray(np.arange(class_count), like=labels, dtype="int64")[None]
    weights = convert.asarray(is_label, like=labels, dtype="float32")
    if not convert.is_host(labels):
        return weights / weights.sum(1)[:, None]  # 0 / 0 is NaN: an index out of range is seen without reading it
    _check.class_indices("labels", labels, convert.host_array("labels", is_label, None))
    return weights


def _partner(partner: Any, batch: ImageBatch) -> Any:
    """The partner's index as a column; -1 is the previous sample."""
    if partner is None:
        return -1.0
    return parameters.checked_numbers("partner", partner, max(batch.samples - 1, 0))
