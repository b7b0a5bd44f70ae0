"""A box of each sample, or a window of it, resized by a separable filter."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.convert import dtype_name
from .._arrays.images import ImageBatch, allocate_output
from .._program.records import RESAMPLE
from .kernel_config import kernel_config
from .parameters import NULL_ARRAY, SampleParameters
from .run import axes_and_misalignment, batch_fields, cpp_dtype, run_pass

# antialias -> interpolation -> filter (kernels/samplers/filter.cuh).
_FILTERS = {
    True: {"bilinear": "Triangle", "bicubic": "CatmullRom", "lanczos": "Lanczos3", "area": "Area"},
    False: {"bilinear": "Triangle", "bicubic": "Cubic75", "lanczos": "Lanczos4"},
}
INTERPOLATIONS = ("nearest", *_FILTERS[True])  # of a resize


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
) -> Any:
    """Resizes `box` of each sample. The caller checks `interpolation`, and uses a warp for "nearest".

    "area" averages with and without `antialias`.
    `has_window`: six more columns of `box` describe the part of the resized box that is the result
    (kernels/records/resample.cuh). `crops`: this part may be smaller than the resized box; else it is flipped only.
    """
    out_dtype = images.dtype if dtype is None else dtype_name(dtype)
    _check.dtypes(images.dtype, out_dtype, interpolation)
    result = allocate_output(images, size, out_dtype, out)
    antialias = antialias or interpolation == "area"
    if images.samples * images.frames:
        names = (cpp_dtype(images.dtype), cpp_dtype(out_dtype), _FILTERS[antialias][interpolation])
        part = ("BoxWindow",) if crops else ()
        config = kernel_config("resample", (*names, *part), *axes_and_misalignment(images, result))
        batch = batch_fields(images, result.pointer, result.axes.strides, config)
        fill = (*NULL_ARRAY[:5], 0.0, 0.0, 0.0, 0.0)
        sides = (*box.table[:5], *(box.inline or (0.0,) * 4))
        run_pass(config, images, RESAMPLE.pack(*batch, *fill, *sides, has_window, antialias), *names)
    return images.library.to_user_array(result.array)
