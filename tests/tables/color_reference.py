"""Colour in float64 NumPy: the formula of each op for one image, in the image's own range of 0..``max_value``.

`tests/oracles/test_color_reference.py` compares the formulas with the standard library, Pillow, OpenCV, torch and
published numbers.
"""

import numpy as np

from tables.draws import philox

LUMA = np.array([0.2989, 0.587, 0.114])


def luma(image):
    return image @ LUMA if image.shape[-1] == 3 else image[..., 0]


def blend(image, other, factor, max_value):
    return np.clip(factor * image + (1 - factor) * other, 0, max_value)


def adjust_brightness(image, brightness_factor, *, max_value):
    return blend(image, 0.0, brightness_factor, max_value)


def adjust_contrast(image, contrast_factor, about=None, *, max_value):
    return blend(image, luma(image).mean() if about is None else about, contrast_factor, max_value)


def adjust_saturation(image, saturation_factor, *, max_value):
    return blend(image, luma(image)[..., None], saturation_factor, max_value)


def adjust_hue(image, hue_factor, *, max_value):
    """RGB to HSV and back, by the hexagon's six sectors."""
    r, g, b = np.moveaxis(image / max_value, -1, 0)
    v, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    chroma = v - low
    safe = np.where(chroma > 0, chroma, 1)
    sector = np.select([v == r, v == g], [(g - b) / safe, 2 + (b - r) / safe], 4 + (r - g) / safe)
    sector = (np.where(chroma > 0, sector, 0) + 6 * hue_factor) % 6
    i, f = np.floor(sector) % 6, sector % 1  # of -1e-17, `% 6` gives 6.0
    p, q, t = v - chroma, v - chroma * f, v - chroma * (1 - f)
    choices = [(v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q)]
    return max_value * np.stack([np.select([i == k for k in range(6)], [c[n] for c in choices]) for n in range(3)], -1)


def adjust_gamma(image, gamma, gain=1.0, *, max_value):
    return np.clip(gain * np.maximum(image / max_value, 0) ** gamma, 0, 1) * max_value


def invert(image, *, max_value):
    return max_value - image


def solarize(image, threshold, *, max_value):
    return np.where(image >= threshold, max_value - image, image)


def posterize(image, bits, *, max_value):
    levels = 2.0**bits
    if max_value == 1:
        return np.clip(np.floor(image * levels), 0, levels - 1) / levels
    step = (max_value + 1) / levels
    return np.floor(image / step) * step


def autocontrast(image, *, max_value):
    """Integers are computed in float32, as in torchvision, because results just below a level depend on rounding."""
    real = np.float32 if max_value > 1 else np.float64
    low, high = image.min((0, 1)).astype(real), image.max((0, 1)).astype(real)
    scale = np.where(high > low, (high - low) * real(1 / max_value), real(1))
    stretched = (image.astype(real) - np.where(high > low, low, 0)) / scale
    return np.clip(np.floor(stretched) if max_value > 1 else stretched, 0, max_value)


def equalize(image, *, max_value):
    """Channel by channel, level by level."""
    out = image.copy()
    for c in range(image.shape[-1]):
        channel = image[..., c]
        step = int((channel < channel.max()).sum()) // 255
        for level in np.unique(channel) if step else ():
            below = int((channel < level).sum())
            out[..., c][channel == level] = min((below + step // 2) // step, 255)
    return out


def lut(image, table, *, max_value):
    table = np.broadcast_to(np.asarray(table).reshape(-1, 256), (image.shape[-1], 256))
    return np.stack([table[c][image[..., c].astype(int)] for c in range(image.shape[-1])], -1)


def normals(shape, seed, step, ids):
    """Box and Muller. A block of four words serves four channels; two words are a radius and an angle. [H, W, C]

    The logarithm's argument is rounded to float32, as in the kernel: both take the same argument.
    """
    height, width, channels = shape
    out = np.empty((height, width, -(-channels // 4) * 4))
    for first in range(0, channels, 4):
        index = np.arange(height * width, dtype=np.uint64).reshape(height, width) + np.uint64(
            first // 4 * height * width
        )
        counter = [index, *(np.full_like(index, word) for word in (ids >> 32 << 16, ids & 0xFFFFFFFF, step))]
        words = philox(counter, [seed & 0xFFFFFFFF, seed >> 32])
        for pair in range(2):
            uniform = ((words[2 * pair] >> np.uint64(1)) | np.uint64(1)).astype(np.float32) / 2**31
            radius = np.sqrt(-2 * np.log(uniform.astype(float)))
            angle = 2 * np.pi * words[2 * pair + 1] / 2**32
            out[..., first + 2 * pair], out[..., first + 2 * pair + 1] = radius * np.cos(angle), radius * np.sin(angle)
    return out[..., :channels]


def gaussian_noise(image, mean=0.0, sigma=0.1, clip=True, seed=0, step=0, ids=0, *, max_value):
    out = image / max_value + mean + sigma * normals(image.shape, seed, step, int(ids))
    return (np.clip(out, 0, 1) if clip else out) * max_value


def rgb_to_grayscale(image, num_output_channels=1, *, max_value):
    return np.repeat(luma(image)[..., None], num_output_channels, -1)


def normalize(image, mean, std, *, max_value):
    return (image / max_value - mean) / std


def to_dtype(image, dtype, scale=False, *, max_value):
    largest = np.iinfo(dtype).max if "int" in dtype else 1.0
    out = image / max_value * largest if scale else image
    return np.clip(out, np.iinfo(dtype).min, largest) if "int" in dtype else out


def color_matrix(image, matrix, *, max_value):
    matrix = np.asarray(matrix)
    offset = matrix[:, 3] * max_value if matrix.shape[1] == 4 else 0
    return np.clip(image @ matrix[:, :3].T + offset, 0, max_value)


def permute_channels(image, permutation, *, max_value):
    return image[..., np.asarray(permutation)]


def erase(image, i, j, h, w, v=0, *, max_value):
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    inside = (y >= i) & (y < i + h) & (x >= j) & (x < j + w)
    return np.where(inside[..., None], v, image)
