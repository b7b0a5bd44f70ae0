"""Laws of the warp family: each test is one sentence about every op, over the table of cases."""

import numpy as np
import pytest
from helpers.arrays import (
    HOMES,
    IMAGE_DTYPES,
    MASK_DTYPES,
    NEGATIVE,
    SHAPE,
    VIEWS,
    default_layout,
    from_layout,
    home_id,
    images,
    max_value,
    noise,
    put,
    seeded,
    stored,
    to_layout,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from tables import warp_reference as reference
from tables.row import scaled
from tables.warps import CASES, FIRST, LARGE, MAIN, SHARES, SMOOTH, matrix

import cuaug

BATCH = (SHAPE[0],)
every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
main_cases = pytest.mark.parametrize("case", MAIN, ids=str)


def run(case, batch, parameters, unit, **more):
    """``unit`` is the dtype in whose values the table's fill is meant."""
    return getattr(cuaug, case.op)(batch, **{**case.keywords(unit), **parameters, **more})


def device_of(home):
    return "cpu" if home[1] == "cpu" else "cuda:0"


def check(case, home, dtype, lead=BATCH, **more):
    """One call against the oracle over the same values."""
    batch, parameters = images(home, dtype), case.parameters(lead)
    source = from_layout(to_numpy(batch), default_layout(home)).astype(float)
    expected = to_layout(case.expected(source, parameters, dtype, lead), default_layout(home))
    actual = run(case, batch, parameters, dtype, **more)
    assert_equal(
        actual, expected, library=home[0], device=device_of(home), dtype=dtype, tolerance=case.tolerance(dtype)
    )


def same(actual, expected, tolerance=EXACT):
    assert_equal(actual, expected, tolerance=tolerance)


def across_layouts(case, home, dtype):
    """What two layouts may differ by. On a GPU each is its own kernel. Bilinear affine maps count in whole numbers, the
    same in all of them. Of others ptxas rounds ``a * dx + e`` once where it fuses it and twice where it takes
    ``a * dx`` out of the loop over rows, as it does for uint8 planes alone: an ulp of a coordinate, which shows where a
    value is nearly a tie; and planes leave more memory to boxes, so that tiles begin elsewhere. What copies pixels has
    no such values, and on the CPU one loop serves all layouts."""
    if home[1] == "cpu" or case.copies or counts_in_whole_numbers(case):
        return EXACT
    return case.tolerance(dtype)


def counts_in_whole_numbers(case):
    affine = case.op in ("warp_affine", "affine", "rotate")
    return affine and case.options.get("interpolation", "bilinear") == "bilinear"


# Values


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@every_case
def test_op_equals_reference(case, dtype):
    check(case, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@every_case
def test_op_equals_reference_on_gpu(case, dtype):
    check(case, ("torch", "cuda"), dtype)


@pytest.mark.parametrize("home", [HOMES[0], HOMES[3]], ids=home_id)
@pytest.mark.parametrize("case", SHARES, ids=str)
def test_op_large_noise_is_nearly_exact(case, home):
    batch, parameters = images(home, shape=(1, *LARGE, 3)), case.parameters()
    layout = default_layout(home)
    source = from_layout(to_numpy(batch), layout).astype(float)
    expected = to_layout(case.expected(source, parameters, "uint8", ()), layout)
    actual = run(case, batch, parameters, "uint8")
    tolerance = case.tolerance("uint8")
    assert_equal(actual, expected, library=home[0], device=device_of(home), dtype="uint8", tolerance=tolerance)


@every_home
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@main_cases
def test_op_broadcasts_one_parameter(case, dtype, home):
    check(case, home, dtype, lead=())


@every_home
@pytest.mark.parametrize("dtype", MASK_DTYPES)
@pytest.mark.parametrize("case", [case for case in CASES if case.copies], ids=str)
def test_op_nearest_keeps_labels(case, dtype, home):
    check(case, home, dtype)


@every_home
@main_cases
def test_op_keeps_library_and_values(case, home):
    for dtype in IMAGE_DTYPES if home[0] == "torch" else ["uint8", "float16", "float32"]:
        check(case, home, dtype)


@every_home
@main_cases
def test_op_layouts_agree(case, home):
    for dtype in ("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(case, images(home, dtype, layout), case.parameters(BATCH), dtype, layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        same(results["NCHW"], results["NHWC"], across_layouts(case, home, dtype))


@every_home
@pytest.mark.parametrize("case", [case for case in MAIN if case.identity], ids=str)
def test_op_identity_parameter_is_identity(case, home):
    for dtype in ("uint8", "float16", "float32"):
        batch = images(home, dtype)
        same(run(case, batch, case.identity, dtype), batch, EXACT if "int" in dtype else case.tolerance(dtype))


@every_home
@main_cases
def test_op_batch_equals_samples(case, home):
    for dtype in ("uint8", "float32"):
        batch, parameters = images(home, dtype), case.parameters(BATCH)
        whole = run(case, batch, parameters, dtype)
        for n in range(SHAPE[0]):
            one = {name: value[n] for name, value in parameters.items()}
            same(run(case, batch[n], one, dtype), whole[n])
            same(run(case, batch[n : n + 1], {k: v[n : n + 1] for k, v in parameters.items()}, dtype), whole[n : n + 1])
        nothing = run(case, batch[:0], {k: v[:0] for k, v in parameters.items()}, dtype)
        same(nothing, whole[:0])
        same(run(case, batch[:0], case.parameters(), dtype), whole[:0])


@every_home
@main_cases
def test_op_parameters_from_any_library(case, home):
    if not case.parameters():
        pytest.skip("no parameters to draw")
    batch, parameters = images(home), case.parameters(BATCH)
    expected = run(case, batch, parameters, "uint8")
    for kind in (lambda v: v.tolist(), lambda v: put(v, ("torch", "cpu")), lambda v: put(v, home, narrow(v))):
        same(run(case, batch, {k: kind(v) for k, v in parameters.items()}, "uint8"), expected, case.tolerance("uint8"))


def narrow(value):
    return {"float64": "float32", "int64": "int32"}.get(str(value.dtype))


# Borders of the call: inputs, outputs, layouts, memory


@every_home
@main_cases
def test_op_input_is_unchanged(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
    before, held = to_numpy(batch), {k: v.copy() for k, v in parameters.items()}
    result = run(case, batch, parameters, "uint8")
    same(to_numpy(batch), before)
    for name, value in held.items():
        same(parameters[name], value)
    if home[0] in ("numpy", "torch", "cupy"):
        result[...] = 7
        same(to_numpy(batch), before)


@every_home
@pytest.mark.parametrize("view", [*VIEWS, *NEGATIVE])
@pytest.mark.parametrize("case", [case for case in MAIN if case.op not in ("remap", "elastic")], ids=str)
def test_op_strided_view_equals_copy(case, view, home):
    """But for those whose maps have their own size."""
    if view in NEGATIVE and home[0] == "torch":
        pytest.skip("torch has no negative strides")
    for dtype in ("uint8", "float16", "float32"):
        wide = images(home, dtype, "NHWC", (6, 20, 23, 3))
        seen = {**VIEWS, **NEGATIVE}[view](wide)
        copy = put(to_numpy(seen), home, dtype)
        before = to_numpy(wide)
        parameters = case.parameters((seen.shape[0],))
        actual = run(case, seen, parameters, dtype, layout="NHWC")
        expected = run(case, copy, parameters, dtype, layout="NHWC")
        same(actual, expected, across_layouts(case, home, dtype))
        same(to_numpy(wide), before)


@every_home
def test_remap_elastic_strided_maps_equal_copies(home):
    batch = images(home)
    wide = {k: put(np.repeat(v, 2, -1), home) for k, v in FIRST["remap"].parameters(BATCH).items()}
    seen = {k: v[..., ::2] for k, v in wide.items()}
    copies = {k: put(to_numpy(v), home) for k, v in seen.items()}
    same(cuaug.remap(batch, **seen), cuaug.remap(batch, **copies))
    wave = put(FIRST["elastic"].parameters(BATCH)["displacement"].astype(np.float32), home)
    other = stored(wave, (0, 3, 1, 2))
    same(cuaug.elastic(batch, other), cuaug.elastic(batch, wave))


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
            actual = run(case, shifted, parameters, dtype, layout=layout)
            same(actual, run(case, aligned, parameters, dtype, layout=layout))


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
        same(cuaug.warp_affine(copy, matrix, layout=layout), cuaug.warp_affine(seen, matrix, layout=layout))


@pytest.mark.parametrize("home", [home for home in HOMES if home != ("jax", "cpu")], ids=home_id)
@main_cases
def test_op_out_with_any_strides(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
    expected = run(case, batch, parameters, "uint8")
    plain = put(np.full(expected.shape, 9, np.uint8), home)
    assert run(case, batch, parameters, "uint8", out=plain) is plain
    same(plain, expected)
    n, a, b, c = expected.shape
    frame = put(np.full((n, a, b + 3, c + 5), 9, np.uint8), home)
    run(case, batch, parameters, "uint8", out=frame[:, :, 2:-1, 4:-1])
    same(put(to_numpy(frame[:, :, 2:-1, 4:-1]), home), expected, across_layouts(case, home, "uint8"))
    rest = to_numpy(frame)
    rest[:, :, 2:-1, 4:-1] = 9
    same(rest, np.full_like(rest, 9))


@every_home
@main_cases
def test_op_dtype_converts_without_scaling(case, home):
    for source, target in (("uint8", "float32"), ("float32", "uint8"), ("uint16", "uint8"), ("uint8", "float16")):
        batch, parameters, layout = images(home, source), case.parameters(BATCH), default_layout(home)
        values = from_layout(to_numpy(batch), layout).astype(float)
        expected = to_layout(case.expected(values, parameters, source), layout)
        actual = run(case, batch, parameters, source, dtype=target)
        full = max_value(source)
        tolerance = {
            "float32": Tolerance(absolute=1e-4 * full, reason="1e-4 of the range, which is 255 here"),
            "float16": Tolerance(absolute=1e-4 * full, relative=2**-11, reason="1e-4 of the range and half's 11 bits"),
            "uint8": Tolerance(absolute=1, exact=0.98, reason="one level, where the exact value is nearly a tie"),
        }[target]
        assert_equal(actual, expected, library=home[0], device=device_of(home), dtype=target, tolerance=tolerance)


@every_home
@main_cases
def test_op_video_shares_parameters(case, home):
    frames = 2
    for layout, still in (("NTCHW", "NCHW"), ("NTHWC", "NHWC")):
        flat = images(home, "uint8", still, (SHAPE[0] * frames, *SHAPE[1:]))
        clip = flat.reshape(SHAPE[0], frames, *flat.shape[1:])
        parameters = case.parameters(BATCH)
        actual = run(case, clip, parameters, "uint8", layout=layout)
        repeated = {name: np.repeat(value, frames, axis=0) for name, value in parameters.items()}
        expected = run(case, flat, repeated, "uint8", layout=still)
        same(actual, expected.reshape(SHAPE[0], frames, *expected.shape[1:]))


@every_home
@pytest.mark.parametrize("layout", ["CHW", "HWC", "HW"])
@main_cases
def test_op_single_image_is_batch_of_one(case, layout, home):
    still = {"CHW": "NCHW", "HWC": "NHWC", "HW": "NHWC"}[layout]
    shape = (1, *SHAPE[1:3], 1 if layout == "HW" else SHAPE[3])
    batch, parameters = images(home, "uint8", still, shape), case.parameters()
    expected = run(case, batch, parameters, "uint8", layout=still)[0]
    expected, one = (expected[..., 0], batch[0, ..., 0]) if layout == "HW" else (expected, batch[0])
    same(run(case, one, parameters, "uint8", layout=layout), expected)


@every_home
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 64, 200])
@pytest.mark.parametrize("op", ["warp_affine", "resize", "remap", "crop", "pad"])
def test_op_any_number_of_channels(op, channels, home):
    case = SMOOTH.get(op, FIRST[op])
    parameters = case.parameters(BATCH)
    for dtype in ("uint8", "float32"):
        for layout in ("NCHW", "NHWC"):
            batch = images(home, dtype, layout, (*SHAPE[:3], channels))
            source = from_layout(to_numpy(batch), layout).astype(float)
            expected = to_layout(case.expected(source, parameters, dtype), layout)
            actual = run(case, batch, parameters, dtype, layout=layout)
            wanted = {"library": home[0], "device": device_of(home), "dtype": dtype}
            assert_equal(actual, expected, **wanted, tolerance=case.tolerance(dtype))


@every_home
@pytest.mark.parametrize("case", [case for case in MAIN if "fill" in case.options], ids=str)
def test_op_fill_per_channel_and_sample(case, home):
    layout, rng = default_layout(home), seeded("fill")
    for dtype in ("uint8", "float32"):
        batch, parameters = images(home, dtype), case.parameters(BATCH)
        source = from_layout(to_numpy(batch), layout).astype(float)
        for shape in ((3,), (3, 3)):
            fill = np.asarray(scaled(rng.integers(0, 65, shape) / 64, dtype))
            expected = case.expected(source, {**parameters, "fill": np.broadcast_to(fill, (3, 3))}, dtype)
            for value in (fill, fill.tolist(), put(fill.astype(np.float32), home)):
                actual = run(case, batch, parameters, dtype, fill=value)
                wanted = {"library": home[0], "device": device_of(home), "dtype": dtype}
                assert_equal(actual, to_layout(expected, layout), **wanted, tolerance=case.tolerance(dtype))


@every_home
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("scale", [0.5, 1, 1.25, 2])
@pytest.mark.parametrize("step", [1 / 2, 1 / 4, 1 / 8])
def test_warp_affine_rounds_half_to_even(step, scale, channels, home):
    """Coordinates that are multiples of a power of two meet many, and bytes have weights that hold them exactly."""
    case, M = FIRST["warp_affine"], np.array([[scale, 0, -1 - step], [0, 1, 3 * step]])
    how = {"interpolation": "bilinear", "border": "constant", "inverse": True}
    for layout in ("NCHW", "NHWC"):
        batch = images(home, "uint8", layout, (3, 17, 22, channels))
        source = from_layout(to_numpy(batch), layout).astype(float)
        expected = case.expected(source, {"M": np.broadcast_to(M, (3, 2, 3))}, "uint8", **how, fill=0)
        assert (expected % 1 == 0.5).any()
        actual = to_numpy(cuaug.warp_affine(batch, M, layout=layout, **how))
        same(actual, to_layout(np.rint(expected).astype(np.uint8), layout))


@every_home
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [16, 20, 22, 37])
@pytest.mark.parametrize("op", ["warp_affine", "warp_perspective"])
def test_op_any_width_and_fill(op, width, channels, home):
    """Rows that sixteen bytes, four, or none divide, with a fill that differs by channel: kernels/gpu/raw_stage.cuh."""
    rng = seeded("fill", width, channels)
    for dtype in ("uint8", "int16", "float16", "float32"):
        for layout in ("NCHW", "NHWC"):
            batch = images(home, dtype, layout, (3, 17, width, channels))
            source = from_layout(to_numpy(batch), layout).astype(float)
            fill = np.asarray(scaled(rng.integers(1, 65, channels) / 64, dtype))
            case = next(c for c in CASES if c.op == op and "fill" in c.options and "bilinear" in str(c))
            parameters = case.parameters(BATCH)
            expected = case.expected(source, {**parameters, "fill": np.broadcast_to(fill, (3, channels))}, dtype)
            actual = run(case, batch, parameters, dtype, fill=fill.tolist(), layout=layout)
            wanted = {"library": home[0], "device": device_of(home), "dtype": dtype}
            assert_equal(actual, to_layout(expected, layout), **wanted, tolerance=case.tolerance(dtype))


# Sizes


@pytest.mark.parametrize("home", [HOMES[0], HOMES[1], HOMES[3], HOMES[4]], ids=home_id)
@pytest.mark.parametrize("samples", [65_535, 65_536, 70_000])
def test_op_more_samples_than_grid_rows(samples, home):
    batch = images(home, "uint8", "NHWC", (samples, 8, 8, 1))
    M = matrix(seeded("many"), (samples,))["M"]
    whole = cuaug.warp_affine(batch, M, layout="NHWC")
    for part in (slice(0, 3), slice(65_530, 65_540), slice(samples - 3, samples)):
        same(whole[part], cuaug.warp_affine(batch[part], M[part], layout="NHWC"))
    flip = np.arange(samples) % 3 == 0
    expected = np.where(flip[:, None, None, None], to_numpy(batch)[:, :, ::-1], to_numpy(batch))
    same(to_numpy(cuaug.hflip(batch, flip, layout="NHWC")), expected)


@every_home
def test_warp_affine_large_image_is_accurate_in_far_corner(home):
    side, size = 4096, (40, 50)
    image = noise((1, side, side, 1), "float32")
    angle, shift = np.radians(17.3), 61.27
    linear = 1.07 * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    inverse = np.c_[linear, [side - 60.3, side - shift]][None]  # destination to source, near the last pixel
    expected = np.stack([reference.warp_affine(image[0], inverse[0], size, inverse=True, border="reflect")])
    actual = cuaug.warp_affine(put(image, home), inverse, size, inverse=True, border="reflect", layout="NHWC")
    tolerance = Tolerance(absolute=1e-4, reason="the contract for float32 images up to 4096 px")
    assert_equal(actual, expected, library=home[0], device=device_of(home), dtype="float32", tolerance=tolerance)


@every_home
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_warp_affine_half_precision_has_full_coordinates(dtype, home):
    side = 1024
    batch = images(home, dtype, "NHWC", (1, side, side, 1))
    angle = np.radians(29.7)
    linear = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    M = np.c_[linear, np.full(2, side / 2) - linear @ np.full(2, side / 2)]
    expected = np.stack([reference.warp_affine(to_numpy(batch)[0].astype(float), M)])
    actual = cuaug.warp_affine(batch, M, layout="NHWC")
    relative = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
    tolerance = Tolerance(absolute=1e-4, relative=relative, reason="float32 coordinates; the storage rounds once")
    assert_equal(actual, expected, library=home[0], device=device_of(home), dtype=dtype, tolerance=tolerance)


@every_home
def test_rotate_expand(home):
    batch, layout = images(home), default_layout(home)
    for angle in (31.3, -118.7, 90.0, 180.0):
        for interpolation in ("nearest", "bilinear") if angle % 90 else ("bilinear",):
            source = from_layout(to_numpy(batch), layout).astype(float)
            expected = np.stack([reference.rotate(image, angle, interpolation, expand=True) for image in source])
            actual = cuaug.rotate(batch, angle, interpolation, expand=True)
            wanted = {"library": home[0], "device": device_of(home), "dtype": "uint8"}
            assert_equal(actual, to_layout(expected, layout), **wanted, tolerance=SMOOTH["rotate"].tolerance("uint8"))


# Properties


@st.composite
def strided_images(draw):
    """A view ``[N, H, W, C]`` of a wider uint8 array, each axis with its own start and step."""
    shape = [draw(st.integers(1, high)) for high in (3, 9, 9, 5)]
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    starts = [draw(st.integers(0, 2)) for _ in shape]
    order = draw(st.permutations(range(4)))
    wide = [start + n * abs(step) for n, step, start in zip(shape, steps, starts, strict=True)]
    base = noise(tuple(wide[axis] for axis in order), seed=draw(st.integers(0, 99))).transpose(np.argsort(order))
    cut = tuple(
        slice(start, start + n * abs(step), abs(step)) for n, step, start in zip(shape, steps, starts, strict=True)
    )
    turn = tuple(slice(None, None, 1 if step > 0 else -1) for step in steps)
    view = base[cut][turn]
    assert view.shape == tuple(shape)
    return view


@given(
    strided_images(),
    st.sampled_from(["bilinear", "bicubic", "lanczos"]),
    st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
    st.integers(0, 10_000),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_warp_affine_any_view_matrix_and_size(view, interpolation, border, seed, size):
    M = matrix(seeded("property", seed), (len(view),))["M"]
    options = {"interpolation": interpolation, "border": border, "fill": 99}
    expected = np.stack([reference.warp(v.astype(float), m, size, **options) for v, m in zip(view, M, strict=True)])
    actual = cuaug.warp_affine(view, M, size, layout="NHWC", **options)
    tolerance = Tolerance(absolute=1, reason="the contract: one level")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@given(
    strided_images(),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.sampled_from(["bilinear", "bicubic", "lanczos"]),
)
def test_resize_any_view_and_size(view, size, interpolation):
    expected = np.stack([reference.resize(v.astype(float), size, interpolation) for v in view])
    actual = cuaug.resize(view, size, interpolation, layout="NHWC")
    tolerance = Tolerance(absolute=1, reason="the contract: one level")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@given(strided_images(), strided_images(), st.integers(0, 10_000))
def test_warp_affine_out_any_view(view, frame, seed):
    """`frame` lends its strides; each of its elements is one of a wider array."""
    M = matrix(seeded("out", seed))["M"]
    size = frame.shape[1:3]
    base = frame
    while base.base is not None:
        base = base.base
    out = np.lib.stride_tricks.as_strided(frame, (min(len(view), len(frame)), *frame.shape[1:]), frame.strides)
    channels = min(view.shape[3], frame.shape[3])
    out, source = out[..., :channels], view[: len(out), ..., :channels]
    expected = cuaug.warp_affine(np.ascontiguousarray(source), M, size, layout="NHWC", fill=3)
    untouched = base.copy()
    before = out.copy()
    assert cuaug.warp_affine(source, M, size, layout="NHWC", fill=3, out=out) is out
    same(out, expected)
    out[...] = before
    same(base, untouched)


@given(
    strided_images(),
    st.tuples(*[st.integers(-12, 12)] * 2, *[st.integers(1, 12)] * 2),
    st.tuples(st.booleans(), st.booleans()),
)
def test_crop_pad_flip_equal_numpy_indexing(view, box, flips):
    top, left, height, width = box
    padded = np.pad(view, [(0, 0), (30, 30), (30, 30), (0, 0)], constant_values=9)
    expected = padded[:, 30 + top : 30 + top + height, 30 + left : 30 + left + width]
    same(cuaug.crop(view, top, left, height, width, fill=9, layout="NHWC"), np.ascontiguousarray(expected))
    horizontal, vertical = flips
    expected = view[:, :: -1 if vertical else 1, :: -1 if horizontal else 1]
    actual = cuaug.vflip(cuaug.hflip(view, horizontal, layout="NHWC"), vertical, layout="NHWC")
    same(actual, np.ascontiguousarray(expected))


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=9, max_size=9),
    st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"]),
    st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
)
def test_warp_affine_any_matrix_is_finite_or_named(entries, interpolation, border):
    batch, options = noise((1, 7, 5, 2), "float32"), {"interpolation": interpolation, "border": border, "fill": 0.25}
    M = np.array(entries).reshape(3, 3)
    for op, matrix_ in ((cuaug.warp_affine, M[:2]), (cuaug.warp_perspective, M)):
        for inverse in (False, True):
            try:
                result = op(batch, matrix_, (6, 8), inverse=inverse, **options)
            except ValueError as refusal:
                assert "sample 0" in str(refusal)  # noqa: PT017
            else:
                assert np.isfinite(result).all()
                assert np.abs(result).max() < 4  # a few times the largest value: no weight grows beyond its kernel's


@given(
    st.lists(
        st.one_of(
            st.floats(width=32, allow_nan=True, allow_infinity=True),
            st.floats(-40, 40, width=32),
        ),
        min_size=24,
        max_size=24,
    ),
    st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"]),
    st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
)
def test_remap_any_coordinate_equals_reference_or_fill(values, interpolation, border):
    batch = noise((1, 7, 5, 2), "float32")
    map_x, map_y = np.float32(values).reshape(2, 3, 4)
    options = {"interpolation": interpolation, "border": border, "fill": 0.25}
    actual = cuaug.remap(batch, map_x, map_y, **options)
    assert np.isfinite(actual).all()
    with np.errstate(invalid="ignore"):
        lost = ~((np.abs(map_x) <= 2.0**30) & (np.abs(map_y) <= 2.0**30))
        near = (np.abs(map_x) <= 40) & (np.abs(map_y) <= 40)
    edge = np.float32(2.0**30)
    lost |= (np.abs(map_x) == edge) | (np.abs(map_y) == edge)
    same(actual[:, lost], np.full_like(actual[:, lost], 0.25))
    if interpolation != "nearest":
        expected = np.stack([reference.remap(batch[0], map_x.astype(float), map_y.astype(float), **options)])
        tolerance = Tolerance(absolute=1e-4, reason="the contract for float32 images")
        same(actual[:, near], expected[:, near].astype(np.float32), tolerance)


@pytest.mark.parametrize("far", [8193.0, -1e5, 1e9])
def test_remap_far_neighbour_keeps_precision(far):
    batch = noise((1, 7, 5, 2), "float32")
    map_x, map_y = (np.random.default_rng(axis).uniform(0, 4, (6, 4)).astype("float32") for axis in range(2))
    map_x[0, 0] = map_y[0, 0] = far
    expected = reference.remap(batch[0], map_x.astype(float), map_y.astype(float))[None]
    tolerance = Tolerance(absolute=1e-4, reason="the contract for float32 images")
    same(cuaug.remap(batch, map_x, map_y), expected.astype("float32"), tolerance)
