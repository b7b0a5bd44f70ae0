"""Converts parameters to the fields of records. Host values are checked; arrays on the images' GPU are not read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import capsule, convert, scalar_matrices
from .._arrays.convert import host_array, parameter_column, stack_columns
from .._arrays.descriptor import ArrayDescriptor, byte_range
from .._arrays.images import ImageBatch, overlaps
from .._arrays.registry import result_library
from .._integers import float_value, has_length
from .._matrices.builders import NUMBER_COLUMNS
from .._program.dtypes import LABEL_LIMITS
from .._program.records import MAX_BUILDER_INPUTS, MAX_INLINE_VALUES
from .._value_text import value_text


class StridedArray(NamedTuple):
    """The five fields of `cuaug::ParameterTable`, with strides in elements, and `owner`, which keeps the memory alive.

    A record takes the array without its owner: `array[:5]`.
    """

    pointer: int
    sample_stride: int
    row_stride: int
    column_stride: int
    is_double: int
    owner: object


NULL_ARRAY = StridedArray(0, 0, 0, 0, 0, None)


class SampleParameters(NamedTuple):
    """Parameters as an array with a row per sample, or as host numbers that all samples share, stored in the record."""

    table: StridedArray
    inline: tuple[float, ...]


class Fill(NamedTuple):
    """The fields of `cuaug::Fill`; `inline` has one number per channel."""

    table: StridedArray
    inline: tuple[float, float, float, float]


def float_array(
    parameter: str, value: Any, images: ImageBatch, dtype: Any = np.float64
) -> np.ndarray | ArrayDescriptor:
    """A NumPy array of this dtype if the value or the images are on the host; else an array on the images' device."""
    if not convert.is_host(value) and images.device < 0:
        value = convert.to_host(value)
    if convert.is_host(value):
        return np.asarray(host_array(parameter, value, dtype), order="C")
    return _device_array(parameter, value, images, ("float32", "float64"))


def _device_array(parameter: str, value: Any, images: ImageBatch, dtypes: tuple[str, ...]) -> ArrayDescriptor:
    """A device array of one of the dtypes, copied if it is on another device."""
    library = result_library(value)
    if library is images.library:
        descriptor = convert.describe(value)
    else:
        descriptor = capsule.import_array(value, images.library.current_stream(images.device))
    if descriptor.dtype not in dtypes:
        raise TypeError(f"{parameter} must be {' or '.join(dtypes)} on a device, got {descriptor.dtype}")
    if descriptor.device != images.device:
        values = convert.to_host(value).astype(descriptor.dtype)
        descriptor = convert.describe(images.library.from_numpy(values, images.device))
    return descriptor


def on_images_device(array: np.ndarray | ArrayDescriptor, images: ImageBatch) -> ArrayDescriptor:
    """The array on the images' device: a NumPy array is copied into memory of the images' library."""
    if isinstance(array, ArrayDescriptor):
        return array
    return convert.describe(images.library.from_numpy(array, images.device))


def matrix_view(descriptor: ArrayDescriptor, per_sample: bool) -> StridedArray:
    """A matrix, or a coordinate map [H, W], for all samples or one per sample."""
    sample_stride = descriptor.strides[0] if per_sample and descriptor.shape[0] > 1 else 0
    row_stride, column_stride = descriptor.strides[-2:]
    is_double = int(descriptor.dtype == "float64")
    return StridedArray(descriptor.pointer, sample_stride, row_stride, column_stride, is_double, descriptor.owner)


def matrices(parameter: str, value: Any, images: ImageBatch, rows: int) -> SampleParameters:
    """The first `rows` rows of one matrix or one per sample. [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]"""
    entries = scalar_matrices.affine_entries(value) if rows == 2 else scalar_matrices.perspective_entries(value)
    if entries is not None:
        return SampleParameters(NULL_ARRAY, entries)
    array = float_array(parameter, value, images)
    shape = array.shape
    if len(shape) not in (2, 3) or shape[-1] != 3 or not rows <= shape[-2] <= 3:
        allowed = "(2, 3), (3, 3), (N, 2, 3) or (N, 3, 3)" if rows == 2 else "(3, 3) or (N, 3, 3)"
        raise ValueError(f"{parameter} must have shape {allowed}, got {tuple(shape)}")
    if len(shape) == 3:
        _check.one_or_per_sample(parameter, shape[0], images.samples)
    if isinstance(array, np.ndarray):
        _check.matrices(parameter, array.reshape(-1, *shape[-2:]), rows)
        if 0 < array.size <= 9:
            return SampleParameters(NULL_ARRAY, tuple(array.reshape(-1)[: 3 * rows].tolist()))
    return SampleParameters(matrix_view(on_images_device(array, images), len(shape) == 3), (0.0,) * (3 * rows))


