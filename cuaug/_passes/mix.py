"""Passes with several inputs: mixup and cutmix with another sample, and blends of branches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import _check
from .._arrays.images import ImageBatch, allocate_output
from .._program.records import BLEND, MAX_BRANCHES
from .kernel_config import kernel_config
from .layouts import vector_elements
from .op_chain import NO_OPS, OpChain, apply_ops_after
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .run import axes_and_misalignment, pack_pointwise, resident_blocks, run_pass


def mix(images: ImageBatch, name: str, parameters: SampleParameters, out: Any) -> Any:
    """Mixes each sample with another (kernels/ops/mixes). The first parameter is the index of the other sample."""
    _check.image_dtype(images.dtype)
    result = allocate_output(images, images.size, images.dtype, out)
    if images.samples * images.frames:
        names, grid_args = (images.dtype, images.dtype, name), (resident_blocks(images),)
        config = kernel_config("mix", names, *axes_and_misalignment(images, result), grid_args)
        record = pack_pointwise(images, result.pointer, result.axes.strides, config, parameters)
        run_pass(config, images, record, images.dtype, name)
    return images.library.to_user_array(result.array)


def blend(
    images: ImageBatch,
    branches: Sequence[ImageBatch],
    remainder_fractions: StridedArray,
    ops: OpChain = NO_OPS,
    dtype: str | None = None,
) -> Any:
    """A weighted sum of the images and the branches' results, then ops.

    `remainder_fractions`: the images, then each branch but the last, get this fraction of the weight that those before
    them leave; the last branch gets the rest. [N, branches]
    """
    dtype = dtype or images.dtype
    if images.device < 0 and (ops.names or dtype != images.dtype):
        blended = blend(images, branches, remainder_fractions)
        return apply_ops_after(images, blended, ops, dtype, None, NULL_ARRAY)
    result = allocate_output(images, images.size, dtype)
    if images.samples * images.frames:
        assert all(branch.axes.strides == result.axes.strides for branch in branches)
        pointers = [branch.pointer for branch in branches]
        # A vector access needs all pointers aligned: the lowest set bit of their OR is that of the least aligned one.
        misalignment = functools.reduce(int.__or__, pointers, result.pointer) % 16
        config = kernel_config(
            "blend",
            (images.dtype, dtype, *ops.names),
            *axes_and_misalignment(images, result)[:3],
            misalignment,
            (resident_blocks(images), False),
        )
        # The last field is the vector size of the result. The kernel reads the branches with it, too: it must fit both.
        *sizes, result_vectors = config.sizes
        branch_vectors = vector_elements(result.axes, images.dtype, misalignment)
        config = config._replace(sizes=(*sizes, min(result_vectors, branch_vectors)))
        parameters = SampleParameters(ops.parameters, ())
        record = pack_pointwise(images, result.pointer, result.axes.strides, config, parameters)
        padding = (0,) * (MAX_BRANCHES - len(pointers))
        record += BLEND.pack_derived(*pointers, *padding, *remainder_fractions[:5], len(pointers))
        run_pass(config, images, record, images.dtype)
    return images.library.to_user_array(result.array)
