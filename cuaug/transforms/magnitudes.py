"""How strong the ops of a policy are: a number for each bin, as torchvision computes them, which is in float32."""

from __future__ import annotations

import math

import numpy as np

SIGNED = {
    *("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"),
    *("Brightness", "Color", "Contrast", "Sharpness"),
}


def moderate(bins: int, size: tuple[int, int]) -> dict[str, list[float]]:
    """Those of AutoAugment and RandAugment, for a canvas (H, W)."""
    height, width = size
    return _magnitudes(bins, 0.3, (150 / 331 * width, 150 / 331 * height), 30.0, 0.9, 4)


def wide(bins: int) -> dict[str, list[float]]:
    """Those of TrivialAugmentWide."""
    return _magnitudes(bins, 0.99, (32.0, 32.0), 135.0, 0.99, 6)


def blended(size: tuple[int, int]) -> dict[str, list[float]]:
    """Those of AugMix, for a canvas (H, W)."""
    height, width = size
    return _magnitudes(10, 0.3, (width / 3, height / 3), 30.0, 0.9, 4, most_bits=4)


def _magnitudes(
    bins: int, shear: float, shift: tuple[float, float], angle: float, factor: float, bits: int, most_bits: int = 8
) -> dict[str, list[float]]:
    """Shears in degrees, shifts in whole pixels, factors less 1, bits that are left, thresholds as shares of white."""
    shears = [math.degrees(math.atan(share)) for share in _spread(0, shear, bins)]
    across, down = ([float(int(pixels)) for pixels in _spread(0, most, bins)] for most in shift)
    kept = most_bits - np.round(np.arange(bins, dtype=np.float32) / np.float32((bins - 1) / bits))
    factors = dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), _spread(0, factor, bins))
    moves = {"ShearX": shears, "ShearY": shears, "TranslateX": across, "TranslateY": down}
    # A rotation turns clockwise in a matrix and the other way in torchvision: its sign is drawn.
    turns = {"Rotate": _spread(0, angle, bins)}
    return {**moves, **turns, **factors, "Posterize": kept.tolist(), "Solarize": _spread(1, 0, bins)}


def _spread(first: float, last: float, bins: int) -> list[float]:
    """As torch.linspace: a float32 step, counted from the nearer end, and product and sum rounded together."""
    start, end = np.float32(first), np.float32(last)
    step, i = float((end - start) / np.float32(bins - 1)), np.arange(bins)
    values = np.where(i < bins // 2, float(start) + step * i, float(end) - step * (bins - 1 - i))
    return [float(value) for value in values.astype(np.float32)]
