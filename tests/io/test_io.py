"""cuaug.io.decode_jpeg: every form of data, libraries, output arrays, and rejected arguments."""

import numpy as np
import pytest
from helpers.child_process import python
from helpers.compare import assert_equal, describe
from helpers.jpeg import SEED, encoded, encoded_by_pillow, random_part
from helpers.photo import JPEG_FILE, PHOTO

import cuaug
from cuaug import io as cio
from cuaug._gpu import devices
from cuaug._host import extension

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg


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
    data = FORMS[form](JPEG_FILE)
    assert np.array_equal(cio.decode_jpeg(data), cio.decode_jpeg(JPEG_FILE))
    assert cio.read_header([data, JPEG_FILE]) == [cio.read_header(JPEG_FILE)] * 2


def test_decode_jpeg_reads_paths(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(JPEG_FILE)
    for path_or_text in (path, str(path)):
        assert np.array_equal(cio.decode_jpeg(path_or_text), cio.decode_jpeg(JPEG_FILE))
    with pytest.raises(cuaug.ImageTooLarge, match=r"photo\.jpg': \d+ bytes, more than the limit of 10"):
        cio.decode_jpeg(path, max_bytes=10)
    with pytest.raises(cuaug.ImageTooLarge, match="more bytes than the limit"):
        cio.decode_jpeg("/dev/zero", max_bytes=1 << 20)
    with pytest.raises(FileNotFoundError):
        cio.decode_jpeg(tmp_path / "none.jpg")
    for data in (tmp_path, [path, str(tmp_path)]):
        with pytest.raises(
            IsADirectoryError, match=r"^cuaug\.io\.decode_jpeg: data must be a file, .*\.glob\('\*\.jpg'\)"
        ):
            cio.decode_jpeg(data)


@pytest.mark.parametrize("data", [3, None, [3], {"a": 1}, np.zeros((2, 2), np.uint8), np.zeros(4, np.int8), 1.5])
def test_decode_jpeg_rejects_other_data(data):
    with pytest.raises(TypeError, match=r"cuaug\.io\.decode_jpeg: data"):
        cio.decode_jpeg(data)


@pytest.mark.parametrize("like", [None, "numpy", np, "torch", torch], ids=str)
@pytest.mark.parametrize("color", ["rgb", "gray"])
def test_decode_jpeg_like_and_color(like, color):
    expected = cio.decode_jpeg(JPEG_FILE, color=color)
    assert expected.shape == (60, 80, 1 if color == "gray" else 3)
    for call in (cio.decode_jpeg, cio.decode_image):
        one, (first_of_two, _) = (
            call(JPEG_FILE, color=color, like=like),
            call([JPEG_FILE, JPEG_FILE], color=color, like=like),
        )
        if like in ("torch", torch):
            assert describe(one) == ("torch", "cpu", "uint8")
            assert one.permute(1, 2, 0).is_contiguous()
            one, first_of_two = (image.permute(1, 2, 0).numpy() for image in (one, first_of_two))
        assert_equal(one, expected)
        assert_equal(first_of_two, expected)


def test_decode_jpeg_empty_list():
    assert cio.decode_jpeg([]) == cio.read_header([]) == cio.decode_image([]) == cio.encode_jpeg([]) == []
    out = np.empty((0, 4, 4, 3), np.uint8)
    assert cio.decode_jpeg([], out=out) is out
    for wrong in (np.zeros((2, 17, 11, 3), np.uint8), np.zeros((0, 17, 11), np.uint8), np.zeros((0, 4, 4, 3))):
        with pytest.raises(ValueError, match=r"^cuaug\.io\.decode_jpeg: out must be uint8 of shape \(0, H, W, C\)"):
            cio.decode_jpeg([], out=wrong)
    with pytest.raises(ValueError, match=r"out must be uint8 of shape \(0, C, H, W\), got uint8 of \(1, 3, 17, 11\)"):
        cio.decode_jpeg([], out=torch.zeros((1, 3, 17, 11), dtype=torch.uint8))


def test_decode_jpeg_takes_numbers_of_numpy_as_scale():
    for scale in (np.int64(1), np.float32(0.5)):
        assert np.array_equal(cio.decode_jpeg(JPEG_FILE, scale=scale), cio.decode_jpeg(JPEG_FILE, scale=float(scale)))


@pytest.mark.parametrize("number", [1, np.int64(1)])
def test_decode_jpeg_takes_numbers_of_numpy_as_device(number, monkeypatch):
    """The device is replaced by the CPU: this test needs no GPU."""
    numbers = []
    monkeypatch.setattr(devices, "existing_device", lambda number: numbers.append(number) or -1)
    cio.decode_jpeg(JPEG_FILE, device=number)
    assert numbers == [1]
    for refused in (True, np.bool_(True), 1.0):
        with pytest.raises(ValueError, match="device must be 'cpu', 'cuda', 'cuda:1' or a GPU's number, got"):
            cio.decode_jpeg(JPEG_FILE, device=refused)


def test_decode_jpeg_different_sizes_are_a_list():
    rng = np.random.default_rng(SEED)
    photos = [random_part(rng, *size) for size in ((20, 30), (31, 17), (8, 8))]
    decoded = cio.decode_jpeg([encoded(photo) for photo in photos])
    assert [image.shape for image in decoded] == [photo.shape for photo in photos]
    crops = cio.decode_and_crop_jpeg([encoded(photo) for photo in photos], [0, 1, 2], 2, (5, 6, 4), np.array([4, 3, 2]))
    for crop, image, (top, height, width) in zip(crops, decoded, [(0, 5, 4), (1, 6, 3), (2, 4, 2)], strict=True):
        assert np.array_equal(crop, image[top : top + height, 2 : 2 + width])
    with pytest.raises(ValueError, match="top must be one int, or 3"):
        cio.decode_and_crop_jpeg([JPEG_FILE] * 3, [0, 1], 0, 1, 1)
    for top in ({0: "a", 1: "b", 2: "c"}, {0, 1, 2}):
        with pytest.raises(TypeError, match=r"^cuaug\.io\.decode_and_crop_jpeg: top must be an int, got {0"):
            cio.decode_and_crop_jpeg([JPEG_FILE] * 3, top, 0, 1, 1)


def test_decode_jpeg_out():
    expected = cio.decode_jpeg(JPEG_FILE)
    dense = np.zeros((2, 60, 80, 3), np.uint8)
    assert cio.decode_jpeg([JPEG_FILE, JPEG_FILE], out=dense) is dense
    assert np.array_equal(dense, [expected] * 2)
    batch = torch.empty((2, 3, 60, 80), dtype=torch.uint8).contiguous(memory_format=torch.channels_last)
    assert cio.decode_jpeg([JPEG_FILE, JPEG_FILE], out=batch) is batch
    assert np.array_equal(batch.permute(0, 2, 3, 1).numpy(), dense)
    backwards = np.zeros((60, 80, 3), np.uint8)[::-1]
    cio.decode_jpeg(JPEG_FILE, out=backwards)
    assert np.array_equal(backwards, expected)


def test_decode_jpeg_rejects_out_that_shares_memory_with_data():
    memory = np.zeros(14_400 + len(JPEG_FILE), np.uint8)
    out = memory[:14_400].reshape(60, 80, 3)
    for shared_bytes in (0, 1, 100, len(JPEG_FILE)):
        data = memory[14_400 - shared_bytes :][: len(JPEG_FILE)]
        data[:] = np.frombuffer(JPEG_FILE, np.uint8)
        if shared_bytes == 0:
            assert np.array_equal(cio.decode_jpeg(data, out=out), cio.decode_jpeg(JPEG_FILE))
            continue
        for call in (
            lambda data=data: cio.decode_jpeg(data, out=out),
            lambda data=data: cio.decode_jpeg(data.data, out=torch.from_numpy(out).permute(2, 0, 1)),
            lambda data=data: cio.decode_jpeg([data], out=out[None]),
            lambda data=data: cio.decode_and_crop_jpeg(data, 0, 0, 60, 80, out=out),
        ):
            with pytest.raises(ValueError, match=r"^cuaug\.io\.\w+: out must not share memory with data"):
                call()
        assert bytes(data) == JPEG_FILE


@pytest.mark.parametrize("strides", [(0, 3, 1), (120, 3, 1), (-120, 3, 1)], ids=str)
def test_decode_jpeg_rejects_out_that_repeats_elements(strides):
    out = np.lib.stride_tricks.as_strided(np.zeros(30_000, np.uint8)[8_000:], (60, 80, 3), strides)
    with pytest.raises(ValueError, match="out must not repeat elements"):
        cio.decode_jpeg(JPEG_FILE, out=out)
    batch = np.lib.stride_tricks.as_strided(np.zeros(30_000, np.uint8), (2, 60, 80, 3), (0, 240, 3, 1))
    with pytest.raises(ValueError, match="out must not repeat elements"):
        cio.decode_jpeg([JPEG_FILE, JPEG_FILE], out=batch)


def test_decode_jpeg_rejects_out_whose_channels_are_apart_in_one_column():
    data = cio.encode_jpeg(np.full((4, 1, 3), 99, np.uint8))
    for out in (torch.zeros((3, 4, 1), dtype=torch.uint8), np.zeros((4, 1, 6), np.uint8)[..., ::2]):
        with pytest.raises(ValueError, match="contiguous rows"):
            cio.decode_jpeg(data, out=out)
    padded = np.zeros((4, 6, 3), np.uint8)
    result = cio.decode_jpeg(data, out=padded[:, 2:3])  # the stride of an axis of one pixel does not matter
    np.testing.assert_array_equal(result, cio.decode_jpeg(data))
    assert not padded[:, [0, 1, 3, 4, 5]].any()


def test_decode_jpeg_writes_gray_out_with_any_channel_stride():
    data = cio.encode_jpeg(np.arange(20, dtype=np.uint8).reshape(4, 5))
    out = np.zeros((4, 5), np.uint8)
    cio.decode_jpeg(data, color="gray", out=out[..., None])
    np.testing.assert_array_equal(out, cio.decode_jpeg(data, color="gray")[..., 0])


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros((60, 80, 3), np.float32), ValueError, "out must be uint8"),
        (np.zeros((60, 81, 3), np.uint8), ValueError, "out must be uint8 of shape"),
        (np.zeros((3, 60, 80), np.uint8), ValueError, "out must be uint8 of shape"),
        (np.zeros((60, 160, 3), np.uint8)[:, ::2], ValueError, "contiguous rows"),
        (torch.zeros((3, 60, 80), dtype=torch.uint8), ValueError, "contiguous rows"),
        (b"\0" * 14400, TypeError, "out must be a numpy array or a torch tensor"),
        (np.frombuffer(bytes(14400), np.uint8).reshape(60, 80, 3), TypeError, "out must be writable"),
    ],
)
def test_decode_jpeg_rejects_unfit_out(out, error, words):
    with pytest.raises(error, match=words):
        cio.decode_jpeg(JPEG_FILE, out=out)


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
            "out already determines the result: omit like, pin and device",
        ),
        ({"max_pixels": 0}, ValueError, "max_pixels must be at least 1"),
        ({"max_scans": 1.5}, TypeError, "max_scans must be an int"),
    ],
)
def test_decode_jpeg_rejects_invalid_arguments(options, error, words):
    with pytest.raises(error, match=r"cuaug\.io\.decode_jpeg: " + words) as raised:
        cio.decode_jpeg(JPEG_FILE, **options)
    assert not isinstance(raised.value, cuaug.DecodeError)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to pin memory for")
