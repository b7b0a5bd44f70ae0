"""Resizing by "area": the average over each output pixel, as OpenCV's INTER_AREA."""

import numpy as np
import pytest
from helpers.arrays import NUMPY, TORCH_CUDA, every_backend, images, noise, put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from tables import warp_reference as reference
from tables.row import TOLERANCES

import cuaug
from cuaug import transforms as T

BACKENDS = pytest.mark.parametrize("backend", [NUMPY, TORCH_CUDA], ids=str)
# (H, W) of images and results: integer and other factors, up to reductions by 700; enlargements; copies.
SIZES = [
    ((64, 48), (32, 24)),
    ((63, 48), (21, 12)),
    ((375, 500), (224, 224)),
    ((61, 47), (23, 31)),
    ((1400, 2), (2, 1)),
    ((17, 11), (17, 11)),
    ((17, 11), (34, 33)),
    ((7, 5), (19, 13)),
]


def boxes(count, seed=0):
    """Boxes that begin and end within pixels, a third of them beyond the edges of an image of 40x50.

    Returns top, left, height and width, [count] each.
    """
    rng = seeded("boxes of area", seed)
    top, left = rng.uniform(0, 20, (2, count))
    height, width = rng.uniform(0.3, 20, (2, count))
    top[::3] -= 25
    width[::3] += 40
    return top, left, height, width


@BACKENDS
@pytest.mark.parametrize(("shape", "size"), SIZES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_resize_area_equals_opencv(shape, size, dtype, backend):
    cv2 = pytest.importorskip("cv2", minversion="5")
    batch = noise((2, *shape, 3), dtype)
    expected = np.stack([cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA) for image in batch])
    actual = to_numpy(cuaug.resize(put(batch, backend), size, "area", layout="NHWC"))
    tolerance = {
        "uint8": Tolerance(1, exact=0.85, reason="OpenCV rounds halves up, and enlarges in 11 bits"),
        "float32": Tolerance(1e-4, reason="README's accuracy, for images in 0..1"),
    }[dtype]
    assert_equal(actual, expected, tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_resize_area_halves_by_the_mean_of_four_pixels(dtype, backend):
    batch = images(backend, dtype, "NHWC", (2, 40, 56, 3))
    blocks = to_numpy(batch).astype(float).reshape(2, 20, 2, 28, 2, 3)
    actual = cuaug.resize(batch, (20, 28), "area", layout="NHWC")
    expected = put(blocks.mean((2, 4)) if dtype == "float32" else np.rint(blocks.mean((2, 4))), backend, dtype)
    rounding = Tolerance(1e-7, reason="the sum of four float32 in 0..1")
    assert_equal(actual, expected, tolerance=rounding if dtype == "float32" else EXACT)


@BACKENDS
@pytest.mark.parametrize("size", [(1, 1), (13, 17), (39, 51), (100, 333)])
def test_resize_area_keeps_constants(size, backend):
    for dtype, value in (("uint8", 255), ("uint8", 131), ("float32", 0.7)):
        batch = put(np.full((1, 40, 50, 3), value, dtype), backend)
        expected = put(np.full((1, *size, 3), value, dtype), backend)
        rounding = Tolerance(relative=3e-7, reason="float32 weights, whose sum is 1 up to rounding")
        assert_equal(cuaug.resize(batch, size, "area", layout="NHWC"), expected, tolerance=rounding)


@BACKENDS
def test_resize_area_does_not_depend_on_antialias(backend):
    batch = images(backend, "uint8", "NHWC", (2, 40, 50, 3))
    recipes = [T.Compose([T.Resize((17, 60), "area", antialias=antialias)]) for antialias in (True, False)]
    expected = cuaug.resize(batch, (17, 60), "area", layout="NHWC")
    assert_equal(cuaug.resize(batch, (17, 60), "area", antialias=False, layout="NHWC"), expected)
    if backend == NUMPY:
        for recipe in recipes:
            assert_equal(recipe(batch), expected)


@every_backend
@pytest.mark.parametrize("size", [(9, 7), (40, 50)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_resized_crop_area_boxes_within_pixels(dtype, size, backend):
    batch, box = images(backend, dtype, "NHWC", (9, 40, 50, 3)), boxes(9)
    values = to_numpy(batch).astype(float)
    expected = np.stack(
        [reference.resized_crop(image, *sides, size, "area") for image, *sides in zip(values, *box, strict=True)]
    )
    actual = to_numpy(cuaug.resized_crop(batch, *box, size, "area", layout="NHWC"))
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=TOLERANCES[dtype])


@BACKENDS
@pytest.mark.parametrize("extent", [1e-3, 1e-7, 1e-20, 1e-300])
def test_resized_crop_area_of_a_tiny_box_is_its_pixel(extent, backend):
    batch = put(np.arange(20, dtype=np.uint8).reshape(1, 4, 5, 1), backend)
    for top, left in ((0.0, 0.0), (1.5, 2.25), (2.0, 4.0)):
        actual = cuaug.resized_crop(batch, top, left, extent, extent, (3, 2), "area", layout="NHWC")
        assert_equal(actual, put(np.full((1, 3, 2, 1), 5 * int(top) + int(left), np.uint8), backend))


@BACKENDS
def test_resized_crop_area_of_a_tiny_box_at_the_end_of_a_pixel_is_its_pixel(backend):
    """The centre of an output pixel, rounded, may be the first coordinate of the next source pixel."""
    batch = put(np.full((2, 1, 8192, 1), 7, np.uint8), backend)
    box = 0, 4095.99999999, 1, 1e-8
    actual = cuaug.resized_crop(batch, *box, (1, 100_000), "area", layout="NHWC")
    assert_equal(actual, put(np.full((2, 1, 100_000, 1), 7, np.uint8), backend))


@BACKENDS
def test_resize_area_ignores_pixels_that_it_does_not_cover(backend):
    """An infinite pixel, times a weight of 0, would be NaN: the taps end where the output pixel ends."""
    for factor, outputs in ((2, 20), (3, 21), (5, 7), (7, 33)):
        batch = np.ones((1, factor * outputs, factor * outputs, 1), np.float32)
        batch[:, factor : 2 * factor, factor : 2 * factor] = np.inf
        actual = cuaug.resize(put(batch, backend), (outputs, outputs), "area", layout="NHWC")
        expected = np.ones((1, outputs, outputs, 1), np.float32)
        expected[:, 1, 1] = np.inf
        rounding = Tolerance(relative=1e-6, reason="float32 weights, whose sum is 1 up to rounding")
        assert_equal(actual, put(expected, backend), tolerance=rounding)
