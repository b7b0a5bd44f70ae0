"""Laws of the colour ops: each test is one sentence about every op, over the table of cases."""

import numpy as np
import pytest
from arrays import (
    HOMES,
    NEGATIVE,
    SHAPE,
    VIEWS,
    default_layout,
    from_layout,
    home_id,
    images,
    noise,
    put,
    to_layout,
)
from color_cases import CASES
from compare import EXACT, Tolerance, assert_equal, to_numpy

cuaug = pytest.importorskip("cuaug")
from cuaug import _images, _pass  # noqa: E402

BATCH = (SHAPE[0],)
every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_dtype = pytest.mark.parametrize(("case", "dtype"), [(c, d) for c in CASES for d in c.dtypes], ids=str)


def run(case, batch, parameters, **more):
    return getattr(cuaug, case.op)(batch, **{**case.options, **parameters, **more})


def check(case, home, dtype, lead=BATCH):
    """One call against the oracle over the same values."""
    batch, parameters, layout = images(home, dtype), case.parameters(dtype, lead), default_layout(home)
    source = from_layout(to_numpy(batch), layout).astype(float)
    expected = to_layout(case.expected(source, parameters, dtype, lead), layout)
    device = "cpu" if home[1] == "cpu" else "cuda:0"
    actual = run(case, batch, parameters)
    assert_equal(
        actual, expected, library=home[0], device=device, dtype=case.result(dtype), tolerance=case.tolerance(dtype)
    )


@every_dtype
def test_equals_the_reference(case, dtype):
    check(case, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@every_dtype
def test_equals_the_reference_on_the_gpu(case, dtype):
    check(case, ("torch", "cuda"), dtype)


@every_home
@every_case
def test_every_library_gets_its_own_type_and_one_value_serves_the_whole_batch(case, home):
    for dtype in case.some("uint8", "float16", "float32"):
        check(case, home, dtype)
        check(case, home, dtype, lead=())


@every_home
@every_case
def test_both_layouts_agree(case, home):
    for dtype in case.some("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(case, images(home, dtype, layout), case.parameters(dtype, BATCH), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        tolerance = EXACT if home[1] == "cpu" else case.tolerance(dtype)
        assert_equal(results["NCHW"], results["NHWC"], tolerance=tolerance)


@every_home
@pytest.mark.parametrize("case", [case for case in CASES if case.identity], ids=str)
def test_the_identity_parameter_is_the_identity(case, home):
    for dtype in case.some("uint8", "uint16", "float32"):
        batch = images(home, dtype)
        assert_equal(
            run(case, batch, case.identity), batch, tolerance=EXACT if "int" in dtype else case.tolerance(dtype)
        )


@every_home
@every_case
def test_a_batch_equals_its_samples_one_by_one_and_the_input_is_untouched(case, home):
    for dtype in case.some("uint8", "float32"):
        batch, parameters = images(home, dtype), case.parameters(dtype, BATCH)
        before, whole = to_numpy(batch), run(case, batch, parameters)
        for n in range(SHAPE[0]):
            assert_equal(run(case, batch[n], {k: v[n] for k, v in parameters.items()}), whole[n])
        assert_equal(run(case, batch[:0], {k: v[:0] for k, v in parameters.items()}), whole[:0])
        assert_equal(to_numpy(batch), before)


@every_home
@every_case
def test_parameters_may_come_from_any_library_or_plain_python(case, home):
    batch, parameters = images(home), case.parameters("uint8", BATCH)
    expected = run(case, batch, parameters)
    level = Tolerance(absolute=1, exact=0.98, reason="parameters in float32 may move what is nearly a tie")
    for kind in (lambda v: v.tolist(), lambda v: put(v, ("torch", "cpu")), lambda v: put(v.astype(np.float32), home)):
        given = {k: kind(np.asarray(v)) for k, v in parameters.items()}
        assert_equal(
            run(case, batch, given),
            expected,
            tolerance=level if "int" in str(expected.dtype) else case.tolerance("uint8"),
        )


@every_home
@pytest.mark.parametrize("view", [*VIEWS, *NEGATIVE])
def test_a_strided_view_equals_its_copy(view, home):
    if view in NEGATIVE and home[0] == "torch":
        pytest.skip("torch has no negative strides")
    for dtype in ("uint8", "float32"):
        seen = {**VIEWS, **NEGATIVE}[view](images(home, dtype, "NHWC", (6, 20, 23, 3)))
        copy = put(to_numpy(seen), home, dtype)
        for case in CASES:
            if dtype not in case.dtypes:
                continue
            parameters = case.parameters(dtype, (seen.shape[0],))
            if seen.shape[-1] != 3 and case.op not in ("adjust_brightness", "invert", "adjust_gamma"):
                continue
            actual, expected = (run(case, batch, parameters, layout="NHWC") for batch in (seen, copy))
            assert_equal(actual, expected, tolerance=EXACT if home[1] == "cpu" else case.tolerance(dtype))


@every_home
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 64])
def test_ops_of_single_channels_take_any_number_of_them(channels, home):
    for layout in ("NCHW", "NHWC"):
        batch = images(home, "float32", layout, (2, 7, 9, channels))
        source = from_layout(to_numpy(batch), layout).astype(float)
        mean, std = np.linspace(0.1, 0.9, channels), np.linspace(1, 2, channels)
        expected = (source - mean) / std
        actual = cuaug.normalize(batch, mean, std, layout=layout)
        assert_equal(
            from_layout(to_numpy(actual), layout), expected.astype(np.float32), tolerance=CASES[0].tolerance("float32")
        )
        for actual, wanted in (
            (cuaug.invert(batch, layout=layout), 1 - source),
            (cuaug.erase(batch, 1, 2, 3, 4, mean, layout=layout), np.where(hole(source.shape), mean, source)),
        ):
            result = from_layout(to_numpy(actual), layout)
            assert_equal(result, wanted.astype(np.float32), tolerance=CASES[0].tolerance("float32"))


