"""``cuaug.io`` takes data in every form, gives what was asked for, and reads the other formats."""

import io
import struct
import sys
import threading

import cv2
import numpy as np
import pytest
from helpers.child_process import python
from helpers.compare import assert_equal, describe
from helpers.jpeg import SEED, by_pillow, encoded, photographs, piece
from PIL import Image

import cuaug
from cuaug import io as cio
from cuaug._codecs import other_formats as _codecs
from cuaug._host import extension as _cpu

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg

PHOTO = photographs()[0][:60, 100:180]
FILE = encoded(PHOTO)


def as_jax(data):
    jnp = pytest.importorskip("jax.numpy")
    return jnp.asarray(np.frombuffer(data, np.uint8))


FORMS = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "numpy": lambda data: np.frombuffer(data, np.uint8),
    "strided": lambda data: np.repeat(np.frombuffer(data, np.uint8), 2)[::2],
    "torch": lambda data: torch.frombuffer(bytearray(data), dtype=torch.uint8),
    "jax": as_jax,
}


@pytest.mark.parametrize("form", FORMS)
def test_decode_jpeg_accepts_every_form_of_data(form):
    data = FORMS[form](FILE)
    assert np.array_equal(cio.decode_jpeg(data), cio.decode_jpeg(FILE))
    assert cio.read_header([data, FILE]) == [cio.read_header(FILE)] * 2


