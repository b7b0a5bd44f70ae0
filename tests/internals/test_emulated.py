"""The GPU's warp kernel, run on the CPU by helpers/emulator: GPU and CPU agree."""

import ctypes
import itertools
import mmap

import numpy as np
import pytest
from helpers.arrays import default_layout, images, to_layout
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.replace import replace_everywhere
from helpers.thinning import thinned

import cuaug
from cuaug._arrays.images import describe_images
from cuaug._passes import grids, kernel_config
from cuaug._passes import run as run_module
from cuaug._passes import warp as warp_module
from cuaug._passes.geometry import map_geometry
from cuaug._passes.parameters import StridedArray

NUMPY, TORCH = ("numpy", "cpu"), ("torch", "cpu")
SHAPE = (2, 70, 80, 3)  # larger than an output region, and no multiple of one
MATRIX = np.array([[0.9, -0.3, 4.0], [0.3, 0.9, -2.0]])
TOLERANCES = {
    "uint8": Tolerance(absolute=1, exact=0.99, reason="each may miss 0.5 % of the exact values by a level"),
    "float16": Tolerance(absolute=2e-5, relative=2**-10, reason="2e-5, and the storage may round to either neighbour"),
    "bfloat16": Tolerance(absolute=2e-5, relative=2**-7, reason="2e-5, and the storage may round to either neighbour"),
    "float32": Tolerance(absolute=2e-5, reason="float32 coordinates and weights, compiled in two ways"),
    "float64": Tolerance(absolute=1e-9, reason="float64 coordinates and weights, compiled in two ways"),
}
both_layouts = pytest.mark.parametrize("layout", ["NCHW", "NHWC"])


def affine(batch, layout, **options):
    return cuaug.warp_affine(batch, MATRIX, layout=layout, **options)


def homography(batch, layout):
    return cuaug.warp_perspective(batch, np.vstack([MATRIX, [1e-3, -5e-4, 1]]), layout=layout)


def remap(batch, layout, map_dtype="float32", **options):
    """Maps that are partly outside; four entries are not finite or huge."""
    y, x = np.mgrid[:42, :52].astype(map_dtype)
    x, y = 1.7 * x + 3 * np.sin(y) - 4, 2 * y - 2.5
    x[5, 5:9] = np.nan, np.inf, -1e20, 3e9
    return cuaug.remap(batch, at_end_of_memory(x), at_end_of_memory(y), layout=layout, **options)


FAR = 2.0**30  # source coordinates from here on are outside of every border


def far_affine(batch, layout, **options):
    """Rows whose source coordinates cross FAR: in large steps, backwards, and in steps of one pixel."""
    rows = ((2.0**25, 0.9 * FAR), (-(2.0**25), -0.9 * FAR), (1.0, FAR - 40.25))
    return np.stack(
        [
            cuaug.warp_affine(batch, [[step, 0, first], [0, 1, 0]], layout=layout, inverse=True, fill=0.625, **options)
            for step, first in rows
        ]
    )


def far_remap(batch, layout, border):
    """Displacements; a third of them lead to source columns at FAR or beyond."""
    x = np.broadcast_to((FAR - 40) * np.where(np.arange(80) % 3, 1, -1), (70, 80))
    return cuaug.remap(batch, x, np.zeros((70, 80)), layout=layout, relative=True, border=border, fill=0.625)


def at_end_of_memory(values):
    """A copy at the end of mapped memory: a read beyond it crashes."""
    page = mmap.PAGESIZE
    size = -(-values.nbytes // page) * page
    memory = np.frombuffer(mmap.mmap(-1, size + page), np.uint8)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(memory.ctypes.data + size), page, 0) == 0
    out = memory[size - values.nbytes : size].view(values.dtype).reshape(values.shape)
    out[...] = values
    return out


