"""IoU of rotated boxes: packs the record of kernels/records/rotated_iou.cuh and runs it on a GPU or the CPU."""

from __future__ import annotations

import math
from typing import Any

from .._gpu import launch
from .._host import extension
from .._program.detection_records import ROTATED_IOU
from .box_arrays import describe, layout_span, typed_array

_TILE_SIDE = 16  # pairs along each side of a block (kernels/detection/rotated_pairs.cu)
# `typed_array` packs the strides and the dtype of an array into one argument of the packer.
_PACKER = ROTATED_IOU.packer(*map(layout_span, ("a", "b")))


def pairwise_rotated_iou(boxes1: Any, boxes2: Any) -> Any:
    """IoU [..., P, Q] of boxes [..., P, 5] and [..., Q, 5] of one library, device, dtype and batch shape."""
    batch_shape, samples = tuple(boxes1.shape[:-2]), math.prod(boxes1.shape[:-2])
    flat1, flat2 = (boxes.reshape((samples, *boxes.shape[-2:])) for boxes in (boxes1, boxes2))
    a, library = describe("boxes1", flat1, ("float32", "float64"))
    b, _ = describe("boxes2", flat2, ("float32", "float64"))
    p, q = a.shape[1], b.shape[1]
    out = library.empty((*batch_shape, p, q), a.dtype, a.device, None)
    if samples * p * q:
        record = _PACKER.pack(
            *typed_array(a, 1), *typed_array(b, 1), library.pointer(out), samples, p, q, a.dtype == "float64"
        )
        if a.device < 0:
            extension.extension().rotated_iou(record)
        else:
            tiles = samples * -(-p // _TILE_SIDE) * -(-q // _TILE_SIDE)
            if tiles >= 1 << 31:
                raise ValueError(
                    f"boxes must make fewer than 2**31 tiles of {_TILE_SIDE} x {_TILE_SIDE} pairs, "
                    f"got {samples} x {p} x {q} pairs"
                )
            stream = library.current_stream(a.device)
            launch.launch("cuaug::rotated_pairs", record, (tiles, 1, 1), _TILE_SIDE * _TILE_SIDE, 0, a.device, stream)
    return library.to_user_array(out)
