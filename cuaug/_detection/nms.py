"""Greedy suppression: checks and describes boxes, packs the record of kernels/records/nms.cuh, and runs it."""

from __future__ import annotations

import functools
import itertools
import struct
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.convert import tensor_key
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._gpu import devices, host_counter, launch
from .._host import extension as _cpu
from .._program.dtypes import ITEM_SIZE
from .._program.records import NMS

_PACKER = NMS.packed_by("P32s P32s P32s P32s 2P 5P 48s")
_REST = struct.Struct("q 2d 6i")  # from the number of samples on
_STRIDES = struct.Struct("4q")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_WHOLE = ("uint8", "int16", "int32", "int64", "bool")
KINDS = {name: i for i, name in enumerate((*_FLOATS, *_WHOLE[:4]))} | {"bool": 4}
_TILE, _BLOCK, _RANK_THREADS = 1024, 64, 64  # kernels/records/nms.cuh, detection/nms_rank.cu
_PART, _OWN_WORDS = 256, (2, 4, 6, 8)  # kernels/detection/nms_pairs.cuh, detection/nms_overlap_mask.cu
_FEW, _FEW_WARPS = 1024, 8  # kernels/detection/nms_small.cuh
_PLACES = {"float32": 4, "float64": 1}  # for blocks of detection/nms_overlap_mask.cu on a multiprocessor
_SETTLE_WARPS = 32  # of a block of kernels/detection/nms_resolve.cu
_MOST_PAIRS = 1 << 28  # to be compared, all of them; beyond, and rotated, boxes go by the chain, which compares fewer
_KEY, _CANDIDATE = 24, {"float32": 32, "float64": 56, "Rotated": 64}  # bytes


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
    """What `nms` and `batched_nms` of ops.py promise."""
    _check.number("iou_threshold", iou_threshold, 0, 1)
    if score_threshold is not None:
        _check.number("score_threshold", score_threshold, -np.inf)
    _check.boolean("fixed_size", fixed_size)
    if max_output is not None:
        max_output = _check.integer("max_output", max_output, 0)

    arrays = boxes, scores, classes, counts
    kinds, pointers = tensor_key(arrays)
    key = kinds and (kinds, iou_threshold, score_threshold, max_output, fixed_size)
    call = _calls.get(key)
    if call is not None:
        if call.device >= 0:
            devices.check_not_forked()
        return _run(call, pointers)
    given = described_boxes(boxes, scores, counts, (4, 5), max_output, fixed_size)
    label = None if classes is None else _beside("classes", classes, _WHOLE, given.boxes, given.library)
    call = _call(given, label, iou_threshold, score_threshold, fixed_size)
    if not given.samples * given.each:
        indices, kept = given.nothing()
        return (indices, kept) if fixed_size else indices
    tensors = given.boxes, given.scores, label, given.counts
    if key and all(own is None or own.owner is array for own, array in zip(tensors, arrays, strict=True)):
        if len(_calls) >= _MOST:
            _calls.clear()
        _calls[key] = call
    return _run(call, [0 if own is None else own.pointer for own in tensors])


class _Call(NamedTuple):
    """All that is to be known of a call but where its arrays lie."""

    library: Library
    device: int
    real: str
    batch: tuple[int, ...]
    shape: tuple[int, ...]  # of indices
    dtype: str  # of indices
    fixed_size: bool
    strides: tuple[bytes, ...]  # of boxes, scores, classes and counts
    plan: _Plan
    rest: bytes


_calls: dict[Any, _Call] = {}  # of plain tensors of torch, by what `_array.placed` says of them and the options
_MOST = 1024


def _call(
    given: Boxes, label: ArrayDescriptor | None, iou_threshold: float, score_threshold: float | None, fixed_size: bool
) -> _Call:
    box, library, lead = given.boxes, given.library, len(given.batch)
    processors = devices.multiprocessor_count(box.device) if box.device >= 0 else 0
    plan = _plan(given.samples, given.each, _real(box), label is not None, processors)
    dtype = convert.index_dtype(library)
    strides = tuple(numbers(own, lead)[1] for own in (box, given.scores, label)), numbers(given.counts, 1)[1]
    rest = _REST.pack(
        given.samples, iou_threshold, score_threshold or 0.0, given.each, given.most, score_threshold is not None,
        ITEM_SIZE[dtype], box.shape[-1] == 5, plan.own_words,
    )  # fmt: skip
    made = given.batch, (*given.batch, given.most), dtype, bool(fixed_size)
    return _Call(library, box.device, _real(box), *made, (*strides[0], strides[1]), plan, rest)


