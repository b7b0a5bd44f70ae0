"""Greedy suppression: checks and describes boxes, packs the record of kernels/nms_record.cuh, and runs it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from . import _array, _check, _cpu, _cuda
from ._dlpack import Tensor

RECORD = struct.Struct("P4q P4q P4q P4q 7P q 2d 4i")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_WHOLE = ("uint8", "int16", "int32", "int64", "bool")
_KINDS = {name: i for i, name in enumerate((*_FLOATS, *_WHOLE[:4]))} | {"bool": 4}
_NONE = (0,) * 5
_TILE, _BLOCK, _RANK_THREADS = 1024, 64, 256  # kernels/nms_record.cuh, nms_rank.cu
_KEY = 24  # bytes


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
    _check.flag("fixed_size", fixed_size)
    box, library = _described("boxes", boxes, _FLOATS)
    batch, count = tuple(box.shape[:-2]), box.shape[-2] if len(box.shape) > 1 else 0
    if len(box.shape) not in (2, 3) or box.shape[-1] != 4:
        raise ValueError(f"boxes must have shape (K, 4) or (N, K, 4), got {tuple(box.shape)}")
    if batch and not fixed_size:
        raise ValueError(f"fixed_size must be True for a batch of boxes, of shape {tuple(box.shape)}")
    beside = [(box, len(batch))]
    for name, array, dtypes in (("scores", scores, _FLOATS), ("classes", classes, _WHOLE)):
        if array is None:
            continue
        found, own = _described(name, array, dtypes)
        if own is not library or found.device != box.device:
            raise ValueError(f"{name} must be in the library and on the device of boxes")
        if tuple(found.shape) != (*batch, count):
            raise ValueError(f"{name} must have shape {(*batch, count)}, got {tuple(found.shape)}")
        beside.append((found, len(batch)))
    samples = batch[0] if batch else 1
    most = count if max_output is None else _check.whole("max_output", max_output, 0)
    most = most if fixed_size else min(most, count)
    blocks, tiles = -(-count // _BLOCK), -(-count // _TILE)
    wide = box.dtype == "float64"
    sizes = (
        (1 if classes is None else 2) * samples * tiles * _TILE * _KEY,
        samples * count * (56 if wide else 32),
        samples * blocks * 16,
        samples * count * 4,
        (1 + samples) * 4,
    )
    if count >= 1 << 30 or samples * tiles * _TILE >= 1 << 31:
        raise ValueError(
            f"boxes must be fewer than 2**31 in all, padded to {_TILE}, and 2**30 a sample, got {samples} x {count}, "
            f"which would take {sum(sizes) / 2**30:.0f} GiB of memory beside them"
        )
    parts = None
    if counts is not None:
        parts = _described("counts", _array.asarray(counts, like=boxes, dtype="int64"), _WHOLE)[0]
        if not batch or tuple(parts.shape) != batch:
            raise ValueError(f"counts must have an entry for each sample of boxes {tuple(box.shape)}")
    if not samples * count:
        empty = np.full((*batch, most), -1), np.zeros(batch, np.int64)
        indices, kept = (library.finish(library.load(values, box.device)) for values in empty)
        return (indices, kept) if fixed_size else indices
    dtype = _array.index_dtype(library)
    indices = library.empty((*batch, most), dtype, box.device, None)
    kept = library.empty(batch, dtype, box.device, None)
    spaces = np.cumsum([0, *(-(-size // 256) * 256 for size in sizes)]).tolist()
    memory = library.empty((spaces[-1],), "uint8", box.device, None)
    start = library.pointer(memory)
    data = RECORD.pack(
        *(number for array, lead in beside for number in _numbers(array, lead)),
        *(_NONE if classes is None else ()),
        *(_numbers(parts, 1) if parts else _NONE),
        *(library.pointer(indices), library.pointer(kept), *(start + space for space in spaces[:-1])),
        samples,
        *(iou_threshold, score_threshold or 0.0),
        *(count, most, score_threshold is not None, _array.ITEM_SIZE[dtype]),
    )
    _run(library, data, box.device, "float64" if wide else "float32", samples, tiles, blocks, classes is not None)
    indices, kept = library.finish(indices), library.finish(kept)
    return (indices, kept) if fixed_size else indices[: int(kept)]


def _run(
    library: _array.Library,
    data: bytes,
    device: int,
    real: str,
    samples: int,
    tiles: int,
    blocks: int,
    by_class: bool,
) -> None:
    if device < 0:
        _cpu.native().nms(data, real)
        return
    orders = 2 if by_class and tiles > 1 else 1
    library.launch(f"cuaug::nms_sort<cuaug::{real}>", data, (tiles * samples, orders, 1), _TILE // 2, 0, device)
    if tiles > 1:
        grid = tiles * samples * (_TILE // _RANK_THREADS), 1, 1
        library.launch(f"cuaug::nms_rank<cuaug::{real}>", data, grid, _RANK_THREADS, 0, device)
    library.launch(f"cuaug::nms<cuaug::{real}>", data, (blocks * samples, 1, 1), 256, 0, device)


def _described(name: str, array: Any, dtypes: tuple[str, ...]) -> tuple[Tensor, _array.Library]:
    library = _array.library(type(array))
    if library is None:
        raise TypeError(f"{name} must be an array of torch, cupy, numpy or jax, got {type(array).__name__}")
    found = library.describe(_array.detached(array))
    if found.dtype not in dtypes:
        raise TypeError(f"{name} must be one of {', '.join(dtypes)}, got {found.dtype}")
    if found.device >= 0:
        _cuda.ready()
    return found, library


def _numbers(array: Tensor, lead: int) -> tuple[int, ...]:
    """`cuaug::Numbers`."""
    strides = (*(0,) * (1 - lead), *array.strides, 0, 0)[:3]
    return array.pointer, *strides, _KINDS[array.dtype]
