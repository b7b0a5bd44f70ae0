"""A box of each sample, resized by a separable filter."""

from __future__ import annotations

from typing import Any

from .. import _check
from .._arrays.convert import dtype_name
from .._arrays.images import ImageBatch, allocate_output
from .._program.records import RESAMPLE
from . import kernel_config as _plans
from .parameters import NULL_ARRAY, SampleParameters
from .run import axes_and_misalignment, batch_fields, cpp_dtype, run_pass

_FILTERS = {  # antialias -> interpolation -> filter (kernels/samplers/filter.cuh)
    True: {"bilinear": "Triangle", "bicubic": "CatmullRom", "lanczos": "Lanczos3", "area": "Triangle"},
    False: {"bilinear": "Triangle", "bicubic": "Cubic75", "lanczos": "Lanczos4"},
}
INTERPOLATIONS = ("nearest", *_FILTERS[True])


def resample(
    image: ImageBatch,
    box: SampleParameters,
    size: tuple[int, int],
    interpolation: str,
    antialias: bool,
    dtype: str | None,
    out: Any,
    has_flips: bool = False,
) -> Any:
    """A box of each sample, resized by a separable filter. `interpolation` is checked, and not "nearest".

    `has_flips`: `box` has two more columns, whether the result is turned upside down, and left to right.
    """
    target = image.dtype if dtype is None else dtype_name(dtype)
    _check.dtypes(image.dtype, target, interpolation)
    result = allocate_output(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        names = (cpp_dtype(image.dtype), cpp_dtype(target), _FILTERS[antialias][interpolation])
        plan = _plans.kernel_config("resample", names, *axes_and_misalignment(image, result))
        fill = (*NULL_ARRAY[:5], 0.0, 0.0, 0.0, 0.0)
        sides = (*box.table[:5], *(box.inline or (0.0,) * 4))
        data = RESAMPLE.pack(
            *batch_fields(image, result.pointer, result.axes.strides, plan), *fill, *sides, has_flips, antialias
        )
        run_pass(plan, image, data, *names)
    return image.library.to_user_array(result.array)
