"""A pass: read, resample through a geometry, store. Packs the record that kernel and CPU loop share, and runs one of them.

The formats below mirror kernels/record.cuh field by field; the kernel's text asserts the size, the extension checks it.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, NamedTuple

from . import _array, _check, _cpu, _cuda, _images, _parameters
from ._images import Axes, Images
from ._parameters import Table

_BATCH = struct.Struct("P5q P5q q 8i P4q 4d")
_MATRIX = struct.Struct("P4q 2i")
_GRID = struct.Struct("P4q P4q 2d 2i")
_SAMPLERS = {"nearest": "Nearest", "bilinear": "Bilinear", "bicubic": "Bicubic", "lanczos": "Lanczos"}
_TILE, _THREADS = 32, 128  # kernels/gpu/tile.cuh


class Geometry(NamedTuple):
    """A coordinate functor and its record."""

    name: str
    record: bytes
    owners: tuple[Table, ...]


def matrix_geometry(name: str, matrix: Table, inverse: bool, origin: str) -> Geometry:
    """`Affine` or `Perspective`."""
    _check.one_of("origin", origin, ("center", "corner"))
    return Geometry(name, _MATRIX.pack(*matrix[:5], bool(inverse), origin == "corner"), (matrix,))


def grid_geometry(x: Table, y: Table, scale: tuple[float, float], relative: bool) -> Geometry:
    """`Grid`: maps of positions, or of displacements, in units of `scale` (x, y) pixels."""
    return Geometry("Grid", _GRID.pack(*x[:5], *y[:5], *scale, bool(relative), 0), (x, y))


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
    array, result = _images.like(image, image.channels, size, target, out)
    if image.samples * image.axes.extents[1]:
        plan = _plan(image.axes, image.dtype, image.pointer % 16, result.axes, target, result.pointer % 16, geometry.name, interpolation, border)
        record = _BATCH.pack(
            image.pointer, *plan.source, result.pointer, *plan.target, image.samples, *plan.sizes, *outside.table[:5], *outside.values
        )
        if image.device < 0:
            _cpu.native().warp(record + geometry.record, *plan.names)
        else:
            stream = image.library.stream(image.device)
            _cuda.launch(plan.kernel, f"cuaug::Warp<cuaug::{geometry.name}>", record + geometry.record, plan.grid, _THREADS, image.device, stream)
    return image.library.finish(array)


class _Plan(NamedTuple):
    """What follows from shapes, dtypes and options alone."""

    kernel: str
    names: tuple[str, str, str, str, str]
    grid: tuple[int, int, int]
    source: tuple[int, ...]  # strides n, t, c, y, x
    target: tuple[int, ...]
    sizes: tuple[int, ...]  # frames, channels, in H, in W, out H, out W, in aligned, out aligned


@functools.lru_cache(4096)
def _plan(source: Axes, dtype: str, phase: int, target: Axes, to: str, to_phase: int, geometry: str, interpolation: str, border: str) -> _Plan:
    samples, frames, channels, height, width = source.extents
    out_height, out_width = target.extents[3:]
    if out_height > 65535 * _TILE:
        raise ValueError(f"size must have a height of at most {65535 * _TILE}, got {out_height}")
    names = (_cpp(dtype), _cpp(to), geometry, _SAMPLERS[interpolation], border.capitalize())
    width_in, width_out = (_layout(axes) for axes in (source, target))
    group = min(channels, 4)
    slices = samples * frames * (-(-channels // group) if "Strided" in (width_in, width_out) else 1)
    arguments = (names[0], width_in, group, *names[2:], names[1], width_out)
    return _Plan(
        kernel=name_expression("warp", *arguments),
        names=names,
        grid=(-(-out_width // _TILE), -(-out_height // _TILE), min(slices, 65535)),
        source=source.strides,
        target=target.strides,
        sizes=(frames, channels, height, width, out_height, out_width, _aligned(source, dtype, phase), _aligned(target, to, to_phase)),
    )


def resample(image: Images, box: Table, size: tuple[int, int], interpolation: str, antialias: bool, dtype: str | None, out: Any) -> Any:
    """One separable resample of a box of each sample."""
    raise NotImplementedError


def name_expression(skeleton: str, *arguments: str | int) -> str:
    return f"cuaug::{skeleton}<{', '.join(str(a) if isinstance(a, int) else f'cuaug::{a}' for a in arguments)}>"


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


def _aligned(axes: Axes, dtype: str, phase: int) -> bool:
    """Whether four adjacent elements can be moved as vectors of up to 16 bytes, from any multiple of four on."""
    item = _array.ITEM_SIZE[dtype]
    vector = min(4 * item, 16)
    planes = axes.strides[:4] if _layout(axes) == "Planar" else (*axes.strides[:2], axes.strides[3])
    return phase % vector == 0 and all(stride * item % vector == 0 for stride in planes)
