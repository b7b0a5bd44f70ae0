"""Runs a plan: takes images through its passes, by a table of draws."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch, redescribe
from .._passes import grids as _grids
from .._passes import image_passes as _pass
from .._passes.parameters import NO_TABLE, PerSample, Table
from .passes import Pass
from .plan import Plan
from .recipe import Alone, Blended, Blur, Column, Displaced, Greyed, Mixed, Resized, Sharpened, Stretched


def apply(plan: Plan, image: ImageBatch, table: Table) -> Any:
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
            made = _pass.blend(kept, [*branches, image], shares, _ops(each, table), each.target)
        else:
            made = _run(each, plan, image, table)
    return made


def moved(plan: Plan, image: ImageBatch, table: Table) -> Any:
    """Label masks, moved as the images are: nearest through every pass, 0 outside, and nothing else changed."""
    made: Any = None
    for each in plan.passes:
        if each.moves:
            if made is not None:
                image = redescribe(made, image)
            resized = isinstance(each.heads[0], Resized)
            border = "edge" if resized else each.resampling.border
            window = _from(table, each.window[0]) if each.window and not resized else NO_TABLE
            where = image, _geometry(each, image, table), each.result
            made = _pass.warp(*where, "nearest", border, 0, None, None, window)
    if made is None:
        still = _pass.matrix_geometry(_pass.STILL, True, "center")
        made = _pass.warp(image, still, image.size, "nearest", "edge", 0, None, None)
    return made


def returned(plan: Plan, image: ImageBatch, table: Table, size: tuple[int, int], interpolation: str, fill: Any) -> Any:
    """Results, taken back to where the images' pixels were, on a canvas of the images' size."""
    numbers = 9 if any(len(each.matrix) == 9 for each in plan.passes) else 6
    matrix = table._replace(pointer=table.pointer + 8 * plan.matrix, y=3)
    geometry = _pass.matrix_geometry(PerSample(matrix, (0.0,) * numbers), True, "center")
    return _pass.warp(image, geometry, size, interpolation, "constant", fill, None, None)


def _run(each: Pass, plan: Plan, image: ImageBatch, table: Table) -> Any:
    head = each.heads[0] if each.heads else None
    if isinstance(head, Alone):
        return _alone(head, image, table, each.target)
    ops = _ops(each, table)
    parts = _at(table, plan.parts[each.measures.place]) if each.measures else NO_TABLE
    if isinstance(head, Resized) and not (head.mild and image.device >= 0):
        box = _parameters_of(table, head.columns)
        made = _pass.resample(image, box, each.result, head.interpolation, head.antialias, None, None, turns=True)
        return _pass.chained(image, made, ops, each.target, None, parts)
    if each.pointwise:
        known = _known(each, plan, image, table)
        for i in each.means[0 if known is _pass.NO_PARTS else 1 :]:
            _luma_mean(each, i, image, table, known)
        return _pass.pointwise(image, ops.names, PerSample(ops.parameters, ()), each.target, None, parts=known)
    if each.retouches and (image.device < 0 or each.retouches_alone):
        return _pass.chained(image, _retouched(each, image, table), ops, each.target, None, parts)
    return _warped(each, image, table, each.target, ops, parts, _retouch(each, image, table))


def _warped(
    each: Pass,
    image: ImageBatch,
    table: Table,
    target: str,
    ops: _pass.Ops = _pass.NO_OPS,
    parts: Table = NO_TABLE,
    retouch: _pass.RetouchTables = _pass.NO_RETOUCH,
) -> Any:
    window = _from(table, each.window[0]) if each.window else NO_TABLE
    where = image, _geometry(each, image, table), each.result
    if each.heads and isinstance(each.heads[0], Resized):
        return _pass.warp(*where, "bilinear", "edge", 0, target, None, window, ops, parts, antialias=True)
    how = each.resampling
    return _pass.warp(*where, how.interpolation, how.border, how.fill, target, None, window, ops, parts, False, retouch)


def _retouch(each: Pass, image: ImageBatch, table: Table) -> _pass.RetouchTables:
    """What a GPU's warp does to samples that stay where they are."""
    found = _pass.NO_RETOUCH
    for op in each.retouches:
        own = _parameters_of(table, op.columns)
        if isinstance(op, Sharpened):
            found = found._replace(sharpness=own.table)
        else:
            found = found._replace(relevelling=own.table, levels=_pass.relevel(image, own))
    return found


