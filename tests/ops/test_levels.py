"""autocontrast, equalize and lut: statistics of each sample and channel, and tables of levels."""

import numpy as np
import pytest
from helpers.arrays import (
    every_backend,
    every_backend_slow_on_jax,
    from_layout,
    images,
    max_value,
    noise,
    put,
    to_layout,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.laws import run
from tables.colors import ROW_OF_OP
from tables.row import TOLERANCES

import cuaug

LARGE = (2, 61, 83)  # N, H, W; more pixels than `equalize` has levels


def low_contrast_noise(shape, dtype, seed=0):
    """Noise within a part of the range, which differs by sample and channel."""
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.uniform(0.1, 0.9, (2, shape[0], 1, 1, shape[-1])), 0) * max_value(dtype)
    values = np.clip(rng.normal((low + high) / 2, (high - low) / 6, shape), low, high)
    return (np.rint(values) if "int" in dtype else values).astype(dtype)


@every_backend
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 9])
def test_autocontrast_equalize_are_per_sample_and_channel(channels, backend):
    for op, dtypes in (("autocontrast", ("uint8", "uint16", "float32", "float64")), ("equalize", ("uint8",))):
        row = ROW_OF_OP[op]
        for dtype in dtypes[: 1 if backend[0] == "jax" else 4]:
            source = low_contrast_noise((*LARGE, channels), dtype)
            expected = row.expected(source.astype(float), {}, dtype, ())
            assert not np.array_equal(expected, source)
            tolerance = EXACT if dtype == "uint8" else TOLERANCES[dtype]
            for layout in ("NCHW", "NHWC"):
                actual = to_numpy(run(row, put(to_layout(source, layout), backend), {}, layout=layout))
                assert_equal(from_layout(actual, layout), expected, library="numpy", dtype=dtype, tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("width", [1, 2, 3, 5, 255, 256, 257])
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_autocontrast_equalize_any_width(op, width, backend):
    for shape in ((2, 300, width, 3), (2, width, 300, 1)):
        source = low_contrast_noise(shape, "uint8")
        expected = ROW_OF_OP[op].expected(source.astype(float), {}, "uint8", ())
        actual = run(ROW_OF_OP[op], put(source, backend), {}, layout="NHWC")
        assert_equal(to_numpy(actual), expected, library="numpy", dtype="uint8")


@every_backend
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_autocontrast_equalize_statistics_span_video(op, backend):
    clips = low_contrast_noise((2, 3 * 29, 31, 3), "uint8").reshape(2, 3, 29, 31, 3)
    actual = getattr(cuaug, op)(put(clips, backend), layout="NTHWC")
    one_tall_image = getattr(cuaug, op)(put(clips.reshape(2, 87, 31, 3), backend), layout="NHWC")
    assert_equal(to_numpy(actual), to_numpy(one_tall_image).reshape(clips.shape))
    assert not np.array_equal(to_numpy(actual), clips)
    assert getattr(cuaug, op)(put(clips[:, :0], backend), layout="NTHWC").shape == (2, 0, 29, 31, 3)


@every_backend
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_autocontrast_equalize_keep_constant_channel(op, backend):
    flat = np.broadcast_to(np.array([7, 0, 255], np.uint8), (2, 40, 50, 3)).copy()
    assert_equal(to_numpy(getattr(cuaug, op)(put(flat, backend), layout="NHWC")), flat)


@every_backend
def test_autocontrast_ignores_nan(backend):
    image = np.linspace(0.25, 0.75, 5 * 9 * 3, dtype=np.float32).reshape(1, 5, 9, 3)
    expected = (image - image.min((1, 2))) / (image.max((1, 2)) - image.min((1, 2)))
    image[0, 2, 4], expected[0, 2, 4] = np.nan, 0
    image[0, :, :, 1], expected[0, :, :, 1] = np.nan, 0
    actual = cuaug.autocontrast(put(image, backend), layout="NHWC")
    assert_equal(to_numpy(actual), expected, tolerance=Tolerance(absolute=1e-6, reason="a division in float32"))


@every_backend
def test_lut_table_shapes(backend):
    batch, rng = noise((2, 9, 13, 3)), np.random.default_rng(0)
    n, c = np.arange(2)[:, None, None, None], np.arange(3)
    for shape in ((), (3,), (2,), (2, 3), (1,), (1, 3), (2, 1), (1, 1)):  # (3,): per channel; (2,): per sample
        table = rng.integers(0, 256, (*shape, 256), np.uint8)
        full = table.reshape((*shape, 1, 256) if shape == (2,) else (*(1,) * (2 - len(shape)), *shape, 256))
        expected = np.broadcast_to(full, (2, 3, 256))[n, c, batch]
        for table_argument in (table, table.tolist(), put(table, backend)):
            for layout in ("NCHW", "NHWC"):
                actual = cuaug.lut(put(to_layout(batch, layout), backend), table_argument, layout=layout)
                assert_equal(from_layout(to_numpy(actual), layout), expected)
    for channels in (1, 4, 7):
        batch_of_channels = noise((2, 9, 13, channels))
        table = rng.integers(0, 256, (2, channels, 256), np.uint8)
        actual = cuaug.lut(put(batch_of_channels, backend), put(table, backend), layout="NHWC")
        assert_equal(to_numpy(actual), table[n, np.arange(channels), batch_of_channels])


@every_backend
def test_lut_table_may_be_strided(backend):
    if backend[0] == "jax":
        pytest.skip("JAX has no views")
    batch, wide = noise((2, 9, 13, 3)), np.random.default_rng(0).integers(0, 256, (4, 3, 512), np.uint8)
    actual = cuaug.lut(put(batch, backend), put(wide, backend)[::2, :, ::2], layout="NHWC")
    expected = wide[::2, :, ::2][np.arange(2)[:, None, None, None], np.arange(3), batch]
    assert_equal(to_numpy(actual), expected)


@pytest.mark.parametrize("dtype", ["uint16", "float32", "bool"])
def test_equalize_lut_reject_other_dtypes(dtype):
    for call in (cuaug.equalize, lambda x: cuaug.lut(x, np.arange(256))):
        with pytest.raises(TypeError, match=rf"cuaug\.\w+: images must be uint8, got {dtype}"):
            call(noise(dtype=dtype))


@every_backend_slow_on_jax
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_lut_adjust_sharpness_copy_unchanged_samples(channels, backend):
    """lut with an identity table and sharpening by 1 copy samples: contiguous and cropped, in both layouts."""
    rng = np.random.default_rng(channels)
    tables = rng.integers(0, 256, (4, channels, 256)).astype("uint8")
    tables[0] = tables[2] = tables[3] = np.arange(256)
    tables[3, -1] = 255 - np.arange(256)
    for layout in ("NCHW", "NHWC"):
        full = images(backend, "uint8", layout, (4, 13, 40, channels))
        crop = (..., slice(2, -1), slice(3, -2)) if layout == "NCHW" else (..., slice(2, -1), slice(3, -2), slice(None))
        for batch in (full, full[crop]):
            levels = from_layout(to_numpy(batch), layout)
            expected = np.stack([[t[c][levels[n, ..., c]] for c in range(channels)] for n, t in enumerate(tables)])
            actual = cuaug.lut(batch, put(tables, backend), layout=layout)
            assert_equal(from_layout(to_numpy(actual), layout), np.moveaxis(expected, 1, -1))
        floats = images(backend, "float32", layout, (4, 13, 40, channels))
        if backend[0] != "jax":
            floats[0] *= 3  # unchanged samples are not clamped
            floats[2, ..., 5, :] = float("nan")  # a row or a column, in the crop too
        factors = [1.0, 2.5, 1.0, 0.0]
        for batch in (floats, floats[crop]):
            sharp = to_numpy(cuaug.adjust_sharpness(batch, put(np.array(factors, "float32"), backend), layout=layout))
            assert np.array_equal(sharp[[0, 2]], to_numpy(batch)[[0, 2]], equal_nan=True)
            singles = [to_numpy(cuaug.adjust_sharpness(batch[n : n + 1], factors[n], layout=layout)) for n in (1, 3)]
            assert np.array_equal(sharp[[1, 3]], np.concatenate(singles))
