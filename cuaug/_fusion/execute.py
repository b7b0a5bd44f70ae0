"""Executes a plan: runs images through its passes, with parameters from a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays import convert
from .._arrays.images import ImageBatch, describe_result
from .._passes import displacement, filters, grids, mix, op_chain, pointwise, resample, statistics, warp
from .._passes.geometry import IDENTITY, Geometry, matrix_geometry
from .._passes.op_chain import NO_OPS, OpChain
from .._passes.parameters import NULL_ARRAY, SampleParameters, StridedArray
from .._passes.partial_sums import NO_PARTIAL_SUMS, PartialSums
from .._passes.warp import NO_OVERRIDE, SampleOverride
from .fill import image_fill, mask_fill
from .plan import RecipePlan
from .recipe_ops import (
    Autocontrast,
    Blend,
    Blur,
    Column,
    Displacement,
    Grayscale,
    Jpeg,
    Mix,
    Resize,
    Sharpen,
    StandaloneOp,
)
from .recipe_pass import Pass


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """The images, transformed by the rows of the table."""
    result: Any = None
    branch_input, branch_results = images, list[ImageBatch]()
    for pass_ in plan.passes:
        if result is not None:
            images = describe_result(result, images, pass_.input_channels)
        if pass_.branch is not None:
            if pass_.branch.is_first:
                branch_input, branch_results = images, []
            else:
                branch_results = [*branch_results, images]
            images = branch_input
        if images.channels != pass_.input_channels:  # the table has columns per channel
            raise AssertionError(f"a pass for {pass_.input_channels} channels got {images.channels}")
        if pass_.mean_output and pass_.is_pointwise:
            assert result is not None  # the pass overwrites its input, which must not be the caller's array
            _run_chain_in_place(pass_, plan, images, table)
        elif isinstance(pass_.first_op, Blend):
            # The images, then each branch but the last, take this fraction of the weight that is left. The last branch
            # takes the rest.
            remainder_fractions = _at_column(table, pass_.first_op.columns[0].index)
            branches = [*branch_results, images]
            ops = _op_chain(pass_, table)
            result = mix.blend(branch_input, branches, remainder_fractions, ops, pass_.output_dtype)
        else:
            result = _run_pass(pass_, plan, images, table)
    return result


def apply_to_masks(plan: RecipePlan, masks: ImageBatch, table: StridedArray) -> Any:
    """Label masks, resampled by the geometry of every pass (nearest neighbour), and cast.

    `masks`: after the casts of `RecipePlan.first_mask_dtypes`.
    """
    result: Any = None
    for pass_ in plan.passes:
        if pass_.has_geometry:
            if result is not None:
                masks = describe_result(cast(result, pass_.mask_dtypes), masks)
            is_whole_resize = isinstance(pass_.first_op, Resize) and not pass_.reads_border
            border = "edge" if is_whole_resize else pass_.sampling.border
            box = NULL_ARRAY if is_whole_resize else _source_box(pass_, table)
            geometry = _geometry(pass_, masks, table)
            fill = mask_fill(pass_.sampling.fill, masks.dtype)
            result = warp.warp(masks, geometry, pass_.output_size, "nearest", border, fill, None, None, box)
    if result is None:
        identity = matrix_geometry(IDENTITY, True, "center")
        result = warp.warp(masks, identity, masks.size, "nearest", "edge", 0, None, None)
    return cast(result, plan.mask_dtypes)


def cast(masks: Any, dtypes: Sequence[str]) -> Any:
    """An array of label masks, cast to each dtype after the other."""
    for dtype in dtypes:
        masks = convert.asarray(masks, like=masks, dtype=dtype)
    return masks


def apply_inverse(
    plan: RecipePlan, results: ImageBatch, table: StridedArray, size: tuple[int, int], interpolation: Any, fill: Any
) -> Any:
    """Results of the recipe, mapped back to the input's coordinates, on a canvas of `size`."""
    projective = any(len(pass_.matrix) == 9 for pass_ in plan.passes)
    matrices = _at_column(table, plan.matrix_column)._replace(row_stride=3)
    geometry = matrix_geometry(SampleParameters(matrices, (0.0,) * (9 if projective else 6)), True, "center")
    return warp.warp(results, geometry, size, interpolation, "constant", fill, None, None)


