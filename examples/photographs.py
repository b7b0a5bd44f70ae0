"""Photographs from installed Python packages, cut into JPEG files: one folder per photograph."""

from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data
from sklearn.datasets import load_sample_image


def photographs():
    """Six photographs by name. [H, W, 3]"""
    skimage = {name: getattr(data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    return skimage | {name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")}


def write_crops(folder, count, size, seed=0, quality=75):
    """Writes `count` random crops of each photograph as JPEG files of `size` (H, W): ``folder/china/0007.jpg``."""
    rng, (height, width) = np.random.default_rng(seed), size
    for name, photograph in photographs().items():
        (Path(folder) / name).mkdir(parents=True)
        image = Image.fromarray(photograph)
        for i in range(count):
            fraction = rng.uniform(0.5, 1.0)
            scale = fraction * min(image.height / height, image.width / width)
            tall, wide = scale * height, scale * width
            left, top = rng.uniform(0, image.width - wide), rng.uniform(0, image.height - tall)
            box = (left, top, left + wide, top + tall)
            crop = image.resize((width, height), Image.Resampling.BICUBIC, box)
            crop.save(Path(folder) / name / f"{i:04}.jpg", quality=quality)
    return Path(folder)
