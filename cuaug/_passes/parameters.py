"""Per-sample parameters on their way to the kernels: host values are checked and moved, device arrays passed unread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import capsule, convert
from .._arrays import images as _images
from .._arrays.convert import host_array, parameter_column, stack_columns
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.images import ImageBatch
from .._arrays.registry import library_of
from .._program.records import MAX_INLINE_VALUES


class StridedArray(NamedTuple):
    """The fields of `cuaug::Table` (kernels/record.cuh), and what keeps the memory alive."""

    pointer: int
    sample_stride: int
    row_stride: int
    column_stride: int
    is_double: int
    owner: object


NULL_ARRAY = StridedArray(0, 0, 0, 0, 0, None)


class SampleParameters(NamedTuple):
    """A table, or, where the host gave one entry for all samples, that entry in the record itself, without a copy."""

    table: StridedArray
    inline: tuple[float, ...]


class Fill(NamedTuple):
    """The fields of `cuaug::Fill`."""

    table: StridedArray
    inline: tuple[float, float, float, float]


def float_array(parameter: str, value: Any, image: ImageBatch, dtype: Any = np.float64) -> np.ndarray | ArrayDescriptor:
    """Float numbers: those of the host in this dtype, else the description of what lies on the images' device."""
    if not convert.is_host(value) and image.device < 0:
        value = convert.to_host(value)
    if convert.is_host(value):
        return np.asarray(host_array(parameter, value, dtype), order="C")
    tensor = _on_device(value, image)
    if tensor.dtype not in ("float32", "float64"):
        raise TypeError(f"{parameter} must be float32 or float64 on a device, got {tensor.dtype}")
    return tensor


def _on_device(value: Any, image: ImageBatch) -> ArrayDescriptor:
    """A device array, moved where it does not lie on the images' device."""
    library = library_of(type(value))
    if library is image.library:
        tensor = convert.describe(value)
    else:
        tensor = capsule.import_array(value, image.library.current_stream(image.device))
    if tensor.device != image.device:
        dtype = tensor.dtype if tensor.dtype in ("uint8", "float32") else np.float64
        tensor = convert.describe(image.library.from_numpy(convert.to_host(value).astype(dtype), image.device))
    return tensor


def on_images_device(found: np.ndarray | ArrayDescriptor, image: ImageBatch) -> ArrayDescriptor:
    """Numbers on the images' device: host values move there, into memory of the images' library."""
    return (
        found if isinstance(found, ArrayDescriptor) else convert.describe(image.library.from_numpy(found, image.device))
    )


def matrix_view(tensor: ArrayDescriptor, by_sample: bool) -> StridedArray:
    """A table of rows and columns, one for all or one per sample."""
    each = tensor.strides[0] if by_sample and tensor.shape[0] > 1 else 0
    return StridedArray(
        tensor.pointer, each, tensor.strides[-2], tensor.strides[-1], int(tensor.dtype == "float64"), tensor.owner
    )


def matrices(parameter: str, value: Any, image: ImageBatch, rows: int) -> SampleParameters:
    """One matrix, or one per sample, of which `rows` rows count: [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]."""
    found = float_array(parameter, value, image)
    shape = found.shape
    if len(shape) not in (2, 3) or shape[-1] != 3 or not rows <= shape[-2] <= 3:
        allowed = "(2, 3), (3, 3), (N, 2, 3) or (N, 3, 3)" if rows == 2 else "(3, 3) or (N, 3, 3)"
        raise ValueError(f"{parameter} must have shape {allowed}, got {tuple(shape)}")
    if len(shape) == 3:
        _check.one_or_per_sample(parameter, shape[0], image.samples)
    if isinstance(found, np.ndarray):
        _check.matrices(parameter, found.reshape(-1, *shape[-2:]), rows)
        if 0 < found.size <= 9:
            return SampleParameters(NULL_ARRAY, tuple(found.reshape(-1)[: 3 * rows].tolist()))
    return SampleParameters(matrix_view(on_images_device(found, image), len(shape) == 3), (0.0,) * (3 * rows))


