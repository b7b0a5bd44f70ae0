"""The oracle of the filters against SciPy, torch and Pillow."""

import numpy as np
import pytest
from helpers.arrays import noise
from tables import filter_reference as reference_filter

PIXELS = noise((1, 17, 11, 3))[0].astype(float)


def test_reference_gaussian_blur_equals_scipy():
    """SciPy's ``mirror`` is cuaug's reflect border."""
    ndimage = pytest.importorskip("scipy.ndimage")
    for (x, y), (sx, sy) in [((3, 5), (0.5, 1.2)), ((23, 41), (4.0, 9.0)), ((1, 7), (1.0, 2.0))]:
        expected = ndimage.gaussian_filter1d(PIXELS, sx, axis=1, mode="mirror", radius=x // 2)
        expected = ndimage.gaussian_filter1d(expected, sy, axis=0, mode="mirror", radius=y // 2)
        actual = reference_filter.gaussian_blur(PIXELS, (x, y), (sx, sy), max_value=255)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


def test_reference_gaussian_blur_equals_torch_convolution():
    torch = pytest.importorskip("torch")
    x, y = (np.exp(-((np.arange(size) - size // 2) ** 2) / (2 * s**2)) for size, s in ((5, 1.1), (7, 2.0)))
    kernel = torch.from_numpy(np.outer(y / y.sum(), x / x.sum()))[None, None]
    planes = torch.from_numpy(PIXELS).permute(2, 0, 1)[:, None]
    padded = torch.nn.functional.pad(planes, (2, 2, 3, 3), mode="reflect")
    expected = torch.nn.functional.conv2d(padded, kernel)[:, 0].permute(1, 2, 0).numpy()
    np.testing.assert_allclose(
        reference_filter.gaussian_blur(PIXELS, (5, 7), (1.1, 2.0), max_value=255), expected, rtol=0, atol=1e-9
    )


def test_reference_gaussian_blur_default_sigma_equals_torchvision():
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    planes = torch.from_numpy(PIXELS).permute(2, 0, 1)
    for size in (5, 9):
        actual = reference_filter.gaussian_blur(PIXELS, size, None, max_value=255)
        expected = functional.gaussian_blur(planes, [size, size]).permute(1, 2, 0).numpy()
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


def test_reference_adjust_sharpness_equals_torch_convolution():
    torch = pytest.importorskip("torch")
    kernel = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    kernel[..., 1, 1] = 5
    planes = torch.from_numpy(PIXELS).permute(2, 0, 1)[:, None]
    smooth = torch.nn.functional.conv2d(planes, kernel / 13)[:, 0].permute(1, 2, 0).numpy()
    for factor in (0.0, 0.6, 1.0, 2.5):
        expected = PIXELS.copy()
        expected[1:-1, 1:-1] = np.clip(factor * PIXELS[1:-1, 1:-1] + (1 - factor) * smooth, 0, 255)
        np.testing.assert_allclose(
            reference_filter.adjust_sharpness(PIXELS, factor, max_value=255), expected, rtol=0, atol=1e-9
        )


def test_reference_adjust_sharpness_equals_pillow():
    """Pillow rounds the smoothed image to whole levels, and truncates the result."""
    enhance = pytest.importorskip("PIL.ImageEnhance")
    image = pytest.importorskip("PIL.Image").fromarray(PIXELS.astype(np.uint8))
    for factor in (0.0, 0.5, 2.0):
        actual = reference_filter.adjust_sharpness(PIXELS, factor, max_value=255)
        expected = np.asarray(enhance.Sharpness(image).enhance(factor))
        assert np.abs(actual - expected).max() <= 1 + 0.6 * abs(1 - factor)
