"""JPEGs decoded by a GPU's own engine, through nvJPEG, which is optional: the only file that calls it.

The engine decodes whole images, a batch in one call, and a kernel takes boxes of them to where they are wanted: that
is faster than its decoding of regions, which has also crashed in some versions. What the engine cannot do, or fails
at, is for the CPU, whose word counts. (nvImageCodec, which calls nvJPEG too, takes Python's lock for every image: with
another thread at work it makes half as many images a second. benchmarks/NOTES.md has the numbers.)
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import queue
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _array, _cuda
from ._check import BackendError

RECORD = struct.Struct("P")  # `cuaug::Cut`
_ROWS = 32  # of a piece, that a block of the kernel moves
_TAKEN = {(sampling, "ycbcr", False) for sampling in ("444", "422", "420", "440")}
_END = b"\xff\xd9"
_ROOM = 256 << 20  # bytes of images that are decoded at a time, but for one that is larger
_APART = 256  # bytes that images begin at multiples of
_INSTALL = 'pip install "cuaug[decode13]" (CUDA 12 drivers: "cuaug[decode12]")'
# nvjpeg.h
_HARDWARE, _DEFAULT = 3, 0
_INTERLEAVED_RGB = 5
_SMOOTH_UPSAMPLING = 1 << 5  # what libjpeg-turbo does


def takes(data: bytes | memoryview, header: Sequence[Any]) -> bool:
    """Whether the engine decodes such a file as libjpeg-turbo does: baseline, in colour, and not cut short.

    `header`: height, width, channels, subsampling, colour space, progressive.
    """
    return tuple(header[3:6]) in _TAKEN and bytes(data[-2:]) == _END


@functools.cache
def engine(device: int) -> Engine:
    """That of a GPU."""
    return Engine(device)


class _Turn:
    """What one call has to itself: a state of nvJPEG, and memory to decode into, again and again."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.data: Sequence[bytes] = ()  # what is being decoded
        self.moved: Any = None  # when all has been taken away from the memory
        self._memory: Any = None

    def memory(self, size: int) -> int:
        """The address of so many bytes, once what they held is not needed any more."""
        if self.moved is not None:
            self.moved.synchronize()  # an engine does not wait for a stream (torchcodec#1634)
        if self._memory is None or not size <= self._memory.mem.size <= 2 * max(size, _ROOM):
            self._memory = None
            self._memory = _cuda.cupy().cuda.alloc(size)
        return int(self._memory.ptr)


