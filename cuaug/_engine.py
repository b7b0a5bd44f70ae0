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
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _array, _cpu, _cuda
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

    def __init__(self, state: int) -> None:
        self.state = state
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
    """Decodes on one GPU. Calls may overlap: what one leaves idle of the engine, the other takes."""

    def __init__(self, device: int) -> None:
        _cuda.ready()
        self.device, self._nvjpeg = device, _nvjpeg()
        self._free: list[_Turn] = []
        with _cuda.device(device):
            self._handle = self._made()
            self._context = _address(ctypes.CDLL("libcuda.so.1").cuCtxSetCurrent), _cuda.context()
        self._functions = tuple(
            _address(getattr(self._nvjpeg, name)) for name in ("nvjpegDecodeBatchedInitialize", "nvjpegDecodeBatched")
        )

    def begin(
        self,
        data: Sequence[bytes],
        sizes: np.ndarray,
        boxes: np.ndarray,
        targets: np.ndarray,
        library: _array.Library,
    ) -> Work:
        """Decodes a box of each image to a place in the GPU's memory, on the library's current stream.

        Args:
            data: Files that the engine takes.
            sizes: (H, W). [N, 2]
            boxes: Top, left, height, width. [N, 4]
            targets: Address of a box's first pixel, and bytes from a row to the next. [N, 2]
            library: Whose stream.
        """
        return Work(self, data, sizes, boxes, targets, library)

    def call(self, turn: _Turn, data: Sequence[bytes], images: np.ndarray, stream: int) -> Any:
        """Sets it to work: addresses, and bytes from row to row. [N, 2]"""
        return _cpu.native().engine_begin(
            list(data), images.tolist(), self._context, self._functions, self._handle, turn.state, stream
        )

    def take(self) -> _Turn:
        try:
            return self._free.pop()
        except IndexError:
            return _Turn(self._state())

    def give(self, turn: _Turn) -> None:
        self._free.append(turn)

    def _made(self) -> Any:
        """A handle of nvJPEG: by the engine, or on a GPU that has none, by kernels and the CPU."""
        handle = ctypes.c_void_p()
        for backend in (_HARDWARE, _DEFAULT):
            status = self._nvjpeg.nvjpegCreateEx(backend, None, None, _SMOOTH_UPSAMPLING, ctypes.byref(handle))
            if status == 0:
                return handle.value
        raise BackendError(f"nvJPEG cannot be used on this GPU (status {status}): leave out device and decoder")

    def _state(self) -> Any:
        state = ctypes.c_void_p()
        status = self._nvjpeg.nvjpegJpegStateCreate(ctypes.c_void_p(self._handle), ctypes.byref(state))
        if status != 0:
            raise BackendError(f"nvJPEG has no room for its state (status {status}): free memory of the GPU")
        return state.value


class Work:
    """Images that an engine is at."""

    def __init__(
        self,
        engine: Engine,
        data: Sequence[bytes],
        sizes: np.ndarray,
        boxes: np.ndarray,
        targets: np.ndarray,
        library: _array.Library,
    ) -> None:
        self._engine, self._library = engine, library
        self._data, self._sizes, self._boxes, self._targets = data, sizes, boxes, targets
        self._rounds = _rounds(3 * sizes.prod(1))
        self._round = self._begun()

    def finish(self) -> tuple[float, list[int]]:
        """When the engine was done, on `time.perf_counter`'s clock, and what it failed at."""
        done, failed = 0.0, list[int]()
        with _cuda.device(self._engine.device):
            while self._round is not None:
                part, turn, images, pending = self._round
                done, missing = pending.wait()
                failed += [part.start + i for i in missing]
                self._move(part, images)
                turn.moved = _cuda.event(self._library.stream(self._engine.device))
                self._engine.give(turn)
                self._round = self._begun()
        return done, failed

    def _begun(self) -> tuple[slice, _Turn, np.ndarray, Any] | None:
        """The next round."""
        part = next(self._rounds, None)
        if part is None:
            return None
        with _cuda.device(self._engine.device):
            turn, sizes = self._engine.take(), self._sizes[part]
            images = _laid_out(sizes)
            images[:, 0] += turn.memory(int(images[-1, 0] + 3 * sizes[-1].prod()))
            stream = self._library.stream(self._engine.device)
            return part, turn, images, self._engine.call(turn, self._data[part], images, stream)

    def _move(self, part: slice, images: np.ndarray) -> None:
        top, left, height, width = self._boxes[part].T
        (address, pitch), (target, step) = images.T, self._targets[part].T
        pieces = np.stack([address + top * pitch + 3 * left, target, pitch, step, height, 3 * width], 1)
        loaded = self._library.load(pieces, self._engine.device)  # of `cuaug::CutPiece`
        grid, data = (len(pieces), int(-(-height.max() // _ROWS)), 1), RECORD.pack(self._library.pointer(loaded))
        self._library.launch("cuaug::cut", data, grid, 256, 0, self._engine.device)


def _address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found
    return found


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
