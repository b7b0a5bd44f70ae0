"""Passes that reduce each image to numbers: mean luma, minimum and maximum of channels, histograms."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch
from .._program.names import chain
from . import kernel_config as _plans
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .partial_sums import NO_PARTIAL_SUMS, PartialSums
from .run import pack_pointwise, run_pass

EVERY_SAMPLE = SampleParameters(NULL_ARRAY, (1.0,))  # samples, of which a statistic is wanted


def mean_luma_parameter(image: ImageBatch, column: int) -> PartialSums:
    """Each sample's mean luma, as a parameter."""
    means = image.library.empty((image.samples,), "float64", image.device, None)
    pointer = image.library.pointer(means)
    luma_mean(image, (), SampleParameters(NULL_ARRAY, ()), pointer, 1)
    return PartialSums(StridedArray(pointer, 1, 0, 0, 1, means), 1, column)


def luma_mean(
    image: ImageBatch,
    ops: tuple[str, ...],
    parameters: SampleParameters,
    pointer: int,
    stride: int,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
    in_place: bool = False,
) -> None:
    """The mean luma behind a chain of ops goes to `pointer`, those of samples `stride` numbers apart.

    `in_place`: what the ops make takes the images' place.
    """
    if image.samples * image.axes.extents[1] == 0:
        return
    names = image.dtype, image.dtype, chain(ops), *(("StoreInPlace",) if in_place else ())
    plan = _plans.kernel_config("luma_mean", names, image.axes, image.pointer % 16, image.axes, 0)
    strides = stride, 0, 0, 0, 0
    run_pass(
        plan, image, pack_pointwise(image, pointer, strides, plan, parameters, partial_sums), image.dtype, ops, in_place
    )


def channel_min_max(image: ImageBatch, wanted: SampleParameters = EVERY_SAMPLE) -> SampleParameters:
    """The least value of each channel of each sample, then the greatest ones; NaN of samples not wanted. [N, 2 C]"""
    values = _statistic("channel_min_max", image, wanted, 2 * image.channels, "float64")
    return SampleParameters(StridedArray(image.library.pointer(values), 2 * image.channels, 0, 1, 1, values), ())


def histogram_lut(image: ImageBatch, wanted: SampleParameters = EVERY_SAMPLE) -> StridedArray:
    """What becomes of each level, by what is wanted of each sample (kernels/ops/histogram_lut.cuh). [N, C, 256]"""
    table = _statistic("histogram_lut", image, wanted, 256 * image.channels, "uint8", image.channels)
    return StridedArray(image.library.pointer(table), 256 * image.channels, 256, 1, 0, table)


def _statistic(
    skeleton: str, image: ImageBatch, wanted: SampleParameters, count: int, dtype: str, *further: int
) -> Any:
    """`count` numbers of each sample, all its frames together, in the images' library."""
    table = image.library.empty((image.samples, count), dtype, image.device, None)
    if image.samples * image.axes.extents[1]:
        plan = _plans.kernel_config(
            skeleton, (image.dtype, image.dtype), image.axes, image.pointer % 16, image.axes, 0, further
        )
        data = pack_pointwise(image, image.library.pointer(table), (0,) * 5, plan, wanted)
        run_pass(plan, image, data, image.dtype)
    return table
