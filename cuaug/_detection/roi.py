"""Pooling of regions: checks and describes, packs the record of kernels/records/roi.cuh, and runs it both ways."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import autograd, convert
from .._arrays.autograd import requires_gradient
from .._arrays.convert import host_array
from .._arrays.descriptor import ArrayDescriptor, contiguous_strides
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._host import extension as _cpu
from .._program.records import MAX_LEVELS, ROI, ROI_ARGMAX, ROI_BACKWARD
from . import nms as _nms
from . import roi_kernels as _roi_gpu

_NOWHERE: tuple[int, ...] = (0,) * 5
_NO_PLACES = bytes(ROI_ARGMAX.size - ROI.size)
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_ORDERS = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2)}  # where N, C, H and W stand


class Pooling(NamedTuple):
    """What a call asks for, besides arrays."""

    size: tuple[int, int]
    scales: tuple[float, ...]
    sampling: int
    aligned: bool
    kind: str  # "avg", "max"; "pixels": roi_pool
    layout: str
    least_areas: tuple[float, ...]


def pool(
    features: Any, boxes: Any, output_size: Any, spatial_scale: Any, sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> Any:  # fmt: skip
    """What `roi_align` and `roi_pool` of ops.py promise."""
    levels, scales, size = as_lists(features, spatial_scale, output_size)
    options = (sampling_ratio, aligned, kind)
    wanted = asked(levels, size, scales, *options, layout, canonical_size, canonical_level)
    rois = joined(boxes)
    if not requires_gradient(*levels):
        return forward(wanted, levels, rois)[0]
    own = [convert.detach(level) for level in levels]
    pooled, places = forward(wanted, own, rois, remember=True)
    shapes = [maps._replace(pointer=0, owner=None) for maps in described(wanted, own, rois)[0]]
    remembered = places is not None

    def back(gradient: Any, rois: Any, *more: Any) -> list[Any]:
        if remembered:
            return backward(wanted, gradient, shapes, rois, *more)
        return backward(wanted, gradient, described(wanted, more, rois)[0] if more else shapes, rois)

    # An average's gradient does not depend on the values, and a greatest value's on its place alone.
    saved = (rois,) if kind == "avg" else (rois, places) if remembered else (rois, *levels)
    return autograd.apply_with_backward(lambda *_: pooled, back, saved, levels)


def as_lists(features: Any, spatial_scale: Any, output_size: Any) -> tuple[list[Any], list[Any], Any]:
    """Levels, their scales and the output size (H, W), each of which may be given as one."""
    levels = list(features) if isinstance(features, (list, tuple)) else [features]
    scales = list(spatial_scale) if isinstance(spatial_scale, (list, tuple)) else [spatial_scale]
    return levels, scales, output_size if isinstance(output_size, (list, tuple)) else (output_size, output_size)


def asked(
    levels: Sequence[Any], size: Any, scales: Sequence[Any], sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> Pooling:  # fmt: skip
    """Checks what is asked for, besides arrays."""
    if not 1 <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"features must be one array, or 1 to {MAX_LEVELS} levels, got {len(levels)}")
    if len(scales) != len(levels):
        raise ValueError(f"spatial_scale must have an entry for each of {len(levels)} levels, got {len(scales)}")
    for scale in scales:
        _check.number("spatial_scale", scale, math.ulp(0))
    _check.number("canonical_size", canonical_size, math.ulp(0))
    _check.boolean("aligned", aligned)
    library = library_of(type(levels[0]))
    if library is None:
        raise TypeError(f"features must be an array of torch, cupy, numpy or jax, got {type(levels[0]).__name__}")
    if layout is None:
        layout = "NCHW" if library.channels_first else "NHWC"
    _check.one_of("layout", layout, tuple(_ORDERS))
    return Pooling(
        _check.size("output_size", size),
        tuple(float(scale) for scale in scales),
        max(_check.integer("sampling_ratio", sampling_ratio, -1, (1 << 31) - 1), 0),
        bool(aligned),
        kind,
        layout,
        _least_areas(scales, canonical_size, _check.integer("canonical_level", canonical_level, 0)),
    )


def joined(boxes: Any) -> Any:
    """Boxes of each image [L, 4] or [L, 5] as regions [K, 5] or [K, 6], the image's number first."""
    if not isinstance(boxes, (list, tuple)):
        return boxes
    if not boxes:
        raise ValueError("boxes must have an entry for each image, got none; for no region pass an array (0, 5)")
    parts = []
    for i, own in enumerate(boxes):
        if getattr(own, "ndim", 0) != 2 or own.shape[1] not in (4, 5):
            raise ValueError(f"boxes[{i}] must be an array of shape (L, 4), or (L, 5) if rotated")
        xp = convert.namespace(own)
        parts.append(xp.concatenate([xp.full_like(own[:, :1], i), own], -1))
    if len({part.shape[1] for part in parts}) > 1:
        raise ValueError("boxes must be all upright (L, 4) or all rotated (L, 5)")
    return convert.namespace(parts[0]).concatenate(parts, 0)


