"""The rules by which a recipe is divided into passes: why an op cannot join a pass."""

from __future__ import annotations

from collections.abc import Sequence

from .._program.dtypes import MAX_VALUE
from .recipe_ops import (
    Autocontrast,
    Blend,
    Branch,
    Cast,
    ConditionalOp,
    CoordinateMap,
    Displacement,
    Grayscale,
    HistogramLut,
    Op,
    OverrideOp,
    Pointwise,
    Resize,
    SampleFilter,
    StandaloneOp,
)
from .recipe_pass import MEAN_FIRST, Pass

_STATISTICS = "needs statistics of the whole image at this point"
_NEIGHBOURS = "each pixel needs its neighbours, or another sample's pixels, at this point"
_OWN_KERNEL = "the op before has a kernel of its own"


def split_reason(pass_: Pass, op: Op) -> str:
    """Why the op cannot join the pass; empty if it can."""
    if isinstance(op, Branch):
        return _branch_reason(pass_, op)
    if isinstance(op, Blend):
        return "the results of the branches are blended"
    if isinstance(op, Cast):
        return _cast_reason(pass_, op) if op.dtype != pass_.output_dtype else ""
    if isinstance(op, Pointwise):
        return _pointwise_reason(pass_, op)
    if isinstance(op, OverrideOp):
        return _override_reason(pass_, op)
    if not _may_precede_changes(pass_, op):
        return "pixels are changed before the op reads them"
    if not pass_.first_ops:
        return ""
    if isinstance(op, Autocontrast):
        return _STATISTICS
    if isinstance(op, Grayscale):
        return "the number of channels changes at this point"
    if isinstance(op, StandaloneOp):
        return _NEIGHBOURS
    if isinstance(pass_.first_ops[-1], StandaloneOp):
        return _OWN_KERNEL
    if isinstance(op, Displacement) or isinstance(pass_.first_op, Displacement):
        return "a displacement field cannot be combined with other coordinate maps"
    if isinstance(op, Resize):
        return "an antialiased resize reads stored pixels"
    if isinstance(pass_.first_op, Resize):
        maps = [first for first in pass_.first_ops if isinstance(first, CoordinateMap)]
        return _after_resize_reason(op, pass_.first_op, maps)
    return _map_reason(op, [first for first in pass_.first_ops if isinstance(first, CoordinateMap)])


def _may_precede_changes(pass_: Pass, op: Op) -> bool:
    """Whether the op may run before the changes of the pass: its overrides, chain and conversions.

    Before overrides and a chain, only a coordinate map may run that keeps the size of the canvas and changes no sample
    that they change. No op may run before a conversion to another dtype, or before an op that needs a mean.
    """
    changes = (*pass_.overrides, *pass_.chain)
    if pass_.output_dtype != pass_.input_dtype or pass_.mean_op_indices:
        return False
    if not all(_are_exclusive(op, other) for other in changes):
        return False
    return not changes or (isinstance(op, CoordinateMap) and op.size == pass_.output_size)


def _override_reason(pass_: Pass, op: OverrideOp) -> str:
    """A pass takes one override of each type, because a warp's record has one table for each type.

    It takes none after a change of size or dtype, nor after an op that needs a mean (`Pointwise.mean`).
    """
    same_size = pass_.output_size == pass_.input_size
    can_override = same_size and pass_.output_dtype == pass_.input_dtype and not pass_.mean_op_indices
    repeated = any(type(other) is type(op) for other in pass_.overrides)
    pass_ops = (*pass_.first_ops, *pass_.overrides, *pass_.chain)
    if can_override and not repeated and all(_are_exclusive(op, other) for other in pass_ops):
        return ""
    return _STATISTICS if isinstance(op, HistogramLut) else _NEIGHBOURS


def _branch_reason(pass_: Pass, op: Branch) -> str:
    if not pass_.ops and pass_.branch is None:
        return ""
    if op.is_first:
        return "the branches start from the images at this point"
    return "another branch starts from the images that the first one read"


