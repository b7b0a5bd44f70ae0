"""Suppression by lowering scores: packs the record of kernels/records/soft_nms.cuh, and runs it."""

from __future__ import annotations

import math
from typing import Any

from .. import _check
from .._arrays import convert
from .._gpu import launch
from .._host import extension as _cpu
from .._program.dtypes import ITEM_SIZE
from .._program.records import SOFT_NMS
from . import nms as _nms

_PACKER = SOFT_NMS.packed_by("P32s P32s P32s 5P q 3d 4i")


def suppress(
    boxes: Any,
    scores: Any,
    counts: Any,
    iou_threshold: float,
    sigma: float,
    score_threshold: float,
    method: str,
    max_output: int | None,
    fixed_size: bool,
) -> Any:
    """What `soft_nms` of ops.py promises."""
    _check.number("iou_threshold", iou_threshold, 0, 1)
    _check.number("sigma", sigma, math.ulp(0))
    _check.number("score_threshold", score_threshold, -math.inf)
    _check.one_of("method", method, ("linear", "gaussian"))
    given = _nms.described_boxes(boxes, scores, counts, (4,), max_output, fixed_size)
    box, library, batch = given.boxes, given.library, given.batch
    samples, count, most = given.samples, given.each, given.most
    if count >= 1 << 30:
        raise ValueError(f"boxes must be fewer than 2**30, got {count}")
    dtype, lead = convert.index_dtype(library), len(batch)
    decayed = library.empty((*batch, most), given.scores.dtype, box.device, None)
    if samples * count:
        indices = library.empty((*batch, most), dtype, box.device, None)
        kept = library.empty(batch, dtype, box.device, None)
        memory = library.empty((samples * count * (6 * 8 + 4),), "uint8", box.device, None)
        start = library.pointer(memory)
        data = _PACKER.pack(
            *(*_nms.numbers(box, lead), *_nms.numbers(given.scores, lead), *_nms.numbers(given.counts, 1)),
            *(library.pointer(array) for array in (indices, decayed, kept)),
            *(start, start + samples * count * 6 * 8),
            *(samples, iou_threshold, sigma, score_threshold),
            *(count, most, method == "gaussian", ITEM_SIZE[dtype]),
        )
        if box.device < 0:
            _cpu.extension().soft_nms(data)
        else:
            launch.launch(
                "cuaug::soft_nms", data, (samples, 1, 1), 1024, 0, box.device, library.current_stream(box.device)
            )
        indices, kept = library.to_user_array(indices), library.to_user_array(kept)
    else:
        decayed[...] = 0
        indices, kept = given.nothing()
    decayed = library.to_user_array(decayed)
    return (indices, decayed, kept) if fixed_size else (indices[: int(kept)], decayed[: int(kept)])
