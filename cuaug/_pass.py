"""A pass: read, resample through a geometry, store. Packs the record that kernel and CPU loop share, and runs one.

The formats below mirror kernels/records/batch.cuh field by field; the kernel's text asserts the size, the extension checks it.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _array, _check, _cpu, _cuda, _grids, _images, _layouts, _parameters, _plans
from ._images import Axes, Images, Result
from ._names import chain
from ._parameters import NO_TABLE, PerSample, Table
from ._plans import Plan

_FILLED = struct.Struct("P5q P5q q 8i P4q 4d")
# Of a warp: the window, the ops' parameters, parts of means, `Retouch`, and its regions.
_TAIL = struct.Struct("P4q P4q P4q P4q P4q P 4i IiIi I4x")
_GEOMETRIES = {
    "Affine": struct.Struct("P4q 6d 2i"),
    "Perspective": struct.Struct("P4q 9d 2i"),
    "CoordinateMap": struct.Struct("P4q P4q 2d 3f 3i"),
    "CoordinateMap64": struct.Struct("P4q P4q 2d 3f 3i"),
}
_NARROW = 1 << 20  # `narrow` of kernels/geometry/coordinate_map.cuh: in its kernel maps of positions count from the corner
RESULT = struct.calcsize("P5q")  # where a batch's record points to its result
_RESAMPLE = struct.Struct("P5q P5q q 8i P4q 4d P4q 4d 2i")
_POINTWISE = struct.Struct("P5q P5q q 8i P4q 12d P4q 2i")
_LUT = struct.Struct("P5q P5q q 8i P3q")
_BLUR = struct.Struct("P5q P5q q 8i P4q 2d 4i")
_BLENDED = struct.Struct("8P P4q q")  # behind a `_POINTWISE`
RECORDS = {  # what each kernel's is called in C++, and its size
    **dict.fromkeys(
        ("pointwise", "luma_mean", "mix", "adjust_sharpness", "channel_min_max", "histogram_lut"), ("PointwiseRecord", _POINTWISE.size)
    ),
    "resample": ("ResampleRecord", _RESAMPLE.size),
    "lut": ("LutRecord", _LUT.size),
    "gaussian_blur": ("GaussianBlurRecord", _BLUR.size),
    "blend": ("BlendRecord", _POINTWISE.size + _BLENDED.size),
}
WARPS = {  # of a warp, by the geometry in it: sizes
    f"WarpRecord<cuaug::{name}>": _FILLED.size + own.size + _TAIL.size for name, own in _GEOMETRIES.items()
}
_SAMPLERS = {"nearest": "Nearest", "bilinear": "Bilinear", "bicubic": "Bicubic", "lanczos": "Lanczos"}
_FILTERS = {  # antialias: its filter
    True: {"bilinear": "Triangle", "area": "Triangle", "bicubic": "CatmullRom", "lanczos": "Lanczos3"},
    False: {"bilinear": "Triangle", "bicubic": "Cubic75", "lanczos": "Lanczos4"},
}
MOST_BRANCHES = 8  # kernels/records/blend.cuh


class Ops(NamedTuple):
    """A chain of ops (kernels/ops), and the parameters of all of them, side by side."""

    names: tuple[str, ...]
    parameters: Table


class Parts(NamedTuple):
    """A parameter that is the sum of several numbers."""

    table: Table
    terms: int
    column: int  # which it is, among the parameters


class RetouchTables(NamedTuple):
    """What a GPU's warp does to samples that it does not move: a factor of 1 and a relevelling of 0 do nothing."""

    sharpness: Table = NO_TABLE
    relevelling: Table = NO_TABLE
    levels: Table = NO_TABLE  # by `relevel`


NO_PARTS = Parts(NO_TABLE, 0, -1)
NO_OPS = Ops((), NO_TABLE)
NO_RETOUCH = RetouchTables()
ALL = PerSample(NO_TABLE, (1.0,))  # samples, of which a statistic is wanted
STILL = PerSample(NO_TABLE, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0))  # a matrix that moves nothing


class Geometry(NamedTuple):
    """A coordinate functor and its record."""

    name: str
    record: bytes
    owners: tuple[Table, ...]


