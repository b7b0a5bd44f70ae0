"""Grids that Python computes with the kernels' formulas. Guards that every pixel is written once."""

import numpy as np
import pytest

from cuaug._arrays import images
from cuaug._passes import grids, kernel_config


@pytest.mark.parametrize("width", [1, 3, 4, 7, 224, 256, 518, 640, 1023, 1024, 1028, 4100, 67_107_841, 2**30 - 1])
def test_pointwise_grid_columns_fit_a_block(width):
    """pointwise.cu relies on these bounds, and so does the grid."""
    strips, runs, _ = grids.pointwise(grids.Slices("uint8", 3, 1, 1, width), 528, False)
    words = -(-width // 4)
    words_per_strip = -(-words // strips)
    assert words_per_strip <= grids.POINTWISE_THREADS
    assert (strips - 1) * words_per_strip < words <= strips * words_per_strip
    assert 0 < strips < 2**31
    assert 0 < runs <= 65_535
    assert words / (strips * words_per_strip) * (
        grids.POINTWISE_THREADS // words_per_strip * words_per_strip
    ) > 0.8 * min(grids.POINTWISE_THREADS, words)


@pytest.mark.parametrize(("slices", "halves"), [(1, True), (500, False), (500, True), (3000, True)])
@pytest.mark.parametrize(
    "size", [(224, 224), (129, 65), (127, 64), (250, 33), (520, 95), (1025, 31), (1, 276), (2433, 40)]
)
@pytest.mark.parametrize(
    ("dtype", "raw_staged"), [("uint8", True), ("uint8", False), ("float32", True), ("float64", False)]
)
def test_warp_grid_regions_cover_each_pixel_once(dtype, raw_staged, size, slices, halves):
    """The arithmetic of `Regions` in gpu/region_scheduler.cuh covers each pixel once."""
    (height, width), args = size, (grids.Slices(dtype, 3, slices, *size), raw_staged, halves)
    rows_of_region, region_rows, rows_of_narrow, narrow_region_rows, *divisors, whole_regions = grids.warp_regions(
        *args
    )
    divide_by_slice, divide_by_row = (lambda n, f=f, s=s: n * f >> s for f, s in (divisors[:2], divisors[2:]))
    block, side = np.arange(grids.warp(*args)[0]), grids.divide_output(*args).width

    is_half = block >= whole_regions
    half_index = np.where(is_half, block - whole_regions, 0)
    index, wide_per_row = block - (half_index + 1) // 2, width // side
    before = divide_by_slice(index) if raw_staged else 0
    rest, wide_regions = (
        index - before * (wide_per_row * region_rows + narrow_region_rows),
        wide_per_row * region_rows * (1 if raw_staged else slices),
    )
    is_narrow = rest >= wide_regions
    line = np.where(is_narrow, rest - wide_regions, divide_by_row(rest))
    column = np.where(is_narrow, wide_per_row, rest - line * wide_per_row)
    slice_ = before if raw_staged else divide_by_slice(line)
    row = line if raw_staged else line - slice_ * region_rows
    max_rows = np.where(is_narrow, rows_of_narrow, rows_of_region)
    rows = max_rows >> is_half.astype(int)
    top, left = row * max_rows + (half_index & 1) * rows, column * side
    pixels = np.minimum(side, width - left) * np.minimum(rows, height - top)

    # Maps are read at multiples of 4 rows; fixed_point.cuh holds 64 bands, 32 in small blocks.
    assert ((rows % 4 == 0) & (rows <= 256) & (slice_ < slices) & (pixels > 0)).all()
    assert pixels.sum() == slices * height * width
    origins = np.stack([slice_, left, top], -1)
    assert len(np.unique(origins, axis=0)) == len(origins)
    limit = 64 if raw_staged and dtype == "uint8" else 128
    regions = -(-width // side) * -(-height // limit) * slices
    has_many_regions = regions >= grids._MIN_TALL_REGIONS and dtype != "float64"
    twice = raw_staged and has_many_regions and halves and 0 < width % side <= 32 < side
    assert (max_rows <= limit * np.where(is_narrow & twice, 2, 1)).all()
    assert (max_rows[is_narrow] > limit).any() == (twice and height > limit)
    columns = [(rows_of_region, region_rows)] * (wide_per_row > 0) + [(rows_of_narrow, narrow_region_rows)] * (
        narrow_region_rows > 0
    )
    fits = [height - (n - 1) * max_rows > max_rows // 2 for max_rows, n in columns]
    assert is_half.any() == (halves and has_many_regions and all(fits))


def test_mean_has_partial_sum_for_each_block():
    """Regions that store a mean are not halved: two halves would write one partial sum."""
    image = images.placeholder((256, 224, 224, 3), "uint8")
    partial_sums = 256 * grids.partial_sum_count(image)
    for use, blocks in (((), partial_sums + grids._MAX_HALVED_REGIONS), (("StoreAndMean",), partial_sums)):
        names = "uint8", "uint8", "Affine", "Bilinear", "WindowedBorder<cuaug::Edge>", "cuaug::Chain<>", *use
        assert kernel_config.kernel_config("warp_image", names, image.axes, 0, image.axes, 0).grid == (blocks, 1, 1)
