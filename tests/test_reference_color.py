"""The oracle of the colour ops against the standard library, Pillow and torch."""

import colorsys

import numpy as np
import pytest
import reference_color
from arrays import noise

PIXELS = noise((1, 17, 11, 3))[0].astype(float)


def test_hue_is_that_of_colorsys():
    for factor in (-0.5, -0.2, 0.0, 0.1, 0.37, 0.5):
        got = reference_color.adjust_hue(PIXELS, factor, white=255) / 255
        for pixel, turned in zip(PIXELS.reshape(-1, 3) / 255, got.reshape(-1, 3), strict=True):
            h, s, v = colorsys.rgb_to_hsv(*pixel)
            np.testing.assert_allclose(turned, colorsys.hsv_to_rgb((h + factor) % 1, s, v), atol=1e-9)


def test_posterize_solarize_and_invert_are_those_of_pillow():
    ops = pytest.importorskip("PIL.ImageOps")
    image = pytest.importorskip("PIL.Image").fromarray(PIXELS.astype(np.uint8))
    for bits in range(1, 9):
        np.testing.assert_array_equal(
            reference_color.posterize(PIXELS, bits, white=255), np.asarray(ops.posterize(image, bits))
        )
    np.testing.assert_array_equal(
        reference_color.solarize(PIXELS, 100, white=255), np.asarray(ops.solarize(image, 100))
    )
    np.testing.assert_array_equal(reference_color.invert(PIXELS, white=255), np.asarray(ops.invert(image)))


def test_blends_are_those_of_pillow_but_for_its_rounding():
    """Pillow cuts the result off, and rounds the grey it blends with, to a whole level."""
    enhance = pytest.importorskip("PIL.ImageEnhance")
    image = pytest.importorskip("PIL.Image").fromarray(PIXELS.astype(np.uint8))
    pairs = [("Brightness", "adjust_brightness"), ("Color", "adjust_saturation"), ("Contrast", "adjust_contrast")]
    for theirs, ours in pairs:
        for factor in (0.0, 0.5, 1.3):
            got = getattr(reference_color, ours)(PIXELS, factor, white=255)
            wanted = np.asarray(getattr(enhance, theirs)(image).enhance(factor))
            assert np.abs(got - wanted).max() <= 1 + 0.6 * abs(1 - factor)
