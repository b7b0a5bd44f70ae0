"""Antialiased resizes of uint8 photographs beside Pillow's, torch's and OpenCV's; docs/differences.md has the means."""

import cv2
import numpy as np
import pytest
from helpers.jpeg import photographs

import cuaug

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")


def pillow(photo, size, interpolation):
    return np.asarray(Image.fromarray(photo).resize(size[::-1], Image.Resampling[interpolation.upper()]))


def torch_interpolate(photo, size, interpolation, dtype):
    """What torchvision's `resize` calls: torch's uint8 kernel, or the float kernel and one rounding at the end."""
    planes = torch.from_numpy(photo.copy()).permute(2, 0, 1)[None].to(dtype)
    result = torch.nn.functional.interpolate(planes, size, mode=interpolation, antialias=True)
    return result[0].permute(1, 2, 0).double().round().clamp(0, 255).numpy()


def torch_uint8(photo, size, interpolation):
    return torch_interpolate(photo, size, interpolation, torch.uint8)


def torch_float32(photo, size, interpolation):
    return torch_interpolate(photo, size, interpolation, torch.float32)


def differences(photo, size, interpolation, other):
    return np.abs(cuaug.resize(photo, size, interpolation).astype(int) - other(photo, size, interpolation))


# Pillow, and torch for uint8, round and clamp between the two passes; cuaug and torch for float32 round once.
@pytest.mark.parametrize(
    ("other", "interpolation", "largest", "equal", "beyond_one"),
    [
        (pillow, "bilinear", 1, 0.82, 0.0),
        (pillow, "bicubic", 5, 0.81, 0.0005),
        (pillow, "lanczos", 8, 0.80, 0.002),
        (torch_uint8, "bilinear", 1, 0.82, 0.0),
        (torch_uint8, "bicubic", 5, 0.81, 0.0005),
        (torch_float32, "bilinear", 1, 0.999, 0.0),
        (torch_float32, "bicubic", 1, 0.999, 0.0),
    ],
)
def test_resize_photographs_beside_other_libraries(other, interpolation, largest, equal, beyond_one):
    for photo in photographs():
        difference = differences(photo, (224, 224), interpolation, other)
        assert difference.max() <= largest
        assert (difference == 0).mean() >= equal
        assert (difference > 1).mean() <= beyond_one


@pytest.mark.parametrize("size", [(224, 224), (96, 128)])
def test_resize_area_of_photographs_beside_opencv(size):
    for photo in photographs():
        expected = cv2.resize(photo, size[::-1], interpolation=cv2.INTER_AREA)
        difference = np.abs(cuaug.resize(photo, size, "area").astype(int) - expected)
        assert difference.max() <= 1
        assert (difference == 0).mean() >= 0.998  # OpenCV sums in another order: measured 99.9 % equal