def _run(call: _Call, pointers: list[int]) -> Any:
    """Suppression of boxes, scores, classes and counts that lie there."""
    library, device, plan = call.library, call.device, call.plan
    stream = library.current_stream(device) if device >= 0 else 0
    told = None if call.fixed_size or device < 0 else host_counter.take_counter(device)
    own = told is None or plan.bytes > told.scratch_bytes
    memory = library.empty((plan.bytes,), "uint8", device, None) if own else None
    start = told.scratch if told and not own else library.pointer(memory)
    (boxes, scores, classes, counts), (by_box, by_score, by_class, by_count) = pointers, call.strides
    arrays = boxes, by_box, scores, by_score, classes, by_class, counts, by_count
    keys, candidates, published, kept, state = plan.spaces
    rest = start + keys, start + candidates, start + published, start + kept, start + state, call.rest
    for kernel, grid, threads in plan.launches[:-1]:
        launch.launch(kernel, _PACKER.pack(*arrays, 0, 0, *rest), grid, threads, 0, device, stream)
    indices = library.empty(call.shape, call.dtype, device, None)  # while the GPU has begun
    number = None if told else library.empty(call.batch, call.dtype, device, None)
    found = told.pointer if told else library.pointer(number)
    data = _PACKER.pack(*arrays, library.pointer(indices), found, *rest)
    if device < 0:
        _cpu.extension().nms(data, "float64" if call.real == "float64" else "float32")
    for kernel, grid, threads in plan.launches[-1:]:
        launch.launch(kernel, data, grid, threads, 0, device, stream)
    if told:
        return library.to_user_array(convert.truncate(indices, told.wait(stream)))
    indices, number = library.to_user_array(indices), library.to_user_array(number)
    return (indices, number) if call.fixed_size else indices[: int(number)]


class Boxes(NamedTuple):
    """Boxes and scores, of one sample or of a batch, and how many of them are asked for."""

    boxes: ArrayDescriptor
    scores: ArrayDescriptor
    counts: ArrayDescriptor | None
    library: Library
    batch: tuple[int, ...]
    samples: int
    each: int
    most: int

    def nothing(self) -> tuple[Any, Any]:
        """No index, and how many."""
        values = np.full((*self.batch, self.most), -1), np.zeros(self.batch, np.int64)
        indices, kept = (
            self.library.to_user_array(self.library.from_numpy(array, self.boxes.device)) for array in values
        )
        return indices, kept


def described_boxes(
    boxes: Any, scores: Any, counts: Any, columns: tuple[int, ...], max_output: int | None, fixed_size: bool
) -> Boxes:
    _check.boolean("fixed_size", fixed_size)
    box, library = described("boxes", boxes, _FLOATS)
    batch, samples, count = _extents(box.shape, columns, bool(fixed_size))
    score = _beside("scores", scores, _FLOATS, box, library)
    share = None
    if counts is not None:
        share, _ = described("counts", convert.asarray(counts, like=boxes, dtype="int64"), _WHOLE)
        if not batch or tuple(share.shape) != batch:
            raise ValueError(f"counts must have an entry for each sample of boxes {tuple(box.shape)}")
    most = count if max_output is None else _check.integer("max_output", max_output, 0, (1 << 31) - 1)
    return Boxes(box, score, share, library, batch, samples, count, most if fixed_size else min(most, count))


@functools.lru_cache(1024)
def _extents(shape: tuple[int, ...], columns: tuple[int, ...], fixed_size: bool) -> tuple[tuple[int, ...], int, int]:
    """The batch's axis if there is one, how many samples, and how many boxes each has."""
    if len(shape) not in (2, 3) or shape[-1] not in columns:
        rotated = ", or 5 numbers if rotated" if 5 in columns else ""
        raise ValueError(f"boxes must have shape (K, 4) or (N, K, 4){rotated}, got {tuple(shape)}")
    batch = tuple(shape[:-2])
    if batch and not fixed_size:
        raise ValueError(f"fixed_size must be True for a batch of boxes, of shape {tuple(shape)}")
    return batch, batch[0] if batch else 1, shape[-2]


class _Plan(NamedTuple):
    """What follows from sizes and dtypes alone: where the parts of the scratch memory begin, and the kernels."""

    spaces: tuple[int, ...]
    bytes: int
    own_words: int  # kernels/records/nms.cuh
    launches: tuple[tuple[str, tuple[int, int, int], int], ...]


def _real(box: ArrayDescriptor) -> str:
    """What boxes are compared in."""
    return "Rotated" if box.shape[-1] == 5 else "float64" if box.dtype == "float64" else "float32"


