"""A chain of ops, applied by a kernel of another pass or by a pass of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._arrays.images import ImageBatch, redescribe
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .pointwise import pointwise
from .statistics import luma_mean


class OpChain(NamedTuple):
    """A chain of ops (kernels/ops), and the parameters of all of them, side by side."""

    names: tuple[str, ...]
    parameters: StridedArray


NO_OPS = OpChain((), NULL_ARRAY)


def apply_ops_after(
    image: ImageBatch, made: Any, ops: OpChain, target: str, out: Any, partial_sums: StridedArray
) -> Any:
    """Applies ops in a pass of their own; with `partial_sums`, in place, and stores the mean luma there."""
    if not ops.names and target == image.dtype and partial_sums is NULL_ARRAY:
        assert out is None
        return made
    between, parameters = redescribe(made, image), SampleParameters(ops.parameters, ())
    if partial_sums is NULL_ARRAY:
        return pointwise(between, ops.names, parameters, target, out)
    assert out is None  # nor another dtype
    assert target == image.dtype
    luma_mean(
        between, ops.names, parameters, partial_sums.pointer, partial_sums.sample_stride, in_place=len(ops.names) > 0
    )
    return made
