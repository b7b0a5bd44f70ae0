"""Greedy suppression: packs the record of kernels/records/nms.cuh and runs it on a GPU or the CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.convert import tensor_key
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.protocol import Library
from .._gpu import devices, host_counter, launch
from .._host import extension
from .._program.detection_records import NMS
from .._program.dtypes import ITEM_SIZE
from .box_arrays import INTEGERS, BoxBatch, describe_boxes, describe_per_box, layout_span, typed_array
from .nms_plan import NmsPlan, plan_nms

_OPTIONS_SPAN = "samples", "words_per_block"  # first and last of the nine fields that end the record
# `typed_array` packs the strides and the dtype of an array into one argument of the packer.
_PACKER = NMS.packer(*map(layout_span, ("boxes", "scores", "classes", "counts")), _OPTIONS_SPAN)
_OPTIONS_PACKER = NMS.span_packer(*_OPTIONS_SPAN)


def suppress(
    boxes: Any,
    scores: Any,
    classes: Any,
    counts: Any,
    iou_threshold: float,
    score_threshold: float | None,
    max_output: int | None,
    fixed_size: bool,
) -> Any:
    """The result of `nms` and `batched_nms` (cuaug/suppression.py)."""
    _check.number("iou_threshold", iou_threshold, 0, 1)
    if score_threshold is not None:
        _check.number("score_threshold", score_threshold, -np.inf)
    _check.boolean("fixed_size", fixed_size)
    if max_output is not None:
        max_output = _check.integer("max_output", max_output, 0)

    arrays = boxes, scores, classes, counts
    array_keys, pointers = tensor_key(arrays)
    key = array_keys and (array_keys, iou_threshold, score_threshold, max_output, fixed_size)
    call = _calls.get(key)
    if call is not None:
        if call.device >= 0:
            devices.check_not_forked()
        return _run(call, pointers)
    batch = describe_boxes(boxes, scores, counts, (4, 5), max_output, fixed_size)
    class_array = None
    if classes is not None:
        class_array = describe_per_box("idxs", classes, INTEGERS, batch.boxes, batch.library)
    call = _prepare(batch, class_array, iou_threshold, score_threshold, fixed_size)
    if not batch.samples * batch.box_count:
        indices, index_counts = batch.empty_result()
        return (indices, index_counts) if fixed_size else indices
    descriptors = batch.boxes, batch.scores, class_array, batch.counts
    # A converted argument has another owner: the key of the caller's tensor does not describe it.
    if key and all(d is None or d.owner is array for d, array in zip(descriptors, arrays, strict=True)):
        if len(_calls) >= _MAX_CALLS:
            _calls.clear()
        _calls[key] = call
    return _run(call, [0 if descriptor is None else descriptor.pointer for descriptor in descriptors])


class _Call(NamedTuple):
    """A call, except for the addresses of its arrays."""

    library: Library
    device: int
    compute_type: str
    batch_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    index_dtype: str
    fixed_size: bool
    layouts: tuple[bytes, ...]  # of boxes, scores, classes and counts
    plan: NmsPlan
    options: bytes  # the fields of `_OPTIONS_SPAN`, packed


_calls: dict[Any, _Call] = {}  # by `tensor_key` of plain torch tensors, and the options
_MAX_CALLS = 1024


def _prepare(
    batch: BoxBatch,
    class_array: ArrayDescriptor | None,
    iou_threshold: float,
    score_threshold: float | None,
    fixed_size: bool,
) -> _Call:
    boxes, library, batch_axes = batch.boxes, batch.library, len(batch.batch_shape)
    rotated = boxes.shape[-1] == 5
    compute_type = "Rotated" if rotated else "float64" if boxes.dtype == "float64" else "float32"
    multiprocessors = devices.multiprocessor_count(boxes.device) if boxes.device >= 0 else 0
    plan = plan_nms(batch.samples, batch.box_count, compute_type, class_array is not None, multiprocessors)
    index_dtype = convert.index_dtype(library)
    layouts = (
        *(typed_array(array, batch_axes)[1] for array in (boxes, batch.scores, class_array)),
        typed_array(batch.counts, 1)[1],
    )
    options = _OPTIONS_PACKER.pack(
        batch.samples,
        iou_threshold,
        score_threshold or 0.0,
        batch.box_count,
        batch.max_output,
        score_threshold is not None,
        ITEM_SIZE[index_dtype],
        rotated,
        plan.words_per_block,
    )
    output_shape = (*batch.batch_shape, batch.max_output)
    return _Call(
        library, boxes.device, compute_type, batch.batch_shape, output_shape, index_dtype, bool(fixed_size), layouts,
        plan, options,
    )  # fmt: skip


def _run(call: _Call, pointers: list[int]) -> Any:
    """Runs a call on the boxes, scores, classes and counts at these addresses."""
    library, device, plan = call.library, call.device, call.plan
    stream = library.current_stream(device) if device >= 0 else 0
    counter = None if call.fixed_size or device < 0 else host_counter.take_counter(device)
    # A counter brings scratch memory, which is free again when the kernels have written the number of boxes.
    if counter and plan.scratch_bytes <= counter.scratch_bytes:
        scratch, scratch_pointer = None, counter.scratch
    else:
        scratch = library.empty((plan.scratch_bytes,), "uint8", device, None)
        scratch_pointer = library.pointer(scratch)
    boxes, scores, classes, counts = pointers
    box_layout, score_layout, class_layout, count_layout = call.layouts
    inputs = boxes, box_layout, scores, score_layout, classes, class_layout, counts, count_layout
    keys, ranked_boxes, decisions, kept, block_counts = plan.offsets
    scratch_and_options = (
        scratch_pointer + keys,
        scratch_pointer + ranked_boxes,
        scratch_pointer + decisions,
        scratch_pointer + kept,
        scratch_pointer + block_counts,
        call.options,
    )
    for kernel, grid, threads in plan.launches[:-1]:
        launch.launch(kernel, _PACKER.pack(*inputs, 0, 0, *scratch_and_options), grid, threads, 0, device, stream)
    indices = library.empty(call.output_shape, call.index_dtype, device, None)  # while the first kernels run
    index_counts = None if counter else library.empty(call.batch_shape, call.index_dtype, device, None)
    count_pointer = counter.pointer if counter else library.pointer(index_counts)
    record = _PACKER.pack(*inputs, library.pointer(indices), count_pointer, *scratch_and_options)
    if device < 0:
        extension.extension().nms(record, "float64" if call.compute_type == "float64" else "float32")
    for kernel, grid, threads in plan.launches[-1:]:
        launch.launch(kernel, record, grid, threads, 0, device, stream)
    if counter:
        return library.to_user_array(convert.truncate(indices, counter.wait(stream)))
    indices, index_counts = library.to_user_array(indices), library.to_user_array(index_counts)
    return (indices, index_counts) if call.fixed_size else indices[: int(index_counts)]
