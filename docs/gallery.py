"""Draws docs/gallery.jpg: one picture of every function that takes images, all of the same photograph.

``python docs/gallery.py``, with the extra ``show`` and scikit-image installed. A test compares PICTURES with what the
package has.
"""

from pathlib import Path

import numpy as np

import cuaug

CENTER = (95.5, 95.5)
CORNERS = [[0, 0], [191, 0], [191, 191], [0, 191]]


def waves():
    y, x = np.mgrid[:192, :192] * (2 * np.pi / 48)
    return np.stack([np.sin(y) + np.sin(x), np.sin(x + 1) - np.sin(y)], -1)


def swirl():
    """Turned about the middle, the more the nearer."""
    y, x = np.mgrid[:192, :192] - 95.5
    radius = np.hypot(x, y)
    angle = np.arctan2(y, x) + 1.6 * np.exp(-((radius / 60) ** 2))
    return 95.5 + radius * np.cos(angle), 95.5 + radius * np.sin(angle)


def partners(photo, other):
    return np.stack([photo, other])


def faded(photo):
    return cuaug.adjust_contrast(photo, 0.4, 160)


def beside(left, right):
    return np.where(np.arange(192)[:, None] < 96, left, right)


def heat():
    """From black by red and yellow to white. [3, 256]"""
    return np.clip(3 * np.arange(256) - [[0], [255], [510]], 0, 255)


# name of the function: what it makes of a photograph of 192x192 pixels, and for mixing of another one
PICTURES = {
    "warp_affine": lambda a, b: cuaug.warp_affine(a, cuaug.affine_matrix(20, (10, 0), 0.8, (15, 0), CENTER)),
    "warp_perspective": lambda a, b: cuaug.warp_perspective(
        a, cuaug.get_perspective_transform(CORNERS, [[30, 10], [170, 40], [185, 180], [5, 160]])
    ),
    "affine": lambda a, b: cuaug.affine(a, -15, (0, 10), 1.1, (0, 10), "bilinear"),
    "rotate": lambda a, b: cuaug.rotate(a, 30, "bilinear", fill=128),
    "perspective": lambda a, b: cuaug.perspective(a, CORNERS, [[20, 30], [190, 0], [160, 190], [0, 170]], "bilinear"),
    "remap": lambda a, b: cuaug.remap(a, *swirl(), border="reflect"),
    "elastic": lambda a, b: cuaug.elastic(a, 0.02 * waves()[None], border="edge"),
    "resize": lambda a, b: cuaug.resize(cuaug.resize(a, (24, 24)), (192, 192), "nearest"),
    "resized_crop": lambda a, b: cuaug.resized_crop(a, 20, 50, 90, 90, (192, 192)),
    "crop": lambda a, b: cuaug.crop(a, 40, -30, 192, 192),
    "center_crop": lambda a, b: cuaug.center_crop(a, 120),
    "pad": lambda a, b: cuaug.pad(a, 40, padding_mode="symmetric"),
    "hflip": lambda a, b: cuaug.hflip(a),
    "vflip": lambda a, b: cuaug.vflip(a),
    "adjust_brightness": lambda a, b: cuaug.adjust_brightness(a, 1.5),
    "adjust_contrast": lambda a, b: cuaug.adjust_contrast(a, 2.0),
    "adjust_saturation": lambda a, b: cuaug.adjust_saturation(a, 2.5),
    "adjust_hue": lambda a, b: cuaug.adjust_hue(a, 0.4),
    "adjust_gamma": lambda a, b: cuaug.adjust_gamma(a, 2.0),
    "autocontrast": lambda a, b: beside(faded(a), cuaug.autocontrast(faded(a))),
    "equalize": lambda a, b: cuaug.equalize(a),
    "lut": lambda a, b: cuaug.lut(cuaug.rgb_to_grayscale(a, 3), heat()),
    "rgb_to_grayscale": lambda a, b: cuaug.rgb_to_grayscale(a, 3),
    "invert": lambda a, b: cuaug.invert(a),
    "solarize": lambda a, b: cuaug.solarize(a, 128),
    "posterize": lambda a, b: cuaug.posterize(a, 2),
    "color_matrix": lambda a, b: cuaug.color_matrix(
        a, [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
    ),
    "erase": lambda a, b: cuaug.erase(a, 30, 60, 70, 80, 96),
    "normalize": lambda a, b: 0.5 + 0.25 * cuaug.normalize(a, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    "to_dtype": lambda a, b: cuaug.to_dtype(a, "float32", scale=True),
    "gaussian_noise": lambda a, b: cuaug.gaussian_noise(a, 0, 0.15, seed=1),
    "adjust_sharpness": lambda a, b: cuaug.adjust_sharpness(a, 6.0),
    "gaussian_blur": lambda a, b: cuaug.gaussian_blur(a, 15, 3.0),
    "mixup": lambda a, b: cuaug.mixup(partners(a, b), 0.6)[0],
    "cutmix": lambda a, b: cuaug.cutmix(partners(a, b), 50, 60, 100, 100)[0],
}


def main():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from skimage import data

    photo = cuaug.resized_crop(data.astronaut(), 0, 60, 330, 330, (192, 192))
    other = cuaug.resized_crop(data.chelsea(), 0, 80, 300, 300, (192, 192))
    columns = 8
    rows = -(-(len(PICTURES) + 1) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(1.3 * columns, 1.5 * rows), dpi=110, layout="constrained")
    pictures = {"the photograph": photo, **{name: draw(photo, other) for name, draw in PICTURES.items()}}
    for axis in axes.flat:
        axis.axis("off")
    for axis, (name, picture) in zip(axes.flat, pictures.items(), strict=False):
        axis.imshow(np.clip(picture, 0, 1) if picture.dtype.kind == "f" else picture)
        axis.set_title(name, fontsize=7)
    figure.savefig(Path(__file__).with_name("gallery.jpg"), pil_kwargs={"quality": 85, "optimize": True})


if __name__ == "__main__":
    main()
