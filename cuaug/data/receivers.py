"""Receivers: the library and device of a loader's batches, and how a finished batch reaches its consumer."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _check
from .._arrays.registry import library_of
from .._check import BackendError
from .._codecs import nvjpeg
from .._codecs.copy_boxes import copy_boxes
from .._gpu import cupy_import, devices, streams
from .._host import buffer_pool
from .._value_text import value_text
from ..typing import Layout
from .decoding import SlotLayout
from .work_splitter import InFlightBatch, WorkSplitter

DECODERS = ("cpu", "hybrid")


class NumPyReceiver:
    """Channels-last NumPy arrays; the base of the other receivers."""

    layout: Layout = "NHWC"
    batches_in_flight = 0  # how many later batches may start to decode before a batch is finished

    def new_iteration(self) -> NumPyReceiver:
        """A receiver for another iteration, which may run at the same time."""
        return type(self)()

    def start_decode(self, slots: SlotLayout) -> InFlightBatch | None:
        """Starts the part of the decoding that can overlap with the batch before."""
        return None

    def finish_decode(self, slots: SlotLayout, in_flight: InFlightBatch | None) -> list[Any]:
        """The decoded images: one array for each group of slots (`SlotLayout`), a view of their memory."""
        memory = buffer_pool.allocate(slots.size)
        slots.start_decode(memory)()
        return [self.to_images(group) for group in slots.group_arrays(memory)]

    def to_images(self, images: np.ndarray) -> Any:
        """The library's images from a uint8 array. [N, H, W, C]"""
        return images

    def array(self, array: np.ndarray) -> Any:
        """A copy of the array, or the array itself, in the library and on the device."""
        return array

    def view(self, block: Any, start: int, array: np.ndarray) -> Any:
        """An array of the same dtype and shape as `array`, a view of the bytes of `block` from `start` on."""
        return block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)

    def window(self, images: Any, rows: slice, columns: slice) -> Any:
        """A view of these rows and columns of the images."""
        return images[:, rows, columns]

    def contiguous(self, images: Any) -> Any:
        return np.ascontiguousarray(images)

    def concatenate(self, batches: list[Any]) -> Any:
        return np.concatenate(batches)

    def stack(self, images: list[Any]) -> Any:
        return np.stack(images)

    @property
    def array_type(self) -> Any:
        return np.ndarray

    def without_samples(self, images: Any, targets: Any) -> tuple[Any, Any]:
        """The images and targets of a batch, without its samples. Copies, which do not keep the batch in memory."""
        return _map_arrays(
            self.array_type,
            (images, [] if isinstance(targets, list) else targets),
            lambda array: self.concatenate([array[:0]]) if array.ndim else array,
        )

    def device_context(self) -> contextlib.AbstractContextManager[Any]:
        """Makes the receiver's device and stream current: the context of all work on a batch."""
        return contextlib.nullcontext()

    def ready_event(self) -> Any:
        """An event at the end of the queued work on a batch, for `hand_over`; None on a CPU."""

    def hand_over(self, arrays: tuple[Any, Any], ready_event: Any) -> tuple[Any, Any]:
        """Images and targets for the caller, ordered after the event on the caller's current stream."""
        return arrays


class JaxReceiver(NumPyReceiver):
    """JAX arrays, channels last: made on the CPU, and handed over on the consumer's default device of JAX."""

    def hand_over(self, arrays: tuple[Any, Any], ready_event: Any) -> tuple[Any, Any]:
        result: tuple[Any, Any] = _map_arrays(
            self.array_type, arrays, lambda array: _jax_array(array) if holds_numbers(array) else array
        )
        return result


class TorchReceiver(NumPyReceiver):
    """Torch tensors on the CPU: shape [N, C, H, W], memory channels-last."""

    layout: Layout = "NCHW"

    @property
    def torch(self) -> Any:
        """A property, since a module cannot be pickled for a worker process."""
        return importlib.import_module("torch")

    @property
    def array_type(self) -> Any:
        return self.torch.Tensor

    def to_images(self, images: np.ndarray) -> Any:
        return self.torch.from_numpy(images).permute(0, 3, 1, 2)

    def array(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array)

    def view(self, block: Any, start: int, array: np.ndarray) -> Any:
        dtype = getattr(self.torch, array.dtype.name)
        return block[start : start + array.nbytes].view(dtype).reshape(array.shape)

    def window(self, images: Any, rows: slice, columns: slice) -> Any:
        return images[..., rows, columns]

    def contiguous(self, images: Any) -> Any:
        return images.contiguous(memory_format=self.torch.channels_last)

    def concatenate(self, batches: list[Any]) -> Any:
        return self.torch.cat(batches)

    def stack(self, images: list[Any]) -> Any:
        # As [H, W, C], the memory order of decoded images: `torch.stack` lays out its result in the order of the axes.
        return self.torch.stack([image.movedim(0, -1) for image in images]).movedim(-1, 1)


