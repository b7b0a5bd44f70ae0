"""Laws of the colour ops: each test is one sentence about every op, over the table of cases."""

import random

import numpy as np
import pytest
from helpers.arrays import (
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
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from tables import color_reference
from tables.colors import CASES, FIRST
from tables.row import TOLERANCES

import cuaug
from cuaug._arrays.images import describe_images
from cuaug._passes import kernel_config as _plans
from cuaug._program import names as _names

BATCH = (SHAPE[0],)
every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_dtype = pytest.mark.parametrize(("case", "dtype"), [(c, d) for c in CASES for d in c.dtypes], ids=str)


def run(case, batch, parameters, **more):
    return getattr(cuaug, case.op)(batch, **{**case.options, **parameters, **more})


def check(case, home, dtype, lead=BATCH):
    """One call against the oracle over the same values."""
    batch, parameters, layout = images(home, dtype), case.parameters(lead, dtype), default_layout(home)
    source = from_layout(to_numpy(batch), layout).astype(float)
    expected = to_layout(case.expected(source, parameters, dtype, lead), layout)
    device = "cpu" if home[1] == "cpu" else "cuda:0"
    actual = run(case, batch, parameters)
    assert_equal(
        actual, expected, library=home[0], device=device, dtype=case.result(dtype), tolerance=case.tolerance(dtype)
    )


@every_dtype
def test_op_equals_reference(case, dtype):
    check(case, ("torch" if dtype == "bfloat16" else "numpy", "cpu"), dtype)


@pytest.mark.gpu
@every_dtype
def test_op_equals_reference_on_gpu(case, dtype):
    check(case, ("torch", "cuda"), dtype)


@every_home
@every_case
def test_op_keeps_library_and_broadcasts_one_parameter(case, home):
    for dtype in case.some("uint8", "float16", "float32"):
        check(case, home, dtype)
        check(case, home, dtype, lead=())


@every_home
@every_case
def test_op_layouts_agree(case, home):
    for dtype in case.some("uint8", "float32"):
        results = {}
        for layout in ("NCHW", "NHWC"):
            actual = run(case, images(home, dtype, layout), case.parameters(BATCH, dtype), layout=layout)
            results[layout] = from_layout(to_numpy(actual), layout)
        tolerance = EXACT if home[1] == "cpu" else case.tolerance(dtype)
        assert_equal(results["NCHW"], results["NHWC"], tolerance=tolerance)


@every_home
@pytest.mark.parametrize("case", [case for case in CASES if case.identity], ids=str)
def test_op_identity_parameter_is_identity(case, home):
    for dtype in case.some("uint8", "uint16", "float32"):
        batch = images(home, dtype)
        assert_equal(
            run(case, batch, case.identity), batch, tolerance=EXACT if "int" in dtype else case.tolerance(dtype)
        )


@every_home
@every_case
def test_op_batch_equals_samples_and_input_is_unchanged(case, home):
    for dtype in case.some("uint8", "float32"):
        batch, parameters = images(home, dtype), case.parameters(BATCH, dtype)
        before, whole = to_numpy(batch), run(case, batch, parameters)
        for n in range(SHAPE[0]):
            assert_equal(run(case, batch[n], {k: v[n] for k, v in parameters.items()}), whole[n])
        assert_equal(run(case, batch[:0], {k: v[:0] for k, v in parameters.items()}), whole[:0])
        assert_equal(to_numpy(batch), before)


@every_home
@every_case
def test_op_parameters_from_any_library(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
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
@every_case
def test_op_strided_view_equals_copy(case, view, home):
    if view in NEGATIVE and home[0] == "torch":
        pytest.skip("torch has no negative strides")
    if view == "some channels" and case.op not in ("adjust_brightness", "invert", "adjust_gamma"):
        pytest.skip("parameters of three channels")
    for dtype in case.some("uint8", "float32"):
        seen = {**VIEWS, **NEGATIVE}[view](images(home, dtype, "NHWC", (6, 20, 23, 3)))
        copy, parameters = put(to_numpy(seen), home, dtype), case.parameters((seen.shape[0],), dtype)
        actual, expected = (run(case, batch, parameters, layout="NHWC") for batch in (seen, copy))
        assert_equal(actual, expected, tolerance=EXACT if home[1] == "cpu" else case.tolerance(dtype))


@every_home
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 64])
def test_single_channel_ops_take_any_number_of_channels(channels, home):
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
def test_adjust_brightness_video_shares_parameters(home):
    clips = noise((2, 4, 7, 9, 3))
    batch, factors = put(clips, home), np.array([0.5, 1.5])
    actual = to_numpy(cuaug.adjust_brightness(batch, factors, layout="NTHWC"))
    for t in range(4):
        frame = put(np.ascontiguousarray(clips[:, t]), home)
        assert_equal(actual[:, t], to_numpy(cuaug.adjust_brightness(frame, factors, layout="NHWC")))


@pytest.mark.parametrize("home", [home for home in HOMES if home != ("jax", "cpu")], ids=home_id)
@every_case
def test_op_out_is_written_and_returned(case, home):
    batch, parameters = images(home), case.parameters(BATCH)
    expected = run(case, batch, parameters)
    out = put(np.full(expected.shape, 77), home, case.result("uint8"))
    assert run(case, batch, parameters, out=out) is out
    assert_equal(out, expected)


LARGE = (2, 61, 83)  # enough pixels for steps of `equalize`, and for several pieces of a row


def muted(shape, dtype, seed=0):
    """Noise of a part of the range, another one in each sample and channel."""
    rng, top = np.random.default_rng(seed), np.iinfo(dtype).max if "int" in dtype else 1.0
    low, high = np.sort(rng.uniform(0.1, 0.9, (2, shape[0], 1, 1, shape[-1])), 0) * top
    values = np.clip(rng.normal((low + high) / 2, (high - low) / 6, shape), low, high)
    return (np.rint(values) if "int" in dtype else values).astype(dtype)


@every_home
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 9])
def test_autocontrast_equalize_are_per_sample_and_channel(channels, home):
    for op, dtypes in (("autocontrast", ("uint8", "uint16", "float32", "float64")), ("equalize", ("uint8",))):
        case = FIRST[op]
        for dtype in dtypes[: 1 if home[0] == "jax" else 4]:
            source = muted((*LARGE, channels), dtype)
            expected = case.expected(source.astype(float), {}, dtype, ())
            assert op == "autocontrast" or not np.array_equal(expected, source)
            tolerance = EXACT if dtype == "uint8" else TOLERANCES[dtype]
            for layout in ("NCHW", "NHWC"):
                actual = to_numpy(run(case, put(to_layout(source, layout), home), {}, layout=layout))
                assert_equal(from_layout(actual, layout), expected, library="numpy", dtype=dtype, tolerance=tolerance)


@every_home
@pytest.mark.parametrize("width", [1, 2, 3, 5, 255, 256, 257])
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_op_any_width(op, width, home):
    for shape in ((2, 300, width, 3), (2, width, 300, 1)):
        source = muted(shape, "uint8")
        expected = FIRST[op].expected(source.astype(float), {}, "uint8", ())
        actual = run(FIRST[op], put(source, home), {}, layout="NHWC")
        assert_equal(to_numpy(actual), expected, library="numpy", dtype="uint8")


@every_home
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_op_video_statistics(op, home):
    clips = muted((2, 3 * 29, 31, 3), "uint8").reshape(2, 3, 29, 31, 3)
    actual = getattr(cuaug, op)(put(clips, home), layout="NTHWC")
    tall = getattr(cuaug, op)(put(clips.reshape(2, 87, 31, 3), home), layout="NHWC")
    assert_equal(to_numpy(actual), to_numpy(tall).reshape(clips.shape))
    assert not np.array_equal(to_numpy(actual), clips)
    assert getattr(cuaug, op)(put(clips[:, :0], home), layout="NTHWC").shape == (2, 0, 29, 31, 3)


