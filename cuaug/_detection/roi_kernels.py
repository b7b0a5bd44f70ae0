"""Kernels and grids of RoI pooling on a GPU."""

from __future__ import annotations

from typing import NamedTuple

from .._arrays.protocol import Library
from .._gpu import launch
from .._program.dtypes import ITEM_SIZE

_GATHER_TILE = 8, 32  # rows and columns of a block (kernels/detection/roi_gather.cuh)
_GATHER_CHANNELS = {"float64": 16}  # of a block (roi_backward_gather.cu); other dtypes: 32
_POOLED_CHANNELS = 4  # that a thread of roi_by_point.cuh pools, if channels are not adjacent
_PLANAR_CHANNELS = 8  # the same of roi_average.cu (float64: 4) and roi_backward_scatter.cuh
_BLOCK_CHANNELS = 128  # of a block, if channels are not adjacent: 16 for each warp of roi_average.cu
_ENOUGH_BLOCKS = 2048  # of 256 threads, for a large GPU; each block of a region repeats the set-up of the region
_MAX_GRID_Y = 65535
_SEPARABLE_GRADIENT = ("avg", "ps_avg")
_PIXEL_BINS = {"pixel_max": "RoiPoolBins", "pixel_avg": "PsRoiPoolBins"}
BOUNDS_BYTES, BINS_BYTES = 24, 112  # RegionBounds and StoredBins (kernels/records/roi.cuh)


class RoiCall(NamedTuple):
    """The properties of a call that choose its kernels and grids."""

    library: Library
    device: int
    dtype: str
    kind: str  # that of `PoolingOptions`
    is_max: bool
    rotated: bool
    regions: int
    channels: int
    output_size: tuple[int, int]
    vector_channels: int  # read as one vector; 0: channels are not adjacent in memory


def launch_forward(call: RoiCall, record: bytes, argmax: bytes) -> None:
    """Pools. `argmax`: the bytes of `RoiArgmaxRecord` after its `RoiRecord`; all 0: no argmax is requested."""
    rows, columns = call.output_size
    # roi_average.cu holds at most `max_bins` = 64 bins along an axis, and counts items in 32 bits.
    fits_average = (
        max(rows, columns) <= 64
        and rows * columns <= 1024
        and _items(call, call.vector_channels or _PLANAR_CHANNELS) < 1 << 31
    )
    if call.kind == "avg" and not call.rotated and fits_average:
        # The numbers of blocks were measured: benchmarks/log/roi-gpu.md.
        parts = _vector_parts(call, 256) if call.vector_channels else _planar_parts(call, _ENOUGH_BLOCKS // 2)
        _launch(call, "roi_average", (call.vector_channels,), record, (call.regions, parts, 1), 256)
        return
    reduction = 0 if not call.is_max else 2 if any(argmax) else 1  # `Reduction` of roi_by_point.cuh
    grid = call.regions, min(-(-_items(call, call.vector_channels or _POOLED_CHANNELS) // 128), _MAX_GRID_Y), 1
    arguments = f"cuaug::{_bins_type(call)}", reduction, call.vector_channels
    _launch(call, "roi_by_point", arguments, record + argmax, grid, 128)


def launch_scatter(call: RoiCall, record: bytes, argmax: bytes) -> None:
    """Adds the gradients of levels, in float32 or float64, to the values in their memory."""
    channels_last = int(call.vector_channels > 0)
    if call.kind in _SEPARABLE_GRADIENT and not call.rotated:
        # `_ENOUGH_BLOCKS` and `_planar_parts` count blocks of 256 threads; these have 128.
        parts = _vector_parts(call, 128) if channels_last else 2 * _planar_parts(call, _ENOUGH_BLOCKS)
        _launch(call, "roi_backward_separable", (channels_last,), record, (call.regions, parts, 1), 128)
        return
    items = _items(call, channels_last or _PLANAR_CHANNELS)
    grid = call.regions, min(-(-items // 128), _MAX_GRID_Y), 1
    arguments = f"cuaug::{_bins_type(call)}", int(call.is_max), channels_last
    _launch(call, "roi_backward_scatter", arguments, record + argmax, grid, 128)


def launch_gather(call: RoiCall, record: bytes, level_extents: list[tuple[int, ...]], samples: int) -> None:
    """Writes the gradients of the levels, the same in every run. `level_extents`: N, C, H, W of each level."""
    if call.regions:
        grid = -(-call.regions // 128), 1, 1
        _launch(call, "roi_regions", (f"cuaug::{_bins_type(call)}",), record, grid, 128)
    tile_rows, tile_columns = _GATHER_TILE
    tiles = sum(-(-height // tile_rows) * -(-width // tile_columns) for _, _, height, width in level_extents)
    blocks = tiles * samples * -(-call.channels // _GATHER_CHANNELS.get(call.dtype, 32))
    compute_type = "cuaug::float64" if call.dtype == "float64" else "cuaug::float32"
    functor = f"cuaug::PointGather<cuaug::{_bins_type(call)}<{compute_type}>, {int(call.is_max)}>"
    if call.kind in _SEPARABLE_GRADIENT and not call.rotated:
        functor = f"cuaug::SeparableGather<{compute_type}>"
    if blocks:
        _launch(call, "roi_backward_gather", (functor,), record, (blocks, 1, 1), tile_rows * tile_columns)


def vector_channels(levels: list[tuple[int, ...]], channels: int, dtype: str) -> int:
    """Adjacent channels that can be read as one vector, given the `map_fields` of all channels-last levels."""
    vector = 16 // ITEM_SIZE[dtype]
    is_aligned = channels % vector == 0
    for pointer, n, c, y, x in levels:
        is_aligned = is_aligned and c == 1 and pointer % 16 == 0 and all(stride % vector == 0 for stride in (n, y, x))
    return vector if is_aligned else 1


def _items(call: RoiCall, channels: int) -> int:
    """Work items of a region: `channels` channels of a bin, for one thread."""
    rows, columns = call.output_size
    return rows * columns * -(-call.channels // channels)


def _vector_parts(call: RoiCall, threads: int) -> int:
    """Blocks per region: `_ENOUGH_BLOCKS` in all, but no more than give each thread one item."""
    return max(
        min(-(-_ENOUGH_BLOCKS // call.regions), -(-_items(call, call.vector_channels) // threads), _MAX_GRID_Y), 1
    )


def _planar_parts(call: RoiCall, blocks: int) -> int:
    """Blocks per region, which divide its channels among them."""
    parts = max(-(-blocks // call.regions), -(-call.channels // _BLOCK_CHANNELS))
    power_of_two = 1 << (parts - 1).bit_length()  # three divide channels unevenly: 194 us against 163 with four
    return min(power_of_two, -(-call.channels // _PLANAR_CHANNELS), _MAX_GRID_Y // 2)  # launch_scatter doubles them


def _bins_type(call: RoiCall) -> str:
    return _PIXEL_BINS.get(call.kind, "RoiAlignBins")


def _launch(
    call: RoiCall,
    skeleton: str,
    arguments: tuple[str | int, ...],
    record: bytes,
    grid: tuple[int, int, int],
    threads: int,
) -> None:
    name = f"cuaug::{skeleton}<{', '.join(map(str, (f'cuaug::{call.dtype}', *arguments)))}>"
    launch.launch(name, record, grid, threads, 0, call.device, call.library.current_stream(call.device))
