"""Drawn parameters of one transform, and comparisons of what it did."""

import numpy as np

from cuaug import transforms as T
from helpers.arrays import seeded

N, H, W, C = 48, 33, 47, 3


def batch(dtype="uint8", samples=N):
    """Smooth, with some noise, and from 20 to 220: no transform leaves it as it is."""
    rng = seeded("transforms", dtype)
    y, x = np.mgrid[:H, :W] / 47
    smooth = 110 + 70 * np.sin(3 * x + 5 * y)[..., None] * rng.uniform(0.6, 1, (samples, 1, 1, C))
    bytes_ = np.clip(smooth + rng.normal(0, 12, (samples, H, W, C)), 20, 220).astype(np.uint8)
    return bytes_ if dtype == "uint8" else (bytes_ / 255).astype(dtype)


def drawn(transform, images, step=3, **options):
    """The result, and what was drawn for it: columns by the end of their names, of a transform that occurs once."""
    aug = T.Compose([transform], seed=7)
    params = aug.draw(images, step=step, **options)
    return aug.apply(images, params), params


def column(params, name, place=None):
    found = [n for n in params.names if n.endswith(f".{name}") and (place is None or n.startswith(f"{place}."))]
    assert len(found) == 1, (name, found)
    return np.asarray(params[found[0]])


def one_by_one(images, function):
    return np.concatenate([function(images[n : n + 1], n) for n in range(len(images))])


def assert_near(got, wanted, levels=1):
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    most = levels if got.dtype == np.uint8 else 2e-5
    worst = np.abs(got.astype(float) - wanted.astype(float)).max()
    assert worst <= most, worst


def changed(result, images):
    return (result != images).reshape(len(images), -1).any(1)
