"""Grids: which part of a result each block of a kernel makes, and how many blocks that takes."""

from __future__ import annotations

import functools
from typing import NamedTuple

from .._arrays.images import ImageBatch
from .._program.dtypes import ITEM_SIZE

# Columns, at least as many as the widest kernel reaches, and rows, of which the first that fits is taken.
_BLUR_TILES = (224, 32), (224, 16), (112, 32), (112, 16), (64, 16), (64, 8)
POINTWISE_THREADS = 256  # each of which makes four pixels at a time (kernels/passes/pointwise.cu)
POINTWISE_BLOCKS = 4  # on a multiprocessor at a time: what short chains have of narrow dtypes, a guess for others
UNEVEN_OPS = {"JitterAfterMean"}  # ops in which one sample has more to do than another
_UNEVEN_WAVES = 2  # of a GPU, for those (benchmarks/log/recipes-mean-gpu.md)
# Maximum rows of a warp region; halved for small blocks, doubled for narrow raw-staged regions.
_SHORT_REGION_ROWS, _TALL_REGION_ROWS = 64, 128
_REGION_WIDTHS = 32, 64
_PATCH_WIDTH = 32  # that a warp makes at a time
_MIN_REGIONS = 1500  # regions for a GPU to be busy: more rows each where there are so many
# The last regions of a large grid are halved; the number is the same on every GPU, so that results have equal bits
# (benchmarks/log/warp-launch-tail.md).
_MAX_HALVED_REGIONS = 192
_MAX_BLOCKS_YZ = 65535  # along a grid's second and third axis


def partial_sum_count(image: ImageBatch) -> int:
    """How many parts a mean comes in that a warp has taken of an image: its regions."""
    frames, group = image.axes.extents[1], min(image.channels, 4)
    cut = divide_output(image.dtype, group, image.samples * frames, *image.size, copied=False, halves=False)
    return frames * cut.all