def hole(shape):
    y, x = np.ogrid[: shape[1], : shape[2]]
    return ((y >= 1) & (y < 4) & (x >= 2) & (x < 6))[None, ..., None]


@every_home
def test_videos_keep_one_parameter_a_clip(home):
    clips = noise((2, 4, 7, 9, 3))
    batch, factors = put(clips, home), np.array([0.5, 1.5])
    actual = to_numpy(cuaug.adjust_brightness(batch, factors, layout="NTHWC"))
    for t in range(4):
        frame = put(np.ascontiguousarray(clips[:, t]), home)
        assert_equal(actual[:, t], to_numpy(cuaug.adjust_brightness(frame, factors, layout="NHWC")))


@pytest.mark.parametrize("home", [home for home in HOMES if home != ("jax", "cpu")], ids=home_id)
@every_case
def test_out_is_written_and_returned(case, home):
    batch, parameters = images(home), case.parameters("uint8", BATCH)
    expected = run(case, batch, parameters)
    out = put(np.full(expected.shape, 77), home, case.result("uint8"))
    assert run(case, batch, parameters, out=out) is out
    assert_equal(out, expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.adjust_brightness(x, -1), "brightness_factor must be at least 0"),
        (lambda x: cuaug.adjust_brightness(x, float("nan")), "brightness_factor"),
        (lambda x: cuaug.adjust_brightness(x, [1.0, 2.0]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.adjust_hue(x, 0.6), r"hue_factor must be in -0.5..0.5"),
        (lambda x: cuaug.adjust_saturation(x[..., :2], 1.0), "images must have 1 or 3 channels, got 2"),
        (lambda x: cuaug.normalize(x, 0.5, 0), "std must not be 0"),
        (lambda x: cuaug.normalize(x, [0.5, 0.5], 1), "mean must be a number"),
        (lambda x: cuaug.posterize(x, 17), r"bits must be in 0..16"),
        (lambda x: cuaug.rgb_to_grayscale(x, 2), "num_output_channels must be 1 or 3"),
        (lambda x: cuaug.color_matrix(x, np.eye(2)), r"matrix must have shape \(3, 3\)"),
        (lambda x: cuaug.color_matrix(x[..., :1], np.eye(3)), "images must have 3 channels"),
        (lambda x: cuaug.invert(x, out=np.zeros((3, 17, 11, 3), np.float32)), "out must be"),
    ],
)
def test_bad_input_is_refused_and_named(call, message):
    with pytest.raises(ValueError, match=rf"cuaug\.\w+: .*{message}"):
        call(noise())


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_labels_have_no_colour(dtype):
    with pytest.raises(TypeError, match="images and dtype must be one of"):
        cuaug.invert(noise(dtype=dtype))
    with pytest.raises(TypeError, match="dtype must be a float"):
        cuaug.normalize(noise(), 0, 1, dtype="uint8")


