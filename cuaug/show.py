"""Display of a batch: one picture as an array, or a figure with boxes, masks and titles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _check
from ._arrays.convert import host_values
from ._arrays.images import describe_images

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

__all__ = ["grid", "show"]

# Ten colours that colour-blind readers can tell apart (Tol's "muted"), for boxes and for the labels of a mask.
_COLORS = np.array(
    [
        (204, 102, 119), (51, 34, 136), (221, 204, 119), (17, 119, 51), (136, 204, 238),
        (136, 34, 85), (68, 170, 153), (153, 153, 51), (170, 68, 153), (221, 221, 221),
    ],
    np.uint8,
)  # fmt: skip
_CELL_INCHES = 2.4


@_check.prefix_errors
def grid(
    images: Any, ncols: int | None = None, pad: int = 2, fill: int = 255, *, layout: str | None = None
) -> npt.NDArray[np.uint8]:
    """Put the images of a batch side by side into one picture. A device batch is copied to the host.

    Integers are shown in the range 0..max of their dtype, floats in 0..1, clipped. One channel is grey, three are RGB,
    four are RGB and opacity over ``fill``. With two channels the first is shown, with more than four the first three.

    Args:
        images: A batch, or a list of images or batches that may differ in size. [N, C, H, W] or [N, H, W, C]
        ncols: Images in a row; default: as many as rows, for video the frames of a sample.
        pad: Pixels between images.
        fill: Grey level 0..255 between images, and around images that are smaller than the largest.
        layout: The axes, as in :func:`warp_affine`.

    Returns:
        The picture, uint8 RGB. [H, W, 3]

    Raises:
        ValueError: There is no image, or ``ncols`` or ``pad`` is too small.

    Example:
        >>> import numpy as np
        >>> grid(np.zeros((5, 8, 6, 3), np.uint8), ncols=3, pad=1).shape  # 2 rows, 3 columns
        (17, 20, 3)
    """
    pad = _check.integer("pad", pad, 0)
    cells, columns = _cells(images, ncols, layout, fill)
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
    layout: str | None = None,
) -> Figure:
    """Draw the images of a batch with boxes, label masks and titles, as a figure. Needs matplotlib.

    The range of values and the channels are those of ``grid``.

    In a notebook the figure is the value of the cell; in a script, ``matplotlib.pyplot.show()`` opens it.

    Args:
        images: A batch, or a list of images or batches that may differ in size. [N, C, H, W] or [N, H, W, C]
        boxes: Edges (x1, y1, x2, y2) in pixels, as in :func:`transform_boxes`; NaN rows are not drawn. [N, P, 4]
        masks: Labels, 0 for background; one mask per image. [N, H, W]
        titles: One per image. [N]
        ncols: Images in a row.
        layout: The axes, as in :func:`warp_affine`.

    Returns:
        The figure.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: There is no image, or there is not one mask, title or set of boxes per image.
    """
    try:
        import matplotlib.pyplot as plt
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise ImportError("cuaug.show: matplotlib is not installed: pip install matplotlib") from error
    cells, columns = _cells(images, ncols, layout, 255)
    for name, values in (("boxes", boxes), ("masks", masks), ("titles", titles)):
        if values is not None and len(values) != len(cells):
            raise ValueError(f"{name} must have one entry per image, {len(cells)}, got {len(values)}")
    rows = math.ceil(len(cells) / columns)
    height, width = (max(cell.shape[axis] for cell in cells) for axis in (0, 1))
    size = (columns * _CELL_INCHES, rows * (_CELL_INCHES * height / width + (0.3 if titles is not None else 0)))
    figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=size, layout="constrained")
    for axis in axes.flat:
        axis.set_axis_off()
    for index, (axis, cell) in enumerate(zip(axes.flat, cells, strict=False)):
        axis.imshow(cell if masks is None else _overlay(cell, host_values("masks", masks[index])))
        if titles is not None:
            axis.set_title(str(titles[index]), fontsize=9)
        for box_index, (left, top, right, bottom) in enumerate(
            [] if boxes is None else host_values("boxes", boxes[index])
        ):
            color = _COLORS[box_index % len(_COLORS)] / 255
            corner = (left - 0.5, top - 0.5)  # boxes start at the image's corner, the axes at a pixel's centre
            axis.add_patch(Rectangle(corner, right - left, bottom - top, fill=False, edgecolor=color, linewidth=1.5))
    if "inline" in plt.get_backend():
        plt.close(figure)  # a notebook would draw it twice
    return figure


def _cells(images: Any, ncols: int | None, layout: str | None, fill: int) -> tuple[list[npt.NDArray[np.uint8]], int]:
    """Every frame of every image as uint8 RGB [H, W, 3], and the number of columns."""
    batches = [_frames(batch, layout) for batch in (images if isinstance(images, (list, tuple)) else [images])]
    cells = [_rgb(frame, fill) for batch in batches for sample in batch for frame in sample]
    if not cells:
        raise ValueError("images must hold at least one image")
    frames = batches[0].shape[1]
    square_columns = math.ceil(math.sqrt(len(cells)))
    columns = _check.integer("ncols", (frames if frames > 1 else square_columns) if ncols is None else ncols, 1)
    return cells, min(columns, len(cells))


def _frames(images: Any, layout: str | None) -> npt.NDArray[Any]:
    """A batch on the host. [N, T, C, H, W]"""
    axes = describe_images(images, layout).axes.layout
    values = host_values("images", images).transpose([axes.index(axis) for axis in "NTCHW" if axis in axes])
    return np.expand_dims(values, [i for i, axis in enumerate("NTCHW") if axis not in axes])


def _rgb(frame: npt.NDArray[Any], fill: int) -> npt.NDArray[np.uint8]:
    """One image of any dtype and number of channels as uint8 RGB. [C, H, W] -> [H, W, 3]"""
    values = frame.astype(np.float32)
    if frame.dtype.kind in "iu":
        values /= np.iinfo(frame.dtype).max
    values = np.clip(np.nan_to_num(values), 0, 1)
    channels = len(values)
    if channels == 4:
        values = values[:3] * values[3] + (1 - values[3]) * np.float32(fill / 255)
    values = values[[0, 0, 0]] if channels < 3 else values[:3]
    return np.rint(np.moveaxis(values, 0, -1) * 255).astype(np.uint8)


def _overlay(cell: npt.NDArray[np.uint8], labels: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The image, blended half and half with the colour of each label."""
    labels = labels.astype(np.int64)
    colors = _COLORS[(labels - 1) % len(_COLORS)]
    return np.where(labels[..., None] == 0, cell, cell // 2 + colors // 2)
