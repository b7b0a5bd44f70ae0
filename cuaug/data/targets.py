"""Where a loader's batches are made and handed over: NumPy arrays, torch tensors on the CPU, or on a GPU."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any

import numpy as np

from .. import _check
from .._arrays.registry import library_of
from .._check import BackendError
from .._codecs import nvjpeg as _engine
from .._codecs.copy_boxes import copy_boxes
from .._gpu import cupy_import, devices, streams
from .._host import buffer_pool as _memory
from .decoding import Slots
from .work_splitter import Decoders, OnWay

DECODERS = ("cpu", "hybrid")


class NumPyPlace:
    """Channels-last arrays."""

    layout = "NHWC"
    ahead = 0  # batches that are begun before one is finished

    def another(self) -> NumPyPlace:
        """For another iteration, which may run beside this one's."""
        return type(self)()

    def begin(self, slots: Slots) -> OnWay | None:
        """What can be done about a batch while the one before is being decoded."""
        return None

    def finish(self, slots: Slots, on_way: OnWay | None) -> list[Any]:
        """What is decoded, each group of slots as the library's images."""
        memory = _memory.allocate(slots.size)
        slots.begin(memory)()
        return [self._images(group) for group in slots.of(memory)]

    def _images(self, slots: np.ndarray) -> Any:
        return slots

    def labels(self, labels: np.ndarray) -> Any:
        return labels

    def without_margin(self, images: Any, down: int, across: int) -> Any:
        """The images without so many rows and columns on each side."""
        return images[:, down : images.shape[1] - down, across : images.shape[2] - across]

    def dense(self, images: Any) -> Any:
        """Without the margin's memory between them."""
        return np.ascontiguousarray(images)

    def joined(self, batches: list[Any]) -> Any:
        return np.concatenate(batches)

    def stacked(self, images: list[Any]) -> Any:
        return np.stack(images) if images else np.empty((0, 1, 1, 3), np.uint8)

    def making(self) -> contextlib.AbstractContextManager[Any]:
        """Around all that is done to a batch before it is handed over."""
        return contextlib.nullcontext()

    def made(self) -> Any:
        """What `receive` waits for."""

    def receive(self, arrays: tuple[Any, Any], made: Any) -> tuple[Any, Any]:
        """Images and labels, for whoever takes them and calls this."""
        return arrays


class TorchPlace(NumPyPlace):
    """Channels-first tensors, whose memory is channels-last."""

    layout = "NCHW"

    @property
    def torch(self) -> Any:
        """Looked up, not kept: modules do not go to worker processes."""
        return importlib.import_module("torch")

    def _images(self, slots: np.ndarray) -> Any:
        return self.torch.from_numpy(slots).permute(0, 3, 1, 2)

    def labels(self, labels: np.ndarray) -> Any:
        return self.torch.from_numpy(labels)

    def without_margin(self, images: Any, down: int, across: int) -> Any:
        return images[..., down : images.shape[2] - down, across : images.shape[3] - across]

    def dense(self, images: Any) -> Any:
        return images.contiguous(memory_format=self.torch.channels_last)

    def joined(self, batches: list[Any]) -> Any:
        return self.torch.cat(batches)

    def stacked(self, images: list[Any]) -> Any:
        return self.torch.stack(images) if images else self._images(super().stacked(images))


