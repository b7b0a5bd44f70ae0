"""JPEGs decoded by a GPU's own engine, through nvJPEG, which is optional: the only file that knows it.

The engine decodes whole images, a batch in one call, and a kernel takes boxes of them to where they are wanted: that
is faster than its decoding of regions, which has also crashed in some versions. What the engine cannot do, or fails
at, is for the CPU, whose word counts. (nvImageCodec, which calls nvJPEG too, takes Python's lock for every image: with
another thread at work it makes half as many images a second. Figures: benchmarks/log/nvjpeg.md.)
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays.protocol import Library
from .._check import BackendError
from .._gpu import cupy_import, devices, launch, streams
from .._gpu import driver as _driver
from .._host import extension as _cpu
from .._program.records import COPY_BOXES

if TYPE_CHECKING:
    from .._native import EncodedFiles

_ROWS = 32  # `cut_rows`: of a piece, that a block of the kernel moves
_TAKEN = ("444", "422", "420", "440")
_ROOM = 256 << 20  # bytes of images that are decoded at a time, but for one that is larger
_APART = 256  # bytes that images begin at multiples of
_INSTALL = 'pip install "cuaug[decode13]" (CUDA 12 drivers: "cuaug[decode12]")'
# nvjpeg.h
_HARDWARE = 3
_SMOOTH_UPSAMPLING = 1 << 5  # what libjpeg-turbo does


def takes(headers: np.ndarray) -> np.ndarray:
    """Whether the engine decodes such files as libjpeg-turbo does: baseline, in colour, and not cut short. [N]"""
    jpeg = _cpu.jpeg()
    usual = np.array([name in _TAKEN for name in jpeg.jpeg_subsamplings])[headers["subsampling"]]
    in_colour = headers["color_space"] == jpeg.jpeg_color_spaces.index("ycbcr")
    found: np.ndarray = usual & in_colour & (headers["progressive"] == 0) & (headers["complete"] == 1)
    return found


class Cuts(NamedTuple):
    """Boxes of images that the engine decodes, and where they go."""

    files: EncodedFiles
    places: np.ndarray  # of the images in `files` [N]
    sizes: np.ndarray  # of the images: H, W [N, 2]
    box: np.ndarray  # top, left, height, width [N, 4]
    target: np.ndarray  # address of the box's first pixel, and bytes from a row to the next [N, 2]

    def part(self, which: slice) -> Cuts:
        return Cuts(self.files, *(each[which] for each in self[1:]))


def engine(device: int) -> Engine:
    """That of a GPU."""
    devices.check_not_forked()
    return _engine(device)


@functools.cache
def _engine(device: int) -> Engine:
    return Engine(device)


class Engine:
    """Decodes on one GPU. Works may overlap: what one leaves idle of the engine, the other takes."""

    def __init__(self, device: int) -> None:
        self.device, self.nvjpeg = device, _nvjpeg()
        driver, handle = _driver.driver(), ctypes.c_void_p()
        with devices.use_device(device):
            functions = driver.cuCtxSetCurrent, driver.cuEventRecord, driver.cuEventSynchronize
            self.driver = *map(_driver.address, functions), devices.context()
            status = self.nvjpeg.nvjpegCreateEx(_HARDWARE, None, None, _SMOOTH_UPSAMPLING, ctypes.byref(handle))
        if status != 0:
            raise BackendError(
                f"this GPU has no engine for JPEG that nvJPEG can use (status {status}): leave out device and decoder"
            )
        self.handle = handle.value
        self.functions = tuple(
            _driver.address(getattr(self.nvjpeg, name))
            for name in ("nvjpegDecodeBatchedInitialize", "nvjpegDecodeBatched")
        )
        self._turns: list[_Turn] = []

    def begin(self, cuts: Cuts, library: Library) -> Work:
        """Begins to decode, on the device, for the library's current stream."""
        return Work(self, cuts, library)

    def take(self) -> _Turn:
        try:
            return self._turns.pop()
        except IndexError:
            return _Turn(self)

    def give(self, turn: _Turn) -> None:
        self._turns.append(turn)