def max_partial_sum_count(frames: int, size: tuple[int, int]) -> int:
    """Of images of any dtype and channels, in any number."""
    return frames * -(-size[1] // _REGION_WIDTHS[0]) * -(-size[0] // _SHORT_REGION_ROWS)


def warp(
    dtype: str, group: int, slices: int, height: int, width: int, copied: bool, halves: bool
) -> tuple[int, int, int]:
    """A block makes a region or half of one, from boxes of pixels or of what is copied as it lies in memory."""
    cut = divide_output(dtype, group, slices, height, width, copied, halves)
    blocks = cut.unhalved + 2 * cut.halved
    if blocks >= 1 << 31:
        raise ValueError(f"size must leave fewer than 2**31 regions, got {(height, width)}")
    return blocks, 1, 1


def small_blocks(dtype: str, group: int, copied: bool) -> bool:
    """Whether a warp's blocks have half the threads, for half the rows: `small_blocks` of kernels/gpu/raw_box.cuh."""
    return copied and ITEM_SIZE[dtype] == 1 and group < 4


def warp_regions(
    dtype: str, group: int, slices: int, height: int, width: int, copied: bool, halves: bool
) -> tuple[int, ...]:
    """What the record holds of them."""
    cut = divide_output(dtype, group, slices, height, width, copied, halves)
    each = cut.all if copied else cut.wide.down  # their order: kernels/gpu/region_scheduler.cuh
    return *cut.wide, *cut.narrow, *fast_divisor(max(each, 1)), *fast_divisor(max(cut.across, 1)), cut.unhalved


def fast_divisor(number: int) -> tuple[int, int]:
    """`cuaug::Divisor`: (n * factor) >> shift is n // number for all n below 2**31."""
    shift = 31 + (number - 1).bit_length()
    return -(-(1 << shift) // number), shift


class RegionColumn(NamedTuple):
    """Regions that are as wide, one above the other, all but the last of so many rows."""

    rows: int
    down: int


class Regions(NamedTuple):
    """How the output of a warp is cut."""

    columns: int
    across: int  # side by side that are as wide as they can be
    wide: RegionColumn
    narrow: RegionColumn  # of what they leave on the right
    unhalved: int  # so many are made in one piece,
    halved: int  # and so many behind them in two

    @property
    def all(self) -> int:
        """How many a slice has."""
        return self.across * self.wide.down + self.narrow.down


def divide_output(dtype: str, group: int, slices: int, height: int, width: int, copied: bool, halves: bool) -> Regions:
    """The output regions of a warp (kernels/passes/warp_image.cu): fewer columns where pixels are wide, as four
    channels of 16 bits are: the source boxes of rotated regions would not fit otherwise.

    All of about the same height, and tall, which costs less, where they leave blocks enough for a GPU. Not of the
    widest pixels: boxes of a sixteenth of a tall region might not fit. Tall ones may have `halves`, unless one of them
    would be empty; and copied ones of a patch's width or less are twice as tall then, to be as much work.
    """
    stored = _staged_bytes(dtype, group)
    columns = _REGION_WIDTHS[ITEM_SIZE[dtype] * group <= 6 if copied else stored <= 4]
    across, rest = divmod(width, columns)
    small = small_blocks(dtype, group, copied)
    few, many = _SHORT_REGION_ROWS >> small, _TALL_REGION_ROWS >> small
    tall = (across + (rest > 0)) * slices * -(-height // many) >= _MIN_REGIONS and stored <= 16
    halves = halves and tall
    wide = _stack(height, many if tall else few, tall)
    doubled = copied and halves and rest <= _PATCH_WIDTH < columns
    narrow = _stack(height, 2 * many, tall) if doubled else wide
    if not rest:
        narrow = narrow._replace(down=0)
    count = slices * (across * wide.down + narrow.down)
    there = (wide,) * (across > 0) + (narrow,) * (rest > 0)
    divisible = all(height - (each.down - 1) * each.rows > each.rows // 2 for each in there)
    halved = min(_MAX_HALVED_REGIONS, count // 8) if halves and divisible else 0
    return Regions(columns, across, wide, narrow, count - halved, halved)


def _stack(height: int, most: int, tall: bool) -> RegionColumn:
    step = 8 if tall else 4  # a half is of a multiple of four rows, too
    down = -(-height // most)
    rows = -(-height // (down * step)) * step if height else 4
    return RegionColumn(rows, -(-height // rows))


def resample(dtype: str, group: int, slices: int, height: int, width: int) -> tuple[int, int, int]:
    """Few tiles of the height, as each works out its columns, but enough for a large GPU."""
    across, few = -(-width // 32), -(-height // 128)
    down = few if across * slices * few >= 2000 else -(-height // 32)
    if down > _MAX_BLOCKS_YZ:
        raise ValueError(f"size must have a height of at most {_MAX_BLOCKS_YZ * 32}, got {height}")
    return across, down, min(slices, _MAX_BLOCKS_YZ)


def four_pixels_per_thread(dtype: str, group: int, slices: int, height: int, width: int) -> tuple[int, int, int]:
    """A thread makes four pixels of a row."""
    pieces = -(-width // 4) * height
    if pieces >= 1 << 31:
        raise ValueError(f"images must have fewer than 2**33 pixels, got {(height, width)}")
    return -(-pieces // 256), 1, min(slices, _MAX_BLOCKS_YZ)


def pointwise(
    dtype: str, group: int, slices: int, height: int, width: int, room: int, uneven: bool
) -> tuple[int, int, int]:
    """Strips of columns, and runs of rows: those that a GPU with room for so many blocks takes the fewest turns for, or
    some turns where they are uneven.

    The start of a block, parameters that all of it waits for, counts as three turns
    (benchmarks/log/recipes-mean-gpu.md).
    """
    blocks, _, deep = four_pixels_per_thread(dtype, group, slices, height, width)
    most, strips = max(blocks, 1), _strips(width)
    if uneven:
        runs = min(max(_UNEVEN_WAVES * room // deep, 1), most)
    else:
        full = {min(max(times * room // deep, 1), most) for times in range(1, 9)}  # so often
        runs = min(full, key=lambda count: -(-count * deep // room) * (-(-blocks // count) + 3))
    return strips, -(-runs // strips), deep


def _strips(width: int) -> int:
    """As many as leave the fewest threads of a block without a column, of which none is empty."""
    across = -(-width // 4) or 1
    least = -(-across // POINTWISE_THREADS)

    def busy(strips: int) -> float:
        each = -(-across // strips)
        return across / (strips * each) * (POINTWISE_THREADS // each * each)

    return max((n for n in range(least, least + 6) if (n - 1) * -(-across // n) < across), key=busy)


def block_per_sample(dtype: str, group: int, samples: int, height: int, width: int) -> tuple[int, int, int]:
    """A block makes a sample."""
    return samples, 1, 1


def block_per_channel(
    dtype: str, group: int, samples: int, height: int, width: int, channels: int
) -> tuple[int, int, int]:
    """A block makes a channel of a sample."""
    if channels > _MAX_BLOCKS_YZ:
        raise ValueError(f"images must have at most {_MAX_BLOCKS_YZ} channels, got {channels}")
    return samples, channels, 1


def lut(dtype: str, group: int, slices: int, height: int, width: int) -> tuple[int, int, int]:
    """A thread looks up four pixels of a row, four times."""
    blocks, _, deep = four_pixels_per_thread(dtype, group, slices, height, width)
    return -(-blocks // 8), 1, deep


def adjust_sharpness(dtype: str, group: int, slices: int, height: int, width: int) -> tuple[int, int, int]:
    """A thread makes four pixels of eight rows."""
    return four_pixels_per_thread(dtype, group, slices, -(-height // 8), width)


def gaussian_blur(
    dtype: str, group: int, slices: int, height: int, width: int, columns: int, rows: int, shared: int
) -> tuple[int, int, int]:
    """A block makes a tile."""
    down = -(-height // rows)
    if down > _MAX_BLOCKS_YZ:
        raise ValueError(f"images must have a height of at most {_MAX_BLOCKS_YZ * rows}, got {height}")
    return -(-width // columns), down, min(slices, _MAX_BLOCKS_YZ)


class Tile(NamedTuple):
    """What a block blurs, and the bytes of shared memory that takes (kernels/passes/gaussian_blur.cu)."""

    width: int
    height: int
    shared: int


@functools.lru_cache(4096)
def blur_tile(dtype: str, together: int, height: int, width: int, taps_x: int, taps_y: int) -> Tile:
    """The first that fits into 48 KiB, smaller where as many cover the image. `together`: channels, packed ones."""
    item = 8 if dtype == "float64" else 4
    middle = _round_up_to_4(taps_x // 2)
    for most_wide, most_high in _BLUR_TILES:
        wide, high = _even_share(width, most_wide), _even_share(height, most_high)
        pitch = 16 * (together * (wide + 2 * middle + 4) * item // 16 | 1)
        weights = item * (2 * middle + 4 + _round_up_to_4(taps_y))
        shared = weights + 8 * _round_up_to_4(high + taps_y + 4) + high * pitch
        if shared <= (48 << 10) - 16:  # less how far the Gaussian reaches
            break
    return Tile(wide, high, shared)


def _round_up_to_4(count: int) -> int:
    return -(-count // 4) * 4


def _even_share(extent: int, most: int) -> int:
    """A multiple of 8, of which as few cover the extent as of `most`."""
    return -(-extent // -(-extent // most) // 8) * 8


def _staged_bytes(dtype: str, group: int) -> int:
    """Of a pixel in shared memory (kernels/gpu/word_pixel.cuh)."""
    item = ITEM_SIZE[dtype]
    return 4 if item == 1 else {1: 2, 2: 4, 3: 8, 4: 8}[group] if item == 2 else item * group