@every_home
@pytest.mark.parametrize("op", ["autocontrast", "equalize"])
def test_op_keeps_constant_channel(op, home):
    flat = np.broadcast_to(np.array([7, 0, 255], np.uint8), (2, 40, 50, 3)).copy()
    assert_equal(to_numpy(getattr(cuaug, op)(put(flat, home), layout="NHWC")), flat)


@every_home
def test_autocontrast_ignores_nan(home):
    image = np.linspace(0.25, 0.75, 5 * 9 * 3, dtype=np.float32).reshape(1, 5, 9, 3)
    expected = (image - image.min((1, 2))) / (image.max((1, 2)) - image.min((1, 2)))
    image[0, 2, 4], expected[0, 2, 4] = np.nan, 0
    image[0, :, :, 1], expected[0, :, :, 1] = np.nan, 0
    actual = cuaug.autocontrast(put(image, home), layout="NHWC")
    assert_equal(to_numpy(actual), expected, tolerance=Tolerance(absolute=1e-6, reason="a division in float32"))


@every_home
def test_lut_table_shapes(home):
    batch, rng = noise((2, 9, 13, 3)), np.random.default_rng(0)
    n, c = np.arange(2)[:, None, None, None], np.arange(3)
    for shape in ((), (3,), (2,), (2, 3), (1,), (1, 3), (2, 1), (1, 1)):
        table = rng.integers(0, 256, (*shape, 256), np.uint8)
        full = table.reshape((*shape, 1, 256) if shape == (2,) else (*(1,) * (2 - len(shape)), *shape, 256))
        expected = np.broadcast_to(full, (2, 3, 256))[n, c, batch]
        for given in (table, table.tolist(), put(table, home)):
            for layout in ("NCHW", "NHWC"):
                actual = cuaug.lut(put(to_layout(batch, layout), home), given, layout=layout)
                assert_equal(from_layout(to_numpy(actual), layout), expected)
    for channels in (1, 4, 7):
        many = noise((2, 9, 13, channels))
        table = rng.integers(0, 256, (2, channels, 256), np.uint8)
        actual = cuaug.lut(put(many, home), put(table, home), layout="NHWC")
        assert_equal(to_numpy(actual), table[n, np.arange(channels), many])


@every_home
def test_lut_table_may_be_strided(home):
    if home[0] == "jax":
        pytest.skip("JAX has no views")
    batch, wide = noise((2, 9, 13, 3)), np.random.default_rng(0).integers(0, 256, (4, 3, 512), np.uint8)
    actual = cuaug.lut(put(batch, home), put(wide, home)[::2, :, ::2], layout="NHWC")
    expected = wide[::2, :, ::2][np.arange(2)[:, None, None, None], np.arange(3), batch]
    assert_equal(to_numpy(actual), expected)


@every_home
def test_gaussian_noise_depends_on_seed_step_id_and_place(home):
    """Whatever the batch, the layout and the dtype; and another seed, step or id, another noise."""
    grey = np.full((4, 11, 13, 6), 0.5, np.float32)

    def noisy(images=grey, layout="NHWC", **more):
        result = cuaug.gaussian_noise(put(to_layout(images, layout), home), layout=layout, **{"seed": 1, **more})
        return from_layout(to_numpy(result), layout)

    whole = noisy()
    expected = np.stack([color_reference.gaussian_noise(g, seed=1, ids=n, max_value=1) for n, g in enumerate(grey)])
    close = Tolerance(absolute=1e-6, reason="float32")
    assert_equal(whole, expected.astype(np.float32), tolerance=close)
    assert_equal(noisy(layout="NCHW"), whole, tolerance=close)
    assert_equal(noisy(grey[:3]), whole[:3])
    assert_equal(noisy(grey[:2], ids=[3, 1]), whole[[3, 1]])
    assert_equal(noisy(grey[:1], ids=2), whole[2:3])
    assert_equal(noisy(grey[..., :4]), whole[..., :4], tolerance=close)
    assert_equal(
        noisy(grey.astype(np.float16)),
        whole,
        tolerance=Tolerance(absolute=1e-3, reason="float16"),
        dtype="float16",
        library="numpy",
    )
    for other in (
        noisy(seed=2),
        noisy(seed=1 + 2**63),
        noisy(step=1),
        noisy(step=2**31),
        noisy(ids=np.arange(4) + 2**40),
    ):
        assert np.abs(np.corrcoef(other.ravel(), whole.ravel())[0, 1]) < 0.05
    by_place = whole.reshape(4, -1)
    assert np.abs(np.corrcoef(by_place) - np.eye(4)).max() < 0.15  # of 858 pairs: four standard deviations


