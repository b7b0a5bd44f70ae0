"""Grids: the part of the output that a thread block makes, and the number of blocks."""

from __future__ import annotations

import functools
from typing import NamedTuple

from .._arrays.images import ImageBatch
from .._gpu.executor import Grid
from .._program.dtypes import ITEM_SIZE

_MAX_BLOCKS_YZ = 65535  # CUDA's limit for the second and third axis of a grid

POINTWISE_THREADS = 256  # each makes four pixels at a time (kernels/passes/pointwise.cu)
# Resident blocks: measured for short chains of narrow dtypes, a guess for others.
POINTWISE_BLOCKS_PER_MULTIPROCESSOR = 4
UNEVEN_OPS = {"JitterAfterMean"}  # their work differs between samples
_UNEVEN_WAVES = 2  # waves of blocks for them (benchmarks/log/recipes-mean-gpu.md)

# The mean luma of a sample: groups of four pixels that a thread of luma_mean.cu adds up, and the most blocks. Each
# block of the pass that reads the mean adds up the results of all these blocks.
_MEAN_STEPS, _MAX_MEAN_BLOCKS = 16, 128

# Maximum rows of an output region of `warp_image`; halved for small blocks of several channels, doubled for some
# leftover columns (`divide_output`).
_SHORT_REGION_ROWS, _TALL_REGION_ROWS = 64, 128
_REGION_WIDTHS = 32, 64
_PATCH_WIDTH = 32  # pixels of a row that a CUDA warp makes at a time
_MIN_TALL_REGIONS = 1500  # with fewer tall regions, short ones are used: more blocks keep a GPU busy
# The last regions of a large grid are halved; the number is the same on every GPU, so that results have equal bits
# (benchmarks/log/warp-launch-tail.md).
_MAX_HALVED_REGIONS = 192


class Slices(NamedTuple):
    """A pass divided for its grid: a slice is up to four channels of a frame, or a sample if frames are reduced."""

    dtype: str  # of the input
    channels: int  # of a slice
    slice_count: int  # of the batch
    height: int  # of the output
    width: int


class Staging(NamedTuple):
    """How a warp stages its source boxes."""

    raw: bool  # as the input lies in memory
    fills: bool = True  # the border is `Constant`; used if `raw`


def mean_block_count(frames: int, size: tuple[int, int]) -> int:
    """How many partial sums of a sample's mean luma a GPU's `luma_mean` stores: one per block."""
    strips, runs, _ = luma_mean(Slices("uint8", 1, 1, *size), frames)
    return strips * runs


def partial_sum_count(images: ImageBatch) -> int:
    """How many partial sums of a sample's mean luma `warp_image` stores: one per output region.

    `images`: the warp's result, which has the dtype of its input.
    """
    slices = Slices(images.dtype, min(images.channels, 4), images.samples * images.frames, *images.size)
    return images.frames * divide_output(slices, Staging(raw=False), can_halve=False).regions_per_slice