def coordinate_maps(parameter: str, value: Any, images: ImageBatch) -> tuple[StridedArray, tuple[int, int]]:
    """One map or one per sample, and its size. [H, W] or [N, H, W]"""
    array = float_array(parameter, value, images, np.float32 if convert.is_float32(value) else np.float64)
    descriptor = on_images_device(array, images)
    if len(descriptor.shape) not in (2, 3) or 0 in descriptor.shape[-2:]:
        raise ValueError(f"{parameter} must have shape (H, W) or (N, H, W), got {tuple(descriptor.shape)}")
    if len(descriptor.shape) == 3:
        _check.one_or_per_sample(parameter, descriptor.shape[0], images.samples)
    return matrix_view(descriptor, len(descriptor.shape) == 3), (descriptor.shape[-2], descriptor.shape[-1])


def check_no_overlap(parameter: str, table: StridedArray, extents: tuple[int, int, int], out: ImageBatch) -> None:
    """Kernels read parameters while they write `out`. `extents`: samples, rows and columns of the table."""
    span = byte_range(
        (table.sample_stride, table.row_stride, table.column_stride), extents, 8 if table.is_double else 4
    )
    if overlaps(table.pointer, span, out):
        raise ValueError(f"out must not overlap the memory range of {parameter}")


def lut_table(parameter: str, value: Any, images: ImageBatch) -> StridedArray:
    """Tables of 256 uint8 values: one for all, per channel, per sample, or per sample and channel. [N, C, 256]"""
    if not convert.is_host(value) and images.device < 0:
        value = convert.to_host(value)
    if convert.is_host(value):
        values = host_array(parameter, value)
        _check.whole_numbers(parameter, values, 255)
        descriptor = on_images_device(np.asarray(values, np.uint8, order="C"), images)
    else:
        table = convert.asarray(value, like=value, dtype="uint8")
        descriptor = _device_array(parameter, table, images, ("uint8",))
    samples, channels = _lut_shape(parameter, tuple(descriptor.shape), images.samples, images.channels)
    sample_stride = descriptor.strides[0] if samples > 1 else 0
    row_stride = descriptor.strides[-2] if channels > 1 else 0
    return StridedArray(descriptor.pointer, sample_stride, row_stride, descriptor.strides[-1], 0, descriptor.owner)


def _lut_shape(parameter: str, shape: tuple[int, ...], samples: int, channels: int) -> tuple[int, int]:
    """A lookup table's number of samples and of channels; 1 means one table for all."""
    leading = shape[:-1]
    if leading == (samples,) == (channels,) and samples > 1:
        raise ValueError(
            f"{parameter} of shape {shape} may be one per channel or one per sample here: "
            f"pass (1, {channels}, 256) or ({samples}, 1, 256)"
        )
    if len(leading) < 2:
        leading = (1, *leading) if leading == (channels,) else (*leading, *(1, 1)[len(leading) :])
    if len(leading) != 2 or shape[-1:] != (256,) or leading[0] not in (1, samples) or leading[1] not in (1, channels):
        *shapes, last = dict.fromkeys(((256,), (channels, 256), (samples, 256), (samples, channels, 256)))
        raise ValueError(f"{parameter} must have shape {', '.join(map(str, shapes))} or {last}, got {shape}")
    return leading[0], leading[1]


