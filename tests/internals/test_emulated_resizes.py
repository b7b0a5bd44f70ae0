"""The GPU's resizes and copies of whole pixels, run on the CPU by helpers/emulator: GPU and CPU agree."""

import struct

import numpy as np
import pytest
from helpers import emulator
from helpers.arrays import noise, seeded
from helpers.channel_ops import CHAINS, assert_ops_equal_second_pass
from helpers.compare import Tolerance, assert_equal
from helpers.thinning import thinned

import cuaug
from cuaug import _check
from cuaug._arrays.images import allocate_output, describe_images
from cuaug._passes import parameters
from cuaug._passes.geometry import matrix_geometry, whole_pixel_shift
from cuaug._passes.place_images import place_batch
from cuaug._passes.resample import resample
from cuaug._program import sources
from cuaug.transforms import placement

SIZES = [(33, 41), (61, 31), (9, 101), (90, 60)]
NEW_SIZES = {
    "reduced": [(20, 70), (70, 20), (5, 9), (1, 2)],
    "enlarged": [(33, 43), (120, 70), (31, 133), (91, 150)],
    "columns": [(20, 1), (61, 1), (1, 1), (8, 1)],
}


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("new_sizes", NEW_SIZES.values(), ids=NEW_SIZES)
@pytest.mark.parametrize(
    ("layout", "channels"),
    thinned([("CHW", 3), ("HWC", 3), ("CHW", 5), ("HWC", 5)], lambda layout, channels: channels == 3),
)
def test_size_transforms_resize_images_of_several_sizes_in_one_launch(
    layout, channels, new_sizes, antialias, emulate, monkeypatch
):
    """The launch writes all results into one array."""
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


@pytest.mark.parametrize("antialias_filter", ["Triangle", "CatmullRom", "Lanczos3"])
def test_resize_to_one_pixel_has_taps_inside_the_largest_image(antialias_filter):
    """The filters reach beyond the numbers of an int. Guards the sums of `resize`, which read these pixels."""
    side = _check.SIDE_LIMIT - 1
    text = f"""\
#include "samplers/filter.cuh"
struct Axis {{ int* out; long long side; }};
void kernel(const Axis args) {{
    const int side = args.side;
    const auto taps = cuaug::unnormalized_taps<cuaug::{antialias_filter}, float>(0, side, side, 1, 0, true);
    args.out[0] = taps.first, args.out[1] = taps.count;
}}
"""
    output = np.full(2, -1, np.int32)
    assert emulator.kernel("kernel", text)(struct.pack("Pq", output.ctypes.data, side), (1, 1, 1), 1) == ""
    assert output.tolist() == [0, side]


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("dtype", thinned([("uint8",), ("int16",), ("float32",)], lambda dtype: dtype == "uint8"))
@pytest.mark.parametrize(("shape", "layout"), [((9, 40, 50, 3), "NHWC"), ((9, 2, 40, 50), "NCHW")])
def test_resized_crop_kernel_equals_cpu_loops(shape, layout, dtype, antialias, emulate):
    """Enlarged, reduced and mixed boxes: within the image, at its sides, beyond them, and of less than a pixel."""
    boxes = [
        (0, 0, 40, 50), (31.5, 0, 8.5, 50), (3, 41.25, 30, 8.75), (12, 7, 70, 80), (39.5, 0, 0.5, 9), (-3, 2, 20, 60),
        (0.25, 0.5, 1.5, 45), (20, 30, 20, 20), (40, 0, 1e-20, 50),
    ]  # fmt: skip
    batch = noise(shape, dtype)
    expected = cuaug.resized_crop(batch, *np.array(boxes).T, (41, 67), antialias=antialias, layout=layout)
    emulate("resample")
    out = np.full_like(expected, 99)
    actual = cuaug.resized_crop(batch, *np.array(boxes).T, (41, 67), antialias=antialias, layout=layout, out=out)
    limits = {"absolute": 1e-5} if dtype == "float32" else {"absolute": 1, "exact": 0.98}
    tolerance = Tolerance(**limits, reason="sums of float32 in another order, rounded once")
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=tolerance)


