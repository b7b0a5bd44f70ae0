"""Resizes in blocks of columns, and resizes that keep the size of a box."""

import numpy as np
import pytest
from helpers.arrays import IMAGE_DTYPES, every_backend, noise, put, to_layout
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy

import cuaug
from cuaug import transforms as T


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "area"])
def test_resize_to_its_own_size_is_the_identity(interpolation, antialias, dtype):
    batch = noise((2, 37, 530, 3), dtype)
    for layout in ("NHWC", "NCHW"):
        images = to_layout(batch, layout)
        result = cuaug.resize(images, (37, 530), interpolation, antialias=antialias, layout=layout)
        assert_equal(result, images, tolerance=EXACT)
        assert not np.shares_memory(result, images)


@every_backend
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos", "area"])
@pytest.mark.parametrize("antialias", [True, False])
def test_resize_copies_an_axis_that_keeps_its_size(interpolation, antialias, backend):
    """A neighbour with a weight of 0 would add NaN, as torch and Pillow do not."""
    batch = noise((2, 8, 12, 3), "float32")
    batch[:, 5], batch[:, 2] = np.nan, np.inf
    rows = to_numpy(cuaug.resize(put(batch, backend), (8, 5), interpolation, antialias=antialias, layout="NHWC"))
    columns = put(batch.swapaxes(1, 2), backend)
    columns = to_numpy(cuaug.resize(columns, (5, 8), interpolation, antialias=antialias, layout="NHWC"))
    for result in (rows, columns.swapaxes(1, 2)):
        assert np.isnan(result[:, 5]).all()
        assert np.isfinite(result[:, [0, 1, 3, 4, 6, 7]]).all()
    cropped = cuaug.resized_crop(
        put(batch, backend), 1, 2, 7, 9, (7, 4), interpolation, antialias=antialias, layout="NHWC"
    )
    assert np.isfinite(to_numpy(cropped)[:, [0, 2, 3, 5, 6]]).all()


def test_resized_crop_of_boxes_that_keep_their_size_equals_crop():
    batch = noise((4, 40, 300, 3), "uint8")
    top, left = np.array([0, 3, 20, 20]), np.array([0, 7, 10, 10])
    result = cuaug.resized_crop(batch, top, left, np.full(4, 20), np.full(4, 290), (20, 290))
    assert_equal(result, cuaug.crop(batch, top, left, 20, 290), tolerance=EXACT)
    partly_outside = cuaug.resized_crop(batch, -5, 20, 20, 290, (20, 290))
    assert_equal(partly_outside[:, 5:, :280], batch[:, :15, 20:], tolerance=EXACT)


@pytest.mark.parametrize("dtype", [dtype for dtype in IMAGE_DTYPES if dtype != "bfloat16"])
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos", "area"])
def test_resized_crop_of_a_box_that_keeps_its_size_equals_the_slice(interpolation, antialias, dtype):
    batch = noise((2, 40, 300, 3), dtype)
    if dtype.startswith("float"):
        batch[:, 5], batch[:, :, 9] = np.nan, -np.inf
    expected = batch[:, 3:23, 7:297]
    for layout in ("NHWC", "NCHW"):
        images = to_layout(batch, layout)
        result = cuaug.resized_crop(images, 3, 7, 20, 290, (20, 290), interpolation, antialias=antialias, layout=layout)
        assert_equal(result, to_layout(expected, layout), tolerance=EXACT)


def test_compose_windows_and_flips_of_a_resize_to_its_own_size_equal_slices():
    batch = noise((2, 40, 56, 3), "uint8")
    recipe = T.Compose(
        [T.Resize((40, 56)), T.CenterCrop((20, 24)), T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0)]
    )
    for _ in range(3):  # the second call on a CPU is recorded
        assert_equal(recipe(batch), np.ascontiguousarray(batch[:, 10:30, 16:40][:, ::-1, ::-1]), tolerance=EXACT)


@pytest.mark.parametrize("channels", [1, 3, 5])
@pytest.mark.parametrize("size", [(75, 700), (11, 257)])
def test_resize_to_several_blocks_of_columns_equals_torch(size, channels):
    torch = pytest.importorskip("torch")
    batch = noise((2, 40, 300, channels), "float32")
    planar = torch.from_numpy(to_layout(batch, "NCHW"))
    expected = torch.nn.functional.interpolate(planar, size, mode="bilinear", antialias=True).numpy()
    tolerance = Tolerance(1e-4, reason="README's accuracy; torch computes positions in float32")
    assert_equal(cuaug.resize(to_layout(batch, "NCHW"), size, layout="NCHW"), expected, tolerance=tolerance)
    packed = cuaug.resize(batch, size, layout="NHWC")
    assert_equal(to_numpy(packed).transpose(0, 3, 1, 2), expected, tolerance=tolerance)
