"""Tolerances and checks of the loader's tests."""

import threading

import numpy as np

import cuaug
import cuaug.io
from helpers.compare import Tolerance

ONE_LEVEL = Tolerance(absolute=1, exact=0.99, reason="the two results round in another order")


def expected_batch(files, recipe, ids, epoch):
    """The recipe's result from fully decoded images."""
    images = [cuaug.io.decode_jpeg(files[i][0]) for i in ids]
    return np.stack([recipe(image[None], ids=[int(i)], step=epoch)[0] for i, image in zip(ids, images, strict=True)])


def cuaug_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("cuaug")]
