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


def apply_ops_after(image: ImageBatch, made: Any, ops: OpChain, target: str, out: Any, parts: StridedArray) -> Any:
    """Ops, if any, on what has been made of an image, in a launch or loop of their own; or, for `parts`, its mean."""
    if not ops.names and target == image.dtype and parts is NULL_ARRAY:
        assert out is None
        return made
    between, parameters = redescribe(made, image), SampleParameters(ops.parameters, ())
    if parts is NULL_ARRAY:
        return pointwise(between, ops.names, parameters, target, out)
    assert out is None  # nor another dtype
    assert target == image.dtype
    luma_mean(between, ops.names, parameters, parts.pointer, parts.n, in_place=len(ops.names) > 0)
    return made
