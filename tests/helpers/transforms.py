"""Calls of one transform with its drawn parameters, and comparisons of the results."""

import numpy as np

from cuaug import transforms as T
from helpers.arrays import seeded
from helpers.compare import Tolerance, assert_equal

N, H, W, C = 48, 33, 47, 3


def batch(dtype="uint8", samples=N):
    """Smooth images with some noise, of levels 20 to 220: every transform changes them."""
    rng = seeded("transforms", dtype)
    y, x = np.mgrid[:H, :W] / 47
    smooth = 110 + 70 * np.sin(3 * x + 5 * y)[..., None] * rng.uniform(0.6, 1, (samples, 1, 1, C))
    bytes_ = np.clip(smooth + rng.normal(0, 12, (samples, H, W, C)), 20, 220).astype(np.uint8)
    return bytes_ if dtype == "uint8" else (bytes_ / 255).astype(dtype)


def apply_with_params(transform, images, **options):
    """The result of a transform, and its drawn parameters, of which `column` finds one by the end of its name."""
    aug = T.Compose([transform], seed=7)
    params = aug.draw(images, step=3, **options)
    return aug.apply(images, params), params


def column(params, name, position=None):
    """The drawn values of one parameter, whose name ends with `name`.

    `position` is the index of its transform in the recipe, with which the name begins; None: any.
    """
    matches = [n for n in params.names if n.endswith(f".{name}") and (position is None or n.startswith(f"{position}."))]
    assert len(matches) == 1, (name, matches)
    return np.asarray(params[matches[0]])


def one_by_one(images, function):
    """``function(sample, n)`` of one sample at a time, for images of NumPy or torch."""
    if not len(images):
        return images
    results = [function(images[n : n + 1], n) for n in range(len(images))]
    if type(images).__module__.partition(".")[0] == "torch":
        import torch

        return torch.cat(results)
    return np.concatenate(results)


def assert_near(actual, expected, levels=1):
    """Compare NumPy arrays; ``levels`` is the largest difference of uint8 values."""
    limit, exact = (levels, 0.99) if actual.dtype == np.uint8 else (2e-5, 0)
    reason = "float32 arithmetic, rounded once or twice"
    assert_equal(actual, expected, tolerance=Tolerance(limit, exact=exact, reason=reason))


def changed_samples(result, images):
    """Whether any value of each sample differs. [N]"""
    return (result != images).reshape(len(images), -1).any(1)


EFFECTIVE = [  # each changes every sample
    T.ColorJitter(brightness=(0.5, 0.8), contrast=(1.2, 1.5), saturation=(0.2, 0.8), hue=0.3),
    T.RandomPhotometricDistort(p=1.0),
    T.RandomGrayscale(1.0),
    T.RandomInvert(1.0),
    T.RandomSolarize(0.3, 1.0),
    T.RandomPosterize(2, 1.0),
    T.RandomErasing(1.0),
    T.GaussianBlur(5, (0.8, 2.0)),
    T.ElasticTransform(300.0, 3.0),
    T.GaussianNoise(0.0, 0.2),
    T.RandomMask(1.0, "pixels", 0.3, 2),
    T.RandomMask(1.0, "grid", 0.3, 9),
    T.PixelOp("Vignette", "px * (1 - k * r2)", k=(0.2, 0.5)),
    T.RandomAutocontrast(1.0),
    T.RandomAdjustSharpness(3.0, 1.0),
    T.Grayscale(3),
    T.MixUp(),
    T.CutMix(alpha=50.0),
    T.RandomHorizontalFlip(1.0),
    T.RandomVerticalFlip(1.0),
    T.RandomCrop((H, W), padding=(7, 7, 7, 7), fill=1),
    T.RandomResizedCrop((H, W), scale=(0.2, 0.5)),
    T.RandomResizedCrop((H, W), scale=(0.2, 0.5), antialias=False),
    T.RandomAffine((10, 30), translate=(0.1, 0.1), scale=(0.7, 0.9), shear=(5, 10)),
    T.RandomRotation((10, 30), interpolation="bilinear"),
    T.RandomPerspective(0.5, 1.0),
]
