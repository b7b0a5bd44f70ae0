"""Grids that Python computes with the kernels' formulas, and layouts. Every pixel is written once."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.replace import replace_everywhere

from cuaug._arrays import images
from cuaug._gpu import cupy_import, devices
from cuaug._passes import blur_tiles, grids
from cuaug._passes.kernel_config import kernel_config
from cuaug._program import names


@pytest.mark.parametrize("width", [1, 3, 4, 7, 224, 256, 518, 640, 1023, 1024, 1028, 4100, 67_107_841, 2**30 - 1])
def test_pointwise_grid_columns_fit_a_block(width):
    """pointwise.cu relies on the bounds of a strip; CUDA limits the axes of a grid. Most threads have pixels."""
    slices = grids.Slices("uint8", channels=3, slice_count=1, height=1, width=width)
    column_strips, row_runs, _ = grids.pointwise(slices, resident_blocks=132 * 4, uneven=False)
    quads = -(-width // 4)  # of four pixels
    quads_per_strip = -(-quads // column_strips)
    assert quads_per_strip <= grids.POINTWISE_THREADS
    assert (column_strips - 1) * quads_per_strip < quads <= column_strips * quads_per_strip
    assert 0 < column_strips < 2**31
    assert 0 < row_runs <= 65_535
    assert quads / (column_strips * quads_per_strip) * (
        grids.POINTWISE_THREADS // quads_per_strip * quads_per_strip
    ) > 0.8 * min(grids.POINTWISE_THREADS, quads)


@pytest.mark.parametrize(("slice_count", "can_halve"), [(1, True), (500, False), (500, True), (3000, True)])
@pytest.mark.parametrize(
    "size", [(224, 224), (129, 65), (127, 64), (250, 33), (520, 95), (1025, 31), (1, 276), (2433, 40)]
)
@pytest.mark.parametrize(
    ("dtype", "channels", "raw_staged"),
    [("uint8", 3, True), ("uint8", 1, True), ("uint8", 3, False), ("float32", 3, True), ("float64", 3, False)],
)
@pytest.mark.parametrize("fills", [True, False])
def test_warp_grid_regions_cover_each_pixel_once(dtype, channels, raw_staged, fills, size, slice_count, can_halve):
    """The arithmetic of `RegionScheduler` in gpu/region_scheduler.cuh covers each pixel once."""
    height, width = size
    slices = grids.Slices(dtype, channels, slice_count, height, width)
    args = slices, grids.Staging(raw_staged, fills), can_halve
    full_rows, full_regions, narrow_rows, narrow_regions, *divisors, whole_regions = grids.warp_regions(*args)
    divide_by_slice, divide_by_row = (lambda n, f=f, s=s: n * f >> s for f, s in (divisors[:2], divisors[2:]))
    block, region_width = np.arange(grids.warp(*args)[0]), grids.divide_output(*args).width

    is_half = block >= whole_regions
    half_index = np.where(is_half, block - whole_regions, 0)
    index, columns = block - (half_index + 1) // 2, width // region_width
    slice_full_regions = columns * full_regions
    if raw_staged:
        slice_ = divide_by_slice(index)
        in_slice = index - slice_ * (slice_full_regions + narrow_regions)
        is_narrow = in_slice >= slice_full_regions
        row = np.where(is_narrow, in_slice - slice_full_regions, divide_by_row(in_slice))
        column = np.where(is_narrow, columns, in_slice - row * columns)
    else:
        is_narrow = index >= slice_full_regions * slice_count
        batch_row = np.where(is_narrow, index - slice_full_regions * slice_count, divide_by_row(index))
        slice_ = divide_by_slice(batch_row)
        row = batch_row - slice_ * full_regions
        column = np.where(is_narrow, columns, index - batch_row * columns)
    max_rows = np.where(is_narrow, narrow_rows, full_rows)
    rows = max_rows >> is_half.astype(int)
    top, left = row * max_rows + (half_index & 1) * rows, column * region_width
    pixels = np.minimum(region_width, width - left) * np.minimum(rows, height - top)

    # A warp makes bands of 4 rows. Raw-staged regions have at most 64 bands, except those of small blocks of several
    # channels; others have at most 32 (`bands` in gpu/warp_config.cuh): the asserts of `max_rows` below check the 32.
    assert ((rows % 4 == 0) & (rows <= 256) & (slice_ < slice_count) & (pixels > 0)).all()
    assert pixels.sum() == slice_count * height * width
    origins = np.stack([slice_, left, top], -1)
    assert len(np.unique(origins, axis=0)) == len(origins)
    tall_rows = 64 if raw_staged and dtype == "uint8" and channels > 1 else 128
    regions = -(-width // region_width) * -(-height // tall_rows) * slice_count
    has_many_regions = regions >= grids._MIN_TALL_REGIONS and dtype != "float64"
    narrow_regions_are_doubled = (
        raw_staged and has_many_regions and can_halve and 0 < width % region_width <= 32 < region_width
    )
    assert (max_rows <= tall_rows * np.where(is_narrow & narrow_regions_are_doubled, 2, 1)).all()
    assert (max_rows[is_narrow] > tall_rows).any() == (narrow_regions_are_doubled and height > tall_rows)
    region_columns = [(full_rows, full_regions)] * (columns > 0) + [(narrow_rows, narrow_regions)] * (
        narrow_regions > 0
    )
    halves_have_rows = [height - (n - 1) * max_rows > max_rows // 2 for max_rows, n in region_columns]
    assert is_half.any() == (can_halve and has_many_regions and all(halves_have_rows))


def test_mean_has_partial_sum_for_each_block():
    """Regions that store a mean are not halved: two halves would write one partial sum."""
    image = images.placeholder((256, 224, 224, 3), "uint8")
    partial_sums = 256 * grids.partial_sum_count(image)
    for epilogue, blocks in (((), partial_sums + grids._MAX_HALVED_REGIONS), (("StoreAndMean",), partial_sums)):
        border, chain = "WindowedBorder<cuaug::Edge>", names.chain(())
        arguments = "uint8", "uint8", "Affine", "Bilinear", border, chain, *epilogue
        assert kernel_config("warp_image", arguments, image.axes, 0, image.axes, 0).grid == (blocks, 1, 1)


@pytest.mark.parametrize("frames", [1, 3, 100])
@pytest.mark.parametrize("size", [(1, 1), (3, 4100), (224, 224), (1100, 3), (5, 300_001), (4000, 6000)])
def test_mean_blocks_of_a_sample(size, frames):
    """Each block has rows to add up, and the pass that reads the mean has few numbers to add up."""
    slices = grids.Slices("uint8", 3, 70_000, *size)
    strips, runs, samples = grids.luma_mean(slices, frames)
    assert strips * runs == grids.mean_block_count(frames, size) <= 128
    assert samples == 65_535
    steps = -(-size[0] * -(-size[1] // 4) // 256)
    assert runs == 1 or (runs <= steps and frames * steps > 16 * strips * (runs - 1))
    assert grids.luma_mean(slices, frames, 1) == (1, 1, 65_535)


@pytest.mark.parametrize(
    ("channels", "radius", "are_packed", "skeleton"),
    [
        (3, 12, False, "gaussian_blur_u8"),
        (1, 12, True, "gaussian_blur_u8"),
        (3, 5, True, "gaussian_blur_u8"),
        (3, 6, True, "gaussian_blur_packed"),
        (4, 4, True, "gaussian_blur_packed"),
        (4, 12, True, "gaussian_blur_packed"),
    ],
)
def test_matrix_skeleton_by_radius_and_layout(channels, radius, are_packed, skeleton):
    assert blur_tiles.matrix_skeleton(channels, radius, are_packed) == skeleton


@pytest.mark.parametrize(
    ("skeleton", "are_packed"),
    [("gaussian_blur_u8", True), ("gaussian_blur_u8", False), ("gaussian_blur_packed", True)],
)
@pytest.mark.parametrize("channels", [1, 3, 4, 9])
@pytest.mark.parametrize("size", [(1, 1), (7, 33), (224, 224), (4000, 6000), (10_000_000, 3)])
@pytest.mark.parametrize("frames", [1, 256, 100_000])
def test_blur_strips_cover_rows(frames, size, channels, skeleton, are_packed):
    """Runs are multiples of eight rows, none is empty, and their grid is within CUDA's limits."""
    slices = grids.Slices("uint8", min(channels, 4), frames, *size)
    across, rows, threads = blur_tiles.blur_strips(skeleton, frames, channels, size, are_packed, 132)
    if skeleton == "gaussian_blur_packed":
        assert (across, threads) == (-(-size[1] // 32), 32 * channels)
    else:
        elements = size[1] * channels if are_packed else size[1]
        assert (across, threads) == (-(-elements // 32) * (1 if are_packed else min(channels, 4)), 32)
    assert rows % 8 == 0 < rows < size[0] + 8
    assert grids.gaussian_blur_u8(slices, across, rows, threads) == (across, -(-size[0] // rows), min(frames, 65_535))


def test_blur_strips_fill_a_gpu():
    """Many images: a block makes all rows of a strip. Few: the largest number of runs of a single wave."""
    assert blur_tiles.blur_strips("gaussian_blur_u8", 256, 3, (224, 224), False, 132) == (21, 224, 32)
    assert blur_tiles.blur_strips("gaussian_blur_packed", 8, 3, (224, 224), True, 132) == (7, 16, 96)
    assert blur_tiles.blur_strips("gaussian_blur_u8", 1, 3, (224, 224), False, 132) == (21, 8, 32)


@pytest.mark.parametrize(
    ("capability", "is_fast"), [((7, 5), False), ((8, 0), True), ((9, 0), True), ((10, 3), False), ((12, 0), True)]
)
def test_fast_integer_mma_by_compute_capability(capability, is_fast, monkeypatch):
    properties = {"major": capability[0], "minor": capability[1]}
    runtime = SimpleNamespace(getDeviceProperties=lambda device: properties)
    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    assert devices.has_fast_integer_mma.__wrapped__(0) == is_fast


@pytest.mark.parametrize("number", [1, 2, 3, 5, 7, 64, 641, 65535, 65536, 1_000_003, 2**30, 2**31 - 1])
def test_fast_divisor_is_exact(number):
    factor, shift = grids.fast_divisor(number)
    assert factor < 2**32
    rng, last = np.random.default_rng(number), 2**31 - 1
    near = [k * number + rest for k in (0, 1, 2, last // number) for rest in (-1, 0, 1)]
    for dividend in {*near, last, *rng.integers(0, last, 2000).tolist()}:
        if 0 <= dividend <= last:
            assert dividend * factor >> shift == dividend // number


@pytest.mark.parametrize(
    ("extents", "strides", "layout"),
    [
        ((1, 1, 1, 3, 64), (3 << 29, 3 << 29, 3 << 29, 1 << 29, 1), "Planar"),
        ((1, 1, 1, 3, 64), (3 << 29, 3 << 29, 3 << 29, -(1 << 29), 1), "Planar"),
        ((1, 1, 3, 1, 1 << 28), (3 << 28, 3 << 28, 1, 3 << 28, 3), "Packed"),
    ],
)
def test_kernel_config_long_rows_are_not_raw_staged(extents, strides, layout):
    """Raw staging counts the bytes of a source box in 32 bits (kernels/gpu/raw_box.cuh)."""
    channels = extents[2]
    small_strides = (64, 1) if layout == "Planar" else (64 * channels, channels)  # of rows and columns
    channel_stride = 192 if layout == "Planar" else 1
    small_extents, n_stride = (1, 1, channels, 3, 64), 192 * channels
    small = images.BatchAxes("NCHW", small_extents, (n_stride, 1, channel_stride, *small_strides), None)
    large = images.BatchAxes("NCHW", extents, strides, None)
    for dtype, is_strided_if_large in (("float32", True), ("uint8", False)):
        arguments = dtype, dtype, "Affine", "Bilinear", "Constant", names.chain(())
        for source, is_strided in ((small, False), (large, is_strided_if_large)):
            config = kernel_config("warp_image", arguments, source, 0, small, 0)
            assert ("Strided" in config.kernel) == is_strided, config.kernel
            assert layout in config.kernel
