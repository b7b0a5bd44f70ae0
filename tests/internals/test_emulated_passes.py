"""The GPU's kernels for filters, statistics, colors and JPEG, run on the CPU by helpers/emulator: GPU and CPU agree."""

import numpy as np
import pytest
from helpers.arrays import noise, seeded
from helpers.compare import Tolerance, assert_equal
from helpers.replace import replace_everywhere
from helpers.thinning import thinned
from tables import color_reference, filter_reference
from tables.row import TOLERANCES

import cuaug
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._fusion import draw, execute
from cuaug._fusion.recipe_ops import AUTOCONTRAST, CONTRAST, EQUALIZE
from cuaug._gpu import devices
from cuaug._passes import grids, mix, parameters, statistics
from cuaug._passes.op_chain import NO_OPS, OpChain


@pytest.mark.parametrize(
    ("shape", "layout"),
    [((3, 3, 20, 64), "NCHW"), ((3, 21, 33, 3), "NHWC"), ((2, 64, 64, 3), "NHWC"), ((2, 1, 9, 7), "NCHW")],
    ids=str,
)
def test_mean_luma_of_bytes_equals_sum_of_levels(shape, layout, emulate):
    batch = noise(shape, "uint8")
    images = describe_images(batch, layout)
    emulate("luma_mean")
    blocks = grids.mean_block_count(1, images.size)
    parts = np.full((shape[0], blocks), np.nan)
    statistics.luma_mean(
        images._replace(device=0), (), parameters.SampleParameters(parameters.NULL_ARRAY, ()), parts.ctypes.data, blocks
    )
    channels = batch.astype(float).mean((2, 3) if layout == "NCHW" else (1, 2))
    expected = channels @ (0.2989, 0.587, 0.114) if channels.shape[1] == 3 else channels[:, 0]
    np.testing.assert_allclose(parts.sum(1), expected, rtol=1e-12)


STATISTICS_CASES = [
    ((2, 3, 20, 64), "NCHW"),
    ((2, 64, 64, 3), "NHWC"),  # several groups for each thread
    ((2, 21, 33, 3), "NHWC"),  # rows are not aligned
    ((1, 5, 9, 7), "NCHW"),  # more channels than a thread visits together
]
every_statistics_case = pytest.mark.parametrize(
    ("shape", "layout"), thinned(STATISTICS_CASES, lambda shape, layout: shape[0] == 2), ids=str
)


@pytest.mark.parametrize(
    ("shape", "layout", "dtype"),
    thinned(
        [
            (*case, dtype)
            for case, dtype in zip(STATISTICS_CASES, ("uint8", "uint8", "float16", "float64"), strict=True)
        ],
        lambda shape, layout, dtype: dtype == "uint8",
    ),
    ids=str,
)
def test_channel_min_max_kernel_equals_extremes(shape, layout, dtype, emulate):
    batch = noise(shape, dtype)
    emulate("channel_min_max")
    values = statistics.channel_min_max(describe_images(batch, layout)).table.owner
    axes = (2, 3) if layout == "NCHW" else (1, 2)
    expected = np.stack([batch.min(axes), batch.max(axes)], 1)
    np.testing.assert_array_equal(np.reshape(values, expected.shape), expected)


@pytest.mark.parametrize("kind", [EQUALIZE, AUTOCONTRAST, CONTRAST])
@every_statistics_case
def test_histogram_lut_kernel_equals_cpu_loops(shape, layout, kind, emulate):
    images = describe_images(noise(shape, "uint8"), layout)
    kinds = parameters.SampleParameters(parameters.NULL_ARRAY, (kind, 1.7))
    expected = np.array(statistics.histogram_lut(images, kinds).owner)
    emulate("histogram_lut")
    np.testing.assert_array_equal(statistics.histogram_lut(images, kinds).owner, expected)


