"""Sizes, numbers of channels and frames, and the selection of frames."""

from __future__ import annotations

from typing import Any

from ... import _check
from ..._arrays.images import describe_images
from ..._arrays.registry import library_of
from ..._arrays.tv_tensors import is_video, tv_kind, without_type, wrap_like
from ..._check import prefix_errors
from ...typing import AnyArray, Array, Layout, PillowImage
from .dispatch import require_images, take

__all__ = [
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "get_num_channels",
    "get_num_frames",
    "get_size",
    "uniform_temporal_subsample",
]


@prefix_errors
def get_size(inpt: AnyArray | PillowImage, *, layout: Layout | None = None) -> list[int]:
    """[H, W] of images and masks, or of the canvas of boxes and keypoints.

    Args:
        inpt: Images, or torchvision's ``Image``, ``Video``, ``Mask``, ``BoundingBoxes`` or ``KeyPoints``.
        layout: The axes of images; default: channels-first for torch, else channels-last.

    >>> import numpy as np
    >>> get_size(np.zeros((4, 6, 3)))
    [4, 6]
    """
    return size_of(inpt, layout)


@prefix_errors
def get_dimensions(inpt: AnyArray | PillowImage, *, layout: Layout | None = None) -> list[int]:
    """[C, H, W] of images.

    Args:
        inpt: Images, or torchvision's ``Image`` or ``Video``.
        layout: As in :func:`get_size`.

    >>> import numpy as np
    >>> get_dimensions(np.zeros((4, 6, 3)))
    [3, 4, 6]
    """
    require_images(inpt)
    return _dimensions(inpt, layout)


@prefix_errors
def get_num_channels(inpt: AnyArray | PillowImage, *, layout: Layout | None = None) -> int:
    """The number of channels of images; ``get_image_num_channels`` is the same function.

    All arguments are those of :func:`get_dimensions`.

    >>> import numpy as np
    >>> get_num_channels(np.zeros((4, 6, 3)))
    3
    >>> get_image_num_channels is get_num_channels
    True
    """
    require_images(inpt)
    return _dimensions(inpt, layout)[0]


get_image_num_channels = get_num_channels


@prefix_errors
def get_image_size(inpt: AnyArray | PillowImage, *, layout: Layout | None = None) -> list[int]:
    """[W, H] of images, in the order of Pillow; :func:`get_size` has the order of torchvision v2.

    All arguments are those of :func:`get_size`.

    >>> import numpy as np
    >>> get_image_size(np.zeros((4, 6, 3)))
    [6, 4]
    """
    return size_of(inpt, layout)[::-1]


@prefix_errors
def get_num_frames(inpt: AnyArray) -> int:
    """The number of frames of a video.

    Args:
        inpt: ``Video``, or an array of any library. [..., T, C, H, W] or [..., T, H, W, C]

    >>> import numpy as np
    >>> get_num_frames(np.zeros((7, 4, 6, 3)))
    7
    """
    return int(_video_shape(inpt)[-4])


@prefix_errors
def uniform_temporal_subsample(inpt: Array, num_samples: int) -> Array:
    """Frames at equal distances, from the first to the last; frames repeat if there are too few.

    Args:
        inpt: ``Video``, or an array of any library. [..., T, C, H, W] or [..., T, H, W, C]
        num_samples: The number of frames S. Frame k is ``floor(k * (T - 1) / (S - 1))``; for S = 1 the first frame.

    Returns:
        The frames, in the type of ``inpt``.

    Raises:
        ValueError: The shape has fewer than four axes, or there is no frame.
        TypeError: ``inpt`` is another tv_tensor.

    >>> import numpy as np
    >>> uniform_temporal_subsample(np.arange(7).reshape(7, 1, 1, 1), 3).ravel()
    array([0, 3, 6])
    """
    shape = _video_shape(inpt)
    frames, samples = shape[-4], _check.integer("num_samples", num_samples, 1)
    if frames == 0:
        raise ValueError(f"inpt must have a frame, got shape {shape}")
    indices = [k * (frames - 1) // max(samples - 1, 1) for k in range(samples)]
    return wrap_like(take(without_type(inpt), indices, len(shape) - 4), inpt)


def _video_shape(inpt: Any) -> tuple[int, ...]:
    if tv_kind(inpt) is not None and not is_video(inpt):
        raise TypeError(f"inpt must be a video, got {type(inpt).__name__}")
    shape = tuple(getattr(inpt, "shape", ()))
    if len(shape) < 4:
        raise ValueError(f"inpt must be a video with at least four axes, such as [T, C, H, W], got shape {shape}")
    return shape


def size_of(inpt: Any, layout: Layout | None) -> list[int]:
    """As `get_size`, for other public functions: their names begin the messages of its errors."""
    if tv_kind(inpt) in ("boxes", "keypoints"):
        return [int(side) for side in inpt.canvas_size]
    if tv_kind(inpt) == "masks":
        return [int(side) for side in tuple(getattr(inpt, "shape", ()))[-2:]]
    return _dimensions(inpt, layout)[1:]


def _dimensions(inpt: Any, layout: Layout | None) -> list[int]:
    """[C, H, W]"""
    library, shape = library_of(type(inpt)), tuple(getattr(inpt, "shape", ()))
    if layout is None and library is not None and library.channels_first and len(shape) >= 2:
        return [int(extent) for extent in (1, *shape)[-3:]]
    batch = describe_images(inpt, layout)
    return [batch.channels, *batch.size]