def forward(wanted: Pooling, levels: Sequence[Any], rois: Any, remember: bool = False) -> tuple[Any, Any]:
    """What is pooled; and of greatest values on a GPU, if they are to be remembered, their places."""
    maps, regions, library = described(wanted, levels, rois)
    pooled, places = _pooled(wanted, library, maps, regions, remember)
    return library.to_user_array(pooled), places


def backward(
    wanted: Pooling, gradient: Any, maps: Sequence[ArrayDescriptor], rois: Any, places: Any = None
) -> list[Any]:
    """Of each level of torch's, in the memory order of its values; `places` are worked out anew unless given."""
    regions, library = _nms.described("boxes", rois, _FLOATS)
    made = [_made(library, _extents(own, wanted), own, wanted) for own in maps]
    about = _numbers(library.describe(gradient), wanted)
    if maps[0].device < 0:
        data = _record(wanted, maps, [to for _, to in made], regions, about)
        _cpu.extension().pooling(data, maps[0].dtype, wanted.kind, True)
        return [array for array, _ in made]
    call, (samples, *_) = _call(wanted, library, maps, regions), _extents(maps[0], wanted)
    if wanted.kind != "avg" and places is None:
        places = _pooled(wanted, library, maps, regions, True)[1]
    where = _NO_PLACES
    if places is not None:
        found = library.describe(places)
        where = ROI_ARGMAX.pack_derived(*_numbers(found, wanted), found.dtype == "int32")
    if autograd.is_deterministic():
        data = _record(wanted, maps, [to for _, to in made], regions, about)
        space = library.empty((call.regions * (_roi_gpu.SHAPE + _roi_gpu.BOUNDS),), "uint8", call.device, None)
        shapes = library.pointer(space)
        data += where + ROI_BACKWARD.pack_derived(shapes + call.regions * _roi_gpu.SHAPE, shapes)
        _roi_gpu.gather(call, data, [_extents(own, wanted) for own in maps], samples)
        return [array for array, _ in made]
    sums = made
    if call.dtype in ("float16", "bfloat16"):
        sums = [_made(library, _extents(own, wanted), own._replace(dtype="float32"), wanted) for own in maps]
    for array, _ in sums:
        array[...] = 0
    if call.regions:
        _roi_gpu.scatter(call, _record(wanted, maps, [to for _, to in sums], regions, about), where)
    for (array, _), (total, _) in zip(made, sums, strict=True):
        if total is not array:
            array[...] = total
    return [array for array, _ in made]


def _pooled(
    wanted: Pooling, library: Library, maps: Sequence[ArrayDescriptor], regions: ArrayDescriptor, remember: bool
) -> tuple[Any, Any]:
    extents = regions.shape[0], _extents(maps[0], wanted)[1], *wanted.size
    places, where = None, _NO_PLACES
    pooled, about = _made(library, extents, maps[0], wanted)
    if remember and wanted.kind != "avg" and maps[0].device >= 0:
        short = _places_are_short(wanted, maps[0])
        like = maps[0]._replace(dtype="int32" if short else "int64")
        places, numbers = _made(library, extents, like, wanted)
        where = ROI_ARGMAX.pack_derived(*numbers, short)
    if 0 not in extents:
        data = _record(wanted, maps, [_NOWHERE] * len(maps), regions, about)
        if maps[0].device < 0:
            _cpu.extension().pooling(data, maps[0].dtype, wanted.kind, False)
        else:
            _roi_gpu.pool(_call(wanted, library, maps, regions), data, where)
    return pooled, places


def _places_are_short(wanted: Pooling, maps: ArrayDescriptor) -> bool:
    """Whether 15 bits hold a row or a column: of the map where whole pixels are pooled, or else of a bin's samples."""
    _, _, height, width = _extents(maps, wanted)
    most = max(height, width) if wanted.kind == "pixels" else wanted.sampling
    return 0 < most < 1 << 15


def inside(strides: Sequence[int], layout: str) -> bool:
    """Whether channels are the innermost axis in memory."""
    return bool(abs(strides[layout.index("C")]) < abs(strides[layout.index("W")]))


def memory_order(layout: str, inside: bool) -> tuple[int, ...]:
    """The axes of a layout from the outermost to the innermost in memory."""
    return tuple(layout.index(axis) for axis in ("NHWC" if inside else "NCHW"))


def _least_areas(scales: Sequence[float], canonical_size: float, canonical_level: int) -> tuple[float, ...]:
    """Where levels begin (Lin et al. 2017, equation 1), a little low as torchvision's LevelMapper has it."""
    if len(scales) == 1:
        return (0.0,)
    steps = [-math.log2(scale) for scale in scales]
    if any(not math.isclose(b - a, 1, abs_tol=1e-6) for a, b in itertools.pairwise(steps)):
        raise ValueError(f"spatial_scale must halve from level to level, got {list(scales)}")
    return tuple((canonical_size * 2 ** (step - canonical_level - 1e-6)) ** 2 for step in steps)


