"""Channelwise ops on uint8 images. On a CPU, large images take the results from a table of the 256 levels.

The expected table is the result of a small image, for which the op is computed pixel by pixel.
"""

import numpy as np
import pytest
from helpers.arrays import noise
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T

OPS = {
    "invert": cuaug.invert,
    "posterize": lambda images: cuaug.posterize(images, 3),
    "posterize to no bit": lambda images: cuaug.posterize(images, 0),
    "solarize": lambda images: cuaug.solarize(images, 100),
    "adjust_brightness": lambda images: cuaug.adjust_brightness(images, 1.3),
    "adjust_brightness to 0": lambda images: cuaug.adjust_brightness(images, 0.0),
    "adjust_brightness by 1": lambda images: cuaug.adjust_brightness(images, 1.0),
    "adjust_gamma": lambda images: cuaug.adjust_gamma(images, 1.7, 1.1),
    "adjust_gamma beyond 8": lambda images: cuaug.adjust_gamma(images, 9.5),
    "adjust_contrast": lambda images: cuaug.adjust_contrast(images, 1.4, about=127.0),
    "two ops": T.Compose([T.RandomInvert(p=1), T.RandomSolarize(60, p=1)]),
    "three ops": T.Compose([T.ColorJitter((1.2, 1.2)), T.RandomPosterize(5, p=1), T.RandomInvert(p=1)]),
}
LEVELS = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
IMAGES = noise((2, 40, 161, 3))


def strided(images):
    """Every second column of a wider array."""
    return np.repeat(images, 2, axis=2)[:, :, ::2]


def mirrored(images):
    return np.ascontiguousarray(images[:, ::-1, ::-1])[:, ::-1, ::-1]


def planar(images):
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(images, -1, 1)), 1, -1)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("arrange", [np.ascontiguousarray, strided, mirrored, planar])
def test_uint8_op_gives_each_level_its_result(name, arrange):
    table = OPS[name](LEVELS).reshape(-1)
    images = arrange(IMAGES)
    assert_equal(OPS[name](images), table[IMAGES])
    assert_equal(images, IMAGES)


@pytest.mark.parametrize("width", [*range(120, 140), 255, 256, 257])
def test_uint8_op_of_any_width(width):
    """Levels are looked up 128 at a time; the rest of a row is looked up one by one."""
    images = noise((21, width, 1), seed=width)
    table = cuaug.solarize(LEVELS, 77).reshape(-1)
    assert_equal(cuaug.solarize(images, 77), table[images])


def test_uint8_op_takes_parameters_per_sample():
    """A sample with a factor of 1 stays as it is."""
    factors = np.array([0.3, 1.0, 1.9])
    images = noise((3, 50, 60, 3))
    for op in (cuaug.adjust_brightness, cuaug.adjust_gamma):
        expected = [op(image, float(factor)) for image, factor in zip(images, factors, strict=True)]
        assert_equal(op(images, factors), np.stack(expected))
    assert_equal(cuaug.adjust_brightness(images, factors)[1], images[1])


def test_uint8_op_of_large_frames_takes_parameters_per_sample():
    """Frames of 65,536 levels and more are split into tasks: each uses the levels of its sample, and its own rows."""
    images, factors = noise((2, 3, 211, 303, 3)), np.array([0.6, 1.7])
    for op in (cuaug.adjust_brightness, cuaug.adjust_gamma):
        result = op(images, factors, layout="NTHWC")
        for n, factor in enumerate(factors):
            table = op(LEVELS, float(factor)).reshape(-1)
            assert_equal(result[n], table[images[n]])
            assert_equal(op(images[:, n], factors)[n], table[images[n, n]])


def test_uint8_contrast_is_about_the_mean_of_each_image():
    images = noise((3, 50, 60, 3)) // np.uint8([[[[1]]], [[[2]]], [[[4]]]])
    for image, result in zip(images, cuaug.adjust_contrast(images, 0.5), strict=True):
        mean = (image * [0.2989, 0.587, 0.114]).sum(-1).mean()
        assert abs(result.astype(float) - (0.5 * image + 0.5 * mean)).max() < 0.502
