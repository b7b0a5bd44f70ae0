"""Kernels, grids and scratch memory of greedy suppression, chosen by sizes and dtypes alone."""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

# kernels/records/nms.cuh
TILE, BLOCK = 1024, 64  # boxes that a block of nms_sort.cu sorts; boxes of a block of nms.cu
# kernels/detection
RANK_THREADS = 64  # of a block; nms_rank.cu
NMS_THREADS = 256  # of a block; nms.cu
PART = 256  # boxes of a sample that a block of nms_overlap_mask.cu compares with others; nms_pairs.cuh
SMALL_MAX, SMALL_WARPS = 1024, 8  # boxes of a sample, warps of a block; nms_small.cuh
RESOLVE_WARPS = 32  # of a block; nms_resolve.cu
WORDS_PER_BLOCK_CHOICES = (2, 4, 6, 8)  # for `NmsRecord::words_per_block`; nms_overlap_mask.cu
# If samples have at most SMALL_MAX boxes, a GPU compares all pairs of boxes of a sample. For larger samples it does so
# if the batch has at most MAX_PAIRS pairs, and the GPU at least as many multiprocessors as nms_resolve has blocks for
# one sample. Otherwise, and for rotated boxes (314 us instead of 763), boxes are sorted first, so that fewer pairs are
# compared.
MAX_PAIRS = 1 << 28
_RESIDENT_BLOCKS = {"float32": 4, "float64": 1}  # blocks of nms_overlap_mask.cu on a multiprocessor
KEY_BYTES, RANKED_BOX_BYTES = 24, {"float32": 32, "float64": 56, "Rotated": 64}  # nms_boxes.cuh
_ALIGNMENT = 256  # bytes


class NmsPlan(NamedTuple):
    offsets: tuple[int, ...]  # in the scratch memory: keys, ranked_boxes, decisions, kept, block_counts of the record
    scratch_bytes: int
    words_per_block: int  # of the record
    launches: tuple[tuple[str, tuple[int, int, int], int], ...]  # kernel, grid, threads


# Bytes of each array of NmsPlan.offsets; words per block; kernel, x, y and threads of each launch.
_SizesAndLaunches = tuple[tuple[int, ...], int, list[tuple[str, int, int, int]]]


