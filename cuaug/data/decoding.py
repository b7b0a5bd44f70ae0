"""Decoding of a batch of encoded images: the part that a recipe reads, into slots of one block of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import io
from .._check import DecodeError
from .._codecs import jpeg_headers, nvjpeg, other_formats
from .._codecs.limits import Limits
from .._host.extension import jpeg_extension
from .._host.threads import parallel_map
from .decode_threads import DecodeThreads

if TYPE_CHECKING:
    from .._native import EncodedFiles

_GROUP_ALIGNMENT = 512  # bytes, as CuPy's and torch's allocators align memory


class DecodeSettings(NamedTuple):
    """Options of the decoders."""

    threads: DecodeThreads
    strict: bool
    dct_scale: bool
    limits: Limits


class EncodedImages:
    """The encoded images of a batch, with their sizes.

    `bad` has the reason why an image cannot be decoded, by its index in the batch. `sizes` of every image, also of a
    bad one, is at least (1, 1). In `data`, a string is the reason why a file could not be read.

    The constructor decodes images of formats other than JPEG. With `keep_pixels` False it drops their pixels, and
    `start_decode` leaves their slots unwritten.
    """

    def __init__(
        self, data: Sequence[bytes | str] | EncodedFiles, settings: DecodeSettings, *, keep_pixels: bool = True
    ) -> None:
        jpeg = jpeg_extension()
        self._settings, self._keep_pixels = settings, keep_pixels
        self.bad: dict[int, str] = dict[int, str]()
        self._files: EncodedFiles = data if isinstance(data, jpeg.EncodedFiles) else jpeg.EncodedFiles(data)
        self._headers, failures = jpeg_headers.read(self._files, settings.limits, settings.threads.maximum)
        self._is_jpeg: np.ndarray = self._headers["channels"] > 0
        self.sizes: np.ndarray = np.maximum(self._headers["size"], 1)
        self._decoded: dict[int, np.ndarray] = {}  # whole images of formats other than JPEG, by index
        indices_and_reasons = [(i, reason) for i, _, reason in failures]
        parallel_map(lambda pair: self._decode_other_format(*pair), indices_and_reasons, settings.threads.maximum)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def scalable(self) -> np.ndarray:
        """Whether an image can be decoded at a fraction of its resolution. [N]"""
        return self._is_jpeg & np.bool_(self._settings.dct_scale)

    def decodable_by_engine(self, regions: np.ndarray) -> np.ndarray:
        """Whether nvJPEG decodes regions [N, 5] of `start_decode` as the CPU does. [N]"""
        decodable: np.ndarray = self._is_good_jpeg() & nvjpeg.can_decode(self._headers) & (regions[:, 0] == 1)
        return decodable

    def decode_costs(self, regions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of decoding regions [N, 5] of `start_decode`: on the CPU and by nvJPEG, each in a unit of its own. [N]

        The CPU reads an image's bytes down to the end of the region and computes the region's pixels; five pixels cost
        as much as a byte (benchmarks/log/loader-gpu.md). nvJPEG computes all pixels. For simplicity the
        same formula counts progressive files, which the CPU always reads to the end, and other formats, whose images
        are already decoded.
        """
        scale, top, _, height, width = regions.T
        bytes_read = self._headers["bytes"] * np.minimum(scale * (top + height) / self.sizes[:, 0], 1)
        return bytes_read + height * width / 5, self.sizes.prod(1)

    def start_decode(
        self, memory: np.ndarray, offset: np.ndarray, pitch: np.ndarray, regions: np.ndarray, images: np.ndarray
    ) -> Callable[[], float]:
        """Starts to decode one region of each image of `images` into its slot.

        Args:
            memory: Bytes that hold the slots. [M]
            offset: First byte of a slot. [P]
            pitch: Bytes from row to row of a slot. [P]
            regions: Denominator of the scale, top, left, height, width, for all images of the batch. [N, 5]
            images: Indices of the images in the batch. [P]

        Returns:
            A function that waits for the end, and returns its time on `time.perf_counter`'s clock.
        """
        rows = np.empty((len(images), jpeg_headers.REGION_COLUMNS), np.int64)
        rows[:, 0], rows[:, 1:6], rows[:, 6], rows[:, 7] = images, regions[images], offset, pitch
        jpegs = rows[self._is_good_jpeg()[images]]
        jpegs[:, 6] += memory.ctypes.data  # the extension takes addresses
        limits, strict, threads = self._settings.limits, self._settings.strict, self._settings.threads.count
        pending = jpeg_extension().jpeg_decode(self._files, limits, jpegs, "rgb", strict, threads, memory)
        pending.start()

        def finish() -> float:
            end, failures = pending.wait()
            self.bad |= {int(jpegs[row, 0]): reason for row, _, reason in failures}
            decoded_images = self._decoded.keys() - self.bad
            for i, _, top, left, height, width, slot_offset, slot_pitch in rows.tolist() if decoded_images else ():
                if i in decoded_images:
                    slot = np.ndarray((height, width, 3), np.uint8, memory, slot_offset, (slot_pitch, 3, 1))
                    slot[:] = self._decoded[i][top : top + height, left : left + width]
            return float(end)

        return finish

    def engine_request(self, destinations: np.ndarray, regions: np.ndarray, images: np.ndarray) -> nvjpeg.DecodeRequest:
        """A request to nvJPEG for the regions of `images`. `destinations`: address and pitch of each slot. [P, 2]"""
        return nvjpeg.DecodeRequest(self._files, images, self.sizes[images], regions[images, 1:], destinations)

    def _is_good_jpeg(self) -> np.ndarray:
        """Whether an image is a JPEG that is not bad. [N]"""
        good = self._is_jpeg.copy()
        good[[*self.bad]] = False
        return good

    def _decode_other_format(self, i: int, reason: str) -> None:
        """Decodes image `i`, which the JPEG decoder rejected for `reason`, or records it as bad."""
        data = self._files[i]
        if isinstance(data, str) or data.startswith(other_formats.JPEG_SIGNATURE):
            self.bad[i] = data if isinstance(data, str) else reason
            return
        try:
            image = io.decode_image(data, max_pixels=self._settings.limits.max_pixels or None)
            self.sizes[i] = image.shape[:2]
            if self._keep_pixels:
                self._decoded[i] = image
        except DecodeError as error:
            self.bad[i] = error.reason


