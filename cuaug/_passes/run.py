"""Packs the fields that all passes share and hands a pass to its executor."""

from __future__ import annotations

from typing import Any

from .._arrays.images import BatchAxes, ImageBatch, OutputArray
from .._gpu import devices
from .._host import extension as _cpu
from .._program.records import MAX_INLINE_VALUES, POINTWISE
from . import grids as _grids
from .kernel_config import KernelConfig
from .parameters import SampleParameters
from .partial_sums import NO_PARTIAL_SUMS, PartialSums


def resident_blocks(image: ImageBatch) -> int:
    """For blocks that go through images as those of kernels/passes/pointwise.cu do."""
    return _grids.POINTWISE_BLOCKS * devices.multiprocessor_count(image.device) if image.device >= 0 else 1


def axes_and_misalignment(image: ImageBatch, result: OutputArray) -> tuple[BatchAxes, int, BatchAxes, int]:
    return image.axes, image.pointer % 16, result.axes, result.pointer % 16


def batch_fields(image: ImageBatch, pointer: int, strides: tuple[int, ...], plan: KernelConfig) -> tuple[int, ...]:
    """The fields of `cuaug::BatchRecord`, with the result at `pointer`."""
    return (image.pointer, *image.axes.strides, pointer, *strides, image.samples, *plan.sizes)


def pack_pointwise(
    image: ImageBatch,
    pointer: int,
    strides: tuple[int, ...],
    plan: KernelConfig,
    parameters: SampleParameters,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
) -> bytes:
    """`cuaug::PointwiseRecord`."""
    values = (*parameters.inline, *(0.0,) * (MAX_INLINE_VALUES - len(parameters.inline)))
    return POINTWISE.pack(
        *batch_fields(image, pointer, strides, plan),
        *parameters.table[:5],
        *values,
        *partial_sums.table[:5],
        *partial_sums[1:],
    )


def run_pass(plan: KernelConfig, image: ImageBatch, data: bytes, *names: Any) -> None:
    """`names` are what the CPU loop takes besides the record; those of ops in a tuple."""
    if image.device < 0:
        loops = (_cpu.chain_ops(name) if isinstance(name, tuple) else name for name in names)
        image.executor.loop(getattr(_cpu.extension(), plan.skeleton)(data, *loops))
    else:
        stream = image.library.current_stream(image.device)
        image.executor.launch(plan.kernel, data, plan.grid, plan.threads, plan.shared, image.device, stream)


def cpp_dtype(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype
