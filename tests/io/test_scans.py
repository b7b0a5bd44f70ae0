"""Limits on the scans of a JPEG: a small file may hold thousands of them."""

import functools
import struct
import time

import numpy as np
import pytest
from helpers.jpeg import base_files, encoded_by_pillow, segments, with_declared_size

import cuaug
from cuaug import io as cio

pytestmark = pytest.mark.jpeg


def of_many_scans(count, height, width):
    """A progressive file whose last scan is repeated."""
    file = encoded_by_pillow(np.zeros((height, width, 3), np.uint8), progressive=True)
    start = [at for marker, at, _ in segments(file) if marker == 0xDA][-1]
    return file[:-2] + file[start:-2] * count + b"\xff\xd9"


@pytest.mark.alone
@pytest.mark.parametrize("size", [(16, 16), (2048, 4096)], ids=str)
@pytest.mark.parametrize("scans", [101, 500, 5_000])
def test_decode_jpeg_counts_scans(scans, size):
    file = of_many_scans(scans, *size)
    for strict in (False, True):
        with pytest.raises(cuaug.ImageTooLarge, match="more scans than the limit of 100"):
            cio.decode_jpeg(file, strict=strict)


def processor_time(call):
    """Processor time of this thread, the shortest of three."""
    seconds = []
    for _ in range(3):
        begin = time.thread_time()
        call()
        seconds.append(time.thread_time() - begin)
    return min(seconds)


@pytest.mark.alone
def test_decode_jpeg_refuses_many_scans_before_decoding():
    """To decode 5,000 scans would take 50 times as long as to decode 90."""
    below_limit = of_many_scans(80, 512, 512)  # 80 repeated scans and about ten of the original file
    beyond_limit = of_many_scans(5_000, 512, 512)

    def refuse():
        with pytest.raises(cuaug.ImageTooLarge):
            cio.decode_jpeg(beyond_limit, strict=False)

    assert processor_time(refuse) < 10 * processor_time(lambda: cio.decode_jpeg(below_limit, strict=False))


def test_decode_jpeg_max_scans_none_lifts_limit():
    file = of_many_scans(150, 16, 16)
    assert cio.decode_jpeg(file, strict=False, max_scans=None).shape == (16, 16, 3)
    with pytest.raises(cuaug.ImageTooLarge, match="more scans than the limit of 5"):
        cio.decode_jpeg(encoded_by_pillow(np.zeros((16, 16, 3), np.uint8), progressive=True), max_scans=5)


def test_decode_jpeg_max_memory_is_that_of_the_coefficients():
    """Of 64x48 pixels in 4:4:4: 3 * 64 * 48 of two bytes."""
    file = encoded_by_pillow(np.zeros((48, 64, 3), np.uint8), progressive=True, subsampling=0)
    assert cio.decode_jpeg(file, max_memory=18_432).shape == (48, 64, 3)
    with pytest.raises(cuaug.ImageTooLarge, match="18432 bytes"):
        cio.decode_jpeg(file, max_memory=18_431)


def test_decode_jpeg_limits_scans_times_pixels():
    """A file of 1.3 kB that would take seconds: many scans of an image within the other limits."""
    file = with_declared_size(of_many_scans(70, 16, 16), 9_400, 9_500)
    for call in (
        cio.read_header,
        functools.partial(cio.decode_jpeg, strict=False),
        functools.partial(cio.decode_jpeg, strict=False, scale=1 / 8),
        lambda data: cio.decode_and_crop_jpeg(data, 0, 0, 1, 1),
        functools.partial(cio.decode_image, strict=False),
    ):
        with pytest.raises(cuaug.ImageTooLarge, match="9400x9500 pixels, more pixels in all than the limit of"):
            call(file)


@pytest.mark.parametrize("number", range(len(base_files())))
def test_decode_jpeg_counts_the_scans_of_ordinary_files(number):
    file = base_files()[number]
    scans = sum(marker == 0xDA for marker, _, _ in segments(file))
    header, image = cio.read_header(file), cio.decode_jpeg(file)
    pixels = header.height * header.width
    for limits in ({"max_scans": scans}, {"max_scan_pixels": scans * pixels}, {"max_scan_pixels": None}):
        assert cio.read_header(file, **limits) == header
        assert np.array_equal(cio.decode_jpeg(file, **limits), image)
    if scans > 1:
        for limits in ({"max_scans": scans - 1}, {"max_scan_pixels": scans * pixels - 1}):
            for call in (cio.read_header, cio.decode_jpeg):
                with pytest.raises(cuaug.ImageTooLarge, match="scans"):
                    call(file, **limits)


def test_decode_jpeg_markers_within_segments_are_no_scans():
    file = encoded_by_pillow(np.zeros((16, 16, 3), np.uint8), progressive=True)
    starts = [start for marker, start, _ in segments(file) if marker == 0xDA]
    comment = b"\xff\xfe" + struct.pack(">H", 402) + b"\xff\xda" * 200
    with_comment = file[: starts[1]] + comment + file[starts[1] :]
    assert np.array_equal(cio.decode_jpeg(with_comment, max_scans=len(starts)), cio.decode_jpeg(file))
    with_fill_bytes = file[: starts[1]] + b"\xff" * 9 + file[starts[1] :]
    with pytest.raises(cuaug.ImageTooLarge, match="scans"):
        cio.decode_jpeg(with_fill_bytes, max_scans=len(starts) - 1)
