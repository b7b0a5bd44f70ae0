"""What encoded data may claim."""

from __future__ import annotations

from typing import NamedTuple

from .. import _check

MAX_PIXELS = 89_478_485  # Pillow's line: a GiB of them at 3 bytes, over 4
MAX_SIDE = 65_500  # libjpeg's own
MAX_SCANS = 100  # at which libjpeg-turbo's fuzzers stop
MAX_MEMORY = 1 << 30
MAX_BYTES = 256 << 20


class Limits(NamedTuple):
    """As the extension takes them; 0 stands for none."""

    pixels: int
    side: int
    bytes: int
    memory: int
    scans: int


_USUAL = Limits(MAX_PIXELS, MAX_SIDE, MAX_BYTES, MAX_MEMORY, MAX_SCANS)


def limits_of(
    pixels: int | None = MAX_PIXELS,
    side: int | None = MAX_SIDE,
    size: int | None = MAX_BYTES,
    memory: int | None = MAX_MEMORY,
    scans: int | None = MAX_SCANS,
) -> Limits:
    """Checked; None lifts one."""
    if (pixels, side, size, memory, scans) == _USUAL:
        return _USUAL
    given = {
        "max_pixels": pixels, "max_side": side, "max_bytes": size, "max_memory": memory, "max_scans": scans,
    }  # fmt: skip
    numbers = [0 if value is None else _check.integer(name, value, 1) for name, value in given.items()]
    return Limits(*(min(number, (1 << 31) - 1 if index == 4 else (1 << 62)) for index, number in enumerate(numbers)))
