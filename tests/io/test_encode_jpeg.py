"""cuaug.io.encode_jpeg: layouts, libraries, round trips, and rejected images."""

import cv2
import numpy as np
import pytest
from helpers.arrays import Exporter
from helpers.jpeg import SEED
from helpers.photo import PHOTO

from cuaug import io as cio

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW", "NHWC", "NCHW"])
def test_encode_jpeg_layouts(layout):
    image = PHOTO[..., 0] if layout == "HW" else PHOTO
    array = image if "C" not in layout or layout.endswith("C") else np.moveaxis(image, -1, 0)
    array = np.stack([array] * 2) if "N" in layout else array
    file = cio.encode_jpeg(array, 90, layout=layout)
    assert (file[0] if "N" in layout else file) == cio.encode_jpeg(np.ascontiguousarray(image), 90)


def test_encode_jpeg_libraries():
    file = cio.encode_jpeg(PHOTO)
    assert cio.encode_jpeg(torch.from_numpy(PHOTO).permute(2, 0, 1)) == file
    assert cio.encode_jpeg(torch.from_numpy(PHOTO).permute(2, 0, 1)[None].contiguous()) == [file]
    assert cio.encode_jpeg(pytest.importorskip("jax.numpy").asarray(PHOTO)) == file
    assert cio.encode_jpeg(PHOTO[..., ::-1], color="bgr") == file
    assert cio.encode_jpeg(np.repeat(PHOTO, 2, 1)[:, ::2]) == file
    grey = np.ascontiguousarray(PHOTO[..., :1])
    assert cio.encode_jpeg([PHOTO, grey, PHOTO]) == [file, cio.encode_jpeg(grey), file]
    assert cio.read_header(cio.encode_jpeg(PHOTO, subsampling="gray")).channels == 1


def test_encode_jpeg_round_trip():
    flat = np.full((33, 47, 3), 99, np.uint8)
    for sampling in ("444", "422", "420", "440", "411", "gray"):
        file = cio.encode_jpeg(flat, 100, sampling)
        assert cio.read_header(file).subsampling == sampling
        assert np.array_equal(cio.decode_jpeg(file), flat)
    # The file is larger than the buffer that the encoder begins with, so the buffer must grow.
    noise = np.random.default_rng(SEED).integers(0, 256, (700, 900, 3), np.uint8)
    file = cio.encode_jpeg(noise, 100, "444")
    assert np.abs(cio.decode_jpeg(file).astype(int) - noise).mean() < 1
    assert np.array_equal(cv2.imdecode(np.frombuffer(file, np.uint8), 1)[..., ::-1], cio.decode_jpeg(file))


@pytest.mark.parametrize(
    ("images", "options", "error", "words"),
    [
        (PHOTO.astype(np.float32), {}, TypeError, "images must be uint8, got float32"),
        (PHOTO[..., :2], {}, ValueError, "images must have 1 or 3 channels, got 2"),
        (PHOTO[None, None], {"layout": "NTHWC"}, ValueError, "images must have no axis T, got NTHWC"),
        ([PHOTO, PHOTO[None]], {}, ValueError, r"images in a list must be single images, got shape \(1, 60, 80, 3\)"),
        (
            [Exporter(PHOTO[None])],
            {},
            ValueError,
            r"images in a list must be single images, got shape \(1, 60, 80, 3\)",
        ),
        (np.zeros((0, 4, 3), np.uint8), {}, ValueError, "images must not be empty along H"),
        (np.zeros((1, 65_501, 3), np.uint8), {}, ValueError, "images must have sides of at most 65500"),
        (b"abc", {}, TypeError, "images must be an array"),
        (PHOTO, {"quality": 0}, ValueError, "quality must be at least 1"),
        (PHOTO, {"quality": 101}, ValueError, r"quality must be in 1\.\.100, got 101"),
        (PHOTO, {"subsampling": "4:2:0"}, ValueError, "subsampling must be one of"),
        (PHOTO, {"progressive": 1}, TypeError, "progressive must be True or False"),
    ],
)
def test_encode_jpeg_rejects_invalid_arguments(images, options, error, words):
    with pytest.raises(error, match=r"cuaug\.io\.encode_jpeg: " + words):
        cio.encode_jpeg(images, **options)