@every_home
def test_gaussian_noise_differs_between_frames(home):
    clips = np.full((2, 3, 20, 21, 5), 0.5, np.float32)
    actual = to_numpy(cuaug.gaussian_noise(put(clips, home), seed=1, layout="NTHWC"))
    by_frame = actual.reshape(6, -1)
    assert np.abs(np.corrcoef(by_frame) - np.eye(6)).max() < 0.09  # of 2100 pairs: four standard deviations
    by_channel = actual.reshape(-1, 5).T
    assert np.abs(np.corrcoef(by_channel) - np.eye(5)).max() < 0.09


@every_home
def test_gaussian_noise_is_normal(home):
    flat = put(np.zeros((2, 400, 500, 3), np.float32), home)
    z = to_numpy(cuaug.gaussian_noise(flat, 0.5, 2.0, False, seed=9, layout="NHWC")).ravel() / 2 - 0.25
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert abs(z.var() - 1) < 4 * np.sqrt(2 / z.size)
    for limit, share in ((1, 0.158655), (2, 0.0227501), (3, 0.0013499)):  # of the upper tail
        for tail in (z > limit, z < -limit):
            assert abs(tail.mean() - share) < 4 * np.sqrt(share / z.size)
    assert 4.5 < np.abs(z).max() < 6.6


