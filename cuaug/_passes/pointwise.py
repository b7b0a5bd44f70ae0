"""Passes that compute each pixel from the pixel at its position: chains of ops and lookup tables."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, allocate_output
from .._program.records import LUT
from . import grids as _grids
from . import kernel_config as _plans
from .parameters import SampleParameters, StridedArray
from .partial_sums import NO_PARTIAL_SUMS, PartialSums
from .run import axes_and_misalignment, batch_fields, pack_pointwise, resident_blocks, run_pass


def pointwise(
    image: ImageBatch,
    ops: tuple[str, ...],
    parameters: SampleParameters,
    dtype: str,
    out: Any,
    channels: int | None = None,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
) -> Any:
    """A chain of ops (kernels/ops) at every pixel; `parameters` are those of all of them, side by side."""
    for name in (image.dtype, dtype):
        if name not in _check.IMAGE_DTYPES:
            raise TypeError(f"images and dtype must be one of {', '.join(_check.IMAGE_DTYPES)}, got {name}")
    result = allocate_output(image, image.size, dtype, out, channels)
    if image.samples * image.axes.extents[1]:
        further = resident_blocks(image), not _grids.UNEVEN_OPS.isdisjoint(ops)
        plan = _plans.kernel_config(
            "pointwise", (image.dtype, dtype, *ops), *axes_and_misalignment(image, result), further
        )
        data = pack_pointwise(image, result.pointer, result.axes.strides, plan, parameters, partial_sums)
        run_pass(plan, image, data, image.dtype, dtype, ops, result.axes.extents[2])
    return image.library.to_user_array(result.array)


def lut(image: ImageBatch, table: StridedArray, out: Any) -> Any:
    """Bytes looked up in a table of bytes; `y` is its stride from channel to channel."""
    result = allocate_output(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.kernel_config("lut", (image.dtype, image.dtype), *axes_and_misalignment(image, result))
        data = LUT.pack(*batch_fields(image, result.pointer, result.axes.strides, plan), *table[:4])
        run_pass(plan, image, data, image.dtype)
    return image.library.to_user_array(result.array)