@every_statistics_case
def test_lut_kernel_equals_indexing(shape, layout, emulate):
    batch = noise(shape, "uint8")
    channel_axis = 1 if layout == "NCHW" else 3
    samples, channels = shape[0], shape[channel_axis]
    table = noise((samples, channels, 256), "uint8", seed=1)
    emulate("lut")
    actual = cuaug.lut(batch, table, layout=layout, out=np.full_like(batch, 99))
    index = (
        np.arange(samples).reshape(-1, 1, 1, 1),
        np.moveaxis(np.arange(channels).reshape(1, 1, 1, -1), 3, channel_axis),
    )
    np.testing.assert_array_equal(actual, table[(*index, batch)])


@pytest.mark.parametrize("dtype", thinned([("float32",), ("float16",)], lambda dtype: dtype == "float32"))
@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((2, 33, 44, 3), "NHWC"),  # some warps store only a part of their last groups
        ((2, 21, 33, 3), "NHWC"),  # rows are not aligned
        ((2, 3, 20, 64), "NCHW"),
    ],
    ids=str,
)
def test_normalize_kernel_equals_cpu_loops(shape, layout, dtype, emulate):
    batch = noise(shape, "uint8")
    expected = cuaug.normalize(batch, [0.4, 0.5, 0.6], 0.25, dtype=dtype, layout=layout)
    emulate("pointwise")
    out = np.full_like(expected, 99)
    actual = cuaug.normalize(batch, [0.4, 0.5, 0.6], 0.25, dtype=dtype, layout=layout, out=out)
    tolerance = Tolerance(absolute=1e-6, relative=2**-10 if dtype == "float16" else 1e-6, reason="a product is fused")
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=tolerance)


@pytest.mark.parametrize("dtype", thinned([("uint8",), ("float32",), ("float64",)], lambda dtype: dtype == "float32"))
def test_adjust_hue_kernel_equals_reference(dtype, emulate):
    """CPU loops have another formula. Of few levels most pixels have equal channels, or are gray."""
    levels = noise((4, 24, 32, 3), "uint8") // 64 * 85
    levels[2:] = noise((2, 24, 32, 3), "uint8", seed=1)
    max_value = 255 if dtype == "uint8" else 1
    batch, factors = (levels / (255 / max_value)).astype(dtype), (-0.37, 0.0, 0.23, 0.5)
    emulate("pointwise")
    actual = cuaug.adjust_hue(batch, factors, layout="NHWC", out=np.full_like(batch, 99))
    pairs = zip(batch.astype(float), factors, strict=True)
    expected = np.stack([color_reference.adjust_hue(image, f, max_value=max_value) for image, f in pairs])
    expected = (expected.round() if dtype == "uint8" else expected).astype(dtype)
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=TOLERANCES[dtype])
    gray = np.ptp(batch, -1) == 0
    np.testing.assert_array_equal(actual[gray], batch[gray])


@pytest.mark.parametrize("box", [None, (3, 5, 9, 11)], ids=["mixup", "cutmix"])
@every_statistics_case
def test_mix_kernel_equals_cpu_loops(shape, layout, box, emulate):
    batch = noise(shape, "uint8")

    def mixed(out):
        if box:
            return cuaug.cutmix(batch, *box, layout=layout, out=out)
        return cuaug.mixup(batch, 0.3, layout=layout, out=out)

    expected = mixed(None)
    emulate("mix")
    tolerance = Tolerance(absolute=1, exact=0.99, reason="a fused product is not rounded: near halves")
    assert_equal(mixed(np.full_like(batch, 99)), expected, library="numpy", dtype="uint8", tolerance=tolerance)


@pytest.mark.parametrize("factor", [1.7, 1.0])
@every_statistics_case
def test_adjust_sharpness_kernel_equals_cpu_loops(shape, layout, factor, emulate):
    batch = noise(shape, "uint8")
    expected = cuaug.adjust_sharpness(batch, factor, layout=layout)
    emulate("adjust_sharpness")
    actual = cuaug.adjust_sharpness(batch, factor, layout=layout, out=np.full_like(batch, 99))
    tolerance = Tolerance(absolute=1, exact=0.99, reason="a fused product is not rounded: near halves")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("width", [6, 12])
