"""The GPU's kernels of the Gaussian blur, run on the CPU by helpers/emulator."""

import numpy as np
import pytest
from helpers.arrays import noise, seeded
from helpers.channel_ops import CHAINS, assert_ops_equal_second_pass
from helpers.compare import Tolerance, assert_equal
from helpers.replace import replace_everywhere
from helpers.thinning import thinned

import cuaug
from cuaug._arrays.images import describe_images
from cuaug._gpu import devices
from cuaug._passes import filters, parameters

BLUR_CASES = [  # the last tile is partial in y, and in x from the third case on
    ((2, 56, 128, 3), "NHWC", (23, 23)),
    ((1, 3, 40, 240), "NCHW", (23, 5)),
    ((1, 45, 68, 4), "NHWC", (5, 23)),
    ((1, 9, 12, 3), "NHWC", (23, 23)),  # reflected more than once
    ((2, 20, 37, 3), "NHWC", (7, 7)),  # rows begin at odd addresses
    ((1, 40, 132, 3), "NHWC", (63, 63)),
]


@pytest.mark.parametrize(
    ("shape", "layout", "kernel_size"),
    thinned(BLUR_CASES, lambda shape, layout, kernel_size: kernel_size[0] != kernel_size[1] or shape[1] == 9),
    ids=str,
)
def test_gaussian_blur_kernel_equals_cpu_loops(shape, layout, kernel_size, emulate):
    batch, sigma = noise(shape, "uint8"), seeded("sigma", shape).uniform(0.1, 3.0, (shape[0], 2))
    expected = cuaug.gaussian_blur(batch, kernel_size, sigma, layout=layout)
    emulate("gaussian_blur")
    actual = cuaug.gaussian_blur(batch, kernel_size, sigma, layout=layout, out=np.full_like(batch, 99))
    tolerance = Tolerance(absolute=1, exact=0.99, reason="both are within 0.02 of a level before they are rounded")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


MATRIX_BLUR_CASES = [
    ("gaussian_blur_packed", (2, 56, 128, 3), "NHWC", (23, 23)),
    (
        "gaussian_blur_u8",
        (2, 3, 30, 100),
        "NCHW",
        (25, 5),
    ),  # the last strip, its last 16 elements and its last eight results are partial
    ("gaussian_blur_u8", (1, 45, 68, 4), "NHWC", (5, 25)),
    ("gaussian_blur_packed", (1, 12, 13, 3), "NHWC", (23, 23)),  # at an edge, all other rows are mirrored
    ("gaussian_blur_u8", (2, 20, 37, 3), "NHWC", (7, 7)),  # rows begin at odd addresses
    ("gaussian_blur_packed", (2, 20, 37, 3), "NHWC", (15, 7)),
    ("gaussian_blur_u8", (1, 5, 33, 40), "NCHW", (1, 9)),  # more channels than a slice has
    ("gaussian_blur_packed", (1, 40, 132, 2), "NHWC", (23, 1)),
    ("gaussian_blur_packed", (1, 30, 70, 4), "NHWC", (11, 5)),
    ("gaussian_blur_packed", (1, 30, 70, 4), "NHWC", (9, 3)),
    ("gaussian_blur_u8", (1, 30, 70, 3), "NHWC", (11, 3)),  # channels x radius is `MAX_MMA_DISTANCE`
    ("gaussian_blur_packed", (1, 1, 66, 3), "NHWC", (25, 1)),
]


every_matrix_blur = pytest.mark.parametrize(
    ("skeleton", "shape", "layout", "kernel_size"),
    thinned(MATRIX_BLUR_CASES, lambda skeleton, shape, *rest: shape[0] == 2),
    ids=str,
)


@pytest.fixture
def small_gpu(monkeypatch):
    """A GPU of one multiprocessor with fast integer matrix products."""
    replace_everywhere(monkeypatch, devices, "has_fast_integer_mma", lambda device: True)
    replace_everywhere(monkeypatch, devices, "multiprocessor_count", lambda device: 1)


def image_and_sigma(shape, layout, dtype="uint8"):
    """Noise, and a sigma per image and axis: that of the first of two images is so small that nothing changes."""
    sigma = seeded("sigma", shape).uniform(0.5, 5.0, (shape[0], 2))
    sigma[:-1] = 0.05
    images = describe_images(noise(shape, dtype), layout)
    return images, parameters.xy_pairs("sigma", sigma, images)


@every_matrix_blur
def test_gaussian_blur_by_matrix_products_equals_cpu_loops(skeleton, shape, layout, kernel_size, emulate, small_gpu):
    images, sigma = image_and_sigma(shape, layout)
    expected = filters.gaussian_blur(images, kernel_size, sigma, None)
    emulate(skeleton)
    actual = filters.gaussian_blur(images._replace(device=0), kernel_size, sigma, None)
    tolerance = Tolerance(absolute=1, exact=0.99, reason="both are within 0.02 of a level before they are rounded")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@pytest.mark.parametrize(("names", "dtype"), CHAINS, ids=str)
@every_matrix_blur
def test_ops_of_blur_by_matrix_products_equal_second_pass(
    skeleton, shape, layout, kernel_size, names, dtype, emulate, small_gpu
):
    images, sigma = image_and_sigma(shape, layout)
    emulate(skeleton)
    assert_ops_equal_second_pass(
        lambda dtype, ops: filters.gaussian_blur(images._replace(device=0), kernel_size, sigma, None, dtype, ops),
        *(images, names, dtype),
    )


@pytest.mark.parametrize(("names", "dtype"), [*CHAINS, (("Normalize",), "float64")], ids=str)
@pytest.mark.parametrize(
    ("shape", "layout", "source"),
    [
        ((2, 20, 37, 3), "NHWC", "uint8"),
        ((2, 3, 20, 36), "NCHW", "float16"),
        ((1, 5, 9, 12), "NCHW", "float32"),  # more channels than a slice has
        ((2, 9, 12, 4), "NHWC", "float64"),
    ],
    ids=str,
)
def test_ops_of_blur_equal_second_pass(shape, layout, source, names, dtype, emulate):
    images, sigma = image_and_sigma(shape, layout, source)
    emulate("gaussian_blur")
    assert_ops_equal_second_pass(
        lambda dtype, ops: filters.gaussian_blur(images._replace(device=0), (5, 27), sigma, None, dtype, ops),
        *(images, names, dtype),
    )
