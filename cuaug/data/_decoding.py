"""A batch of encoded images, decoded as far as a recipe will look at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _array, _codecs, _cpu, _engine, _limits, io
from .._check import DecodeError


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
        """Whether a GPU's engine would decode regions, as `into` has them, as the CPU does. [N]"""
        out = np.zeros(len(self), bool)
        out[[i for i, header in self._headers.items() if _engine.takes(self._data[i], header)]] = True
        out &= regions[:, 0] == 1
        return out

    def begin(self, slots: np.ndarray, regions: np.ndarray, places: Sequence[int]) -> Callable[[], float]:
        """Begins to decode a region of each image at `places` into the top left of a slot.

        What is returned waits, and tells when it was done, on `time.perf_counter`'s clock.
        """
        to = {place: slot for slot, place in enumerate(places)}
        jpegs = [i for i in places if i in self._headers and i not in self.bad]
        pending = _cpu.jpeg().jpeg_begin_decode(*self._asked(slots, regions, jpegs, to))

        def finish() -> float:
            done, made = pending.wait()
            self._finish(slots, regions, jpegs, to, made)
            return float(done)

        return finish

    def into(self, slots: np.ndarray, regions: np.ndarray, places: Sequence[int]) -> None:
        """Decodes a region of each image at `places` into the top left of a slot."""
        to = {place: slot for slot, place in enumerate(places)}
        jpegs = [i for i in places if i in self._headers and i not in self.bad]
        self._finish(slots, regions, jpegs, to, _cpu.jpeg().jpeg_decode(*self._asked(slots, regions, jpegs, to)))

    def _asked(
        self, slots: np.ndarray, regions: np.ndarray, jpegs: Sequence[int], to: dict[int, int]
    ) -> tuple[Any, ...]:
        return (
            [self._data[i] for i in jpegs],
            self._how.limits,
            regions[jpegs, 0].tolist(),
            [tuple(region) for region in regions[jpegs, 1:].tolist()],
            "rgb",
            self._how.strict,
            _targets(slots.ctypes.data, slots.strides, [to[i] for i in jpegs]),
            self._how.threads,
        )

    def _finish(
        self, slots: np.ndarray, regions: np.ndarray, jpegs: Sequence[int], to: dict[int, int], made: Sequence[Any]
    ) -> None:
        self._note(jpegs, made)
        for i in to.keys() & self._whole.keys():
            _, top, left, height, width = regions[i].tolist()
            slots[to[i], :height, :width] = self._whole[i][top : top + height, left : left + width]

    def begin_on_device(
        self, engine: _engine.Engine, slots: Any, regions: np.ndarray, places: Sequence[int], slot: Sequence[int]
    ) -> _engine.Work:
        """As `begin`, by a GPU's engine, of what it takes."""
        tensor, library = _array.describe(slots), _array.library(type(slots))
        assert library is not None
        targets, rows = np.array(_targets(tensor.pointer, tensor.strides, slot)), list(places)
        return engine.begin([self._data[i] for i in places], self.sizes[rows], regions[rows, 1:], targets, library)

    def _note(self, places: Sequence[int], results: Sequence[tuple[object, ...] | None]) -> None:
        self.bad |= {places[k]: reason for k, _, reason in _cpu.failures(results)}

    def _decode_whole(self, i: int) -> None:
        try:
            self._whole[i] = image = io.decode_image(self._data[i], max_pixels=self._how.limits.pixels or None)
            self.sizes[i] = image.shape[:2]
        except DecodeError as error:
            self.bad[i] = error.reason


class Part(NamedTuple):
    """Regions of some images of a batch, each to come into the top left of a slot."""

    encoded: Encoded
    regions: np.ndarray  # of all: scale (one over), top, left, height, width [N, 5]
    places: np.ndarray  # of those that have a slot [S]
    kept: bool  # nothing of the slots' memory is handed over, so that the next batch may have it

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the slots: [S, H, W, 3]."""
        return len(self.places), *self.regions[self.places, 3:].max(0, initial=1).tolist(), 3

    def into(self, slots: np.ndarray) -> None:
        self.encoded.into(slots, self.regions, self.places.tolist())

    def begin(self, slots: np.ndarray, chosen: np.ndarray) -> Callable[[], float]:
        """Begins with some of them, into as many slots; as `Encoded.begin`."""
        return self.encoded.begin(slots, self.regions, self.places[chosen].tolist())


def _targets(address: int, strides: Sequence[int], slot: Sequence[int]) -> list[tuple[int, int]]:
    """Where slots of bytes [N, H, W, C] begin, and bytes from a row to the next."""
    return [(address + k * strides[0], strides[1]) for k in slot]
