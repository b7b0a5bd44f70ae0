"""Laws of the warps: input and output arrays of any strides and alignment, in any layout."""

import numpy as np
import pytest
from helpers.arrays import (
    REVERSED_VIEWS,
    SHAPE,
    TORCH,
    VIEWS,
    every_backend,
    every_backend_but_jax,
    every_backend_slow_on_jax,
    from_layout,
    images,
    put,
    with_memory_order,
)
from helpers.compare import EXACT, assert_equal, to_numpy
from helpers.laws import BATCH, run
from helpers.replace import replace_everywhere
from tables.warps import INEXACT_ROW_OF_OP, MAIN_ROWS, ROW_OF_OP

import cuaug
from cuaug._arrays import convert

main_rows = pytest.mark.parametrize("row", MAIN_ROWS, ids=str)


def layout_tolerance(row, backend, dtype):
    """Tolerance between two layouts, which on a GPU are two kernels. The CPU's results do not depend on the layout.

    Copied pixels are exact, and so are bilinear affine maps, whose coordinates are fixed-point numbers. For other maps,
    ``a * dx + e`` is rounded once if ptxas fuses the two operations, and twice if ptxas moves ``a * dx`` out of the
    loop over rows, which it does for uint8 planes only. The coordinates then differ by an ulp, and a near tie may round
    the other way. Planes also leave more memory to source boxes, so tiles have other sizes and origins.
    """
    if backend[1] == "cpu" or row.is_exact or has_fixed_point_coordinates(row):
        return EXACT
    return row.tolerance(dtype)


def has_fixed_point_coordinates(row):
    affine = row.op in ("warp_affine", "affine", "rotate")
    return affine and row.options.get("interpolation", "bilinear") == "bilinear"


@every_backend
@main_rows
def test_op_layouts_agree(row, backend):
    for dtype in ("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(row, images(backend, dtype, layout), row.parameters(BATCH), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        assert_equal(results["NCHW"], results["NHWC"], tolerance=layout_tolerance(row, backend, dtype))


FLIP_VALUES = {"uint8": [0, 2, 255], "int64": [3, 0, -1], "float32": [0.5, 1.0, 0.0], "bool": [True, False, True]}
every_flip = pytest.mark.parametrize(("dtype", "values"), FLIP_VALUES.items(), ids=FLIP_VALUES)


def check_flips(batch, flip, values):
    for function, axis in ((cuaug.hflip, 2), (cuaug.vflip, 1)):
        actual = to_numpy(function(batch, flip, layout="NHWC"))
        for image, source, value in zip(actual, to_numpy(batch), values, strict=True):
            assert_equal(image, np.flip(source, axis - 1) if value else source)


@every_flip
@every_backend
def test_hflip_vflip_mirror_samples_whose_value_is_not_0(backend, dtype, values):
    check_flips(images(backend, layout="NHWC"), put(np.array(values, dtype), backend), values)


@every_flip
def test_hflip_vflip_mirror_samples_whose_unread_value_is_not_0(dtype, values, monkeypatch):
    """As for values on a device."""
    flip, is_host = put(np.array(values, dtype), TORCH), convert.is_host
    monkeypatch.setattr(convert, "is_host", lambda value: value is not flip and is_host(value))
    check_flips(images(TORCH, layout="NHWC"), flip, values)


@every_backend
def test_crop_takes_positions_on_host_and_device(backend):
    batch, top, left = images(backend), np.array([0, 1, 2]), np.array([2, 0, 1])
    expected = cuaug.crop(batch, top, left, 9, 7)
    assert_equal(cuaug.crop(batch, top, put(left, backend, "float32"), 9, 7), expected)


def test_crop_positions_on_host_and_device_become_one_device_array(monkeypatch):
    """A CPU tensor stands in for a device array, which NumPy could not stack."""
    left = put(np.array([2.0, 0.0, 1.0]), TORCH)
    replace_everywhere(monkeypatch, convert, "is_host", lambda value: not isinstance(value, type(left)))
    columns = convert.stack_columns([np.array([0.0, 1.0, 2.0]), 3.0, left])
    assert type(columns) is type(left)
    assert columns.tolist() == [[0, 3, 2], [1, 3, 0], [2, 3, 1]]


@every_backend
@main_rows
def test_op_input_is_unchanged(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    before, parameters_before = to_numpy(batch), {k: v.copy() for k, v in parameters.items()}
    result = run(row, batch, parameters)
    assert_equal(to_numpy(batch), before)
    for name, value in parameters_before.items():
        assert_equal(parameters[name], value)
    if backend[0] in ("numpy", "torch", "cupy"):
        result[...] = 7
        assert_equal(to_numpy(batch), before)


@every_backend_slow_on_jax
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED_VIEWS])
@pytest.mark.parametrize("row", [row for row in MAIN_ROWS if row.op not in ("remap", "elastic")], ids=str)
def test_op_strided_view_equals_copy(row, view, backend):
    """Without remap and elastic, whose maps have a size of their own."""
    if view in REVERSED_VIEWS and backend[0] == "torch":
        pytest.skip("torch has no negative strides")
    for dtype in ("uint8", "float16", "float32"):
        wide = images(backend, dtype, "NHWC", (6, 20, 23, 3))
        strided = {**VIEWS, **REVERSED_VIEWS}[view](wide)
        copy = put(to_numpy(strided), backend, dtype)
        before = to_numpy(wide)
        parameters = row.parameters((strided.shape[0],))
        actual = run(row, strided, parameters, layout="NHWC")
        expected = run(row, copy, parameters, layout="NHWC")
        assert_equal(actual, expected, tolerance=layout_tolerance(row, backend, dtype))
        assert_equal(to_numpy(wide), before)


