"""A batch of encoded images, decoded as far as a recipe will look at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _codecs, _cpu, _engine, _limits, io
from .._check import DecodeError

_APART = 512  # bytes that groups of slots begin at multiples of, as arrays of their own would


class Decoding(NamedTuple):
    """How it is done."""

    threads: int
    strict: bool
    dct_scale: bool
    limits: _limits.Limits


class Encoded:
    """Images whose sizes are known, in the order of their batch; `bad` says why one cannot be had, by its place."""

    def __init__(self, data: Sequence[bytes | str], how: Decoding) -> None:
        self._how = how
        self.bad = {i: each for i, each in enumerate(data) if isinstance(each, str)}
        self._data = [each if isinstance(each, bytes) else b"" for each in data]
        self._jpegs = [i for i, each in enumerate(self._data) if each.startswith(_codecs.JPEG)]
        self._whole: dict[int, np.ndarray] = {}  # of kinds that are not decoded in part
        headers = _cpu.jpeg().jpeg_headers([self._data[i] for i in self._jpegs], how.limits, how.threads)
        self._note(self._jpegs, headers)
        self._headers = {i: header for i, header in zip(self._jpegs, headers, strict=True) if i not in self.bad}
        self.sizes = np.ones((len(data), 2), np.int64)
        self.sizes[[*self._headers]] = np.array([header[:2] for header in self._headers.values()]).reshape(-1, 2)
        for i in sorted({*range(len(data))} - {*self._jpegs} - {*self.bad}):
            self._decode_whole(i)

    def __len__(self) -> int:
        return len(self._data)

    @property
    def scalable(self) -> np.ndarray:
        """Whether an image can be decoded at a fraction of its resolution. [N]"""
        out = np.zeros(len(self), bool)
        out[self._jpegs] = self._how.dct_scale
        return out

    def engine_takes(self, regions: np.ndarray) -> np.ndarray:
        """Whether a GPU's engine would decode regions, as `begin` has them, as the CPU does. [N]"""
        out = np.zeros(len(self), bool)
        headers = ((i, header) for i, header in self._headers.items() if i not in self.bad)
        out[[i for i, header in headers if _engine.takes(self._data[i], header)]] = True
        out &= regions[:, 0] == 1
        return out

    def begin(
        self, memory: np.ndarray, offset: np.ndarray, pitch: np.ndarray, regions: np.ndarray, places: Sequence[int]
    ) -> Callable[[], float]:
        """Begins to decode a region of each image at `places` to where its slot is.

        Args:
            memory: Bytes. [M]
            offset: Where a slot begins. [len(places)]
            pitch: Bytes from a row of it to the next. [len(places)]
            regions: Scale (one over), top, left, height, width, of all images. [N, 5]
            places: Of the images.

        Returns:
            What waits, and tells when it was done, on `time.perf_counter`'s clock.
        """
        to = dict(zip(places, zip(offset.tolist(), pitch.tolist(), strict=True), strict=True))
        jpegs = [i for i in places if i in self._headers and i not in self.bad]
        address = memory.ctypes.data
        pending = _cpu.jpeg().jpeg_begin_decode(
            [self._data[i] for i in jpegs],
            self._how.limits,
            regions[jpegs, 0].tolist(),
            [tuple(region) for region in regions[jpegs, 1:].tolist()],
            "rgb",
            self._how.strict,
            [(address + to[i][0], to[i][1]) for i in jpegs],
            self._how.threads,
            memory,
        )

        def finish() -> float:
            done, made = pending.wait()
            self._note(jpegs, made)
            for i in to.keys() & self._whole.keys():
                _, top, left, height, width = regions[i].tolist()
                slot = np.ndarray((height, width, 3), np.uint8, memory, to[i][0], (to[i][1], 3, 1))
                slot[:] = self._whole[i][top : top + height, left : left + width]
            return float(done)

        return finish

    def for_engine(
        self, address: np.ndarray, pitch: np.ndarray, regions: np.ndarray, places: list[int]
    ) -> _engine.Boxes:
        """The same as an engine wants it."""
        target = np.stack([address, pitch], 1)
        return _engine.Boxes([self._data[i] for i in places], self.sizes[places], regions[places, 1:], target)

    def _note(self, places: Sequence[int], results: Sequence[tuple[object, ...] | None]) -> None:
        self.bad |= {places[k]: reason for k, _, reason in _cpu.failures(results)}

    def _decode_whole(self, i: int) -> None:
        try:
            self._whole[i] = image = io.decode_image(self._data[i], max_pixels=self._how.limits.pixels or None)
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
        bytes: Of the slot. [N]
        size: Of all.
        kept: Nothing of the memory is handed over, so that the next batch may have it.
    """

    def __init__(self, encoded: Encoded, regions: np.ndarray, groups: list[np.ndarray], kept: bool) -> None:
        self.encoded, self.regions, self.groups, self.kept = encoded, regions, groups, kept
        self.shapes = [(len(group), *regions[group, 3:].max(0, initial=1).tolist(), 3) for group in groups]
        counts = [shape[0] for shape in self.shapes]
        self.order = np.concatenate(groups)
        self.pitch = np.repeat([3 * shape[2] for shape in self.shapes], counts)
        self.bytes = self.pitch * np.repeat([shape[1] for shape in self.shapes], counts)
        ends = np.cumsum([-(-math.prod(shape) // _APART) * _APART for shape in self.shapes])
        self._starts, self.size = [0, *ends[:-1].tolist()], int(ends[-1])
        within = np.concatenate([np.arange(count) for count in counts])
        self.offset = np.repeat(self._starts, counts) + within * self.bytes

    def begin(self, memory: np.ndarray) -> Callable[[], float]:
        """Begins to decode all; as `Encoded.begin`."""
        return self.encoded.begin(memory, self.offset, self.pitch, self.regions, self.order.tolist())

    def of(self, memory: Any) -> list[Any]:
        """The groups' slots in memory."""
        return [
            memory[start : start + math.prod(shape)].reshape(shape)
            for start, shape in zip(self._starts, self.shapes, strict=True)
        ]
