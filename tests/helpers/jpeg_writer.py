"""A JPEG encoder of random coefficients (ITU-T T.81), for samplings that no library writes."""

import math
import struct

import numpy as np

# Codes of equal length: 12 of 4 bits for DC sizes, 162 of 8 bits for AC runs and sizes.
DC_SIZES = list(range(12))
AC_SYMBOLS = [0x00, 0xF0, *(run << 4 | size for run in range(16) for size in range(1, 11))]


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


class Bits:
    """Entropy-coded data: codes are packed from the highest bit on, and a 0 byte follows each 0xFF."""

    def __init__(self):
        self.value, self.count, self.out = 0, 0, bytearray()

    def put(self, code, length):
        self.value, self.count = self.value << length | code, self.count + length
        while self.count >= 8:
            self.count -= 8
            byte = self.value >> self.count & 0xFF
            self.out += b"\xff\x00" if byte == 0xFF else bytes([byte])
        self.value &= (1 << self.count) - 1

    def end(self):
        if self.count:
            self.put((1 << 8 - self.count) - 1, 8 - self.count)  # padded with ones
        out, self.out = bytes(self.out), bytearray()
        return out


def amplitude(value):
    """The size of a coefficient, and its bits (T.81, F.1.2.1)."""
    size = int(abs(value)).bit_length()
    return size, value if value > 0 else value + (1 << size) - 1


def put_block(bits, rng, previous):
    """Write a random block, whose DC level is coded as the difference to ``previous``; return the level."""
    level = int(np.clip(previous + rng.integers(-40, 41), -120, 120))
    size, code = amplitude(level - previous)
    bits.put(DC_SIZES.index(size), 4)
    bits.put(code, size)
    for _ in range(rng.integers(0, 6)):
        run, size = int(rng.integers(0, 8)), int(rng.integers(1, 6))
        bits.put(AC_SYMBOLS.index(run << 4 | size), 8)
        bits.put(int(rng.integers(0, 1 << size)), size)
    bits.put(AC_SYMBOLS.index(0), 8)
    return level


def random_jpeg(rng, size, samplings, *, restart=0, interleaved=True, adobe=None):
    """A baseline file of (H, W) whose components have these (horizontal, vertical) samplings.

    ``restart`` is the number of MCUs between restart markers, 0 for none. ``adobe`` is the colour transform that an
    Adobe segment declares: 0 none, 1 YCbCr, 2 YCCK.
    """
    height, width = size
    max_h, max_v = (max(s[axis] for s in samplings) for axis in (0, 1))
    table = bytes([0, *[3] * 64])
    out = b"\xff\xd8" + (segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([adobe])) if adobe is not None else b"")
    out += segment(0xDB, table)
    out += segment(0xC4, bytes([0x00, 0, 0, 0, 12, *[0] * 12, *DC_SIZES]))
    out += segment(0xC4, bytes([0x10, *[0] * 7, len(AC_SYMBOLS), *[0] * 8, *AC_SYMBOLS]))
    components = b"".join(bytes([i + 1, h << 4 | v, 0]) for i, (h, v) in enumerate(samplings))
    out += segment(0xC0, struct.pack(">BHHB", 8, height, width, len(samplings)) + components)
    out += segment(0xDD, struct.pack(">H", restart)) if restart else b""
    columns, rows = -(-width // (8 * max_h)), -(-height // (8 * max_v))
    indices = range(len(samplings))
    for scan in [list(indices)] if interleaved else [[i] for i in indices]:
        out += segment(0xDA, bytes([len(scan), *(b for i in scan for b in (i + 1, 0)), 0, 63, 0]))
        if len(scan) == 1:  # one component: not padded to whole MCUs (A.2.2)
            h, v = samplings[scan[0]]
            blocks = math.ceil(width * h / max_h / 8) * math.ceil(height * v / max_v / 8)
            mcus = [scan] * blocks
        else:
            mcus = [[i for i in scan for _ in range(samplings[i][0] * samplings[i][1])]] * (columns * rows)
        bits, levels = Bits(), dict.fromkeys(scan, 0)
        for number, mcu in enumerate(mcus):
            if restart and number and number % restart == 0:
                out += bits.end() + bytes([0xFF, 0xD0 + (number // restart - 1) % 8])
                levels = dict.fromkeys(scan, 0)
            for component in mcu:
                levels[component] = put_block(bits, rng, levels[component])
        out += bits.end()
    return out + b"\xff\xd9"


def marker_bombs():
    """Lists of very many or very large segments, by kind, for `helpers.jpeg.with_segments`."""
    exif = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + b"\0" * 60_000
    icc = [segment(0xE2, b"ICC_PROFILE\0" + bytes([i, 255]) + b"\7" * 1_000) for i in range(1, 256)]
    return {
        "COM": [segment(0xFE, b"")] * 100_000, "APP0": [segment(0xE0, b"")] * 100_000,
        "APP1": [segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08")] * 100_000,
        "APP2": [segment(0xE2, b"ICC_PROFILE\0")] * 100_000,
        "EXIF of 60 KB": [segment(0xE1, exif)], "255 EXIFs of 60 KB": [segment(0xE1, exif)] * 255,
        "ICC": icc, "ICC without its end": icc[:-1],
    }  # fmt: skip
