"""Passes that read other samples of the batch, or other results: mixup, cutmix and blends of branches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, allocate_output
from .._program.records import BLEND, MAX_BRANCHES
from . import kernel_config as _plans
from .op_chain import NO_OPS, OpChain, apply_ops_after
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .run import axes_and_misalignment, pack_pointwise, resident_blocks, run_pass


def mix(image: ImageBatch, name: str, parameters: SampleParameters, out: Any) -> Any:
    """Each sample with another (kernels/mixes); `parameters` begin with which."""
    _check.dtypes(image.dtype, image.dtype, "bilinear")
    result = allocate_output(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.kernel_config("mix", (image.dtype, image.dtype, name), *axes_and_misalignment(image, result))
        data = pack_pointwise(image, result.pointer, result.axes.strides, plan, parameters)
        run_pass(plan, image, data, image.dtype, name)
    return image.library.to_user_array(result.array)


def blend(
    image: ImageBatch,
    branches: Sequence[ImageBatch],
    shares: StridedArray,
    ops: OpChain = NO_OPS,
    dtype: str | None = None,
) -> Any:
    """Images and what branches have made of them; then ops.

    `shares`: of what is left over, but for the last. [N, branches]
    """
    dtype = dtype or image.dtype
    if image.device < 0 and (ops.names or dtype != image.dtype):
        return apply_ops_after(image, blend(image, branches, shares), ops, dtype, None, NULL_ARRAY)
    result = allocate_output(image, image.size, dtype)
    if image.samples * image.axes.extents[1]:
        assert all(branch.axes.strides == result.axes.strides for branch in branches)
        pointers = [branch.pointer for branch in branches]
        phase = functools.reduce(int.__or__, pointers, result.pointer) % 16  # vectors need all of them to be aligned
        plan = _plans.kernel_config(
            "blend",
            (image.dtype, dtype, *ops.names),
            *axes_and_misalignment(image, result)[:3],
            phase,
            (resident_blocks(image), False),
        )
        record = pack_pointwise(image, result.pointer, result.axes.strides, plan, SampleParameters(ops.parameters, ()))
        rest = (0,) * (MAX_BRANCHES - len(pointers))
        data = record + BLEND.pack_derived(*pointers, *rest, *shares[:5], len(pointers))
        run_pass(plan, image, data, image.dtype)
    return image.library.to_user_array(result.array)
