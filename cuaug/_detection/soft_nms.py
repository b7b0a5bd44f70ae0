"""Soft-NMS: packs the record of kernels/records/soft_nms.cuh and runs it on a GPU or the CPU."""

from __future__ import annotations

import math
from typing import Any

from .. import _check
from .._arrays import convert
from .._gpu import launch
from .._host import extension
from .._program.detection_records import SOFT_NMS
from .._program.dtypes import ITEM_SIZE
from .box_arrays import describe_boxes, layout_span, typed_array

# `typed_array` packs the strides and the dtype of an array into one argument of the packer.
_PACKER = SOFT_NMS.packer(*map(layout_span, ("boxes", "scores", "counts")))
_WORKSPACE_BYTES, _INDEX_BYTES = 6 * 8, 4  # of each box: the record's `workspace` and `index`
_THREADS = 1024


def suppress_softly(
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
    """The result of `soft_nms` (cuaug/suppression.py)."""
    _check.number("iou_threshold", iou_threshold, 0, 1)
    _check.number("sigma", sigma, math.ulp(0))
    _check.number("score_threshold", score_threshold, 0)  # the factors would raise negative scores
    _check.one_of("method", method, ("linear", "gaussian"))
    batch = describe_boxes(boxes, scores, counts, (4,), max_output, fixed_size)
    library, device, samples, count = batch.library, batch.boxes.device, batch.samples, batch.box_count
    if count >= 1 << 30:
        raise ValueError(f"boxes must be fewer than 2**30, got {count}")
    index_dtype, batch_axes = convert.index_dtype(library), len(batch.batch_shape)
    output_shape = (*batch.batch_shape, batch.max_output)
    decayed_scores = library.empty(output_shape, batch.scores.dtype, device, None)
    if samples * count:
        indices = library.empty(output_shape, index_dtype, device, None)
        index_counts = library.empty(batch.batch_shape, index_dtype, device, None)
        scratch = library.empty((samples * count * (_WORKSPACE_BYTES + _INDEX_BYTES),), "uint8", device, None)
        workspace = library.pointer(scratch)
        record = _PACKER.pack(
            *typed_array(batch.boxes, batch_axes),
            *typed_array(batch.scores, batch_axes),
            *typed_array(batch.counts, 1),
            *(library.pointer(array) for array in (indices, decayed_scores, index_counts)),
            *(workspace, workspace + samples * count * _WORKSPACE_BYTES),
            *(samples, iou_threshold, sigma, score_threshold),
            *(count, batch.max_output, method == "gaussian", ITEM_SIZE[index_dtype]),
        )
        if device < 0:
            extension.extension().soft_nms(record)
        else:
            stream = library.current_stream(device)
            launch.launch("cuaug::soft_nms", record, (samples, 1, 1), _THREADS, 0, device, stream)
        indices, index_counts = library.to_user_array(indices), library.to_user_array(index_counts)
    else:
        decayed_scores[...] = 0
        indices, index_counts = batch.empty_result()
    decayed_scores = library.to_user_array(decayed_scores)
    if fixed_size:
        return indices, decayed_scores, index_counts
    return indices[: int(index_counts)], decayed_scores[: int(index_counts)]