@pytest.mark.parametrize("filter_", ["bilinear", "bicubic"])
@pytest.mark.parametrize("dtype", thinned([("uint8",), ("int16",), ("float32",)], lambda dtype: dtype == "uint8"))
@pytest.mark.parametrize(("shape", "layout"), [((7, 40, 50, 3), "NHWC"), ((7, 5, 40, 50), "NCHW")])
def test_window_beyond_resized_box_kernel_equals_cpu_loop(shape, layout, dtype, filter_, emulate):
    """Windows around the resized box, beyond each of its sides, inside it, and beside it; reductions and enlargements.

    Flips reverse the pixels of the whole result.
    """
    size = 70, 43
    windows = [  # of y, then x: size of the resized box, step, origin
        (30, 1, -20, 25, 1, -9), (9, -1, 65, 11, -1, 40), (100, 1, 60, 90, 1, 70), (100, -1, 69, 90, 1, -40),
        (80, 1, 10, 50, -1, 49), (20, 1, 20, 30, 1, -3), (20, 1, -5, 30, -1, -1),
    ]  # fmt: skip
    table = np.array([(0, 0, 40, 50, *window) for window in windows], np.float64)
    images = describe_images(noise(shape, dtype), layout)

    def resized():
        out = np.full((7, *size, 3) if layout == "NHWC" else (7, 5, *size), 99, dtype)
        box = parameters.SampleParameters(parameters.StridedArray(table.ctypes.data, 10, 0, 1, 1, table), ())
        fill = 7 if layout == "NCHW" else np.array([3, 150, 20])
        return resample(images, box, size, filter_, True, None, out, has_window=True, crops=True, fill=fill)

    expected = resized()
    beside = expected[5] if layout == "NHWC" else expected[5].transpose(1, 2, 0)
    assert (beside == beside[0, 0]).all()
    emulate("resample")
    limits = {"absolute": 1e-5} if dtype == "float32" else {"absolute": 1, "exact": 0.98}
    tolerance = Tolerance(**limits, reason="sums of float32 in another order, rounded once")
    assert_equal(resized(), expected, library="numpy", dtype=dtype, tolerance=tolerance)


@pytest.mark.parametrize(("names", "dtype"), CHAINS, ids=str)
@pytest.mark.parametrize("size", [(70, 43), (9, 13)], ids=["enlarged", "reduced"])
@pytest.mark.parametrize("crops", [True, False], ids=["window", "whole"])
@pytest.mark.parametrize(
    ("shape", "layout", "source"),
    [((3, 40, 50, 3), "NHWC", "uint8"), ((2, 5, 40, 50), "NCHW", "uint8"), ((2, 4, 40, 50), "NCHW", "float32")],
    ids=str,
)
def test_ops_of_resize_equal_second_pass(shape, layout, source, crops, size, names, dtype, emulate):
    """Windows reach beyond the resized box: the ops are applied to the fill, too."""
    windows = [(30, 1, -2, 25, -1, 29), (9, -1, 6, 11, 1, -4), (80, 1, 10, 50, -1, 49)]
    table = np.array([(0, 0, 40, 50, *window) for window in windows[: shape[0]]], np.float64)
    box = parameters.SampleParameters(parameters.StridedArray(table.ctypes.data, 10, 0, 1, 1, table), ())
    images = describe_images(noise(shape, source), layout)
    fill = 7 if source == "uint8" else 0.4
    emulate("resample")

    def run(dtype, ops):
        options = {"has_window": crops, "crops": crops, "fill": fill, "ops": ops}
        return resample(images._replace(device=0), box, size, "bilinear", True, dtype, None, **options)

    assert_ops_equal_second_pass(run, images, names, dtype)


class EmulatedLaunches:
    """An executor that runs launches of GPU kernels in the emulator and counts them."""

    count = 0

    def launch(self, kernel, record, grid, threads, *_):
        fault = emulator.kernel(kernel, sources.kernel_source(kernel)[0])(record, grid, threads)
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