def matrix_geometry(matrix: PerSample, inverse: bool, origin: str) -> Geometry:
    """`Affine` or `Perspective`, by the matrix's rows."""
    _check.one_of("origin", origin, ("center", "corner"))
    name = "Affine" if len(matrix.values) == 6 else "Perspective"
    record = _GEOMETRIES[name].pack(*matrix.table[:5], *matrix.values, bool(inverse), origin == "corner")
    return Geometry(name, record, (matrix.table,))


def grid_geometry(
    image: Images, x: Table, y: Table, size: tuple[int, int], scale: tuple[float, float], relative: bool
) -> Geometry:
    """`CoordinateMap`: maps of positions, or of displacements, in units of `scale` (x, y) pixels.

    `CoordinateMap64` for maps of float64, and where sides, strides or offsets are below 0 or too large for float32 or 32 bits.
    """
    (height, width), (down, right) = image.size, image.axes.strides[3:]
    farthest = max(height, width, *size, *(abs(stride) for table in (x, y) for stride in (table.y, table.x)))
    bytes_within = (height * down + width * right) * _array.ITEM_SIZE[image.dtype]
    wide = x.is_double or y.is_double or farthest >= _NARROW or min(down, right) < 0 or bytes_within >= 1 << 31
    name = "CoordinateMap64" if wide else "CoordinateMap"
    record = _GEOMETRIES[name].pack(*x[:5], *y[:5], *scale, *scale, float(relative), bool(relative), *image.size)
    return Geometry(name, record, (x, y))


def displacements(
    image: Images, parameters: PerSample, window: tuple[int, int], sigma: tuple[float, float]
) -> Geometry:
    """`CoordinateMap`: a field for each sample, of noise by `parameters` (kernels/ops/uniform_noise.cuh), which is smoothed."""
    library = image.library
    # The op looks at the place alone: any four bytes will do as the pixel that it reads again and again.
    nothing = image._replace(
        pointer=parameters.table.pointer,
        dtype="float32",
        axes=Axes("NCHW", (image.samples, 1, 2, *image.size), (0,) * 5, None),
    )
    field = _images.images(pointwise(nothing, ("UniformNoise",), parameters, "float32", None), "NCHW", library)
    if sigma[0]:
        field = _images.images(gaussian_blur(field, window, PerSample(NO_TABLE, sigma), None), "NCHW", library)
    n, _, c, y, x = field.axes.strides
    maps = [Table(field.pointer + 4 * c * axis, n, y, x, 0, field.owner) for axis in range(2)]
    return grid_geometry(image, maps[0], maps[1], image.size, (1.0, 1.0), True)


