"""JPEG decoding by the GPU's hardware engine, through nvJPEG, which is optional. No other module calls nvJPEG.

The engine decodes whole images, a batch per call. A kernel then copies the requested boxes to their destinations: this
is faster than nvJPEG's own decoding of regions, which also crashed in some versions. Images that the engine does not
support, or fails to decode, are left to the CPU, which decides whether a file is damaged. (nvImageCodec calls nvJPEG,
too, but takes the GIL for every image, so that other Python threads slow it down: benchmarks/log/nvjpeg.md.)
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
from .._gpu import cupy_import, devices, driver, streams
from .._host import extension
from .._host.installation import install_per_driver
from .copy_boxes import box_copies, consecutive_layout, copy_boxes

if TYPE_CHECKING:
    from .._native import BackgroundTask, EncodedFiles

_SUBSAMPLINGS = ("444", "422", "420", "440")  # those that the engine decodes
_CHUNK_BYTES = 256 << 20  # of decoded images in one call of nvJPEG, unless a single image is larger
# nvjpeg.h
_NVJPEG_BACKEND_HARDWARE = 3
_NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION = 1 << 5  # as libjpeg-turbo upsamples


def can_decode(headers: np.ndarray) -> np.ndarray:
    """Whether the engine decodes files of these headers like libjpeg-turbo: complete baseline YCbCr files. [N]"""
    jpeg = extension.jpeg_extension()
    supported = np.array([name in _SUBSAMPLINGS for name in jpeg.jpeg_subsamplings])[headers["subsampling"]]
    is_ycbcr = headers["color_space"] == jpeg.jpeg_color_spaces.index("ycbcr")
    decodable: np.ndarray = supported & is_ycbcr & (headers["progressive"] == 0) & (headers["complete"] == 1)
    return decodable


class DecodeRequest(NamedTuple):
    """Boxes of images to decode, and where their pixels go."""

    files: EncodedFiles
    indices: np.ndarray  # of the images in `files` [N]
    sizes: np.ndarray  # H, W of the whole images [N, 2]
    boxes: np.ndarray  # top, left, height, width [N, 4]
    destinations: np.ndarray  # address of the box's first pixel, bytes from a row to the next [N, 2]

    def select(self, rows: slice) -> DecodeRequest:
        return DecodeRequest(self.files, *(column[rows] for column in self[1:]))


def engine(device: int) -> Engine:
    """The engine of a GPU."""
    devices.check_not_forked()
    return _engine(device)


@functools.cache
def _engine(device: int) -> Engine:
    return Engine(device)


class Engine:
    """Decodes on one GPU. Requests may overlap: each call of nvJPEG has a context of its own."""

    def __init__(self, device: int) -> None:
        self.device: int = device
        self.nvjpeg: Any = _nvjpeg()
        cuda, handle = driver.driver(), ctypes.c_void_p()
        with devices.use_device(device):
            functions = cuda.cuCtxSetCurrent, cuda.cuEventRecord, cuda.cuEventSynchronize
            self.driver_addresses: tuple[int, ...] = *map(driver.function_address, functions), devices.current_context()
            status = self.nvjpeg.nvjpegCreateEx(
                _NVJPEG_BACKEND_HARDWARE,
                None,
                None,
                _NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION,
                ctypes.byref(handle),
            )
        if status != 0:
            raise BackendError(
                f"this GPU has no engine for JPEG that nvJPEG can use (status {status}): omit device and decoder"
            )
        self.handle: int | None = handle.value
        self.nvjpeg_addresses: tuple[int, ...] = tuple(
            driver.function_address(getattr(self.nvjpeg, name))
            for name in ("nvjpegDecodeBatchedInitialize", "nvjpegDecodeBatched")
        )
        self._idle_contexts: list[_DecodeContext] = []

    def begin(self, request: DecodeRequest, library: Library) -> PendingDecode:
        """Starts to decode; the copies will go to the library's current stream."""
        return PendingDecode(self, request, library)

    def acquire_context(self) -> _DecodeContext:
        try:
            return self._idle_contexts.pop()
        except IndexError:
            return _DecodeContext(self)

    def release_context(self, context: _DecodeContext) -> None:
        self._idle_contexts.append(context)


