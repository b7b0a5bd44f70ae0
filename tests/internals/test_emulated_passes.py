"""The GPU's blur, JPEG and a policy's pass, run on the CPU by helpers/emulator: GPU and CPU agree, without a GPU."""

import numpy as np
import pytest
from helpers import emulator as emulated
from helpers.arrays import noise, seeded
from helpers.compare import Tolerance, assert_equal
from helpers.replace import replace_everywhere
from helpers.thinning import thinned
from tables import filter_reference

import cuaug
from cuaug import transforms as T
from cuaug._arrays.images import allocate_output, describe_images
from cuaug._fusion import draw, execute
from cuaug._fusion.recipe_ops import AUTOCONTRAST, CONTRAST, EQUALIZE
from cuaug._gpu import devices
from cuaug._passes import filters, grids, parameters, statistics
from cuaug._passes.geometry import matrix_geometry, whole_pixel_shift
from cuaug._passes.place_images import place_batch
from cuaug._program import sources
from cuaug.transforms import placement

BLUR_CASES = [  # the last tiles in each direction are partial
    ((2, 56, 128, 3), "NHWC", (23, 23)),
    ((1, 3, 40, 240), "NCHW", (23, 5)),
    ((1, 45, 68, 4), "NHWC", (5, 23)),
    ((1, 9, 12, 3), "NHWC", (23, 23)),  # reflected more than once
    ((2, 20, 37, 3), "NHWC", (7, 7)),  # rows begin at odd addresses
    ((1, 40, 132, 3), "NHWC", (63, 63)),
]


@pytest.mark.parametrize(
    ("shape", "layout", "kernel_size"),
    thinned(BLUR_CASES, lambda shape, layout, kernel_size: kernel_size[0] != kernel_size[1] or shape[1] == 9),
    ids=str,
)
def test_gaussian_blur_kernel_equals_cpu_loops(shape, layout, kernel_size, emulate):
    batch, sigma = noise(shape, "uint8"), seeded("sigma", shape).uniform(0.1, 3.0, (shape[0], 2))
    expected = cuaug.gaussian_blur(batch, kernel_size, sigma, layout=layout)
    emulate("gaussian_blur")
    actual = cuaug.gaussian_blur(batch, kernel_size, sigma, layout=layout, out=np.full_like(batch, 99))
    tolerance = Tolerance(absolute=1, exact=0.99, reason="both are within 0.006 of a level before they are rounded")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


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
    ("shape", "layout"), thinned(STATISTICS_CASES, lambda shape, layout: len(shape) == 4 and shape[0] == 2), ids=str
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
        ((2, 33, 44, 3), "NHWC"),  # of the last groups, some warps store a part
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


MATRIX_BLUR_CASES = [
    ((2, 56, 128, 3), "NHWC", (23, 23), "uint8"),
    ((2, 3, 30, 100), "NCHW", (25, 5), "uint8"),  # the last strip is partial, and the last word
    ((1, 45, 68, 4), "NHWC", (5, 25), "float16"),
    ((1, 12, 13, 3), "NHWC", (23, 23), "uint8"),  # all pixels but those of one edge are reflected
    ((2, 20, 37, 3), "NHWC", (7, 7), "float16"),  # rows begin at odd addresses
    ((1, 5, 33, 40), "NCHW", (1, 9), "uint8"),  # more channels than a slice has
    ((1, 40, 132, 2), "NHWC", (23, 1), "float32"),
]


@pytest.mark.parametrize(
    ("shape", "layout", "kernel_size", "dtype"),
    thinned(MATRIX_BLUR_CASES, lambda shape, layout, kernel_size, dtype: dtype == "uint8" and shape[0] == 2),
    ids=str,
)
def test_gaussian_blur_by_matrix_products_equals_cpu_loops(shape, layout, kernel_size, dtype, emulate, monkeypatch):
    batch, sigma = noise(shape, "uint8"), seeded("sigma", shape).uniform(0.5, 5.0, (shape[0], 2))
    sigma[:-1] = 0.05  # changes nothing: the first of two images is copied
    images = describe_images(batch, layout)
    sigmas = parameters.xy_pairs("sigma", sigma, images)
    expected = filters.gaussian_blur(images, kernel_size, sigmas, None, dtype)
    emulate("gaussian_blur_u8")
    replace_everywhere(monkeypatch, devices, "has_fast_integer_mma", lambda device: True)
    replace_everywhere(monkeypatch, devices, "multiprocessor_count", lambda device: 1)
    actual = filters.gaussian_blur(images._replace(device=0), kernel_size, sigmas, None, dtype)
    tolerance = Tolerance(absolute=1, exact=0.99, reason="both are within 0.006 of a level before they are rounded")
    if dtype != "uint8":
        tolerance = Tolerance(absolute=5e-5, relative=2**-10, reason="integer weights carry 1e-5; float16: a neighbour")
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


