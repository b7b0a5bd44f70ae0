"""Laws of every row of the table of filters; then tests of single ops."""

import itertools

import numpy as np
import pytest
from helpers.arrays import (
    IMAGE_DTYPES,
    REVERSED_VIEWS,
    SHAPE,
    VIEWS,
    every_backend,
    every_backend_but_jax,
    from_layout,
    images,
    noise,
    put,
    seeded,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.jpeg import random_part
from helpers.laws import BATCH, check, run
from helpers.transforms import changed_samples
from tables import filter_reference
from tables.filters import ROWS
from tables.row import TOLERANCES

import cuaug
from cuaug import transforms as T

LARGE = (2, 150, 203, 3)  # several tiles, the last ones partial
every_row = pytest.mark.parametrize("row", ROWS, ids=str)


def every_row_with(*dtypes):
    """The rows, each with those of the dtypes that it takes."""
    pairs = [(row, dtype) for dtype in dtypes for row in ROWS if dtype in row.dtypes]
    return pytest.mark.parametrize(("row", "dtype"), pairs, ids=str)


@every_row_with(*IMAGE_DTYPES)
def test_op_equals_reference(row, dtype):
    check(row, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@every_row_with(*IMAGE_DTYPES)
def test_op_equals_reference_on_gpu(row, dtype):
    check(row, ("torch", "cuda"), dtype)


@every_backend
@every_row
def test_op_keeps_library_and_broadcasts_one_parameter(row, backend):
    for dtype in row.dtypes_among("uint8", "float16", "float32"):
        check(row, backend, dtype)
        check(row, backend, dtype, leading=())


@every_backend
@every_row_with("uint8", "int16", "float32", "float64")
def test_op_many_tiles_equal_reference(row, dtype, backend):
    for layout in ("NCHW", "NHWC"):
        check(row, backend, dtype, (2,), LARGE, layout)


@every_backend
@pytest.mark.parametrize("width", [1, 2, 3, 63, 64, 65, 129])
@every_row
def test_op_any_width_and_height(row, width, backend):
    for shape in ((2, 9, width, 3), (2, width, 9, 1)):
        check(row, backend, "uint8", (2,), shape, "NHWC")


@every_backend
@every_row
def test_op_layouts_agree(row, backend):
    for dtype in row.dtypes_among("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(row, images(backend, dtype, layout), row.parameters(BATCH), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        assert_equal(results["NCHW"], results["NHWC"])


@every_backend
@pytest.mark.parametrize("row", [row for row in ROWS if row.identity], ids=str)
def test_op_identity_parameter_is_identity(row, backend):
    for dtype in ("uint8", "uint16", "int16", "float16", "float32"):
        batch = images(backend, dtype)
        assert_equal(run(row, batch, row.identity), batch)


@every_backend
@every_row
def test_op_batch_equals_samples_and_input_is_unchanged(row, backend):
    for dtype in row.dtypes_among("uint8", "float32"):
        batch, parameters = images(backend, dtype), row.parameters(BATCH)
        before, batch_result = to_numpy(batch), run(row, batch, parameters)
        for n in range(SHAPE[0]):
            assert_equal(run(row, batch[n], {k: v[n].tolist() for k, v in parameters.items()}), batch_result[n])
        assert_equal(run(row, batch[:0], {k: v[:0] for k, v in parameters.items()}), batch_result[:0])
        assert_equal(to_numpy(batch), before)


@every_backend
@pytest.mark.parametrize("row", [row for row in ROWS if row.parameters()], ids=str)
def test_op_parameters_from_any_library(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    one_level = Tolerance(absolute=1, exact=0.98, reason="parameters in float32 may move what is nearly a tie")
    same_numbers = EXACT if backend[1] == "cpu" else one_level
    for convert, tolerance in (
        (lambda v: v.tolist(), same_numbers),
        (lambda v: put(v, ("torch", "cpu")), same_numbers),
        (lambda v: put(v.astype(np.float32), backend), one_level),
    ):
        converted = {k: convert(np.asarray(v)) for k, v in parameters.items()}
        assert_equal(run(row, batch, converted), expected, tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED_VIEWS])
@every_row
def test_op_strided_view_equals_copy(row, view, backend):
    if view in REVERSED_VIEWS and backend[0] == "torch":
        pytest.skip("torch has no negative strides")
    if row.channels and view == "some channels":
        pytest.skip("the view has two channels")
    for dtype in row.dtypes_among("uint8", "float32"):
        strided = {**VIEWS, **REVERSED_VIEWS}[view](images(backend, dtype, "NHWC", (6, 20, 23, 3)))
        copy = put(to_numpy(strided), backend, dtype)
        parameters = row.parameters((strided.shape[0],))
        actual, expected = (run(row, batch, parameters, layout="NHWC") for batch in (strided, copy))
        assert_equal(actual, expected)


@every_backend
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 64])
@pytest.mark.parametrize("row", [row for row in ROWS if row.any_channels], ids=str)
def test_op_any_number_of_channels(row, channels, backend):
    for layout in ("NCHW", "NHWC"):
        check(row, backend, "uint8", (2,), (2, 7, 9, channels), layout)


@every_backend
@every_row
def test_op_video_shares_parameters(row, backend):
    clips = noise((2, 4, 7, 9, 3))
    batch, parameters = put(clips, backend), row.parameters((2,))
    actual = to_numpy(run(row, batch, parameters, layout="NTHWC"))
    for t in range(4):
        frame = put(np.ascontiguousarray(clips[:, t]), backend)
        assert_equal(actual[:, t], to_numpy(run(row, frame, parameters, layout="NHWC")))


@every_backend_but_jax
@every_row
def test_op_out_is_written_and_returned(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    out = put(np.full(expected.shape, 77), backend, "uint8")
    assert run(row, batch, parameters, out=out) is out
    assert_equal(out, expected)


@every_backend
def test_gaussian_blur_infinity_and_nan_spread_over_kernel(backend):
    image = np.zeros((1, 40, 40, 1), np.float32)
    image[0, 10, 10], image[0, 30, 30] = np.inf, np.nan
    result = to_numpy(cuaug.gaussian_blur(put(image, backend), (3, 7), 1.0, layout="NHWC"))[0, ..., 0]
    is_inf, is_nan = np.zeros((40, 40), bool), np.zeros((40, 40), bool)
    is_inf[7:14, 9:12], is_nan[27:34, 29:32] = True, True
    np.testing.assert_array_equal(np.isinf(result), is_inf)
    np.testing.assert_array_equal(np.isnan(result), is_nan)


def test_gaussian_blur_pair_is_xy_and_array_is_per_sample():
    batch, x_and_y = noise((2, 9, 9, 3)), (0.5, 3.0)
    for sigma, sigmas in (
        (x_and_y, [x_and_y] * 2),
        (list(x_and_y), [x_and_y] * 2),
        (tuple(np.array(x_and_y)), [x_and_y] * 2),  # two NumPy scalars
        (np.array(x_and_y), x_and_y),
        (np.array([x_and_y]), [x_and_y] * 2),
    ):
        expected = np.stack(
            [
                filter_reference.gaussian_blur(i.astype(float), 5, s, max_value=255)
                for i, s in zip(batch, sigmas, strict=True)
            ]
        )
        actual = cuaug.gaussian_blur(batch, 5, sigma)
        assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=TOLERANCES["uint8"])


JPEG_SIZES = [
    (1, 1), (1, 2), (2, 1), (3, 4), (4, 5), (5, 3), (8, 8), (15, 17), (17, 16), (33, 31), (65, 63), (241, 250),
]  # fmt: skip


@every_backend_but_jax
@pytest.mark.parametrize("quality", [1, 5, 50, 75, 95, 100])
def test_jpeg_equals_libjpeg_turbo(quality, backend):
    """Sizes below a block of 8x8 pixels, sizes that end in either half of a block, and sizes beyond one tile."""
    rng = seeded("jpeg", quality)
    for (height, width), channels in itertools.product(JPEG_SIZES, (1, 3)):
        photo = random_part(rng, height, width)[..., :channels]
        for pixels in (photo, rng.integers(0, 256, photo.shape, np.uint8)):
            expected = filter_reference.jpeg(pixels, quality)
            for layout in ("HWC", "CHW"):
                image = put(np.ascontiguousarray(pixels if layout == "HWC" else np.moveaxis(pixels, 2, 0)), backend)
                actual = to_numpy(cuaug.jpeg(image, quality, layout=layout))
                assert_equal(actual if layout == "HWC" else np.moveaxis(actual, 0, 2), expected.astype(np.uint8))


@every_backend_but_jax
def test_jpeg_device_qualities_are_truncated_and_below_1_keep_samples(backend):
    """On a GPU, whose values are not read, qualities may lie outside 1..100; on a CPU they are refused."""
    batch = images(backend, shape=(5, 30, 37, 3))
    if backend[1] == "cpu":
        with pytest.raises(ValueError, match=r"quality must be in 1\.\.100"):
            cuaug.jpeg(batch, put(np.array([0.0, 1, 1, 1, 1]), backend))
        qualities, expected = [1.0, 50.9, 50.0, 100.0, 99.5], [1, 50, 50, 100, 99]
    else:
        qualities, expected = [0.0, np.nan, -1e30, 50.9, 1e30], [None, None, None, 50, 100]
    result = cuaug.jpeg(batch, put(np.array(qualities), backend))
    for n, quality in enumerate(expected):
        assert_equal(result[n], batch[n] if quality is None else cuaug.jpeg(batch[n], quality))


def test_jpeg_within_random_apply_keeps_other_samples():
    batch = noise((64, 20, 22, 3))
    result = T.RandomApply([T.JPEG(20)], p=0.5)(batch)
    changed = changed_samples(result, batch)
    assert 0 < changed.sum() < 64
    assert_equal(result[changed], cuaug.jpeg(batch[changed], 20))


@pytest.mark.parametrize("quality", [0, 101, (10, 5), (1, 2, 3), 50.5, True, "high", (1, 200)])
def test_jpeg_transform_rejects_quality(quality):
    with pytest.raises((TypeError, ValueError), match=r"^cuaug\.transforms\.JPEG: quality must be"):
        T.JPEG(quality)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.gaussian_blur(x, 4), "kernel_size must be odd and at most 127, got 4"),
        (lambda x: cuaug.gaussian_blur(x, 129), "kernel_size must be odd and at most 127"),
        (lambda x: cuaug.gaussian_blur(x, (3, 0)), "kernel_size must be at least 1"),
        (lambda x: cuaug.gaussian_blur(x, (3, 3, 3)), r"kernel_size must be an int or \(x, y\)"),
        (lambda x: cuaug.gaussian_blur(x, 3, 0), "sigma must be greater than 0, got 0"),
        (lambda x: cuaug.gaussian_blur(x, 3, (1.0, -1.0)), "sigma must be greater than 0"),
        (lambda x: cuaug.gaussian_blur(x, 3, float("nan")), "sigma must be greater than 0"),
        (lambda x: cuaug.gaussian_blur(x, 3, np.array([1.0, -1.0])), "sigma must be greater than 0"),
        (lambda x: cuaug.gaussian_blur(x, 3, pytest.importorskip("torch").tensor(-1.0)), "sigma must be greater than"),
        (lambda x: cuaug.gaussian_blur(x, 3, np.ones(2)), "sigma must hold 1 or 3 entries"),
        (lambda x: cuaug.gaussian_blur(x, 3, np.ones((3, 3))), r"sigma must be a number, \(x, y\)"),
        (lambda x: cuaug.gaussian_blur(x, 3, out=x), "out must not overlap the memory range"),
        (lambda x: cuaug.adjust_sharpness(x, -1), "sharpness_factor must be at least 0"),
        (lambda x: cuaug.adjust_sharpness(x, [1.0, 2.0]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.adjust_sharpness(x, 2.0, out=x), "out must not overlap the memory range"),
        (lambda x: cuaug.jpeg(x, 101), r"quality must be in 1\.\.100, got 101"),
        (lambda x: cuaug.jpeg(x, [50, 50]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.jpeg(x, 50, out=x), "out must not overlap the memory range"),
    ],
)
def test_op_rejects_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=rf"cuaug\.\w+: .*{message}"):
        call(noise())


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_op_rejects_label_dtypes(dtype):
    for call in (lambda x: cuaug.gaussian_blur(x, 3), lambda x: cuaug.adjust_sharpness(x, 2.0)):
        with pytest.raises(TypeError, match="images must be one of"):
            call(noise(dtype=dtype))


@pytest.mark.parametrize("dtype", ["bool", "uint16", "float32"])
def test_jpeg_rejects_other_dtypes_than_uint8(dtype):
    with pytest.raises(TypeError, match=rf"^cuaug\.jpeg: images must be uint8, got {dtype}"):
        cuaug.jpeg(noise(dtype=dtype), 50)
    with pytest.raises(TypeError, match=rf"images must be uint8, got {dtype}"):
        T.JPEG(50)(noise(dtype=dtype))


def test_gaussian_blur_rejects_kernel_size_that_is_no_int():
    with pytest.raises(TypeError, match="kernel_size must be an int"):
        cuaug.gaussian_blur(noise(), 3.0)
