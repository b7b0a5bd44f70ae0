"""Colour in float64 NumPy: the formula of each op for one image, in the image's own range of 0..``white``.

``test_reference_color.py`` holds them against the standard library, Pillow and torch.
"""

import numpy as np

LUMA = np.array([0.2989, 0.587, 0.114])


def luma(image):
    return image @ LUMA if image.shape[-1] == 3 else image[..., 0]


def blend(image, other, factor, white):
    return np.clip(factor * image + (1 - factor) * other, 0, white)


def adjust_brightness(image, brightness_factor, *, white):
    return blend(image, 0.0, brightness_factor, white)


def adjust_contrast(image, contrast_factor, about=None, *, white):
    return blend(image, luma(image).mean() if about is None else about, contrast_factor, white)


def adjust_saturation(image, saturation_factor, *, white):
    return blend(image, luma(image)[..., None], saturation_factor, white)


def adjust_hue(image, hue_factor, *, white):
    """RGB to HSV and back, by the hexagon's six sectors."""
    r, g, b = np.moveaxis(image / white, -1, 0)
    v, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    chroma = v - low
    safe = np.where(chroma > 0, chroma, 1)
    sector = np.select([v == r, v == g], [(g - b) / safe, 2 + (b - r) / safe], 4 + (r - g) / safe)
    sector = (np.where(chroma > 0, sector, 0) + 6 * hue_factor) % 6
    i, f = np.floor(sector), sector % 1
    p, q, t = v - chroma, v - chroma * f, v - chroma * (1 - f)
    choices = [(v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q)]
    return white * np.stack([np.select([i == k for k in range(6)], [c[n] for c in choices]) for n in range(3)], -1)


def adjust_gamma(image, gamma, gain=1.0, *, white):
    return np.clip(gain * np.maximum(image / white, 0) ** gamma, 0, 1) * white


def invert(image, *, white):
    return white - image


def solarize(image, threshold, *, white):
    return np.where(image >= threshold, white - image, image)


def posterize(image, bits, *, white):
    levels = 2.0**bits
    if white == 1:
        return np.clip(np.floor(image * levels), 0, levels - 1) / levels
    step = (white + 1) / levels
    return np.floor(image / step) * step


def rgb_to_grayscale(image, num_output_channels=1, *, white):
    return np.repeat(luma(image)[..., None], num_output_channels, -1)


def normalize(image, mean, std, *, white):
    return (image / white - mean) / std


def to_dtype(image, dtype, scale=False, *, white):
    top = np.iinfo(dtype).max if "int" in dtype else 1.0
    out = image / white * top if scale else image
    return np.clip(out, np.iinfo(dtype).min, top) if "int" in dtype else out


def color_matrix(image, matrix, *, white):
    matrix = np.asarray(matrix)
    offset = matrix[:, 3] * white if matrix.shape[1] == 4 else 0
    return np.clip(image @ matrix[:, :3].T + offset, 0, white)


def erase(image, i, j, h, w, v=0, *, white):
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    inside = (y >= i) & (y < i + h) & (x >= j) & (x < j + w)
    return np.where(inside[..., None], v, image)
