"""cuaug.io.decode_image: formats other than JPEG, by Pillow and by OpenCV."""

import contextlib
import io
import itertools
import struct
import sys
import threading
import zlib

import numpy as np
import pytest
from helpers.jpeg import SEED
from helpers.photo import JPEG_FILE, PHOTO
from PIL import Image

import cuaug
from cuaug import io as cio
from cuaug._codecs import other_formats
from cuaug._codecs.limits import MAX_PIXELS
from cuaug._host import extension

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg


def encoded(image, format, **options):
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


LOSSLESS = {
    "PNG": {}, "BMP": {}, "TIFF": {}, "PPM": {}, "WEBP": {"lossless": True},
    "TIFF, LZW": {"compression": "tiff_lzw"},
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSLESS)
def test_decode_image_formats_round_trip(name):
    file = encoded(Image.fromarray(PHOTO), name.split(",")[0], **LOSSLESS[name])
    assert np.array_equal(cio.decode_image(file), PHOTO)
    assert np.array_equal(cio.decode_image(file, color="bgr")[..., ::-1], PHOTO)
    grey = cio.decode_image(file, color="gray")
    assert grey.shape == (60, 80, 1)
    assert np.abs(grey[..., 0] - PHOTO @ np.array([0.299, 0.587, 0.114])).max() <= 1
    images = cio.decode_image([JPEG_FILE, file, JPEG_FILE], like=torch)
    assert [tuple(image.shape) for image in images] == [(3, 60, 80)] * 3
    assert np.array_equal(images[1].permute(1, 2, 0).numpy(), PHOTO)
    assert np.array_equal(images[2].permute(1, 2, 0).numpy(), cio.decode_jpeg(JPEG_FILE))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_decode_image_modes_become_colors(mode):
    if mode == "I;16":
        levels16 = PHOTO[..., 0].astype(np.uint16) * 257
        file, expected = encoded(Image.fromarray(levels16), "PNG"), np.repeat(PHOTO[..., :1], 3, -1)
    else:
        image = Image.fromarray(PHOTO).convert(mode)
        file, expected = encoded(image, "TIFF" if mode == "CMYK" else "PNG"), np.asarray(image.convert("RGB"))
    assert np.array_equal(cio.decode_image(file), expected)


PNM_16_BITS = {  # the bytes after the size, of the values 0, 511 and 65535
    "binary": (5, b"65535 \x00\x00\x01\xff\xff\xff"),
    "text": (2, b"65535 0 511 65535"),
    "smaller maximum": (5, b"15420 \x00\x00\x00\x78\x3c\x3c"),  # 65535 * 4 / 17
}


@pytest.mark.parametrize("kind", PNM_16_BITS)
def test_decode_image_grey_pnm_of_16_bits_keeps_upper_bits(kind):
    """Pillow gives these files the mode of 32-bit images, which are refused."""
    variant, data = PNM_16_BITS[kind]
    assert cio.decode_image(b"P%d 3 1 " % variant + data, color="gray").ravel().tolist() == [0, 1, 255]
    file = encoded(Image.fromarray(np.full((2, 2), 1 << 20, np.int32)), "TIFF")
    with pytest.raises(cuaug.UnsupportedImage, match="TIFF of 32 bits a channel"):
        cio.decode_image(file)


def test_decode_image_tiff_of_12_bits_keeps_upper_bits():
    data = bytes([0x00, 0x00, 0x10, 0x80, 0x0F, 0xFF])  # 0, 16, 2048, 4095
    tags = {256: 4, 257: 1, 258: 12, 259: 1, 262: 1, 273: 8, 277: 1, 278: 1, 279: len(data)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    file = b"II*\0" + struct.pack("<I", 14) + data + struct.pack("<H", len(tags)) + entries + bytes(4)
    assert cio.decode_image(file, color="gray").ravel().tolist() == [0, 1, 128, 255]


def test_decode_image_checks_strict_for_every_format():
    for file in (JPEG_FILE, b"P6 1 1 255 abc"):
        with pytest.raises(TypeError, match="strict must be True or False, got 3"):
            cio.decode_image(file, strict=3)


def test_decode_image_first_frame_of_gif():
    frames = [Image.fromarray(np.full((9, 7, 3), level, np.uint8)) for level in (30, 200)]
    file = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert np.array_equal(cio.decode_image(file), np.full((9, 7, 3), 30))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["PNG", "TIFF", "TIFF, LZW", "WEBP"])
