"""Passes that reduce images to numbers: mean luma, minimum and maximum of each channel, tables from histograms."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch
from .._program.names import chain
from . import grids
from .kernel_config import kernel_config
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .partial_sums import NO_PARTIAL_SUMS, PartialSums
from .run import pack_pointwise, run_pass

EVERY_SAMPLE = SampleParameters(NULL_ARRAY, (1.0,))
EQUALIZE_ALL = SampleParameters(NULL_ARRAY, (1.0,))  # `equalize` of kernels/ops/histogram_lut.cuh


def mean_luma_parameter(images: ImageBatch, mean_column: int) -> PartialSums:
    """Each sample's mean luma, as parameter number `mean_column` of an op chain."""
    count = mean_part_count(images)
    means = images.library.empty((images.samples, count), "float64", images.device, None)
    pointer = images.library.pointer(means)
    luma_mean(images, (), SampleParameters(NULL_ARRAY, ()), pointer, count)
    return PartialSums(StridedArray(pointer, count, 0, 1, 1, means), count, mean_column)


def mean_part_count(images: ImageBatch) -> int:
    """The number of partial sums that `luma_mean` stores for each sample."""
    return 1 if images.device < 0 else grids.mean_block_count(images.frames, images.size)


def luma_mean(
    images: ImageBatch,
    ops: tuple[str, ...],
    parameters: SampleParameters,
    pointer: int,
    sample_stride: int,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
    in_place: bool = False,
    as_partial_sums: bool = True,
) -> None:
    """Stores the mean luma of each sample after a chain of ops, at `pointer`, as float64.

    Args:
        images: The images.
        ops: The structs of the chain.
        parameters: Those of all ops, side by side.
        pointer: Where the first sample's mean is stored.
        sample_stride: From a sample's mean to the next, in elements.
        partial_sums: A parameter of the chain that is a sum.
        in_place: The result of the ops replaces the images.
        as_partial_sums: True: stores `mean_part_count` numbers per sample, whose sum is the mean. False: stores the
            mean as one number.
    """
    if images.samples * images.frames == 0:
        return
    names = images.dtype, images.dtype, chain(ops), *(("StoreInPlace",) if in_place else ())
    grid_args = (images.frames,) if as_partial_sums else (images.frames, 1)
    config = kernel_config("luma_mean", names, images.axes, images.pointer % 16, images.axes, 0, grid_args)
    record = pack_pointwise(images, pointer, (sample_stride, 0, 0, 0, 0), config, parameters, partial_sums)
    run_pass(config, images, record, images.dtype, ops, in_place)


def channel_min_max(images: ImageBatch, applies: SampleParameters = EVERY_SAMPLE) -> SampleParameters:
    """The minimum of each channel, then the maximum of each; NaN for a sample whose `applies` is 0. [N, 2 C]"""
    values = _statistic("channel_min_max", images, applies, 2 * images.channels, "float64")
    return SampleParameters(StridedArray(images.library.pointer(values), 2 * images.channels, 0, 1, 1, values), ())


def histogram_lut(images: ImageBatch, kinds: SampleParameters = EQUALIZE_ALL) -> StridedArray:
    """Lookup tables from each sample's histogram. [N, C, 256]

    `kinds`: a number of `HistogramLut` for each sample (kernels/ops/histogram_lut.cuh).
    """
    table = _statistic("histogram_lut", images, kinds, 256 * images.channels, "uint8", images.channels)
    return StridedArray(images.library.pointer(table), 256 * images.channels, 256, 1, 0, table)


def _statistic(
    skeleton: str, images: ImageBatch, parameters: SampleParameters, count: int, dtype: str, *grid_args: int
) -> Any:
    """`count` numbers per sample, over all its frames, as an array of the images' library."""
    table = images.library.empty((images.samples, count), dtype, images.device, None)
    if images.samples * images.frames:
        names = images.dtype, images.dtype
        config = kernel_config(skeleton, names, images.axes, images.pointer % 16, images.axes, 0, grid_args)
        record = pack_pointwise(images, images.library.pointer(table), (0,) * 5, config, parameters)
        run_pass(config, images, record, images.dtype)
    return table
