"""Copies boxes of decoded images within a GPU's memory: packed RGB bytes, any number of images in one launch."""

from __future__ import annotations

import numpy as np

from .._arrays.protocol import Library
from .._gpu import launch
from .._program.records import COPY_BOXES

_BLOCK_ROWS, _BLOCK_THREADS = 32, 256  # kernels/passes/copy_boxes.cu
_ALIGNMENT = 256  # bytes


def consecutive_layout(sizes: np.ndarray) -> np.ndarray:
    """Byte offsets and row pitches [N, 2] of RGB images (H, W) [N, 2] stored one after another, each aligned."""
    height, width = sizes.T
    aligned_bytes = -(-3 * height * width // _ALIGNMENT) * _ALIGNMENT
    layout = np.empty(sizes.shape, np.int64)
    layout[:, 0], layout[:, 1] = np.cumsum(aligned_bytes) - aligned_bytes, 3 * width
    return layout


def box_copies(
    source_address: np.ndarray, source_pitch: np.ndarray, destinations: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Rows of `cuaug::BoxCopy`. [N, 6]

    Args:
        source_address: Address of each box's first pixel, or its offset if the caller later adds the address of the
            memory to column 0. [N]
        source_pitch: Bytes from a row of the box to the next. [N]
        destinations: Address and pitch. [N, 2]
        sizes: H, W of the boxes. [N, 2]
    """
    (destination_address, destination_pitch), (height, width) = destinations.T, sizes.T
    return np.array([source_address, destination_address, source_pitch, destination_pitch, height, 3 * width]).T.copy()


def copy_boxes(copies: np.ndarray, library: Library, device: int) -> None:
    """Launches the copies [N, 6] on the library's current stream."""
    on_device = library.from_numpy(copies, device)
    grid = len(copies), int(-(-copies[:, 4].max() // _BLOCK_ROWS)), 1
    record = COPY_BOXES.pack(library.pointer(on_device))
    launch.launch("cuaug::copy_boxes", record, grid, _BLOCK_THREADS, 0, device, library.current_stream(device))
