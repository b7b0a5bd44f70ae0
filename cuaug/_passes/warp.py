"""One resample through a geometry, then a chain of ops."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _check
from .._arrays.convert import dtype_name
from .._arrays.images import ImageBatch, allocate_output
from .._program.functors import BORDERS, SAMPLERS, struct_name
from .._program.names import chain
from .._program.records import WARPS
from . import kernel_config as _plans
from . import parameters as _parameters
from .geometry import Geometry
from .op_chain import NO_OPS, OpChain, apply_ops_after
from .parameters import NULL_ARRAY, StridedArray
from .run import axes_and_misalignment, batch_fields, cpp_dtype, run_pass


class SampleOverride(NamedTuple):
    """What a GPU's warp does to samples that it does not move: a factor of 1 and a relevelling of 0 do nothing."""

    sharpness: StridedArray = NULL_ARRAY
    uses_lut: StridedArray = NULL_ARRAY
    lut: StridedArray = NULL_ARRAY  # by `relevel`


NO_OVERRIDE = SampleOverride()


def warp(
    image: ImageBatch,
    geometry: Geometry,
    size: tuple[int, int],
    interpolation: str,
    border: str,
    fill: Any,
    dtype: str | None,
    out: Any,
    window: StridedArray = NULL_ARRAY,
    ops: OpChain = NO_OPS,
    partial_sums: StridedArray = NULL_ARRAY,
    antialias: bool = False,
    overrides: SampleOverride = NO_OVERRIDE,
) -> Any:
    """One resample of the whole batch, then ops. `image` and `geometry` are checked; the rest is checked here.

    On a GPU alone: `antialias`, of matrices that neither turn nor shear, nor reduce more than twofold; `overrides`.
    `window`: each sample's box that alone counts as its image. [N, 4]. `partial_sums`: where the mean luma goes, of
    the images' own dtype. [N, `grids.partial_sum_count`].
    """
    target = image.dtype if dtype is None else dtype_name(dtype)
    if image.device < 0 and (ops.names or partial_sums is not NULL_ARRAY):
        made = warp(image, geometry, size, interpolation, border, fill, image.dtype, None, window)
        return apply_ops_after(image, made, ops, target, out, partial_sums)
    _check.one_of("interpolation", interpolation, SAMPLERS)
    _check.one_of("border", border, BORDERS)
    _check.dtypes(image.dtype, target, interpolation)
    outside = _parameters.fill(fill, image)
    result = allocate_output(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        sampler = "Antialiased" if antialias else struct_name(interpolation)
        if overrides is not NO_OVERRIDE:
            sampler = f"SampleOverride<cuaug::{sampler}>"
        names = (cpp_dtype(image.dtype), cpp_dtype(target), geometry.name, sampler, struct_name(border))
        kernel = names if window is NULL_ARRAY else (*names[:4], f"WindowedBorder<cuaug::{names[4]}>")
        use = () if partial_sums is NULL_ARRAY else ("StoreAndMean",)
        plan = _plans.kernel_config(
            "warp_image", (*kernel, chain(ops.names), *use), *axes_and_misalignment(image, result)
        )
        batch = batch_fields(image, result.pointer, result.axes.strides, plan)
        tables = *window[:5], *ops.parameters[:5], *partial_sums[:5]
        override = *overrides.sharpness[:5], *overrides.uses_lut[:5], overrides.lut.pointer
        data = WARPS[geometry.name].pack(
            *batch, *outside.table[:5], *outside.inline, *geometry.fields, *tables, *override, *plan.regions
        )
        run_pass(plan, image, data, *names)
    return image.library.to_user_array(result.array)