class _Turn:
    """What one call has to itself: a state of nvJPEG, a stream, its end, and memory to decode into, again and again."""

    def __init__(self, engine: Engine) -> None:
        state = ctypes.c_void_p()
        status = engine.nvjpeg.nvjpegJpegStateCreate(ctypes.c_void_p(engine.handle), ctypes.byref(state))
        if status != 0:
            raise BackendError(f"nvJPEG has no room for its state (status {status}): free memory of the GPU")
        self.state, self.stream, self.done = state.value, streams.nonblocking_stream(), streams.blocking_sync_event()
        # Not at the process's end, where a thread may still decode, or CUDA may be gone.
        weakref.finalize(self, engine.nvjpeg.nvjpegJpegStateDestroy, state).atexit = False
        self.moved: Any = None  # when all has been taken away from the memory
        self.memory: Any = None

    def room(self, size: int) -> int:
        """The address of so many bytes, once what was there has been taken away."""
        if self.moved is not None:
            self.moved.synchronize()  # an engine does not wait for a stream (torchcodec#1634)
        if self.memory is None or not size <= self.memory.size <= 2 * max(size, _ROOM):
            self.memory = None
            self.memory = devices.device_memory(size + size // 4)
        return int(self.memory.ptr)


class Work:
    """Images that an engine is at."""

    def __init__(self, engine: Engine, cuts: Cuts, library: Library) -> None:
        self._engine, self._cuts, self._library = engine, cuts, library
        self._rounds = _rounds(3 * cuts.sizes[:, 0] * cuts.sizes[:, 1])
        self._round = self._begun()

    def finish(self) -> tuple[float, list[int]]:
        """When the engine was done, on `time.perf_counter`'s clock, and what it failed at."""
        done, failed = 0.0, list[int]()
        with devices.use_device(self._engine.device):
            while self._round is not None:
                first, turn, pending, pieces = self._round
                try:
                    done, missing = pending.wait()
                except RuntimeError as error:
                    raise BackendError(f"the GPU's engine failed ({error}): restart the process") from error
                failed += [first + i for i in missing]
                cut(pieces, self._library, self._engine.device)
                turn.moved = streams.record_event(self._library.stream(self._engine.device))
                self._engine.give(turn)
                self._round = self._begun()
        return done, failed

    def _begun(self) -> tuple[int, _Turn, Any, np.ndarray] | None:
        """The next round. What it needs the native thread holds too, whatever becomes of this."""
        part = next(self._rounds, None)
        if part is None:
            return None
        engine, cuts = self._engine, self._cuts.part(part)
        with devices.use_device(engine.device):
            turn = engine.take()
            images = laid_out(cuts.sizes)
            images[:, 0] += turn.room(int(images[-1, 0] + 3 * cuts.sizes[-1].prod()))
        wanted = np.empty((len(images), 3), np.int64)
        wanted[:, 0], wanted[:, 1:] = cuts.places, images
        held, known = (turn, turn.memory), (engine.handle, turn.state, turn.stream.ptr, turn.done.ptr)
        pending = _cpu.extension().nvjpeg_decode(cuts.files, wanted, held, engine.driver, engine.functions, *known)
        pending.start()
        top, left = cuts.box[:, :2].T
        address, pitch = images.T
        pieces = pieces_of(address + top * pitch + 3 * left, pitch, cuts.target, cuts.box[:, 2:])
        return part.start, turn, pending, pieces


def pieces_of(address: np.ndarray, pitch: np.ndarray, target: np.ndarray, size: np.ndarray) -> np.ndarray:
    """`cuaug::CutPiece` of each image [N, 6]: from address and pitch [N] to the target [N, 2]; sizes: H, W [N, 2]."""
    (to, step), (height, width) = target.T, size.T
    return np.array([address, to, pitch, step, height, 3 * width]).T.copy()


def cut(pieces: np.ndarray, library: Library, device: int) -> None:
    """Moves pieces of a device's memory, on the library's current stream."""
    loaded = library.load(pieces, device)
    grid = len(pieces), int(-(-pieces[:, 4].max() // _ROWS)), 1
    launch.launch(
        "cuaug::copy_boxes", COPY_BOXES.pack(library.pointer(loaded)), grid, 256, 0, device, library.stream(device)
    )


def _rounds(bytes_of: np.ndarray) -> Iterator[slice]:
    """As many images at a time as there is room for."""
    first = 0
    while first < len(bytes_of):
        fitting = int(np.searchsorted(np.cumsum(bytes_of[first:]), _ROOM, "right"))
        yield slice(first, first + max(fitting, 1))
        first += max(fitting, 1)


def laid_out(sizes: np.ndarray) -> np.ndarray:
    """Where images begin, one after the other, and bytes from row to row. [N, 2]"""
    height, width = sizes.T
    bytes_of = -(-3 * height * width // _APART) * _APART
    out = np.empty(sizes.shape, np.int64)
    out[:, 0], out[:, 1] = np.cumsum(bytes_of) - bytes_of, 3 * width
    return out


@functools.cache
def _nvjpeg() -> Any:
    cupy_import.cupy()
    try:
        # It comes with CuPy, and knows where pip, conda and CUDA's own installer put things.
        finder = importlib.import_module("cuda.pathfinder")
        return ctypes.CDLL(finder.load_nvidia_dynamic_lib("nvjpeg").abs_path)
    except (ImportError, OSError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        raise BackendError(f"decoding on a GPU needs nvJPEG, which cannot be loaded ({first}): {_INSTALL}") from error