class _DecodeContext:
    """State, stream, event and memory of one nvJPEG call. A later call may reuse them, but no two calls at a time."""

    def __init__(self, engine: Engine) -> None:
        state = ctypes.c_void_p()
        status = engine.nvjpeg.nvjpegJpegStateCreate(ctypes.c_void_p(engine.handle), ctypes.byref(state))
        if status != 0:
            raise BackendError(f"nvJPEG cannot allocate its state (status {status}): free memory of the GPU")
        self.state: int | None = state.value
        self.stream: Any = streams.nonblocking_stream()
        self.event: Any = streams.blocking_sync_event()
        # Do not destroy the state when the process ends: a thread may still decode, or CUDA may be unloaded.
        weakref.finalize(self, engine.nvjpeg.nvjpegJpegStateDestroy, state).atexit = False
        self.copy_event: Any = None  # recorded after the last copy out of `memory`
        self.memory: Any = None

    def reserve(self, size: int) -> int:
        """The address of `size` bytes, once all earlier images have been copied out of the memory."""
        if self.copy_event is not None:
            self.copy_event.synchronize()  # the engine does not wait for a stream (torchcodec#1634)
        if self.memory is None or not size <= self.memory.size <= 2 * max(size, _CHUNK_BYTES):
            self.memory = None
            self.memory = devices.device_memory(size + size // 4)
        return int(self.memory.ptr)


class _Chunk(NamedTuple):
    """Images of one call of nvJPEG."""

    first_row: int  # of the request
    context: _DecodeContext
    task: BackgroundTask
    copies: np.ndarray  # rows of `cuaug::BoxCopy` [N, 6]


class PendingDecode:
    """A request that is being decoded, chunk by chunk."""

    def __init__(self, engine: Engine, request: DecodeRequest, library: Library) -> None:
        self._engine, self._request, self._library = engine, request, library
        self._slices = _split_by_memory(3 * request.sizes[:, 0] * request.sizes[:, 1])
        self._chunk = self._begin_chunk()

    def finish(self) -> tuple[float, list[int]]:
        """The time at which the engine finished, by `time.perf_counter`, and the rows that it failed to decode."""
        end, failed = 0.0, list[int]()
        with devices.use_device(self._engine.device):
            while self._chunk is not None:
                first_row, context, task, copies = self._chunk
                try:
                    end, failed_rows = task.wait()
                except RuntimeError as error:
                    raise BackendError(f"the GPU's engine failed ({error}): restart the process") from error
                failed += [first_row + row for row in failed_rows]
                copy_boxes(copies, self._library, self._engine.device)
                context.copy_event = streams.record_event(self._library.current_stream(self._engine.device))
                self._engine.release_context(context)
                self._chunk = self._begin_chunk()
        return end, failed

    def _begin_chunk(self) -> _Chunk | None:
        """Starts the next chunk. Its task keeps the files and the memory alive even if this object is deleted."""
        rows = next(self._slices, None)
        if rows is None:
            return None
        engine, request = self._engine, self._request.select(rows)
        with devices.use_device(engine.device):
            context = engine.acquire_context()
            layout = consecutive_layout(request.sizes)
            layout[:, 0] += context.reserve(int(layout[-1, 0] + 3 * request.sizes[-1].prod()))
        images = np.empty((len(layout), 3), np.int64)  # rows of the extension's `NvjpegImage`
        images[:, 0], images[:, 1:] = request.indices, layout
        task = extension.extension().nvjpeg_decode(
            request.files,
            images,
            (context, context.memory),
            engine.driver_addresses,
            engine.nvjpeg_addresses,
            engine.handle,
            context.state,
            context.stream.ptr,
            context.event.ptr,
        )
        task.start()
        top, left = request.boxes[:, :2].T
        address, pitch = layout.T
        copies = box_copies(address + top * pitch + 3 * left, pitch, request.destinations, request.boxes[:, 2:])
        return _Chunk(rows.start, context, task, copies)


def _split_by_memory(image_bytes: np.ndarray) -> Iterator[slice]:
    """Slices of consecutive images that take at most `_CHUNK_BYTES`, or of one larger image."""
    first = 0
    while first < len(image_bytes):
        count = int(np.searchsorted(np.cumsum(image_bytes[first:]), _CHUNK_BYTES, "right"))
        yield slice(first, first + max(count, 1))
        first += max(count, 1)


@functools.cache
def _nvjpeg() -> Any:
    cupy_import.cupy()
    try:
        # cuda.pathfinder is installed with CuPy and knows the directories of pip, conda and CUDA's installer.
        pathfinder = importlib.import_module("cuda.pathfinder")
        return ctypes.CDLL(pathfinder.load_nvidia_dynamic_lib("nvjpeg").abs_path)
    except (ImportError, OSError, RuntimeError) as error:
        line = str(error).partition("\n")[0]
        raise BackendError(
            f"decoding on a GPU needs nvJPEG, which cannot be loaded ({line}): {install_per_driver('decode')}"
        ) from error
