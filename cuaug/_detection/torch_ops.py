"""Operators of torch, which torch.compile calls because it cannot trace the functions themselves.

They are defined while the first graph that needs them is traced. Eager calls do not use them.
"""

from __future__ import annotations

import functools
from typing import Any

from .._arrays import autograd, protocol
from . import nms, roi
from .feature_maps import is_channels_last, memory_order, shape_of
from .roi_arrays import describe_inputs, join_boxes
from .roi_options import as_lists, pooling_options

_POOLING = (
    "Tensor boxes, SymInt[] output_size, float[] spatial_scale, int sampling_ratio, bool aligned, str kind, "
    "str layout, float canonical_size, int canonical_level"
)
_SCHEMAS = (
    "nms(Tensor boxes, Tensor scores, Tensor? classes, Tensor? counts, float iou_threshold, float? score_threshold, "
    "SymInt? max_output, bool fixed_size) -> (Tensor, Tensor)",
    f"roi_align(Tensor[] features, {_POOLING}) -> Tensor",
    f"roi_align_backward(Tensor gradient, Tensor[] features, {_POOLING}) -> Tensor[]",
)


def define_operators() -> None:
    """Defines `torch.ops.cuaug` at the first call."""
    _library()


# torch.compile calls the function while it traces a graph, and does not trace the function itself.
define_operators._dynamo_marked_constant = True  # type: ignore[attr-defined]


@functools.cache
def _library() -> Any:
    """The operators exist as long as this object."""
    torch = autograd.imported_torch()
    library = torch.library.Library("cuaug", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
    for name, function, fake in (
        ("nms", _nms, _nms_fake),
        ("roi_align", _roi_align, _roi_align_fake),
        ("roi_align_backward", _roi_align_backward, _roi_align_backward_fake),
    ):
        for device in ("CPU", "CUDA"):
            library.impl(name, function, device)
        torch.library.register_fake(f"cuaug::{name}", fake, lib=library)
    torch.library.register_autograd("cuaug::roi_align", _roi_align_gradient, setup_context=_roi_align_save, lib=library)
    return library


def suppress(boxes: Any, scores: Any, classes: Any, counts: Any, *options: Any) -> Any:
    """`nms.suppress`, or torch's operator while torch.compile traces the caller."""
    if not autograd.is_compiling():
        return nms.suppress(boxes, scores, classes, counts, *options)
    define_operators()
    indices, index_counts = autograd.imported_torch().ops.cuaug.nms(boxes, scores, classes, counts, *options)
    fixed_size = options[-1]
    return (indices, index_counts) if fixed_size else indices


def pool(
    features: Any, boxes: Any, output_size: Any, spatial_scale: Any, sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> Any:  # fmt: skip
    """`roi.pool`, or torch's operator while torch.compile traces the caller."""
    options = sampling_ratio, aligned, kind
    if not autograd.is_compiling():
        arguments = features, boxes, output_size, spatial_scale, *options, layout, canonical_size, canonical_level
        return roi.pool(*arguments)
    levels, scales, size = as_lists(features, spatial_scale, output_size)
    define_operators()
    return autograd.imported_torch().ops.cuaug.roi_align(
        levels,
        join_boxes(boxes, levels[0]),
        list(size),
        scales,
        *options,
        layout or "NCHW",
        canonical_size,
        canonical_level,
    )


def _nms(boxes: Any, scores: Any, classes: Any, counts: Any, *options: Any) -> Any:
    result = nms.suppress(boxes, scores, classes, counts, *options)
    fixed_size = options[-1]
    return result if fixed_size else (result, result.new_full((), len(result)))


def _nms_fake(
    boxes: Any,
    scores: Any,
    classes: Any,
    counts: Any,
    iou_threshold: float,
    score_threshold: Any,
    max_output: Any,
    fixed_size: bool,
) -> Any:
    torch = autograd.imported_torch()
    if fixed_size:
        count = boxes.shape[-2] if max_output is None else max_output
    else:
        count = torch.library.get_ctx().new_dynamic_size()
    batch_shape = boxes.shape[:-2]
    return boxes.new_empty((*batch_shape, count), dtype=torch.int64), boxes.new_empty(batch_shape, dtype=torch.int64)


def _roi_align(levels: Any, boxes: Any, size: Any, *options: Any) -> Any:
    return roi.pool(levels, boxes, tuple(size), *options)


def _roi_align_fake(levels: Any, boxes: Any, size: Any, scales: Any, *options: Any) -> Any:
    pooling = pooling_options(levels, tuple(size), scales, *options)
    channels = levels[0].shape[pooling.layout.index("C")] // pooling.input_channels
    return _empty_map(levels[0], (boxes.shape[0], channels, *size), pooling.layout)


def _roi_align_backward(gradient: Any, levels: Any, boxes: Any, size: Any, *options: Any) -> Any:
    pooling = pooling_options(levels, tuple(size), *options)
    return roi.backward(pooling, gradient, describe_inputs(pooling, levels, boxes).maps, boxes)


def _roi_align_backward_fake(gradient: Any, levels: Any, boxes: Any, size: Any, scales: Any, *options: Any) -> Any:
    layout = options[3]
    return [_empty_map(level, tuple(level.shape[layout.index(axis)] for axis in "NCHW"), layout) for level in levels]


def _empty_map(like: Any, extents: tuple[Any, ...], layout: str) -> Any:
    """A map of these N, C, H, W, which may be symbolic, as `feature_maps.allocate_map` would allocate it."""
    order = memory_order(layout, is_channels_last(like.stride(), layout))
    sizes, axes = protocol.memory_shape(shape_of(extents, layout), order)
    return like.new_empty(sizes).permute(axes)


def _roi_align_save(ctx: Any, inputs: Any, output: Any) -> None:
    levels, boxes, *options = inputs
    ctx.save_for_backward(boxes, *levels)
    ctx.options = options


def _roi_align_gradient(ctx: Any, gradient: Any) -> Any:
    boxes, *levels = ctx.saved_tensors
    ops = autograd.imported_torch().ops.cuaug
    gradients = ops.roi_align_backward(gradient, levels, boxes, *ctx.options)
    return gradients, None, *(None for _ in ctx.options)