class SlotLayout:
    """The memory for the decoded regions of a batch: a slot per image, group after group.

    All slots of a group have the size of its largest region; a smaller region is at the top left of its slot.

    Attributes:
        groups: Indices of images. [S] each
        shapes: Shape of each group's slots. (S, H, W, 3) each
        order: Indices of images, slot after slot. [N]
        offset: First byte of a slot. [N]
        pitch: Bytes from row to row of a slot. [N]
        size: Bytes of all slots.
    """

    def __init__(self, encoded: EncodedImages, regions: np.ndarray, groups: list[np.ndarray]) -> None:
        self.encoded: EncodedImages = encoded
        self.regions: np.ndarray = regions
        self.groups: list[np.ndarray] = groups
        self.shapes: list[tuple[int, ...]] = [
            (len(group), *regions[group, 3:].max(0, initial=1).tolist(), 3) for group in groups
        ]
        self.order: np.ndarray = np.concatenate(groups)
        # Base, pitch and slot size of each group: slot i of the whole batch begins at base + i * slot size.
        group_rows, slots_before = list[tuple[int, int, int]](), 0
        self._starts: list[int] = []
        self.size: int = 0
        for count, height, width, channels in self.shapes:
            pitch = channels * width
            slot_size = height * pitch
            group_rows.append((self.size - slots_before * slot_size, pitch, slot_size))
            self._starts.append(self.size)
            self.size += -(-count * slot_size // _GROUP_ALIGNMENT) * _GROUP_ALIGNMENT
            slots_before += count
        base, pitches, slot_sizes = np.repeat(group_rows, [len(group) for group in groups], 0).T
        self.pitch: np.ndarray = pitches
        self.offset: np.ndarray = base + np.arange(slots_before) * slot_sizes

    def start_decode(self, memory: np.ndarray) -> Callable[[], float]:
        """Starts to decode all regions, as `EncodedImages.start_decode`."""
        return self.encoded.start_decode(memory, self.offset, self.pitch, self.regions, self.order)

    def group_arrays(self, memory: Any) -> list[Any]:
        """The slots of each group as an array, a view of the memory."""
        return [
            memory[start : start + math.prod(shape)].reshape(shape)
            for start, shape in zip(self._starts, self.shapes, strict=True)
        ]