def _cast_reason(pass_: Pass, op: Cast) -> str:
    if not pass_.runs_chain:
        return f"{_OWN_KERNEL}, which keeps the dtype"
    if pass_.range_changed:
        return "another conversion"
    if rounding := _rounding_reason(pass_):
        return rounding
    changes_range = not op.scale and MAX_VALUE.get(op.dtype) != MAX_VALUE.get(pass_.output_dtype)
    if changes_range and MAX_VALUE.get(pass_.output_dtype) != MAX_VALUE.get(pass_.input_dtype):
        return f"the conversion keeps the numbers of {pass_.output_dtype}"
    return ""


def _rounding_reason(pass_: Pass) -> str:
    rounded = pass_.output_dtype in MAX_VALUE and pass_.output_dtype != pass_.input_dtype
    return f"values are rounded to {pass_.output_dtype} before they are changed" if rounded else ""


def _pointwise_reason(pass_: Pass, op: Pointwise) -> str:
    if not pass_.runs_chain:
        return f"{_OWN_KERNEL}, which stores pixels before they are changed"
    if op.mean is not None and pass_.first_ops and not pass_.is_warp:
        return f"{_OWN_KERNEL}, which takes no mean"
    if rounding := _rounding_reason(pass_):
        return rounding
    needs_levels = op.needs_integer_levels
    depends_on_range = needs_levels or op.mean is not None or any(column.max_value is not None for column in op.columns)
    became_float = pass_.input_dtype in MAX_VALUE and pass_.output_dtype not in MAX_VALUE
    if (needs_levels and became_float) or (depends_on_range and pass_.range_changed):
        return f"the op works on the levels of {pass_.output_dtype}"
    return MEAN_FIRST if op.mean is not None and _mean_ends_pass(pass_, op) else ""


def _mean_ends_pass(pass_: Pass, op: Pointwise) -> bool:
    """Whether the pass ends at the op's mean.

    A pass with a first op or overrides ends there: the pixels before the mean are stored, and rounded. A pass that
    reads the result of the resample kernel ends at its first mean, too, if it changes pixels before the mean but not
    their dtype: so it rounds where a warp of the same resize rounds.
    """
    after_resample = pass_.follows_resample and pass_.output_dtype == pass_.input_dtype and not pass_.mean_op_indices
    return not pass_.is_pointwise or (after_resample and bool(pass_.chain or op.parts_at_mean))


def _after_resize_reason(op: CoordinateMap, resize: Resize, maps: Sequence[CoordinateMap]) -> str:
    """`maps`: those between the resize and `op`. If `op` reads a border and one is not a flip, a pass begins."""
    if not op.pixel_aligned or (op.reads_border and not resize.padding_joins_pass):
        return "an antialiased resize comes before"
    if op.reads_border and (op.border != "constant" or not all(other.flip_axis for other in maps)):
        return f"a border ({op.border}) around the canvas at this point"
    return ""


def _map_reason(op: CoordinateMap, maps: Sequence[CoordinateMap]) -> str:
    resampled = [other for other in maps if not other.pixel_aligned]
    if resampled and not op.pixel_aligned and resampled[0].interpolation != op.interpolation:
        return f"interpolation changes to {op.interpolation!r}"
    if op.within_box and not op.pixel_aligned and maps:
        return "the edge of a resized crop lies inside the canvas of the ops before it"
    if not op.reads_border:
        return ""
    earlier = [other for other in maps if not other.flip_axis and not _are_exclusive(other, op)]
    # A crop may come first: the border then begins at the edges of its box, the pass's `source_box`.
    only_crop_before = earlier == maps[:1] and all(other.within_box and other.pixel_aligned for other in earlier)
    if earlier and not only_crop_before:
        return f"a border ({op.border}) around the canvas at this point"
    if op.border != "edge" and any(other.within_box and not other.pixel_aligned for other in maps):
        return f"a border ({op.border}) after a resized crop, which has its own edge"
    if any(other.reads_border and (other.border, other.fill) != (op.border, op.fill) for other in maps):
        return f"another border ({op.border}) or fill"
    return ""


def _are_exclusive(a: Op, b: Op) -> bool:
    """Whether every sample is changed by at most one of the ops."""
    return any(
        column is other_column and not values & other_values
        for column, values in _applies_to(a)
        for other_column, other_values in _applies_to(b)
    )


def _applies_to(op: Op) -> SampleFilter:
    return op.applies_to if isinstance(op, ConditionalOp) else ()
