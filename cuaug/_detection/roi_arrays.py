"""The arrays of RoI pooling: checks and describes them, and packs them as `cuaug::RoiRecord`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.descriptor import ArrayDescriptor
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._program.detection_records import MAX_LEVELS, ROI
from .box_arrays import DTYPE_CODES, FLOATS, check_dtype, describe
from .box_formats import require_format
from .feature_maps import NULL_MAP, extents, map_fields
from .roi_options import PoolingOptions


class RoiInputs(NamedTuple):
    maps: Sequence[ArrayDescriptor]  # the levels of features
    regions: ArrayDescriptor  # [K, 5] or [K, 6]
    library: Library


def join_boxes(boxes: Any, level: Any) -> Any:
    """Joins a list of the boxes of each sample, [L, 4] or [L, 5], to one array of regions, [K, 5] or [K, 6].

    The first column of regions is the index of the sample. An array is returned unchanged: it holds regions already.
    `level`: features of the samples, whose first axis is N.
    """
    if not isinstance(boxes, (list, tuple)):
        return boxes
    if not boxes:
        raise ValueError("boxes must have an entry for each image, got none; for no region pass an array (0, 5)")
    if getattr(level, "ndim", 0) == 4 and len(boxes) != level.shape[0]:
        raise ValueError(f"boxes must have an array for each of {level.shape[0]} images, got {len(boxes)}")
    regions, first_library = [], library_of(type(boxes[0]))
    for i, sample_boxes in enumerate(boxes):
        require_format(f"boxes[{i}]", sample_boxes, "XYXY", "CXCYWHR")
        library = library_of(type(sample_boxes))
        if library is None or getattr(sample_boxes, "ndim", 0) != 2 or sample_boxes.shape[1] not in (4, 5):
            shape = tuple(getattr(sample_boxes, "shape", ())) if library else type(sample_boxes).__name__
            raise ValueError(f"boxes[{i}] must be an array of shape (L, 4), or (L, 5) if rotated, got {shape}")
        dtype = convert.dtype_name(sample_boxes.dtype)
        check_dtype(f"boxes[{i}]", sample_boxes, library, dtype, FLOATS)
        if first_library is not None and library is not first_library:
            raise ValueError(f"boxes must be arrays of one library, got {first_library.name} and {library.name}")
        if dtype in ("float16", "bfloat16"):  # which round sample indices above 2048 and 256
            sample_boxes = convert.asarray(sample_boxes, like=sample_boxes, dtype="float32")
        xp = convert.namespace(sample_boxes)
        regions.append(xp.concatenate([xp.full_like(sample_boxes[:, :1], i), sample_boxes], -1))
    if len({array.shape[1] for array in regions}) > 1:
        raise ValueError("boxes must be all upright (L, 4) or all rotated (L, 5)")
    return convert.namespace(regions[0]).concatenate(regions, 0)


def describe_inputs(options: PoolingOptions, levels: Sequence[Any], regions: Any) -> RoiInputs:
    layout, maps, libraries = options.layout, list[ArrayDescriptor](), list[Library]()
    for level in levels:
        feature_map, level_library = describe("input", level, FLOATS)
        if len(feature_map.shape) != 4:
            raise ValueError(f"input must have the axes {layout}, got shape {tuple(feature_map.shape)}")
        samples, channels, height, width = extents(feature_map, layout)
        if not channels or not 0 < min(height, width) <= max(height, width) < _check.SIDE_LIMIT:
            shape = tuple(feature_map.shape)
            raise ValueError(f"input must have channels, and 1 to 2**30 - 1 rows and columns, got {shape} as {layout}")
        if max(samples, channels) >= 1 << 31:
            raise ValueError(f"input must have fewer than 2**31 samples and channels, got {tuple(feature_map.shape)}")
        if channels % options.input_channels:
            rows, columns = options.output_size
            raise ValueError(f"input must have a multiple of {rows} * {columns} channels, got {channels}")
        libraries.append(level_library)
        if level_library.name != libraries[0].name or (
            maps and (feature_map.device, feature_map.dtype) != (maps[0].device, maps[0].dtype)
        ):
            raise ValueError("input must be of one library, device and dtype at every level")
        if maps and extents(feature_map, layout)[:2] != extents(maps[0], layout)[:2]:
            raise ValueError("input must have the same samples and channels at every level")
        maps.append(feature_map)
    region_array, region_library = describe("boxes", regions, FLOATS)
    if region_library.name != libraries[0].name or region_array.device != maps[0].device:
        raise ValueError("boxes must be in the library and on the device of input")
    allows_rotated = options.kind in ("avg", "max")
    if len(region_array.shape) != 2 or region_array.shape[1] not in ((5, 6) if allows_rotated else (5,)):
        shapes = "(K, 5), or (K, 6) if rotated" if allows_rotated else "(K, 5)"
        raise ValueError(
            f"boxes must have shape {shapes}, or be a list of one array per image, got {tuple(region_array.shape)}"
        )
    if region_array.shape[0] >= 1 << 31:
        raise ValueError(f"boxes must be fewer than 2**31, got {region_array.shape[0]}")
    if region_array.device < 0 and region_array.shape[0]:
        _check_sample_indices(regions, extents(maps[0], layout)[0])
    return RoiInputs(maps, region_array, libraries[0])


def _check_sample_indices(regions: Any, samples: int) -> None:
    """For host arrays. On a GPU, kernels write zeros for a region whose sample does not exist."""
    index = convert.host_array("boxes", convert.detach(regions)[:, 0])
    valid = (index >= 0) & (index < samples) & (index == np.floor(index))
    if not valid.all():
        k = int(np.argmin(valid))
        rule = f"the first column of boxes must be a sample index in 0..{samples - 1}"
        rule = rule if samples else "boxes must be empty, as input has no samples"
        raise ValueError(f"{rule}, got {index[k]} in region {k}")


def pack_record(
    options: PoolingOptions,
    inputs: RoiInputs,
    pooled: tuple[int, ...],
    gradients: Sequence[tuple[int, ...]] | None = None,
) -> bytes:
    """`cuaug::RoiRecord`. `pooled`: `map_fields` of the result or, in a backward pass, of its gradient.

    `gradients`: in a backward pass, `map_fields` of the gradient of each level. A backward pass of position-sensitive
    pooling has a gradient for each bin and each channel of the input (`spread_gradient`).
    """
    maps, regions, _ = inputs
    is_backward = gradients is not None
    gradients = [NULL_MAP] * len(maps) if gradients is None else gradients
    fields: list[Any] = []
    for level, gradient, scale, area in zip(maps, gradients, options.scales, options.min_areas, strict=True):
        _, _, height, width = extents(level, options.layout)
        fields += [*_values(options, level, is_backward), *gradient, height, width, scale, area]
    fields += [0] * 14 * (MAX_LEVELS - len(maps))  # a RoiLevel has 14 fields
    samples, channels, _, _ = extents(maps[0], options.layout)
    bin_stride = 0
    if options.is_position_sensitive and not is_backward:
        channels //= options.input_channels
        bin_stride = map_fields(maps[0], options.layout)[2]
    count, columns = regions.shape
    n_stride = 0  # of `TypedArray`: regions have no axis N
    fields += [regions.pointer, n_stride, *regions.strides, DTYPE_CODES[regions.dtype], *pooled, count, bin_stride]
    fields += [len(maps), samples, channels, *options.output_size, options.sampling_ratio, options.aligned]
    return ROI.pack(*fields, columns == 6)


def _values(options: PoolingOptions, level: ArrayDescriptor, is_backward: bool) -> tuple[int, ...]:
    """`map_fields` of the channels that the first bin pools."""
    pointer, n_stride, c_stride, y_stride, x_stride = map_fields(level, options.layout)
    return pointer, n_stride, c_stride * (1 if is_backward else options.input_channels), y_stride, x_stride