def test_decode_image_exif(name, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = encoded(Image.fromarray(PHOTO), name.split(",")[0], exif=exif, **LOSSLESS[name])
    expected = PHOTO.swapaxes(0, 1) if orientation >= 5 else PHOTO
    expected = expected[:: -1 if orientation in (3, 4, 7, 8) else 1, :: -1 if orientation in (2, 3, 6, 7) else 1]
    assert np.array_equal(cio.decode_image(file, orient=True), expected)
    assert np.array_equal(cio.decode_image(file), PHOTO)


@pytest.mark.parametrize("orientation", [*range(10), 300])
@pytest.mark.parametrize("endian", ["<", ">"])
def test_decode_image_opencv_applies_exif_as_pillow(monkeypatch, orientation, endian):
    exif = Image.Exif()
    exif.endian = endian
    exif[0x010E], exif[0x0112], exif[0x0128] = "a description", orientation, 2
    file = encoded(Image.fromarray(PHOTO), "PNG", exif=exif)
    expected = cio.decode_image(file, orient=True)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert np.array_equal(cio.decode_image(file, orient=True), expected)
    assert np.array_equal(cio.decode_image(file), PHOTO)
    for end in range(8, 200):  # through the chunk of EXIF
        with contextlib.suppress(cuaug.DecodeError):  # no other error
            cio.decode_image(file[:end], orient=True)


@pytest.mark.parametrize("missing_bytes", [0, 2])
def test_decode_image_opencv_ignores_exif_entry_that_is_cut_short(monkeypatch, missing_bytes):
    """The reader of JPEG headers ignores the entry, too."""
    tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x02\0\0\0"  # one entry: orientation 2
    tiff = tiff[: len(tiff) - missing_bytes]
    jpeg, png = (encoded(Image.fromarray(PHOTO), kind, exif=b"Exif\0\0" + tiff) for kind in ("JPEG", "PNG"))
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    expected, orientation = (PHOTO, 1) if missing_bytes else (PHOTO[:, ::-1], 2)
    assert np.array_equal(cio.decode_image(png, orient=True), expected)
    assert cio.read_header(jpeg).orientation == orientation


@pytest.mark.parametrize("kind", ["PNG", "BMP", "GIF"])
@pytest.mark.parametrize("color", ["rgb", "bgr", "gray"])
def test_decode_image_opencv_replaces_pillow(monkeypatch, kind, color):
    file = encoded(Image.fromarray(PHOTO[..., 0]), kind)
    expected = cio.decode_image(file, color=color)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert np.array_equal(cio.decode_image(file, color=color), expected)
    with pytest.raises(cuaug.ImageTooLarge, match="60x80 pixels, more than the limit of 100"):
        cio.decode_image(file, max_pixels=100)
    with pytest.raises(cuaug.DecodeError):
        cio.decode_image(file[:40])
    with pytest.raises(cuaug.DecodeError, match=f"^cuaug.io.decode_image: {kind}: the file ends in its header$"):
        cio.decode_image(file[:9])
    with pytest.raises(cuaug.BackendError, match="decoding WEBP needs Pillow: pip install pillow"):
        cio.decode_image(b"RIFF\0\0\0\0WEBP")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(cuaug.BackendError, match=f"decoding {kind} needs Pillow: pip install pillow"):
        cio.decode_image(file)


def test_decode_image_rejects_claimed_sizes():
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    png = encoded(Image.fromarray(PHOTO), "PNG")
    chunk = b"IHDR" + header
    bomb = png[:8] + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[33:]
    with pytest.raises(cuaug.ImageTooLarge, match="30000x30000 pixels, more than the limit of "):
        cio.decode_image(bomb)
    with pytest.raises(cuaug.ImageTooLarge, match="a side longer than the limit of 65500"):
        cio.decode_image(b"P6 70000 1 255 ")


def test_decode_image_damage_raises_decode_error():
    """2,400 damaged files: whatever Pillow raises becomes a DecodeError."""
    rng = np.random.default_rng(SEED)
    small = Image.fromarray(PHOTO[:24, :24])
    bases = [encoded(small, kind) for kind in ("PNG", "BMP", "TIFF", "PPM", "WEBP", "GIF")]
    outcomes = []
    for number in range(2_400):
        data = bytearray(bases[number % 6])
        for _ in range(rng.integers(1, 6)):
            data[rng.integers(min(len(data), 200 if number % 4 else len(data)))] = rng.integers(256)
        try:
            cio.decode_image(bytes(data[: rng.integers(len(data))] if number % 3 == 0 else data), max_pixels=1 << 20)
            outcomes.append("array")
        except cuaug.DecodeError as error:
            outcomes.append(type(error).__name__)
    assert {"array", "DecodeError", "ImageTooLarge", "UnsupportedImage"} == set(outcomes)


def test_decode_image_list_is_decoded_in_parallel(monkeypatch):
    """Two decodes wait for each other; of several failures the first in the list is reported."""
    barrier, decode = threading.Barrier(2), other_formats.decode
    monkeypatch.setattr(other_formats, "decode", lambda *arguments: (barrier.wait(20), decode(*arguments))[1])
    before = extension.extension().threads()
    cuaug.set_num_threads(2)
    try:
        images = [np.roll(PHOTO, i, 0) for i in range(6)]
        files = [encoded(Image.fromarray(image), "PNG") for image in images]
        decoded = cio.decode_image([*files[:3], JPEG_FILE, *files[3:]])
        np.testing.assert_array_equal(np.array([*decoded[:3], *decoded[4:]]), images)
        monkeypatch.setattr(other_formats, "decode", decode)
        files[2], files[4] = files[2][:60], files[4][:60]
        with pytest.raises(cuaug.DecodeError, match="image 2"):
            cio.decode_image(files)
    finally:
        cuaug.set_num_threads(before)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("cuaug-decode")]