def described(
    wanted: Pooling, levels: Sequence[Any], rois: Any
) -> tuple[list[ArrayDescriptor], ArrayDescriptor, Library]:
    library, maps = library_of(type(levels[0])), list[ArrayDescriptor]()
    for level in levels:
        found, own = _nms.described("features", level, _FLOATS)
        if len(found.shape) != 4:
            raise ValueError(f"features must have the axes {wanted.layout}, got shape {tuple(found.shape)}")
        _, channels, height, width = _extents(found, wanted)
        if not channels or not 1 <= height < 1 << 30 or not 1 <= width < 1 << 30:
            raise ValueError(
                f"features must have channels, rows and columns, got {tuple(found.shape)} as {wanted.layout}"
            )
        if own is not library or (maps and (found.device, found.dtype) != (maps[0].device, maps[0].dtype)):
            raise ValueError("features must be of one library, device and dtype at every level")
        if maps and _extents(found, wanted)[:2] != _extents(maps[0], wanted)[:2]:
            raise ValueError("features must have the same samples and channels at every level")
        maps.append(found)
    regions, own = _nms.described("boxes", rois, _FLOATS)
    if own is not library or regions.device != maps[0].device:
        raise ValueError("boxes must be in the library and on the device of features")
    rotated = wanted.kind != "pixels"
    if len(regions.shape) != 2 or regions.shape[1] not in ((5, 6) if rotated else (5,)):
        known = "(K, 5), or (K, 6) if rotated" if rotated else "(K, 5)"
        raise ValueError(
            f"boxes must have shape {known}, or be a list of one array per image, got {tuple(regions.shape)}"
        )
    if regions.shape[0] >= 1 << 31:
        raise ValueError(f"boxes must be fewer than 2**31, got {regions.shape[0]}")
    if regions.device < 0 and regions.shape[0]:
        samples, index = _extents(maps[0], wanted)[0], host_array("boxes", convert.detach(rois)[:, 0])
        proper = (index >= 0) & (index < samples) & (index == np.floor(index))
        if not proper.all():
            k = int(np.argmin(proper))
            raise ValueError(f"boxes must name samples 0..{samples - 1} first, got {index[k]} in region {k}")
    return maps, regions, own


def _record(
    wanted: Pooling,
    maps: Sequence[ArrayDescriptor],
    gradients: Sequence[tuple[int, ...]],
    regions: ArrayDescriptor,
    pooled: tuple[int, ...],
) -> bytes:
    """`cuaug::RoiRecord`."""
    record: list[Any] = []
    for own, to, scale, least in zip(maps, gradients, wanted.scales, wanted.least_areas, strict=True):
        _, _, height, width = _extents(own, wanted)
        record += [*_numbers(own, wanted), *to, height, width, scale, least]
    record += [0] * 14 * (MAX_LEVELS - len(maps))
    samples, channels, _, _ = _extents(maps[0], wanted)
    count, columns = regions.shape
    record += [regions.pointer, 0, *regions.strides, _nms.KINDS[regions.dtype], *pooled, count]
    record += [len(maps), samples, channels, *wanted.size, wanted.sampling, wanted.aligned, columns == 6]
    return ROI.pack(*record)


def _call(
    wanted: Pooling, library: Library, maps: Sequence[ArrayDescriptor], regions: ArrayDescriptor
) -> _roi_gpu.Call:
    channels, numbers = _extents(maps[0], wanted)[1], [_numbers(own, wanted) for own in maps]
    apart = not inside(maps[0].strides, wanted.layout)
    return _roi_gpu.Call(
        library, maps[0].device, maps[0].dtype, wanted.kind, regions.shape[1] == 6, regions.shape[0], channels,
        wanted.size, 0 if apart else _roi_gpu.wide(numbers, channels, maps[0].dtype),
    )  # fmt: skip


def _extents(maps: ArrayDescriptor, wanted: Pooling) -> tuple[int, ...]:
    """N, C, H, W."""
    return tuple(maps.shape[axis] for axis in _ORDERS[wanted.layout])


def _numbers(maps: ArrayDescriptor, wanted: Pooling) -> tuple[int, ...]:
    """`cuaug::Maps`."""
    return maps.pointer, *(maps.strides[axis] for axis in _ORDERS[wanted.layout])


def _made(
    library: Library, extents: tuple[int, ...], like: ArrayDescriptor, wanted: Pooling
) -> tuple[Any, tuple[int, ...]]:
    """Memory for maps [N, C, H, W], in the memory order of others, and what a record says of it."""
    shape = tuple(dict(zip("NCHW", extents, strict=True))[axis] for axis in wanted.layout)
    order = memory_order(wanted.layout, inside(like.strides, wanted.layout))
    array = library.empty(shape, like.dtype, like.device, order)
    strides = contiguous_strides(shape, order)
    return array, (library.pointer(array), *(strides[axis] for axis in _ORDERS[wanted.layout]))