def _retouched(each: Pass, image: ImageBatch, table: Table) -> Any:
    """Samples moved, and others retouched, as the functions do it: one after the other, as none is changed by two."""
    made = _warped(each, image, table, image.dtype) if each.heads else None
    for op in each.retouches:
        if made is not None:
            image = redescribe(made, image)
        own = _parameters_of(table, op.columns)
        if isinstance(op, Sharpened):
            made = _pass.adjust_sharpness(image, own, None)
        else:
            made = _pass.lut(image, _pass.relevel(image, own), None)
    return made


def _measure(each: Pass, plan: Plan, image: ImageBatch, table: Table) -> None:
    """What ops make of an earlier pass' images takes their place, and its mean is taken."""
    assert each.measures is not None
    ops, pointer = _ops(each, table), _at(table, plan.parts[each.measures.place]).pointer
    _pass.luma_mean(image, ops.names, PerSample(ops.parameters, ()), pointer, table.n, in_place=True)


def _alone(head: Alone, image: ImageBatch, table: Table, target: str) -> Any:
    if isinstance(head, Greyed):
        return _pass.pointwise(image, ("Grayscale",), PerSample(NO_TABLE, ()), image.dtype, None, head.channels)
    own = _parameters_of(table, head.columns)
    if isinstance(head, Blur):
        sigma = own.table._replace(x=0)  # of both axes
        return _pass.gaussian_blur(image, head.window, PerSample(sigma, ()), None, target)
    if isinstance(head, Mixed):
        return _pass.mix(image, head.name, own, None)
    assert isinstance(head, Stretched)
    return _pass.pointwise(image, ("Autocontrast",), _pass.extremes(image, own), image.dtype, None)


def _known(each: Pass, plan: Plan, image: ImageBatch, table: Table) -> _pass.Parts:
    """The mean that the pass before has taken: a GPU's warp in parts, `luma_mean` as one number."""
    if each.measured_by is None:
        return _pass.NO_PARTS
    place = _place_of_mean(each, each.means[0])
    warped = image.device >= 0 and not each.measured_by.pointwise
    count = _grids.mean_parts(image) if warped else 1
    return _pass.Parts(_at(table, plan.parts[place]), count, place - each.columns[0].place)


def _luma_mean(each: Pass, i: int, image: ImageBatch, table: Table, known: _pass.Parts) -> None:
    """The mean that op i of a pass needs."""
    names = tuple(op.op for op in (*each.chain[:i], *each.chain[i].before))
    pointer = _at(table, _place_of_mean(each, i)).pointer
    _pass.luma_mean(image, names, PerSample(_ops(each, table).parameters, ()), pointer, table.n, known)


def _place_of_mean(each: Pass, i: int) -> int:
    """The column that the mean of op i goes to."""
    column = each.chain[i].mean
    assert column is not None
    return column.place


def _ops(each: Pass, table: Table) -> _pass.Ops:
    parameters = _from(table, each.columns[0]) if each.columns else NO_TABLE
    return _pass.Ops(tuple(op.op for op in each.chain), parameters)


def _geometry(each: Pass, image: ImageBatch, table: Table) -> _pass.Geometry:
    if not each.heads:
        return _pass.matrix_geometry(_pass.STILL, True, "center")
    head = each.heads[0]
    if isinstance(head, Displaced):
        return _pass.displacements(image, _parameters_of(table, head.columns), head.window, head.sigma)
    matrix = _from(table, each.matrix[0])._replace(y=3)
    return _pass.matrix_geometry(PerSample(matrix, (0.0,) * len(each.matrix)), True, "center")


def _parameters_of(table: Table, columns: Any) -> PerSample:
    return PerSample(_from(table, columns[0]), ())


def _from(table: Table, column: Column) -> Table:
    """The table from a column on."""
    return _at(table, column.place)


def _at(table: Table, place: int) -> Table:
    return table._replace(pointer=table.pointer + 8 * place)
