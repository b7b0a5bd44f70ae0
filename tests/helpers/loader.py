"""Files and recipes for the tests of the loader."""

from io import BytesIO

import numpy as np
from PIL import Image

from cuaug import transforms as T


def encoded_file(image, **options):
    """The bytes of a file, JPEG unless `format` says otherwise."""
    out = BytesIO()
    Image.fromarray(image).save(out, **{"format": "JPEG", "quality": 90, **options})
    return out.getvalue()


def photo_parts(count, min_side=60, max_side=200):
    """Random parts of photographs, of different sizes."""
    from sklearn.datasets import load_sample_images  # takes a second to import, and child processes need only RECIPES

    rng, sources = np.random.default_rng(0), load_sample_images().images
    for i in range(count):
        height, width = rng.integers(min_side, max_side, 2)
        source = sources[i % len(sources)]
        top, left = rng.integers(0, source.shape[0] - height), rng.integers(0, source.shape[1] - width)
        yield source[top : top + height, left : left + width]


RECIPES = {
    "crop and flip": [T.RandomResizedCrop(32), T.RandomHorizontalFlip()],
    "bilinear": [T.RandomResizedCrop((24, 40), antialias=False), T.RandomGrayscale(0.5)],
    "random crop": [T.RandomCrop(48), T.RandomInvert()],
    "resized": [T.Resize((20, 30)), T.RandomVerticalFlip()],
    "validation": [T.Resize(40), T.CenterCrop(32)],
    "validation, bicubic": [T.Resize(48, interpolation="bicubic"), T.CenterCrop((32, 40))],
    "as large as the shorter side": [T.Resize(32), T.CenterCrop(32)],
    "within a recipe": [T.Compose([T.RandomResizedCrop(32), T.RandomInvert()]), T.RandomHorizontalFlip()],
    "crop after a rotation": [T.RandomRotation(20), T.RandomResizedCrop(32)],
}