def coordinate_maps(parameter: str, value: Any, image: ImageBatch) -> tuple[StridedArray, tuple[int, int]]:
    """One map, or one per sample: [H, W] or [N, H, W]. Also its size."""
    found = float_array(parameter, value, image, np.float32 if convert.is_float32(value) else np.float64)
    if isinstance(found, np.ndarray) and (
        image.device >= 0 or not found.flags.writeable or min(found.strides, default=0) < 0
    ):
        found = found.copy()  # the caller may write to his own while it is on its way, and torch takes no others
    tensor = on_images_device(found, image)
    if len(tensor.shape) not in (2, 3) or 0 in tensor.shape[-2:]:
        raise ValueError(f"{parameter} must have shape (H, W) or (N, H, W), got {tensor.shape}")
    if len(tensor.shape) == 3:
        _check.one_or_per_sample(parameter, tensor.shape[0], image.samples)
    return matrix_view(tensor, len(tensor.shape) == 3), (tensor.shape[-2], tensor.shape[-1])


def check_no_overlap(parameter: str, table: StridedArray, extents: tuple[int, int, int], out: ImageBatch) -> None:
    """A kernel reads its parameters while it writes. `extents` of `table`: samples, rows, columns."""
    taken = _images.byte_range(
        (table.sample_stride, table.row_stride, table.column_stride), extents, 8 if table.is_double else 4
    )
    if _images.overlaps(table.pointer, taken, out):
        raise ValueError(f"out must not share memory with {parameter}")


def lut_table(parameter: str, value: Any, image: ImageBatch) -> StridedArray:
    """256 bytes for all, per channel, per sample or both, as [N, C, 256]: rows are of channels."""
    if not convert.is_host(value) and image.device < 0:
        value = convert.to_host(value)
    if convert.is_host(value):
        values = host_array(parameter, value)
        _check.byte_values(parameter, values)
        tensor = convert.describe(image.library.from_numpy(np.asarray(values, np.uint8, order="C"), image.device))
    else:
        tensor = _on_device(convert.asarray(value, like=value, dtype="uint8"), image)
    samples, channels = _check.lut_shape(parameter, tuple(tensor.shape), image.samples, image.channels)
    each, row = tensor.strides[0] if samples > 1 else 0, tensor.strides[-2] if channels > 1 else 0
    return StridedArray(tensor.pointer, each, row, tensor.strides[-1], 0, tensor.owner)


def xy_pairs(parameter: str, value: Any, image: ImageBatch) -> SampleParameters:
    """A number, (x, y) as a list or a tuple, one number per sample [N], or x and y of each [N, 2]."""
    if type(value) in (int, float):
        return SampleParameters(NULL_ARRAY, (float(value),) * 2)
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(type(v) in (int, float) for v in value):
        return SampleParameters(NULL_ARRAY, (float(value[0]), float(value[1])))
    tensor = on_images_device(float_array(parameter, value, image), image)
    shape, strides = tensor.shape, tensor.strides
    if len(shape) > 2 or (len(shape) == 2 and shape[1] != 2):
        raise ValueError(
            f"{parameter} must be a number, (x, y), or have shape (N,) or (N, 2), got shape {tuple(shape)}"
        )
    if shape:
        _check.one_or_per_sample(parameter, shape[0], image.samples)
    each = strides[0] if shape and shape[0] > 1 else 0
    across = strides[1] if len(shape) == 2 else 0
    return SampleParameters(
        StridedArray(tensor.pointer, each, 0, across, int(tensor.dtype == "float64"), tensor.owner), ()
    )


def boxes(box: tuple[Any, Any, Any, Any], image: ImageBatch) -> SampleParameters:
    """(top, left, height, width), each a number or one per sample. As a table: [N, 4]"""
    sides = [parameter_column(name, v) for name, v in zip(("top", "left", "height", "width"), box, strict=True)]
    for name, side in zip(("height", "width"), sides[2:], strict=True):
        if isinstance(side, (float, np.ndarray)) and not np.all(np.asarray(side) > 0):
            raise ValueError(f"{name} must be greater than 0, got {side}")
    return per_sample_columns("top, left, height and width", sides, image)