def xy_pairs(parameter: str, value: Any, images: ImageBatch) -> SampleParameters:
    """A number, (x, y) as a list or tuple, one number per sample [N], or (x, y) per sample [N, 2]."""
    if type(value) in (int, float):
        return SampleParameters(NULL_ARRAY, (float_value(parameter, value),) * 2)
    if isinstance(value, (list, tuple)) and len(value) == 2 and not any(map(has_length, value)):
        return SampleParameters(NULL_ARRAY, (float(value[0]), float(value[1])))
    descriptor = on_images_device(float_array(parameter, value, images), images)
    shape, strides = descriptor.shape, descriptor.strides
    if len(shape) > 2 or (len(shape) == 2 and shape[1] != 2):
        raise ValueError(
            f"{parameter} must be a number, (x, y), or have shape (N,) or (N, 2), got shape {tuple(shape)}"
        )
    if shape:
        _check.one_or_per_sample(parameter, shape[0], images.samples)
    sample_stride = strides[0] if shape and shape[0] > 1 else 0
    column_stride = strides[1] if len(shape) == 2 else 0
    return SampleParameters(_table(descriptor, sample_stride, column_stride), ())


def _table(descriptor: ArrayDescriptor, sample_stride: int, column_stride: int) -> StridedArray:
    is_double = int(descriptor.dtype == "float64")
    return StridedArray(descriptor.pointer, sample_stride, 0, column_stride, is_double, descriptor.owner)


def box_columns(box: tuple[Any, Any, Any, Any]) -> list[Any]:
    """A `parameter_column` for each of (top, left, height, width); on the host, height and width are checked."""
    columns = [parameter_column(name, v) for name, v in zip(("top", "left", "height", "width"), box, strict=True)]
    _check.positive("height", columns[2])
    _check.positive("width", columns[3])
    return columns


def boxes(box: tuple[Any, Any, Any, Any], images: ImageBatch) -> SampleParameters:
    """Boxes from (top, left, height, width), each one number or one per sample. [N, 4]"""
    return per_sample_columns("top, left, height and width", box_columns(box), images)


def per_sample_columns(names: str, values: list[Any], images: ImageBatch) -> SampleParameters:
    """Results of `parameter_column`, side by side; `names` are for messages. [N, len(values)]"""
    if len(values) <= MAX_INLINE_VALUES and all(isinstance(value, float) for value in values):
        return SampleParameters(NULL_ARRAY, tuple(values))
    for value in values:
        shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
        if len(shape) == 1:
            _check.one_or_per_sample(names, shape[0], images.samples)
    is_column = len(values) == 1
    array = values[0] if is_column else _columns(values, images)
    descriptor = on_images_device(float_array(names, array, images), images)
    has_rows = len(descriptor.shape) == (1 if is_column else 2)
    count = descriptor.shape[0] if has_rows else 1
    _check.one_or_per_sample(names, count, images.samples)
    sample_stride = descriptor.strides[0] if count > 1 else 0
    return SampleParameters(_table(descriptor, sample_stride, 0 if is_column else descriptor.strides[-1]), ())


def _columns(values: list[Any], images: ImageBatch) -> Any:
    """The values side by side: by one kernel if they are numbers and arrays on the images' GPU. [N, len(values)]"""
    arrays = [value for value in values if not isinstance(value, float)]
    if images.device < 0 or len(values) > MAX_BUILDER_INPUTS or not all(map(_is_readable, arrays)):
        return stack_columns(values)
    if any(result_library(array) is not images.library for array in arrays):
        return stack_columns(values)
    return NUMBER_COLUMNS(**{f"column {i}": value for i, value in enumerate(values)})


def column(parameter: str, value: Any) -> Any:
    """`parameter_column`, but a device array of float32 or float64 stays as it is: kernels read both."""
    return value if _is_readable(value) else parameter_column(parameter, value)


def checked_column(parameter: str, value: Any, min_value: float, max_value: float = np.inf) -> Any:
    """`column`, with its range checked if it is on the host."""
    if _is_readable(value):
        return value
    checked = parameter_column(parameter, value)
    _check.in_range(parameter, checked, min_value, max_value)
    return checked


def checked_numbers(parameter: str, value: Any, max_value: int) -> Any:
    """`checked_column` of whole numbers in 0..max_value."""
    checked = checked_column(parameter, value, 0, max_value)
    _check.whole_numbers(parameter, checked, max_value)
    return checked