def warp(
    image: Images,
    geometry: Geometry,
    size: tuple[int, int],
    interpolation: str,
    border: str,
    fill: Any,
    dtype: str | None,
    out: Any,
    window: Table = NO_TABLE,
    ops: Ops = NO_OPS,
    parts: Table = NO_TABLE,
    antialias: bool = False,
    retouch: RetouchTables = NO_RETOUCH,
) -> Any:
    """One resample of the whole batch, then ops. `image` and `geometry` are checked; the rest is checked here.

    On a GPU alone: `antialias`, of matrices that neither turn nor shear, nor reduce more than twofold; `retouch`.
    `window`: each sample's box that alone counts as its image. [N, 4]. `parts`: where the result's mean luma goes, of
    the images' own dtype. [N, `_grids.mean_parts`].
    """
    target = image.dtype if dtype is None else _array.dtype_name(dtype)
    if image.device < 0 and (ops.names or parts is not NO_TABLE):
        made = warp(image, geometry, size, interpolation, border, fill, image.dtype, None, window)
        return chained(image, made, ops, target, out, parts)
    _check.one_of("interpolation", interpolation, tuple(_SAMPLERS))
    _check.one_of("border", border, _check.BORDERS)
    _check.dtypes(image.dtype, target, interpolation)
    outside = _parameters.fill(fill, image)
    result = _images.like(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        sampler = "Antialiased" if antialias else _SAMPLERS[interpolation]
        if retouch is not NO_RETOUCH:
            sampler = f"SampleOverride<cuaug::{sampler}>"
        names = (_cpp(image.dtype), _cpp(target), geometry.name, sampler, border.capitalize())
        kernel = names if window is NO_TABLE else (*names[:4], f"WindowedBorder<cuaug::{names[4]}>")
        use = () if parts is NO_TABLE else ("StoreAndMean",)
        plan = _plans.plan("warp_image", (*kernel, chain(ops.names), *use), *_phases(image, result))
        filled = _FILLED.pack(
            *_batch(image, result.pointer, result.axes.strides, plan), *outside.table[:5], *outside.values
        )
        others = *window[:5], *ops.parameters[:5], *parts[:5]
        retouching = *retouch.sharpness[:5], *retouch.relevelling[:5], retouch.levels.pointer
        data = filled + geometry.record + _TAIL.pack(*others, *retouching, *plan.regions)
        _run(plan, image, data, *names)
    return image.library.finish(result.array)


def chained(image: Images, made: Any, ops: Ops, target: str, out: Any, parts: Table) -> Any:
    """Ops, if any, on what has been made of an image, in a launch or loop of their own; or, for `parts`, its mean."""
    if not ops.names and target == image.dtype and parts is NO_TABLE:
        assert out is None
        return made
    between, parameters = _images.images(made, image.axes.layout, image.library), PerSample(ops.parameters, ())
    if parts is NO_TABLE:
        return pointwise(between, ops.names, parameters, target, out)
    assert out is None  # nor another dtype
    assert target == image.dtype
    luma_mean(between, ops.names, parameters, parts.pointer, parts.n, in_place=len(ops.names) > 0)
    return made


def resample(
    image: Images,
    box: PerSample,
    size: tuple[int, int],
    interpolation: str,
    antialias: bool,
    dtype: str | None,
    out: Any,
    turns: bool = False,
) -> Any:
    """A box of each sample, resized by a separable filter. `interpolation` is checked, and not "nearest".

    `turns`: `box` has two more columns, whether the result is turned upside down, and left to right.
    """
    target = image.dtype if dtype is None else _array.dtype_name(dtype)
    _check.dtypes(image.dtype, target, interpolation)
    result = _images.like(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        names = (_cpp(image.dtype), _cpp(target), _FILTERS[antialias][interpolation])
        plan = _plans.plan("resample", names, *_phases(image, result))
        fill = (*NO_TABLE[:5], 0.0, 0.0, 0.0, 0.0)
        sides = (*box.table[:5], *(box.values or (0.0,) * 4))
        data = _RESAMPLE.pack(
            *_batch(image, result.pointer, result.axes.strides, plan), *fill, *sides, turns, antialias
        )
        _run(plan, image, data, *names)
    return image.library.finish(result.array)


def pointwise(
    image: Images,
    ops: tuple[str, ...],
    parameters: PerSample,
    dtype: str,
    out: Any,
    channels: int | None = None,
    parts: Parts = NO_PARTS,
) -> Any:
    """A chain of ops (kernels/ops) at every pixel; `parameters` are those of all of them, side by side."""
    for name in (image.dtype, dtype):
        if name not in _check.IMAGE_DTYPES:
            raise TypeError(f"images and dtype must be one of {', '.join(_check.IMAGE_DTYPES)}, got {name}")
    result = _images.like(image, image.size, dtype, out, channels)
    if image.samples * image.axes.extents[1]:
        further = _room(image), not _grids.UNEVEN.isdisjoint(ops)
        plan = _plans.plan("pointwise", (image.dtype, dtype, *ops), *_phases(image, result), further)
        data = _parametrised(image, result.pointer, result.axes.strides, plan, parameters, parts)
        _run(plan, image, data, image.dtype, dtype, ops, result.axes.extents[2])
    return image.library.finish(result.array)


def mix(image: Images, name: str, parameters: PerSample, out: Any) -> Any:
    """Each sample with another (kernels/ops/mixes); `parameters` begin with which."""
    _check.dtypes(image.dtype, image.dtype, "bilinear")
    result = _images.like(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.plan("mix", (image.dtype, image.dtype, name), *_phases(image, result))
        data = _parametrised(image, result.pointer, result.axes.strides, plan, parameters)
        _run(plan, image, data, image.dtype, name)
    return image.library.finish(result.array)


def blend(image: Images, branches: Sequence[Images], shares: Table, ops: Ops = NO_OPS, dtype: str | None = None) -> Any:
    """Images and what branches have made of them; then ops.

    `shares`: of what is left over, but for the last. [N, branches]
    """
    dtype = dtype or image.dtype
    if image.device < 0 and (ops.names or dtype != image.dtype):
        return chained(image, blend(image, branches, shares), ops, dtype, None, NO_TABLE)
    result = _images.like(image, image.size, dtype)
    if image.samples * image.axes.extents[1]:
        assert all(branch.axes.strides == result.axes.strides for branch in branches)
        pointers = [branch.pointer for branch in branches]
        phase = functools.reduce(int.__or__, pointers, result.pointer) % 16  # vectors need all of them to be aligned
        plan = _plans.plan(
            "blend",
            (image.dtype, dtype, *ops.names),
            *_phases(image, result)[:3],
            phase,
            (_room(image), False),
        )
        record = _parametrised(image, result.pointer, result.axes.strides, plan, PerSample(ops.parameters, ()))
        rest = (0,) * (MOST_BRANCHES - len(pointers))
        data = record + _BLENDED.pack(*pointers, *rest, *shares[:5], len(pointers))
        _run(plan, image, data, image.dtype)
    return image.library.finish(result.array)


def gaussian_blur(image: Images, window: tuple[int, int], sigma: PerSample, out: Any, dtype: str | None = None) -> Any:
    """A Gaussian of `window` (x, y) pixels, across and down; `sigma` holds those of x and y. Scaled to `dtype`."""
    dtype = image.dtype if dtype is None else dtype
    if dtype != image.dtype and image.device < 0:  # the loops do one thing at a time, but round once as the kernel
        made = _images.images(
            pointwise(image, ("Rescale",), PerSample(NO_TABLE, ()), "float32", None), image.axes.layout, image.library
        )
        blurred = _images.images(gaussian_blur(made, window, sigma, None), image.axes.layout, image.library)
        return pointwise(blurred, ("Rescale",), PerSample(NO_TABLE, ()), dtype, out)
    if image.dtype not in _check.IMAGE_DTYPES:
        raise TypeError(f"images must be one of {', '.join(_check.IMAGE_DTYPES)}, got {image.dtype}")
    result = _images.like(image, image.size, dtype, out)
    if image.samples * image.axes.extents[1]:
        together = image.axes.extents[2] if _layouts.tag(image.axes) == "Packed" and image.dtype != "float64" else 1
        tile = _grids.blur_tile(image.dtype, together, *image.size, *window)
        plan = _plans.plan("gaussian_blur", (image.dtype, dtype), *_phases(image, result), tile)
        batch = _batch(image, result.pointer, result.axes.strides, plan)
        sigmas = (*sigma.table[:5], *(sigma.values or (0.0, 0.0)))
        data = _BLUR.pack(*batch, *sigmas, *window, tile.width, tile.height)
        _run(plan, image, data, image.dtype)
    return image.library.finish(result.array)


def own_mean(image: Images, column: int) -> Parts:
    """Each sample's mean luma, as a parameter."""
    means = image.library.empty((image.samples,), "float64", image.device, None)
    pointer = image.library.pointer(means)
    luma_mean(image, (), PerSample(NO_TABLE, ()), pointer, 1)
    return Parts(Table(pointer, 1, 0, 0, 1, means), 1, column)


def luma_mean(
    image: Images,
    ops: tuple[str, ...],
    parameters: PerSample,
    pointer: int,
    stride: int,
    parts: Parts = NO_PARTS,
    in_place: bool = False,
) -> None:
    """The mean luma behind a chain of ops goes to `pointer`, those of samples `stride` numbers apart.

    `in_place`: what the ops make takes the images' place.
    """
    if image.samples * image.axes.extents[1] == 0:
        return
    names = image.dtype, image.dtype, chain(ops), *(("StoreInPlace",) if in_place else ())
    plan = _plans.plan("luma_mean", names, image.axes, image.pointer % 16, image.axes, 0)
    strides = stride, 0, 0, 0, 0
    _run(plan, image, _parametrised(image, pointer, strides, plan, parameters, parts), image.dtype, ops, in_place)


def adjust_sharpness(image: Images, factor: PerSample, out: Any) -> Any:
    """Blended with its smoothed self."""
    if image.dtype not in _check.IMAGE_DTYPES:
        raise TypeError(f"images must be one of {', '.join(_check.IMAGE_DTYPES)}, got {image.dtype}")
    result = _images.like(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.plan("adjust_sharpness", (image.dtype, image.dtype), *_phases(image, result))
        data = _parametrised(image, result.pointer, result.axes.strides, plan, factor)
        _run(plan, image, data, image.dtype)
    return image.library.finish(result.array)


def lut(image: Images, table: Table, out: Any) -> Any:
    """Bytes looked up in a table of bytes; `y` is its stride from channel to channel."""
    result = _images.like(image, image.size, image.dtype, out)
    if image.samples * image.axes.extents[1]:
        plan = _plans.plan("lut", (image.dtype, image.dtype), *_phases(image, result))
        data = _LUT.pack(*_batch(image, result.pointer, result.axes.strides, plan), *table[:4])
        _run(plan, image, data, image.dtype)
    return image.library.finish(result.array)


def extremes(image: Images, wanted: PerSample = ALL) -> PerSample:
    """The least value of each channel of each sample, then the greatest ones; NaN of samples not wanted. [N, 2 C]"""
    values = _statistic("channel_min_max", image, wanted, 2 * image.channels, "float64")
    return PerSample(Table(image.library.pointer(values), 2 * image.channels, 0, 1, 1, values), ())


def relevel(image: Images, wanted: PerSample = ALL) -> Table:
    """What becomes of each level, by what is wanted of each sample (kernels/ops/histogram_lut.cuh). [N, C, 256]"""
    table = _statistic("histogram_lut", image, wanted, 256 * image.channels, "uint8", image.channels)
    return Table(image.library.pointer(table), 256 * image.channels, 256, 1, 0, table)


def _statistic(skeleton: str, image: Images, wanted: PerSample, count: int, dtype: str, *further: int) -> Any:
    """`count` numbers of each sample, all its frames together, in the images' library."""
    table = image.library.empty((image.samples, count), dtype, image.device, None)
    if image.samples * image.axes.extents[1]:
        plan = _plans.plan(skeleton, (image.dtype, image.dtype), image.axes, image.pointer % 16, image.axes, 0, further)
        data = _parametrised(image, image.library.pointer(table), (0,) * 5, plan, wanted)
        _run(plan, image, data, image.dtype)
    return table


def _room(image: Images) -> int:
    """For blocks that go through images as those of kernels/passes/pointwise.cu do."""
    return _grids.POINTWISE_BLOCKS * _cuda.processors(image.device) if image.device >= 0 else 1


def _phases(image: Images, result: Result) -> tuple[Axes, int, Axes, int]:
    return image.axes, image.pointer % 16, result.axes, result.pointer % 16


def _batch(image: Images, pointer: int, strides: tuple[int, ...], plan: Plan) -> tuple[int, ...]:
    """The fields of `cuaug::Batch`, with the result at `pointer`."""
    return (image.pointer, *image.axes.strides, pointer, *strides, image.samples, *plan.sizes)


def _parametrised(
    image: Images,
    pointer: int,
    strides: tuple[int, ...],
    plan: Plan,
    parameters: PerSample,
    parts: Parts = NO_PARTS,
) -> bytes:
    """`cuaug::Pointwise`."""
    values = (*parameters.values, *(0.0,) * (_parameters.INLINE - len(parameters.values)))
    return _POINTWISE.pack(
        *_batch(image, pointer, strides, plan), *parameters.table[:5], *values, *parts.table[:5], *parts[1:]
    )


def _run(plan: Plan, image: Images, data: bytes, *names: Any) -> None:
    """`names` are what the CPU loop takes besides the record; those of ops in a tuple."""
    if image.device < 0:
        loops = (_cpu.loops(name) if isinstance(name, tuple) else name for name in names)
        image.library.loop(getattr(_cpu.native(), plan.skeleton)(data, *loops))
    else:
        image.library.launch(plan.kernel, data, plan.grid, plan.threads, plan.shared, image.device)


def _cpp(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype
