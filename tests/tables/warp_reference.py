"""The warps in float64 NumPy: the textbook formula of each op, for one image.

An image is ``[H, W, C]``, a size ``(H, W)``, a point ``(x, y)``; pixel centres are integers. The functions have
the names and keywords of cuaug's, because the table calls both, and share no code with cuaug.
``oracles/test_warp_reference.py`` compares them with OpenCV 5, Pillow, SciPy, torch and torchvision.
"""

import math

import numpy as np

LIMIT = 2.0**30  # a coordinate of this size or more, or not finite, is fill under every border


def reflect(i, n):
    i = i % max(2 * n - 2, 1)
    return np.where(i < n, i, 2 * n - 2 - i)


def symmetric(i, n):
    i = i % (2 * n)
    return np.where(i < n, i, 2 * n - 1 - i)


def edge(i, n):
    return np.clip(i, 0, n - 1)


# The index of the pixel, of ``n`` in a row, at integer position ``i``; named as in ``np.pad``.
BORDERS = {
    "constant": edge,  # `pick` replaces the pixels outside by the fill
    "edge": edge,
    "reflect": reflect,
    "symmetric": symmetric,
    "wrap": lambda i, n: i % n,
}


def pick(image, x, y, border, fill):
    """The pixels at integer positions; outside the image the border's pixel or the fill."""
    height, width, _ = image.shape
    pixels = image[BORDERS[border](y, height), BORDERS[border](x, width)]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return pixels if border != "constant" else np.where(inside[..., None], pixels, fill)


def triangle(t):
    return np.maximum(1 - np.abs(t), 0)


def cubic(t, a):
    """Keys (1981), equation 4, with its free parameter ``a``."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = a * (((t - 5) * t + 8) * t - 4)
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def lanczos(t, a):
    return np.where(np.abs(t) < a, np.sinc(t) * np.sinc(t / a), 0)


SAMPLING = {
    "bilinear": (1, triangle),
    "bicubic": (2, lambda t: cubic(t, -0.75)),
    "lanczos": (4, lambda t: lanczos(t, 4)),
}
ANTIALIAS = {
    "bilinear": triangle,
    "bicubic": lambda t: cubic(t, -0.5),
    "lanczos": lambda t: lanczos(t, 3),
}


def sample(image, x, y, interpolation="bilinear", border="constant", fill=0):
    """The image at real positions: ``sum_ij k(x - i) k(y - j) image[j, i]``, the kernel's weights summing to 1."""
    valid = (np.abs(x) < LIMIT) & (np.abs(y) < LIMIT)
    x, y = np.where(valid, x, 0), np.where(valid, y, 0)
    if interpolation == "nearest":
        out = pick(image, np.floor(x + 0.5).astype(int), np.floor(y + 0.5).astype(int), border, fill)
    else:
        radius, kernel = SAMPLING[interpolation]
        left, top = np.floor(x).astype(int), np.floor(y).astype(int)
        taps = range(1 - radius, radius + 1)
        weight_x = [kernel(x - (left + i)) for i in taps]
        weight_y = [kernel(y - (top + j)) for j in taps]
        out = np.zeros((*x.shape, image.shape[2]))
        for wy, j in zip(weight_y, taps, strict=True):
            for wx, i in zip(weight_x, taps, strict=True):
                out += (wy * wx)[..., None] * pick(image, left + i, top + j, border, fill)
        out /= (sum(weight_x) * sum(weight_y))[..., None]
    return np.where(valid[..., None], out, fill)


def grid(size):
    """The coordinates ``x, y`` of every pixel of an image. [H, W] each"""
    y, x = np.mgrid[: size[0], : size[1]].astype(float)
    return x, y


def warp(image, M, size=None, *, inverse=False, origin="center", **sampling):
    """Both ``warp_affine`` and ``warp_perspective``. A matrix that has no inverse gives fill."""
    M = np.asarray(M, float)
    M = M if len(M) == 3 else np.vstack([M, [0, 0, 1]])
    x, y = grid(size or image.shape[:2])
    half = 0.5 if origin == "corner" else 0.0
    with np.errstate(all="ignore"):
        if not inverse:
            M = np.linalg.inv(M) if np.isfinite(M).all() and np.linalg.det(M) else np.full((3, 3), np.nan)
        x, y, w = np.einsum("ij,jhw->ihw", M, np.stack([x + half, y + half, np.ones_like(x)]))
        return sample(image, x / w - half, y / w - half, **sampling)


warp_affine = warp_perspective = warp


def remap(image, map_x, map_y, *, relative=False, **sampling):
    x, y = grid(map_x.shape) if relative else (0, 0)
    return sample(image, map_x + x, map_y + y, **sampling)


def filter_matrix(n_in, n_out, kernel):
    """Row ``o`` has the weights of output ``o``: the kernel, widened when shrinking, normalized. [n_out, n_in]"""
    scale = n_in / n_out
    centre = (np.arange(n_out)[:, None] + 0.5) * scale
    weights = kernel((np.arange(n_in) + 0.5 - centre) / max(scale, 1))
    return weights / weights.sum(axis=1, keepdims=True)


def overlap_matrix(start, extent, n_in, n_out):
    """Row ``o`` has the share of output ``o`` that each input pixel covers. [n_out, n_in]

    Output ``o`` is the interval from ``start + o * extent / n_out``, of this length; pixel ``i`` is ``[i, i + 1)``.
    """
    length, pixel = extent / n_out, np.arange(n_in)
    begin = start + np.arange(n_out)[:, None] * length
    return np.maximum(np.minimum(begin + length, pixel + 1) - np.maximum(begin, pixel), 0) / length


def output_size(size, shape, max_size=None):
    """Sizes in torchvision's sense: an int is the shorter side, and ``max_size`` bounds the longer one."""
    if not isinstance(size, int):
        return size
    height, width = shape
    short, long = min(shape), max(shape)
    new_short, new_long = size, int(size * long / short)
    if max_size is not None and new_long > max_size:
        new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_short, new_long) if height <= width else (new_long, new_short)


def resize_area(image, top, left, height, width, size):
    """The average over each output pixel; a pixel outside the image is 0. The box may begin and end within a pixel."""
    rows = overlap_matrix(top, height, image.shape[0], size[0])
    columns = overlap_matrix(left, width, image.shape[1], size[1])
    return np.einsum("yh,xw,hwc->yxc", rows, columns, image, optimize=True)


def resize(image, size, interpolation="bilinear", max_size=None, antialias=True):
    height, width = image.shape[:2]
    out_height, out_width = output_size(size, (height, width), max_size)
    if interpolation == "area":
        return resize_area(image, 0, 0, height, width, (out_height, out_width))
    if interpolation == "nearest" or not antialias:
        x, y = grid((out_height, out_width))
        x, y = (x + 0.5) * width / out_width - 0.5, (y + 0.5) * height / out_height - 0.5
        return sample(image, x, y, interpolation, "edge")
    rows = filter_matrix(height, out_height, ANTIALIAS[interpolation])
    columns = filter_matrix(width, out_width, ANTIALIAS[interpolation])
    return np.einsum("yh,xw,hwc->yxc", rows, columns, image, optimize=True)


def crop(image, top, left, height, width, fill=0):
    x, y = grid((height, width))
    return pick(image, (x + left).astype(int), (y + top).astype(int), "constant", fill)


def center_crop(image, output_size, fill=0):
    """torchvision's offsets: half of the excess, rounded to even; half of the padding, rounded down."""
    size = (output_size, output_size) if isinstance(output_size, int) else output_size
    top, left = (
        round((n - extent) / 2) if n >= extent else -((extent - n) // 2)
        for n, extent in zip(image.shape[:2], size, strict=True)
    )
    return crop(image, top, left, *size, fill)


def pad(image, padding, fill=0, padding_mode="constant"):
    """Padding is one number, ``(left and right, top and bottom)`` or ``(left, top, right, bottom)``."""
    padding = [padding] if isinstance(padding, int) else list(padding)
    left, top, right, bottom = padding * (4 // len(padding))
    x, y = grid((top + image.shape[0] + bottom, left + image.shape[1] + right))
    return pick(image, (x - left).astype(int), (y - top).astype(int), padding_mode, fill)


def resized_crop(image, top, left, height, width, size, interpolation="bilinear", antialias=True):
    if interpolation == "area":
        return resize_area(image, top, left, height, width, size)
    return resize(crop(image, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(image, flip=True):
    return image[:, ::-1] if flip else image


def vflip(image, flip=True):
    return image[::-1] if flip else image


def rotation(degrees):
    """Clockwise on the screen, where y points down. [2, 2]"""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]])


def affine_matrix(angle, translate, scale, shear, center):
    """torchvision's ``T(translate) T(center) R(angle) scale SHy SHx T(-center)``, source to destination. [3, 3]"""
    shear_x = [[1, -math.tan(math.radians(shear[0]))], [0, 1]]
    shear_y = [[1, 0], [-math.tan(math.radians(shear[1])), 1]]
    linear = scale * rotation(angle) @ shear_y @ shear_x
    offset = np.asarray(center) + translate - linear @ center
    return np.block([[linear, offset[:, None]], [np.zeros((1, 2)), 1]])


def middle(shape):
    return np.array([shape[1] / 2, shape[0] / 2])


def affine(
    image, angle, translate, scale, shear, interpolation="nearest", fill=None, center=None, *, border="constant"
):
    shear = (shear, 0) if np.ndim(shear) == 0 else shear
    M = affine_matrix(angle, translate, scale, shear, middle(image.shape) if center is None else center)
    return warp(image, M, origin="corner", interpolation=interpolation, border=border, fill=0 if fill is None else fill)


def rotate(image, angle, interpolation="nearest", expand=False, center=None, fill=None, *, border="constant"):
    """Counter-clockwise rotation; ``expand`` takes the smallest size that holds the rotated image."""
    about = middle(image.shape) if center is None else center
    M = affine_matrix(-angle, (0, 0), 1, (0, 0), about)
    size = image.shape[:2]
    if expand:  # torchvision ignores less than 1e-4 of a pixel
        corners = np.array([[0, 0], [size[1], 0], [0, size[0]], [size[1], size[0]]]) @ M[:2, :2].T + M[:2, 2]
        low, high = np.trunc(corners.min(0) * 1e4) / 1e4, np.trunc(corners.max(0) * 1e4) / 1e4
        width, height = (np.ceil(high) - np.floor(low)).astype(int)
        M = np.array([[1, 0, (width - size[1]) / 2], [0, 1, (height - size[0]) / 2], [0, 0, 1]]) @ M
        size = (height, width)
    fill = 0 if fill is None else fill
    return warp(image, M, size, origin="corner", interpolation=interpolation, border=border, fill=fill)


def perspective_matrix(startpoints, endpoints):
    """The homography that takes four points to four points: eight linear equations. [3, 3]"""
    rows, right = [], []
    for (x, y), (u, v) in zip(startpoints, endpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(np.array(rows, float), np.array(right, float)), 1).reshape(3, 3)


def perspective(
    image, startpoints, endpoints, interpolation="bilinear", fill=None, coefficients=None, *, border="constant"
):
    """Points in pixels from the corner; ``coefficients`` are a destination-to-source matrix without its last 1. [8]"""
    M = perspective_matrix(endpoints, startpoints) if coefficients is None else np.append(coefficients, 1).reshape(3, 3)
    fill = 0 if fill is None else fill
    return warp(image, M, inverse=True, origin="corner", interpolation=interpolation, border=border, fill=fill)


def elastic(image, displacement, interpolation="bilinear", fill=None):
    """``displacement`` is in half widths and half heights, as ``grid_sample`` counts. [H, W, 2] or [1, H, W, 2]"""
    displacement = displacement.reshape(*image.shape[:2], 2)
    half_height, half_width = image.shape[0] / 2, image.shape[1] / 2
    map_x, map_y = displacement[..., 0] * half_width, displacement[..., 1] * half_height
    return remap(image, map_x, map_y, relative=True, interpolation=interpolation, fill=0 if fill is None else fill)
