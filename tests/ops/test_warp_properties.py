"""Warps of any view, matrix and coordinate, drawn by Hypothesis; of very many samples; of large images."""

import numpy as np
import pytest
from helpers.arrays import device_of, every_backend, every_backend_but_jax, images, noise, put, seeded
from helpers.compare import Tolerance, assert_equal, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from tables import warp_reference as reference
from tables.row import TOLERANCES
from tables.warps import BORDERS, INTERPOLATIONS, RESIZE_INTERPOLATIONS, matrix

import cuaug


@every_backend_but_jax
@pytest.mark.parametrize("samples", [65_535, 65_536, 70_000])
def test_warp_affine_hflip_more_samples_than_grid_rows(samples, backend):
    batch = images(backend, "uint8", "NHWC", (samples, 8, 8, 1))
    M = matrix(seeded("many"), (samples,))["M"]
    batch_result = cuaug.warp_affine(batch, M, layout="NHWC")
    for part in (slice(0, 3), slice(65_530, 65_540), slice(samples - 3, samples)):
        assert_equal(batch_result[part], cuaug.warp_affine(batch[part], M[part], layout="NHWC"))
    flip = np.arange(samples) % 3 == 0
    expected = np.where(flip[:, None, None, None], to_numpy(batch)[:, :, ::-1], to_numpy(batch))
    assert_equal(to_numpy(cuaug.hflip(batch, flip, layout="NHWC")), expected)


@every_backend
def test_warp_affine_large_image_is_accurate_in_far_corner(backend):
    side, size = 4096, (40, 50)
    image = noise((1, side, side, 1), "float32")
    angle, shift = np.radians(17.3), 61.27
    linear = 1.07 * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    inverse = np.c_[linear, [side - 60.3, side - shift]][None]  # destination to source, near the last pixel
    expected = np.stack([reference.warp_affine(image[0], inverse[0], size, inverse=True, border="reflect")])
    actual = cuaug.warp_affine(put(image, backend), inverse, size, inverse=True, border="reflect", layout="NHWC")
    tolerance = Tolerance(absolute=1e-4, reason="README's accuracy, for images of up to 4096 px")
    assert_equal(actual, expected, library=backend[0], device=device_of(backend), dtype="float32", tolerance=tolerance)


@every_backend
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_warp_affine_half_precision_has_full_coordinates(dtype, backend):
    side = 1024
    batch = images(backend, dtype, "NHWC", (1, side, side, 1))
    angle = np.radians(29.7)
    linear = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    M = np.c_[linear, np.full(2, side / 2) - linear @ np.full(2, side / 2)]
    expected = np.stack([reference.warp_affine(to_numpy(batch)[0].astype(float), M)])
    actual = cuaug.warp_affine(batch, M, layout="NHWC")
    relative = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
    tolerance = Tolerance(absolute=1e-4, relative=relative, reason="float32 coordinates; the storage rounds once")
    assert_equal(actual, expected, library=backend[0], device=device_of(backend), dtype=dtype, tolerance=tolerance)


@st.composite
def strided_images(draw):
    """A view ``[N, H, W, C]`` of a wider uint8 array, each axis with its own start and step."""
    shape = [draw(st.integers(1, high)) for high in (3, 9, 9, 5)]
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    starts = [draw(st.integers(0, 2)) for _ in shape]
    order = draw(st.permutations(range(4)))
    wide = [start + n * abs(step) for n, step, start in zip(shape, steps, starts, strict=True)]
    base = noise(tuple(wide[axis] for axis in order), seed=draw(st.integers(0, 99))).transpose(np.argsort(order))
    slices = tuple(
        slice(start, start + n * abs(step), abs(step)) for n, step, start in zip(shape, steps, starts, strict=True)
    )
    directions = tuple(slice(None, None, 1 if step > 0 else -1) for step in steps)
    view = base[slices][directions]
    assert view.shape == tuple(shape)
    return view


@given(
    strided_images(),
    st.sampled_from([i for i in INTERPOLATIONS if i != "nearest"]),
    st.sampled_from(BORDERS),
    st.integers(0, 10_000),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_warp_affine_any_view_matrix_and_size(view, interpolation, border, seed, size):
    M = matrix(seeded("property", seed), (len(view),))["M"]
    options = {"interpolation": interpolation, "border": border, "fill": 99}
    expected = np.stack([reference.warp(v.astype(float), m, size, **options) for v, m in zip(view, M, strict=True)])
    actual = cuaug.warp_affine(view, M, size, layout="NHWC", **options)
    tolerance = Tolerance(absolute=1, reason="README's accuracy: one level")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@given(
    strided_images(),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.sampled_from([i for i in RESIZE_INTERPOLATIONS if i != "nearest"]),
)
def test_resize_any_view_and_size(view, size, interpolation):
    expected = np.stack([reference.resize(v.astype(float), size, interpolation) for v in view])
    actual = cuaug.resize(view, size, interpolation, layout="NHWC")
    tolerance = Tolerance(absolute=1, reason="README's accuracy: one level")
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=tolerance)


@given(strided_images(), strided_images(), st.integers(0, 10_000))
def test_warp_affine_out_any_view(view, out_view, seed):
    """`out` has the strides of `out_view`, a view of a wider array."""
    M = matrix(seeded("out", seed))["M"]
    size = out_view.shape[1:3]
    base = out_view
    while base.base is not None:
        base = base.base
    out = np.lib.stride_tricks.as_strided(
        out_view, (min(len(view), len(out_view)), *out_view.shape[1:]), out_view.strides
    )
    channels = min(view.shape[3], out_view.shape[3])
    out, source = out[..., :channels], view[: len(out), ..., :channels]
    expected = cuaug.warp_affine(np.ascontiguousarray(source), M, size, layout="NHWC", fill=3)
    base_copy, out_copy = base.copy(), out.copy()
    assert cuaug.warp_affine(source, M, size, layout="NHWC", fill=3, out=out) is out
    assert_equal(out, expected)
    out[...] = out_copy
    assert_equal(base, base_copy)


