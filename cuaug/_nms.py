"""Greedy suppression: checks and describes boxes, packs the record of kernels/nms_record.cuh, and runs it."""

from __future__ import annotations

import functools
import itertools
import struct
from typing import Any, NamedTuple

import numpy as np

from . import _array, _check, _cpu, _cuda, _operators
from ._dlpack import Tensor

RECORD = struct.Struct("P4q P4q P4q P4q 7P q 2d 6i")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_WHOLE = ("uint8", "int16", "int32", "int64", "bool")
KINDS = {name: i for i, name in enumerate((*_FLOATS, *_WHOLE[:4]))} | {"bool": 4}
_TILE, _BLOCK, _RANK_THREADS = 1024, 64, 256  # kernels/nms_record.cuh, nms_rank.cu
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
    if _array.compiling():
        options = (iou_threshold, score_threshold, max_output, fixed_size)
        return _operators.suppress(boxes, scores, classes, counts, *options)
    _check.number("iou_threshold", iou_threshold, 0, 1)
    if score_threshold is not None:
        _check.number("score_threshold", score_threshold, -np.inf)
    given = described_boxes(boxes, scores, counts, (4, 5), max_output, fixed_size)
    box, library, batch = given.boxes, given.library, given.batch
    samples, count, most = given.samples, given.each, given.most
    label = None if classes is None else _beside("classes", classes, _WHOLE, box, library)
    rotated = box.shape[-1] == 5
    real = "Rotated" if rotated else "float64" if box.dtype == "float64" else "float32"
    layout = _layout(samples, count, real, classes is not None)
    if not samples * count:
        indices, kept = given.nothing()
        return (indices, kept) if fixed_size else indices

    dtype, lead = _array.index_dtype(library), len(batch)
    indices = library.empty((*batch, most), dtype, box.device, None)
    kept = library.empty(batch, dtype, box.device, None)
    memory = library.empty((layout.bytes,), "uint8", box.device, None)
    start = library.pointer(memory)
    data = RECORD.pack(
        *(*numbers(box, lead), *numbers(given.scores, lead), *numbers(label, lead), *numbers(given.counts, 1)),
        *(library.pointer(indices), library.pointer(kept), *(start + space for space in layout.spaces)),
        *(samples, iou_threshold, score_threshold or 0.0),
        *(count, most, score_threshold is not None, _array.ITEM_SIZE[dtype], rotated, 0),
    )
    if box.device < 0:
        _cpu.native().nms(data, "float64" if box.dtype == "float64" else "float32")
    else:
        for kernel, grid, threads in layout.launches:
            library.launch(kernel, data, grid, threads, 0, box.device)
    indices, kept = library.finish(indices), library.finish(kept)
    return (indices, kept) if fixed_size else indices[: int(kept)]


class Boxes(NamedTuple):
    """Boxes and scores, of one sample or of a batch, and how many of them are asked for."""

    boxes: Tensor
    scores: Tensor
    counts: Tensor | None
    library: _array.Library
    batch: tuple[int, ...]
    samples: int
    each: int
    most: int

    def nothing(self) -> tuple[Any, Any]:
        """No index, and how many."""
        values = np.full((*self.batch, self.most), -1), np.zeros(self.batch, np.int64)
        indices, kept = (self.library.finish(self.library.load(array, self.boxes.device)) for array in values)
        return indices, kept


