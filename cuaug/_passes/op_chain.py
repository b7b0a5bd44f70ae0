"""A chain of ops: an argument of other passes, or a pass of its own after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._arrays.images import ImageBatch, describe_result
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .pointwise import pointwise
from .statistics import luma_mean


class OpChain(NamedTuple):
    """The structs of a chain of ops (kernels/ops), and the parameters of all of them, side by side."""

    names: tuple[str, ...]
    parameters: StridedArray


NO_OPS = OpChain((), NULL_ARRAY)

# The ops (kernels/ops) that change a channel independently of the others and of the pixel's position. A GPU's kernel
# of a blur or a resize can apply up to `MAX_CHANNEL_OPS` of them before it stores (kernels/gpu/channel_ops.cuh): the
# limit keeps their parameters small beside the tile of a blur, in shared memory.
CHANNEL_OPS = frozenset(
    (
        "AdjustBrightness",
        "AdjustContrast",
        "AdjustGamma",
        "ConvertRange",
        "Invert",
        "Normalize",
        "Posterize",
        "Rescale",
        "Solarize",
    )
)
MAX_CHANNEL_OPS = 8


def fits_kernel(names: Sequence[str]) -> bool:
    """Whether the kernel of a blur or a resize can apply these ops."""
    return len(names) <= MAX_CHANNEL_OPS and CHANNEL_OPS.issuperset(names)


def apply_ops_after(
    images: ImageBatch, array: Any, ops: OpChain, dtype: str, out: Any, partial_sums: StridedArray
) -> Any:
    """Applies ops to the array that a pass over these images has returned; returns the result.

    With `partial_sums` (on the CPU only, where a mean has one partial sum), the result's mean luma is stored there, and
    the ops are applied in place. Then `out` must be None, and `dtype` that of the images.
    """
    if not ops.names and dtype == images.dtype and partial_sums is NULL_ARRAY:
        assert out is None
        return array
    intermediate, parameters = describe_result(array, images), SampleParameters(ops.parameters, ())
    if partial_sums is NULL_ARRAY:
        return pointwise(intermediate, ops.names, parameters, dtype, out)
    assert images.device < 0
    assert out is None
    assert dtype == images.dtype
    in_place = len(ops.names) > 0
    luma_mean(intermediate, ops.names, parameters, partial_sums.pointer, partial_sums.sample_stride, in_place=in_place)
    return array