@functools.lru_cache(1024)
def plan_nms(samples: int, count: int, compute_type: str, has_classes: bool, multiprocessors: int) -> NmsPlan:
    """`compute_type`: "float32", "float64" or "Rotated"; `multiprocessors`: of the GPU, 0 for the CPU."""
    compares_all = multiprocessors > 0 and compute_type != "Rotated"
    if compares_all and count <= SMALL_MAX:
        sizes, words_per_block, launches = _small(samples, count, compute_type)
    elif compares_all and _resolve_blocks(count) <= multiprocessors and samples * count**2 <= MAX_PAIRS:
        sizes, words_per_block, launches = _all_pairs(samples, count, compute_type, multiprocessors)
    else:
        sizes, words_per_block, launches = _sorted(samples, count, compute_type, has_classes)
    if count >= 1 << 30 or samples * -(-count // TILE) * TILE >= 1 << 31:
        raise ValueError(
            f"boxes must be fewer than 2**30 a sample, and 2**31 in all, padded to {TILE}: got {samples} x {count}, "
            f"which would need {sum(sizes) / 2**30:.0f} GiB of scratch memory"
        )
    ends = list(itertools.accumulate(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes))
    named_launches = tuple((f"cuaug::{kernel}", (x, y, 1), threads) for kernel, x, y, threads in launches)
    return NmsPlan((0, *ends[:-1]), ends[-1], words_per_block, named_launches if multiprocessors else ())


def _small(samples: int, count: int, compute_type: str) -> _SizesAndLaunches:
    """All pairs of a small sample; one block resolves a sample."""
    words = -(-count // 32)
    parts = -(-words // SMALL_WARPS)
    launches = [
        (f"nms_small_overlap_mask<cuaug::{compute_type}>", parts * words * samples, 1, 32 * SMALL_WARPS),
        ("nms_small_resolve", samples, 1, 32 * words),
    ]
    # nms_small.cuh keeps the overlap masks in `ranked_boxes`, and the counts of preceding boxes in `kept`.
    overlap_mask_bytes, preceding_count_bytes = samples * count * 4 * words, samples * count * 4 * parts
    return (0, overlap_mask_bytes, 0, preceding_count_bytes, 0), 0, launches


def _all_pairs(samples: int, count: int, compute_type: str, multiprocessors: int) -> _SizesAndLaunches:
    """All pairs; the blocks that resolve a sample poll each other's decisions, fastest if all of them are resident."""
    words, parts = -(-count // 32), -(-count // PART)
    resolve_threads = 32 * _word_groups(count) * _words_per_resolve_block(count)
    words_per_block = _words_per_block(words, parts * samples, _RESIDENT_BLOCKS[compute_type] * multiprocessors)
    launches = [
        (f"nms_overlap_mask<cuaug::{compute_type}>", parts * -(-words // words_per_block) * samples, 1, PART),
        ("nms_resolve", _resolve_blocks(count) * samples, 1, resolve_threads),
    ]
    # nms_pairs.cuh keeps a summary for each box and part in `keys`, and the overlap masks in `ranked_boxes`.
    summary_bytes, overlap_mask_bytes = samples * count * 4 * parts, samples * count * 4 * words
    decision_bytes, kept_bytes = _decision_bytes(samples, count), samples * count * 4
    sizes = summary_bytes, overlap_mask_bytes, decision_bytes, kept_bytes, (1 + samples) * 4
    return sizes, words_per_block, launches


def _sorted(samples: int, count: int, compute_type: str, has_classes: bool) -> _SizesAndLaunches:
    """Boxes sorted by class and score; each block follows the decisions of the blocks before it."""
    blocks, tiles, orders = -(-count // BLOCK), -(-count // TILE), 2 if has_classes else 1
    launches = [
        ("nms_sort", tiles * samples, orders, TILE),
        (f"nms_rank<cuaug::{compute_type}>", tiles * samples * (TILE // RANK_THREADS), 1, RANK_THREADS),
        (f"nms<cuaug::{compute_type}>", blocks * samples, 1, NMS_THREADS),
    ]
    sizes = (
        orders * samples * tiles * TILE * KEY_BYTES,
        samples * count * RANKED_BOX_BYTES[compute_type],
        _decision_bytes(samples, count),
        samples * count * 4,
        (1 + samples) * 4,
    )
    return sizes, 0, launches


def _decision_bytes(samples: int, count: int) -> int:
    return samples * -(-count // BLOCK) * (BLOCK // 32) * 8


def _word_groups(count: int) -> int:
    """Groups of 32 words in a sample: a warp of nms_resolve combines one word with the boxes of one group."""
    return -(-count // (32 * 32)) or 1


def _words_per_resolve_block(count: int) -> int:
    """Words of 32 boxes that a block of nms_resolve resolves."""
    return max(RESOLVE_WARPS // _word_groups(count), 1)


def _resolve_blocks(count: int) -> int:
    """Blocks of nms_resolve for a sample."""
    words = -(-count // 32)
    return -(-words // _words_per_resolve_block(count))


def _words_per_block(words: int, part_count: int, resident_blocks: int) -> int:
    """The choice with the least waves x (words + 1): a block's set-up costs about as much as a word.

    Of choices with equal cost, the largest. `part_count`: parts of all samples; the grid has a block for each part and
    each run of words.
    """

    def cost(choice: int) -> tuple[int, int]:
        waves = -(-part_count * -(-words // choice) // resident_blocks)
        return waves * (choice + 1), -choice

    return min(WORDS_PER_BLOCK_CHOICES, key=cost)
