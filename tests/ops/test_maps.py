"""Maps of `remap` and `elastic`: dtypes, strides and far coordinates."""

import warnings

import numpy as np
import pytest
from helpers.arrays import every_backend, every_backend_but_jax, images, noise, put
from helpers.compare import Tolerance, assert_equal, to_numpy

import cuaug

COORDINATE_ERROR = Tolerance(absolute=2e-5, reason="float32 coordinates, relative to the tile's origin")
y, x = np.mgrid[:40, :52].astype(np.float32)


@every_backend
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("relative", [False, True])
def test_remap_float32_and_float64_maps_agree(dtype, relative, backend):
    batch = images(backend, dtype, "NHWC", (3, 70, 80, 3))
    waves = [np.sin(y / 9) * 5 + 0.25, np.cos(x / 7) * 4 - 0.75]
    maps = [np.float32(wave if relative else wave + grid) for wave, grid in zip(waves, (x, y), strict=True)]
    single, double = (
        cuaug.remap(batch, *(put(np.asarray(map_, kind), backend) for map_ in maps), relative=relative, layout="NHWC")
        for kind in (np.float32, np.float64)
    )
    tolerance = Tolerance(absolute=1, exact=0.99, reason="each result is rounded to whole levels")
    assert_equal(single, double, tolerance=tolerance if dtype == "uint8" else COORDINATE_ERROR)


@every_backend
def test_remap_large_smooth_displacements_keep_fraction(backend):
    width = 6000
    batch = put(np.float32(np.arange(width) % 2)[None, None, :, None].repeat(3, 0), backend)
    shift = np.float32(-2500.3) + np.float32(np.sin(np.arange(width) / 40))[None]
    actual = cuaug.remap(batch, put(shift, backend), put(np.zeros_like(shift), backend), relative=True, layout="NHWC")
    source = np.arange(width) + shift[0].astype(np.float64)
    fraction, odd = source - np.floor(source), np.floor(source) % 2
    expected = np.where(source < 0, 0, odd * (1 - fraction) + (1 - odd) * fraction)
    inside = np.flatnonzero(source >= 0)
    rows = np.float32(expected[inside])[None].repeat(3, 0)
    assert_equal(to_numpy(actual)[:, 0, inside, 0], rows, tolerance=COORDINATE_ERROR)


@every_backend
@pytest.mark.parametrize("width", [(1 << 20) - 1, (1 << 23) + 101])
@pytest.mark.parametrize("relative", [False, True])
def test_remap_far_whole_pixels_are_exact(width, relative, backend):
    row = np.uint8(np.arange(width) % 251)
    expected = np.arange(width - 61, width - 1, dtype=np.float32)[None]
    map_x = put(expected - np.arange(expected.size) if relative else expected, backend)
    batch, map_y = put(row[None, None, :, None], backend), put(np.zeros_like(expected), backend)
    for interpolation in ("nearest", "bilinear"):
        actual = cuaug.remap(batch, map_x, map_y, relative=relative, interpolation=interpolation, layout="NHWC")
        assert_equal(to_numpy(actual)[0, 0, :, 0], row[expected[0].astype(int)])


def column_maps(dtype):
    """A map of one column, in several memory layouts."""
    column = np.arange(9, dtype=dtype).reshape(9, 1)
    negative_stride, read_only = column[:, ::-1], column.copy()
    read_only.setflags(write=False)
    return {
        "contiguous": column,
        "negative stride": negative_stride,
        "read-only": read_only,
        "every fifth column": np.repeat(column, 5, 1)[:, ::5],
    }


@pytest.mark.parametrize("memory", column_maps("float32"))
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remap_maps_of_any_strides(memory, library, dtype):
    pytest.importorskip(library)
    batch = put(noise(), (library, "cpu"))
    map_y = column_maps(dtype)[memory]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = cuaug.remap(batch, np.zeros((9, 1)), map_y, layout="NHWC")
    assert_equal(to_numpy(actual), noise()[:, :9, :1])


@every_backend_but_jax
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remap_rejects_out_overlapping_maps(dtype, backend):
    memory = put(np.zeros((2, 1, 30, 20), dtype), backend)
    batch, elsewhere = put(np.ones((2, 1, 30, 20), dtype), backend), put(np.zeros((30, 20), dtype), backend)
    for name, maps in (("map_x", (memory[1, 0], elsewhere)), ("map_y", (elsewhere, memory[0, 0]))):
        with pytest.raises(ValueError, match=f"out must not overlap the memory range of {name}"):
            cuaug.remap(batch, *maps, layout="NCHW", out=memory)
    cuaug.remap(batch, elsewhere, elsewhere, layout="NCHW", out=memory)
    assert (memory == 1).all()


def test_remap_takes_read_only_and_reversed_maps_without_warning():
    batch = images(("torch", "cpu"), "uint8", "NCHW", (3, 40, 52, 3))
    read_only, reversed_ = x.copy(), np.ascontiguousarray(x[:, ::-1])[:, ::-1]
    read_only.flags.writeable = False
    expected = cuaug.remap(batch, x, y)
    for map_x in (read_only, reversed_, np.broadcast_to(x[:1], x.shape)):
        assert_equal(cuaug.remap(batch, map_x, y), expected)
