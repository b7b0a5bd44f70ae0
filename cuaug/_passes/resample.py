"""A box of each sample, or a window of it, resized by a separable filter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _check
from .._arrays.convert import dtype_name
from .._arrays.images import ImageBatch, OutputArray, allocate_output
from .._program.names import chain
from .._program.records import RESAMPLE
from . import parameters
from .consecutive_images import ConsecutiveImages
from .kernel_config import kernel_config
from .op_chain import NO_OPS, OpChain
from .parameters import Fill, SampleParameters
from .run import axes_and_misalignment, batch_fields, cpp_dtype, run_pass

# antialias -> interpolation -> filter (kernels/samplers/filter.cuh).
_FILTERS = {
    True: {"bilinear": "Triangle", "bicubic": "CatmullRom", "lanczos": "Lanczos3", "area": "Area"},
    False: {"bilinear": "Triangle", "bicubic": "Cubic75", "lanczos": "Lanczos4"},
}
INTERPOLATIONS = ("nearest", *_FILTERS[True])  # of a resize
# Source pixels per result pixel on an axis. Sums of float32 over more of them lose their small terms. At this limit a
# constant image of 255 changes by 0.9 with "area", by less than 0.1 with other filters; at 2**20 by 3, at 2**22 by 9.
MAX_REDUCTION = 1 << 18


def antialias_value(value: Any) -> bool:
    """An argument `antialias`; None is False, as torchvision's is for tensors."""
    return _check.boolean("antialias", False if value is None else value)


def resample(
    images: ImageBatch,
    box: SampleParameters,
    size: tuple[int, int],
    interpolation: str,
    antialias: bool,
    dtype: Any,
    out: Any,
    has_window: bool = False,
    crops: bool = False,
    fill: Any = None,
    ops: OpChain = NO_OPS,
) -> Any:
    """Resizes `box` of each sample. The caller checks `interpolation`, and uses a warp for "nearest".

    "area" averages with and without `antialias`.
    `has_window`: six more columns of `box` describe the part of the resized box that is the result
    (kernels/records/resample.cuh). `crops`: the part may be smaller or larger than the resized box; else it is flipped
    only. `fill`: the value of its pixels outside of the resized box, as in `parameters.fill`. `ops`: of `CHANNEL_OPS`,
    applied to the result, fill included; the result is then scaled to the range of `dtype`.
    """
    out_dtype = images.dtype if dtype is None else dtype_name(dtype)
    _check.dtypes(images.dtype, out_dtype, interpolation)
    # Boxes of a table are not read: their reduction is not checked. Recipes have checked theirs.
    if (antialias or interpolation == "area") and not has_window and box.inline:
        check_reduction(map(min, box.inline[2:], images.size), size)
    result = allocate_output(images, size, out_dtype, out)
    if images.samples * images.frames:
        functors = (_filter(interpolation, antialias), chain(ops.names), *(("BoxWindow",) if crops else ()))
        antialias = antialias or interpolation == "area"
        names = cpp_dtype(images.dtype), cpp_dtype(out_dtype), *functors
        _run(images, box, result, names, has_window, antialias, parameters.fill(fill, images), ops)
    return images.library.to_user_array(result.array)


def resample_own_sizes(
    images: ImageBatch, box: np.ndarray, results: ConsecutiveImages, interpolation: str, antialias: bool
) -> None:
    """Resizes `box` of each image of a ragged batch on a GPU to the size of its result. [N, 4]"""
    _check.dtypes(images.dtype, images.dtype, interpolation)
    if antialias or interpolation == "area":
        largest = (box[:, 2:] / results.size).max(1).argmax()  # reduction
        check_reduction(box[largest, 2:].tolist(), results.size[largest].tolist())
    table = np.concatenate([box, results.size, results.offset[:, None]], 1).astype(np.float64)
    columns = parameters.per_sample_columns("boxes", list(table.T), images)
    names = (cpp_dtype(images.dtype), cpp_dtype(images.dtype), _filter(interpolation, antialias), chain(()), "OwnSize")
    antialias = antialias or interpolation == "area"
    _run(images, columns, results.output(), names, False, antialias, parameters.fill(None, images), NO_OPS)


def check_reduction(source_size: Iterable[float], size: Iterable[int]) -> None:
    for axis, source_pixels, pixels in zip(("rows", "columns"), source_size, size, strict=True):
        if source_pixels > MAX_REDUCTION * pixels:
            raise ValueError(
                f"size must be at least 1 / {MAX_REDUCTION} of the {axis} that are resized, "
                f"got {pixels} for {math.ceil(source_pixels)}: resize in two steps"
            )


def _filter(interpolation: str, antialias: bool) -> str:
    return _FILTERS[antialias or interpolation == "area"][interpolation]


def _run(
    images: ImageBatch,
    box: SampleParameters,
    result: OutputArray,
    names: tuple[str, ...],
    has_window: bool,
    antialias: bool,
    fill: Fill,
    ops: OpChain,
) -> None:
    """`names`: input dtype, output dtype, filter, chain, and the part of the box unless it is `WholeBox`."""
    config = kernel_config("resample", names, *axes_and_misalignment(images, result))
    batch = batch_fields(images, result.pointer, result.axes.strides, config)
    box_fields = (*box.table[:5], *(box.inline or (0.0,) * 4))
    run_pass(
        config,
        images,
        RESAMPLE.pack(*batch, *fill.table[:5], *fill.inline, *box_fields, *ops.parameters[:5], has_window, antialias),
        *names[:3],
    )