@every_backend
def test_remap_elastic_strided_maps_equal_copies(backend):
    batch = images(backend)
    wide = {k: put(np.repeat(v, 2, -1), backend) for k, v in ROW_OF_OP["remap"].parameters(BATCH).items()}
    strided = {k: v[..., ::2] for k, v in wide.items()}
    copies = {k: put(to_numpy(v), backend) for k, v in strided.items()}
    assert_equal(cuaug.remap(batch, **strided), cuaug.remap(batch, **copies))
    wave = put(ROW_OF_OP["elastic"].parameters(BATCH)["displacement"].astype(np.float32), backend)
    permuted = with_memory_order(wave, (0, 3, 1, 2))
    assert_equal(cuaug.elastic(batch, permuted), cuaug.elastic(batch, wave))


@every_backend_but_jax
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("op", ["warp_affine", "resize", "hflip"])
def test_op_misaligned_pointer(op, dtype, backend):
    size, row = int(np.prod(SHAPE)), INEXACT_ROW_OF_OP.get(op, ROW_OF_OP[op])
    parameters = row.parameters(BATCH)
    for layout in ("NHWC", "NCHW"):
        aligned = images(backend, dtype, layout)
        for offset in range(1, 16):
            buffer = put(np.zeros(size + 16), backend, dtype)
            shifted = buffer[offset : offset + size].reshape(tuple(aligned.shape))
            shifted[...] = aligned
            actual = run(row, shifted, parameters, layout=layout)
            assert_equal(actual, run(row, aligned, parameters, layout=layout))


@every_backend_but_jax
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("width", [16, 20, 22])
def test_warp_affine_vector_rows_equal_scalar_rows(width, dtype, backend):
    levels = np.random.default_rng(5).integers(0, 256, (*BATCH, 17, width + 1, 3))
    for layout, axes in (("NHWC", (0, 1, 2, 3)), ("NCHW", (0, 3, 1, 2))):
        wide = put((levels if dtype == "uint8" else levels / 255).transpose(axes).copy(), backend, dtype)
        strided = wide[:, :, :width] if layout == "NHWC" else wide[..., :width]
        copy = put(to_numpy(strided), backend, dtype)
        matrix = np.array([[0.9, 0.3, -1.5], [-0.2, 1.1, 2.25]])
        assert_equal(cuaug.warp_affine(copy, matrix, layout=layout), cuaug.warp_affine(strided, matrix, layout=layout))


@every_backend_but_jax
@main_rows
def test_op_out_with_any_strides(row, backend):
    batch, parameters = images(backend), row.parameters(BATCH)
    expected = run(row, batch, parameters)
    contiguous = put(np.full(expected.shape, 9, np.uint8), backend)
    assert run(row, batch, parameters, out=contiguous) is contiguous
    assert_equal(contiguous, expected)
    n, a, b, c = expected.shape
    padded = put(np.full((n, a, b + 3, c + 5), 9, np.uint8), backend)
    run(row, batch, parameters, out=padded[:, :, 2:-1, 4:-1])
    assert_equal(
        put(to_numpy(padded[:, :, 2:-1, 4:-1]), backend), expected, tolerance=layout_tolerance(row, backend, "uint8")
    )
    padding = to_numpy(padded)
    padding[:, :, 2:-1, 4:-1] = 9
    assert_equal(padding, np.full_like(padding, 9))
