"""Runs a plan: takes images through its passes, by a table of draws."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch, redescribe
from .._passes import displacement, filters, mix, op_chain, pointwise, resample, statistics, warp
from .._passes import grids as _grids
from .._passes.geometry import IDENTITY, Geometry, matrix_geometry
from .._passes.op_chain import NO_OPS, OpChain
from .._passes.parameters import NULL_ARRAY, SampleParameters, StridedArray
from .._passes.partial_sums import NO_PARTIAL_SUMS, PartialSums
from .._passes.warp import NO_OVERRIDE, SampleOverride
from .passes import Pass
from .plan import Plan
from .recipe import Alone, Blended, Blur, Column, Displaced, Greyed, Mixed, Resized, Sharpened, Stretched


def apply(plan: Plan, image: ImageBatch, table: StridedArray) -> Any:
    """The images, changed as the rows of the table say."""
    made: Any = None
    kept, branches = image, list[ImageBatch]()
    for each in plan.passes:
        if made is not None:
            image = redescribe(made, image)
        if each.branch is not None:
            kept, branches = (image, []) if each.branch.first else (kept, [*branches, image])
            image = kept
        head = each.heads[0] if each.heads else None
        if each.measures and each.pointwise:
            assert made is not None  # nobody else's memory
            _measure(each, plan, image, table)
        elif isinstance(head, Blended):
            shares = _from(table, head.columns[0])
            made = mix.blend(kept, [*branches, image], shares, _ops(each, table), each.target)
        else:
            made = _run(each, plan, image, table)
    return made


def moved(plan: Plan, image: ImageBatch, table: StridedArray) -> Any:
    """Label masks, moved as the images are: nearest through every pass, 0 outside, and nothing else changed."""
    made: Any = None
    for each in plan.passes:
        if each.moves:
            if made is not None:
                image = redescribe(made, image)
            resized = isinstance(each.heads[0], Resized)
            border = "edge" if resized else each.resampling.border
            window = _from(table, each.window[0]) if each.window and not resized else NULL_ARRAY
            where = image, _geometry(each, image, table), each.result
            made = warp.warp(*where, "nearest", border, 0, None, None, window)
    if made is None:
        still = matrix_geometry(IDENTITY, True, "center")
        made = warp.warp(image, still, image.size, "nearest", "edge", 0, None, None)
    return made


def returned(
    plan: Plan, image: ImageBatch, table: StridedArray, size: tuple[int, int], interpolation: str, fill: Any
) -> Any:
    """Results, taken back to where the images' pixels were, on a canvas of the images' size."""
    numbers = 9 if any(len(each.matrix) == 9 for each in plan.passes) else 6
    matrix = table._replace(pointer=table.pointer + 8 * plan.matrix, y=3)
    geometry = matrix_geometry(SampleParameters(matrix, (0.0,) * numbers), True, "center")
    return warp.warp(image, geometry, size, interpolation, "constant", fill, None, None)


def _run(each: Pass, plan: Plan, image: ImageBatch, table: StridedArray) -> Any:
    head = each.heads[0] if each.heads else None
    if isinstance(head, Alone):
        return _alone(head, image, table, each.target)
    ops = _ops(each, table)
    parts = _at(table, plan.parts[each.measures.place]) if each.measures else NULL_ARRAY
    if isinstance(head, Resized) and not (head.mild and image.device >= 0):
        box = _parameters_of(table, head.columns)
        made = resample.resample(image, box, each.result, head.interpolation, head.antialias, None, None, turns=True)
        return op_chain.apply_ops_after(image, made, ops, each.target, None, parts)
    if each.pointwise:
        known = _known(each, plan, image, table)
        for i in each.means[0 if known is NO_PARTIAL_SUMS else 1 :]:
            _luma_mean(each, i, image, table, known)
        return pointwise.pointwise(
            image, ops.names, SampleParameters(ops.parameters, ()), each.target, None, parts=known
        )
    if each.retouches and (image.device < 0 or each.retouches_alone):
        return op_chain.apply_ops_after(image, _retouched(each, image, table), ops, each.target, None, parts)
    return _warped(each, image, table, each.target, ops, parts, _retouch(each, image, table))


def _warped(
    each: Pass,
    image: ImageBatch,
    table: StridedArray,
    target: str,
    ops: OpChain = NO_OPS,
    parts: StridedArray = NULL_ARRAY,
    retouch: SampleOverride = NO_OVERRIDE,
) -> Any:
    window = _from(table, each.window[0]) if each.window else NULL_ARRAY
    where = image, _geometry(each, image, table), each.result
    if each.heads and isinstance(each.heads[0], Resized):
        return warp.warp(*where, "bilinear", "edge", 0, target, None, window, ops, parts, antialias=True)
    how = each.resampling
    return warp.warp(*where, how.interpolation, how.border, how.fill, target, None, window, ops, parts, False, retouch)


def _retouch(each: Pass, image: ImageBatch, table: StridedArray) -> SampleOverride:
    """What a GPU's warp does to samples that stay where they are."""
    found = NO_OVERRIDE
    for op in each.retouches:
        own = _parameters_of(table, op.columns)
        if isinstance(op, Sharpened):
            found = found._replace(sharpness=own.table)
        else:
            found = found._replace(relevelling=own.table, levels=statistics.histogram_lut(image, own))
    return found