def bmp_run_lengths(side):
    """Rows of runs of 255 pixels, in 8 bits."""
    row = b"\xff\x07" * (side // 255) + bytes([side % 255, 7]) + b"\0\0"
    palette, body = bytes(1024), row * side + b"\0\1"
    header = struct.pack("<IiiHHIIiiII", 40, side, side, 1, 8, 1, len(body), 0, 0, 256, 0)
    return b"BM" + struct.pack("<IHHI", 1078 + len(body), 0, 0, 1078) + header + palette + body


SLOW_FILES = {  # number of values per pixel, and a function from a side length to a square file
    "plain bits": (1, lambda side: b"P1 %d %d\n" % (side, side) + b"1" * side**2),
    "plain grey": (1, lambda side: b"P2 %d %d 255\n" % (side, side) + b"1 " * side**2),
    "plain rgb": (3, lambda side: b"P3 %d %d 255\n" % (side, side) + b"1 " * 3 * side**2),
    "maximum 100": (3, lambda side: b"P6 %d %d 100\n" % (side, side) + b"1" * 3 * side**2),
    "run lengths": (1, bmp_run_lengths),
}


@pytest.mark.parametrize("kind", SLOW_FILES)
def test_decode_image_limits_what_pillow_decodes_in_python(kind):
    """Without a limit of their own, files within the other limits would take minutes: Pillow decodes them in Python."""
    values, file = SLOW_FILES[kind]
    side = int((MAX_PIXELS / 16 / values) ** 0.5)
    with pytest.raises(cuaug.ImageTooLarge, match=r"Python.*limit of 89478485 pixels"):
        cio.decode_image(file(side + 1)[:4_000])
    small = file(30)
    assert cio.decode_image(small, max_pixels=16 * values * 900).shape == (30, 30, 3)
    assert cio.decode_image(small, max_pixels=None).shape == (30, 30, 3)
    with pytest.raises(cuaug.ImageTooLarge, match="a value counts as 16 pixels"):
        cio.decode_image(small, max_pixels=16 * values * 900 - 1)


@pytest.mark.parametrize("data", [b"hello, world", b"%!PS-Adobe", b"\x00\x00\x00\x0cjP  "], ids=repr)
def test_decode_image_rejects_unknown_formats(data):
    with pytest.raises(cuaug.UnsupportedImage, match="not an image of a known format"):
        cio.decode_image(data)


def test_decode_image_reports_the_first_file_that_fails():
    png = encoded(Image.fromarray(PHOTO), "PNG")
    broken = {"png": png[:-40], "jpeg": JPEG_FILE[:-400], "text": b"no image"}
    for first, second in itertools.product(broken, repeat=2):
        for data in ([JPEG_FILE, png, broken[first], broken[second]], [png, broken[first], JPEG_FILE, broken[second]]):
            index = data.index(broken[first])
            with pytest.raises(cuaug.DecodeError, match=f"^cuaug.io.decode_image: image {index}: ") as caught:
                cio.decode_image(data)
            assert caught.value.index == index
