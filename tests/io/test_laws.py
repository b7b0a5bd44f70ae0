"""Decoding equals other decoders, and a decoded part equals that part of the full image."""

import io
import itertools

import cv2
import numpy as np
import pytest
from helpers.jpeg import (
    SAMPLINGS,
    SEED,
    base_files,
    encoded,
    encoded_by_pillow,
    frame_offset,
    random_part,
    with_byte,
    with_declared_size,
    with_segments,
)
from helpers.jpeg_writer import random_jpeg, segment
from PIL import Image

import cuaug
from cuaug import io as cio

pytestmark = pytest.mark.jpeg

SCALES = (1, 1 / 2, 1 / 4, 1 / 8)
COLORS = ("rgb", "bgr", "gray")
# (horizontal, vertical) samplings of the components: usual ones, and rare ones.
LAYOUTS = [
    [(1, 1)], [(2, 2)], [(1, 1)] * 3, [(2, 1), (1, 1), (1, 1)], [(2, 2), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)],
    [(4, 1), (1, 1), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(2, 4), (1, 1), (1, 1)], [(1, 4), (1, 1), (1, 1)],
    [(2, 2), (2, 1), (1, 2)], [(4, 1), (2, 1), (1, 1)], [(1, 1), (2, 2), (1, 1)], [(2, 2), (2, 1), (2, 1)],
    [(1, 1)] * 4, [(2, 2), (1, 1), (1, 1), (2, 2)],
]  # fmt: skip


def boxes(rng, height, width, count):
    """Boxes at all four edges, one pixel wide and high, on block borders and off them."""
    yield from [(0, 0, 1, 1), (height - 1, width - 1, 1, 1), (0, 0, height, 1), (height - 1, 0, 1, width)]
    for _ in range(count):
        top, left = int(rng.integers(height)), int(rng.integers(width))
        if rng.random() < 0.3:
            top, left = top // 8 * 8, left // 8 * 8
        tall, wide = (1 if rng.random() < 0.2 else int(rng.integers(1, n + 1)) for n in (height - top, width - left))
        yield top, left, tall, wide


def assert_crops_are_slices(file, rng, count):
    for scale, color in itertools.product(SCALES, COLORS):
        image = cio.decode_jpeg(file, scale=scale, color=color)
        for top, left, tall, wide in boxes(rng, *image.shape[:2], count):
            crop = cio.decode_and_crop_jpeg(file, top, left, tall, wide, scale=scale, color=color)
            same = np.array_equal(crop, image[top : top + tall, left : left + wide])
            assert same, f"scale={scale}, color={color}, box {(top, left, tall, wide)} of {image.shape}"