def _retouched(each: Pass, image: ImageBatch, table: StridedArray) -> Any:
    """Samples moved, and others retouched, as the functions do it: one after the other, as none is changed by two."""
    made = _warped(each, image, table, image.dtype) if each.heads else None
    for op in each.retouches:
        if made is not None:
            image = redescribe(made, image)
        own = _parameters_of(table, op.columns)
        if isinstance(op, Sharpened):
            made = filters.adjust_sharpness(image, own, None)
        else:
            made = pointwise.lut(image, statistics.histogram_lut(image, own), None)
    return made


def _measure(each: Pass, plan: Plan, image: ImageBatch, table: StridedArray) -> None:
    """What ops make of an earlier pass' images takes their place, and its mean is taken."""
    assert each.measures is not None
    ops, pointer = _ops(each, table), _at(table, plan.parts[each.measures.place]).pointer
    statistics.luma_mean(image, ops.names, SampleParameters(ops.parameters, ()), pointer, table.n, in_place=True)


def _alone(head: Alone, image: ImageBatch, table: StridedArray, target: str) -> Any:
    if isinstance(head, Greyed):
        return pointwise.pointwise(
            image, ("Grayscale",), SampleParameters(NULL_ARRAY, ()), image.dtype, None, head.channels
        )
    own = _parameters_of(table, head.columns)
    if isinstance(head, Blur):
        sigma = own.table._replace(x=0)  # of both axes
        return filters.gaussian_blur(image, head.window, SampleParameters(sigma, ()), None, target)
    if isinstance(head, Mixed):
        return mix.mix(image, head.name, own, None)
    assert isinstance(head, Stretched)
    return pointwise.pointwise(image, ("Autocontrast",), statistics.channel_min_max(image, own), image.dtype, None)


def _known(each: Pass, plan: Plan, image: ImageBatch, table: StridedArray) -> PartialSums:
    """The mean that the pass before has taken: a GPU's warp in parts, `luma_mean` as one number."""
    if each.measured_by is None:
        return NO_PARTIAL_SUMS
    place = _place_of_mean(each, each.means[0])
    warped = image.device >= 0 and not each.measured_by.pointwise
    count = _grids.mean_parts(image) if warped else 1
    return PartialSums(_at(table, plan.parts[place]), count, place - each.columns[0].place)


def _luma_mean(each: Pass, i: int, image: ImageBatch, table: StridedArray, known: PartialSums) -> None:
    """The mean that op i of a pass needs."""
    names = tuple(op.op for op in (*each.chain[:i], *each.chain[i].before))
    pointer = _at(table, _place_of_mean(each, i)).pointer
    statistics.luma_mean(image, names, SampleParameters(_ops(each, table).parameters, ()), pointer, table.n, known)


def _place_of_mean(each: Pass, i: int) -> int:
    """The column that the mean of op i goes to."""
    column = each.chain[i].mean
    assert column is not None
    return column.place


def _ops(each: Pass, table: StridedArray) -> OpChain:
    parameters = _from(table, each.columns[0]) if each.columns else NULL_ARRAY
    return OpChain(tuple(op.op for op in each.chain), parameters)


def _geometry(each: Pass, image: ImageBatch, table: StridedArray) -> Geometry:
    if not each.heads:
        return matrix_geometry(IDENTITY, True, "center")
    head = each.heads[0]
    if isinstance(head, Displaced):
        return displacement.displacement_geometry(image, _parameters_of(table, head.columns), head.window, head.sigma)
    matrix = _from(table, each.matrix[0])._replace(y=3)
    return matrix_geometry(SampleParameters(matrix, (0.0,) * len(each.matrix)), True, "center")


def _parameters_of(table: StridedArray, columns: Any) -> SampleParameters:
    return SampleParameters(_from(table, columns[0]), ())


def _from(table: StridedArray, column: Column) -> StridedArray:
    """The table from a column on."""
    return _at(table, column.place)


def _at(table: StridedArray, place: int) -> StridedArray:
    return table._replace(pointer=table.pointer + 8 * place)