SIZES = [(33, 41), (61, 31), (9, 101), (90, 60)]
NEW_SIZES = {"reduced": [(20, 70), (70, 20), (5, 9), (1, 2)], "enlarged": [(33, 43), (120, 70), (31, 133), (91, 150)]}


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("new_sizes", NEW_SIZES.values(), ids=NEW_SIZES)
@pytest.mark.parametrize(
    ("layout", "channels"),
    thinned([("CHW", 3), ("HWC", 3), ("CHW", 5), ("HWC", 5)], lambda layout, channels: channels == 3),
)
def test_size_transforms_resize_images_of_several_sizes_in_one_launch(
    layout, channels, new_sizes, antialias, emulate, monkeypatch
):
    """Each result is a part of its own of the array that the launch writes."""
    shapes = [(channels, *size) if layout == "CHW" else (*size, channels) for size in SIZES]
    arrays = [noise(shape, seed=i) for i, shape in enumerate(shapes)]
    images = [describe_images(array, layout) for array in arrays]
    placed = placement.Placement(np.array([(0, 0, *size) for size in SIZES]), np.array(new_sizes))
    sampling = placement.Sampling("bilinear", antialias)
    expected = placement.placed_arrays(arrays, images, placed, sampling)
    launches = emulate("resample")
    monkeypatch.setattr(placement, "_groups", lambda positions, _: [positions] if positions else [])
    tolerance = Tolerance(absolute=1, exact=0.97, reason="sums of float32 in another order, rounded once")
    for actual, image in zip(placement.placed_arrays(arrays, images, placed, sampling), expected, strict=True):
        assert_equal(actual, image, library="numpy", dtype="uint8", tolerance=tolerance)
    assert len(launches) == 1


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("dtype", thinned([("uint8",), ("int16",), ("float32",)], lambda dtype: dtype == "uint8"))
@pytest.mark.parametrize(("shape", "layout"), [((8, 40, 50, 3), "NHWC"), ((8, 2, 40, 50), "NCHW")])
def test_resized_crop_kernel_equals_cpu_loops(shape, layout, dtype, antialias, emulate):
    """Enlarged, reduced and mixed boxes: within the image, at its sides, beyond them, and of less than a pixel."""
    boxes = [
        (0, 0, 40, 50), (31.5, 0, 8.5, 50), (3, 41.25, 30, 8.75), (12, 7, 70, 80), (39.5, 0, 0.5, 9), (-3, 2, 20, 60),
        (0.25, 0.5, 1.5, 45), (20, 30, 20, 20),
    ]  # fmt: skip
    batch = noise(shape, dtype)
    expected = cuaug.resized_crop(batch, *np.array(boxes).T, (41, 67), antialias=antialias, layout=layout)
    emulate("resample")
    out = np.full_like(expected, 99)
    actual = cuaug.resized_crop(batch, *np.array(boxes).T, (41, 67), antialias=antialias, layout=layout, out=out)
    limits = {"absolute": 1e-5} if dtype == "float32" else {"absolute": 1, "exact": 0.98}
    tolerance = Tolerance(**limits, reason="sums of float32 in another order, rounded once")
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=tolerance)


class EmulatedLaunches:
    """The executor of images whose passes launch a GPU's kernels."""

    count = 0

    def launch(self, kernel, record, grid, threads, *_):
        fault = emulated.kernel(kernel, sources.kernel_source(kernel)[0])(record, grid, threads)
        assert not fault, fault
        self.count += 1


