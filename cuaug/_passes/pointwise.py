"""Passes that compute each pixel from the pixel at its position: chains of ops and lookup tables."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch, allocate_output
from .._program.dtypes import IMAGE_DTYPES
from .._program.records import LUT
from .grids import UNEVEN_OPS
from .kernel_config import kernel_config
from .parameters import SampleParameters, StridedArray
from .partial_sums import NO_PARTIAL_SUMS, PartialSums
from .run import axes_and_misalignment, batch_fields, pack_pointwise, resident_blocks, run_pass


def pointwise(
    images: ImageBatch,
    ops: tuple[str, ...],
    parameters: SampleParameters,
    dtype: str,
    out: Any,
    channels: int | None = None,
    partial_sums: PartialSums = NO_PARTIAL_SUMS,
) -> Any:
    """A chain of ops (kernels/ops) on every pixel; `parameters` holds those of all ops, side by side."""
    for name in (images.dtype, dtype):
        if name not in IMAGE_DTYPES:
            raise TypeError(f"images and dtype must be one of {', '.join(IMAGE_DTYPES)}, got {name}")
    result = allocate_output(images, images.size, dtype, out, channels)
    if images.samples * images.frames:
        names, grid_args = (images.dtype, dtype, *ops), (resident_blocks(images), not UNEVEN_OPS.isdisjoint(ops))
        config = kernel_config("pointwise", names, *axes_and_misalignment(images, result), grid_args)
        record = pack_pointwise(images, result.pointer, result.axes.strides, config, parameters, partial_sums)
        run_pass(config, images, record, images.dtype, dtype, ops, result.axes.extents[2])
    return images.library.to_user_array(result.array)


def lut(images: ImageBatch, table: StridedArray, out: Any) -> Any:
    """Looks up uint8 images in a table of `parameters.lut_table`."""
    result = allocate_output(images, images.size, images.dtype, out)
    if images.samples * images.frames:
        names, grid_args = (images.dtype, images.dtype), (resident_blocks(images),)
        config = kernel_config("lut", names, *axes_and_misalignment(images, result), grid_args)
        record = LUT.pack(*batch_fields(images, result.pointer, result.axes.strides, config), *table[:4])
        run_pass(config, images, record, images.dtype)
    return images.library.to_user_array(result.array)
