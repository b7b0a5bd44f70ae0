"""How a pass is launched: its kernel, grid and sizes, of shapes, dtypes and options alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from .._arrays.images import BatchAxes
from .._program.dtypes import ITEM_SIZE
from .._program.names import chain, name_expression
from . import grids as _grids
from . import layouts as _layouts


class KernelConfig(NamedTuple):
    """A launch, but for its pointers and parameters."""

    skeleton: str
    kernel: str
    grid: tuple[int, int, int]
    threads: int  # of a block
    sizes: tuple[int, ...]  # frames, channels, in H, in W, out H, out W, in aligned, out aligned
    shared: int  # bytes of shared memory beside those that the kernel declares
    # Of a warp: a region's rows, how many are below each other, what divides their numbers, how many are in one piece.
    regions: tuple[int, ...]


class KernelTemplate(NamedTuple):
    """A kernel: the threads of its blocks, its grid, its template arguments in their order."""

    threads: int  # as its text has it; small blocks have half
    grid: Callable[..., tuple[int, int, int]]
    arguments: Callable[[tuple[str, ...], tuple[str, str], int, BatchAxes], tuple[str | int, ...]]
    by_frame: bool = True  # else a sample's frames belong together


KERNEL_TEMPLATES = {
    "warp_image": KernelTemplate(256, _grids.warp, lambda n, ls, k, _: (n[0], ls[0], k, *n[2:6], n[1], ls[1], *n[6:])),
    "resample": KernelTemplate(128, _grids.resample, lambda n, ls, k, _: (n[0], ls[0], k, *n[2:], n[1], ls[1])),
    "pointwise": KernelTemplate(
        _grids.POINTWISE_THREADS,
        _grids.pointwise,
        lambda n, ls, k, to: (n[0], ls[0], k, chain(n[2:]), n[1], ls[1], min(to.extents[2], 4)),
    ),
    "luma_mean": KernelTemplate(
        512, _grids.block_per_sample, lambda n, ls, k, _: (n[0], ls[0], k, *n[2:]), by_frame=False
    ),
    "channel_min_max": KernelTemplate(
        1024, _grids.block_per_sample, lambda n, ls, k, _: (n[0], ls[0], k), by_frame=False
    ),
    "histogram_lut": KernelTemplate(
        512, _grids.block_per_channel, lambda n, ls, k, _: (n[0], ls[0], k), by_frame=False
    ),
    "lut": KernelTemplate(512, _grids.lut, lambda n, ls, k, _: (n[0], ls[0], k, ls[1])),
    "adjust_sharpness": KernelTemplate(256, _grids.adjust_sharpness, lambda n, ls, k, _: (n[0], ls[0], k, ls[1])),
    "mix": KernelTemplate(256, _grids.four_pixels_per_thread, lambda n, ls, k, _: (n[0], ls[0], k, n[2], ls[1])),
    "blend": KernelTemplate(
        _grids.POINTWISE_THREADS, _grids.pointwise, lambda n, ls, k, _: (n[0], ls[0], k, chain(n[2:]), n[1], ls[1])
    ),
    "gaussian_blur": KernelTemplate(224, _grids.gaussian_blur, lambda n, ls, k, _: (n[0], ls[0], k, n[1], ls[1])),
}


@functools.lru_cache(4096)
def kernel_config(
    skeleton: str,
    names: tuple[str, ...],
    source: BatchAxes,
    phase: int,
    target: BatchAxes,
    to_phase: int,
    further: _grids.Tile | tuple[int, ...] = (),
) -> KernelConfig:
    """`names` are source dtype, target dtype and the functors; `further` is what else the grid depends on."""
    samples, frames, channels, height, width = source.extents
    layouts = _layouts.tag(source), _layouts.tag(target)
    warps = skeleton == "warp_image"
    copied = warps and stages_raw(names, layouts[0])
    if copied and _row_bytes(source, ITEM_SIZE[names[0]]) >= 1 << 31:
        layouts, copied = ("Strided", layouts[1]), False  # bytes of copied boxes are counted in 32 bits
    group = min(channels, 4)
    made = KERNEL_TEMPLATES[skeleton]
    slices = (
        samples * frames * (-(-channels // group) if "Strided" in "".join(layouts) else 1) if made.by_frame else samples
    )
    shape = (names[0], group, slices, *target.extents[3:])
    if warps:
        further = copied, "StoreAndMean" not in names  # parts of a mean are of regions in one piece
    return KernelConfig(
        skeleton,
        name_expression(skeleton, *made.arguments(names, layouts, group, target)),
        made.grid(*shape, *further),
        made.threads // 2 if _grids.small_blocks(names[0], group, copied) else made.threads,
        sizes=(
            *(frames, channels, height, width, *target.extents[3:]),
            *(_layouts.aligned(source, names[0], phase), _layouts.aligned(target, names[1], to_phase)),
        ),
        shared=further.shared if isinstance(further, _grids.Tile) else 0,
        regions=_grids.warp_regions(*shape, *further) if warps else (),
    )


def stages_raw(names: tuple[str, ...], layout: str) -> bool:
    """Whether a warp stages its source boxes raw: `is_raw_staged` of kernels/gpu/warp_config.cuh."""
    dtype, result, *how = names
    moved = ["Affine", "Bilinear", "Constant", chain(())]
    return how == moved and layout in ("Planar", "Packed") and dtype == result != "float64"


def _row_bytes(source: BatchAxes, item: int) -> int:
    """From row to row, or of a row, whichever are more."""
    return item * max(abs(source.strides[3]), source.strides[4] * source.extents[4])