def test_decode_jpeg_pinned_memory_needs_gpu():
    with pytest.raises(cuaug.BackendError, match="pinned memory needs a CUDA device"):
        cio.decode_jpeg(JPEG_FILE, like=torch, pin=True)


def test_decode_jpeg_without_decoder_says_how_to_install_it(monkeypatch):
    class Native:
        pass

    monkeypatch.setattr(extension, "extension", Native)
    for call in (cio.decode_jpeg, cio.read_header, lambda file: cio.decode_and_crop_jpeg(file, 0, 0, 1, 1)):
        with pytest.raises(cuaug.BackendError, match=r"apt install libjpeg62-turbo-dev .* pip install"):
            call(JPEG_FILE)
    with pytest.raises(cuaug.BackendError, match="libjpeg-turbo"):
        cio.encode_jpeg(PHOTO)


def test_io_import_brings_numpy_alone():
    imported = python("import sys, cuaug.io; print({'torch', 'PIL', 'cv2', 'jax', 'cupy'} & set(sys.modules))")[0]
    assert imported == "set()"


def test_decode_jpeg_orient_without_exif_changes_nothing():
    stored = encoded_by_pillow(PHOTO)
    assert np.array_equal(cio.decode_jpeg(stored, orient=True), cio.decode_jpeg(stored))
