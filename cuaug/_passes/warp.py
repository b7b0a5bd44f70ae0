"""One resample through a geometry, then a chain of ops."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _check, _option_names
from .._arrays.convert import dtype_name
from .._arrays.images import ImageBatch, OutputArray, allocate_output
from .._program.dtypes import ITEM_SIZE
from .._program.functors import BORDERS, SAMPLERS, struct_name
from .._program.names import chain
from .._program.records import WARPS
from . import parameters
from .consecutive_images import memory_layout
from .geometry import Geometry, whole_pixel_shift
from .kernel_config import kernel_config
from .op_chain import NO_OPS, OpChain, apply_ops_after
from .parameters import NULL_ARRAY, Fill, StridedArray
from .place_images import place_batch
from .run import axes_and_misalignment, batch_fields, cpp_dtype, run_pass


class SampleOverride(NamedTuple):
    """What replaces sampling on a GPU if a sample's geometry is the identity (`cuaug::SampleOverrideRecord`)."""

    sharpness: StridedArray = NULL_ARRAY  # [N, 1], factors; 1 does nothing
    uses_lut: StridedArray = NULL_ARRAY  # [N, 1]; 0 does nothing
    lut: StridedArray = NULL_ARRAY  # of `statistics.histogram_lut`


NO_OVERRIDE = SampleOverride()
_MIN_ROW_BYTES = 64  # of a result that is copied


def warp(
    images: ImageBatch,
    geometry: Geometry,
    size: tuple[int, int],
    interpolation: Any,
    border: str,
    fill: Any,
    dtype: Any,
    out: Any,
    window: StridedArray = NULL_ARRAY,
    ops: OpChain = NO_OPS,
    partial_sums: StridedArray = NULL_ARRAY,
    antialias: bool = False,
    overrides: SampleOverride = NO_OVERRIDE,
) -> Any:
    """One resample of all samples, then ops.

    Args:
        images: Described by the caller.
        geometry: From output pixels to input pixels; the caller has checked its arrays.
        size: (H, W) of the result.
        interpolation: One of `SAMPLERS`, or a member of an enumeration.
        border: One of `BORDERS`.
        fill: As in `parameters.fill`.
        dtype: Of the result; None for the images' dtype.
        out: The caller's array, or None.
        window: Box (top, left, height, width) of each sample; the border begins at its edges. [N, 4]
        ops: Applied to the resampled pixels.
        partial_sums: Receive the mean luma of the result, which has the images' dtype. On a GPU
            [N, `grids.partial_sum_count`], on a CPU [N, 1].
        antialias: Only on a GPU, for matrices without rotation and shear that reduce at most twofold.
        overrides: Only on a GPU.
    """
    out_dtype = images.dtype if dtype is None else dtype_name(dtype)
    if images.device < 0 and (ops.names or partial_sums is not NULL_ARRAY):
        warped = warp(images, geometry, size, interpolation, border, fill, images.dtype, None, window)
        return apply_ops_after(images, warped, ops, out_dtype, out, partial_sums)
    interpolation = _check.interpolation(interpolation, SAMPLERS)
    _check.one_of("border", border, BORDERS, _option_names.BORDERS)
    _check.dtypes(images.dtype, out_dtype, interpolation)
    fill_values = parameters.fill(fill, images)
    result = allocate_output(images, size, out_dtype, out)
    is_plain = not ops.names and window is NULL_ARRAY and partial_sums is NULL_ARRAY and overrides is NO_OVERRIDE
    is_plain = is_plain and (interpolation, border, out_dtype) == ("nearest", "constant", images.dtype)
    if is_plain and _copy(images, geometry, fill_values, result):
        return images.library.to_user_array(result.array)
    if images.samples * images.frames:
        sampler = "Antialiased" if antialias else struct_name(interpolation)
        if overrides is not NO_OVERRIDE:
            sampler = f"SampleOverride<cuaug::{sampler}>"
        names = (cpp_dtype(images.dtype), cpp_dtype(out_dtype), geometry.name, sampler, struct_name(border))
        kernel_names = names if window is NULL_ARRAY else (*names[:4], f"WindowedBorder<cuaug::{names[4]}>")
        epilogue = () if partial_sums is NULL_ARRAY else ("StoreAndMean",)
        kernel_names = (*kernel_names, chain(ops.names), *epilogue)
        config = kernel_config("warp_image", kernel_names, *axes_and_misalignment(images, result))
        record = WARPS[geometry.name].pack(
            *batch_fields(images, result.pointer, result.axes.strides, config),
            *fill_values.table[:5],
            *fill_values.inline,
            *geometry.fields,
            *window[:5],
            *ops.parameters[:5],
            *partial_sums[:5],
            *overrides.sharpness[:5],
            *overrides.uses_lut[:5],
            overrides.lut.pointer,
            *config.regions,
        )
        run_pass(config, images, record, *names)
    return images.library.to_user_array(result.array)


def _copy(images: ImageBatch, geometry: Geometry, fill: Fill, result: OutputArray) -> bool:
    """Copies the pixels if, on a GPU, one shift by whole pixels serves all samples. Returns whether it has done so.

    Only rows of at least `_MIN_ROW_BYTES`: shorter ones take less time in the warp (benchmarks/log/short-rows.md).
    """
    if images.device < 0 or images.ragged or not images.samples * images.frames:
        return False
    pixel_channels = images.channels if memory_layout(images.axes) == "HWC" else 1
    row_bytes = result.axes.extents[4] * pixel_channels * ITEM_SIZE[images.dtype]
    shift = whole_pixel_shift(geometry) if row_bytes >= _MIN_ROW_BYTES else None
    return shift is not None and place_batch(images, shift, fill, result)
