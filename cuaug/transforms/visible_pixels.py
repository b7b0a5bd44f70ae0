"""`visible_pixels`: images before and after a recipe, with the values that a picture can show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..show import denormalized
from .color import Normalize
from .suspicious_values import OVERSHOOT
from .transform import Transform


def visible_pixels(
    before: Sequence[np.ndarray], after: Sequence[np.ndarray], transforms: Sequence[Transform]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The images with floats in 0..1. Integers stay as they are. [C, H, W] each

    The last `Normalize` of the recipe is undone; the range of values is then that of the images before the recipe.
    Without one, or if the number of channels has changed since, the range of the results follows from the results.
    """
    before_range = _value_range(before)
    normalize = next((transform for transform in reversed(transforms) if isinstance(transform, Normalize)), None)
    if normalize is not None and all(_has_channels_of(normalize, image) for image in after):
        after, after_range = [_denormalized(image, normalize) for image in after], before_range
    else:
        after_range = _value_range(after)
    return [_in_range(image, *before_range) for image in before], [_in_range(image, *after_range) for image in after]


def _is_float(image: np.ndarray) -> bool:
    return image.dtype.kind not in "iu"


def _has_channels_of(normalize: Normalize, image: np.ndarray) -> bool:
    return {np.size(normalize.mean), np.size(normalize.std)} <= {1, len(image)}


def _denormalized(image: np.ndarray, normalize: Normalize) -> np.ndarray:
    """The image before it was normalized. An integer image was converted after the `Normalize`, and stays as it is."""
    return denormalized(image, normalize.mean, normalize.std) if _is_float(image) else image


def _value_range(images: Sequence[np.ndarray]) -> tuple[float, float]:
    """(0, 1) if all floats of the images are in 0..1, else their minimum and maximum."""
    values = [image[np.isfinite(image)] for image in images if _is_float(image)]
    low = min((float(array.min()) for array in values if array.size), default=0.0)
    high = max((float(array.max()) for array in values if array.size), default=1.0)
    return (low, high) if low < -OVERSHOOT or high > 1 + OVERSHOOT else (0.0, 1.0)


def _in_range(image: np.ndarray, low: float, high: float) -> np.ndarray:
    """The image with its floats mapped from low..high to 0..1; integers stay as they are."""
    return (image.astype(np.float64) - low) / (high - low or 1.0) if _is_float(image) else image