class _PinnedBlocks:
    """Memory to copy to a GPU from, the same again and again: to allocate it stops all threads for milliseconds."""

    def __init__(self, torch: Any, stream: Any) -> None:
        self._torch, self._stream = torch, stream
        self._blocks: list[tuple[Any, Any]] = []  # and when they may be written to

    def take(self, size: int) -> Any:
        memory, copied = self._blocks.pop(0) if self._blocks else (None, None)
        if copied is not None:
            copied.synchronize()
        if memory is None or memory.numel() < size:
            memory = self._torch.empty(size + size // 2, dtype=self._torch.uint8, pin_memory=True)
        return memory[:size]

    def send(self, memory: Any, pieces: np.ndarray) -> None:
        there = memory.to(self._stream.device, non_blocking=True)
        whole = memory._base if memory._base is not None else memory
        self._blocks.append((whole, self._stream.record_event()))
        if len(pieces):
            library = library_of(type(there))
            assert library is not None
            pieces[:, 0] += there.data_ptr()
            copy_boxes(pieces, library, self._stream.device.index)


class CudaPlace(TorchPlace):
    """As `TorchPlace`, on a GPU: copied from pinned memory, and made, on a stream beside the caller's."""

    ahead = 2

    def __init__(self, device: Any, decoders: Decoders) -> None:
        self.device, self._decoders = device, decoders
        self._stream = self.torch.cuda.Stream(self.device)
        self._pinned = _PinnedBlocks(self.torch, self._stream)

    def another(self) -> NumPyPlace:
        return type(self)(self.device, self._decoders)

    def begin(self, slots: Slots) -> OnWay | None:
        memory = self.torch.empty(slots.size, dtype=self.torch.uint8, device=self.device)
        return OnWay(self._decoders, slots, memory, self._pinned)

    def finish(self, slots: Slots, on_way: OnWay | None) -> list[Any]:
        assert on_way is not None
        return [group.permute(0, 3, 1, 2) for group in slots.of(on_way.finish())]

    def _images(self, slots: np.ndarray) -> Any:
        return super()._images(slots).to(self.device)

    def labels(self, labels: np.ndarray) -> Any:
        return super().labels(labels).pin_memory().to(self.device, non_blocking=True)

    def making(self) -> contextlib.AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        stack.enter_context(self.torch.cuda.device(self.device))
        stack.enter_context(self.torch.cuda.stream(self._stream))
        return stack

    def made(self) -> Any:
        return self._stream.record_event()

    def receive(self, arrays: tuple[Any, Any], made: Any) -> tuple[Any, Any]:
        stream = self._taker()
        stream.wait_event(made)
        for array in arrays:
            if array is not None:
                array.record_stream(stream)
        return arrays

    def _taker(self) -> Any:
        """The stream of whoever takes the arrays."""
        return self.torch.cuda.current_stream(self.device)


# torch asks the stream on which a batch was used when that batch goes, which may be after the user's stream went.
_streams: dict[int, Any] = {}


class CuPyPlace(CudaPlace):
    """As `CudaPlace`, for CuPy: channels-last arrays, on CuPy's current stream, of memory that is torch's."""

    def receive(self, arrays: tuple[Any, Any], made: Any) -> tuple[Any, Any]:
        with devices.use_device(self.device.index):
            images, labels = super().receive(arrays, made)
            images = cupy_import.from_dlpack(images.permute(0, 2, 3, 1))
            return images, None if labels is None else cupy_import.from_dlpack(labels)

    def _taker(self) -> Any:
        stream = streams.current_stream()
        if stream.ptr in (0, 1):  # as an external stream, torch takes 0 for a new one (pytorch#182960)
            return self.torch.cuda.default_stream(self.device)
        _streams[stream.ptr] = stream
        return self.torch.cuda.ExternalStream(stream.ptr, self.device)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise BackendError(f"a loader for a GPU needs torch ({error}): pip install torch") from error


def _torch_device(torch: Any, device: Any) -> Any:
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        found = None
    if found is None or found.type != "cuda":
        raise ValueError(f"device must be 'cpu', or a GPU such as 'cuda' or 'cuda:1', got {device!r}")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (found.index or 0) >= count:
        raise BackendError(
            f"device {str(device)!r} needs a GPU that torch can use, and it finds {count}: "
            "pass device='cpu', or install torch for CUDA"
        )
    return found if found.index is not None else torch.device("cuda", torch.cuda.current_device())


def place_of(device: Any, library: str | None, decoder: str) -> NumPyPlace:
    """`device`: "cpu" or a GPU's name; `library`: its results, by name, or None: torch if it has been imported."""
    _check.one_of("library", library, (None, "torch", "numpy", "cupy"))
    _check.one_of("decoder", decoder, DECODERS)
    if str(device) != "cpu":
        if library == "numpy":
            raise ValueError(f"library must be 'torch' or 'cupy' for device {str(device)!r}, got 'numpy'")
        found = _torch_device(_torch(), device)
        if library == "cupy":
            cupy_import.cupy()
        place = CuPyPlace if library == "cupy" else CudaPlace
        return place(found, Decoders(_engine.engine(found.index) if decoder == "hybrid" else None))
    if library == "cupy":
        raise ValueError("device must be a GPU for library 'cupy', got 'cpu'")
    if decoder != "cpu":
        raise ValueError(f"decoder must be 'cpu' for device 'cpu', got {decoder!r}")
    if library is None:
        library = "torch" if "torch" in sys.modules else "numpy"
    return TorchPlace() if library == "torch" else NumPyPlace()