@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 3), ("uint8", 1), ("int16", 2), ("float32", 4), ("bool", 5)])
def test_size_transforms_pad_images_of_several_sizes_in_one_launch(dtype, channels, layout, monkeypatch):
    """Rows and results begin at any byte; boxes lie around the image, reach beyond some of its sides, or miss it."""
    rng = seeded("pad", dtype, channels, layout)
    arrays, boxes = [], []
    for i in range(12):
        size = rng.integers(1, 40, 2)
        height, width = size + 3
        base = noise((channels, height, width) if layout == "CHW" else (height, width, channels), "uint8", seed=i)
        array = base % 2 == 1 if dtype == "bool" else base.astype(dtype)
        arrays.append(array[:, 1:-2, 3:] if layout == "CHW" else array[1:-2, 3:])
        top_left = rng.integers(-50, 50, 2) if i else -rng.integers(1, 9, 2)
        boxes.append([*top_left, *(rng.integers(1, 90, 2) if i else size + 20)])
    fill = 1 if dtype == "bool" else rng.integers(0, 200, channels) if channels <= 4 else 3
    images = [describe_images(array, layout) for array in arrays]
    placed = placement.Placement(np.array(boxes), np.array(boxes)[:, 2:])
    expected = placement.placed_arrays(arrays, images, placed, placement.Sampling(fill=fill))
    launches = EmulatedLaunches()
    monkeypatch.setattr(placement, "_groups", lambda positions, _: [positions] if positions else [])
    images = [image._replace(executor=launches) for image in images]
    actual = placement.placed_arrays(arrays, images, placed, placement.Sampling(fill=fill))
    for array, expected_array in zip(actual, expected, strict=True):
        assert_equal(array, expected_array, library="numpy", dtype=dtype)
    assert launches.count == 1


@pytest.mark.parametrize(
    ("shape", "layout"), [((3, 3, 37, 45), "NCHW"), ((3, 37, 45, 3), "NHWC"), ((2, 4, 5, 21, 30), "NTCHW")]
)
@pytest.mark.parametrize("box", [(5, 7, 20, 30), (-3, -9, 60, 70), (-30, 20, 40, 50), (90, 0, 9, 9)], ids=str)
def test_place_batch_kernel_equals_crop_on_cpu(shape, layout, box):
    """Images are a part of larger ones; the last box lies outside."""
    full = noise(tuple(extent + 4 for extent in shape), "int16")
    parts = {"N": slice(1, -3), "T": slice(3, -1), "H": slice(2, -2), "W": slice(1, -3)}
    batch = full[tuple(parts.get(axis, slice(shape[layout.index("C")])) for axis in layout)]
    if layout == "NHWC":
        batch = np.ascontiguousarray(batch)[:, 1:, 2:]
    expected = cuaug.crop(batch, *box, fill=7.0, layout=layout)
    images, launches = describe_images(batch, layout), EmulatedLaunches()
    fill = parameters.fill(7.0, images)
    result = allocate_output(images, box[2:], "int16", np.full_like(expected, -1))
    assert place_batch(images._replace(executor=launches), box[:2], fill, result)
    assert_equal(result.array, expected, library="numpy", dtype="int16")
    assert launches.count == 1


def test_place_batch_leaves_other_layouts_to_the_warp():
    images = describe_images(noise((2, 8, 16, 3), "uint8")[:, :, ::2], "NHWC")
    result = allocate_output(images, (4, 4), "uint8")
    before = result.array.copy()
    fill = parameters.fill(0, images)
    assert not place_batch(images._replace(executor=EmulatedLaunches()), (0, 0), fill, result)
    planar = describe_images(noise((2, 3, 8, 8), "uint8"), "NCHW")
    strided = allocate_output(planar, (4, 4), "uint8", np.zeros((2, 3, 4, 9), np.uint8)[..., ::2][..., :4])
    assert not place_batch(planar._replace(executor=EmulatedLaunches()), (0, 0), fill, strided)
    assert np.array_equal(result.array, before)
    assert not strided.array.any()


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ((1.0, 0.0, 3.0, 0.0, 1.0, -2.0), (-2, 3)),
        ((1.0, 0.0, 0.5, 0.0, 1.0, 0.0), None),
        ((-1.0, 0.0, 3.0, 0.0, 1.0, 0.0), None),
        ((1.0, 0.0, 1e20, 0.0, 1.0, 0.0), None),  # no integer of 64 bits: the warp gives the fill
        ((1.0, 0.0, 0.0, 0.0, 1.0, float("inf")), None),
    ],
)
def test_whole_pixel_shift_is_that_of_the_matrix(matrix, expected):
    parameter = parameters.SampleParameters(parameters.NULL_ARRAY, matrix)
    assert whole_pixel_shift(matrix_geometry(parameter, True, "center")) == expected
    inverse = None if expected is None else (-expected[0], -expected[1])
    assert whole_pixel_shift(matrix_geometry(parameter, False, "center")) == inverse
