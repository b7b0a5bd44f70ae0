"""RoI pooling and its gradients, on a GPU or the CPU: packs the records of kernels/records/roi.cuh and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays import autograd, convert
from .._arrays.autograd import requires_gradient
from .._arrays.descriptor import ArrayDescriptor
from .._host import extension
from .._program.detection_records import ROI, ROI_ARGMAX, ROI_BACKWARD
from . import roi_kernels
from .box_arrays import FLOATS, describe
from .feature_maps import allocate_map, extents, is_channels_last, map_fields, spread_gradient
from .roi_arrays import RoiInputs, describe_inputs, join_boxes, pack_record
from .roi_kernels import BINS_BYTES, BOUNDS_BYTES, RoiCall
from .roi_options import PoolingOptions, as_lists, pooling_options

_NO_ARGMAX = bytes(ROI_ARGMAX.size - ROI.size)

GradientMap = tuple[Any, tuple[int, ...]]  # the array of a level's gradient, and its `map_fields`


def pool(
    features: Any, boxes: Any, output_size: Any, spatial_scale: Any, sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> Any:  # fmt: skip
    """The result of `roi_align` and `roi_pool` (cuaug/roi.py)."""
    levels, scales, size = as_lists(features, spatial_scale, output_size)
    options = pooling_options(
        levels, size, scales, sampling_ratio, aligned, kind, layout, canonical_size, canonical_level
    )
    regions = join_boxes(boxes, levels[0])
    if not requires_gradient(*levels):
        return forward(options, levels, regions)[0]
    detached = [convert.detach(level) for level in levels]
    pooled, argmax = forward(options, detached, regions, save_argmax=True)
    maps_without_memory = [
        level._replace(pointer=0, owner=None) for level in describe_inputs(options, detached, regions).maps
    ]
    has_argmax = argmax is not None

    def compute_gradients(gradient: Any, regions: Any, *argmax_or_levels: Any) -> list[Any]:
        if has_argmax:
            return backward(options, gradient, maps_without_memory, regions, *argmax_or_levels)
        maps = describe_inputs(options, argmax_or_levels, regions).maps if argmax_or_levels else maps_without_memory
        return backward(options, gradient, maps, regions)

    # The backward of average pooling needs only the regions. That of max pooling also needs the argmax or, on a CPU,
    # where there is none, the levels.
    saved = (regions,) if not options.is_max else (regions, argmax) if has_argmax else (regions, *levels)
    return autograd.apply_with_backward(lambda *_: pooled, compute_gradients, saved, levels)


def forward(options: PoolingOptions, levels: Sequence[Any], regions: Any, save_argmax: bool = False) -> tuple[Any, Any]:
    """The pooled features, and the argmax if `save_argmax` (max pooling on a GPU only; else None)."""
    inputs = describe_inputs(options, levels, regions)
    pooled, argmax = _pool(options, inputs, save_argmax)
    return inputs.library.to_user_array(pooled), argmax


def backward(
    options: PoolingOptions, gradient: Any, maps: Sequence[ArrayDescriptor], regions: Any, argmax: Any = None
) -> list[Any]:
    """The gradients of the levels, torch tensors, in the memory order of the levels. A missing argmax is computed."""
    inputs = RoiInputs(maps, *describe("boxes", regions, FLOATS))
    library, layout = inputs.library, options.layout
    if options.is_position_sensitive:
        gradient = spread_gradient(gradient, layout)
    gradients = [allocate_map(library, extents(level, layout), level, layout) for level in maps]
    gradient_array = library.describe(gradient)  # owns the copy of a gradient with torch's negative bit
    pooled_gradient = map_fields(gradient_array, layout)
    if maps[0].device < 0:
        record = pack_record(options, inputs, pooled_gradient, [fields for _, fields in gradients])
        extension.extension().pooling(record, maps[0].dtype, options.kind, True)
        return [array for array, _ in gradients]
    if options.is_max and argmax is None:
        _, argmax = _pool(options, inputs, save_argmax=True)
    argmax_fields = _NO_ARGMAX
    if argmax is not None:
        descriptor = library.describe(argmax)
        argmax_fields = ROI_ARGMAX.pack_derived(*map_fields(descriptor, layout), descriptor.dtype == "int32")
    run = _gather if autograd.is_deterministic() else _scatter
    run(options, inputs, pooled_gradient, gradients, argmax_fields)
    return [array for array, _ in gradients]


def _gather(
    options: PoolingOptions,
    inputs: RoiInputs,
    pooled_gradient: tuple[int, ...],
    gradients: Sequence[GradientMap],
    argmax_fields: bytes,
) -> None:
    """Each pixel sums the gradients of the bins that read it: the same in every run."""
    maps, library, call = inputs.maps, inputs.library, _describe_call(options, inputs)
    record = pack_record(options, inputs, pooled_gradient, [fields for _, fields in gradients])
    scratch = library.empty((call.regions * (BINS_BYTES + BOUNDS_BYTES),), "uint8", call.device, None)
    bins = library.pointer(scratch)
    bounds = bins + call.regions * BINS_BYTES
    record += argmax_fields + ROI_BACKWARD.pack_derived(bounds, bins)
    level_extents = [extents(level, options.layout) for level in maps]
    roi_kernels.launch_gather(call, record, level_extents, level_extents[0][0])


def _scatter(
    options: PoolingOptions,
    inputs: RoiInputs,
    pooled_gradient: tuple[int, ...],
    gradients: Sequence[GradientMap],
    argmax_fields: bytes,
) -> None:
    """Each bin adds its gradient to the pixels that it read, in any order. 16-bit gradients are summed in float32."""
    maps, call, sums = inputs.maps, _describe_call(options, inputs), gradients
    if call.dtype in ("float16", "bfloat16"):
        sums = [
            allocate_map(
                inputs.library, extents(level, options.layout), level._replace(dtype="float32"), options.layout
            )
            for level in maps
        ]
    for array, _ in sums:
        array[...] = 0
    if call.regions:
        record = pack_record(options, inputs, pooled_gradient, [fields for _, fields in sums])
        roi_kernels.launch_scatter(call, record, argmax_fields)
    for (array, _), (total, _) in zip(gradients, sums, strict=True):
        if total is not array:
            array[...] = total


def _pool(options: PoolingOptions, inputs: RoiInputs, save_argmax: bool) -> tuple[Any, Any]:
    """The pooled features and, if requested on a GPU, the argmax; None for averages."""
    (first, *_), regions, library = inputs
    channels = extents(first, options.layout)[1] // options.input_channels
    pooled_extents = regions.shape[0], channels, *options.output_size
    argmax, argmax_fields = None, _NO_ARGMAX
    pooled, pooled_fields = allocate_map(library, pooled_extents, first, options.layout)
    if save_argmax and options.is_max and first.device >= 0:
        is_int32 = _argmax_fits_int32(options, first)
        like = first._replace(dtype="int32" if is_int32 else "int64")
        argmax, fields = allocate_map(library, pooled_extents, like, options.layout)
        argmax_fields = ROI_ARGMAX.pack_derived(*fields, is_int32)
    if 0 not in pooled_extents:
        record = pack_record(options, inputs, pooled_fields)
        if first.device < 0:
            extension.extension().pooling(record, first.dtype, options.kind, False)
        else:
            call = _describe_call(options, inputs)
            if options.is_position_sensitive:  # the channels of a bin are not adjacent in memory
                call = call._replace(channels=channels, vector_channels=0)
            roi_kernels.launch_forward(call, record, argmax_fields)
    return pooled, argmax


def _argmax_fits_int32(options: PoolingOptions, level: ArrayDescriptor) -> bool:
    """Whether the row and the column of a sampling point fit into 15 bits each.

    For roi_pool, a row and column of the level; for roi_align, a row and column of the grid of points in a bin.
    """
    _, _, height, width = extents(level, options.layout)
    count = max(height, width) if options.kind == "pixel_max" else options.sampling_ratio
    return 0 < count < 1 << 15


def _describe_call(options: PoolingOptions, inputs: RoiInputs) -> RoiCall:
    maps, regions, library = inputs
    first, channels = maps[0], extents(maps[0], options.layout)[1]
    vector_channels = 0
    if is_channels_last(first.strides, options.layout):
        levels = [map_fields(level, options.layout) for level in maps]
        vector_channels = roi_kernels.vector_channels(levels, channels, first.dtype)
    return RoiCall(
        library, first.device, first.dtype, options.kind, options.is_max, regions.shape[1] == 6, regions.shape[0],
        channels, options.output_size, vector_channels,
    )  # fmt: skip