def test_decode_jpeg_reads_paths(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(FILE)
    for given in (path, str(path)):
        assert np.array_equal(cio.decode_jpeg(given), cio.decode_jpeg(FILE))
    with pytest.raises(cuaug.ImageTooLarge, match=r"photo\.jpg': \d+ bytes, more than the limit of 10"):
        cio.decode_jpeg(path, max_bytes=10)
    with pytest.raises(cuaug.ImageTooLarge, match="more bytes than the limit"):
        cio.decode_jpeg("/dev/zero", max_bytes=1 << 20)
    with pytest.raises(FileNotFoundError):
        cio.decode_jpeg(tmp_path / "none.jpg")


@pytest.mark.parametrize("data", [3, None, [3], {"a": 1}, np.zeros((2, 2), np.uint8), np.zeros(4, np.int8), 1.5])
def test_decode_jpeg_rejects_other_data(data):
    with pytest.raises(TypeError, match=r"cuaug\.io\.decode_jpeg: data"):
        cio.decode_jpeg(data)


@pytest.mark.parametrize("like", [None, "numpy", np, "torch", torch], ids=str)
@pytest.mark.parametrize("color", ["rgb", "gray"])
def test_decode_jpeg_like_and_color(like, color):
    expected = cio.decode_jpeg(FILE, color=color)
    assert expected.shape == (60, 80, 1 if color == "gray" else 3)
    for call in (cio.decode_jpeg, cio.decode_image):
        one, (many, _) = call(FILE, color=color, like=like), call([FILE, FILE], color=color, like=like)
        if like in ("torch", torch):
            assert describe(one) == ("torch", "cpu", "uint8")
            assert one.permute(1, 2, 0).is_contiguous()
            one, many = (image.permute(1, 2, 0).numpy() for image in (one, many))
        assert_equal(one, expected)
        assert_equal(many, expected)


def test_decode_jpeg_empty_list():
    assert cio.decode_jpeg([]) == cio.read_header([]) == cio.decode_image([]) == cio.encode_jpeg([]) == []
    out = np.empty((0, 4, 4, 3), np.uint8)
    assert cio.decode_jpeg([], out=out) is out


def test_decode_jpeg_different_sizes_are_a_list():
    rng = np.random.default_rng(SEED)
    photos = [piece(rng, *size) for size in ((20, 30), (31, 17), (8, 8))]
    decoded = cio.decode_jpeg([encoded(photo) for photo in photos])
    assert [image.shape for image in decoded] == [photo.shape for photo in photos]
    crops = cio.decode_and_crop_jpeg([encoded(photo) for photo in photos], [0, 1, 2], 2, (5, 6, 4), np.array([4, 3, 2]))
    for crop, image, (top, height, width) in zip(crops, decoded, [(0, 5, 4), (1, 6, 3), (2, 4, 2)], strict=True):
        assert np.array_equal(crop, image[top : top + height, 2 : 2 + width])
    with pytest.raises(ValueError, match="top must be one int, or 3"):
        cio.decode_and_crop_jpeg([FILE] * 3, [0, 1], 0, 1, 1)


def test_decode_jpeg_out():
    expected = cio.decode_jpeg(FILE)
    dense = np.zeros((2, 60, 80, 3), np.uint8)
    assert cio.decode_jpeg([FILE, FILE], out=dense) is dense
    assert np.array_equal(dense, [expected] * 2)
    batch = torch.empty((2, 3, 60, 80), dtype=torch.uint8).contiguous(memory_format=torch.channels_last)
    assert cio.decode_jpeg([FILE, FILE], out=batch) is batch
    assert np.array_equal(batch.permute(0, 2, 3, 1).numpy(), dense)
    backwards = np.zeros((60, 80, 3), np.uint8)[::-1]
    cio.decode_jpeg(FILE, out=backwards)
    assert np.array_equal(backwards, expected)


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros((60, 80, 3), np.float32), ValueError, "out must be uint8"),
        (np.zeros((60, 81, 3), np.uint8), ValueError, "out must be uint8 of shape"),
        (np.zeros((3, 60, 80), np.uint8), ValueError, "out must be uint8 of shape"),
        (np.zeros((60, 160, 3), np.uint8)[:, ::2], ValueError, "side by side"),
        (torch.zeros((3, 60, 80), dtype=torch.uint8), ValueError, "side by side"),
        (b"\0" * 14400, TypeError, "out must be a numpy array or a torch tensor"),
        (np.frombuffer(bytes(14400), np.uint8).reshape(60, 80, 3), TypeError, "out must be writable"),
    ],
)
def test_decode_jpeg_rejects_unfit_out(out, error, words):
    with pytest.raises(error, match=words):
        cio.decode_jpeg(FILE, out=out)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"scale": 0.3}, ValueError, "scale must be 1, 1/2, 1/4 or 1/8, got 0.3"),
        ({"scale": True}, ValueError, "scale must be"),
        ({"scale": float("nan")}, ValueError, "scale must be"),
        ({"scale": 0.5, "size_hint": (3, 3)}, ValueError, "scale and size_hint exclude each other"),
        ({"size_hint": 3}, ValueError, r"size_hint must be \(H, W\)"),
        ({"size_hint": (0, 3)}, ValueError, "size_hint must be at least 1"),
        ({"color": "hsv"}, ValueError, "color must be one of 'rgb', 'bgr', 'gray', got 'hsv'"),
        ({"orient": 1}, TypeError, "orient must be True or False"),
        ({"strict": None}, TypeError, "strict must be True or False"),
        ({"like": "jax"}, ValueError, "like must be 'numpy' or 'torch'"),
        ({"pin": True}, ValueError, "pin=True needs like='torch'"),
        (
            {"like": "torch", "out": np.zeros((60, 80, 3), np.uint8)},
            ValueError,
            "out says what the result is: leave out like, pin and device",
        ),
        ({"max_pixels": 0}, ValueError, "max_pixels must be at least 1"),
        ({"max_scans": 1.5}, TypeError, "max_scans must be an int"),
    ],
)
def test_decode_jpeg_rejects_invalid_arguments(options, error, words):
    with pytest.raises(error, match=r"cuaug\.io\.decode_jpeg: " + words) as raised:
        cio.decode_jpeg(FILE, **options)
    assert not isinstance(raised.value, cuaug.DecodeError)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to pin memory for")
def test_decode_jpeg_pinned_memory_needs_gpu():
    with pytest.raises(cuaug.BackendError, match="pinned memory needs a CUDA device"):
        cio.decode_jpeg(FILE, like=torch, pin=True)


