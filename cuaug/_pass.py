"""A pass: read, resample through a geometry, store. Packs the record that kernel and CPU loop share, and runs one.

The formats below mirror kernels/record.cuh field by field; the kernel's text asserts the size, the extension checks it.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, NamedTuple

from . import _array, _check, _cpu, _cuda, _images, _parameters
from ._images import Axes, Images
from ._parameters import NO_TABLE, PerSample, Table

_BATCH = struct.Struct("P5q P5q q 8i P4q 4d")
_GEOMETRIES = {
    "Affine": struct.Struct("P4q 6d 2i"),
    "Perspective": struct.Struct("P4q 9d 2i"),
    "Grid": struct.Struct("P4q P4q 2d 2i"),
}
_RESAMPLE = struct.Struct("P5q P5q q 8i P4q 4d P4q 4d q")
_SAMPLERS = {"nearest": "Nearest", "bilinear": "Bilinear", "bicubic": "Bicubic", "lanczos": "Lanczos"}
_FILTERS = {  # antialias: its filter
    True: {"bilinear": "Triangle", "area": "Triangle", "bicubic": "CatmullRom", "lanczos": "Lanczos3"},
    False: {"bilinear": "Triangle", "bicubic": "SharpCubic", "lanczos": "LanczosPlain"},
}
_THREADS = {"warp": 256, "resample": 128}  # kernels/gpu/tile.cuh, kernels/resample.cu
_MOST_TILES = 65535  # of a grid's second and third axis


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


def grid_geometry(x: Table, y: Table, scale: tuple[float, float], relative: bool) -> Geometry:
    """`Grid`: maps of positions, or of displacements, in units of `scale` (x, y) pixels."""
    return Geometry("Grid", _GEOMETRIES["Grid"].pack(*x[:5], *y[:5], *scale, bool(relative), 0), (x, y))


def warp(
    image: Images,
    geometry: Geometry,
    size: tuple[int, int],
    interpolation: str,
    border: str,
    fill: Any,
    dtype: str | None,
    out: Any,
) -> Any:
    """One resample of the whole batch. `image` and `geometry` are checked; the rest is checked here."""
    _check.one_of("interpolation", interpolation, tuple(_SAMPLERS))
    _check.one_of("border", border, _check.BORDERS)
    target = image.dtype if dtype is None else _array.dtype_name(dtype)
    _check.dtypes(image.dtype, target, interpolation)
    outside = _parameters.fill(fill, image)
    result = _images.like(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        names = (_cpp(image.dtype), _cpp(target), geometry.name, _SAMPLERS[interpolation], border.capitalize())
        plan = _plan("warp", names, image.axes, image.pointer % 16, result.axes, result.pointer % 16)
        batch = _BATCH.pack(
            image.pointer,
            *image.axes.strides,
            result.pointer,
            *result.axes.strides,
            image.samples,
            *plan.sizes,
            *outside.table[:5],
            *outside.values,
        )
        _run(plan, image, batch + geometry.record)
    return image.library.finish(result.array)


def resample(
    image: Images,
    box: PerSample,
    size: tuple[int, int],
    interpolation: str,
    antialias: bool,
    dtype: str | None,
    out: Any,
) -> Any:
    """A box of each sample, resized by a separable filter. `interpolation` is checked, and not "nearest"."""
    target = image.dtype if dtype is None else _array.dtype_name(dtype)
    _check.dtypes(image.dtype, target, interpolation)
    result = _images.like(image, size, target, out)
    if image.samples * image.axes.extents[1]:
        names = (_cpp(image.dtype), _cpp(target), _FILTERS[antialias][interpolation])
        plan = _plan("resample", names, image.axes, image.pointer % 16, result.axes, result.pointer % 16)
        strides = (image.pointer, *image.axes.strides, result.pointer, *result.axes.strides)
        fill = (*NO_TABLE[:5], 0.0, 0.0, 0.0, 0.0)
        data = _RESAMPLE.pack(*strides, image.samples, *plan.sizes, *fill, *box.table[:5], *box.values, antialias)
        _run(plan, image, data)
    return image.library.finish(result.array)


def _run(plan: _Plan, image: Images, data: bytes) -> None:
    if image.device < 0:
        getattr(_cpu.native(), plan.skeleton)(data, *plan.names)
    else:
        _cuda.launch(
            plan.kernel, data, plan.grid, _THREADS[plan.skeleton], image.device, image.library.stream(image.device)
        )


class _Plan(NamedTuple):
    """What follows from shapes, dtypes and options alone."""

    skeleton: str
    names: tuple[str, ...]
    kernel: str
    grid: tuple[int, int, int]
    sizes: tuple[int, ...]  # frames, channels, in H, in W, out H, out W, in aligned, out aligned


@functools.lru_cache(4096)
def _plan(skeleton: str, names: tuple[str, ...], source: Axes, phase: int, target: Axes, to_phase: int) -> _Plan:
    """`names` are source dtype, target dtype and the functors, in the order of the C++ template."""
    samples, frames, channels, height, width = source.extents
    out_height, out_width = target.extents[3:]
    layouts = _layout(source), _layout(target)
    group = min(channels, 4)
    slices = samples * frames * (-(-channels // group) if "Strided" in layouts else 1)
    wide, rows = _region(names[0], group) if skeleton == "warp" else (32, 32)
    across, tiles = -(-out_width // wide), -(-out_height // rows)
    if skeleton == "resample":
        tiles = _strips(across * slices, out_height)
    rounds = -(-slices // _MOST_TILES) if skeleton == "warp" else 1
    if tiles * rounds > _MOST_TILES:
        raise ValueError(f"size must have a height of at most {_MOST_TILES // rounds * rows}, got {out_height}")
    return _Plan(
        skeleton,
        names,
        kernel=name_expression(skeleton, names[0], layouts[0], group, *names[2:], names[1], layouts[1]),
        grid=(across, tiles * rounds, min(slices, _MOST_TILES)),
        sizes=(
            *(frames, channels, height, width, out_height, out_width),
            *(_aligned(source, names[0], phase), _aligned(target, names[1], to_phase)),
        ),
    )


def _region(dtype: str, group: int) -> tuple[int, int]:
    """Columns and rows of the output that a block warps (kernels/gpu/tile.cuh): fewer where a staged pixel is wide."""
    item = _array.ITEM_SIZE[dtype]
    stored = 4 if item == 1 else {1: 2, 2: 4, 3: 8, 4: 8}[group] if item == 2 else item * group
    return (64 if stored <= 4 else 32), 64


def _strips(columns: int, height: int) -> int:
    """Into how many tiles a resize cuts the height: few, as each works out its columns, but enough for a large GPU."""
    few = -(-height // 128)
    return few if columns * few >= 2000 else -(-height // 32)


def name_expression(skeleton: str, *arguments: str | int) -> str:
    return f"cuaug::{skeleton}<{', '.join(str(a) if isinstance(a, int) else f'cuaug::{a}' for a in arguments)}>"


def record_of(name: str) -> tuple[str, int]:
    """The C++ type of a kernel's argument, and the bytes that are packed for it here."""
    if name.startswith("cuaug::resample<"):
        return "cuaug::Resample", _RESAMPLE.size
    geometry = name.split(", ")[3].removeprefix("cuaug::")
    return f"cuaug::Warp<cuaug::{geometry}>", _BATCH.size + _GEOMETRIES[geometry].size


def _cpp(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype


def _layout(axes: Axes) -> str:
    """The layout tag of kernels/gpu/layout.cuh."""
    _, _, channels, _, width = axes.extents
    _, _, c, _, x = axes.strides
    if channels <= 4 and (x == 1 or width == 1):
        return "Planar"
    if 1 < channels <= 4 and c == 1 and x == channels:
        return "Packed"
    return "Strided"


def _aligned(axes: Axes, dtype: str, phase: int) -> int:
    """How many adjacent elements, 8, 4 or 0, can be moved as vectors of up to 16 bytes, from any multiple of so many on."""
    item = _array.ITEM_SIZE[dtype]
    planes = axes.strides[:4] if _layout(axes) == "Planar" else (*axes.strides[:2], axes.strides[3])
    steps = (phase, *(stride * item for stride in planes))
    return next((count for count in (8, 4) if all(step % min(count * item, 16) == 0 for step in steps)), 0)
