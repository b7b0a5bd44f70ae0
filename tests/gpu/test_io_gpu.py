"""Decoding into pinned memory, and decoding by nvJPEG."""

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal
from helpers.loader import photo_parts

import cuaug
from cuaug import io as cio
from cuaug._codecs import nvjpeg

torch = pytest.importorskip("torch")
pytest.importorskip("cupy")

pytestmark = [pytest.mark.gpu, pytest.mark.jpeg]


def test_decode_jpeg_pinned_memory():
    rng = np.random.default_rng(20261120)
    files = [cio.encode_jpeg(rng.integers(0, 256, (33, 47, 3), np.uint8)) for _ in range(3)]
    pinned = cio.decode_jpeg(files, like=torch, pin=True)
    crops = cio.decode_and_crop_jpeg(files, 3, 5, 20, 30, like="torch", pin=True)
    for image, crop, file in zip(pinned, crops, files, strict=True):
        assert image.is_pinned()
        assert crop.is_pinned()
        on_device = image.to("cuda", non_blocking=True)
        torch.cuda.synchronize()
        expected = cio.decode_jpeg(file)
        assert np.array_equal(on_device.permute(1, 2, 0).cpu().numpy(), expected)
        assert np.array_equal(crop.permute(1, 2, 0).numpy(), expected[3:23, 5:35])


def test_decode_jpeg_rejects_device_arrays():
    file = cio.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(TypeError, match=r"uint8 array on the host.* on a device"):
        cio.decode_jpeg(torch.frombuffer(bytearray(file), dtype=torch.uint8).cuda())
    with pytest.raises(TypeError, match="out must be on the host"):
        cio.decode_jpeg(file, out=torch.zeros((3, 8, 8), dtype=torch.uint8, device="cuda"))
    with pytest.raises(TypeError, match="images must be on the host"):
        cio.encode_jpeg(torch.zeros((3, 8, 8), dtype=torch.uint8, device="cuda"))


ONE_LEVEL = Tolerance(absolute=1, reason="nvJPEG and libjpeg-turbo round different intermediate values")


def files_of(count=9, **options):
    return [
        cio.encode_jpeg(image, subsampling=["444", "422", "420", "440"][i % 4], **options)
        for i, image in enumerate(photo_parts(count))
    ]


def on_host(image):
    return image.permute(1, 2, 0).cpu().numpy() if isinstance(image, torch.Tensor) else image.get()


@pytest.mark.parametrize("like", ["torch", "cupy"])
def test_decode_jpeg_device_equals_cpu(like):
    files = files_of()
    decoded = cio.decode_jpeg(files, device="cuda", like=like)
    for image, expected in zip(decoded, cio.decode_jpeg(files), strict=True):
        assert type(image).__module__.startswith(like)
        assert_equal(on_host(image), expected, tolerance=ONE_LEVEL)
    single = cio.decode_jpeg(files[0], device=0, like=like)
    assert_equal(on_host(single), on_host(decoded[0]))


def test_decode_and_crop_jpeg_device_boxes():
    (file,) = files_of(1)
    full_image = on_host(cio.decode_jpeg(file, device="cuda"))
    height, width = full_image.shape[:2]
    boxes = [
        (y, x, h, w)
        for y in (0, 1, 6)
        for x in (0, 1, 2, 3, 4)
        for h in (1, height - 7)
        for w in (1, 2, 3, 5, 31, width - 4)
    ]
    decoded = cio.decode_and_crop_jpeg([file] * len(boxes), *zip(*boxes, strict=True), device="cuda")
    for image, (y, x, h, w) in zip(decoded, boxes, strict=True):
        assert np.array_equal(on_host(image), full_image[y : y + h, x : x + w])


def test_decode_jpeg_device_falls_back_to_cpu():
    files = files_of(4, progressive=True) + files_of(4)
    for options in ({}, {"scale": 1 / 2}, {"color": "gray"}, {"color": "bgr"}, {"orient": True}):
        decoded = cio.decode_jpeg(files, device="cuda", **options)
        for image, expected in zip(decoded, cio.decode_jpeg(files, **options), strict=True):
            assert_equal(on_host(image), expected, tolerance=ONE_LEVEL)


def test_decode_jpeg_device_many_images_in_chunks(monkeypatch):
    """More images than fit into a chunk: no chunk may overwrite memory whose images are still being copied."""
    monkeypatch.setattr(nvjpeg, "_CHUNK_BYTES", 1 << 20)
    files = files_of(24)
    expected = [on_host(image) for image in cio.decode_jpeg(files, device="cuda")]
    work = torch.randn(4096, 4096, device="cuda")
    for seed in range(6):
        for _ in range(8):
            work = torch.tanh(work @ work)
        order = np.random.default_rng(seed).permutation(len(files))
        decoded = cio.decode_jpeg([files[i] for i in order], device="cuda")
        for image, i in zip(decoded, order, strict=True):
            assert np.array_equal(on_host(image), expected[i])


def test_decode_jpeg_device_names_undecodable_file():
    files = files_of(5)
    files[3] = files[3][:400] + files[3][-2:]
    with pytest.raises(cuaug.DecodeError, match="image 3") as raised:
        cio.decode_jpeg(files, device="cuda")
    assert raised.value.index == 3


def test_decode_jpeg_device_damaged_files():
    rng, files = np.random.default_rng(20261120), files_of(8)
    outcomes = {"image": 0, "error": 0}
    for round_ in range(200):
        file = bytearray(files[round_ % 8])
        for offset in rng.integers(2, len(file) - 2, 4):
            file[offset] = rng.integers(0, 256)
        try:
            image = cio.decode_jpeg(bytes(file), device="cuda", max_pixels=1 << 22)
        except cuaug.DecodeError:
            outcomes["error"] += 1
        else:
            assert image.shape[0] == 3
            outcomes["image"] += 1
    torch.cuda.synchronize()
    assert min(outcomes.values()) > 10
    expected = cio.decode_jpeg(files[0])
    assert_equal(on_host(cio.decode_jpeg(files[0], device="cuda")), expected, tolerance=ONE_LEVEL)
