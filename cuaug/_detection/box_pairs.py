"""IoU of all pairs of two sets of boxes: one kernel on a GPU, one loop on the CPU (kernels/records/box_pairs.cuh)."""

from __future__ import annotations

import math
from typing import Any

from .._gpu import launch
from .._host import extension
from .._program.detection_records import BOX_PAIRS
from .._program.names import name_expression
from .box_arrays import describe, layout_span, typed_array

IOU_KINDS = {"iou": 0, "giou": 1, "diou": 2, "ciou": 3}  # `cuaug::IouKind`
_ROTATED_TILE, _ROTATED_THREADS = (16, 16), 16 * 16  # boxes of each set that a block compares, and its threads
_UPRIGHT_TILE, _UPRIGHT_THREADS = (128, 32), 256
_UPRIGHT_KERNELS = {dtype: name_expression("upright_pairs", dtype) for dtype in ("float32", "float64")}
# `typed_array` packs the strides and the dtype of an array into one argument of the packer.
_PACKER = BOX_PAIRS.packer(*map(layout_span, ("a", "b")))


def compare_pairs(boxes1: Any, boxes2: Any, kind: str = "iou", eps: float = 0.0) -> Any:
    """The IoU, or its generalization, of boxes [..., P, 4] and [..., Q, 4], or rotated ones [..., 5]. [..., P, Q]

    The arguments are of one library, device, dtype (float32 or float64) and batch shape.

    Args:
        boxes1: (left, top, right, bottom), or rotated (centre x, y, width, height, degrees).
        boxes2: As `boxes1`.
        kind: A key of `IOU_KINDS`; "iou" for rotated boxes.
        eps: Added to the denominators of the penalties of "diou" and "ciou".
    """
    batch_shape, samples = tuple(boxes1.shape[:-2]), math.prod(boxes1.shape[:-2])
    if len(batch_shape) > 1:
        boxes1, boxes2 = (boxes.reshape((samples, *boxes.shape[-2:])) for boxes in (boxes1, boxes2))
    a, library = describe("boxes1", boxes1, ("float32", "float64"))
    b, _ = describe("boxes2", boxes2, ("float32", "float64"))
    (p, columns), (q, _) = a.shape[-2:], b.shape[-2:]
    is_rotated, batch_axes = columns == 5, len(a.shape) - 2
    out = library.empty((*batch_shape, p, q), a.dtype, a.device, None)
    if samples * p * q:
        numbers = samples, p, q, eps, IOU_KINDS[kind], a.dtype == "float64"
        record = _PACKER.pack(*typed_array(a, batch_axes), *typed_array(b, batch_axes), library.pointer(out), *numbers)
        if a.device < 0:
            loops = extension.extension()
            (loops.rotated_iou if is_rotated else loops.upright_iou)(record)
        else:
            name = "cuaug::rotated_pairs" if is_rotated else _UPRIGHT_KERNELS[a.dtype]
            tile, threads = (_ROTATED_TILE, _ROTATED_THREADS) if is_rotated else (_UPRIGHT_TILE, _UPRIGHT_THREADS)
            tiles = samples * -(-p // tile[0]) * -(-q // tile[1])
            if tiles >= 1 << 31:
                raise ValueError(
                    f"boxes must make fewer than 2**31 tiles of {tile[0]} x {tile[1]} pairs, "
                    f"got {samples} x {p} x {q} pairs"
                )
            launch.launch(name, record, (tiles, 1, 1), threads, 0, a.device, library.current_stream(a.device))
    return library.to_user_array(out)
