"""Grids that Python computes with the kernels' formulas. Guards that every pixel is written once."""

import numpy as np
import pytest

from cuaug._arrays import images
from cuaug._passes import grids, kernel_config


@pytest.mark.parametrize("width", [1, 3, 4, 7, 224, 256, 518, 640, 1023, 1024, 1028, 4100, 67_107_841, 2**30 - 1])
def test_pointwise_grid_columns_fit_a_block(width):
    """pointwise.cu relies on these bounds, and so does the grid."""
    strips, runs, _ = grids.pointwise(grids.Slices("uint8", 3, 1, 1, width), 528, False)
    across = -(-width // 4)
    each = -(-across // strips)
    assert each <= grids.POINTWISE_THREADS
    assert (strips - 1) * each < across <= strips * each
    assert 0 < strips < 2**31
    assert 0 < runs <= 65_535
    assert across / (strips * each) * (grids.POINTWISE_THREADS // each * each) > 0.8 * min(
        grids.POINTWISE_THREADS, across
    )


@pytest.mark.parametrize(("slices", "halves"), [(1, True), (500, False), (500, True), (3000, True)])
@pytest.mark.parametrize(
    "size", [(224, 224), (129, 65), (127, 64), (250, 33), (520, 95), (1025, 31), (1, 276), (2433, 40)]
)
@pytest.mark.parametrize(
    ("dtype", "copied"), [("uint8", True), ("uint8", False), ("float32", True), ("float64", False)]
)
def test_warp_grid_regions_cover_each_pixel_once(dtype, copied, size, slices, halves):
    """The arithmetic of `Regions` in gpu/region_scheduler.cuh covers each pixel once."""
    (height, width), how = size, (grids.Slices(dtype, 3, slices, *size), copied, halves)
    tall, down, narrow_tall, narrow_down, *divisors, unhalved = grids.warp_regions(*how)
    per_slice, by_across = (lambda n, f=f, s=s: n * f >> s for f, s in (divisors[:2], divisors[2:]))
    block, side = np.arange(grids.warp(*how)[0]), grids.divide_output(*how).width

    halved = block >= unhalved
    beyond = np.where(halved, block - unhalved, 0)
    index, across = block - (beyond + 1) // 2, width // side
    before = per_slice(index) if copied else 0
    rest, wide = index - before * (across * down + narrow_down), across * down * (1 if copied else slices)
    narrow = rest >= wide
    line = np.where(narrow, rest - wide, by_across(rest))
    column = np.where(narrow, across, rest - line * across)
    slice_ = before if copied else per_slice(line)
    row = line if copied else line - slice_ * down
    most = np.where(narrow, narrow_tall, tall)
    rows = most >> halved.astype(int)
    top, left = row * most + (beyond & 1) * rows, column * side
    pixels = np.minimum(side, width - left) * np.minimum(rows, height - top)

    # Maps are read at multiples of 4 rows; fixed_point.cuh holds 64 bands, 32 in small blocks.
    assert ((rows % 4 == 0) & (rows <= 256) & (slice_ < slices) & (pixels > 0)).all()
    assert pixels.sum() == slices * height * width
    result = np.stack([slice_, left, top], -1)
    assert len(np.unique(result, axis=0)) == len(result)
    limit = 64 if copied and dtype == "uint8" else 128
    many = -(-width // side) * -(-height // limit) * slices >= grids._MIN_REGIONS and dtype != "float64"
    twice = copied and many and halves and 0 < width % side <= 32 < side
    assert (most <= limit * np.where(narrow & twice, 2, 1)).all()
    assert (most[narrow] > limit).any() == (twice and height > limit)
    stacks = [(tall, down)] * (across > 0) + [(narrow_tall, narrow_down)] * (narrow_down > 0)
    fits = [height - (n - 1) * most > most // 2 for most, n in stacks]
    assert halved.any() == (halves and many and all(fits))


def test_mean_has_partial_sum_for_each_block():
    """Regions that store a mean are not halved: two halves would write one partial sum."""
    image = images.placeholder((256, 224, 224, 3), "uint8")
    parts = 256 * grids.partial_sum_count(image)
    for use, blocks in (((), parts + grids._MAX_HALVED_REGIONS), (("StoreAndMean",), parts)):
        names = "uint8", "uint8", "Affine", "Bilinear", "WindowedBorder<cuaug::Edge>", "cuaug::Chain<>", *use
        assert kernel_config.kernel_config("warp_image", names, image.axes, 0, image.axes, 0).grid == (blocks, 1, 1)
