"""Display of a batch: one picture as an array, or a figure with boxes, masks and titles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _check
from ._arrays.convert import host_array, host_values
from ._arrays.images import describe_images
from ._detection.box_formats import stated_format
from ._detection.box_shapes import BoxShape, box_shape
from ._figure import BoxLayer, MaskLayer, Picture, PointLayer, draw
from ._value_text import value_text
from .typing import Numbers

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

__all__ = ["grid", "show"]


@_check.prefix_errors
def grid(
    images: Any,
    ncols: int | None = None,
    pad: int = 2,
    fill: int = 255,
    *,
    mean: Numbers = 0.0,
    std: Numbers = 1.0,
    layout: str | None = None,
) -> npt.NDArray[np.uint8]:
    """Put the images of a batch side by side into one picture. A device batch is copied to the host.

    Integers are shown in the range 0..max of their dtype, floats in 0..1, clipped. One channel is grey, three are RGB,
    four are RGB and opacity over ``fill``. With two channels the first is shown, with more than four the first three.

    Args:
        images: A batch, or a list of images or batches that may differ in size. [N, C, H, W] or [N, H, W, C]
        ncols: Images in a row; default: the square root of their number, rounded up; for video the frames of a sample.
        pad: Pixels between images.
        fill: Grey level 0..255 between images, and around images that are smaller than the largest.
        mean: The mean of the normalization to undo; one number or one per channel.
        std: Its standard deviation; one number or one per channel.
        layout: The axes, as in :func:`warp_affine`.

    Returns:
        The picture, uint8 RGB. [H, W, 3]

    Raises:
        ValueError: There is no image; ``ncols`` or ``pad`` is too small; ``mean`` or ``std`` does not fit the images.

    Example:
        >>> import numpy as np
        >>> grid(np.zeros((5, 8, 6, 3), np.uint8), ncols=3, pad=1).shape  # 2 rows, 3 columns
        (17, 20, 3)
    """
    pad, fill = _check.integer("pad", pad, 0), _check.integer("fill", fill, 0, 255)
    cells, columns = _cells(images, ncols, layout, fill, mean, std)
    height, width = (max(cell.shape[axis] for cell in cells) for axis in (0, 1))
    rows = math.ceil(len(cells) / columns)
    picture = np.full((rows * (height + pad) - pad, columns * (width + pad) - pad, 3), fill, np.uint8)
    for index, cell in enumerate(cells):
        top = index // columns * (height + pad) + (height - cell.shape[0]) // 2
        left = index % columns * (width + pad) + (width - cell.shape[1]) // 2
        picture[top : top + cell.shape[0], left : left + cell.shape[1]] = cell
    return picture


@_check.prefix_errors
def show(
    images: Any,
    boxes: Any = None,
    masks: Any = None,
    titles: Sequence[Any] | None = None,
    ncols: int | None = None,
    *,
    keypoints: Any = None,
    mean: Numbers = 0.0,
    std: Numbers = 1.0,
    layout: str | None = None,
) -> Figure:
    """Draw the images of a batch with boxes, masks, keypoints and titles, as a figure. Needs matplotlib.

    The range of values and the channels are those of ``grid``. In a notebook the figure is the value of the cell; in a
    script, ``matplotlib.pyplot.show()`` opens it.

    Args:
        images: A batch, or a list of images or batches that may differ in size. [N, C, H, W] or [N, H, W, C]
        boxes: Edges (x1, y1, x2, y2) in pixels, as in :func:`transform_boxes`; only finite rows are drawn. For
            torchvision's ``BoundingBoxes``, their own format is used. [N, P, 4]
        masks: Labels, 0 for background; or a mask of each object. [N, H, W] or [N, P, H, W]
        titles: One per image. [N]
        ncols: Images in a row.
        keypoints: (x, y) in pixels, with the centre of the first pixel at 0, or (x, y, visibility). NaN and visibility
            0 are not drawn. [N, K, 2 or 3] or [N, P, K, 2 or 3]
        mean: The mean of the normalization to undo; one number or one per channel.
        std: Its standard deviation; one number or one per channel.
        layout: The axes, as in :func:`warp_affine`.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: There is no image; or another argument does not have one entry per image, or has a wrong shape.
    """
    cells, columns = _cells(images, ncols, layout, 255, mean, std)
    arguments = {"boxes": boxes, "masks": masks, "titles": titles, "keypoints": keypoints}
    for name, values in arguments.items():
        if values is not None and (isinstance(values, (str, dict, set)) or not hasattr(values, "__len__")):
            raise TypeError(f"{name} must be an array or a list, with one entry per image, got {type(values).__name__}")
        if values is not None and len(values) != len(cells):
            raise ValueError(f"{name} must have one entry per image, {len(cells)}, got {len(values)}")
    pictures = []
    for index, cell in enumerate(cells):
        sample_boxes, mask, points = (
            None if arguments[name] is None else host_values(name, arguments[name][index])
            for name in ("boxes", "masks", "keypoints")
        )
        format = None if boxes is None else stated_format(boxes) or stated_format(boxes[index])
        shape = box_shape(format or "XYXY")
        _check_shapes(sample_boxes, shape.columns, mask, points, cell.shape[:2])
        pictures.append(
            Picture(
                cell,
                "" if titles is None else str(titles[index]),
                [] if sample_boxes is None else [BoxLayer(_box_corners(sample_boxes, shape))],
                [] if mask is None else [MaskLayer(mask if mask.ndim == 3 else mask[None])],
                [] if points is None else [PointLayer(points)],
            )
        )
    return draw(pictures, columns, "cuaug.show")


def _cells(
    images: Any, ncols: int | None, layout: str | None, fill: int, mean: Any, std: Any
) -> tuple[list[npt.NDArray[np.uint8]], int]:
    """Every frame of every image as uint8 RGB [H, W, 3], and the number of columns."""
    arrays = images if isinstance(images, (list, tuple)) else [images]
    batches = [_undo_normalize(_frames(batch, layout), mean, std) for batch in arrays]
    cells = [rgb(frame, fill) for batch in batches for sample in batch for frame in sample]
    if not cells:
        raise ValueError("images must hold at least one image, got none")
    frames = batches[0].shape[1]
    square_columns = math.ceil(math.sqrt(len(cells)))
    columns = _check.integer("ncols", (frames if frames > 1 else square_columns) if ncols is None else ncols, 1)
    return cells, min(columns, len(cells))


def _frames(images: Any, layout: str | None) -> npt.NDArray[Any]:
    """A batch on the host. [N, T, C, H, W]"""
    axes = describe_images(images, layout).axes.layout
    values = host_values("images", images).transpose([axes.index(axis) for axis in "NTCHW" if axis in axes])
    return np.expand_dims(values, [i for i, axis in enumerate("NTCHW") if axis not in axes])


def _undo_normalize(images: npt.NDArray[Any], mean: Any, std: Any) -> npt.NDArray[Any]:
    """Images as they were before `normalize`. [N, T, C, H, W]"""
    means, deviations = host_array("mean", mean), host_array("std", std)
    channels = images.shape[2]
    for name, value, values in (("mean", mean, means), ("std", std, deviations)):
        if values.ndim > 1 or values.size not in (1, channels):
            raise ValueError(f"{name} must be a number or one per channel, {channels}, got {value_text(value)}")
    if not means.any() and (deviations == 1).all():
        return images
    if images.dtype.kind in "iub":
        raise ValueError(f"mean and std must be left out for {images.dtype} images, which are not normalized")
    return denormalized(images, means, deviations)


def denormalized(images: npt.NDArray[Any], mean: Any, std: Any) -> npt.NDArray[np.float32]:
    """Normalized images in their range before normalization. [..., C, H, W]"""
    mean, std = (np.reshape(values, (-1, 1, 1)) for values in (mean, std))
    return (images * std + mean).astype(np.float32)


def rgb(frame: npt.NDArray[Any], fill: int) -> npt.NDArray[np.uint8]:
    """One image of any dtype and number of channels as uint8 RGB. [C, H, W] -> [H, W, 3]"""
    if frame.dtype.kind == "f":
        values = np.clip(np.nan_to_num(frame), 0, 1).astype(np.float32)
    else:
        max_value = np.iinfo(frame.dtype).max if frame.dtype.kind in "iu" else 1
        values = np.clip(frame.astype(np.float32) / np.float32(max_value), 0, 1)
    channels = len(values)
    if channels == 4:
        values = values[:3] * values[3] + (1 - values[3]) * np.float32(fill / 255)
    values = values[[0, 0, 0]] if channels < 3 else values[:3]
    return np.rint(np.moveaxis(values, 0, -1) * 255).astype(np.uint8)


def _check_shapes(boxes: Any, columns: int, mask: Any, points: Any, size: tuple[int, ...]) -> None:
    """Checks the targets of one image of this size; None: not passed. `columns`: how many numbers a box has."""
    height, width = size
    rules = []
    if boxes is not None and boxes.size:
        rules.append(("boxes", boxes, f"[P, {columns}]", boxes.ndim == 2 and boxes.shape[1] == columns))
    if mask is not None:
        is_mask = mask.ndim in (2, 3) and mask.shape[-2:] == size
        rules.append(("masks", mask, f"[{height}, {width}] or [P, {height}, {width}]", is_mask))
    if points is not None and points.size:
        are_points = points.ndim >= 2 and points.shape[-1] in (2, 3)
        rules.append(("keypoints", points, "[K, 2|3] or [P, K, 2|3]", are_points))
    for name, array, rule, fits in rules:
        if not fits:
            raise ValueError(f"{name} must be {rule} for each image, got shape {array.shape}")


def _box_corners(boxes: np.ndarray, shape: BoxShape) -> np.ndarray:
    """[P, columns], or no boxes in any shape, to [P, 4, 2]"""
    rows = shape.rows(boxes.reshape(-1, shape.columns).astype(np.float64))
    corners: np.ndarray = shape.corners(rows).reshape(-1, 4, 2)
    return corners
