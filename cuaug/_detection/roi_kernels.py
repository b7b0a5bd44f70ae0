"""Kernels and grids of RoI pooling on a GPU."""

from __future__ import annotations

from typing import NamedTuple

from .._arrays.protocol import Library
from .._gpu import launch
from .._program.dtypes import ITEM_SIZE

# Threads of a block, in kernels/detection.
_AVERAGE_THREADS = 256  # roi_average.cu
_BY_POINT_THREADS = 128  # roi_by_point.cu
_SEPARABLE_THREADS = 128  # roi_backward_separable.cu
_SCATTER_THREADS = 128  # roi_backward_scatter.cu
_REGIONS_THREADS = 128  # roi_regions.cu
_GATHER_TILE = 8, 32  # rows and columns of a block (roi_gather.cuh)
_GATHER_CHANNELS, _GATHER_CHANNELS_FLOAT64 = 32, 16  # of a block (roi_backward_gather.cu)
_MAX_AXIS_BINS = 64  # that roi_average.cu holds along an axis
_MAX_AVERAGE_BINS = 1024  # more are not tested; roi_average.cu itself has only the limit along an axis
_POOLED_CHANNELS = 4  # that a thread of roi_by_point.cuh pools, if channels are not adjacent
_PLANAR_CHANNELS = 8  # the same of roi_average.cu (float64: 4) and roi_backward_scatter.cuh
_BLOCK_CHANNELS = 128  # of a block, if channels are not adjacent: 16 for each warp of roi_average.cu
_ENOUGH_BLOCKS = 2048  # for a large GPU; each block of a region repeats the set-up of the region
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
    """Pools. `argmax`: the fields that `RoiArgmaxRecord` adds to `RoiRecord`; zero bytes if no argmax is requested."""
    rows, columns = call.output_size
    fits_average = (
        max(rows, columns) <= _MAX_AXIS_BINS
        and rows * columns <= _MAX_AVERAGE_BINS
        and _items(call, call.vector_channels or _PLANAR_CHANNELS) < 1 << 31  # roi_average.cu counts them in 32 bits
    )
    if call.kind == "avg" and not call.rotated and fits_average:
        # The numbers of blocks were measured with an earlier kernel, for planar features: benchmarks/log/roi-gpu.md
        parts = (
            _vector_parts(call, _AVERAGE_THREADS) if call.vector_channels else _planar_parts(call, _ENOUGH_BLOCKS // 2)
        )
        grid = call.regions, parts, 1
        _launch(call, "roi_average", (call.vector_channels,), record, grid, _AVERAGE_THREADS)
        return
    reduction = 0 if not call.is_max else 2 if any(argmax) else 1  # `Reduction` of roi_by_point.cuh
    items = _items(call, call.vector_channels or _POOLED_CHANNELS)
    grid = call.regions, min(-(-items // _BY_POINT_THREADS), _MAX_GRID_Y), 1
    arguments = f"cuaug::{_bins_type(call)}", reduction, call.vector_channels
    _launch(call, "roi_by_point", arguments, record + argmax, grid, _BY_POINT_THREADS)


def launch_scatter(call: RoiCall, record: bytes, argmax: bytes) -> None:
    """Adds to the gradients of the feature maps, whose memory holds float32 or float64."""
    channels_last = int(call.vector_channels > 0)
    if call.kind in _SEPARABLE_GRADIENT and not call.rotated:
        # `_planar_parts` counts blocks of 256 threads; these have half of that.
        parts = _vector_parts(call, _SEPARABLE_THREADS) if channels_last else 2 * _planar_parts(call, _ENOUGH_BLOCKS)
        grid = call.regions, parts, 1
        _launch(call, "roi_backward_separable", (channels_last,), record, grid, _SEPARABLE_THREADS)
        return
    items = _items(call, channels_last or _PLANAR_CHANNELS)
    grid = call.regions, min(-(-items // _SCATTER_THREADS), _MAX_GRID_Y), 1
    arguments = f"cuaug::{_bins_type(call)}", int(call.is_max), channels_last
    _launch(call, "roi_backward_scatter", arguments, record + argmax, grid, _SCATTER_THREADS)


def launch_gather(call: RoiCall, record: bytes, level_extents: list[tuple[int, ...]], samples: int) -> None:
    """Writes the gradients of the feature maps, the same in every run. `level_extents`: N, C, H, W of each map."""
    if call.regions:
        grid = -(-call.regions // _REGIONS_THREADS), 1, 1
        _launch(call, "roi_regions", (f"cuaug::{_bins_type(call)}",), record, grid, _REGIONS_THREADS)
    tile_rows, tile_columns = _GATHER_TILE
    tiles = sum(-(-height // tile_rows) * -(-width // tile_columns) for _, _, height, width in level_extents)
    is_float64 = call.dtype == "float64"
    blocks = tiles * samples * -(-call.channels // (_GATHER_CHANNELS_FLOAT64 if is_float64 else _GATHER_CHANNELS))
    compute_type = "cuaug::float64" if is_float64 else "cuaug::float32"
    functor = f"cuaug::PointGather<cuaug::{_bins_type(call)}<{compute_type}>, {int(call.is_max)}>"
    if call.kind in _SEPARABLE_GRADIENT and not call.rotated:
        functor = f"cuaug::SeparableGather<{compute_type}>"
    if blocks:
        _launch(call, "roi_backward_gather", (functor,), record, (blocks, 1, 1), tile_rows * tile_columns)


def vector_channels(levels: list[tuple[int, ...]], channels: int, dtype: str) -> int:
    """Adjacent channels that can be read as one vector, given pointer and strides of all channels-last feature maps."""
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
    """Blocks per region: `_ENOUGH_BLOCKS` in all, but no more threads than a region has work items."""
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
