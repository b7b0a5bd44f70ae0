"""Laws of the colour ops, of every row of the table unless a test names its op."""

import numpy as np
import pytest
from helpers.arrays import (
    REVERSED_VIEWS,
    SHAPE,
    VIEWS,
    default_layout,
    every_backend,
    every_backend_but_jax,
    from_layout,
    images,
    noise,
    put,
    to_layout,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.laws import BATCH, check, run
from tables.colors import ROWS
from tables.filters import ROWS as FILTER_ROWS
from tables.row import TOLERANCES

import cuaug
from cuaug._arrays.images import describe_images
from cuaug._passes.kernel_config import kernel_config
from cuaug._program import names

every_row = pytest.mark.parametrize("row", ROWS, ids=str)
every_dtype = pytest.mark.parametrize(("row", "dtype"), [(c, d) for c in ROWS for d in c.dtypes], ids=str)


@every_dtype
def test_op_equals_reference(row, dtype):
    check(row, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@every_dtype
def test_op_equals_reference_on_gpu(row, dtype):
    check(row, ("torch", "cuda"), dtype)


@every_backend
@every_row
def test_op_keeps_library_and_broadcasts_one_parameter(row, backend):
    for dtype in row.dtypes_among("uint8", "float16", "float32"):
        check(row, backend, dtype)
        check(row, backend, dtype, leading=())


@every_backend
@every_row
def test_op_layouts_agree(row, backend):
    for dtype in row.dtypes_among("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(row, images(backend, dtype, layout), row.parameters(BATCH, dtype), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        tolerance = EXACT if backend[1] == "cpu" else row.tolerance(dtype)
        assert_equal(results["NCHW"], results["NHWC"], tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("row", [row for row in ROWS if row.identity], ids=str)
def test_op_identity_parameter_is_identity(row, backend):
    for dtype in row.dtypes_among("uint8", "uint16", "float32"):
        batch = images(backend, dtype)
        assert_equal(run(row, batch, row.identity), batch, tolerance=EXACT if "int" in dtype else row.tolerance(dtype))


@every_backend
@every_row
def test_op_batch_equals_samples_and_input_is_unchanged(row, backend):
    for dtype in row.dtypes_among("uint8", "float32"):
        batch, parameters = images(backend, dtype), row.parameters(BATCH, dtype)
        before, batch_result = to_numpy(batch), run(row, batch, parameters)
        for n in range(SHAPE[0]):
            assert_equal(run(row, batch[n], {k: v[n] for k, v in parameters.items()}), batch_result[n])
        assert_equal(run(row, batch[:0], {k: v[:0] for k, v in parameters.items()}), batch_result[:0])
        assert_equal(to_numpy(batch), before)


@every_backend
@every_row
def test_op_parameters_from_any_library(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    one_level = Tolerance(absolute=1, exact=0.98, reason="parameters in float32 may move what is nearly a tie")
    for convert in (
        lambda v: v.tolist(),
        lambda v: put(v, ("torch", "cpu")),
        lambda v: put(v.astype(np.float32), backend),
    ):
        converted = {k: convert(np.asarray(v)) for k, v in parameters.items()}
        assert_equal(
            run(row, batch, converted),
            expected,
            tolerance=one_level if "int" in str(expected.dtype) else row.tolerance("uint8"),
        )


@every_backend
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED_VIEWS])
@every_row
def test_op_strided_view_equals_copy(row, view, backend):
    if view in REVERSED_VIEWS and backend[0] == "torch":
        pytest.skip("torch has no negative strides")
    if view == "some channels" and not row.any_channels:
        pytest.skip("images or parameters of three channels")
    for dtype in row.dtypes_among("uint8", "float32"):
        strided = {**VIEWS, **REVERSED_VIEWS}[view](images(backend, dtype, "NHWC", (6, 20, 23, 3)))
        copy, parameters = put(to_numpy(strided), backend, dtype), row.parameters((strided.shape[0],), dtype)
        actual, expected = (run(row, batch, parameters, layout="NHWC") for batch in (strided, copy))
        assert_equal(actual, expected, tolerance=EXACT if backend[1] == "cpu" else row.tolerance(dtype))


@every_backend
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 64])
def test_normalize_invert_erase_any_number_of_channels(channels, backend):
    for layout in ("NCHW", "NHWC"):
        batch = images(backend, "float32", layout, (2, 7, 9, channels))
        source = from_layout(to_numpy(batch), layout).astype(float)
        mean, std = np.linspace(0.1, 0.9, channels), np.linspace(1, 2, channels)
        expected = (source - mean) / std
        actual = cuaug.normalize(batch, mean, std, layout=layout)
        assert_equal(
            from_layout(to_numpy(actual), layout), expected.astype(np.float32), tolerance=TOLERANCES["float32"]
        )
        for actual, reference in (
            (cuaug.invert(batch, layout=layout), 1 - source),
            (cuaug.erase(batch, 1, 2, 3, 4, mean, layout=layout), np.where(is_erased(source.shape), mean, source)),
        ):
            result = from_layout(to_numpy(actual), layout)
            assert_equal(result, reference.astype(np.float32), tolerance=TOLERANCES["float32"])


def is_erased(shape):
    y, x = np.ogrid[: shape[1], : shape[2]]
    return ((y >= 1) & (y < 4) & (x >= 2) & (x < 6))[None, ..., None]


@every_backend
def test_adjust_brightness_video_shares_parameters(backend):
    clips = noise((2, 4, 7, 9, 3))
    batch, factors = put(clips, backend), np.array([0.5, 1.5])
    actual = to_numpy(cuaug.adjust_brightness(batch, factors, layout="NTHWC"))
    for t in range(4):
        frame = put(np.ascontiguousarray(clips[:, t]), backend)
        assert_equal(actual[:, t], to_numpy(cuaug.adjust_brightness(frame, factors, layout="NHWC")))


@every_backend_but_jax
@every_row
def test_op_out_is_written_and_returned(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    out = put(np.full(expected.shape, 77), backend, row.result_dtype("uint8"))
    assert run(row, batch, parameters, out=out) is out
    assert_equal(out, expected)


def test_adjust_contrast_video_mean_is_that_of_all_frames():
    clips = noise((2, 5, 7, 9, 3))
    actual = cuaug.adjust_contrast(clips, 0.5, layout="NTHWC")
    one_image_each = clips.reshape(2, 35, 9, 3)  # the frames below each other
    expected = cuaug.adjust_contrast(one_image_each, 0.5, layout="NHWC")
    assert_equal(actual.reshape(2, 35, 9, 3), expected)
    axes = describe_images(clips, "NTHWC").axes
    config = kernel_config("luma_mean", ("uint8", "uint8", names.chain(())), axes, 0, axes, 0, (5,))
    assert config.grid[2] == 2  # samples, not frames
    assert cuaug.adjust_contrast(clips[:, :0], 0.5, layout="NTHWC").shape == (2, 0, 7, 9, 3)


@every_backend
def test_op_factor_one_keeps_values_out_of_range(backend):
    batch = put(np.full((1, 3, 5, 3), 1.5, np.float32), backend)
    for actual in (
        cuaug.adjust_brightness(batch, 1.0),
        cuaug.adjust_contrast(batch, 1.0),
        cuaug.adjust_saturation(batch, 1),
    ):
        np.testing.assert_array_equal(to_numpy(actual), 1.5)


@every_backend
def test_adjust_brightness_contrast_nan_becomes_0(backend):
    batch = put(np.full((1, 5, 9, 3), np.nan, np.float32), backend)
    for actual in (
        cuaug.adjust_brightness(batch, 1.5, layout="NHWC"),
        cuaug.adjust_contrast(batch, 0.5, 0.5, layout="NHWC"),
    ):
        assert not to_numpy(actual).any()


def rearranged(images):
    """The same pixels in reverse order, in rows of half the length. [N, 2 * H, W / 2, C]"""
    n, height, width, channels = images.shape
    return images.reshape(n, -1, channels)[:, ::-1].reshape(n, 2 * height, width // 2, channels)


@pytest.mark.parametrize("row", [row for row in ROWS if row.functor], ids=str)
def test_op_without_position_commutes_with_rearrangement(row):
    dtype = row.dtypes_among("float32")[0]
    batch, parameters = images(("numpy", "cpu"), dtype, shape=(3, 6, 16, 3)), row.parameters(BATCH, dtype)
    expected, actual = rearranged(run(row, batch, parameters)), run(row, rearranged(batch), parameters)
    if row.uses_position:
        assert np.abs(actual.astype(float) - expected).max() > 0.1
    else:
        assert_equal(actual, expected, tolerance=row.tolerance(dtype))


def wide_parameters(row, rng, samples):
    """Parameters from the whole of their ranges, with both ends; where a range has no end, up to 1e30. [samples]"""
    parameters = row.draw(rng, (samples,))
    for name, (low, high) in row.wide_ranges.items():
        values = rng.uniform(low, min(high, low + 3), samples)
        extremes = [low, high] if np.isfinite(high) else [low, 1e-30, 1.0, 1e30]
        values[-len(extremes) :] = extremes
        parameters[name] = rng.permutation(values)
    return parameters


@every_backend
@pytest.mark.parametrize("row", [row for row in (*ROWS, *FILTER_ROWS) if row.within_unit_range], ids=str)
def test_op_result_stays_within_unit_range(row, backend):
    """For all parameters: kernels store the integer results of these ops without a clamp."""
    rng = np.random.default_rng(5)
    values = rng.uniform(0, 1, (64, 40, 44, 3)).astype(np.float32)
    values[rng.uniform(size=values.shape) < 0.3] = 0
    values[rng.uniform(size=values.shape) < 0.3] = 1
    batch = put(to_layout(values, default_layout(backend)), backend)
    actual = to_numpy(run(row, batch, wide_parameters(row, rng, len(values))))
    assert actual.min() >= 0
    assert actual.max() <= 1


@pytest.mark.gpu
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    "size",
    [
        (1, 1),
        (1, 4),
        (3, 5),
        (7, 64),
        (224, 224),
        (30, 1000),
        (5, 1023),
        (4, 1028),
        (3, 4100),
        (600, 4),
        (2, 2052),
        (1100, 3),
    ],
)
def test_op_gpu_equals_cpu_for_any_shape(size, layout):
    """Contiguous images and crops, with ops that use the position and ops that do not."""
    import torch

    generator = torch.Generator().manual_seed(size[0] * 5000 + size[1])
    padded_size = size[0] + 3, size[1] + 5
    axes = (3, *padded_size) if layout == "NCHW" else (*padded_size, 3)
    padded = torch.randint(0, 256, (5, *axes), dtype=torch.uint8, generator=generator)
    rows, columns = slice(2, -1), slice(4, -1)
    box = (..., rows, columns) if layout == "NCHW" else (..., rows, columns, slice(None))
    crop = padded[box]
    calls = (
        lambda x, **options: cuaug.adjust_brightness(x, [0.5, 0.8, 1.0, 1.3, 1.9], layout=layout, **options),
        lambda x, **options: cuaug.adjust_contrast(x, 0.7, layout=layout, **options),
        lambda x, **options: cuaug.erase(x, 1, 0, [1, 2, 3, 4, 900], 3, 0.5, layout=layout, **options),
        lambda x, **options: cuaug.gaussian_noise(x, sigma=0.1, seed=3, layout=layout, **options),
    )
    for batch in (crop.contiguous(), crop):
        padded_on_gpu = padded.cuda()
        images_on_gpu = padded_on_gpu[box].contiguous() if batch.is_contiguous() else padded_on_gpu[box]
        for call in calls:
            expected = call(batch).int()
            for out in (
                torch.full_like(images_on_gpu, 77, memory_format=torch.contiguous_format),
                torch.full_like(padded_on_gpu, 77),
            ):
                out_crop = out if out.shape == images_on_gpu.shape else out[box]
                difference = (call(images_on_gpu, out=out_crop).cpu().int() - expected).abs()
                assert difference.max() <= 1
                assert (difference == 0).double().mean() > 0.99 or difference.numel() < 300
                if out is not out_crop:
                    out_crop.fill_(77)
                    assert (out == 77).all()  # nothing outside the crop was written


@pytest.mark.parametrize(
    ("row", "name", "value"),
    [(row, name, value) for row in (*ROWS, *FILTER_ROWS) for name, value in row.rejects.items()],
    ids=str,
)
def test_op_rejects_parameter(row, name, value):
    parameters = {**row.keywords("uint8"), **row.parameters(), name: value}
    with pytest.raises(ValueError, match=rf"^cuaug\.{row.op}: {name} must "):
        getattr(cuaug, row.op)(noise(), **parameters)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("row", [row for row in (*ROWS, *FILTER_ROWS) if row.channels], ids=str)
def test_op_takes_only_its_channels(row, count):
    batch, options = noise((2, 4, 5, count)), {**row.keywords("uint8"), **row.parameters()}
    if count in row.channels:
        getattr(cuaug, row.op)(batch, layout="NHWC", **options)
    else:
        with pytest.raises(ValueError, match=rf"^cuaug\.{row.op}: images must have .* channels?, got {count}"):
            getattr(cuaug, row.op)(batch, layout="NHWC", **options)
