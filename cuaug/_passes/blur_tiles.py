"""The tiles and runs of rows of the Gaussian blur on a GPU."""

from __future__ import annotations

import functools
from typing import NamedTuple

# Tiles of a Gaussian blur, (width, height). The first that fits is used.
_BLUR_TILES = (224, 32), (224, 16), (112, 32), (112, 16), (64, 16), (64, 8)

MAX_TILE_WIDTH = 224  # of `_BLUR_TILES`

# Of `ChannelOps` (kernels/gpu/channel_ops.cuh): parameters of four channels, and again of three.
_CHANNELS_WITH_PARAMETERS = 7
_MAX_OP_PARAMETERS = 2  # that one op of `op_chain.CHANNEL_OPS` reads for a channel

_STRIP_WIDTH = 32  # of kernels/gpu/blur_rows.cuh: elements of a row, or packed pixels, that a block makes
MAX_MMA_DISTANCE = 15  # `max_mma_distance` of kernels/gpu/gaussian_digits.cuh


class Tile(NamedTuple):
    """The tile of a Gaussian blur, and the dynamic shared memory of its block (kernels/passes/gaussian_blur.cu)."""

    width: int
    height: int
    shared_bytes: int


@functools.lru_cache(4096)
def blur_tile(dtype: str, channels: int, height: int, width: int, taps_x: int, taps_y: int, op_count: int = 0) -> Tile:
    """The first of `_BLUR_TILES` that fits into 48 KiB with what the kernel declares.

    Each is first made as small as it can be without more tiles for the image.

    Args:
        dtype: Of the images.
        channels: Of a packed pixel; 1 for other layouts.
        height: Of the image.
        width: Of the image.
        taps_x: Of the kernel.
        taps_y: Of the kernel.
        op_count: How many ops the kernel applies.
    """
    item_size = 8 if dtype == "float64" else 4
    halo = _round_up_to_4(taps_x // 2)
    # At most, for `reach` of the kernel and its `ops`.
    declared_bytes = 16 + item_size * _CHANNELS_WITH_PARAMETERS * _MAX_OP_PARAMETERS * op_count
    for max_width, max_height in _BLUR_TILES:
        tile_width, tile_height = _even_tile(width, max_width), _even_tile(height, max_height)
        pitch = 16 * (channels * (tile_width + 2 * halo + 4) * item_size // 16 | 1)
        weight_bytes = item_size * (2 * halo + 4 + _round_up_to_4(taps_y))
        shared_bytes = weight_bytes + 8 * _round_up_to_4(tile_height + taps_y + 4) + tile_height * pitch
        if shared_bytes <= (48 << 10) - declared_bytes:
            break
    return Tile(tile_width, tile_height, shared_bytes)


class StripRuns(NamedTuple):
    """The blocks that make a slice in kernels/passes/gaussian_blur_u8.cu or gaussian_blur_packed.cu."""

    across: int  # strips of a row, times the planes of a slice (at most 4)
    rows: int  # of the run that a block makes: a multiple of 8
    threads: int  # of a block


def matrix_skeleton(channels: int, radius: int, are_packed: bool) -> str:
    """The name of the CUDA kernel that blurs uint8 by integer matrix products.

    In a packed row, adjacent elements of a channel are `channels` elements apart. gaussian_blur_u8 filters such rows as
    they are, so the radius in elements must not exceed `MAX_MMA_DISTANCE`.

    Args:
        channels: Of an image.
        radius: Of the horizontal filter, in pixels.
        are_packed: Whether images and result are.
    """
    return (
        "gaussian_blur_packed"
        if are_packed and channels > 1 and channels * radius > MAX_MMA_DISTANCE
        else "gaussian_blur_u8"
    )


@functools.lru_cache(4096)
def blur_strips(
    skeleton: str, frames: int, channels: int, size: tuple[int, int], are_packed: bool, multiprocessors: int
) -> StripRuns:
    """The runs of rows that minimise waves x (chunks of eight rows of a run + 5).

    A warp filters three chunks before it has a result; computing its weights costs about as much as two. `frames`: of
    all samples.
    """
    height, width = size
    planes = 1 if are_packed else channels
    block_warps, row_elements = (
        (channels, width) if skeleton == "gaussian_blur_packed" else (1, width * channels // planes)
    )
    across = -(-row_elements // _STRIP_WIDTH) * min(planes, 4)
    blocks = across * -(-planes // 4) * frames
    # `resident_warps` of kernels/gpu/blur_rows.cuh for compute capability 9.0 or higher and short chains of ops.
    resident_blocks = multiprocessors * (24 // block_warps)

    def cost(rows: int) -> tuple[int, int]:
        waves = -(-blocks * -(-height // rows) // resident_blocks)
        return waves * (rows // 8 + 5), -rows

    counts = range(1, min(height // 8 + 2, 1024))
    rows = min((_even_tile(height, -(-height // count)) for count in counts), key=cost)
    return StripRuns(across, rows, 32 * block_warps)


def _round_up_to_4(count: int) -> int:
    return -(-count // 4) * 4


def _even_tile(extent: int, max_tile: int) -> int:
    """The smallest multiple of 8 that covers the extent with as few tiles as `max_tile` does."""
    return -(-extent // -(-extent // max_tile) // 8) * 8
