"""Upright boxes under the matrices of their samples: one loop on the host, one kernel on a GPU, which share
kernels/detection/move_boxes.cuh.

The operations on arrays in boxes.py give the same results for other boxes: rotated ones, those of other dtypes and of
JAX, and tensors that torch differentiates or traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.autograd import needs_torch_ops
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.numpy_library import NUMPY
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._arrays.small_matrices import result_like
from .._detection.box_arrays import layout_span, typed_array
from .._gpu import devices, launch
from .._host.extension import extension
from .._program.detection_records import BOX_MOVE, MAX_BOX_MOVES, MOVE_BOXES
from .moves import Move

_FORMATS = {"XYXY": 0, "XYWH": 1, "CXCYWH": 2}  # `cuaug::BoxFormat`
_DTYPES = "float32", "float64", "int16", "int32", "int64"
_MOVES_BYTES = MAX_BOX_MOVES * BOX_MOVE.size
_NO_CANVAS = 0, 0, 0, 0  # of moves with a canvas for each sample
_MOVE_PACKER = BOX_MOVE.packer(*map(layout_span, ("matrices", "source_boxes", "canvases")))
_PACKER = MOVE_BOXES.packer(("move", "move"), layout_span("boxes"), layout_span("given_valid"))
_THREADS = 128  # of a block (kernels/detection/move_boxes.cu)


def move_boxes(
    boxes: Any,
    moves: Sequence[Move],
    valid: Any,
    row_samples: np.ndarray | None,
    *,
    format: str,
    min_area: float,
    min_visibility: float,
) -> tuple[Any, Any] | None:
    """The boxes after all moves, and the mask of the valid ones; None if neither the loop nor the kernel takes them.

    Their shapes are [R, B, 4] and [R, B]; without R for the boxes of one row. They are in the library and on the device
    of the first array on a GPU, of the boxes if all are on the host.

    Args:
        boxes: Of NumPy, torch or CuPy. [R, B, 4], or [B, 4] of one row
        moves: At least one.
        valid: False for boxes that are invalid already; None: none is. [R, B] or [B]
        row_samples: The sample of each row; None: row n has the boxes of sample n. [R]
        format: As in `Boxes`.
        min_area: As in `Boxes`.
        min_visibility: As in `Boxes`.
    """
    dtype = convert.dtype_name(boxes.dtype)
    arrays = [boxes, *(move.matrices for move in moves)]
    like, is_on_host = result_like(arrays)
    library = library_of(type(like))
    is_supported = format in _FORMATS and len(moves) <= MAX_BOX_MOVES and dtype in _DTYPES
    if library is None or not is_supported or not _has_loop(library, [*arrays, valid]):
        return None
    descriptors = list[ArrayDescriptor]()  # they keep the memory of copies until the loop has run

    def described(array: Any, dtype: str) -> ArrayDescriptor:
        own_library = library_of(type(array)) if is_on_host else None
        if own_library is None or convert.dtype_name(array.dtype) != dtype:
            array, own_library = convert.asarray(array, like=like, dtype=dtype), library
        descriptors.append(own_library.describe(array))
        return descriptors[-1]

    box_array = described(boxes, dtype)
    (*rows_shape, boxes_per_row, _), device = box_array.shape, box_array.device
    rows, row_axes = (rows_shape[0], 1) if rows_shape else (1, 0)
    results = library.empty((*rows_shape, boxes_per_row, 4), dtype, device, None)
    result_valid = library.empty((*rows_shape, boxes_per_row), "bool", device, None)
    if not rows * boxes_per_row:
        return results, result_valid
    packed_moves = b""
    for move in moves:
        canvas, canvases = (move.canvas, None) if isinstance(move.canvas, tuple) else (_NO_CANVAS, move.canvas)
        fields = [
            *typed_array(described(move.matrices, convert.dtype_name(move.matrices.dtype)), 1),
            *typed_array(None if move.source_box is None else described(move.source_box, "float64"), 1),
            *typed_array(None if canvases is None else described(canvases, "float64"), 1),
        ]
        packed_moves += _MOVE_PACKER.pack(*fields, *canvas, move.is_affine, move.is_scale_and_shift)
    record = _PACKER.pack(
        packed_moves.ljust(_MOVES_BYTES, b"\0"),
        *typed_array(box_array, row_axes),
        0 if row_samples is None else described(row_samples, "int64").pointer,
        *typed_array(None if valid is None else described(valid, "bool"), row_axes),
        library.pointer(results),
        library.pointer(result_valid),
        rows,
        boxes_per_row,
        min_area,
        min_visibility,
        len(moves),
        _FORMATS[format],
    )
    if device < 0:
        extension().move_boxes(record)
    else:
        devices.check_not_forked()
        blocks = -(-rows * boxes_per_row // _THREADS)
        launch.launch("cuaug::move_boxes", record, (blocks, 1, 1), _THREADS, 0, device, library.current_stream(device))
    return results, result_valid


def _has_loop(library: Library, arrays: Sequence[Any]) -> bool:
    """Whether the loop or the kernel takes the arrays. `library`: that of the results."""
    return library is NUMPY or (library.name in ("torch", "cupy") and not needs_torch_ops(*arrays))