def test_the_mean_of_a_clip_is_one_block_whatever_its_frames():
    clips = np.zeros((2, 5, 7, 9, 3), np.uint8)
    axes = _images.images(clips, "NTHWC").axes
    assert _pass._plan("luma_mean", ("uint8", "uint8"), axes, 0, axes, 0).grid == (2, 1, 1)
    assert cuaug.adjust_contrast(clips[:, :0], 0.5, layout="NTHWC").shape == (2, 0, 7, 9, 3)


@pytest.mark.parametrize("op", ["adjust_brightness", "adjust_contrast", "adjust_hue", "mixup"])
def test_a_torch_parameter_on_the_host_is_checked_like_any_other(op):
    torch = pytest.importorskip("torch")
    for bad in (-1.0, [0.1, -0.6, 0.2]):
        with pytest.raises(ValueError, match=rf"cuaug\.{op}: (\w+_factor|lam) must be"):
            getattr(cuaug, op)(noise(), torch.tensor(bad))


def test_a_parameter_that_requires_grad_is_refused():
    torch = pytest.importorskip("torch")
    batch, factor = torch.zeros(1, 3, 4, 4), torch.tensor(0.5, requires_grad=True)
    for call in (
        lambda: cuaug.adjust_brightness(batch, factor),
        lambda: cuaug.adjust_contrast(batch, 1.0, factor),
        lambda: cuaug.normalize(batch, factor, 1.0),
        lambda: cuaug.color_matrix(batch, torch.eye(3, requires_grad=True)),
        lambda: cuaug.erase(batch, 0, 0, 1, 1, factor),
        lambda: cuaug.mixup(batch, factor),
    ):
        with pytest.raises(TypeError, match="requires grad"):
            call()
        with torch.no_grad():
            call()


@pytest.mark.parametrize("bad", [{}, object(), 10**400, np.array(["a"])], ids=["dict", "object", "huge", "text"])
def test_what_is_no_number_is_named(bad):
    with pytest.raises(TypeError, match=r"cuaug\.adjust_brightness: brightness_factor must hold numbers"):
        cuaug.adjust_brightness(noise(), bad)


def test_neither_none_nor_a_bool_stands_for_a_dtype_or_a_count():
    with pytest.raises(TypeError, match="dtype must be a dtype or its name, got None"):
        cuaug.to_dtype(noise(), None)
    with pytest.raises(TypeError, match="num_output_channels must be an int, got True"):
        cuaug.rgb_to_grayscale(noise(), True)


@every_home
def test_a_nan_pixel_becomes_0_where_an_op_clamps(home):
    batch = put(np.full((1, 5, 9, 3), np.nan, np.float32), home)
    for actual in (cuaug.adjust_brightness(batch, 1.0), cuaug.adjust_contrast(batch, 1.0, 0.5)):
        assert not to_numpy(actual).any()
