"""The launch of a pass: its kernel, grid and sizes, computed from shapes, strides, dtypes and functors, and cached."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from .._arrays.images import BatchAxes
from .._gpu.executor import Grid
from .._program.dtypes import ITEM_SIZE
from .._program.names import chain, name_expression
from . import blur_tiles, grids, layouts
from .grids import Slices


class KernelConfig(NamedTuple):
    """A launch without its pointers and parameters."""

    skeleton: str
    kernel: str  # its name expression
    grid: Grid
    threads: int  # of a block
    sizes: tuple[int, ...]  # the last fields of `cuaug::BatchRecord`, from `frames` on
    shared_bytes: int  # shared memory in addition to what the kernel declares
    regions: tuple[int, ...]  # the last fields of `cuaug::WarpRecord`; empty for other kernels
    loops: dict[tuple[Any, ...], Any]  # CPU loops by their arguments except the record; `run_pass` adds them


class TemplateArguments(NamedTuple):
    """The values from which a skeleton's template arguments are chosen."""

    input: tuple[str, str, int]  # dtype, layout, channels of a slice (`grids.Slices`: up to four channels of a frame)
    functors: tuple[str, ...]
    output: tuple[str, str]  # dtype, layout
    out_channels: int


class KernelTemplate(NamedTuple):
    """A skeleton: the threads of its blocks, its grid, and its template arguments in their order."""

    threads: int  # of a block, as the .cu file declares; fewer for `grids.small_blocks`
    grid: Callable[..., Grid]
    arguments: Callable[[TemplateArguments], tuple[str | int, ...]]
    slice_per_frame: bool = True  # False: a slice is a whole sample, whose frames one pass reduces


def _input_chain_output(a: TemplateArguments) -> tuple[str | int, ...]:
    return *a.input, chain(a.functors), *a.output


KERNEL_TEMPLATES = {
    # Its functors are geometry, sampler, border, chain, and the epilogue if it is not `StoreOnly`.
    "warp_image": KernelTemplate(256, grids.warp, lambda a: (*a.input, *a.functors[:4], *a.output, *a.functors[4:])),
    # Its functors are the filter, the chain, and the part of the resized box if it is not `WholeBox`.
    "resample": KernelTemplate(128, grids.resample, lambda a: (*a.input, *a.functors[:2], *a.output, *a.functors[2:])),
    "pointwise": KernelTemplate(
        grids.POINTWISE_THREADS,
        grids.pointwise,
        lambda a: (*_input_chain_output(a), min(a.out_channels, 4)),
    ),
    "luma_mean": KernelTemplate(
        grids.POINTWISE_THREADS, grids.luma_mean, lambda a: (*a.input, *a.functors), slice_per_frame=False
    ),
    "channel_min_max": KernelTemplate(1024, grids.block_per_sample, lambda a: a.input, slice_per_frame=False),
    "histogram_lut": KernelTemplate(512, grids.block_per_channel, lambda a: a.input, slice_per_frame=False),
    "lut": KernelTemplate(grids.POINTWISE_THREADS, grids.pointwise, lambda a: (*a.input, a.output[1])),
    "adjust_sharpness": KernelTemplate(256, grids.adjust_sharpness, lambda a: (*a.input, a.output[1])),
    "jpeg": KernelTemplate(192, grids.jpeg, lambda a: (*a.input, a.output[1])),
    "mix": KernelTemplate(grids.POINTWISE_THREADS, grids.mix, lambda a: (*a.input, *a.functors, a.output[1])),
    "blend": KernelTemplate(grids.POINTWISE_THREADS, grids.pointwise, _input_chain_output),
    "gaussian_blur": KernelTemplate(224, grids.gaussian_blur, _input_chain_output),
    "gaussian_blur_u8": KernelTemplate(32, grids.gaussian_blur_u8, _input_chain_output),
    # A block has as many warps as a pixel has channels (`StripRuns.threads`).
    "gaussian_blur_packed": KernelTemplate(32, grids.gaussian_blur_u8, _input_chain_output),
}