def test_gaussian_noise_default_seed_is_python_random():
    batch = noise()
    random.seed(5)
    first, second = cuaug.gaussian_noise(batch), cuaug.gaussian_noise(batch)
    random.seed(5)
    assert_equal(cuaug.gaussian_noise(batch), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("dtype", ["uint16", "float32", "bool"])
def test_lut_rejects_other_dtypes(dtype):
    for call in (cuaug.equalize, lambda x: cuaug.lut(x, np.arange(256))):
        with pytest.raises(TypeError, match=rf"cuaug\.\w+: images must be uint8, got {dtype}"):
            call(noise(dtype=dtype))


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
        (lambda x: cuaug.lut(x, np.arange(257)), r"table must hold whole numbers in 0..255"),
        (lambda x: cuaug.lut(x, np.full(256, 0.5)), r"table must hold whole numbers in 0..255"),
        (lambda x: cuaug.lut(x, np.zeros(255)), r"table must have shape \(256,\), \(3, 256\)"),
        (lambda x: cuaug.lut(x, 0), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((2, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((3, 2, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((1, 3, 3, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((3, 256))), r"pass \(1, 3, 256\) or \(3, 1, 256\)"),
        (lambda x: cuaug.gaussian_noise(x, sigma=-1), "sigma must be at least 0"),
        (lambda x: cuaug.gaussian_noise(x, seed=-1), "seed must be at least 0"),
        (lambda x: cuaug.gaussian_noise(x, seed=2**64), r"seed must be below 2\*\*64"),
        (lambda x: cuaug.gaussian_noise(x, step=2**32), r"step must be below 2\*\*32"),
        (lambda x: cuaug.gaussian_noise(x, ids=[0, 1]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.gaussian_noise(x, ids=[0, 1, -1]), "ids must be in 0"),
        (lambda x: cuaug.equalize(x, out=x), "out must not share memory"),
        (lambda x: cuaug.invert(x, out=np.zeros((3, 17, 11, 3), np.float32)), "out must be"),
    ],
)
def test_op_rejects_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=rf"cuaug\.\w+: .*{message}"):
        call(noise())


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_invert_normalize_reject_label_dtypes(dtype):
    with pytest.raises(TypeError, match="images and dtype must be one of"):
        cuaug.invert(noise(dtype=dtype))
    with pytest.raises(TypeError, match="dtype must be a float"):
        cuaug.normalize(noise(), 0, 1, dtype="uint8")


def test_adjust_contrast_video_mean_is_one_block():
    clips = np.zeros((2, 5, 7, 9, 3), np.uint8)
    axes = describe_images(clips, "NTHWC").axes
    assert _plans.kernel_config("luma_mean", ("uint8", "uint8", _names.chain(())), axes, 0, axes, 0).grid == (2, 1, 1)
    assert cuaug.adjust_contrast(clips[:, :0], 0.5, layout="NTHWC").shape == (2, 0, 7, 9, 3)


@pytest.mark.parametrize("op", ["adjust_brightness", "adjust_contrast", "adjust_hue", "mixup"])
def test_op_checks_torch_host_parameters(op):
    torch = pytest.importorskip("torch")
    for bad in (-1.0, [0.1, -0.6, 0.2]):
        with pytest.raises(ValueError, match=rf"cuaug\.{op}: (\w+_factor|lam) must be"):
            getattr(cuaug, op)(noise(), torch.tensor(bad))


def test_op_rejects_parameters_with_grad():
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
def test_op_names_parameter_that_is_no_number(bad):
    with pytest.raises(TypeError, match=r"cuaug\.adjust_brightness: brightness_factor must hold numbers"):
        cuaug.adjust_brightness(noise(), bad)


def test_op_rejects_none_and_bool_as_dtype_or_count():
    with pytest.raises(TypeError, match="dtype must be a dtype or its name, got None"):
        cuaug.to_dtype(noise(), None)
    with pytest.raises(TypeError, match="num_output_channels must be an int, got True"):
        cuaug.rgb_to_grayscale(noise(), True)


@every_home
def test_op_factor_one_keeps_values_out_of_range(home):
    batch = put(np.full((1, 3, 5, 3), 1.5, np.float32), home)
    for actual in (
        cuaug.adjust_brightness(batch, 1.0),
        cuaug.adjust_contrast(batch, 1.0),
        cuaug.adjust_saturation(batch, 1),
    ):
        np.testing.assert_array_equal(to_numpy(actual), 1.5)


@every_home
def test_adjust_brightness_contrast_nan_becomes_0(home):
    batch = put(np.full((1, 5, 9, 3), np.nan, np.float32), home)
    for actual in (cuaug.adjust_brightness(batch, 1.5), cuaug.adjust_contrast(batch, 0.5, 0.5)):
        assert not to_numpy(actual).any()


WITHIN = sorted({case.op for case in CASES if case.within_unit_range})


@every_home
@pytest.mark.parametrize("op", WITHIN)
def test_op_result_stays_within_unit_range(op, home):
    """Whatever the factor: bytes are then stored as they are (packed_shares)."""
    rng = np.random.default_rng(5)
    shares = rng.uniform(0, 1, (64, 40, 44, 3)).astype(np.float32)
    shares[rng.uniform(size=shares.shape) < 0.3] = 0
    shares[rng.uniform(size=shares.shape) < 0.3] = 1
    batch = put(to_layout(shares, default_layout(home)), home)
    factors = (
        np.concatenate([rng.uniform(0, 3, 60), [0, 1e30, 1e-30, 1]])
        if op != "adjust_hue"
        else rng.uniform(-0.5, 0.5, 64)
    )
    for about in ({"about": 0.3}, {"about": -1.0}, {}) if op == "adjust_contrast" else ({},):
        found = to_numpy(getattr(cuaug, op)(batch, *([] if op == "rgb_to_grayscale" else [factors]), **about))
        assert found.min() >= 0
        assert found.max() <= 1


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
def test_op_gpu_images_of_any_shape(size, layout):
    """Whole, where rows follow one another, and cut out, by ops that look at their place and by ops that do not."""
    import torch

    generator = torch.Generator().manual_seed(size[0] * 5000 + size[1])
    around = size[0] + 3, size[1] + 5
    axes = (3, *around) if layout == "NCHW" else (*around, 3)
    wide = torch.randint(0, 256, (5, *axes), dtype=torch.uint8, generator=generator)
    rows, columns = slice(2, -1), slice(4, -1)
    box = (..., rows, columns) if layout == "NCHW" else (..., rows, columns, slice(None))
    cut = wide[box]
    calls = (
        lambda x, **more: cuaug.adjust_brightness(x, [0.5, 0.8, 1.0, 1.3, 1.9], layout=layout, **more),
        lambda x, **more: cuaug.adjust_contrast(x, 0.7, layout=layout, **more),
        lambda x, **more: cuaug.erase(x, 1, 0, [1, 2, 3, 4, 900], 3, 0.5, layout=layout, **more),
        lambda x, **more: cuaug.gaussian_noise(x, sigma=0.1, seed=3, layout=layout, **more),
    )
    for batch in (cut.contiguous(), cut):
        onto = wide.cuda()
        there = onto[box].contiguous() if batch.is_contiguous() else onto[box]
        for call in calls:
            expected = call(batch).int()
            for out in (torch.full_like(there, 77, memory_format=torch.contiguous_format), torch.full_like(onto, 77)):
                into = out if out.shape == there.shape else out[box]
                off = (call(there, out=into).cpu().int() - expected).abs()
                assert off.max() <= 1
                assert (off == 0).double().mean() > 0.99 or off.numel() < 300
                if out is not into:
                    into.fill_(77)
                    assert (out == 77).all()  # and nothing else was written


@every_home
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_op_unchanged_samples_are_copied(channels, home):
    """By a table of levels, and by sharpening: whole, cut out, with channels inside and outside."""
    rng = np.random.default_rng(channels)
    tables = rng.integers(0, 256, (4, channels, 256)).astype("uint8")
    tables[0] = tables[2] = tables[3] = np.arange(256)
    tables[3, -1] = 255 - np.arange(256)
    for layout in ("NCHW", "NHWC"):
        whole = images(home, "uint8", layout, (4, 13, 40, channels))
        cut = (..., slice(2, -1), slice(3, -2)) if layout == "NCHW" else (..., slice(2, -1), slice(3, -2), slice(None))
        for batch in (whole, whole[cut]):
            levels = from_layout(to_numpy(batch), layout)
            looked_up = np.stack([[t[c][levels[n, ..., c]] for c in range(channels)] for n, t in enumerate(tables)])
            actual = cuaug.lut(batch, put(tables, home), layout=layout)
            assert_equal(from_layout(to_numpy(actual), layout), np.moveaxis(looked_up, 1, -1))
        floats = images(home, "float32", layout, (4, 13, 40, channels))
        if home[0] != "jax":
            floats[0] *= 3  # nothing is clamped where nothing is done
            floats[2, 0, 0] = float("nan")
        factors = [1.0, 2.5, 1.0, 0.0]
        sharp = to_numpy(cuaug.adjust_sharpness(floats, put(np.array(factors, "float32"), home), layout=layout))
        kept = to_numpy(floats)
        assert np.array_equal(sharp[[0, 2]], kept[[0, 2]], equal_nan=True)
        alone = [to_numpy(cuaug.adjust_sharpness(floats[n : n + 1], factors[n], layout=layout)) for n in (1, 3)]
        assert np.array_equal(sharp[[1, 3]], np.concatenate(alone))
