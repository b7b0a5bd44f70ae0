"""JPEGs decoded by a GPU's own engine, through nvImageCodec, which is optional: the only file that imports it.

The engine decodes whole images into memory of its own, and a kernel takes boxes of them to where they are wanted: that
is faster than nvImageCodec's decoding of regions (31,500 against 19,200 images of 375x500 a second on an H200), which
has also crashed in some of its versions. What the engine cannot do, or fails at, is for the CPU, whose word counts.
"""

from __future__ import annotations

import functools
import importlib
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _array, _cuda
from ._check import BackendError

RECORD = struct.Struct("P")  # `cuaug::Cut`
_ROWS = 32  # of a piece, that a block of the kernel moves
_SAMPLINGS = ("444", "422", "420", "440")
_END = b"\xff\xd9"
_ROOM = 256 << 20  # bytes of images that are decoded at a time, but for one that is larger
_KEPT = 1 << 30  # bytes that are kept for the next time
_INSTALL = 'pip install "cuaug[decode13]" (CUDA 12 drivers: "cuaug[decode12]")'


def takes(data: bytes | memoryview, header: Sequence[Any]) -> bool:
    """Whether the engine decodes such a file as libjpeg-turbo does: baseline, in colour, and not cut short.

    `header`: height, width, channels, subsampling, colour space, progressive.
    """
    _, _, _, subsampling, space, progressive = header[:6]
    return space == "ycbcr" and not progressive and subsampling in _SAMPLINGS and bytes(data[-2:]) == _END


@functools.cache
def engine(device: int) -> Engine:
    """That of a GPU."""
    return Engine(device)


class Engine:
    """Decodes on one GPU. Calls of several threads take turns."""

    def __init__(self, device: int, threads: int = 4) -> None:
        _cuda.ready()
        codec = self._codec = _nvimgcodec()
        self.device = device
        kinds = codec.BackendKind.HW_GPU_ONLY, codec.BackendKind.HYBRID_CPU_GPU
        backends = [codec.Backend(kind) for kind in kinds]
        # Smooth upsampling of colours: what libjpeg-turbo does.
        self._decoder = codec.Decoder(device, threads, backends, ":fancy_upsampling=1")
        self._images: list[Any] = []
        self._read: Any = None  # when what was decoded last has been moved
        self._lock = threading.Lock()

    def decode(
        self, data: Sequence[bytes], boxes: np.ndarray, targets: Sequence[tuple[int, int]], library: _array.Library
    ) -> list[int]:
        """Decodes a box of each image to a place in the GPU's memory, on the library's current stream.

        Args:
            data: Files that the engine takes.
            boxes: Top, left, height, width. [N, 4]
            targets: Address of a box's first pixel, and bytes from a row to the next.
            library: Whose stream.

        Returns:
            Which could not be decoded.
        """
        failed: list[int] = []
        with self._lock, _cuda.device(self.device):
            for first, codes in self._rounds(data):
                images = self._decoded(codes, library.stream(self.device))
                places = range(first, first + len(codes))
                failed += [place for place, image in zip(places, images, strict=True) if image is None]
                good = [(place, image) for place, image in zip(places, images, strict=True) if image is not None]
                self._move([(image, boxes[place].tolist(), targets[place]) for place, image in good], library)
        return failed

    def _rounds(self, data: Sequence[bytes]) -> Iterator[tuple[int, list[Any]]]:
        """As many at a time as there is room for, and the place of the first."""
        codes: list[Any] = []
        room, first = _ROOM, 0
        for place, file in enumerate(data):
            code = self._codec.CodeStream(file)
            size = 3 * code.height * code.width
            if codes and size > room:
                yield first, codes
                codes, room, first = [], _ROOM, place
            codes.append(code)
            room -= size
        if codes:
            yield first, codes

    def _decoded(self, codes: list[Any], stream: int) -> list[Any]:
        """An image of each, or None; they are good until the next call."""
        if self._read is not None:
            self._read.synchronize()  # an engine does not wait for a stream (torchcodec#1634)
        if sum(image.capacity for image in self._images) > _KEPT:
            self._images.clear()
        kept: list[Any] = self._images[: len(codes)]
        images = self._decoder.decode(codes, images=kept + [None] * (len(codes) - len(kept)), cuda_stream=stream)
        fresh = [image for image in images[len(kept) :] if image is not None]
        self._images += fresh
        return list(images)

    def _move(self, pieces: Sequence[tuple[Any, list[int], tuple[int, int]]], library: _array.Library) -> None:
        if not pieces:
            return
        table = np.empty((len(pieces), 6), np.int64)  # of `cuaug::CutPiece`
        for row, (image, (top, left, height, width), (address, pitch)) in zip(table, pieces, strict=True):
            found = image.__cuda_array_interface__
            own = 3 * found["shape"][1]
            row[:] = found["data"][0] + top * own + 3 * left, address, own, pitch, height, 3 * width
        loaded = library.load(table, self.device)
        grid = len(pieces), int(-(-table[:, 4].max() // _ROWS)), 1
        library.launch("cuaug::cut", RECORD.pack(library.pointer(loaded)), grid, 256, 0, self.device)
        self._read = _cuda.event(library.stream(self.device))


@functools.cache
def _nvimgcodec() -> Any:
    try:
        return importlib.import_module("nvidia.nvimgcodec")
    except ImportError as error:
        raise BackendError(f"decoding on a GPU needs nvImageCodec ({error}): {_INSTALL}") from error
