"""JPEGs decoded by a GPU's own engine, through nvImageCodec, which is optional: the only file that imports it.

The engine decodes whole images into memory of its own, and a kernel takes boxes of them to where they are wanted: that
is faster than nvImageCodec's decoding of regions (31,500 against 19,200 images of 375x500 a second on an H200), which
has also crashed in some of its versions. What the engine cannot do, or fails at, is for the CPU, whose word counts.
"""

from __future__ import annotations

import functools
import importlib
import queue
import struct
import threading
import time
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


class _Memory:
    """Images that are decoded into, again and again."""

    def __init__(self) -> None:
        self.images: list[Any] = []
        self.read: Any = None  # when what they held has been moved away

    def ready(self, count: int) -> list[Any]:
        """An image or None for each of so many."""
        if self.read is not None:
            self.read.synchronize()  # an engine does not wait for a stream (torchcodec#1634)
        if sum(image.capacity for image in self.images) > _KEPT:
            self.images.clear()
        kept = self.images[:count]
        return kept + [None] * (count - len(kept))


class Engine:
    """Decodes on one GPU. Calls of several threads take turns at the engine alone."""

    def __init__(self, device: int, threads: int = 4) -> None:
        _cuda.ready()
        self.device, self._codec = device, _nvimgcodec()
        self._decoder = self._made(threads)
        self._lock = threading.Lock()
        self._memories: queue.SimpleQueue[_Memory] = queue.SimpleQueue()
        for _ in range(2):  # what one holds is moved away while the other is decoded into
            self._memories.put(_Memory())

    def _made(self, threads: int) -> Any:
        """A decoder by the engine, or on a GPU that has none, by its kernels and the CPU."""
        codec, error = self._codec, None
        for kind in codec.BackendKind.HW_GPU_ONLY, codec.BackendKind.HYBRID_CPU_GPU:
            # Else the first batch says how many images of a later one go to the engine.
            backend = codec.Backend(kind, load_hint=1.0, load_hint_policy=codec.LoadHintPolicy.IGNORE)
            try:
                # Smooth upsampling of colours: what libjpeg-turbo does.
                return codec.Decoder(self.device, threads, [backend], ":fancy_upsampling=1")
            except RuntimeError as raised:
                error = raised
        raise BackendError(f"nvImageCodec decodes no JPEGs on this GPU ({error}): leave out device") from error

    def decode(
        self, data: Sequence[bytes], boxes: np.ndarray, targets: Sequence[tuple[int, int]], library: _array.Library
    ) -> tuple[list[int], float]:
        """Decodes a box of each image to a place in the GPU's memory, on the library's current stream.

        Args:
            data: Files that the engine takes.
            boxes: Top, left, height, width. [N, 4]
            targets: Address of a box's first pixel, and bytes from a row to the next.
            library: Whose stream.

        Returns:
            Which could not be decoded, and the seconds that the engine has worked.
        """
        done: set[int] = set()
        seconds = 0.0
        with _cuda.device(self.device):
            for places, codes in self._rounds(data):
                memory = self._memories.get()
                try:
                    images, spent = self._decoded(codes, memory, library)
                    seconds += spent
                    good = [(image, place) for place, image in zip(places, images, strict=True) if image is not None]
                    self._move([(image, boxes[place].tolist(), targets[place]) for image, place in good], library)
                    memory.read = _cuda.event(library.stream(self.device))
                finally:
                    self._memories.put(memory)
                done |= {place for _, place in good}
        return sorted({*range(len(data))} - done), seconds

    def _rounds(self, data: Sequence[bytes]) -> Iterator[tuple[list[int], list[Any]]]:
        """As many at a time as there is room for, and their places; without what is no JPEG to nvImageCodec."""
        codes: list[Any] = []
        places: list[int] = []
        room = _ROOM
        for place, file in enumerate(data):
            try:
                code = self._codec.CodeStream(file)
                size = 3 * code.height * code.width
            except RuntimeError:
                continue
            if codes and size > room:
                yield places, codes
                places, codes, room = [], [], _ROOM
            places.append(place)
            codes.append(code)
            room -= size
        if codes:
            yield places, codes

    def _decoded(self, codes: list[Any], memory: _Memory, library: _array.Library) -> tuple[list[Any], float]:
        """An image of each, or None, and the seconds that took."""
        images = memory.ready(len(codes))
        with self._lock:
            start = time.perf_counter()
            found = self._decoder.decode(codes, images=images, cuda_stream=library.stream(self.device))
            seconds = time.perf_counter() - start
        kept = sum(image is not None for image in images)
        memory.images += [image for image in found[kept:] if image is not None]
        return found, seconds

    def _move(self, pieces: Sequence[tuple[Any, list[int], tuple[int, int]]], library: _array.Library) -> None:
        if not pieces:
            return
        rows = []  # of `cuaug::CutPiece`
        for image, (top, left, height, width), (address, pitch) in pieces:
            found = image.__cuda_array_interface__
            own = 3 * found["shape"][1]
            rows.append((found["data"][0] + top * own + 3 * left, address, own, pitch, height, 3 * width))
        table = np.array(rows, np.int64)
        loaded = library.load(table, self.device)
        grid = len(pieces), int(-(-table[:, 4].max() // _ROWS)), 1
        library.launch("cuaug::cut", RECORD.pack(library.pointer(loaded)), grid, 256, 0, self.device)


@functools.cache
def _nvimgcodec() -> Any:
    try:
        return importlib.import_module("nvidia.nvimgcodec")
    except ImportError as error:
        raise BackendError(f"decoding on a GPU needs nvImageCodec ({error}): {_INSTALL}") from error
