"""Magnitudes of a policy's ops: a number per bin, computed in float32 as in torchvision."""

from __future__ import annotations

import math

import numpy as np

SIGNED = {  # ops whose magnitude gets a random sign
    *("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"),
    *("Brightness", "Color", "Contrast", "Sharpness"),
}


def standard_magnitudes(bins: int, size: tuple[int, int]) -> dict[str, list[float]]:
    """AutoAugment's and RandAugment's magnitudes by op, for a canvas (H, W)."""
    height, width = size
    return _magnitudes(bins, 0.3, (150 / 331 * width, 150 / 331 * height), 30.0, 0.9, 4)


def wide_magnitudes(bins: int) -> dict[str, list[float]]:
    """TrivialAugmentWide's magnitudes by op."""
    return _magnitudes(bins, 0.99, (32.0, 32.0), 135.0, 0.99, 6)


def augmix_magnitudes(size: tuple[int, int]) -> dict[str, list[float]]:
    """AugMix's magnitudes by op, for a canvas (H, W)."""
    height, width = size
    return _magnitudes(10, 0.3, (width / 3, height / 3), 30.0, 0.9, 4, max_bits=4)


def _magnitudes(
    bins: int, shear: float, translation: tuple[float, float], angle: float, factor: float, bits: int, max_bits: int = 8
) -> dict[str, list[float]]:
    """Shears in degrees, translations in whole pixels, factors minus 1, bits to keep, thresholds in 0..1."""
    shears = [math.degrees(math.atan(slope)) for slope in _linspace(0, shear, bins)]
    translations_x, translations_y = ([float(int(pixels)) for pixels in _linspace(0, t, bins)] for t in translation)
    bits_to_keep = max_bits - np.round(np.arange(bins, dtype=np.float32) / np.float32((bins - 1) / bits))
    factors = dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), _linspace(0, factor, bins))
    geometry = {"ShearX": shears, "ShearY": shears, "TranslateX": translations_x, "TranslateY": translations_y}
    rotation = {"Rotate": _linspace(0, angle, bins)}
    return {**geometry, **rotation, **factors, "Posterize": bits_to_keep.tolist(), "Solarize": _linspace(1, 0, bins)}


def _linspace(first: float, last: float, bins: int) -> list[float]:
    """As torch.linspace: a float32 step, counted from the nearer end; product and sum are rounded once."""
    start, end = np.float32(first), np.float32(last)
    step, i = float((end - start) / np.float32(bins - 1)), np.arange(bins)
    values = np.where(i < bins // 2, float(start) + step * i, float(end) - step * (bins - 1 - i))
    return [float(value) for value in values.astype(np.float32)]