def _run_pass(pass_: Pass, plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    first, dtype, ops = pass_.first_op, pass_.output_dtype, _op_chain(pass_, table)
    if isinstance(first, StandaloneOp):
        return _run_standalone(first, images, table, dtype, ops)
    sums = _at_column(table, plan.partial_sums[pass_.mean_output.index]) if pass_.mean_output else NULL_ARRAY
    if isinstance(first, Resize) and not (first.fits_warp and images.device >= 0):
        arguments = _parameters(table, first.columns), pass_.output_size, first.interpolation, first.antialias
        window = {"has_window": True, "crops": pass_.crops_resize, "fill": image_fill(pass_.sampling.fill)}
        if images.device >= 0:  # the chain of a resize that does not fit the warp kernel is of `CHANNEL_OPS`
            return resample.resample(images, *arguments, dtype, None, **window, ops=ops)
        resized = resample.resample(images, *arguments, None, None, **window)
        return op_chain.apply_ops_after(images, resized, ops, dtype, None, sums)
    if pass_.is_pointwise:
        first_mean = _first_mean(pass_, plan, images, table)
        for i in pass_.mean_op_indices[1:]:
            pointer = _at_column(table, _mean_column(pass_, i).index).pointer
            _compute_mean(pass_, i, images, table, pointer, first_mean, as_partial_sums=False)
        return pointwise.pointwise(
            images, ops.names, SampleParameters(ops.parameters, ()), dtype, None, partial_sums=first_mean
        )
    if pass_.overrides and (images.device < 0 or pass_.is_single_override):
        return op_chain.apply_ops_after(images, _run_overrides(pass_, images, table), ops, dtype, None, sums)
    return _warp(pass_, images, table, dtype, ops, sums, _override_tables(pass_, images, table))


def _warp(
    pass_: Pass,
    images: ImageBatch,
    table: StridedArray,
    dtype: str,
    ops: OpChain = NO_OPS,
    sums: StridedArray = NULL_ARRAY,
    overrides: SampleOverride = NO_OVERRIDE,
) -> Any:
    box, geometry, size = _source_box(pass_, table), _geometry(pass_, images, table), pass_.output_size
    if isinstance(pass_.first_op, Resize):
        return warp.warp(images, geometry, size, "bilinear", "edge", 0, dtype, None, box, ops, sums, antialias=True)
    sampling = pass_.sampling
    sampling_arguments = sampling.interpolation, sampling.border, image_fill(sampling.fill)
    return warp.warp(images, geometry, size, *sampling_arguments, dtype, None, box, ops, sums, False, overrides)


def _override_tables(pass_: Pass, images: ImageBatch, table: StridedArray) -> SampleOverride:
    """Tables of the overrides, which a GPU's warp kernel applies in place of its sampling."""
    tables = NO_OVERRIDE
    for op in pass_.overrides:
        parameters = _parameters(table, op.columns)
        if isinstance(op, Sharpen):
            tables = tables._replace(sharpness=parameters.table)
        else:
            tables = tables._replace(uses_lut=parameters.table, lut=statistics.histogram_lut(images, parameters))
    return tables


def _run_overrides(pass_: Pass, images: ImageBatch, table: StridedArray) -> Any:
    """The geometry, then each override by the kernel of its public function. No sample is changed by two of them."""
    result = _warp(pass_, images, table, images.dtype) if pass_.first_ops else None
    for op in pass_.overrides:
        if result is not None:
            images = describe_result(result, images)
        parameters = _parameters(table, op.columns)
        if isinstance(op, Sharpen):
            result = filters.adjust_sharpness(images, parameters, None)
        else:
            result = pointwise.lut(images, statistics.histogram_lut(images, parameters), None)
    return result


def _run_standalone(op: StandaloneOp, images: ImageBatch, table: StridedArray, dtype: str, ops: OpChain) -> Any:
    """`dtype` and `ops`: for a blur. A pass of another op keeps the dtype, and has no ops."""
    if isinstance(op, Grayscale):
        return pointwise.pointwise(
            images, ("Grayscale",), SampleParameters(NULL_ARRAY, ()), images.dtype, None, op.channels
        )
    parameters = _parameters(table, op.columns)
    if isinstance(op, Blur):
        sigma = parameters.table._replace(column_stride=0)  # one column for both axes
        return filters.gaussian_blur(images, op.kernel_size, SampleParameters(sigma, ()), None, dtype, ops)
    if isinstance(op, Jpeg):
        return filters.jpeg(images, parameters, None)
    if isinstance(op, Mix):
        return mix.mix(images, op.functor, parameters, None)
    assert isinstance(op, Autocontrast)
    return pointwise.pointwise(
        images, ("Autocontrast",), statistics.channel_min_max(images, parameters), images.dtype, None
    )


def _run_chain_in_place(pass_: Pass, plan: RecipePlan, images: ImageBatch, table: StridedArray) -> None:
    """Runs the chain in place on the result of an earlier pass, and stores the mean luma in the table."""
    assert pass_.mean_output is not None
    ops, pointer = _op_chain(pass_, table), _at_column(table, plan.partial_sums[pass_.mean_output.index]).pointer
    statistics.luma_mean(
        images, ops.names, SampleParameters(ops.parameters, ()), pointer, table.sample_stride, in_place=True
    )


def _first_mean(pass_: Pass, plan: RecipePlan, images: ImageBatch, table: StridedArray) -> PartialSums:
    """The first mean that the pass reads: the previous pass has stored it, or it is computed here."""
    if not pass_.mean_op_indices:
        return NO_PARTIAL_SUMS
    first = pass_.mean_op_indices[0]
    column = _mean_column(pass_, first)
    sums = _at_column(table, plan.partial_sums[column.index])
    if pass_.mean_from is None:
        _compute_mean(pass_, first, images, table, sums.pointer, NO_PARTIAL_SUMS)
    is_from_warp = images.device >= 0 and pass_.mean_from is not None and not pass_.mean_from.is_pointwise
    count = grids.partial_sum_count(images) if is_from_warp else statistics.mean_part_count(images)
    return PartialSums(sums, count, column.index - pass_.chain_columns[0].index)


def _compute_mean(
    pass_: Pass,
    i: int,
    images: ImageBatch,
    table: StridedArray,
    pointer: int,
    first_mean: PartialSums,
    as_partial_sums: bool = True,
) -> None:
    """Stores the mean that op `i` of the chain needs: each sample's in its row of the table.

    `pointer`: where the mean of the first sample is stored. `as_partial_sums`: True: as partial sums, whose sum is the
    mean; False: as one number.
    """
    names = tuple(op.functor for op in (*pass_.chain[:i], *pass_.chain[i].before_mean))
    parameters = SampleParameters(_op_chain(pass_, table).parameters, ())
    statistics.luma_mean(
        images, names, parameters, pointer, table.sample_stride, first_mean, as_partial_sums=as_partial_sums
    )


def _mean_column(pass_: Pass, i: int) -> Column:
    column = pass_.chain[i].mean
    assert column is not None
    return column


def _op_chain(pass_: Pass, table: StridedArray) -> OpChain:
    columns = pass_.chain_columns
    parameters = _at_column(table, columns[0].index) if columns else NULL_ARRAY
    return OpChain(tuple(op.functor for op in pass_.chain), parameters)


def _geometry(pass_: Pass, images: ImageBatch, table: StridedArray) -> Geometry:
    first = pass_.first_op
    if first is None:
        return matrix_geometry(IDENTITY, True, "center")
    if isinstance(first, Displacement):
        return displacement.displacement_geometry(
            images, _parameters(table, first.columns), first.kernel_size, first.sigma
        )
    matrices = _at_column(table, pass_.matrix[0].index)._replace(row_stride=3)
    return matrix_geometry(SampleParameters(matrices, (0.0,) * len(pass_.matrix)), True, "center")


def _source_box(pass_: Pass, table: StridedArray) -> StridedArray:
    return _at_column(table, pass_.source_box[0].index) if pass_.source_box else NULL_ARRAY


def _parameters(table: StridedArray, columns: Sequence[Column]) -> SampleParameters:
    return SampleParameters(_at_column(table, columns[0].index), ())


def _at_column(table: StridedArray, index: int) -> StridedArray:
    """The table from column `index` on."""
    return table._replace(pointer=table.pointer + 8 * index)
