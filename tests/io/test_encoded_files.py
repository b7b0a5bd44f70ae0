"""Encoded images in the extension: Python bytes, and files that it reads."""

import os
import sys

import numpy as np
import pytest

from cuaug import _native as native
from cuaug import io
from cuaug._codecs import jpeg_headers
from cuaug._codecs import limits as limits_module
from cuaug.data.decode_threads import DecodeThreads
from cuaug.data.decoding import DecodeSettings, EncodedImages


@pytest.mark.parametrize("threads", [1, 3])
def test_encoded_files_bytes_files_and_ranges(tmp_path, threads):
    path = os.fsencode(tmp_path / "a file")
    (tmp_path / "a file").write_bytes(b"0123456789")
    os.mkfifo(tmp_path / "pipe")
    entries = {
        b"bytes": b"bytes",
        memoryview(b"of it"): b"of it",
        (path, 0, -1): b"0123456789",
        (path, 3, -1): b"3456789",
        (path, 3, 4): b"3456",
        (path, 10, -1): b"",
        (path, 3, 8): "the range is not within the file",
        (path, 11, -1): "the range is not within the file",
        (path, -1, 2): "the range is not within the file",
        (path + b"x", 0, -1): "No such file or directory",
        (os.fsencode(tmp_path), 0, -1): "not a file",
        (path[:-6] + b"pipe", 0, -1): "not a file",
        # A string is the caller's reason why there is no image; lone surrogates cannot be converted to UTF-8.
        "a name that is no text: \udcff": "a name that is no text: \udcff",
        b"": b"",
    }
    files = native.EncodedFiles([*entries], 0, threads)
    assert list(files) == [*entries.values()]
    assert len(files) == len(entries)


def test_encoded_files_limit_file_size(tmp_path):
    (tmp_path / "file").write_bytes(bytes(100))
    path = os.fsencode(tmp_path / "file")
    encoded = native.EncodedFiles([(path, 0, -1), (path, 1, -1)], 99)
    assert list(encoded) == ["100 bytes, more than the limit of 99", bytes(99)]


@pytest.mark.parametrize("index", [-1, 2, 2**40])
def test_encoded_files_rejects_missing_index(index):
    with pytest.raises(IndexError, match=f"2 files, and none at {index}"):
        native.EncodedFiles([b"a", b"b"])[index]


@pytest.mark.parametrize("entry", [None, 3, ("path", 0, -1), (b"path", 0), (b"path", "0", 0), np.zeros((4, 4))[:, ::2]])
def test_encoded_files_invalid_entry_releases_the_others(entry):
    data = bytearray(b"held")
    with pytest.raises((TypeError, ValueError, BufferError)):
        native.EncodedFiles([data, entry])
    data.clear()  # raises while a view of the bytes exists


def test_encoded_files_holds_and_releases_bytes():
    data = bytearray(b"held")
    references = sys.getrefcount(data)  # the number differs between Python versions
    files = native.EncodedFiles([data])
    with pytest.raises(BufferError):
        data.clear()
    assert sys.getrefcount(data) == references + 1
    del files
    data.clear()


@pytest.mark.jpeg
def test_jpeg_decode_keeps_its_input_alive():
    """The caller drops the files and the table of regions before `wait` decodes them and returns the failures."""
    image = np.full((16, 16, 3), 90, np.uint8)
    out = np.zeros((2, 16, 16, 3), np.uint8)
    files = native.EncodedFiles([io.encode_jpeg(image), io.encode_jpeg(image)[:200]])
    # columns: file, scale, top, left, height, width, address, pitch
    regions = np.array([(i, 1, 0, 0, 16, 16, out[i].ctypes.data, 48) for i in (1, 0)])
    pending = native.jpeg_decode(files, limits_module.limits_of(), regions, "rgb", True)
    del files, regions
    end_time, ((row, kind, reason),) = pending.wait()
    assert (row, kind) == (0, "DecodeError")
    assert reason
    assert np.abs(out[0].astype(int) - 90).max() <= 1
    assert pending.wait() == (end_time, [(row, kind, reason)])  # a second wait returns the same


@pytest.mark.jpeg
def test_jpeg_headers_jpeg_decode_reject_wrong_tables():
    files = native.EncodedFiles([io.encode_jpeg(np.zeros((16, 24, 3), np.uint8))])
    headers, failed = jpeg_headers.read(files, limits_module.limits_of())
    assert headers["size"].tolist() == [[16, 24]]
    assert not failed
    limits, columns = limits_module.limits_of(), jpeg_headers.HEADER.itemsize // 8
    with pytest.raises(ValueError, match="a row"):
        native.jpeg_headers(files, limits, np.zeros((2, columns), np.int64))
    with pytest.raises(ValueError, match=f"rows of {8 * columns} bytes"):
        native.jpeg_headers(files, limits, np.zeros((1, columns - 1), np.int64))
    read_only = np.zeros((1, columns), np.int64)
    read_only.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        native.jpeg_headers(files, limits, read_only)
    with pytest.raises(IndexError, match="none at 1"):
        native.jpeg_decode(files, limits, np.ones((1, jpeg_headers.REGION_COLUMNS), np.int64), "rgb", True)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.jpeg_decode(None, limits, np.ones((1, jpeg_headers.REGION_COLUMNS), np.int64), "rgb", True)


@pytest.mark.jpeg
def test_encoded_images_start_decode_equals_decode():
    rng = np.random.default_rng(20261120)
    files = [io.encode_jpeg(rng.integers(0, 256, (40, 56, 3), np.uint8)) for _ in range(5)]
    files[2] = files[2][:150]
    settings = DecodeSettings(threads=DecodeThreads(2), strict=True, dct_scale=True, limits=limits_module.limits_of())
    regions = np.array([[1, 3, 5, 20, 30]] * 5)
    memory = np.full(5 * 2000, 77, np.uint8)
    encoded = EncodedImages(files, settings)
    finish = encoded.start_decode(
        memory, offset=2000 * np.arange(5), pitch=np.full(5, 92), regions=regions, images=np.arange(5)
    )
    end_time = finish()
    assert end_time > 0
    assert [*encoded.bad] == [2]
    for i in (0, 1, 3, 4):
        rows = memory[2000 * i : 2000 * i + 1840].reshape(20, 92)
        np.testing.assert_array_equal(rows[:, :90].reshape(20, 30, 3), io.decode_and_crop_jpeg(files[i], 3, 5, 20, 30))
        assert (rows[:, 90:] == 77).all()
