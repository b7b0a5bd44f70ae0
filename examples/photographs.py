"""Photographs that Python packages carry, as folders of JPEG files: one folder for each photograph, of pieces of it."""

from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data
from sklearn.datasets import load_sample_image


def photographs():
    """Six of them. [H, W, 3]"""
    skimage = {name: getattr(data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    return skimage | {name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")}


def write_pieces(folder, count, size, seed=0):
    """`count` pieces of each photograph, JPEG files of `size` (H, W): ``folder/china/0007.jpg``."""
    rng, (height, width) = np.random.default_rng(seed), size
    for name, photograph in photographs().items():
        (Path(folder) / name).mkdir(parents=True)
        image = Image.fromarray(photograph)
        for i in range(count):
            share = rng.uniform(0.5, 1.0)
            scale = share * min(image.height / height, image.width / width)
            tall, wide = scale * height, scale * width
            left, top = rng.uniform(0, image.width - wide), rng.uniform(0, image.height - tall)
            box = (left, top, left + wide, top + tall)
            image.resize((width, height), Image.Resampling.BICUBIC, box).save(Path(folder) / name / f"{i:04}.jpg")
    return Path(folder)