def test_augmix_blend_kernel_equals_weighted_sum(width, dtype, emulate, monkeypatch):
    """Rows of 6 packed pixels are aligned for vectors of the result's float64, and not for those of the branches."""
    arrays = np.stack([noise((2, 8, width, 3), "uint8", seed=seed) for seed in range(3)])
    images, *branches = (describe_images(array, "NHWC")._replace(device=0) for array in arrays)
    weights = np.array([[0.5, 0.125, 0.375], [0.125, 0.65625, 0.21875]])  # exact in float32
    remainder_fractions = np.array([[0.5, 0.25], [0.125, 0.75]])
    fractions = parameters.StridedArray(remainder_fractions.ctypes.data, 2, 0, 1, 1, remainder_fractions)
    expected = np.einsum("bn...,nb->n...", arrays.astype(float), weights).round()
    emulate("blend")
    replace_everywhere(monkeypatch, devices, "multiprocessor_count", lambda device: 1)
    if dtype == "float64":
        ops, expected = OpChain(("Rescale",), parameters.NULL_ARRAY), expected / 255
    else:
        ops, expected = NO_OPS, expected.astype(np.uint8)
    actual = mix.blend(images, branches, fractions, ops, dtype)
    tolerance = Tolerance(absolute=1e-6, reason="floats are divided by 255 in float32")
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=tolerance)


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((2, 57, 144, 3), "NHWC"),  # rows are moved as vectors, and tiles end within a block
        ((2, 3, 121, 60), "NCHW"),
        ((2, 4, 3, 3), "NHWC"),  # chroma is not interpolated
    ],
    ids=str,
)
def test_jpeg_kernel_equals_libjpeg_turbo(shape, layout, emulate):
    rng = seeded("jpeg", shape)
    axes, qualities = (0, 1, 2, 3) if layout == "NHWC" else (0, 2, 3, 1), rng.integers([1, 90], 101)
    batch = rng.integers(0, 256, shape, np.uint8)
    batch[0] >>= 3  # small differences, of which a low quality leaves no coefficients
    expected = [filter_reference.jpeg(i, q) for i, q in zip(batch.transpose(axes), qualities, strict=True)]
    emulate("jpeg")
    actual = cuaug.jpeg(batch, qualities, layout=layout, out=np.full_like(batch, 99))
    assert_equal(np.ascontiguousarray(actual.transpose(axes)), np.stack(expected).astype(np.uint8))


@pytest.mark.parametrize(
    ("shape", "layout"),
    thinned(
        [((24, 70, 68, 3), "NHWC"), ((24, 3, 70, 68), "NCHW"), ((24, 33, 45, 3), "NHWC")],
        lambda shape, layout: shape == (24, 70, 68, 3),
    ),
)
def test_trivial_augment_kernel_copies_samples_that_stay_in_place(shape, layout, emulate, monkeypatch):
    aug = T.Compose([T.TrivialAugmentWide(interpolation="bilinear")], seed=1)
    images = noise(shape, "uint8")
    batch = describe_images(images, layout)
    plan = aug._fused.plans.plan(batch)
    table = draw.draw_table(plan, batch, draw.describe_draws(batch, None, aug.seed, 0, draw.ReplayCounters()))
    expected = execute.apply(plan, batch, table)

    emulate()
    lut_on_cpu = statistics.histogram_lut
    replace_everywhere(
        monkeypatch, statistics, "histogram_lut", lambda images, kinds: lut_on_cpu(images._replace(device=-1), kinds)
    )
    actual = execute.apply(plan, batch._replace(device=0), table)  # as on a GPU, colours are part of the warp

    tolerance = Tolerance(absolute=1, exact=0.99, reason="sampling may miss 0.5 % of the exact values by a level")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)
    first = plan.passes[0].matrix[0].index
    stays = (table.owner[:, first : first + 6] == [1, 0, 0, 0, 1, 0]).all(1)
    assert 0 < stays.sum() < len(images)
    tolerance = Tolerance(absolute=1, exact=0.9999, reason="ops may round a value next to a half to either level")
    assert_equal(actual[stays], expected[stays], library="numpy", dtype="uint8", tolerance=tolerance)