def described_boxes(
    boxes: Any, scores: Any, counts: Any, columns: tuple[int, ...], max_output: int | None, fixed_size: bool
) -> Boxes:
    _check.flag("fixed_size", fixed_size)
    box, library = described("boxes", boxes, _FLOATS)
    if len(box.shape) not in (2, 3) or box.shape[-1] not in columns:
        rotated = ", or 5 numbers if rotated" if 5 in columns else ""
        raise ValueError(f"boxes must have shape (K, 4) or (N, K, 4){rotated}, got {tuple(box.shape)}")
    batch, count = tuple(box.shape[:-2]), box.shape[-2]
    if batch and not fixed_size:
        raise ValueError(f"fixed_size must be True for a batch of boxes, of shape {tuple(box.shape)}")
    score = _beside("scores", scores, _FLOATS, box, library)
    share = None
    if counts is not None:
        share, _ = described("counts", _array.asarray(counts, like=boxes, dtype="int64"), _WHOLE)
        if not batch or tuple(share.shape) != batch:
            raise ValueError(f"counts must have an entry for each sample of boxes {tuple(box.shape)}")
    most = count if max_output is None else _check.whole("max_output", max_output, 0)
    most = most if fixed_size else min(most, count)
    return Boxes(box, score, share, library, batch, batch[0] if batch else 1, count, most)


class _Layout(NamedTuple):
    """What follows from sizes alone: where the parts of the scratch memory begin, and the kernels."""

    spaces: tuple[int, ...]
    bytes: int
    launches: tuple[tuple[str, tuple[int, int, int], int], ...]


@functools.lru_cache(1024)
def _layout(samples: int, count: int, real: str, by_class: bool) -> _Layout:
    blocks, tiles = -(-count // _BLOCK), -(-count // _TILE)
    sizes = (
        (2 if by_class else 1) * samples * tiles * _TILE * _KEY,
        samples * count * _CANDIDATE[real],
        samples * blocks * 16,
        samples * count * 4,
        (1 + samples) * 4,
    )
    if count >= 1 << 30 or samples * tiles * _TILE >= 1 << 31:
        raise ValueError(
            f"boxes must be fewer than 2**30 a sample, and 2**31 in all, padded to {_TILE}: got {samples} x {count}, "
            f"which would take {sum(sizes) / 2**30:.0f} GiB of memory beside them"
        )
    ends = list(itertools.accumulate(-(-size // 256) * 256 for size in sizes))
    launches = [
        ("nms_sort", (tiles * samples, 2 if by_class and tiles > 1 else 1, 1), _TILE // 2),
        ("nms_rank", (tiles * samples * (_TILE // _RANK_THREADS), 1, 1), _RANK_THREADS),
        ("nms", (blocks * samples, 1, 1), 256),
    ]
    if tiles == 1:
        del launches[1]  # what is sorted has its rank
    named = tuple((f"cuaug::{skeleton}<cuaug::{real}>", grid, threads) for skeleton, grid, threads in launches)
    return _Layout((0, *ends[:-1]), ends[-1], named)


def _beside(name: str, array: Any, dtypes: tuple[str, ...], box: Tensor, library: _array.Library) -> Tensor:
    """One number for each box."""
    found, own = described(name, array, dtypes)
    if own is not library or found.device != box.device:
        raise ValueError(f"{name} must be in the library and on the device of boxes")
    if tuple(found.shape) != tuple(box.shape[:-1]):
        raise ValueError(f"{name} must have shape {tuple(box.shape[:-1])}, got {tuple(found.shape)}")
    return found


def described(name: str, array: Any, dtypes: tuple[str, ...]) -> tuple[Tensor, _array.Library]:
    library = _array.library(type(array))
    if library is None:
        raise TypeError(f"{name} must be an array of torch, cupy, numpy or jax, got {type(array).__name__}")
    found = library.describe(_array.detached(array))
    if found.dtype not in dtypes:
        raise TypeError(f"{name} must be one of {', '.join(dtypes)}, got {found.dtype}")
    if found.device >= 0:
        _cuda.ready()
    return found, library


def numbers(array: Tensor | None, lead: int) -> tuple[int, ...]:
    """`cuaug::Numbers`."""
    if array is None:
        return (0,) * 5
    strides = (*(0,) * (1 - lead), *array.strides, 0, 0)[:3]
    return array.pointer, *strides, KINDS[array.dtype]
