"""A batch of encoded images, decoded as far as a recipe will look at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import io
from .._check import DecodeError
from .._codecs import jpeg_headers as _headers
from .._codecs import limits as _limits
from .._codecs import nvjpeg as _engine
from .._codecs import other_formats as _codecs
from .._host import extension as _cpu
from .._host import threads as _threads

if TYPE_CHECKING:
    from .._native import EncodedFiles

_APART = 512  # bytes that groups of slots begin at multiples of, as arrays of their own would


class Decoding(NamedTuple):
    """How it is done."""

    threads: int
    strict: bool
    dct_scale: bool
    limits: _limits.Limits


class Encoded:
    """Images whose sizes are known, in the order of their batch; `bad` says why one cannot be had, by its place."""

    def __init__(self, data: Sequence[bytes | str] | EncodedFiles, how: Decoding) -> None:
        jpeg = _cpu.jpeg_extension()
        self._how, self.bad = how, dict[int, str]()
        self._files: EncodedFiles = data if isinstance(data, jpeg.EncodedFiles) else jpeg.EncodedFiles(data)
        self._headers, failed = _headers.read(self._files, how.limits, how.threads)
        self._jpegs: np.ndarray = self._headers["channels"] > 0
        self.sizes = np.maximum(self._headers["size"], 1)  # of what is bad, so that there is something to count with
        self._whole: dict[int, np.ndarray] = {}  # of kinds that are not decoded in part
        _threads.parallel_map(lambda each: self._look_into(each[0], self._files[each[0]], each[2]), failed, how.threads)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def scalable(self) -> np.ndarray:
        """Whether an image can be decoded at a fraction of its resolution. [N]"""
        return self._jpegs & np.bool_(self._how.dct_scale)

    def engine_takes(self, regions: np.ndarray) -> np.ndarray:
        """Whether a GPU's engine would decode regions, as `begin` has them, as the CPU does. [N]"""
        found: np.ndarray = self._decodable() & _engine.can_decode(self._headers) & (regions[:, 0] == 1)
        return found

    def costs(self, regions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What it takes a CPU to decode regions, as `begin` has them, and an engine; each in a unit of its own. [N]

        A CPU goes through an image's bytes down to where the region ends, and makes the region's pixels, of which five
        take as long as a byte (benchmarks/log/loader-gpu.md). An engine makes all pixels. Progressive files, which a
        CPU always reads to their end, and what is no JPEG, decoded before, are counted as all others.
        """
        scale, top, _, height, width = regions.T
        share = np.minimum(scale * (top + height) / self.sizes[:, 0], 1)
        return self._headers["bytes"] * share + height * width / 5, self.sizes.prod(1)

    def begin(
        self, memory: np.ndarray, offset: np.ndarray, pitch: np.ndarray, regions: np.ndarray, places: np.ndarray
    ) -> Callable[[], float]:
        """Begins to decode a region of each image at `places` to where its slot is.

        Args:
            memory: Bytes. [M]
            offset: Where a slot begins. [P]
            pitch: Bytes from a row of it to the next. [P]
            regions: Scale (one over), top, left, height, width, of all images. [N, 5]
            places: Of the images. [P]

        Returns:
            What waits, and tells when it was done, on `time.perf_counter`'s clock.
        """
        parts = np.empty((len(places), _headers.REGION_COLUMNS), np.int64)
        parts[:, 0], parts[:, 1:6], parts[:, 6], parts[:, 7] = places, regions[places], offset, pitch
        jpegs = parts[self._decodable()[places]]
        jpegs[:, 6] += memory.ctypes.data
        how = self._how
        pending = _cpu.jpeg_extension().jpeg_decode(
            self._files, how.limits, jpegs, "rgb", how.strict, how.threads, memory
        )
        pending.start()

        def finish() -> float:
            done, failed = pending.wait()
            self.bad |= {int(jpegs[k, 0]): reason for k, _, reason in failed}
            whole = self._whole.keys() - self.bad
            for i, _, top, left, height, width, start, step in parts.tolist() if whole else ():
                if i in whole:
                    slot = np.ndarray((height, width, 3), np.uint8, memory, start, (step, 3, 1))
                    slot[:] = self._whole[i][top : top + height, left : left + width]
            return float(done)

        return finish

    def for_engine(self, target: np.ndarray, regions: np.ndarray, places: np.ndarray) -> _engine.DecodeRequest:
        """The same as an engine wants it; the target is an address, and bytes from a row to the next. [P, 2]"""
        return _engine.DecodeRequest(self._files, places, self.sizes[places], regions[places, 1:], target)

    def _decodable(self) -> np.ndarray:
        """Whether it is a JPEG, and not bad. [N]"""
        out = self._jpegs.copy()
        out[[*self.bad]] = False
        return out

    def _look_into(self, i: int, data: bytes | str, reason: str) -> None:
        """What the decoder of JPEG refuses for this reason: another kind, which is decoded, or a bad file."""
        if isinstance(data, str) or data.startswith(_codecs.JPEG):
            self.bad[i] = data if isinstance(data, str) else reason
            return
        try:
            self._whole[i] = image = io.decode_image(data, max_pixels=self._how.limits.pixels or None)
            self.sizes[i] = image.shape[:2]
        except DecodeError as error:
            self.bad[i] = error.reason


class Slots:
    """Where regions of a batch's images come to lie: each at the top left of a slot, those of a group alike in size.

    Attributes:
        groups: Places of images. [S] each
        shapes: Of the groups' slots. (S, H, W, 3) each
        order: The places, slot after slot. [N]
        offset: Where a slot begins, in bytes. [N]
        pitch: Bytes from a row of it to the next. [N]
        size: Of all.
    """

    def __init__(self, encoded: Encoded, regions: np.ndarray, groups: list[np.ndarray]) -> None:
        self.encoded, self.regions, self.groups = encoded, regions, groups
        self.shapes = [(len(group), *regions[group, 3:].max(0, initial=1).tolist(), 3) for group in groups]
        self.order = np.concatenate(groups)
        rows, before = list[tuple[int, int, int]](), 0
        self._starts, self.size = list[int](), 0
        for count, height, width, channels in self.shapes:
            pitch = channels * width
            rows.append((self.size - before * height * pitch, pitch, height * pitch))
            self._starts.append(self.size)
            self.size += -(-count * height * pitch // _APART) * _APART
            before += count
        first, self.pitch, each = np.repeat(rows, [len(group) for group in groups], 0).T
        self.offset = first + np.arange(before) * each

    def begin(self, memory: np.ndarray) -> Callable[[], float]:
        """Begins to decode all; as `Encoded.begin`."""
        return self.encoded.begin(memory, self.offset, self.pitch, self.regions, self.order)

    def of(self, memory: Any) -> list[Any]:
        """The groups' slots in memory."""
        return [
            memory[start : start + math.prod(shape)].reshape(shape)
            for start, shape in zip(self._starts, self.shapes, strict=True)
        ]