def per_sample_columns(names: str, values: list[Any], image: ImageBatch) -> SampleParameters:
    """Numbers and per-sample values, of `parameter_column`, side by side. As a table: [N, len(values)]"""
    if len(values) <= MAX_INLINE_VALUES and all(isinstance(value, float) for value in values):
        return SampleParameters(NULL_ARRAY, tuple(values))
    together = values[0][..., None] if len(values) == 1 else stack_columns(values)
    tensor = on_images_device(float_array(names, together, image), image)
    count = tensor.shape[0] if len(tensor.shape) == 2 else 1
    _check.one_or_per_sample(names, count, image.samples)
    each = tensor.strides[0] if count > 1 else 0
    return SampleParameters(
        StridedArray(tensor.pointer, each, 0, tensor.strides[-1], int(tensor.dtype == "float64"), tensor.owner), ()
    )


def checked_column(parameter: str, value: Any, least: float, most: float = np.inf) -> Any:
    """As a column of `columns`, whose range is checked if it lies on the host."""
    column = parameter_column(parameter, value)
    _check.in_range(parameter, column, least, most)
    return column


def per_channel_columns(parameter: str, value: Any, image: ImageBatch) -> list[Any]:
    """A number, one per channel [C], or one per sample and channel [N, C], as columns of `columns`."""
    if type(value) in (int, float):
        return [parameter_column(parameter, value)] * image.channels
    value = host_array(parameter, value) if convert.is_host(value) else value
    if value.ndim not in (0, 1, 2) or (value.ndim and value.shape[-1] not in (1, image.channels)):
        raise ValueError(
            f"{parameter} must be a number, one per channel ({image.channels},) "
            f"or one per sample and channel ({image.samples}, {image.channels}), got shape {tuple(value.shape)}"
        )
    wide = value.ndim > 0 and value.shape[-1] > 1
    return [
        parameter_column(parameter, value[..., c if wide else 0] if value.ndim else value)
        for c in range(image.channels)
    ]


def matrix_entries(parameter: str, value: Any, shapes: tuple[tuple[int, int], ...]) -> list[Any]:
    """A matrix, or one per sample, of one of these shapes, row by row as columns of `columns`."""
    value = host_array(parameter, value) if convert.is_host(value) else value
    if value.ndim not in (2, 3) or tuple(value.shape[-2:]) not in shapes:
        allowed = " or ".join(f"{text}{shape[0]}, {shape[1]})" for shape in shapes for text in ("(", "(N, "))
        raise ValueError(f"{parameter} must have shape {allowed}, got {tuple(value.shape)}")
    rows, width = value.shape[-2:]
    return [parameter_column(parameter, value[..., r, c]) for r in range(rows) for c in range(width)]


def fill(value: Any, image: ImageBatch) -> Fill:
    """A number, one per channel [C], or one per sample and channel [N, C] ([N, 1] for all channels)."""
    if value is None:
        return Fill(NULL_ARRAY, (0.0, 0.0, 0.0, 0.0))
    if type(value) in (int, float):
        if image.dtype not in _check.IMAGE_DTYPES and value != value:
            raise ValueError(f"fill must be a number for {image.dtype} images, got {value}")
        return Fill(NULL_ARRAY, (float(value),) * 4)
    if convert.is_host(value):
        values = host_array("fill", value)
        if values.ndim == 0 or values.size == 1:
            return fill(float(values.reshape(())) if values.ndim == 0 else float(values.reshape(-1)[0]), image)
        if values.shape == (image.channels,) and image.channels <= 4:
            padded = [*values.tolist(), *[values[-1]] * (4 - len(values))]
            return Fill(NULL_ARRAY, (padded[0], padded[1], padded[2], padded[3]))
    tensor = on_images_device(float_array("fill", value, image), image)
    shape = tensor.shape
    if len(shape) > 2 or (shape and shape[-1] not in (1, image.channels)):
        raise ValueError(
            f"fill must be a number, one per channel ({image.channels},) "
            f"or one per sample and channel ({image.samples}, {image.channels}), got shape {shape}"
        )
    if len(shape) == 2:
        _check.one_or_per_sample("fill", shape[0], image.samples)
    by_sample = tensor.strides[0] if len(shape) == 2 and shape[0] > 1 else 0
    by_channel = tensor.strides[-1] if shape and shape[-1] > 1 else 0
    return Fill(
        StridedArray(tensor.pointer, by_sample, 0, by_channel, int(tensor.dtype == "float64"), tensor.owner),
        (0.0, 0.0, 0.0, 0.0),
    )
