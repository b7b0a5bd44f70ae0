"""Packs the record fields that passes share, and hands a pass to its executor."""

from __future__ import annotations

from typing import Any

from .._arrays.images import BatchAxes, ImageBatch, OutputArray
from .._gpu import devices
from .._host.extension import chain_ops, extension
from .._program.records import MAX_INLINE_VALUES, POINTWISE
from . import grids
from .kernel_config import KernelConfig
from .parameters import SampleParameters
from .partial_sums import NO_PARTIAL_SUMS, PartialSums


def resident_blocks(images: ImageBatch) -> int:
    """Blocks of kernels/passes/pointwise.cu that are resident on the images' GPU; 1 for a CPU, which has no grid."""
    if images.device < 0:
        return 1
    return grids.POINTWISE_BLOCKS_PER_MULTIPROCESSOR * devices.multiprocessor_count(images.device)


def axes_and_misalignment(images: ImageBatch, result: OutputArray) -> tuple[BatchAxes, int, BatchAxes, int]:
    """Arguments of `kernel_config`."""
    return images.axes, images.pointer % 16, result.axes, result.pointer % 16


def batch_fields(images: ImageBatch, pointer: int, strides: tuple[int, ...], config: KernelConfig) -> tuple[int, ...]:
    """The fields of `cuaug::BatchRecord`, for a result at `pointer`."""
    return (images.pointer, *images.axes.strides, pointer, *strides, images.samples, *config.sizes)


def pack_pointwise(
    images: ImageBatch,
    pointer: int,
    strides: tuple[int, ...],
    config: KernelConfig,
    parameters: SampleParameters,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
) -> bytes:
    """`cuaug::PointwiseRecord`."""
    inline = (*parameters.inline, *(0.0,) * (MAX_INLINE_VALUES - len(parameters.inline)))
    return POINTWISE.pack(
        *batch_fields(images, pointer, strides, config),
        *parameters.table[:5],
        *inline,
        *partial_sums.table[:5],
        *partial_sums[1:],
    )


def run_pass(config: KernelConfig, images: ImageBatch, record: bytes, *loop_args: Any) -> None:
    """`loop_args`: arguments of the CPU loop after the record; a tuple of ops is one argument."""
    if images.device < 0:
        loop = config.loops.get(loop_args)
        if loop is None:
            args = (chain_ops(arg) if isinstance(arg, tuple) else arg for arg in loop_args)
            loop = config.loops[loop_args] = getattr(extension(), config.skeleton)(record, *args)
        images.executor.loop(config.kernel, loop, record)
    else:
        stream = images.library.current_stream(images.device)
        images.executor.launch(
            config.kernel, record, config.grid, config.threads, config.shared_bytes, images.device, stream
        )


def cpp_dtype(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype
