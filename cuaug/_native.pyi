from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Buffer = bytes | memoryview

class BoundLoop:
    """A loop with its arguments except the record, for `run` and `LoopSequence`.

    The numbers of samples and pixels are those of the record with which the loop was bound: `run` must get records with
    the same numbers.
    """

def run(loop: BoundLoop, record: bytes) -> None: ...

class LoopSequence:
    """Loops, recorded once. `run` writes the call's values into their records and runs them.

    A loop's relocations are those of `LaunchSequence`. With many samples, all loops run on one sample before the next,
    except a loop that reads other samples: it runs between the loops before and after it.
    """

    def __init__(self, loops: Sequence[tuple[BoundLoop, bytes, Sequence[tuple[int, int, int]]]]) -> None: ...
    def run(self, values: Sequence[int]) -> None: ...

def warp_image(record: bytes, in_dtype: str, out_dtype: str, geometry: str, sampler: str, border: str) -> BoundLoop: ...
def resample(record: bytes, in_dtype: str, out_dtype: str, filter: str) -> BoundLoop: ...
def pointwise(
    record: bytes, in_dtype: str, out_dtype: str, ops: Sequence[str | tuple[int, int]], out_channels: int
) -> BoundLoop: ...
def luma_mean(record: bytes, dtype: str, ops: Sequence[str | tuple[int, int]], in_place: bool) -> BoundLoop: ...
def mix(record: bytes, dtype: str, mix: str) -> BoundLoop: ...
def gaussian_blur(record: bytes, dtype: str) -> BoundLoop: ...
def adjust_sharpness(record: bytes, dtype: str) -> BoundLoop: ...
def jpeg(record: bytes, dtype: str) -> BoundLoop: ...
def blend(record: bytes, dtype: str) -> BoundLoop: ...
def histogram_lut(record: bytes, dtype: str) -> BoundLoop: ...
def channel_min_max(record: bytes, dtype: str) -> BoundLoop: ...
def lut(record: bytes, dtype: str) -> BoundLoop: ...
def draw(record: bytes) -> BoundLoop: ...
def build_matrices(record: bytes, builder: str) -> None: ...
def nms(record: bytes, dtype: str) -> None: ...
def pooling(record: bytes, dtype: str, kind: str, backward: bool) -> None:
    """Pools regions of interest; `backward`: computes the gradients of the features instead."""

def move_boxes(record: bytes) -> None: ...
def rotated_iou(record: bytes) -> None: ...
def upright_iou(record: bytes) -> None: ...
def soft_nms(record: bytes) -> None: ...
def set_threads(n: int) -> None: ...
def threads() -> int: ...
def array_address(array: np.ndarray) -> int:
    """The address of an array's first element. `array.__array_interface__` takes ten times as long."""

def instruction_set() -> str: ...
def instruction_sets() -> list[str]: ...
def set_instruction_set(name: str) -> None: ...
def compiler_flags() -> str: ...
def record_layout() -> dict[str, dict[str, tuple[int, int]]]:
    """Struct name -> field name -> (offset, size), of the structs that Python packs or reads as bytes."""

class LaunchSequence:
    """Kernel launches, recorded once and replayed by each call of `run`.

    A launch is (kernel's handle, CUlaunchConfig, record, relocations). A relocation, (offset in the record in bytes,
    index, addend), writes the call's value at that index plus the addend. `launch_kernel`: the address of
    cuLaunchKernelEx. `run` returns the CUresult of the first launch that fails, or 0.
    """

    def __init__(
        self, launch_kernel: int, launches: Sequence[tuple[int, bytes, bytes, Sequence[tuple[int, int, int]]]]
    ) -> None: ...
    def run(self, stream: int, values: Sequence[int]) -> int: ...

class TensorRows:
    """As `KeyedRows` of `_arrays/row_tables.py`, for torch tensors, which `exchange_api` describes.

    `exchange_api`: torch's `DLPackExchangeAPI`. `tensor_type`: torch.Tensor. `max_rows`: the number of rows to keep.
    """

    def __init__(self, tensor_type: type, exchange_api: object, max_rows: int) -> None: ...
    def table(
        self, tensors: list[Any], new_row: Callable[[Any], tuple[bytes, Any, tuple[int, int]] | None]
    ) -> tuple[bytearray, Any] | None: ...

class BackgroundTask:
    """Work that is done once, without the GIL: in a new thread if `start` is called, otherwise in `wait`."""

    def start(self) -> None: ...
    def wait(self) -> tuple[float, Any]:
        """The time at which the work ended, by `time.perf_counter`, and the result."""

class EncodedFiles:
    """Encoded images in memory; for an image that is missing, a string: the reason.

    An entry is a buffer; or (path, offset, length), a range of a file to read, where the length -1 stands for the rest
    of the file; or the reason why there is no image. A range of more than `max_bytes` bytes is not read; 0: no limit.
    """

    def __init__(
        self, entries: Sequence[Buffer | str | tuple[bytes, int, int]], max_bytes: int = 0, threads: int = 1
    ) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, i: int) -> bytes | str: ...
    def __iter__(self) -> Iterator[bytes | str]: ...

def choose_decode_regions(
    boxes: np.ndarray,
    min_sizes: np.ndarray,
    images: np.ndarray,
    scalable: np.ndarray,
    regions: np.ndarray,
    boxes_in_regions: np.ndarray,
) -> None:
    """Fills `regions` and `boxes_in_regions` with `jpeg::choose_decode_region` of each image.

    Each table has a row per image. `boxes`: a box in pixels of the image. `min_sizes`: the size below which the box is
    not scaled down. `images`: the size of the image. `scalable`: whether it can be decoded at a lower resolution.
    """

def nvjpeg_decode(
    files: EncodedFiles,
    images: np.ndarray,
    memory: object,
    driver: tuple[int, int, int, int],
    functions: tuple[int, int],
    handle: int,
    state: int,
    stream: int,
    event: int,
) -> BackgroundTask:
    """Decodes files into GPU memory, by rows (file, address, pitch) of `images`. The result: the rows that failed.

    `memory` owns the memory at the addresses, and is kept alive until the task is destroyed.

    `driver`: the addresses of cuCtxSetCurrent, cuEventRecord and cuEventSynchronize, and the context. `functions`: the
    addresses of nvjpegDecodeBatchedInitialize and nvjpegDecodeBatched. `handle` and `state` are nvJPEG's.
    """

# What follows is missing in a build without JPEG.

libjpeg_turbo: str  # its version
jpeg_subsamplings: tuple[str, ...]
jpeg_color_spaces: tuple[str, ...]

def jpeg_headers(
    files: EncodedFiles, limits: tuple[int, int, int, int, int, int], out: np.ndarray, threads: int = 0
) -> list[tuple[int, str, str]]:
    """Writes the header of each file into its row of `out`. Returns (file, exception's name, reason) of each failure.

    `limits`: max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels.
    """

def jpeg_decode(
    files: EncodedFiles,
    limits: tuple[int, int, int, int, int, int],
    regions: np.ndarray,
    color: str,
    strict: bool,
    threads: int = 0,
    memory: object = None,
) -> BackgroundTask:
    """Decodes rows (file, scale, top, left, height, width, address, pitch) of `regions`.

    `strict`: a warning of libjpeg is a failure. `memory` owns the memory at the addresses. `limits` as in
    `jpeg_headers`. The result: (row, exception's name, reason) of each failure.
    """

def jpeg_encode(
    images: Sequence[tuple[int, int, int, int]],
    color: str,
    quality: int,
    horizontal: int,
    vertical: int,
    gray: bool,
    progressive: bool,
) -> list[bytes | str]:
    """Encodes images, (address, height, width, pitch). Returns each file, or the reason of a failure.

    `horizontal`, `vertical`: luma samples for each chroma sample along x and y. `gray`: the file has luma only.
    """