class Engine:
    """Decodes on one GPU, two calls at a time: what one leaves idle of the engine, the other takes."""

    def __init__(self, device: int) -> None:
        _cuda.ready()
        self.device, self._nvjpeg = device, _nvjpeg()
        self._turns: queue.SimpleQueue[_Turn] = queue.SimpleQueue()
        with _cuda.device(device):
            self._handle = self._made()
            for _ in range(2):
                self._turns.put(_Turn(self._state()))

    def decode(
        self,
        data: Sequence[bytes],
        sizes: np.ndarray,
        boxes: np.ndarray,
        targets: np.ndarray,
        library: _array.Library,
    ) -> list[int]:
        """Decodes a box of each image to a place in the GPU's memory, on the library's current stream.

        Args:
            data: Files that the engine takes.
            sizes: (H, W). [N, 2]
            boxes: Top, left, height, width. [N, 4]
            targets: Address of a box's first pixel, and bytes from a row to the next. [N, 2]
            library: Whose stream.

        Returns:
            Which could not be decoded.
        """
        failed: list[int] = []
        with _cuda.device(self.device):
            for part in _rounds(3 * sizes.prod(1)):
                turn = self._turns.get()
                try:
                    images = _laid_out(sizes[part])
                    images[:, 0] += turn.memory(int(images[-1, 0] + 3 * sizes[part][-1].prod()))
                    turn.data = data[part]
                    stream = library.stream(self.device)
                    failed += [part.start + i for i in self._decoded(turn.state, turn.data, images, stream)]
                    self._move(images, boxes[part], targets[part], library)
                    turn.moved = _cuda.event(stream)
                finally:
                    self._turns.put(turn)
        return failed

    def _decoded(self, state: Any, data: Sequence[bytes], images: np.ndarray, stream: int) -> list[int]:
        """Decodes images to addresses, with bytes from row to row [N, 2]: those that it fails at.

        One that fails takes all others of a call with it; so what fails is divided, until it is found.
        """
        if self._call(state, data, images, stream):
            return []
        if len(data) == 1:
            return [0]
        half = len(data) // 2
        later = self._decoded(state, data[half:], images[half:], stream)
        return self._decoded(state, data[:half], images[:half], stream) + [half + i for i in later]

    def _call(self, state: Any, data: Sequence[bytes], images: np.ndarray, stream: int) -> bool:
        count = len(data)
        files = (ctypes.c_char_p * count)(*data)
        lengths = (ctypes.c_size_t * count)(*map(len, data))
        planes = np.zeros((count, 8), np.uint64)  # nvjpegImage_t: four addresses, four pitches
        planes[:, (0, 4)] = images
        known = self._handle, state
        if self._nvjpeg.nvjpegDecodeBatchedInitialize(*known, count, 1, _INTERLEAVED_RGB):
            return False
        status = self._nvjpeg.nvjpegDecodeBatched(
            *known, files, lengths, ctypes.c_void_p(planes.ctypes.data), ctypes.c_void_p(stream)
        )
        return bool(status == 0)

    def _move(self, images: np.ndarray, boxes: np.ndarray, targets: np.ndarray, library: _array.Library) -> None:
        top, left, height, width = boxes.T
        (address, pitch), (target, step) = images.T, targets.T
        pieces = np.stack([address + top * pitch + 3 * left, target, pitch, step, height, 3 * width], 1)
        loaded = library.load(pieces, self.device)  # of `cuaug::CutPiece`
        grid = len(pieces), int(-(-height.max() // _ROWS)), 1
        library.launch("cuaug::cut", RECORD.pack(library.pointer(loaded)), grid, 256, 0, self.device)

    def _made(self) -> Any:
        """A handle of nvJPEG: by the engine, or on a GPU that has none, by kernels and the CPU."""
        handle = ctypes.c_void_p()
        for backend in (_HARDWARE, _DEFAULT):
            status = self._nvjpeg.nvjpegCreateEx(backend, None, None, _SMOOTH_UPSAMPLING, ctypes.byref(handle))
            if status == 0:
                return handle
        raise BackendError(f"nvJPEG cannot be used on this GPU (status {status}): leave out device and decoder")

    def _state(self) -> Any:
        state = ctypes.c_void_p()
        status = self._nvjpeg.nvjpegJpegStateCreate(self._handle, ctypes.byref(state))
        if status != 0:
            raise BackendError(f"nvJPEG has no room for its state (status {status}): free memory of the GPU")
        return state


def _rounds(sizes: np.ndarray) -> Iterator[slice]:
    """As many images at a time as there is room for."""
    first = 0
    while first < len(sizes):
        fitting = int(np.searchsorted(np.cumsum(sizes[first:]), _ROOM, "right"))
        yield slice(first, first + max(fitting, 1))
        first += max(fitting, 1)


def _laid_out(sizes: np.ndarray) -> np.ndarray:
    """Where images begin, one after the other, and bytes from row to row. [N, 2]"""
    ends = np.cumsum(-(-3 * sizes.prod(1) // _APART) * _APART)
    return np.stack([np.concatenate([[0], ends[:-1]]), 3 * sizes[:, 1]], 1).astype(np.int64)


@functools.cache
def _nvjpeg() -> Any:
    _cuda.cupy()
    try:
        # It comes with CuPy, and knows where pip, conda and CUDA's own installer put things.
        finder = importlib.import_module("cuda.pathfinder")
        return ctypes.CDLL(finder.load_nvidia_dynamic_lib("nvjpeg").abs_path)
    except (ImportError, OSError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        raise BackendError(f"decoding on a GPU needs nvJPEG, which cannot be loaded ({first}): {_INSTALL}") from error