def test_decode_jpeg_without_decoder_names_repair(monkeypatch):
    class Native:
        pass

    monkeypatch.setattr(_cpu, "extension", Native)
    for call in (cio.decode_jpeg, cio.read_header, lambda file: cio.decode_and_crop_jpeg(file, 0, 0, 1, 1)):
        with pytest.raises(cuaug.BackendError, match=r"apt install libjpeg62-turbo-dev .* pip install"):
            call(FILE)
    with pytest.raises(cuaug.BackendError, match="libjpeg-turbo"):
        cio.encode_jpeg(PHOTO)


def test_io_import_brings_numpy_alone():
    found = python("import sys, cuaug.io; print({'torch', 'PIL', 'cv2', 'jax', 'cupy'} & set(sys.modules))")[0]
    assert found == "set()"


# ---- other formats


def by_format(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


LOSSLESS = {
    "PNG": {}, "BMP": {}, "TIFF": {}, "PPM": {}, "WEBP": {"lossless": True},
    "TIFF, LZW": {"compression": "tiff_lzw"},
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSLESS)
def test_decode_image_formats_round_trip(name):
    file = by_format(Image.fromarray(PHOTO), name.split(",")[0], **LOSSLESS[name])
    assert np.array_equal(cio.decode_image(file), PHOTO)
    assert np.array_equal(cio.decode_image(file, color="bgr")[..., ::-1], PHOTO)
    grey = cio.decode_image(file, color="gray")
    assert grey.shape == (60, 80, 1)
    assert np.abs(grey[..., 0] - PHOTO @ np.array([0.299, 0.587, 0.114])).max() <= 1
    together = cio.decode_image([FILE, file, FILE], like=torch)
    assert [tuple(image.shape) for image in together] == [(3, 60, 80)] * 3
    assert np.array_equal(together[1].permute(1, 2, 0).numpy(), PHOTO)
    assert np.array_equal(together[2].permute(1, 2, 0).numpy(), cio.decode_jpeg(FILE))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_decode_image_modes_become_colors(mode):
    if mode == "I;16":
        deep = PHOTO[..., 0].astype(np.uint16) * 257
        file, expected = by_format(Image.fromarray(deep), "PNG"), np.repeat(PHOTO[..., :1], 3, -1)
    else:
        image = Image.fromarray(PHOTO).convert(mode)
        file, expected = by_format(image, "TIFF" if mode == "CMYK" else "PNG"), np.asarray(image.convert("RGB"))
    assert np.array_equal(cio.decode_image(file), expected)


def test_decode_image_first_frame_of_gif():
    frames = [Image.fromarray(np.full((9, 7, 3), level, np.uint8)) for level in (30, 200)]
    file = by_format(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert np.array_equal(cio.decode_image(file), np.full((9, 7, 3), 30))


def test_decode_image_exif():
    exif = Image.Exif()
    exif[0x0112] = 6
    file = by_format(Image.fromarray(PHOTO), "PNG", exif=exif)
    assert np.array_equal(cio.decode_image(file, orient=True), np.rot90(PHOTO, -1))
    assert np.array_equal(cio.decode_image(file), PHOTO)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "GIF"])
@pytest.mark.parametrize("color", ["rgb", "bgr", "gray"])
def test_decode_image_opencv_replaces_pillow(monkeypatch, kind, color):
    file = by_format(Image.fromarray(PHOTO[..., 0]), kind)
    expected = cio.decode_image(file, color=color)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert np.array_equal(cio.decode_image(file, color=color), expected)
    with pytest.raises(cuaug.ImageTooLarge, match="60x80 pixels, more than the limit of 100"):
        cio.decode_image(file, max_pixels=100)
    with pytest.raises(cuaug.DecodeError):
        cio.decode_image(file[:40])
    with pytest.raises(cuaug.BackendError, match="decoding WEBP needs Pillow: pip install pillow"):
        cio.decode_image(b"RIFF\0\0\0\0WEBP")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(cuaug.BackendError, match=f"decoding {kind} needs Pillow: pip install pillow"):
        cio.decode_image(file)


def test_decode_image_rejects_claimed_sizes():
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    whole = by_format(Image.fromarray(PHOTO), "PNG")
    import zlib

    chunk = b"IHDR" + header
    bomb = whole[:8] + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk)) + whole[33:]
    with pytest.raises(cuaug.ImageTooLarge):
        cio.decode_image(bomb)
    with pytest.raises(cuaug.ImageTooLarge, match="a side longer than the limit of 65500"):
        cio.decode_image(b"P6 70000 1 255 ")