@pytest.mark.parametrize("border", ["constant", "reflect"])
@pytest.mark.parametrize("size", [(400, 20), (3, 1100)])  # a CPU's task has whole rows, and a part of a row
@pytest.mark.parametrize(
    ("dtype", "layout", "channels"),
    [("uint8", "CHW", 3), ("uint8", "HWC", 3), ("uint8", "HWC", 5), ("float32", "HWC", 3)],
)
def test_pad_equals_numpy(dtype, layout, channels, size, border):
    shape = (channels, *size) if layout == "CHW" else (*size, channels)
    image, left, top, right, bottom = noise(shape, dtype), 90, 40, 33, 27
    widths = [{"H": (top, bottom), "W": (left, right)}.get(axis, (0, 0)) for axis in layout]
    options = {"constant_values": 3} if border == "constant" else {}
    expected = np.pad(image, widths, border, **options)
    arguments = {"fill": 3 if border == "constant" else None, "padding_mode": border, "layout": layout}
    assert_equal(cuaug.pad(image, (left, top, right, bottom), **arguments), expected)
    # The rows of `out` are not adjacent: nothing between them may be written.
    memory = np.full(
        [extent + 7 * (axis == "W") for extent, axis in zip(expected.shape, layout, strict=True)], 77, dtype
    )
    window = tuple(slice(3, -4) if axis == "W" else slice(None) for axis in layout)
    cuaug.pad(image, (left, top, right, bottom), **arguments, out=memory[window])
    assert_equal(memory[window], expected)
    memory[window] = 77
    assert (memory == 77).all()


@given(
    strided_images(),
    st.tuples(*[st.integers(-12, 12)] * 2, *[st.integers(1, 12)] * 2),
    st.tuples(st.booleans(), st.booleans()),
)
def test_crop_hflip_vflip_equal_numpy_indexing(view, box, flips):
    top, left, height, width = box
    padded = np.pad(view, [(0, 0), (30, 30), (30, 30), (0, 0)], constant_values=9)
    expected = padded[:, 30 + top : 30 + top + height, 30 + left : 30 + left + width]
    assert_equal(cuaug.crop(view, top, left, height, width, fill=9, layout="NHWC"), np.ascontiguousarray(expected))
    horizontal, vertical = flips
    expected = view[:, :: -1 if vertical else 1, :: -1 if horizontal else 1]
    actual = cuaug.vflip(cuaug.hflip(view, horizontal, layout="NHWC"), vertical, layout="NHWC")
    assert_equal(actual, np.ascontiguousarray(expected))


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=9, max_size=9),
    st.sampled_from(INTERPOLATIONS),
    st.sampled_from(BORDERS),
)
def test_warp_affine_perspective_any_matrix_is_finite_or_rejected(entries, interpolation, border):
    batch, options = noise((1, 7, 5, 2), "float32"), {"interpolation": interpolation, "border": border, "fill": 0.25}
    M = np.array(entries).reshape(3, 3)
    for op, matrix_ in ((cuaug.warp_affine, M[:2]), (cuaug.warp_perspective, M)):
        for inverse in (False, True):
            try:
                result = op(batch, matrix_, (6, 8), inverse=inverse, **options)
            except ValueError as error:
                assert "sample 0" in str(error)  # noqa: PT017
            else:
                assert np.isfinite(result).all()
                assert np.abs(result).max() < 4  # a few times the largest value: weights are bounded by their kernel


@given(
    st.lists(
        st.one_of(
            st.floats(width=32, allow_nan=True, allow_infinity=True),
            st.floats(-40, 40, width=32),
        ),
        min_size=24,
        max_size=24,
    ),
    st.sampled_from(INTERPOLATIONS),
    st.sampled_from(BORDERS),
)
def test_remap_any_coordinate_equals_reference_or_fill(values, interpolation, border):
    batch = noise((1, 7, 5, 2), "float32")
    map_x, map_y = np.float32(values).reshape(2, 3, 4)
    options = {"interpolation": interpolation, "border": border, "fill": 0.25}
    actual = cuaug.remap(batch, map_x, map_y, **options)
    assert np.isfinite(actual).all()
    with np.errstate(invalid="ignore"):
        is_fill = ~((np.abs(map_x) < 2.0**30) & (np.abs(map_y) < 2.0**30))
        near = (np.abs(map_x) <= 40) & (np.abs(map_y) <= 40)
    assert_equal(actual[:, is_fill], np.full_like(actual[:, is_fill], 0.25))
    if interpolation != "nearest":
        expected = np.stack([reference.remap(batch[0], map_x.astype(float), map_y.astype(float), **options)])
        assert_equal(actual[:, near], expected[:, near].astype(np.float32), tolerance=TOLERANCES["float32"])


@pytest.mark.parametrize("far", [8193.0, -1e5, 1e9])
def test_remap_keeps_precision_beside_far_coordinate(far):
    batch = noise((1, 7, 5, 2), "float32")
    map_x, map_y = (np.random.default_rng(axis).uniform(0, 4, (6, 4)).astype("float32") for axis in range(2))
    map_x[0, 0] = map_y[0, 0] = far
    expected = reference.remap(batch[0], map_x.astype(float), map_y.astype(float))[None]
    assert_equal(cuaug.remap(batch, map_x, map_y), expected.astype("float32"), tolerance=TOLERANCES["float32"])
