"""The oracle of the colour ops against the standard library, Pillow, OpenCV, torch and published numbers."""

import colorsys

import numpy as np
import pytest
from helpers.arrays import noise
from tables import color_reference as reference_color

PIXELS = noise((1, 17, 11, 3))[0].astype(float)


def test_reference_adjust_hue_equals_colorsys():
    cases = [(PIXELS, factor) for factor in (-0.5, -0.2, 0.0, 0.1, 0.37, 0.5)]
    cases.append((np.array([[[130.0, 42, 86]]]), 1 / 12))  # the hue becomes -1e-17, rounded
    for image, factor in cases:
        actual = reference_color.adjust_hue(image, factor, max_value=255) / 255
        for pixel, shifted in zip(image.reshape(-1, 3) / 255, actual.reshape(-1, 3), strict=True):
            h, s, v = colorsys.rgb_to_hsv(*pixel)
            np.testing.assert_allclose(shifted, colorsys.hsv_to_rgb((h + factor) % 1, s, v), atol=1e-9)


def test_reference_posterize_solarize_invert_equal_pillow():
    ops = pytest.importorskip("PIL.ImageOps")
    image = pytest.importorskip("PIL.Image").fromarray(PIXELS.astype(np.uint8))
    for bits in range(1, 9):
        np.testing.assert_array_equal(
            reference_color.posterize(PIXELS, bits, max_value=255), np.asarray(ops.posterize(image, bits))
        )
    np.testing.assert_array_equal(
        reference_color.solarize(PIXELS, 100, max_value=255), np.asarray(ops.solarize(image, 100))
    )
    np.testing.assert_array_equal(reference_color.invert(PIXELS, max_value=255), np.asarray(ops.invert(image)))


def test_reference_blends_equal_pillow():
    """Pillow truncates the result, and rounds the grey of a blend to a whole level."""
    enhance = pytest.importorskip("PIL.ImageEnhance")
    image = pytest.importorskip("PIL.Image").fromarray(PIXELS.astype(np.uint8))
    pairs = [("Brightness", "adjust_brightness"), ("Color", "adjust_saturation"), ("Contrast", "adjust_contrast")]
    for pillow_name, name in pairs:
        for factor in (0.0, 0.5, 1.3):
            actual = getattr(reference_color, name)(PIXELS, factor, max_value=255)
            expected = np.asarray(getattr(enhance, pillow_name)(image).enhance(factor))
            assert np.abs(actual - expected).max() <= 1 + 0.6 * abs(1 - factor)


def test_reference_autocontrast_equals_torch_and_pillow():
    """Formula and order of operations are torchvision's."""
    torch = pytest.importorskip("torch")
    ops, pillow = pytest.importorskip("PIL.ImageOps"), pytest.importorskip("PIL.Image")
    for low, high in ((0, 255), (3, 250), (60, 61), (100, 227), (17, 187)):
        image = np.rint(low + PIXELS / 255 * (high - low))
        actual = reference_color.autocontrast(image, max_value=255)
        x = torch.from_numpy(image).float()
        minimum, maximum = x.amin((0, 1)), x.amax((0, 1))
        expected = (x - minimum).div_((maximum - minimum).mul_(1.0 / 255)).clamp_(0, 255).to(torch.uint8)
        np.testing.assert_array_equal(actual, expected.numpy())
        by_pillow = np.asarray(ops.autocontrast(pillow.fromarray(image.astype(np.uint8))), int)
        assert np.abs(actual - by_pillow).max() <= 1
    of_floats = reference_color.autocontrast(PIXELS[:, :, :1] / 512 + 0.25, max_value=1)
    np.testing.assert_allclose(
        of_floats, (PIXELS[:, :, :1] - PIXELS[..., 0].min()) / np.ptp(PIXELS[..., 0]), atol=1e-12
    )


def test_reference_equalize_equals_pillow():
    ops, pillow = pytest.importorskip("PIL.ImageOps"), pytest.importorskip("PIL.Image")
    sizes = ((17, 11, 1), (61, 47, 1), (61, 47, 2), (300, 200, 64), (16, 16, 25))
    for height, width, divisor in sizes:
        image = (noise((1, height, width, 3))[0] // divisor).astype(np.uint8)
        expected = np.asarray(ops.equalize(pillow.fromarray(image)))
        np.testing.assert_array_equal(reference_color.equalize(image.astype(float), max_value=255), expected)


def test_reference_lut_equals_opencv():
    cv2 = pytest.importorskip("cv2")
    table = noise((1, 256, 1, 3))[0].astype(np.uint8)
    expected = cv2.LUT(PIXELS.astype(np.uint8), table)
    np.testing.assert_array_equal(reference_color.lut(PIXELS, table[:, 0].T, max_value=255), expected)


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_reference_philox_equals_published_numbers(counter, key, words):
    """Known answers published with Random123 (Salmon et al. 2011)."""
    counter, key, expected = ([int(word, 16) for word in text.split()] for text in (counter, key, words))
    assert list(reference_color.philox(counter, key)) == expected
    counter_arrays = [np.array(word, np.uint64) for word in counter]
    assert [int(word) for word in reference_color.philox(counter_arrays, key)] == expected