def test_decode_image_damage_raises_decode_error():
    """Whatever Pillow raises. 2,400 files."""
    rng = np.random.default_rng(SEED)
    small = Image.fromarray(PHOTO[:24, :24])
    bases = [by_format(small, kind) for kind in ("PNG", "BMP", "TIFF", "PPM", "WEBP", "GIF")]
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
    """Two wait for each other; and of those that fail the first in the list is named."""
    both, usual = threading.Barrier(2), _codecs.decode
    monkeypatch.setattr(_codecs, "decode", lambda *how: (both.wait(20), usual(*how))[1])
    before = _cpu.extension().threads()
    cuaug.set_num_threads(2)
    try:
        images = [np.roll(PHOTO, i, 0) for i in range(6)]
        files = [by_format(Image.fromarray(image), "PNG") for image in images]
        found = cio.decode_image([*files[:3], FILE, *files[3:]])
        np.testing.assert_array_equal(np.array([*found[:3], *found[4:]]), images)
        monkeypatch.setattr(_codecs, "decode", usual)
        files[2], files[4] = files[2][:60], files[4][:60]
        with pytest.raises(cuaug.DecodeError, match="image 2"):
            cio.decode_image(files)
    finally:
        cuaug.set_num_threads(before)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("cuaug-decode")]


@pytest.mark.parametrize("data", [b"hello, world", b"%!PS-Adobe", b"\x00\x00\x00\x0cjP  "], ids=repr)
def test_decode_image_rejects_unknown_formats(data):
    with pytest.raises(cuaug.UnsupportedImage, match="not an image of a known format"):
        cio.decode_image(data)


# ---- encoding


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW", "NHWC", "NCHW"])
def test_encode_jpeg_layouts(layout):
    plain = PHOTO[..., 0] if layout == "HW" else PHOTO
    array = plain if "C" not in layout or layout.endswith("C") else np.moveaxis(plain, -1, 0)
    array = np.stack([array] * 2) if "N" in layout else array
    file = cio.encode_jpeg(array, 90, layout=layout)
    assert (file[0] if "N" in layout else file) == cio.encode_jpeg(np.ascontiguousarray(plain), 90)


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
    noise = np.random.default_rng(SEED).integers(0, 256, (700, 900, 3), np.uint8)  # a file larger than first thought
    file = cio.encode_jpeg(noise, 100, "444")
    assert np.abs(cio.decode_jpeg(file).astype(int) - noise).mean() < 1
    assert np.array_equal(cv2.imdecode(np.frombuffer(file, np.uint8), 1)[..., ::-1], cio.decode_jpeg(file))


@pytest.mark.parametrize(
    ("images", "options", "error", "words"),
    [
        (PHOTO.astype(np.float32), {}, TypeError, "images must be uint8, got float32"),
        (PHOTO[..., :2], {}, ValueError, "images must have 1 or 3 channels, got 2"),
        (np.zeros((0, 4, 3), np.uint8), {}, ValueError, "images must not be empty along H"),
        (np.zeros((1, 65_501, 3), np.uint8), {}, ValueError, "images must have sides of at most 65500"),
        (b"abc", {}, TypeError, "images must be an array"),
        (PHOTO, {"quality": 0}, ValueError, "quality must be at least 1"),
        (PHOTO, {"quality": 101}, ValueError, r"quality must be in 1\.\.100, got 101"),
        (PHOTO, {"subsampling": "4:2:0"}, ValueError, "subsampling must be one of"),
        (PHOTO, {"progressive": 1}, TypeError, "progressive must be True or False"),
    ],
)
def test_encode_jpeg_rejects_invalid_images(images, options, error, words):
    with pytest.raises(error, match=r"cuaug\.io\.encode_jpeg: " + words):
        cio.encode_jpeg(images, **options)


def test_exif_orientations_invert():
    stored = by_pillow(PHOTO)
    assert np.array_equal(cio.decode_jpeg(stored, orient=True), cio.decode_jpeg(stored))
