"""Filters in float64 NumPy: each op for one image ``[H, W, C]``, in the image's own range of 0..``max_value``.

``oracles/test_filter_reference.py`` compares them with SciPy, torch and Pillow. JPEG is Pillow's libjpeg-turbo.
"""

import io

import numpy as np
from PIL import Image


def adjust_sharpness(image, sharpness_factor, *, max_value):
    out = image.copy()
    if min(image.shape[:2]) > 2:
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (0, 1))
        inner = image[1:-1, 1:-1]
        out[1:-1, 1:-1] += (1 - sharpness_factor) * ((windows.sum((-2, -1)) + 4 * inner) / 13 - inner)
    return np.clip(out, 0, max_value)


def gaussian_blur(image, kernel_size, sigma=None, *, max_value):
    sizes = np.broadcast_to(kernel_size, 2)
    sigmas = 0.3 * ((sizes - 1) * 0.5 - 1) + 0.8 if sigma is None else np.broadcast_to(sigma, 2)
    for axis, size, axis_sigma in zip((1, 0), sizes, sigmas, strict=True):
        x = np.arange(size) - size // 2
        weights = np.exp(-(x**2) / (2 * axis_sigma**2))
        padded = np.pad(image, [(size // 2,) * 2 if a == axis else (0, 0) for a in range(3)], mode="reflect")
        windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis)
        image = windows @ (weights / weights.sum())
    return image


def jpeg(image, quality, *, max_value=255):
    pixels, file = image.astype(np.uint8), io.BytesIO()
    picture = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    picture.save(file, "JPEG", quality=int(quality), subsampling="4:2:0")
    return np.asarray(Image.open(file), float).reshape(image.shape)
