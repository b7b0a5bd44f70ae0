"""Laws of the warps: values, parameters, dtypes and channels. Each test is a law of rows of the table."""

import itertools

import numpy as np
import pytest
import torch
from helpers.arrays import (
    IMAGE_DTYPES,
    MASK_DTYPES,
    NUMPY,
    SHAPE,
    TORCH_CUDA,
    backend_id,
    default_layout,
    device_of,
    every_backend,
    every_backend_slow_on_jax,
    from_layout,
    images,
    max_value,
    narrower_dtype,
    put,
    seeded,
    to_layout,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.laws import BATCH, check, run
from tables.row import scaled
from tables.warps import INEXACT_ROW_OF_OP, LARGE, LARGE_IMAGE_ROWS, MAIN_ROWS, ROW_OF_OP, ROWS

import cuaug

every_row = pytest.mark.parametrize("row", ROWS, ids=str)
main_rows = pytest.mark.parametrize("row", MAIN_ROWS, ids=str)


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@every_row
def test_op_equals_reference(row, dtype):
    check(row, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@every_row
def test_op_equals_reference_on_gpu(row, dtype):
    check(row, ("torch", "cuda"), dtype)


@pytest.mark.parametrize("backend", [NUMPY, TORCH_CUDA], ids=backend_id)
@pytest.mark.parametrize("row", LARGE_IMAGE_ROWS, ids=str)
def test_op_large_noise_is_nearly_exact(row, backend):
    batch, parameters = images(backend, shape=(1, *LARGE, 3)), row.parameters()
    layout = default_layout(backend)
    source = from_layout(to_numpy(batch), layout).astype(float)
    expected = to_layout(row.expected(source, parameters, "uint8", ()), layout)
    actual = run(row, batch, parameters)
    tolerance = row.tolerance("uint8")
    assert_equal(actual, expected, library=backend[0], device=device_of(backend), dtype="uint8", tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@main_rows
def test_op_broadcasts_one_parameter(row, dtype, backend):
    check(row, backend, dtype, leading=())


@every_backend
@pytest.mark.parametrize("dtype", MASK_DTYPES)
@pytest.mark.parametrize("row", [row for row in ROWS if row.is_exact], ids=str)
def test_op_nearest_keeps_labels(row, dtype, backend):
    check(row, backend, dtype)


@every_backend
@main_rows
def test_op_keeps_library_and_values(row, backend):
    for dtype in IMAGE_DTYPES if backend[0] == "torch" else ["uint8", "float16", "float32"]:
        check(row, backend, dtype)


@every_backend
@pytest.mark.parametrize("row", [row for row in MAIN_ROWS if row.identity], ids=str)
def test_op_identity_parameter_is_identity(row, backend):
    for dtype in ("uint8", "float16", "float32"):
        batch = images(backend, dtype)
        tolerance = EXACT if "int" in dtype or backend[1] == "cpu" else row.tolerance(dtype)
        assert_equal(run(row, batch, row.identity), batch, tolerance=tolerance)


@every_backend
@main_rows
def test_op_batch_equals_samples(row, backend):
    for dtype in ("uint8", "float32"):
        batch, parameters = images(backend, dtype), row.parameters(BATCH)
        batch_result = run(row, batch, parameters)
        for n in range(SHAPE[0]):
            sample_parameters = {name: value[n] for name, value in parameters.items()}
            assert_equal(run(row, batch[n], sample_parameters), batch_result[n])
            assert_equal(
                run(row, batch[n : n + 1], {k: v[n : n + 1] for k, v in parameters.items()}), batch_result[n : n + 1]
            )
        no_samples = run(row, batch[:0], {k: v[:0] for k, v in parameters.items()})
        assert_equal(no_samples, batch_result[:0])
        assert_equal(run(row, batch[:0], row.parameters()), batch_result[:0])


@every_backend
@main_rows
def test_op_parameters_from_any_library(row, backend):
    if not row.parameters():
        pytest.skip("no parameters to draw")
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    rounded = row.tolerance("uint8")  # float32 rounds the parameters
    same_numbers = EXACT if backend[1] == "cpu" else rounded
    for convert, tolerance in (
        (lambda v: v.tolist(), same_numbers),
        (lambda v: put(v, ("torch", "cpu")), same_numbers),
        (lambda v: put(v, backend, narrower_dtype(v)), rounded),
    ):
        assert_equal(run(row, batch, {k: convert(v) for k, v in parameters.items()}), expected, tolerance=tolerance)


@every_backend
@main_rows
def test_op_dtype_converts_without_scaling(row, backend):
    for in_dtype, out_dtype in (("uint8", "float32"), ("float32", "uint8"), ("uint16", "uint8"), ("uint8", "float16")):
        batch, parameters, layout = images(backend, in_dtype), row.parameters(BATCH), default_layout(backend)
        values = from_layout(to_numpy(batch), layout).astype(float)
        expected = to_layout(row.expected(values, parameters, in_dtype), layout)
        actual = run(row, batch, parameters, dtype=out_dtype)
        input_range = max_value(in_dtype)
        tolerance = {
            "float32": Tolerance(absolute=1e-4 * input_range, reason="1e-4 of the range, which is 255 here"),
            "float16": Tolerance(
                absolute=1e-4 * input_range, relative=2**-11, reason="1e-4 of the range and half's 11 bits"
            ),
            "uint8": Tolerance(absolute=1, exact=0.98, reason="one level, where the exact value is nearly a tie"),
        }[out_dtype]
        assert_equal(
            actual, expected, library=backend[0], device=device_of(backend), dtype=out_dtype, tolerance=tolerance
        )


@every_backend
@main_rows
def test_op_video_shares_parameters(row, backend):
    frames = 2
    for layout, image_layout in (("NTCHW", "NCHW"), ("NTHWC", "NHWC")):
        frames_as_samples = images(backend, "uint8", image_layout, (SHAPE[0] * frames, *SHAPE[1:]))
        clip = frames_as_samples.reshape(SHAPE[0], frames, *frames_as_samples.shape[1:])
        parameters = row.parameters(BATCH)
        actual = run(row, clip, parameters, layout=layout)
        repeated = {name: np.repeat(value, frames, axis=0) for name, value in parameters.items()}
        expected = run(row, frames_as_samples, repeated, layout=image_layout)
        assert_equal(actual, expected.reshape(SHAPE[0], frames, *expected.shape[1:]))


@every_backend
@pytest.mark.parametrize("layout", ["CHW", "HWC", "HW"])
@main_rows
def test_op_single_image_is_batch_of_one(row, layout, backend):
    image_layout = {"CHW": "NCHW", "HWC": "NHWC", "HW": "NHWC"}[layout]
    shape = (1, *SHAPE[1:3], 1 if layout == "HW" else SHAPE[3])
    batch, parameters = images(backend, "uint8", image_layout, shape), row.parameters()
    expected = run(row, batch, parameters, layout=image_layout)[0]
    expected, image = (expected[..., 0], batch[0, ..., 0]) if layout == "HW" else (expected, batch[0])
    assert_equal(run(row, image, parameters, layout=layout), expected)


@every_backend
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 64, 200])
@pytest.mark.parametrize("op", ["warp_affine", "resize", "remap", "crop", "pad"])
def test_op_any_number_of_channels(op, channels, backend):
    row = INEXACT_ROW_OF_OP.get(op, ROW_OF_OP[op])
    parameters = row.parameters(BATCH)
    for dtype in ("uint8", "float32"):
        for layout in ("NCHW", "NHWC"):
            batch = images(backend, dtype, layout, (*SHAPE[:3], channels))
            source = from_layout(to_numpy(batch), layout).astype(float)
            expected = to_layout(row.expected(source, parameters, dtype), layout)
            actual = run(row, batch, parameters, layout=layout)
            expected_kind = {"library": backend[0], "device": device_of(backend), "dtype": dtype}
            assert_equal(actual, expected, **expected_kind, tolerance=row.tolerance(dtype))


@every_backend
@pytest.mark.parametrize("row", [row for row in MAIN_ROWS if "fill" in row.options], ids=str)
def test_op_fill_per_channel_and_sample(row, backend):
    layout, rng = default_layout(backend), seeded("fill")
    for dtype in ("uint8", "float32"):
        batch, parameters = images(backend, dtype), row.parameters(BATCH)
        source = from_layout(to_numpy(batch), layout).astype(float)
        for shape in ((3,), (3, 3)):
            fill = np.asarray(scaled(rng.integers(0, 65, shape) / 64, dtype))
            expected = row.expected(source, {**parameters, "fill": np.broadcast_to(fill, (3, 3))}, dtype)
            for value in (fill, fill.tolist(), put(fill.astype(np.float32), backend)):
                actual = run(row, batch, parameters, fill=value)
                expected_kind = {"library": backend[0], "device": device_of(backend), "dtype": dtype}
                assert_equal(actual, to_layout(expected, layout), **expected_kind, tolerance=row.tolerance(dtype))


@every_backend
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize(
    ("step", "scale"), [(0, 0.5), (0, 1.25), *itertools.product((1 / 2, 1 / 4, 1 / 8), (0.5, 1, 1.25, 2))]
)
def test_warp_affine_rounds_half_to_even(step, scale, channels, backend):
    """Coordinates in multiples of 1/8 give many results that end in .5: their weights are exact for uint8 images."""
    row, M = ROW_OF_OP["warp_affine"], np.array([[scale, 0, -1 - step], [0, 1, 3 * step]])
    options = {"interpolation": "bilinear", "border": "constant", "inverse": True}
    for layout in ("NCHW", "NHWC"):
        batch = images(backend, "uint8", layout, (3, 17, 22, channels))
        source = from_layout(to_numpy(batch), layout).astype(float)
        expected = row.expected(source, {"M": np.broadcast_to(M, (3, 2, 3))}, "uint8", **options, fill=0)
        assert (expected % 1 == 0.5).any()
        actual = to_numpy(cuaug.warp_affine(batch, M, layout=layout, **options))
        assert_equal(actual, to_layout(np.rint(expected).astype(np.uint8), layout))


@every_backend_slow_on_jax
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [16, 20, 22, 37])
@pytest.mark.parametrize("op", ["warp_affine", "warp_perspective"])
def test_op_any_width_and_fill(op, width, channels, backend):
    """Row lengths that are multiples of 16 bytes, of 4, or of neither, with a fill per channel (gpu/raw_stage.cuh)."""
    rng = seeded("fill", width, channels)
    for dtype in ("uint8", "int16", "float16", "float32"):
        for layout in ("NCHW", "NHWC"):
            batch = images(backend, dtype, layout, (3, 17, width, channels))
            source = from_layout(to_numpy(batch), layout).astype(float)
            fill = np.asarray(scaled(rng.integers(1, 65, channels) / 64, dtype))
            row = next(r for r in ROWS if r.op == op and "fill" in r.options and "bilinear" in str(r))
            parameters = row.parameters(BATCH)
            expected = row.expected(source, {**parameters, "fill": np.broadcast_to(fill, (3, channels))}, dtype)
            actual = run(row, batch, parameters, fill=fill.tolist(), layout=layout)
            expected_kind = {"library": backend[0], "device": device_of(backend), "dtype": dtype}
            assert_equal(actual, to_layout(expected, layout), **expected_kind, tolerance=row.tolerance(dtype))


@pytest.mark.parametrize("shear", [10, 10.0, np.float32(10), np.int64(10), np.array(10), torch.tensor(10.0)])
def test_affine_takes_one_number_as_shear_along_x(shear):
    images = np.arange(72, dtype=np.uint8).reshape(1, 9, 8, 1)
    options = {"angle": 0, "translate": (0, 0), "scale": 1}
    assert_equal(cuaug.affine(images, shear=shear, **options), cuaug.affine(images, shear=(10.0, 0.0), **options))