def _is_readable(value: Any) -> bool:
    """Whether a kernel can read this device array, one number or one per sample."""
    if type(value) in (int, float) or convert.is_host(value) or not hasattr(value, "ndim"):
        return False
    return value.ndim <= 1 and convert.dtype_name(value.dtype) in ("float32", "float64")


def per_channel_columns(parameter: str, value: Any, images: ImageBatch) -> list[Any]:
    """One `parameter_column` per channel, from a number, one per channel [C], or one per sample and channel [N, C]."""
    if type(value) in (int, float):
        return [parameter_column(parameter, value)] * images.channels
    if type(value) in (list, tuple) and len(value) == images.channels and all(type(v) in (int, float) for v in value):
        return [parameter_column(parameter, v) for v in value]
    value = host_array(parameter, value) if convert.is_host(value) else value
    if value.ndim not in (0, 1, 2) or (value.ndim and value.shape[-1] not in (1, images.channels)):
        raise ValueError(
            f"{parameter} must be a number, one per channel ({images.channels},) "
            f"or one per sample and channel ({images.samples}, {images.channels}), got shape {tuple(value.shape)}"
        )
    if value.ndim == 0 or value.shape[-1] == 1:
        column = parameter_column(parameter, value[..., 0] if value.ndim else value)
        return [column] * images.channels
    return [parameter_column(parameter, value[..., c]) for c in range(images.channels)]


def matrix_entries(parameter: str, value: Any, shapes: tuple[tuple[int, int], ...]) -> list[Any]:
    """One `parameter_column` per entry, row by row, of a matrix or one per sample, with one of these shapes."""
    value = host_array(parameter, value) if convert.is_host(value) else value
    if value.ndim not in (2, 3) or tuple(value.shape[-2:]) not in shapes:
        allowed = " or ".join(f"{text}{shape[0]}, {shape[1]})" for shape in shapes for text in ("(", "(N, "))
        raise ValueError(f"{parameter} must have shape {allowed}, got {tuple(value.shape)}")
    rows, width = value.shape[-2:]
    return [parameter_column(parameter, value[..., r, c]) for r in range(rows) for c in range(width)]


def fill(value: Any, images: ImageBatch) -> Fill:
    """A number, one per channel [C], or one per sample and channel [N, C] ([N, 1]: the same for all channels)."""
    if value is None:
        return Fill(NULL_ARRAY, (0.0, 0.0, 0.0, 0.0))
    if type(value) in (int, float):
        _check_label_fill(value, images.dtype)
        return Fill(NULL_ARRAY, (float_value("fill", value),) * 4)
    if convert.is_host(value):
        values = host_array("fill", value)
        if values.ndim == 0 or values.size == 1:
            return fill(float(values.reshape(())) if values.ndim == 0 else float(values.reshape(-1)[0]), images)
        _check_label_fill(values, images.dtype)
        if values.shape == (images.channels,) and images.channels <= 4:
            padded = [*values.tolist(), *[values[-1]] * (4 - len(values))]
            return Fill(NULL_ARRAY, (padded[0], padded[1], padded[2], padded[3]))
    descriptor = on_images_device(float_array("fill", value, images), images)
    shape = descriptor.shape
    if len(shape) > 2 or (shape and shape[-1] not in (1, images.channels)):
        raise ValueError(
            f"fill must be a number, one per channel ({images.channels},) "
            f"or one per sample and channel ({images.samples}, {images.channels}), got shape {tuple(shape)}"
        )
    if len(shape) == 2:
        _check.one_or_per_sample("fill", shape[0], images.samples)
    sample_stride = descriptor.strides[0] if len(shape) == 2 and shape[0] > 1 else 0
    column_stride = descriptor.strides[-1] if shape and shape[-1] > 1 else 0
    return Fill(_table(descriptor, sample_stride, column_stride), (0.0, 0.0, 0.0, 0.0))


def _check_label_fill(value: float | np.ndarray, dtype: str) -> None:
    """Refuses fractions, NaN and values out of range: a label that is rounded or clamped is another class."""
    if dtype in LABEL_LIMITS:
        _check.in_range(f"fill of {dtype} images", value, *LABEL_LIMITS[dtype])
        if type(value) is not int and not np.all(value == np.rint(value)):
            raise ValueError(f"fill of {dtype} images must hold whole numbers, got {value_text(value)}")