def max_partial_sum_count(frames: int, size: tuple[int, int]) -> int:
    """The maximum of `partial_sum_count` over all dtypes, channels and batch sizes, and of `mean_block_count`."""
    regions = frames * -(-size[1] // _REGION_WIDTHS[0]) * -(-size[0] // _SHORT_REGION_ROWS)
    return max(regions, mean_block_count(frames, size))


def warp(slices: Slices, staging: Staging, can_halve: bool) -> Grid:
    """A block makes an output region or half of one; its source boxes are staged raw or as pixels."""
    regions = divide_output(slices, staging, can_halve)
    blocks = regions.whole + 2 * regions.halved
    if blocks >= 1 << 31:
        raise ValueError(f"size must leave fewer than 2**31 regions, got {(slices.height, slices.width)}")
    return blocks, 1, 1


def small_blocks(dtype: str, channels: int, raw_staged: bool) -> bool:
    """Whether a warp's blocks have half the threads: `small_blocks` of kernels/gpu/raw_box.cuh."""
    return raw_staged and ITEM_SIZE[dtype] == 1 and channels < 4


def small_output(slices: Slices, input_size: tuple[int, int]) -> bool:
    """Whether small blocks have half the threads again, because each makes a whole frame of at most 32x32 pixels.

    Source boxes of a strong reduction would not fit into their shared memory, so large inputs take other blocks.

    The kernel's name has `SmallOutput` of kernels/gpu/raw_box.cuh.
    """
    return max(slices.height, slices.width) <= _PATCH_WIDTH and max(input_size) <= 2 * _PATCH_WIDTH


def warp_regions(slices: Slices, staging: Staging, can_halve: bool) -> tuple[int, ...]:
    """The last fields of `cuaug::WarpRecord`, from `full_width` on."""
    regions = divide_output(slices, staging, can_halve)
    # Without raw staging, regions are counted by rows of full-width ones (kernels/gpu/region_scheduler.cuh).
    slice_divisor = regions.regions_per_slice if staging.raw else regions.full_width.regions
    divisors = *fast_divisor(max(slice_divisor, 1)), *fast_divisor(max(regions.per_row, 1))
    return *regions.full_width, *regions.remainder, *divisors, regions.whole


def fast_divisor(divisor: int) -> tuple[int, int]:
    """`cuaug::FastDivisor`: (n * factor) >> shift equals n // divisor for all n below 2**31."""
    shift = 31 + (divisor - 1).bit_length()
    return -(-(1 << shift) // divisor), shift


class RegionColumn(NamedTuple):
    """`cuaug::RegionColumn`: regions of one width, one above the other."""

    region_rows: int  # of every region but the last
    regions: int


class Regions(NamedTuple):
    """The output regions of a warp."""

    width: int
    per_row: int  # full-width regions side by side
    full_width: RegionColumn
    remainder: RegionColumn  # in the leftover columns at the right edge
    whole: int  # of all slices: made by one block each
    halved: int  # after them: made by two blocks each

    @property
    def regions_per_slice(self) -> int:
        return self.per_row * self.full_width.regions + self.remainder.regions


@functools.lru_cache(1024)  # a configuration needs the result twice
def divide_output(slices: Slices, staging: Staging, can_halve: bool) -> Regions:
    """Divides the output of a warp into regions (kernels/passes/warp_image.cu).

    Regions of wide pixels, such as four channels of 16 bits, are narrower: else the source box of a rotated region
    would not fit into shared memory (`raw_region_width` of kernels/gpu/raw_box.cuh). The regions of a column have about
    the same height. Tall regions cost less per pixel; they are used if enough blocks remain for a GPU, but not for the
    widest pixels, where even the box of one of 16 tiles (`max_tiles` of kernels/gpu/stage.cuh) might not fit.

    With `can_halve`, the last tall regions are halved, unless the lower half of one would be empty. Then, too, where
    raw-staged tall regions are 64 wide, leftover columns of at most `_PATCH_WIDTH` get regions twice as tall: as much
    work as others.
    """
    dtype, channels, count, height, width = slices
    staged_bytes = _staged_bytes(dtype, channels)
    has_wide_regions = ITEM_SIZE[dtype] * channels <= (6 if staging.fills else 4) if staging.raw else staged_bytes <= 4
    region_width = _REGION_WIDTHS[has_wide_regions]
    per_row, leftover = divmod(width, region_width)
    halves_max_rows = small_blocks(dtype, channels, staging.raw) and channels > 1
    short_rows, tall_rows = _SHORT_REGION_ROWS >> halves_max_rows, _TALL_REGION_ROWS >> halves_max_rows
    tall = (per_row + (leftover > 0)) * count * -(-height // tall_rows) >= _MIN_TALL_REGIONS and staged_bytes <= 16
    can_halve = can_halve and tall
    full_width = _region_column(height, tall_rows if tall else short_rows, tall)
    doubled = staging.raw and can_halve and leftover <= _PATCH_WIDTH < region_width
    remainder = _region_column(height, 2 * tall_rows, tall) if doubled else full_width
    if not leftover:
        remainder = remainder._replace(regions=0)
    regions = count * (per_row * full_width.regions + remainder.regions)
    columns = (full_width,) * (per_row > 0) + (remainder,) * (leftover > 0)
    lower_halves_have_rows = all(
        height - (column.regions - 1) * column.region_rows > column.region_rows // 2 for column in columns
    )
    halved = min(_MAX_HALVED_REGIONS, regions // 8) if can_halve and lower_halves_have_rows else 0
    return Regions(region_width, per_row, full_width, remainder, regions - halved, halved)


def _region_column(height: int, max_rows: int, tall: bool) -> RegionColumn:
    step = 8 if tall else 4  # tall regions may be halved, and each half has a multiple of four rows, too
    regions = -(-height // max_rows)
    rows = -(-height // (regions * step)) * step if height else 4
    return RegionColumn(rows, -(-height // rows))


def resample(slices: Slices) -> Grid:
    """A block filters 32 columns of 128 rows; of 32 rows if there are too few blocks of 128 rows to fill a GPU.

    Each block computes the weights of its columns, so fewer blocks are less work.
    """
    across, tall_blocks = -(-slices.width // 32), -(-slices.height // 128)
    down = tall_blocks if across * slices.slice_count * tall_blocks >= 2000 else -(-slices.height // 32)
    if down > _MAX_BLOCKS_YZ:
        raise ValueError(f"size must have a height of at most {_MAX_BLOCKS_YZ * 32}, got {slices.height}")
    return across, down, min(slices.slice_count, _MAX_BLOCKS_YZ)


def four_pixels_per_thread(slices: Slices) -> Grid:
    """A thread makes four pixels of a row; a block has 256 threads."""
    threads = -(-slices.width // 4) * slices.height
    if threads >= 1 << 31:
        raise ValueError(f"images must have fewer than 2**33 pixels, got {(slices.height, slices.width)}")
    return -(-threads // 256), 1, min(slices.slice_count, _MAX_BLOCKS_YZ)


def pointwise(slices: Slices, resident_blocks: int, uneven: bool = False) -> Grid:
    """The axes of the grid: strips of columns, runs of rows, and slices.

    The number of blocks minimises waves x (steps per block + 3) on a GPU that holds `resident_blocks`; the 3 is a
    block's start, where all threads wait for parameters (benchmarks/log/recipes-mean-gpu.md). Ops of `UNEVEN_OPS` get a
    fixed number of waves.
    """
    steps, _, grid_z = four_pixels_per_thread(slices)
    max_blocks, strips = max(steps, 1), _strip_count(slices.width)
    if uneven:
        blocks = min(max(_UNEVEN_WAVES * resident_blocks // grid_z, 1), max_blocks)
    else:
        candidates = {min(max(waves * resident_blocks // grid_z, 1), max_blocks) for waves in range(1, 9)}
        blocks = min(candidates, key=lambda count: -(-count * grid_z // resident_blocks) * (-(-steps // count) + 3))
    return strips, -(-blocks // strips), grid_z


def mix(slices: Slices, resident_blocks: int) -> Grid:
    """As `pointwise`. For elements of 4 bytes or more a thread makes one group of four pixels: more loads overlap."""
    if ITEM_SIZE[slices.dtype] < 4:
        return pointwise(slices, resident_blocks)
    blocks, _, grid_z = four_pixels_per_thread(slices)
    strips = _strip_count(slices.width)
    return strips, min(max(-(-blocks // strips), 1), _MAX_BLOCKS_YZ), grid_z


def _strip_count(width: int) -> int:
    """The number of strips of columns; no strip is empty.

    The lowest number that leaves few threads of a block idle: in wide strips a CUDA warp moves longer parts of a
    row.
    """
    quads = -(-width // 4) or 1  # of four pixels, one per thread
    min_strips = -(-quads // POINTWISE_THREADS)

    def busy_threads(strips: int) -> float:
        quads_per_strip = -(-quads // strips)
        return quads / (strips * quads_per_strip) * (POINTWISE_THREADS // quads_per_strip * quads_per_strip)

    counts = [n for n in range(min_strips, min_strips + 6) if (n - 1) * -(-quads // n) < quads]
    enough = 0.85 * POINTWISE_THREADS
    return next((n for n in counts if busy_threads(n) > enough), max(counts, key=busy_threads))


def luma_mean(slices: Slices, frames: int, max_blocks: int = _MAX_MEAN_BLOCKS) -> Grid:
    """A block adds up a run of rows of a strip of columns, of all frames of a sample.

    The number of a sample's blocks is the same on every GPU, so that means have equal bits.
    """
    steps, _, grid_z = four_pixels_per_thread(slices)
    strips = min(_strip_count(slices.width), max_blocks)
    runs = min(-(-steps * frames // (strips * _MEAN_STEPS)), max_blocks // strips, -(-steps // strips))
    return strips, max(runs, 1), grid_z


def block_per_sample(slices: Slices) -> Grid:
    return slices.slice_count, 1, 1


def block_per_channel(slices: Slices, channels: int) -> Grid:
    """A block reduces a channel of a sample."""
    if channels > _MAX_BLOCKS_YZ:
        raise ValueError(f"images must have at most {_MAX_BLOCKS_YZ} channels, got {channels}")
    return slices.slice_count, channels, 1


def adjust_sharpness(slices: Slices) -> Grid:
    """A thread makes four pixels of eight rows."""
    return four_pixels_per_thread(slices._replace(height=-(-slices.height // 8)))


def gaussian_blur(slices: Slices, tile_width: int, tile_height: int, shared_bytes: int) -> Grid:
    """A block makes a tile; the parameters are those of `blur_tiles.Tile`."""
    return _tiles(slices, tile_width, tile_height)


def gaussian_blur_u8(slices: Slices, across: int, rows: int, threads: int) -> Grid:
    """The grid of gaussian_blur_packed, too. A block makes a run of rows of a strip: `blur_tiles.StripRuns`."""
    return across, _runs(slices.height, rows), min(slices.slice_count, _MAX_BLOCKS_YZ)


def jpeg(slices: Slices) -> Grid:
    """A block makes a tile of 128x64 pixels; the first tile of a row or column begins 8 pixels outside the image."""
    return _tiles(slices._replace(height=slices.height + 8, width=slices.width + 8), 128, 64)


def _tiles(slices: Slices, tile_width: int, tile_height: int) -> Grid:
    down = _runs(slices.height, tile_height)
    return -(-slices.width // tile_width), down, min(slices.slice_count, _MAX_BLOCKS_YZ)


def _runs(height: int, rows: int) -> int:
    """The number of runs of `rows` rows."""
    runs = -(-height // rows)
    if runs > _MAX_BLOCKS_YZ:
        raise ValueError(f"images must have a height of at most {_MAX_BLOCKS_YZ * rows}, got {height}")
    return runs


def _staged_bytes(dtype: str, channels: int) -> int:
    """Size of a `WordPixel` in shared memory (kernels/gpu/word_pixel.cuh)."""
    item_size = ITEM_SIZE[dtype]
    if item_size == 1:
        return 4
    return {1: 2, 2: 4, 3: 8, 4: 8}[channels] if item_size == 2 else item_size * channels
