"""Pooling of regions on a GPU: which kernels, on which grids."""

from __future__ import annotations

from typing import NamedTuple

from .._arrays.protocol import Library
from .._gpu import launch
from .._program.dtypes import ITEM_SIZE

_TILE, _GROUP = (8, 32), {"float64": 16}  # kernels/detection/roi_gather.cuh, roi_backward_gather.cu (other dtypes: 32)
_PLANAR, _MOST_ROWS = 8, 65535  # channels of a thread (kernels/detection/roi_by_sample.cuh); of a grid
_ENOUGH = 2048  # blocks of 256 threads for a large GPU: each works out its region anew
_A_BLOCKS = 128  # channels in planes: 16 for each warp of kernels/detection/roi_average.cu
BOUNDS, SHAPE = 24, 112  # bytes of RegionBounds and StoredBins (kernels/records/roi.cuh)


class Call(NamedTuple):
    """What kernels are chosen by."""

    library: Library
    device: int
    dtype: str
    kind: str
    rotated: bool
    regions: int
    channels: int
    size: tuple[int, int]
    wide: int  # channels that are read as one vector; 0: they lie apart


def pool(call: Call, data: bytes, places: bytes) -> None:
    """Pools; `places` says where to write of each bin which sample is the greatest; all 0: nowhere."""
    few = max(call.size) <= 64 and call.size[0] * call.size[1] <= 1024 and _items(call) < 1 << 31
    if call.kind == "avg" and not call.rotated and few:
        parts = _parts(call, 256) if call.wide else _shares(call, _ENOUGH // 2)  # measured: benchmarks/log/roi-gpu.md
        _launch(call, "roi_average", (call.wide,), data, (call.regions, parts, 1), 256)
        return
    take = 0 if call.kind == "avg" else 2 if any(places) else 1
    grid = call.regions, min(-(-_items(call) // 128), _MOST_ROWS), 1
    _launch(call, "roi_by_sample", (f"cuaug::{_bins(call)}", take, call.wide), data + places, grid, 128)


def scatter(call: Call, data: bytes, places: bytes) -> None:
    """Adds the gradients of levels to what their memory holds, in float32 or float64."""
    inside = int(call.wide > 0)
    if call.kind == "avg" and not call.rotated:
        parts = _parts(call, 128) if inside else 2 * _shares(call, _ENOUGH)  # blocks of half as many threads
        _launch(call, "roi_backward_separable", (inside,), data, (call.regions, parts, 1), 128)
        return
    grid = call.regions, min(-(-_items(call._replace(wide=inside)) // 128), _MOST_ROWS), 1
    functors = f"cuaug::{_bins(call)}", int(call.kind != "avg"), inside
    _launch(call, "roi_backward_scatter", functors, data + places, grid, 128)


def gather(call: Call, data: bytes, levels: list[tuple[int, ...]], samples: int) -> None:
    """Writes the gradients of levels of these N, C, H, W, the same in every run."""
    if call.regions:
        _launch(call, "roi_regions", (f"cuaug::{_bins(call)}",), data, (-(-call.regions // 128), 1, 1), 128)
    tiles = sum(-(-height // _TILE[0]) * -(-width // _TILE[1]) for _, _, height, width in levels)
    blocks = tiles * samples * -(-call.channels // _GROUP.get(call.dtype, 32))
    real = "cuaug::float64" if call.dtype == "float64" else "cuaug::float32"
    touch = f"cuaug::SampleGather<cuaug::{_bins(call)}<{real}>, {int(call.kind != 'avg')}>"
    if call.kind == "avg" and not call.rotated:
        touch = f"cuaug::SeparableGather<{real}>"
    if blocks:
        _launch(call, "roi_backward_gather", (touch,), data, (blocks, 1, 1), _TILE[0] * _TILE[1])


def wide(pointers_and_steps: list[tuple[int, ...]], channels: int, dtype: str) -> int:
    """Of channels side by side in memory, by pointers and strides (N, C, H, W) of all levels."""
    most = 16 // ITEM_SIZE[dtype]
    whole = channels % most == 0
    for pointer, n, c, y, x in pointers_and_steps:
        whole = whole and c == 1 and pointer % 16 == 0 and all(step % most == 0 for step in (n, y, x))
    return most if whole else 1


def _parts(call: Call, threads: int) -> int:
    """Blocks of a region, of threads with a bin of some channels each."""
    return max(min(-(-_ENOUGH // call.regions), -(-_items(call) // threads), _MOST_ROWS), 1)


def _shares(call: Call, blocks: int) -> int:
    """Blocks of a region, which share its channels in planes."""
    enough = max(-(-blocks // call.regions), -(-call.channels // _A_BLOCKS))
    even = 1 << (enough - 1).bit_length()  # three leave one of them with less to do: 194 us against 163 by four
    return min(even, -(-call.channels // _PLANAR), _MOST_ROWS // 2)


def _items(call: Call) -> int:
    """Of threads: some channels of a bin."""
    return call.size[0] * call.size[1] * -(-call.channels // (call.wide or _PLANAR))


def _bins(call: Call) -> str:
    return "RoiPoolBins" if call.kind == "pixels" else "RoiAlignBins"


def _launch(
    call: Call, skeleton: str, functors: tuple[str | int, ...], data: bytes, grid: tuple[int, int, int], threads: int
) -> None:
    name = f"cuaug::{skeleton}<{', '.join(map(str, (f'cuaug::{call.dtype}', *functors)))}>"
    launch.launch(name, data, grid, threads, 0, call.device, call.library.current_stream(call.device))
