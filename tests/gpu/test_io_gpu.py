"""Decoding into pinned memory, from which a GPU copies without stopping."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
cio = pytest.importorskip("cuaug.io")

pytestmark = [pytest.mark.gpu, pytest.mark.jpeg]


def test_pinned_memory_is_pinned_and_has_the_image():
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


def test_arrays_on_a_device_are_neither_data_nor_memory():
    file = cio.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(TypeError, match=r"uint8 array on the host.* on a device"):
        cio.decode_jpeg(torch.frombuffer(bytearray(file), dtype=torch.uint8).cuda())
    with pytest.raises(TypeError, match="out must be on the host"):
        cio.decode_jpeg(file, out=torch.zeros((3, 8, 8), dtype=torch.uint8, device="cuda"))
    with pytest.raises(TypeError, match="images must be on the host"):
        cio.encode_jpeg(torch.zeros((3, 8, 8), dtype=torch.uint8, device="cuda"))