@functools.lru_cache(1024)
def _plan(samples: int, count: int, real: str, by_class: bool, processors: int) -> _Plan:
    """`processors`: of the GPU; 0: there is none."""
    blocks, tiles, words, parts = (-(-count // size) for size in (_BLOCK, _TILE, 32, _PART))
    bits, kept, own_words = samples * count * 4 * words, samples * count * 4, 0
    published, state = samples * blocks * (_BLOCK // 32) * 8, (1 + samples) * 4
    # A warp of nms_resolve holds 32 words for 32 boxes, and its blocks wait for each other.
    groups = -(-words // 32) or 1
    each = max(_SETTLE_WARPS // groups, 1)
    settling = -(-words // each)
    compared = processors > 0 and real != "Rotated"  # all pairs at once; rotated boxes: 314 us by the chain against 763
    launches: list[tuple[str, int, int, int]] = []
    if compared and count <= _FEW:
        few_parts = -(-words // _FEW_WARPS)
        sizes = 0, bits, 0, kept * few_parts, 0
        launches = [
            (f"nms_small_overlap_mask<cuaug::{real}>", few_parts * words * samples, 1, 32 * _FEW_WARPS),
            ("nms_small_resolve", samples, 1, 32 * words),
        ]
    elif compared and settling <= processors and samples * count**2 <= _MOST_PAIRS:
        own_words = _own_words(words, parts * samples, _PLACES[real] * processors)
        sizes = kept * parts, bits, published, kept, state
        launches = [
            (f"nms_overlap_mask<cuaug::{real}>", parts * -(-words // own_words) * samples, 1, _PART),
            ("nms_resolve", settling * samples, 1, 32 * groups * each),
        ]
    else:
        orders = 2 if by_class else 1
        sizes = orders * samples * tiles * _TILE * _KEY, samples * count * _CANDIDATE[real], published, kept, state
        if processors:
            launches = [
                ("nms_sort", tiles * samples, orders, _TILE),
                (f"nms_rank<cuaug::{real}>", tiles * samples * (_TILE // _RANK_THREADS), 1, _RANK_THREADS),
                (f"nms<cuaug::{real}>", blocks * samples, 1, 256),
            ]
    if count >= 1 << 30 or samples * tiles * _TILE >= 1 << 31:
        raise ValueError(
            f"boxes must be fewer than 2**30 a sample, and 2**31 in all, padded to {_TILE}: got {samples} x {count}, "
            f"which would take {sum(sizes) / 2**30:.0f} GiB of memory beside them"
        )
    ends = list(itertools.accumulate(-(-size // 256) * 256 for size in sizes))
    named = tuple((f"cuaug::{kernel}", (x, y, 1), threads) for kernel, x, y, threads in launches)
    return _Plan((0, *ends[:-1]), ends[-1], own_words, named)


def _own_words(words: int, parts: int, places: int) -> int:
    """Words of a block of nms_overlap_mask: set-up costs about as much as a word; few words idle less at the end."""
    return min(_OWN_WORDS, key=lambda own: (-(-parts * -(-words // own) // places) * (own + 1), -own))


def _beside(name: str, array: Any, dtypes: tuple[str, ...], box: ArrayDescriptor, library: Library) -> ArrayDescriptor:
    """One number for each box."""
    found, own = described(name, array, dtypes)
    if own is not library or found.device != box.device:
        raise ValueError(f"{name} must be in the library and on the device of boxes")
    if found.shape != box.shape[:-1]:
        raise ValueError(f"{name} must have shape {tuple(box.shape[:-1])}, got {tuple(found.shape)}")
    return found


def described(name: str, array: Any, dtypes: tuple[str, ...]) -> tuple[ArrayDescriptor, Library]:
    library = library_of(type(array))
    if library is None:
        raise TypeError(f"{name} must be an array of torch, cupy, numpy or jax, got {type(array).__name__}")
    found = library.describe(convert.detach(array))
    if found.dtype not in dtypes:
        raise TypeError(f"{name} must be one of {', '.join(dtypes)}, got {found.dtype}")
    if found.device >= 0:
        devices.check_not_forked()
    return found, library


def numbers(array: ArrayDescriptor | None, lead: int) -> tuple[int, bytes]:
    """`cuaug::TypedArray`: the pointer, and all else."""
    if array is None:
        return 0, bytes(_STRIDES.size)
    return array.pointer, _strides(array.strides, array.dtype, lead)


@functools.lru_cache(1024)
def _strides(strides: tuple[int, ...], dtype: str, lead: int) -> bytes:
    return _STRIDES.pack(*(*(0,) * (1 - lead), *strides, 0, 0)[:3], KINDS[dtype])
