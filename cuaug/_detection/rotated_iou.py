"""Overlaps of rotated boxes: packs the record of kernels/records/rotated_iou.cuh, and runs it."""

from __future__ import annotations

import math
from typing import Any

from .._gpu import launch
from .._host import extension as _cpu
from .._program.records import ROTATED_IOU
from . import nms as _nms

_SIDE = 16  # kernels/detection/rotated_pairs.cu
_PACKER = ROTATED_IOU.packed_by("P32s P32s P 3q 2i")


def iou(boxes1: Any, boxes2: Any) -> Any:
    """Of boxes [..., P, 5] and [..., Q, 5] of one library, device, dtype and batch: [..., P, Q]."""
    batch, samples = tuple(boxes1.shape[:-2]), math.prod(boxes1.shape[:-2])
    sets = [boxes.reshape((samples, *boxes.shape[-2:])) for boxes in (boxes1, boxes2)]
    (a, library), (b, _) = (_nms.described(f"boxes{i + 1}", own, ("float32", "float64")) for i, own in enumerate(sets))
    shape = (*batch, a.shape[1], b.shape[1])
    out = library.empty(shape, a.dtype, a.device, None)
    if 0 not in shape:
        sizes = samples, *shape[-2:], a.dtype == "float64", 0
        data = _PACKER.pack(*_nms.numbers(a, 1), *_nms.numbers(b, 1), library.pointer(out), *sizes)
        if a.device < 0:
            _cpu.extension().rotated_iou(data)
        else:
            tiles = samples * -(-shape[-2] // _SIDE) * -(-shape[-1] // _SIDE)
            if tiles >= 1 << 31:
                raise ValueError(f"boxes must make fewer than 2**39 pairs, got {samples} x {shape[-2]} x {shape[-1]}")
            stream = library.current_stream(a.device)
            launch.launch("cuaug::rotated_pairs", data, (tiles, 1, 1), _SIDE * _SIDE, 0, a.device, stream)
    return library.to_user_array(out)
