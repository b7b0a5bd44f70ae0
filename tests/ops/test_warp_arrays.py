"""Laws of the warps: input and output arrays of any strides and alignment, in any layout."""

import numpy as np
import pytest
from helpers.arrays import HOMES, NEGATIVE, SHAPE, VIEWS, every_home, from_layout, home_id, images, put, stored
from helpers.compare import EXACT, assert_equal, to_numpy
from helpers.laws import BATCH, run
from tables.warps import FIRST, MAIN, SMOOTH

import cuaug

main_cases = pytest.mark.parametrize("case", MAIN, ids=str)


def layout_tolerance(case, home, dtype):
    """Tolerance between two layouts, which on a GPU are two kernels. On the CPU one loop serves all layouts.

    Copied pixels are exact, and so are bilinear affine maps, which count in whole numbers. For other maps, ptxas rounds
    ``a * dx + e`` once where it fuses it, and twice where it moves ``a * dx`` out of the loop over rows, as for uint8
    planes alone: an ulp of a coordinate, which may round a near tie the other way. Planes also leave more memory to
    source boxes, so that tiles begin elsewhere.
    """
    if home[1] == "cpu" or case.copies or has_integer_steps(case):
        return EXACT
    return case.tolerance(dtype)


def has_integer_steps(case):
    affine = case.op in ("warp_affine", "affine", "rotate")
    return affine and case.options.get("interpolation", "bilinear") == "bilinear"


@every_home
@main_cases
def test_op_layouts_agree(case, home):
    for dtype in ("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(case, images(home, dtype, layout), case.parameters(BATCH), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        assert_equal(results["NCHW"], results["NHWC"], tolerance=layout_tolerance(case, home, dtype))


# Inputs and outputs


@every_home
@main_cases
def test_op_input_is_unchanged(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
    before, parameters_before = to_numpy(batch), {k: v.copy() for k, v in parameters.items()}
    result = run(case, batch, parameters)
    assert_equal(to_numpy(batch), before)
    for name, value in parameters_before.items():
        assert_equal(parameters[name], value)
    if home[0] in ("numpy", "torch", "cupy"):
        result[...] = 7
        assert_equal(to_numpy(batch), before)


@every_home
@pytest.mark.parametrize("view", [*VIEWS, *NEGATIVE])
@pytest.mark.parametrize("case", [case for case in MAIN if case.op not in ("remap", "elastic")], ids=str)
def test_op_strided_view_equals_copy(case, view, home):
    """Without remap and elastic, whose maps have a size of their own."""
    if view in NEGATIVE and home[0] == "torch":
        pytest.skip("torch has no negative strides")
    for dtype in ("uint8", "float16", "float32"):
        wide = images(home, dtype, "NHWC", (6, 20, 23, 3))
        seen = {**VIEWS, **NEGATIVE}[view](wide)
        copy = put(to_numpy(seen), home, dtype)
        before = to_numpy(wide)
        parameters = case.parameters((seen.shape[0],))
        actual = run(case, seen, parameters, layout="NHWC")
        expected = run(case, copy, parameters, layout="NHWC")
        assert_equal(actual, expected, tolerance=layout_tolerance(case, home, dtype))
        assert_equal(to_numpy(wide), before)


@every_home
def test_remap_elastic_strided_maps_equal_copies(home):
    batch = images(home)
    wide = {k: put(np.repeat(v, 2, -1), home) for k, v in FIRST["remap"].parameters(BATCH).items()}
    seen = {k: v[..., ::2] for k, v in wide.items()}
    copies = {k: put(to_numpy(v), home) for k, v in seen.items()}
    assert_equal(cuaug.remap(batch, **seen), cuaug.remap(batch, **copies))
    wave = put(FIRST["elastic"].parameters(BATCH)["displacement"].astype(np.float32), home)
    other = stored(wave, (0, 3, 1, 2))
    assert_equal(cuaug.elastic(batch, other), cuaug.elastic(batch, wave))


@pytest.mark.parametrize("home", [home for home in HOMES if home != ("jax", "cpu")], ids=home_id)
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("op", ["warp_affine", "resize", "hflip"])
def test_op_misaligned_pointer(op, dtype, home):
    size, case = int(np.prod(SHAPE)), SMOOTH.get(op, FIRST[op])
    parameters = case.parameters(BATCH)
    for layout in ("NHWC", "NCHW"):
        aligned = images(home, dtype, layout)
        for offset in range(1, 16):
            buffer = put(np.zeros(size + 16), home, dtype)
            shifted = buffer[offset : offset + size].reshape(tuple(aligned.shape))
            shifted[...] = aligned
            actual = run(case, shifted, parameters, layout=layout)
            assert_equal(actual, run(case, aligned, parameters, layout=layout))


@pytest.mark.parametrize("home", [home for home in HOMES if home[0] != "jax"], ids=home_id)
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("width", [16, 20, 22])
def test_warp_affine_vector_rows_equal_scalar_rows(width, dtype, home):
    levels = np.random.default_rng(5).integers(0, 256, (*BATCH, 17, width + 1, 3))
    for layout, axes in (("NHWC", (0, 1, 2, 3)), ("NCHW", (0, 3, 1, 2))):
        wide = put((levels if dtype == "uint8" else levels / 255).transpose(axes).copy(), home, dtype)
        seen = wide[:, :, :width] if layout == "NHWC" else wide[..., :width]
        copy = put(to_numpy(seen), home, dtype)
        matrix = np.array([[0.9, 0.3, -1.5], [-0.2, 1.1, 2.25]])
        assert_equal(cuaug.warp_affine(copy, matrix, layout=layout), cuaug.warp_affine(seen, matrix, layout=layout))


@pytest.mark.parametrize("home", [home for home in HOMES if home != ("jax", "cpu")], ids=home_id)
@main_cases
def test_op_out_with_any_strides(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
    expected = run(case, batch, parameters)
    contiguous = put(np.full(expected.shape, 9, np.uint8), home)
    assert run(case, batch, parameters, out=contiguous) is contiguous
    assert_equal(contiguous, expected)
    n, a, b, c = expected.shape
    frame = put(np.full((n, a, b + 3, c + 5), 9, np.uint8), home)
    run(case, batch, parameters, out=frame[:, :, 2:-1, 4:-1])
    assert_equal(
        put(to_numpy(frame[:, :, 2:-1, 4:-1]), home), expected, tolerance=layout_tolerance(case, home, "uint8")
    )
    untouched = to_numpy(frame)
    untouched[:, :, 2:-1, 4:-1] = 9
    assert_equal(untouched, np.full_like(untouched, 9))
