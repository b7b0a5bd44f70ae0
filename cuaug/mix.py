"""Mixing: every function that makes a sample out of two of the batch, and the labels that go with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _check
from ._arrays import convert
from ._arrays.convert import parameter_column
from ._arrays.images import ImageBatch
from ._arrays.images import describe_images as describe
from ._check import prefix_errors
from ._passes import mix, parameters

__all__ = ["cutmix", "mix_labels", "mixup"]


@prefix_errors("cuaug")
def mixup(images: Any, lam: Any, partner: Any = None, *, layout: str | None = None, out: Any = None) -> Any:
    """Blend each sample with another: ``lam * in + (1 - lam) * in[partner]`` (Zhang et al. 2018).

    Args:
        images: torch, cupy, numpy or jax, of an image dtype. [N, C, H, W], [N, H, W, C]
        lam: The sample's own share, 0 to 1; one number or one per sample. [N]
        partner: Which sample to mix with; default: the one before it, as torchvision, and for the first the last. [N]
        layout: Names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        out: The array to write, in the result's shape and dtype.

    Returns:
        A new array of the same library, device, dtype, shape and layout, or ``out``. For labels: :func:`mix_labels`.

    Raises:
        ValueError: A host ``lam`` or ``partner`` is out of range, or not one per sample.
        TypeError: A dtype, a library or a device that is not supported.

    >>> import numpy as np
    >>> mixup(np.array([[[[0]]], [[[100]]]], np.uint8), lam=[0.75, 0.5]).ravel()
    array([25, 50], dtype=uint8)
    """
    image = describe(images, layout)
    columns = [_partner(partner, image), parameters.checked_column("lam", lam, 0, 1)]
    return mix.mix(image, "Mixup", parameters.per_sample_columns("partner and lam", columns, image), out)


@prefix_errors("cuaug")
def cutmix(
    images: Any,
    top: Any,
    left: Any,
    height: Any,
    width: Any,
    partner: Any = None,
    *,
    layout: str | None = None,
    out: Any = None,
) -> Any:
    """Paste a box of another sample, at its own place (Yun et al. 2019).

    Args:
        top: Of the box, in pixels; it may lie outside. [N]
        left: Likewise. [N]
        height: 0 leaves the sample as it is. [N]
        width: Likewise. [N]

    All other arguments, the result and the errors are those of :func:`mixup`. A sample's own share, for its labels, is
    one less the box's share of the image.

    >>> import numpy as np
    >>> cutmix(np.array([[[[1], [2]]], [[[3], [4]]]], np.uint8), 0, 1, 1, 1).reshape(2, 2)
    array([[1, 4],
           [3, 2]], dtype=uint8)
    """
    image = describe(images, layout)
    sides = zip(("top", "left", "height", "width"), (top, left, height, width), strict=True)
    columns = [_partner(partner, image), *(parameter_column(name, side) for name, side in sides)]
    return mix.mix(image, "Cutmix", parameters.per_sample_columns("partner and box", columns, image), out)


@prefix_errors("cuaug")
def mix_labels(labels: Any, lam: Any, partner: Any = None, num_classes: int | None = None) -> Any:
    """Labels to go with mixed images: ``lam * labels + (1 - lam) * labels[partner]``, float32.

    Args:
        labels: Classes, or shares of them. [N] or [N, classes]
        lam: Each sample's own share, 0 to 1; one number or one per sample. [N]
        partner: As in :func:`mixup`. [N]
        num_classes: Needed where ``labels`` are classes.

    Returns:
        Shares of classes, in the library and on the device of ``labels``. [N, classes]

    Raises:
        ValueError: ``num_classes`` is missing, or shapes do not fit.

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
            raise ValueError("num_classes must be given where labels are classes")
        count = _check.integer("num_classes", num_classes, 1)
        labels = labels[:, None] == convert.asarray(np.arange(count), like=labels, dtype="int64")[None]
    elif labels.ndim != 2:
        raise ValueError(f"labels must have shape (N,) or (N, classes), got {tuple(labels.shape)}")
    shares = convert.asarray(labels, like=labels, dtype="float32")
    count = shares.shape[0]
    own = convert.asarray(parameters.checked_column("lam", lam, 0, 1), like=labels, dtype="float32").reshape(-1, 1)
    _check.one_or_per_sample("lam", own.shape[0], count)
    if partner is None or not count:
        return own * shares + (1 - own) * xp.roll(shares, 1, 0)
    index = convert.asarray(
        parameters.checked_column("partner", partner, 0, count - 1), like=labels, dtype="float64"
    ).reshape(-1)
    _check.one_or_per_sample("partner", index.shape[0], count)
    # As `partner_of` in kernels/records/pointwise.cuh: device values are not read, and torch's CUDA context would not
    # survive an index beyond the batch.
    this = convert.asarray(np.arange(count), like=labels, dtype="int64")
    whole = convert.asarray(xp.where((index >= 0) & (index < count), index, 0.0 * this), like=labels, dtype="int64")
    chosen = xp.where(index < 0, (this + count - 1) % count, xp.where(index < count, whole, this))
    return own * shares + (1 - own) * shares[chosen]


def _partner(partner: Any, image: ImageBatch) -> Any:
    """As a column; -1 stands for the sample before."""
    if partner is None:
        return -1.0
    return parameters.checked_column("partner", partner, 0, image.samples - 1)
