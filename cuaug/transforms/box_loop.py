"""Upright boxes on the host under the matrices of their samples, in one loop (kernels/detection/move_boxes.cuh).

The operations on arrays in boxes.py give the same results for other boxes: on a device, rotated, of other dtypes, or
under tensors that torch differentiates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.numpy_library import NUMPY
from .._detection.box_arrays import layout_span, typed_array
from .._host.extension import extension
from .._program.detection_records import BOX_MOVE, MAX_BOX_MOVES, MOVE_BOXES
from .moves import Move

_FORMATS = {"XYXY": 0, "XYWH": 1, "CXCYWH": 2}  # `cuaug::BoxFormat`
_DTYPES = frozenset(map(np.dtype, ("float32", "float64", "int16", "int32", "int64")))
_MOVES_BYTES = MAX_BOX_MOVES * BOX_MOVE.size
_NO_CANVAS = 0, 0, 0, 0  # of moves with a canvas for each sample
_MOVE_PACKER = BOX_MOVE.packer(*map(layout_span, ("matrices", "source_boxes", "canvases")))
_PACKER = MOVE_BOXES.packer(("move", "move"), layout_span("boxes"))


def can_move(boxes: Any, moves: Sequence[Move], format: str) -> bool:
    return (
        type(boxes) is np.ndarray
        and boxes.dtype in _DTYPES
        and format in _FORMATS
        and len(moves) <= MAX_BOX_MOVES
        and all(type(move.matrices) is np.ndarray for move in moves)
    )


def move_boxes(
    boxes: np.ndarray,
    moves: Sequence[Move],
    valid: Any,
    row_samples: np.ndarray | None,
    *,
    format: str,
    min_area: float,
    min_visibility: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The boxes after all moves, and the mask of the valid ones. [R, B, 4], [R, B]

    Args:
        boxes: [R, B, 4]
        moves: At least one.
        valid: False for boxes that are invalid already; None: none is. [R, B]
        row_samples: The sample of each row; None: row n has the boxes of sample n. [R]
        format: One of `_FORMATS`.
        min_area: As in `Boxes`.
        min_visibility: As in `Boxes`.
    """
    rows, boxes_per_row, _ = boxes.shape
    results, result_valid = np.empty(boxes.shape, boxes.dtype), np.empty((rows, boxes_per_row), np.bool_)
    if not result_valid.size:
        return results, result_valid
    packed_moves, arrays = b"", list[Any]()  # the arrays keep their memory until the loop has run
    for move in moves:
        edges = [move.source_box, None if isinstance(move.canvas, tuple) else np.asarray(move.canvas, np.float64)]
        descriptors = [None if array is None else NUMPY.describe(array) for array in (move.matrices, *edges)]
        arrays += descriptors
        fields = [field for descriptor in descriptors for field in typed_array(descriptor, 1)]
        canvas = move.canvas if isinstance(move.canvas, tuple) else _NO_CANVAS
        packed_moves += _MOVE_PACKER.pack(*fields, *canvas, move.is_affine, move.is_scale_and_shift)
    samples = None if row_samples is None else np.ascontiguousarray(row_samples, np.int64)
    mask = None if valid is None else np.ascontiguousarray(convert.asarray(valid, like=boxes, dtype="bool"))
    record = _PACKER.pack(
        packed_moves.ljust(_MOVES_BYTES, b"\0"),
        *typed_array(NUMPY.describe(boxes), 1),
        0 if samples is None else NUMPY.pointer(samples),
        0 if mask is None else NUMPY.pointer(mask),
        NUMPY.pointer(results),
        NUMPY.pointer(result_valid),
        rows,
        boxes_per_row,
        min_area,
        min_visibility,
        len(moves),
        _FORMATS[format],
    )
    extension().move_boxes(record)
    return results, result_valid