class _PinnedBlocks:
    """Pinned blocks that are used again: allocating pinned memory stops all threads for milliseconds."""

    def __init__(self, torch: Any, stream: Any) -> None:
        self._torch, self._stream = torch, stream
        self._blocks: list[tuple[Any, Any]] = []  # block, event after which it may be rewritten

    def take(self, size: int) -> Any:
        block, copy_event = self._blocks.pop(0) if self._blocks else (None, None)
        if copy_event is not None:
            copy_event.synchronize()
        if block is None or block.numel() < size:
            block = self._torch.empty(size + size // 2, dtype=self._torch.uint8, pin_memory=True)
        return block[:size]

    def copy_to_slots(self, memory: Any, box_copies: np.ndarray) -> None:
        """Copies the memory to the GPU, then each image's pixels to its slot: one image per row of `box_copies`."""
        on_device = memory.to(self._stream.device, non_blocking=True)
        block = memory._base if memory._base is not None else memory
        self._blocks.append((block, self._stream.record_event()))
        if len(box_copies):
            library = library_of(type(on_device))
            assert library is not None
            box_copies[:, 0] += on_device.data_ptr()  # until here: offsets of the images in the memory
            copy_boxes(box_copies, library, self._stream.device.index)


class CudaReceiver(TorchReceiver):
    """Torch tensors on a GPU: copied from pinned memory and augmented on a stream that is not the consumer's."""

    batches_in_flight = 2

    def __init__(self, device: Any, splitter: WorkSplitter) -> None:
        self.device: Any = device
        self._splitter = splitter
        self._stream = self.torch.cuda.Stream(self.device)
        self._pinned = _PinnedBlocks(self.torch, self._stream)

    def new_iteration(self) -> NumPyReceiver:
        return type(self)(self.device, self._splitter)

    def start_decode(self, slots: SlotLayout) -> InFlightBatch | None:
        memory = self.torch.empty(slots.size, dtype=self.torch.uint8, device=self.device)
        return InFlightBatch(self._splitter, slots, memory, self._pinned)

    def finish_decode(self, slots: SlotLayout, in_flight: InFlightBatch | None) -> list[Any]:
        assert in_flight is not None
        return [group.permute(0, 3, 1, 2) for group in slots.group_arrays(in_flight.finish())]

    def to_images(self, images: np.ndarray) -> Any:
        return super().to_images(images).to(self.device)

    def array(self, array: np.ndarray) -> Any:
        return super().array(array).pin_memory().to(self.device, non_blocking=True)

    def device_context(self) -> contextlib.AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        stack.enter_context(self.torch.cuda.device(self.device))
        stack.enter_context(self.torch.cuda.stream(self._stream))
        return stack

    def ready_event(self) -> Any:
        return self._stream.record_event()

    def hand_over(self, arrays: tuple[Any, Any], ready_event: Any) -> tuple[Any, Any]:
        stream = self._consumer_stream()
        stream.wait_event(ready_event)
        _map_arrays(self.array_type, arrays, lambda tensor: tensor.record_stream(stream))
        return arrays

    def _consumer_stream(self) -> Any:
        return self.torch.cuda.current_stream(self.device)


# CuPy streams that took a batch, by pointer. Torch uses the stream recorded for a batch when it frees the batch, which
# may be after the user has dropped the stream, so they are kept alive.
_consumer_streams: dict[int, Any] = {}


class CuPyReceiver(CudaReceiver):
    """As `CudaReceiver`, but channels-last CuPy arrays for CuPy's current stream. Torch owns the memory."""

    def hand_over(self, arrays: tuple[Any, Any], ready_event: Any) -> tuple[Any, Any]:
        with devices.use_device(self.device.index):
            images, targets = super().hand_over(arrays, ready_event)
            images = _map_arrays(self.array_type, images, self._channels_last)
            result: tuple[Any, Any] = _map_arrays(self.array_type, (images, targets), cupy_import.from_dlpack)
            return result

    def _channels_last(self, tensor: Any) -> Any:
        return tensor.permute(0, 2, 3, 1) if tensor.ndim == 4 else tensor

    def _consumer_stream(self) -> Any:
        stream = streams.current_stream()
        if stream.ptr in (0, 1):  # torch would create a new stream for ExternalStream(0) (pytorch#182960)
            return self.torch.cuda.default_stream(self.device)
        _consumer_streams[stream.ptr] = stream
        return self.torch.cuda.ExternalStream(stream.ptr, self.device)


def holds_numbers(value: Any) -> bool:
    """Whether this is a NumPy array of real numbers that every library has: no text, objects, dates or long doubles."""
    if not isinstance(value, np.ndarray):
        return False
    return value.dtype.name == "bfloat16" or (value.dtype.kind in "biuf" and value.dtype.char != "g")


def _map_arrays(array_type: type, value: Any, function: Callable[[Any], Any]) -> Any:
    """The value with the function's results in place of the arrays in its dicts, lists and tuples."""
    if isinstance(value, array_type):
        return function(value)
    if isinstance(value, dict):
        return {key: _map_arrays(array_type, entry, function) for key, entry in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    entries = [_map_arrays(array_type, entry, function) for entry in value]
    if isinstance(value, tuple):
        return value._make(entries) if hasattr(value, "_make") else tuple(entries)
    return entries


def _jax_array(array: np.ndarray) -> Any:
    """A JAX array of the same numbers; of 32 bits without `jax_enable_x64`, where JAX itself wraps larger integers."""
    result = _jax().numpy.asarray(array)
    if array.size and array.dtype.kind in "iu" and result.dtype != array.dtype:
        limits, low, high = np.iinfo(result.dtype), int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise ValueError(
                f"integers must fit {result.dtype} for library 'jax' without jax_enable_x64, got "
                f"{low if low < limits.min else high}: call jax.config.update('jax_enable_x64', True)"
            )
    return result


def _jax() -> Any:
    try:
        return importlib.import_module("jax")
    except ImportError as error:
        raise BackendError(f"library='jax' needs JAX ({error}): pip install jax") from error


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise BackendError(f"a loader for a GPU needs torch ({error}): pip install torch") from error


def _torch_device(torch: Any, name: Any) -> Any:
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        device = None
    if device is None or device.type != "cuda":
        raise _device_error(name)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (device.index or 0) >= count:
        raise BackendError(
            f"device {str(name)!r} needs a GPU that torch can use, and torch has {count}: "
            "pass device='cpu', or install torch for CUDA"
        )
    return device if device.index is not None else torch.device("cuda", torch.cuda.current_device())


def _device_error(device: Any) -> ValueError:
    hint = ": library='jax' uses JAX's default device" if type(device).__module__.startswith("jax") else ""
    return ValueError(f"device must be 'cpu', or a GPU such as 'cuda' or 'cuda:1', got {value_text(device)}{hint}")


def receiver_for(device: Any, library: str | None, decoder: str) -> NumPyReceiver:
    """The receiver for a loader's arguments. `library` None: torch on a GPU or if it has been imported, else NumPy."""
    _check.one_of("library", library, (None, "torch", "numpy", "cupy", "jax"))
    _check.one_of("decoder", decoder, DECODERS)
    if str(device) != "cpu":
        if library == "jax":
            raise ValueError(
                "device must be 'cpu' for library 'jax': batches are augmented on the CPU and copied to JAX's default "
                f"device, got {str(device)!r}"
            )
        if not isinstance(device, (int, str)) and not type(device).__module__.startswith("torch"):
            raise _device_error(device)  # without an import of torch
        if library == "numpy":
            raise ValueError(f"library must be 'torch' or 'cupy' for device {str(device)!r}, got 'numpy'")
        torch_device = _torch_device(_torch(), device)
        if library == "cupy":
            cupy_import.cupy()  # fails here if CuPy is missing
        receiver_type = CuPyReceiver if library == "cupy" else CudaReceiver
        return receiver_type(
            torch_device, WorkSplitter(nvjpeg.engine(torch_device.index) if decoder == "hybrid" else None)
        )
    if library == "cupy":
        raise ValueError("device must be a GPU for library 'cupy', got 'cpu'")
    if decoder != "cpu":
        raise ValueError(f"decoder must be 'cpu' for device 'cpu', got {decoder!r}")
    if library == "jax":
        _jax()  # fails here if JAX is missing
        return JaxReceiver()
    if library is None:
        library = "torch" if "torch" in sys.modules else "numpy"
    return TorchReceiver() if library == "torch" else NumPyReceiver()
