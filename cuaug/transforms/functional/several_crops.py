"""Five and ten crops of one size, for predictions that are averaged over them."""

from __future__ import annotations

from ... import _check, _sizes
from ..._check import prefix_errors
from ...typing import Array, Layout, Size
from . import crops
from .dispatch import require_images
from .shapes import size_of

__all__ = ["five_crop", "ten_crop"]


@prefix_errors
def five_crop(inpt: Array, size: Size, *, layout: Layout | None = None) -> tuple[Array, Array, Array, Array, Array]:
    """Crop the four corners and the middle.

    Args:
        inpt: Images, or torchvision's ``Image`` or ``Video``, as in :func:`center_crop`.
        size: (H, W) of a crop, or one number for both.
        layout: The axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.

    Returns:
        The crops at the top left, top right, bottom left, bottom right, and in the middle.

    Raises:
        ValueError: The crops are larger than the images.
        TypeError: ``inpt`` is a ``Mask``, ``BoundingBoxes`` or ``KeyPoints``.

    >>> import numpy as np
    >>> [crop.item() for crop in five_crop(np.arange(9).reshape(3, 3), 1)]
    [0, 2, 6, 8, 4]
    """
    return _five_crops(inpt, size, layout)


@prefix_errors
def ten_crop(
    inpt: Array, size: Size, vertical_flip: bool = False, *, layout: Layout | None = None
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]:
    """The crops of :func:`five_crop`, and those of the mirrored images.

    Args:
        vertical_flip: Mirror top and bottom instead of left and right.

    All other arguments and the errors are those of :func:`five_crop`.

    >>> import numpy as np
    >>> [crop.item() for crop in ten_crop(np.arange(9).reshape(3, 3), 1)]
    [0, 2, 6, 8, 4, 2, 0, 8, 6, 4]
    """
    flip = crops.vertical_flip if _check.boolean("vertical_flip", vertical_flip) else crops.horizontal_flip
    crops_of_images = _five_crops(inpt, size, layout)
    return (*crops_of_images, *_five_crops(flip(inpt, layout=layout), size, layout))


def _five_crops(inpt: Array, size: Size, layout: Layout | None) -> tuple[Array, Array, Array, Array, Array]:
    require_images(inpt)
    height, width = _sizes.square_or_size("size", size)
    image_height, image_width = size_of(inpt, layout)
    if height > image_height or width > image_width:
        raise ValueError(f"size must be at most {(image_height, image_width)}, got {(height, width)}")
    bottom, right = image_height - height, image_width - width
    top_left, top_right, bottom_left, bottom_right = (
        crops.crop(inpt, top, left, height, width, layout=layout) for top in (0, bottom) for left in (0, right)
    )
    return (
        top_left,
        top_right,
        bottom_left,
        bottom_right,
        crops.center_crop(inpt, (height, width), layout=layout),
    )