@pytest.mark.parametrize("progressive", [False, True], ids=["baseline", "progressive"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", [(61, 83), (64, 64), (33, 200), (5, 17), (130, 131)], ids=str)
def test_decode_and_crop_jpeg_is_a_slice(sampling, progressive, size):
    rng = np.random.default_rng(SEED)
    file = encoded(random_part(rng, *size), sampling, progressive=progressive, restart=int(rng.integers(4)))
    assert_crops_are_slices(file, rng, 6)


@pytest.mark.parametrize("kind", ["interleaved", "restarts", "scans"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: "".join(f"{h}{v}" for h, v in layout))
def test_decode_and_crop_jpeg_is_a_slice_for_every_sampling(layout, kind):
    rng = np.random.default_rng([SEED, len(kind)])
    for size in ((40, 77), (67, 33), (96, 128)):
        file = random_jpeg(
            rng, size, layout, restart=2 * (kind == "restarts"), interleaved=kind != "scans",
            adobe=2 if len(layout) == 4 else None,
        )  # fmt: skip
        assert_crops_are_slices(file, rng, 2)


def test_decode_and_crop_jpeg_of_incomplete_progressive_file_is_a_slice():
    """The decoder smooths blocks of an incomplete file with their neighbours."""
    rng = np.random.default_rng(SEED)
    file = encoded(random_part(rng, 120, 160), progressive=True)
    scans = [at for at in range(len(file) - 1) if file[at : at + 2] == b"\xff\xda"]
    for end in scans[1:4]:
        assert_crops_are_slices(file[:end] + b"\xff\xd9", rng, 5)


def test_decode_jpeg_out_leaves_other_bytes():
    rng = np.random.default_rng(SEED)
    for file in base_files():
        header = cio.read_header(file)
        for poison in (0xA5, 0x5A):
            padded = np.full((header.height + 2, header.width + 4, 3), poison, np.uint8)
            inner = padded[1:-1, 2:-2]
            cio.decode_jpeg(file, out=inner)
            decoded = inner.copy()
            inner[...] = poison
            assert (padded == poison).all()
            assert np.array_equal(decoded, cio.decode_jpeg(file))
            top, left = int(rng.integers(header.height)), int(rng.integers(header.width))
            part = padded[1 : header.height - top + 1, 2 : header.width - left + 2]
            cio.decode_and_crop_jpeg(file, top, left, header.height - top, header.width - left, out=part)
            assert np.array_equal(part, decoded[top:, left:])
            part[...] = poison
            assert (padded == poison).all()


# Other versions or copies of libjpeg-turbo differ by a rounding in transforms and upsampling.
ONE_LEVEL = 1


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("progressive", [False, True], ids=["baseline", "progressive"])
def test_decode_jpeg_equals_pillow_and_opencv(sampling, progressive):
    rng = np.random.default_rng(SEED)
    for number in range(30):
        size = int(rng.integers(9, 200)), int(rng.integers(9, 200))
        file = encoded(random_part(rng, *size), sampling, quality=int(rng.integers(20, 100)), progressive=progressive)
        decoded = cio.decode_jpeg(file).astype(int)
        pillow = np.asarray(Image.open(io.BytesIO(file)), int)
        opencv = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_COLOR)[..., ::-1].astype(int)
        assert decoded.shape == pillow.shape == opencv.shape
        assert max(np.abs(decoded - pillow).max(), np.abs(decoded - opencv).max()) <= ONE_LEVEL, f"file {number}"
        grey = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_GRAYSCALE)
        assert np.abs(cio.decode_jpeg(file, color="gray")[..., 0].astype(int) - grey).max() <= ONE_LEVEL
        assert np.array_equal(cio.decode_jpeg(file, color="bgr")[..., ::-1], decoded)


@pytest.mark.parametrize("scale", SCALES[1:])
def test_decode_jpeg_scale_equals_pillow(scale):
    rng = np.random.default_rng(SEED)
    for sampling in ("444", "422", "420"):
        file = encoded(random_part(rng, 128, 192), sampling)
        with Image.open(io.BytesIO(file)) as image:
            image.draft("RGB", (round(192 * scale), round(128 * scale)))
            expected = np.asarray(image, int)
        assert np.abs(cio.decode_jpeg(file, scale=scale).astype(int) - expected).max() <= ONE_LEVEL


@pytest.mark.parametrize("layout", LAYOUTS[:-2], ids=lambda layout: "".join(f"{h}{v}" for h, v in layout))
def test_decode_jpeg_sampling_equals_pillow(layout):
    rng = np.random.default_rng(SEED)
    file = random_jpeg(rng, (67, 93), layout)
    expected = np.asarray(Image.open(io.BytesIO(file)).convert("RGB"), int)
    assert np.abs(cio.decode_jpeg(file).astype(int) - expected).max() <= ONE_LEVEL


@pytest.mark.parametrize("transform", [0, 2], ids=["cmyk", "ycck"])
def test_decode_jpeg_cmyk_equals_pillow(transform):
    file = random_jpeg(np.random.default_rng(SEED), (40, 56), [(1, 1)] * 4, adobe=transform)
    expected = np.asarray(Image.open(io.BytesIO(file)).convert("RGB"), int)
    rgb = cio.decode_jpeg(file)
    assert np.abs(rgb.astype(int) - expected).max() <= ONE_LEVEL
    assert np.array_equal(cio.decode_jpeg(file, color="bgr")[..., ::-1], rgb)
    grey = rgb @ np.array([0.299, 0.587, 0.114])
    assert np.abs(cio.decode_jpeg(file, color="gray")[..., 0] - grey).max() <= 0.51
    assert cio.read_header(file)[2:5] == (4, "444", "cmyk" if transform == 0 else "ycck")


def test_decode_jpeg_rgb_stored_without_transform():
    file = random_jpeg(np.random.default_rng(SEED), (40, 56), [(1, 1)] * 3, adobe=0)
    assert cio.read_header(file).color_space == "rgb"
    expected = np.asarray(Image.open(io.BytesIO(file)), int)
    assert np.abs(cio.decode_jpeg(file).astype(int) - expected).max() <= ONE_LEVEL
    assert np.array_equal(cio.decode_jpeg(file, color="bgr")[..., ::-1], cio.decode_jpeg(file))


def unsupported():
    base = encoded_by_pillow(np.zeros((16, 24, 3), np.uint8))
    at = frame_offset(base)
    yield "12 bits", with_byte(base, at + 4, 12), "precision 12"
    yield "lossless", with_byte(base, at + 1, 0xC3), "lossless|0xc3|SOF type"
    yield "hierarchical", with_byte(base, at + 1, 0xC5), "SOF type 0xc5"
    yield "2 components", random_jpeg(np.random.default_rng(SEED), (16, 16), [(1, 1)] * 2), "2 components"
    yield (
        "3 samples to 2",
        random_jpeg(np.random.default_rng(SEED), (16, 16), [(3, 1), (2, 1), (2, 1)]),
        "[Ff]ractional",
    )


@pytest.mark.parametrize(("file", "words"), [pytest.param(*case, id=kind) for kind, *case in unsupported()])
def test_decode_jpeg_names_unsupported_files(file, words):
    with pytest.raises(cuaug.UnsupportedImage, match=words):
        cio.decode_jpeg(file)


@pytest.mark.parametrize(
    ("height", "width", "hint", "size"),
    [
        (400, 600, (100, 150), (100, 150)), (400, 600, (101, 100), (200, 300)), (400, 600, (400, 10), (400, 600)),
        (400, 600, (500, 500), (400, 600)), (401, 601, (51, 76), (51, 76)), (401, 601, (1, 1), (51, 76)),
    ],
)  # fmt: skip
def test_decode_jpeg_hint_chooses_scale(height, width, hint, size):
    file = encoded_by_pillow(np.zeros((height, width, 3), np.uint8))
    assert cio.decode_jpeg(file, size_hint=hint).shape[:2] == size


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_decode_jpeg_orientation_equals_pillow(orientation, order):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    exif.endian = order
    photo = random_part(np.random.default_rng(SEED), 50, 83)
    file = encoded_by_pillow(photo, exif=exif)
    with Image.open(io.BytesIO(file)) as image:
        expected = np.asarray(ImageOps.exif_transpose(image), int)
    assert cio.read_header(file).orientation == orientation
    decoded = cio.decode_jpeg(file, orient=True)
    assert decoded.shape == expected.shape
    assert np.abs(decoded.astype(int) - expected).max() <= ONE_LEVEL
    assert cio.decode_jpeg(file).shape == (50, 83, 3)
    crop = cio.decode_and_crop_jpeg(file, 7, 11, 20, 13, orient=True)
    assert np.array_equal(crop, decoded[7:27, 11:24])
    out = np.empty_like(decoded)
    assert cio.decode_jpeg(file, orient=True, out=out) is out
    assert np.array_equal(out, decoded)


def broken_exif():
    """An orientation (tag 0x0112) that is cut short or has a wrong offset, magic number, count, type or value."""
    entry = b"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"
    tiff = b"MM\0*\0\0\0\x08\x00\x01" + entry
    yield from [tiff[:9], tiff[:15], tiff.replace(b"\0\0\0\x08", b"\xff\xff\xff\xff"), tiff.replace(b"MM\0*", b"MM\0+")]
    yield tiff.replace(b"\x00\x03\x00\x00\x00\x01", b"\x00\x03\x7f\xff\xff\xff")
    yield tiff.replace(b"\x00\x03\x00\x00\x00\x01", b"\x00\x09\x00\x00\x00\x01")
    yield tiff.replace(b"\x00\x06\x00\x00", b"\x00\x09\x00\x00")
    yield tiff.replace(b"\x00\x06\x00\x00", b"\x00\x00\x00\x00")


@pytest.mark.parametrize("tiff", list(broken_exif()))
def test_decode_jpeg_ignores_invalid_exif(tiff):
    file = encoded_by_pillow(np.zeros((16, 24, 3), np.uint8))
    assert cio.read_header(with_segments(file, segment(0xE1, b"Exif\0\0" + tiff))).orientation == 1


def test_read_header_fields():
    rng = np.random.default_rng(SEED)
    for sampling, progressive in itertools.product(SAMPLINGS, (False, True)):
        file = encoded(random_part(rng, 20, 30), sampling, progressive=progressive)
        assert cio.read_header(file) == cio.Header(20, 30, 3, sampling, "ycbcr", progressive, 1)
    assert cio.read_header(encoded_by_pillow(random_part(rng, 20, 30), "L"))[2:5] == (1, "gray", "gray")
    assert cio.read_header(with_declared_size(file, 70, 80))[:2] == (70, 80)


@pytest.mark.parametrize("progressive", [False, True], ids=["baseline", "progressive"])
@pytest.mark.parametrize(("subsampling", "pillow_subsampling"), [("444", 0), ("422", 1), ("420", 2)])
def test_encode_jpeg_equals_pillow(subsampling, pillow_subsampling, progressive):
    """Pillow encodes with libjpeg-turbo, too. Its copy may round differently."""
    photo = random_part(np.random.default_rng(SEED), 123, 181)
    for quality in (30, 75, 95):
        file = cio.encode_jpeg(photo, quality, subsampling, progressive=progressive)
        options = {"quality": quality, "subsampling": pillow_subsampling, "progressive": progressive}
        pillow_file = encoded_by_pillow(photo, **options)
        assert np.abs(cio.decode_jpeg(file).astype(int) - cio.decode_jpeg(pillow_file)).max() <= ONE_LEVEL
        header = cio.read_header(file)
        assert (header.subsampling, header.progressive) == (subsampling, progressive)
