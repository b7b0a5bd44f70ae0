"""Arrays of boxes, scores, classes and counts: checks and describes them, and packs them as `cuaug::TypedArray`."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.pillow_library import PILLOW
from .._arrays.protocol import Library
from .._arrays.registry import result_library
from .._gpu import devices
from .._program.detection_records import TYPED_ARRAY
from .._value_text import value_text
from .box_formats import require_format

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int16", "int32", "int64", "bool")
# `TypedArray::dtype_code`; bool has that of uint8.
DTYPE_CODES = {name: code for code, name in enumerate((*FLOATS, *INTEGERS[:4]))} | {"bool": 4}
_LAYOUT = TYPED_ARRAY.span_packer("n_stride", "dtype_code")
_NO_LAYOUT = bytes(_LAYOUT.size)


class BoxBatch(NamedTuple):
    """Boxes and scores of one sample or of a batch, and the largest number of indices to return."""

    boxes: ArrayDescriptor
    scores: ArrayDescriptor
    counts: ArrayDescriptor | None
    library: Library
    batch_shape: tuple[int, ...]  # () or (N,)
    samples: int
    box_count: int  # of a sample
    max_output: int

    def empty_result(self) -> tuple[Any, Any]:
        """Indices and their counts if there are no boxes."""
        values = np.full((*self.batch_shape, self.max_output), -1), np.zeros(self.batch_shape, np.int64)
        device, library = self.boxes.device, self.library
        indices, counts = (library.to_user_array(library.from_numpy(array, device)) for array in values)
        return indices, counts


def describe_boxes(
    boxes: Any, scores: Any, counts: Any, columns: tuple[int, ...], max_output: int | None, fixed_size: bool
) -> BoxBatch:
    """Checks the arguments of a suppression. `columns`: how many numbers a box may have, (4,) or (4, 5)."""
    fixed_size = _check.boolean("fixed_size", fixed_size)
    require_format("boxes", boxes, "XYXY", "CXCYWHR")
    box_array, library = describe("boxes", boxes, FLOATS)
    batch_shape, samples, count = _extents(box_array.shape, columns, fixed_size)
    score_array = describe_per_box("scores", scores, FLOATS, box_array, library)
    sample_counts = None
    if counts is not None:
        if convert.is_host(counts):  # the conversion to int64 would drop fractions
            numbers = convert.host_array("counts", counts)
            if not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
                raise ValueError(f"counts must be whole numbers, got {value_text(counts)}")
            counts = np.clip(numbers, 0, count)  # as kernels clip them, but before int64 overflows
        else:
            describe("counts", counts, INTEGERS)  # its values are not read
        sample_counts, _ = describe("counts", convert.asarray(counts, like=boxes, dtype="int64"), INTEGERS)
        if not batch_shape:
            raise ValueError(f"counts must be None for the boxes of one sample, of shape {tuple(box_array.shape)}")
        if tuple(sample_counts.shape) != batch_shape:
            got = tuple(sample_counts.shape)
            raise ValueError(f"counts must have shape {batch_shape}, an entry for each sample, got {got}")
    # Kernels fill a result of a fixed size in steps of a block's threads, and count in int.
    max_limit = 1 << 30 if fixed_size else (1 << 31) - 1
    limit = count if max_output is None else _check.integer("max_output", max_output, 0, max_limit)
    max_output = limit if fixed_size else min(limit, count)
    return BoxBatch(box_array, score_array, sample_counts, library, batch_shape, samples, count, max_output)


@functools.lru_cache(1024)
def _extents(shape: tuple[int, ...], columns: tuple[int, ...], fixed_size: bool) -> tuple[tuple[int, ...], int, int]:
    """The batch's shape, () or (N,), the number of samples, and the number of boxes of each."""
    if len(shape) not in (2, 3) or shape[-1] not in columns:
        rotated = ", or 5 numbers if rotated" if 5 in columns else ""
        raise ValueError(f"boxes must have shape (K, 4) or (N, K, 4){rotated}, got {tuple(shape)}")
    batch_shape = tuple(shape[:-2])
    if batch_shape and not fixed_size:
        raise ValueError(f"fixed_size must be True for a batch of boxes, of shape {tuple(shape)}")
    return batch_shape, batch_shape[0] if batch_shape else 1, shape[-2]


def describe_per_box(
    name: str, array: Any, dtypes: tuple[str, ...], boxes: ArrayDescriptor, library: Library
) -> ArrayDescriptor:
    """Checks and describes an array with one number for each of `boxes`."""
    descriptor, array_library = describe(name, array, dtypes)
    if array_library.name != library.name or descriptor.device != boxes.device:
        raise ValueError(f"{name} must be in the library and on the device of boxes")
    if descriptor.shape != boxes.shape[:-1]:
        raise ValueError(f"{name} must have shape {tuple(boxes.shape[:-1])}, got {tuple(descriptor.shape)}")
    return descriptor


def describe(name: str, array: Any, dtypes: tuple[str, ...]) -> tuple[ArrayDescriptor, Library]:
    library = result_library(array)
    if library is None or library is PILLOW:
        raise TypeError(f"{name} must be an array of torch, cupy, numpy or jax, got {type(array).__name__}")
    if library.name != "dlpack":  # other libraries name their dtypes in other ways
        check_dtype(name, array, library, convert.dtype_name(array.dtype), dtypes)
    descriptor = library.describe(convert.detach(array))
    check_dtype(name, array, library, descriptor.dtype, dtypes)
    if descriptor.device >= 0:
        devices.check_not_forked()
    return descriptor, library


def check_dtype(name: str, array: Any, library: Library, dtype: str, dtypes: tuple[str, ...]) -> None:
    if dtype in dtypes:
        return
    target, hint = convert.index_dtype(library) if "int64" in dtypes else "float32", ""
    if dtype.startswith(("int", "uint", "float", "bfloat", "bool")):
        conversion = f"to(torch.{target})" if library.name == "torch" else f"astype('{target}')"
        hint = f": pass {name}.{conversion}" if library.name != "dlpack" else ""
    raise TypeError(f"{name} must be one of {', '.join(dtypes)}, got {dtype}{hint}")


def layout_span(field: str) -> tuple[str, str]:
    """The fields of a record's `TypedArray` after its pointer, as a span for `Record.packer`."""
    return f"{field}.n_stride", f"{field}.dtype_code"


def typed_array(array: ArrayDescriptor | None, batch_axes: int) -> tuple[int, bytes]:
    """`cuaug::TypedArray` of an array with `batch_axes` (0 or 1) leading axes of samples: pointer and packed layout."""
    if array is None:
        return 0, _NO_LAYOUT
    return array.pointer, _packed_layout(array.strides, array.dtype, batch_axes)


@functools.lru_cache(1024)
def _packed_layout(strides: tuple[int, ...], dtype: str, batch_axes: int) -> bytes:
    sample_stride = (0,) * (1 - batch_axes)
    return _LAYOUT.pack(*(*sample_stride, *strides, 0, 0)[:3], DTYPE_CODES[dtype])
