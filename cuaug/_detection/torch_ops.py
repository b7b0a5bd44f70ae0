"""Operators of torch, through which torch.compile calls what it cannot trace. Eager calls do not use them.

They are defined while the first graph that needs them is traced.
"""

from __future__ import annotations

import functools
from typing import Any

from .._arrays import autograd, protocol
from . import nms as _nms
from . import roi as _roi

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


@functools.cache
def _define() -> Any:
    """What is defined stays as long as the library object does."""
    torch = autograd.torch_module()
    library = torch.library.Library("cuaug", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
    for name, function, meta in (
        ("nms", _suppress, _like_suppressed),
        ("roi_align", _pool, _like_pooled),
        ("roi_align_backward", _unpool, _like_unpooled),
    ):
        for device in ("CPU", "CUDA"):
            library.impl(name, function, device)
        torch.library.register_fake(f"cuaug::{name}", meta, lib=library)
    torch.library.register_autograd("cuaug::roi_align", _gradient, setup_context=_remember, lib=library)
    return library


def defined() -> None:
    """Sees to `torch.ops.cuaug`."""
    _define()


defined._dynamo_marked_constant = True  # type: ignore[attr-defined]  # run while a graph is traced, and not traced itself


def suppress(boxes: Any, scores: Any, classes: Any, counts: Any, *options: Any) -> Any:
    """`nms.suppress`, called directly, or through torch's operator while torch.compile traces the caller."""
    if not autograd.is_compiling():
        return _nms.suppress(boxes, scores, classes, counts, *options)
    defined()
    indices, kept = autograd.torch_module().ops.cuaug.nms(boxes, scores, classes, counts, *options)
    return (indices, kept) if options[-1] else indices


def pool(
    features: Any, boxes: Any, output_size: Any, spatial_scale: Any, sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> Any:  # fmt: skip
    """`roi.pool`, called directly, or through torch's operator while torch.compile traces the caller."""
    options = sampling_ratio, aligned, kind
    if not autograd.is_compiling():
        arguments = features, boxes, output_size, spatial_scale, *options, layout, canonical_size, canonical_level
        return _roi.pool(*arguments)
    levels, scales, size = _roi.as_lists(features, spatial_scale, output_size)
    defined()
    return autograd.torch_module().ops.cuaug.roi_align(
        levels, _roi.joined(boxes), list(size), scales, *options, layout or "NCHW", canonical_size, canonical_level
    )


def _suppress(boxes: Any, scores: Any, classes: Any, counts: Any, *options: Any) -> Any:
    found = _nms.suppress(boxes, scores, classes, counts, *options)
    return found if options[-1] else (found, found.new_full((), len(found)))


def _like_suppressed(
    boxes: Any, scores: Any, classes: Any, counts: Any, iou: float, least: Any, max_output: Any, fixed_size: bool
) -> Any:
    torch = autograd.torch_module()
    if fixed_size:
        most = boxes.shape[-2] if max_output is None else max_output
    else:
        most = torch.library.get_ctx().new_dynamic_size()
    batch = boxes.shape[:-2]
    return boxes.new_empty((*batch, most), dtype=torch.int64), boxes.new_empty(batch, dtype=torch.int64)


def _pool(levels: Any, boxes: Any, size: Any, *options: Any) -> Any:
    return _roi.pool(levels, boxes, tuple(size), *options)


def _unpool(gradient: Any, levels: Any, boxes: Any, size: Any, *options: Any) -> Any:
    asked = _roi.asked(levels, tuple(size), *options)
    return _roi.backward(asked, gradient, _roi.described(asked, levels, boxes)[0], boxes)


def _like_pooled(levels: Any, boxes: Any, size: Any, scales: Any, *options: Any) -> Any:
    layout = options[3]
    channels = levels[0].shape[layout.index("C")]
    return _empty(levels[0], (boxes.shape[0], channels, *size), layout)


def _like_unpooled(gradient: Any, levels: Any, boxes: Any, size: Any, scales: Any, *options: Any) -> Any:
    layout = options[3]
    return [_empty(level, tuple(level.shape[layout.index(axis)] for axis in "NCHW"), layout) for level in levels]


def _empty(like: Any, extents: tuple[Any, ...], layout: str) -> Any:
    """As `_roi` allocates, of symbolic sizes."""
    shape = tuple(dict(zip("NCHW", extents, strict=True))[axis] for axis in layout)
    sizes, axes = protocol.memory_shape(shape, _roi.memory_order(layout, _roi.inside(like.stride(), layout)))
    return like.new_empty(sizes).permute(axes)


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    levels, boxes, *options = inputs
    ctx.save_for_backward(boxes, *levels)
    ctx.options = options


def _gradient(ctx: Any, gradient: Any) -> Any:
    boxes, *levels = ctx.saved_tensors
    ops = autograd.torch_module().ops.cuaug
    found = ops.roi_align_backward(gradient, levels, boxes, *ctx.options)
    return found, None, *(None for _ in ctx.options)