def displace(batch, layout, border="constant"):
    """Strided maps per sample, handed to the pass directly, because public functions copy strided host arrays."""
    maps = np.float32(np.random.default_rng(1).normal(0, 4, (2, 2, 66, 138)))[..., ::2, ::2]
    x, y = (StridedArray(values.ctypes.data, *(step // 4 for step in values.strides), 0, values) for values in maps)
    image = describe_images(batch, layout)
    geometry = map_geometry(image, x, y, (33, 69), (1.0, 1.0), True)
    return warp_module.warp(image, geometry, (33, 69), "bilinear", border, 0, None, None)


def remap_flipped(batch, layout):
    return remap(batch[..., ::-1, :] if layout == "NCHW" else batch[:, ::-1], layout)


def is_quick(warp, options, dtype, layout):
    """One row of each geometry, and the affine one for elements of one and two bytes and for far coordinates."""
    return (
        (not options and dtype == "uint8")
        or (warp is affine and not options and dtype == "float16" and layout == "NCHW")
        or (warp is far_affine and dtype == "uint8" and layout == "NCHW")
    )


AGAINST_LOOPS = [
    (*row, layout)
    for layout in ("NCHW", "NHWC")
    for row in [
        *((affine, {}, dtype) for dtype in TOLERANCES),
        *((affine, {"border": "edge"}, dtype) for dtype in ("uint8", "float16")),
        (affine, {"interpolation": "bicubic"}, "float32"),
        (homography, {}, "uint8"),
        *((remap, {}, dtype) for dtype in TOLERANCES),
        (remap, {"map_dtype": "float64"}, "uint8"),
        (remap_flipped, {}, "uint8"),
        (remap, {"border": "reflect"}, "uint8"),
        (remap, {"interpolation": "nearest"}, "float32"),
        (far_affine, {"border": "reflect"}, "uint8"),
        (far_affine, {"border": "reflect", "interpolation": "nearest"}, "float32"),
        (far_affine, {"border": "edge", "interpolation": "bicubic"}, "float32"),
        (far_remap, {"border": "reflect"}, "float64"),  # float32 has no numbers between FAR - 64 and FAR
        (displace, {}, "uint8"),
        (displace, {"border": "edge"}, "float16"),
    ]
]


@pytest.mark.parametrize(("warp", "options", "dtype", "layout"), thinned(AGAINST_LOOPS, is_quick))
def test_warp_kernel_equals_cpu_loops(warp, options, dtype, layout, emulate):
    batch = images(TORCH if dtype == "bfloat16" else NUMPY, dtype, layout, SHAPE)
    expected = warp(batch, layout, **options)
    emulate()
    assert_equal(warp(batch, layout, **options), expected, tolerance=TOLERANCES[dtype])


SMALL = np.zeros((1, 5, 7, 3), np.uint8)
MAX_ROW_STRIDE = ((1 << 31) - 1 - 7 * 3) // 5  # with which the 5 rows of 7 * 3 bytes lie within 2 GiB


@pytest.mark.parametrize(
    ("batch", "map_dtype", "geometry"),
    [
        (SMALL, "float32", "CoordinateMap"),
        (SMALL, "float64", "CoordinateMap64"),
        (SMALL[:, ::-1], "float32", "CoordinateMap64"),
        (SMALL[:, :, ::-1], "float32", "CoordinateMap64"),
        (np.lib.stride_tricks.as_strided(SMALL, strides=(0, MAX_ROW_STRIDE, 3, 1)), "float32", "CoordinateMap"),
        (np.lib.stride_tricks.as_strided(SMALL, strides=(0, MAX_ROW_STRIDE + 1, 3, 1)), "float32", "CoordinateMap64"),
    ],
)
def test_remap_chooses_geometry_by_dtype_and_strides(batch, map_dtype, geometry, monkeypatch):
    geometries = []
    replace_everywhere(monkeypatch, warp_module, "warp", lambda image, geometry, *_: geometries.append(geometry.name))
    cuaug.remap(batch, *np.zeros((2, 5, 7), map_dtype), layout="NHWC")
    assert geometries == [geometry]


@pytest.mark.parametrize(
    ("dtype", "channels", "width"),
    thinned(
        [(*kind, width) for kind in (("uint8", 3), ("uint8", 4), ("float16", 3)) for width in (75, 76, 80)],
        lambda dtype, channels, width: dtype == "uint8" and channels == 3,
    ),
)
def test_warp_kernel_layouts_strides_and_batches_agree(dtype, channels, width, emulate):
    """Row lengths that are multiples of 16 bytes, of 4 bytes, or of neither."""
    emulate()
    wide = images(NUMPY, dtype, "NHWC", (2, 70, width, 5))[..., :channels]
    expected = affine(np.ascontiguousarray(wide), "NHWC")
    assert_equal(affine(wide, "NHWC"), expected)
    planes = np.ascontiguousarray(np.moveaxis(wide, -1, 1))
    assert_equal(affine(planes, "NCHW"), to_layout(expected, "NCHW"))
    assert_equal(affine(planes[1:], "NCHW"), to_layout(expected, "NCHW")[1:])


BORDERS = ["constant", "edge", "reflect", "symmetric", "wrap"]
SIZES = [(1, 1), (2, 3), (3, 2), (33, 31), (21, 75), (40, 76), (70, 80)]  # some are smaller than a source box


@both_layouts
@pytest.mark.parametrize(
    ("dtype", "channels", "border"),
    thinned(
        [(*kind, border) for kind in (("uint8", 3), ("uint8", 1), ("float16", 3)) for border in BORDERS],
        lambda dtype, channels, border: (dtype, channels, border) == ("uint8", 3, "reflect"),
    ),
)
def test_warp_kernel_resolves_borders_in_source_boxes(dtype, channels, border, layout, emulate):
    """Source boxes inside the image, across its edges, or outside.

    The rows of some images can be staged raw, those of others cannot.
    """
    fills = (0, 99 if dtype == "uint8" else 0.625) if border == "constant" else (0,)
    batches = [images(NUMPY, dtype, layout, (2, *size, channels)) for size in SIZES]
    shifts = (0, 0), (-9, 14), (-200, 40), (90, -170)
    calls = [
        (batch, np.column_stack([scale * rotation_and_shear(angle, 0.2), shift]), fill)
        for batch in batches
        for fill in fills
        for shift, scale, angle in zip(shifts, (1, 1.2, 0.7, 1), (0, 20, 100, -35), strict=True)
    ]

    def warp_all():
        return [
            cuaug.warp_affine(batch, M, inverse=True, size=(45, 70), border=border, fill=fill, layout=layout)
            for batch, M, fill in calls
        ]

    expected = warp_all()
    emulate()
    for actual, expected_images in zip(warp_all(), expected, strict=True):
        assert_equal(actual, expected_images, tolerance=TOLERANCES[dtype])


@both_layouts
@pytest.mark.parametrize(
    ("reduction", "dtype"),
    thinned(
        itertools.product([0.8, 1.0, 1.9], ["uint8", "float16", "float32"]),
        lambda reduction, dtype: dtype == "uint8" and reduction > 0.8,
    ),
)
def test_warp_kernel_source_boxes_hold_rotated_tiles(reduction, dtype, layout, emulate):
    """Source boxes of rotated tiles hold every pixel that the sampler reads."""
    batch = images(NUMPY, dtype, layout, (1, 90, 104, 3))
    linear = [reduction * rotation_and_shear(angle, shear) for angle in range(-180, 180, 37) for shear in (0, 0.6)]
    linear += [np.diag(s) for s in ([-1, 1], [1.013, -0.987 * reduction], [1e-3, 1], [1, 1e-4], [1e-9, 1e-9])]
    matrices = [np.column_stack([part, (52, 45) - part @ (40, 30)]) for part in linear]
    fill = (9, 200, 77) if dtype == "uint8" else (0.1, 0.9, 0.3)

    def warp_all():
        return [cuaug.warp_affine(batch, M, inverse=True, size=(61, 80), fill=fill, layout=layout) for M in matrices]

    expected = warp_all()
    emulate()
    for actual, expected_image in zip(warp_all(), expected, strict=True):
        assert_equal(actual, expected_image, tolerance=TOLERANCES[dtype])


def rotation_and_shear(angle, shear):
    cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    return np.array([[cos, -sin], [sin, cos]]) @ [[1, shear], [0, 1]]


@both_layouts
@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_warp_kernel_region_height_does_not_change_results(dtype, layout, emulate, monkeypatch):
    """If there are many regions, they are tall, narrow ones twice as tall, and the last ones are halved.

    If there are few, they are short.
    """
    emulate()
    batch = images(NUMPY, dtype, layout, (2, 90, 104, 3))
    block_counts, results = [], []
    run, caches = run_module.run_pass, (kernel_config.kernel_config, grids.divide_output)
    replace_everywhere(
        monkeypatch, run_module, "run_pass", lambda plan, *rest: (block_counts.append(plan.grid[0]), run(plan, *rest))
    )
    for min_regions in (10**9, 1):
        monkeypatch.setattr(grids, "_MIN_TALL_REGIONS", min_regions)
        for cache in caches:
            cache.cache_clear()
        results.append(affine(batch, layout, size=(150, 80), fill=99))
    for cache in caches:
        cache.cache_clear()
    assert_equal(*results)
    blocks_of_short, blocks_of_tall = block_counts
    assert blocks_of_short > blocks_of_tall > blocks_of_short / 4


@pytest.mark.parametrize(
    ("border", "layout"),
    thinned(
        [("constant", "NCHW"), ("reflect", "NHWC"), ("constant", "NHWC"), ("reflect", "NCHW")],
        lambda border, layout: (border, layout) in [("constant", "NCHW"), ("reflect", "NHWC")],
    ),
)
def test_warp_kernel_small_outputs_equal_parts_of_large_ones(border, layout, emulate, monkeypatch):
    """Blocks of outputs of at most 32x32 pixels have half as many threads."""
    emulate()
    kernels, run = [], run_module.run_pass
    replace_everywhere(
        monkeypatch, run_module, "run_pass", lambda plan, *rest: (kernels.append(plan.kernel), run(plan, *rest))
    )
    batch = images(NUMPY, "uint8", layout, (2, 64, 60, 3))
    for scale in (0.7, 1.3, 2.2):
        M = np.column_stack([scale * rotation_and_shear(35, 0.2), (20, -9)])

        def warped(*size, M=M):
            return cuaug.warp_affine(batch, M, inverse=True, size=size, border=border, fill=99, layout=layout)

        large = np.moveaxis(warped(40, 32), -1 if layout == "NCHW" else -2, 0)
        for height, width in ((32, 32), (5, 31), (31, 6), (1, 1)):
            rows = large[:width, :, :, :height] if layout == "NCHW" else large[:width, :, :height]
            assert_equal(np.moveaxis(warped(height, width), -1 if layout == "NCHW" else -2, 0), rows)
    assert ["SmallOutput" in kernel for kernel in kernels] == 3 * [False, True, True, True, True]


@both_layouts
@pytest.mark.parametrize("dtype", thinned([("uint8",), ("float16",)], lambda dtype: dtype == "uint8"))
def test_warp_kernel_row_ends(dtype, layout, emulate):
    """Lanes store words of several columns, or single elements at the end of a row."""
    emulate()
    batch = images(NUMPY, dtype, layout, (1, 20, 24, 3))
    expected = np.moveaxis(to_numpy(affine(batch, layout, size=(9, 80))), -1 if layout == "NCHW" else -2, 0)
    for width in (1, 2, 3, 5, 31, 32, 34, 36, 63, 66, 68):
        for extra in (3, 8):
            shape = (1, 9, width + extra, 3)
            padded = np.full(to_layout(np.empty(shape), layout).shape, 77, dtype)
            columns = np.moveaxis(padded, -1 if layout == "NCHW" else -2, 0)
            affine(batch, layout, size=(9, width), out=np.moveaxis(columns[:width], 0, -1 if layout == "NCHW" else -2))
            assert_equal(columns[:width], expected[:width])
            assert (columns[width:] == 77).all()


@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_warp_kernel_stores_columns_at_offsets_beyond_an_int(interpolation, emulate):
    batch = images(NUMPY, "uint8", "NHWC", (1, 20, 40, 1))
    expected = affine(batch, "NHWC", interpolation=interpolation)
    emulate()
    memory = np.zeros((40, 56_000_000), np.uint8)  # only the pages that are written take memory
    out = memory[:, :20].T[None, ..., None]
    affine(batch, "NHWC", interpolation=interpolation, out=out)
    assert_equal(out, expected, tolerance=TOLERANCES["uint8"])


@pytest.mark.parametrize("step", [0, 1 / 2, 1 / 4, 1 / 8])
def test_warp_affine_kernel_rounds_half_to_even(step, emulate):
    batch = images(NUMPY, "uint8", default_layout(NUMPY), (1, 20, 24, 3))
    M = np.array([[1.25, 0, -1 - step], [0, 1, 3 * step]])
    expected = cuaug.warp_affine(batch, M, inverse=True)  # ops/test_warps.py compares the CPU with the reference
    emulate()
    assert_equal(cuaug.warp_affine(batch, M, inverse=True), expected)
