"""A figure of images with boxes, masks and keypoints. Only this module imports matplotlib at run time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure

# Ten colours that colour-blind readers can tell apart (Tol's "muted"), for objects and for the labels of a mask.
_COLORS = np.array(
    [
        (204, 102, 119), (51, 34, 136), (221, 204, 119), (17, 119, 51), (136, 204, 238),
        (136, 34, 85), (68, 170, 153), (153, 153, 51), (170, 68, 153), (221, 221, 221),
    ],
    np.uint8,
)  # fmt: skip
_LUMA = (0.299, 0.587, 0.114)
_CELL_INCHES = 2.4
_TITLE_INCHES = 0.3
_POINT_AREA = 24  # of a keypoint's dot, in square points


class BoxLayer(NamedTuple):
    """Boxes. Their numbers select their colours; `captions` has one for each box, or none."""

    corners: npt.NDArray[Any]  # from the centre of the first pixel; those that are not finite are not drawn [P, 4, 2]
    numbers: npt.NDArray[Any] | None = None  # of the objects; default: 0 to P - 1 [P]
    captions: Sequence[str] = ()


class MaskLayer(NamedTuple):
    """Masks that are blended with the image. A mask's number plus the label selects the colour of a pixel."""

    stack: npt.NDArray[Any]  # labels; 0 is not drawn [P, H, W]
    numbers: npt.NDArray[Any] | None = None  # of the objects, if each mask shows one; default: 0 to P - 1 [P]


class PointLayer(NamedTuple):
    """Keypoints, with a colour for each object, or for each keypoint if there are no objects."""

    points: npt.NDArray[Any]  # (x, y) or (x, y, visibility) [K, 2|3] or [..., K, 2|3]
    numbers: npt.NDArray[Any] | None = None  # of the objects; default: 0 to P - 1 [P]


class Picture(NamedTuple):
    """One image and the layers drawn on it."""

    pixels: npt.NDArray[np.uint8]  # RGB [H, W, 3]
    title: str = ""
    boxes: Sequence[BoxLayer] = ()
    masks: Sequence[MaskLayer] = ()
    points: Sequence[PointLayer] = ()


def draw(pictures: Sequence[Picture], columns: int, function: str) -> Figure:
    """A figure with `columns` pictures in a row. `function`: the public function, for the message."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{function}: matplotlib is not installed: pip install matplotlib") from error
    rows = math.ceil(len(pictures) / columns)
    height, width = (max(picture.pixels.shape[axis] for picture in pictures) for axis in (0, 1))
    row_inches = _CELL_INCHES * height / width + (_TITLE_INCHES if any(picture.title for picture in pictures) else 0)
    size = (columns * _CELL_INCHES, rows * row_inches)
    figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=size, layout="constrained")
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, picture in zip(axes.flat, pictures, strict=False):
        _draw_picture(axis, picture)
    if "inline" in plt.get_backend():
        plt.close(figure)  # a notebook would draw it twice
    return figure


def _draw_picture(axis: Any, picture: Picture) -> None:
    pixels = picture.pixels
    for masks in picture.masks:
        pixels = _blend(pixels, masks)
    axis.imshow(pixels)
    axis.autoscale(False)  # keypoints outside of the image do not enlarge it
    axis.set_title(picture.title, fontsize=9, parse_math=False)  # a label may have dollars
    for boxes in picture.boxes:
        _draw_boxes(axis, boxes)
    for layer in picture.points:
        _draw_points(axis, layer)


def _blend(pixels: npt.NDArray[np.uint8], masks: MaskLayer) -> npt.NDArray[np.uint8]:
    """The image, blended half and half with the colour of each label."""
    for number, mask in zip(_object_numbers(masks.numbers, len(masks.stack)), masks.stack, strict=True):
        labels = np.nan_to_num(mask, posinf=0, neginf=0).astype(np.int64)
        colors = _COLORS[(labels - 1 + number) % len(_COLORS)]
        pixels = np.where(labels[..., None] == 0, pixels, pixels // 2 + colors // 2)
    return pixels


def _draw_boxes(axis: Any, boxes: BoxLayer) -> None:
    from matplotlib.patches import Polygon

    numbers = _object_numbers(boxes.numbers, len(boxes.corners))
    image_size = np.array(axis.images[0].get_size()[::-1])  # (x, y)
    for i in np.flatnonzero(np.isfinite(boxes.corners).all((-2, -1))).tolist():
        color = _COLORS[numbers[i] % len(_COLORS)] / 255
        axis.add_patch(Polygon(boxes.corners[i], fill=False, edgecolor=color, linewidth=1.5))
        if boxes.captions:
            ink = "black" if color @ _LUMA > 0.5 else "white"
            background = {"facecolor": color, "linewidth": 0, "pad": 1}
            caption = boxes.captions[i]
            # Farther outside a caption is not visible, and matplotlib cannot draw it.
            corner = np.clip(boxes.corners[i, 0], -image_size, 2 * image_size)
            axis.text(
                *corner, caption, color=ink, fontsize=7, va="top", bbox=background, clip_on=True, parse_math=False
            )


def _draw_points(axis: Any, layer: PointLayer) -> None:
    points = layer.points
    if not points.size:
        return
    count, columns = points.shape[-2:]
    objects = math.prod(points.shape[:-2])
    numbers = np.arange(count) if points.ndim == 2 else np.repeat(_object_numbers(layer.numbers, objects), count)
    points = points.reshape(-1, columns)
    visible = np.isfinite(points[:, :2]).all(-1)
    if columns == 3:
        visible &= points[:, 2] > 0
    x, y = points[visible, :2].T
    colors = _COLORS[numbers[visible] % len(_COLORS)] / 255
    axis.scatter(x, y, s=_POINT_AREA, c=colors, edgecolors="white", linewidths=0.8)


def _object_numbers(numbers: npt.NDArray[Any] | None, count: int) -> npt.NDArray[Any]:
    """The numbers, if there is one for each of `count` objects; else 0 to count - 1."""
    return np.arange(count) if numbers is None or len(numbers) != count else numbers
