"""`erase` in cuaug.transforms.functional: values and boxes of pixels, as torchvision takes them."""

import numpy as np
import pytest
import torch
from helpers.arrays import CUPY_CUDA, JAX, NUMPY, TORCH_CUDA, backend_id, noise, put, seeded
from helpers.compare import assert_equal
from helpers.tv_tensors import plain
from tables.functional_calls import SIZE

from cuaug.transforms import functional as F


def tensor(*samples):
    return torch.from_numpy(noise((*samples, 3, *SIZE)))


def erase_values():
    rng = seeded("erase values")
    pixels = torch.from_numpy(rng.integers(0, 256, (3, 6, 9), np.uint8))
    return {
        "number": torch.tensor([7], dtype=torch.uint8),
        "one per channel": torch.tensor([1, 2, 3], dtype=torch.uint8).reshape(3, 1, 1),
        "one for all channels": torch.tensor([5], dtype=torch.uint8).reshape(1, 1, 1),
        "pixels": pixels,
        "a row": pixels[:, :1],
        "grey pixels": pixels[:1],
        "of another dtype": pixels.float(),
    }


@pytest.mark.parametrize("name", erase_values())
@pytest.mark.parametrize("samples", [(), (2,), (2, 3)])
@pytest.mark.parametrize("inplace", [False, True])
def test_erase_equals_torchvision(TF, real_tv, name, samples, inplace):
    value, images = erase_values()[name], real_tv.Image(tensor(*samples))
    expected = TF.erase(images.clone(), 4, 7, 6, 9, value)
    before = images.clone()
    result = F.erase(images, 4, 7, 6, 9, value, inplace)
    assert type(result) is real_tv.Image
    assert (result is images) == inplace
    assert_equal(plain(result), plain(expected))
    assert inplace or torch.equal(images, before)


def test_erase_pixels_in_other_layouts_and_at_the_edge():
    pixels = erase_values()["pixels"]
    images, value = tensor(2).permute(0, 2, 3, 1).numpy(), pixels.permute(1, 2, 0).numpy()
    expected = images.copy()
    expected[:, 4:10, 7:16] = value
    assert_equal(F.erase(images, 4, 7, 6, 9, value), expected)
    channels_first = tensor(2)
    assert_equal(F.erase(channels_first, 30, 7, 6, 9, pixels), channels_first)
    assert_equal(F.erase(channels_first, -9, 7, 6, 9, pixels), channels_first)
    for row, column in ((16, 27), (-2, -4), (16, -4)):
        inside = channels_first.clone()
        for i, j in np.ndindex(6, 9):
            if 0 <= row + i < SIZE[0] and 0 <= column + j < SIZE[1]:
                inside[..., row + i, column + j] = pixels[:, i, j]
        assert_equal(F.erase(channels_first, row, column, 6, 9, pixels), inside)
    with pytest.raises(ValueError, match=r"v must have a shape that broadcasts to \(2, 3, 6, 8\), got \(3, 6, 9\)"):
        F.erase(channels_first, 1, 2, 6, 8, pixels)
    assert_equal(
        F.erase(channels_first, np.int64(1), torch.tensor(2), np.uint8(6), 9, pixels),
        F.erase(channels_first, 1, 2, 6, 9, pixels),
    )
    for row, height in (([1, 2], 6), (True, 6), (1.0, 6)):
        with pytest.raises(ValueError, match="i, j, h and w must be one int each"):
            F.erase(channels_first, row, 7, height, 9, pixels)
    with pytest.raises(ValueError, match="erase: h must be at least 0, got -6"):
        F.erase(channels_first, 1, 7, -6, 9, pixels)


def test_erase_takes_a_box_per_sample():
    images, value = tensor(2), torch.tensor([1, 2, 3], dtype=torch.uint8).reshape(3, 1, 1)
    result = F.erase(images, [1, 5], 7, [6, 2], 9, value)
    expected = [F.erase(image, i, 7, h, 9, value) for image, i, h in zip(images, (1, 5), (6, 2), strict=True)]
    assert_equal(result, torch.stack(expected))
    channels_last = images.permute(0, 2, 3, 1).numpy()
    assert_equal(
        F.erase(channels_last, [1, 5], 7, [6, 2], 9, value.reshape(1, 1, 3).numpy()), result.permute(0, 2, 3, 1).numpy()
    )


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_erase_reads_pixels_in_the_layout_of_the_call(library, layout, channels):
    """A row [1, 1, 3] and a column [3, 1, 1] have the shape of one value per channel in the other layout."""
    images = np.zeros((channels, 4, 5) if layout == "CHW" else (4, 5, channels), np.uint8)
    pixels, size = np.array([1, 2, 3], np.uint8).reshape((1, 1, 3) if layout == "CHW" else (3, 1, 1)), (1, 3)
    expected = images.copy()
    if layout == "CHW":
        expected[:, :1, :3] = pixels
    else:
        size, expected[:3, :1] = (3, 1), pixels
    result = F.erase(library(images), 0, 0, *size, library(pixels), layout=layout)
    assert_equal(np.asarray(result), expected)


@pytest.mark.parametrize("backend", [NUMPY, ("torch", "cpu"), JAX, CUPY_CUDA, TORCH_CUDA], ids=backend_id)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
@pytest.mark.parametrize("value", [-1.0, 2.5, 3.5, 127.6, 300.7, 70000, -70000, 1e30])
def test_erase_rounds_and_clamps_pixels_as_one_value(backend, dtype, value):
    images = put(np.zeros((2, 3, 1), dtype), backend)
    pixels = put(np.full((2, 2, 1), value, np.float32 if isinstance(value, float) else np.int32), backend)
    result, expected = (F.erase(images, 0, 0, 2, 2, v, layout="HWC") for v in (pixels, value))
    assert type(result) is type(expected)
    assert_equal(result, expected)
