"""The two shapes of boxes, upright and rotated: read from their formats, moved, clipped to a canvas, and measured.

Coordinates are counted from the image's corner.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._arrays.convert import namespace
from .._matrices.formulas import map_each_point
from . import rotated_boxes
from .box_formats import FORMATS, ROTATED_FORMATS, convert_rotated, from_edges, to_edges
from .rotated_boxes import Edges


class BoxShape(Protocol):
    """Boxes of one format. `rows` are the boxes converted to `row_format`, in which they are moved and clipped."""

    columns: int  # numbers of a box in its format
    row_format: str  # the format of the rows
    is_rounded_before_clipping: bool  # for integer boxes: whether their rows are rounded before they are clipped

    def rows(self, boxes: Any) -> Any:
        """Boxes in their format to rows."""

    def boxes(self, rows: Any) -> Any:
        """Rows to boxes in their format."""

    def corners(self, rows: Any) -> Any:
        """The four corners. The origin is the centre of the first pixel, as for matrices. [..., 4 B, 2]"""

    def enclose(self, corners: Any) -> Any:
        """The tight boxes around moved corners. [..., 4 B, 2] to rows"""

    def move_affine(self, rows: np.ndarray, M: np.ndarray) -> np.ndarray:
        """The tight boxes around corners moved by affine matrices. M: [..., 2, 3]"""

    def scale_and_shift(self, rows: Any, scale: Any, shift: Any) -> Any:
        """Rows times a positive scale plus a shift. [..., 2] for x and y"""

    def clip(self, rows: Any, canvas: Edges) -> Any:
        """The parts inside a canvas."""

    def sizes(self, rows: Any) -> Any:
        """Width and height; an upright box whose corners are swapped has negative ones. [..., B, 2]"""


class UprightBoxes:
    """Rows are left, top, right, bottom. [..., B, 4]"""

    columns = 4
    row_format = "XYXY"

    def __init__(self, format: str) -> None:
        self._format = format
        # The edges are rounded, and width and height follow from them. A centre of CXCYWH may lie between pixels.
        self.is_rounded_before_clipping = format != "CXCYWH"

    def rows(self, boxes: Any) -> Any:
        return to_edges(boxes, self._format)

    def boxes(self, rows: Any) -> Any:
        return from_edges(rows, self._format)

    def corners(self, rows: Any) -> Any:
        left, top, right, bottom = (rows[..., i] for i in range(4))
        corners = namespace(rows).stack([left, top, right, top, right, bottom, left, bottom], -1) - 0.5
        return corners.reshape(*rows.shape[:-2], 4 * rows.shape[-2], 2)

    def enclose(self, corners: Any) -> Any:
        xp = namespace(corners)
        corners = (corners + 0.5).reshape(*corners.shape[:-2], corners.shape[-2] // 4, 4, 2)
        return xp.concatenate([xp.amin(corners, -2), xp.amax(corners, -2)], -1)

    def move_affine(self, rows: np.ndarray, M: np.ndarray) -> np.ndarray:
        # As `enclose(map_each_point(corners(rows), M))`, to the bit: rounding keeps the order. Each moved coordinate is
        # a term in x plus a term in y. The terms vary independently, so the least sum is the sum of the least terms.
        matrices = M[..., None, None, :, :]
        terms = (rows - 0.5).reshape(*rows.shape[:-1], 2, 1, 2) * matrices[..., :2]  # [..., B, corner, (x, y), term]
        first, last = terms[..., :1, :, :], terms[..., 1:, :, :]
        terms = np.concatenate((np.minimum(first, last), np.maximum(first, last)), -3)
        edges = terms[..., 0] + terms[..., 1]
        edges += matrices[..., 2]
        edges += 0.5
        return edges.reshape(rows.shape)

    def scale_and_shift(self, rows: Any, scale: Any, shift: Any) -> Any:
        xp = namespace(rows)
        return rows * xp.concatenate([scale] * 2, -1) + xp.concatenate([shift] * 2, -1)

    def clip(self, rows: Any, canvas: Edges) -> Any:
        left, top, right, bottom = canvas
        if isinstance(rows, np.ndarray):
            return np.minimum(np.maximum(rows, _corner(left, top, rows)), _corner(right, bottom, rows))
        x, y = _clip_axis(rows[..., 0::2], left, right), _clip_axis(rows[..., 1::2], top, bottom)
        return namespace(rows).stack([x, y], -1).reshape(rows.shape)

    def sizes(self, rows: Any) -> Any:
        return rows[..., 2:] - rows[..., :2]


class RotatedBoxes:
    """Rows are the corners: upper left, upper right, lower right, lower left. [..., B, 8]"""

    row_format = "XYXYXYXY"
    is_rounded_before_clipping = False

    def __init__(self, format: str) -> None:
        self._format = format
        self.columns = ROTATED_FORMATS[format]

    def rows(self, boxes: Any) -> Any:
        return convert_rotated(boxes, self._format, self.row_format)

    def boxes(self, rows: Any) -> Any:
        return convert_rotated(rows, self.row_format, self._format)

    def corners(self, rows: Any) -> Any:
        return (rows - 0.5).reshape(*rows.shape[:-2], 4 * rows.shape[-2], 2)

    def enclose(self, corners: Any) -> Any:
        corners = (corners + 0.5).reshape(*corners.shape[:-2], corners.shape[-2] // 4, 4, 2)
        return _flat(rotated_boxes.rectangles_around(corners))

    def move_affine(self, rows: np.ndarray, M: np.ndarray) -> np.ndarray:
        return self.enclose(map_each_point(self.corners(rows), M[..., None, :, :]))

    def scale_and_shift(self, rows: Any, scale: Any, shift: Any) -> Any:
        return _flat(rotated_boxes.rectangles_around(_by_corner(rows) * scale[..., None, :] + shift[..., None, :]))

    def clip(self, rows: Any, canvas: Edges) -> Any:
        return _flat(rotated_boxes.clip_rectangles(_by_corner(rows), canvas))

    def sizes(self, rows: Any) -> Any:
        return rotated_boxes.sizes(_by_corner(rows))


def box_shape(format: str) -> BoxShape:
    """The shape of boxes in a format of `FORMATS` or `ROTATED_FORMATS`."""
    return UprightBoxes(format) if format in FORMATS else RotatedBoxes(format)


def _by_corner(rows: Any) -> Any:
    """[..., 8] to [..., 4, 2]"""
    return rows.reshape(*rows.shape[:-1], 4, 2)


def _flat(corners: Any) -> Any:
    """[..., 4, 2] to [..., 8]"""
    return corners.reshape(*corners.shape[:-2], 8)


def _corner(x: Any, y: Any, rows: np.ndarray) -> np.ndarray:
    """x, y, x, y for the columns of rows [N, B, 4]. x, y: numbers, or arrays [N, 1]."""
    if isinstance(x, int):
        return np.array((x, y, x, y), rows.dtype)
    return np.concatenate((x, y, x, y), -1)[:, None]


def _clip_axis(values: Any, low: Any, high: Any) -> Any:
    """Values [N, B, 2] clipped to low..high: numbers, or arrays [N, 1]."""
    xp = namespace(values)
    if isinstance(low, int):
        return xp.clip(values, low, high)
    low, high = low[..., None], high[..., None]
    values = xp.where(values > low, values, low)
    return xp.where(values < high, values, high)