@functools.lru_cache(4096)
def kernel_config(
    skeleton: str,
    names: tuple[str, ...],
    input_axes: BatchAxes,
    input_misalignment: int,
    output_axes: BatchAxes,
    output_misalignment: int,
    grid_args: blur_tiles.Tile | blur_tiles.StripRuns | tuple[grids.Staging | int, ...] = (),
) -> KernelConfig:
    """The launch of a skeleton.

    Args:
        skeleton: A key of `KERNEL_TEMPLATES`.
        names: Input dtype, output dtype and the functors.
        input_axes: Of the images.
        input_misalignment: Their pointer modulo 16.
        output_axes: Of the result.
        output_misalignment: Its pointer modulo 16.
        grid_args: Further arguments of the grid; a warp's are computed here.
    """
    (in_dtype, out_dtype, *functors), template = names, KERNEL_TEMPLATES[skeleton]
    samples, frames, channels, height, width = input_axes.extents
    in_layout, out_layout = layouts.tag(input_axes), layouts.tag(output_axes)
    is_warp = skeleton == "warp_image"
    raw_staged = is_warp and stages_raw(names, in_layout)
    if raw_staged and _row_bytes(input_axes, ITEM_SIZE[in_dtype]) >= 1 << 31:
        in_layout, raw_staged = "Strided", False  # bytes of raw-staged boxes are counted in 32 bits
    slice_channels = min(channels, 4)
    count = samples
    if template.slice_per_frame:
        count *= frames * (-(-channels // slice_channels) if "Strided" in in_layout + out_layout else 1)
    slices = Slices(in_dtype, slice_channels, count, *output_axes.extents[3:])
    small_blocks = is_warp and grids.small_blocks(in_dtype, slice_channels, raw_staged)
    small_output = small_blocks and grids.small_output(slices, (height, width))
    if small_output:
        out_layout = f"SmallOutput<cuaug::{out_layout}>"
    if is_warp:
        staging = grids.Staging(raw_staged, functors[2] == "Constant")
        can_halve_regions = "StoreAndMean" not in functors  # which makes one partial sum for each whole region
        grid_args = staging, can_halve_regions
    arguments = (in_dtype, in_layout, slice_channels), tuple(functors), (out_dtype, out_layout), output_axes.extents[2]
    return KernelConfig(
        skeleton,
        _kernel_name(skeleton, TemplateArguments(*arguments)),
        template.grid(slices, *grid_args),
        grid_args.threads
        if isinstance(grid_args, blur_tiles.StripRuns)
        else template.threads >> small_blocks + small_output,
        sizes=(
            *(frames, channels, height, width, *output_axes.extents[3:]),
            layouts.vector_elements(input_axes, in_dtype, input_misalignment),
            layouts.vector_elements(output_axes, out_dtype, output_misalignment),
        ),
        shared_bytes=grid_args.shared_bytes if isinstance(grid_args, blur_tiles.Tile) else 0,
        regions=grids.warp_regions(slices, *grid_args) if is_warp else (),
        loops={},
    )


@functools.lru_cache(4096)
def _kernel_name(skeleton: str, arguments: TemplateArguments) -> str:
    return name_expression(skeleton, *KERNEL_TEMPLATES[skeleton].arguments(arguments))


def stages_raw(names: tuple[str, ...], layout: str) -> bool:
    """Whether a warp stages its source boxes raw: `is_raw_staged` of kernels/gpu/warp_config.cuh."""
    in_dtype, out_dtype, *functors = names
    geometry, sampler, border, *rest = functors
    is_plain_bilinear = (geometry, sampler, *rest) == ("Affine", "Bilinear", chain(()))
    has_window = border.startswith("WindowedBorder")
    has_raw_layout = layout in ("Planar", "Packed") and in_dtype == out_dtype != "float64"
    return is_plain_bilinear and not has_window and has_raw_layout


def _row_bytes(axes: BatchAxes, item_size: int) -> int:
    """The larger of a row's length and the stride of rows."""
    return item_size * max(abs(axes.strides[3]), axes.strides[4] * axes.extents[4])
