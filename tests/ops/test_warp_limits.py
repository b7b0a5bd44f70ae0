"""Matrices and coordinates that are not finite, huge, denormal or degenerate."""

import itertools

import numpy as np
import pytest
from helpers.arrays import NUMPY, SHAPE, TORCH, TORCH_CUDA, images, noise, put
from helpers.compare import Tolerance, assert_equal, to_numpy
from tables import warp_reference as reference
from tables.row import TOLERANCES
from tables.warps import BORDERS, INTERPOLATIONS, MAIN_ROWS

import cuaug

FLOATS = noise(dtype="float32")
MODES = list(itertools.product(INTERPOLATIONS, BORDERS))
every_mode = pytest.mark.parametrize(("interpolation", "border"), MODES)
BAD_COORDINATES = [np.nan, np.inf, -np.inf, 1e20, -1e20, 1e38, 2.0**31, -(2.0**31), 1e10, -1e10, 2.0**30 + 128]


@every_mode
def test_remap_nonfinite_and_huge_coordinates_are_fill(interpolation, border):
    bad = np.float32(BAD_COORDINATES)[:, None]
    good = np.full_like(bad, 3.25)
    for map_x, map_y in ((bad, good), (good, bad), (bad, bad)):
        actual = cuaug.remap(FLOATS, map_x, map_y, interpolation=interpolation, border=border, fill=0.625)
        assert_equal(actual, np.full(actual.shape, 0.625, np.float32))
        result = cuaug.remap(noise(), map_x, map_y, interpolation=interpolation, border=border, fill=77)
        assert_equal(result, np.full(result.shape, 77, np.uint8))


@every_mode
def test_remap_relative_nonfinite_displacements_are_fill(interpolation, border):
    zeros = np.zeros(SHAPE[1:3], np.float32)
    bad = zeros.copy()
    bad[4, 5], bad[0, 0] = np.nan, np.inf
    actual = cuaug.remap(FLOATS, bad, zeros, relative=True, interpolation=interpolation, border=border, fill=0.625)
    expected = np.stack(
        [
            reference.remap(image, zeros, zeros, relative=True, interpolation=interpolation, border=border, fill=0.625)
            for image in FLOATS.astype(float)
        ]
    )
    expected[:, 4, 5] = expected[:, 0, 0] = 0.625
    assert_equal(actual, expected.astype(np.float32), tolerance=TOLERANCES["float32"])


@every_mode
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_remap_outside_between_equal_pixels(interpolation, border, dtype):
    """Positions alternate between a pixel and the outside: a kernel must not treat them as a run of pixels."""
    batch = noise(dtype=dtype)
    for bad, period in itertools.product((np.nan, 100.0, -100.0, 2.0**31), (2, 3, 4)):
        if border != "constant" and abs(bad) == 100:
            continue
        map_x = np.zeros((3, 40), np.float32)
        is_fill = np.broadcast_to(np.arange(40) % period == 1, map_x.shape)
        map_x[is_fill] = bad
        options = {"interpolation": interpolation, "border": border, "fill": 0.5 if dtype == "float32" else 77}
        actual = cuaug.remap(batch, map_x, np.zeros_like(map_x), **options)
        corner = np.zeros((1, 1))
        pixel = np.stack([reference.remap(image, corner, corner, **options) for image in batch.astype(float)])
        expected = np.where(is_fill[None, ..., None], options["fill"], pixel)
        expected = expected if dtype == "float32" else np.rint(expected)
        assert_equal(actual, expected.astype(dtype), tolerance=TOLERANCES["float32"])


EXTREMES = [np.nan, np.inf, -np.inf, 1e20, -1e20, 1e10, -1e10, 2.0**31, -(2.0**31), 1e-38, 1e-45]


def with_entry(rows, index, value):
    M = np.eye(3)[:rows]
    M.flat[index] = value
    return M


@every_mode
def test_warp_affine_extreme_inverse_matrices(interpolation, border):
    """Pixels are finite, fill beyond 2**30, and equal the reference within 2**16; host values must be finite.

    Nearest pixels of so large matrices are not compared: rounding decides which pixel is nearest.
    """
    for index, value in itertools.product(range(6), EXTREMES):
        M = with_entry(2, index, value)
        options = {"inverse": True, "interpolation": interpolation, "border": border, "fill": 0.625}
        if not np.isfinite(value):
            with pytest.raises(ValueError, match="sample 0"):
                cuaug.warp_affine(FLOATS, M, **options)
            continue
        try:
            actual = cuaug.warp_affine(FLOATS, M, **options)
        except ValueError as error:
            assert "invertible" in str(error)  # noqa: PT017
            assert index in (0, 4)
            continue
        assert np.isfinite(actual).all()
        x, y = reference.grid(SHAPE[1:3])
        x, y = np.einsum("ij,jhw->ihw", M, np.stack([x, y, np.ones_like(x)]))
        is_fill = (np.abs(x) > 2.0**30) | (np.abs(y) > 2.0**30)
        assert_equal(actual[:, is_fill], np.full_like(actual[:, is_fill], 0.625))
        is_near = ~is_fill & (np.abs(x) < 2.0**16) & (np.abs(y) < 2.0**16)
        if interpolation != "nearest":
            expected = np.stack([reference.warp(image, M, **options) for image in FLOATS]).astype(np.float32)
            assert_equal(actual[:, is_near], expected[:, is_near], tolerance=TOLERANCES["float32"])


@pytest.mark.parametrize("rows", [2, 3])
@every_mode
def test_warp_affine_perspective_extreme_matrices(interpolation, border, rows):
    """Each matrix is rejected as singular or not finite, or gives finite pixels."""
    op = cuaug.warp_affine if rows == 2 else cuaug.warp_perspective
    for index, value in itertools.product(range(3 * rows), EXTREMES):
        options = {"interpolation": interpolation, "border": border, "fill": 0.625}
        try:
            actual = op(FLOATS, with_entry(rows, index, value), **options)
        except ValueError as error:
            assert "sample 0" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(value)
            assert np.isfinite(actual).all()


@pytest.mark.gpu
@pytest.mark.parametrize(("step", "first"), [(2.0**25, 0.9), (-(2.0**25), -0.9), (1.0, 1 - 40.25 * 2.0**-30)])
@every_mode
def test_warp_affine_beyond_2_30_pixels_is_fill_on_gpu_as_on_cpu(interpolation, border, step, first):
    """The source coordinates of a row begin at `first` times 2**30, and pass 2**30 or -2**30."""
    M = np.array([[step, 0, first * 2.0**30], [0, 1, 0]])
    options = {"inverse": True, "interpolation": interpolation, "border": border, "fill": 0.625}
    batch = np.random.default_rng(0).random((1, 1, 8, 160))
    expected = cuaug.warp_affine(batch, M, layout="NCHW", **options)
    x = M[0, 0] * np.arange(160) + M[0, 2]
    assert (expected[..., np.abs(x) >= 2.0**30] == 0.625).all()
    actual = to_numpy(cuaug.warp_affine(put(batch, ("torch", "cuda")), M, **options))
    assert_equal(actual, expected, tolerance=Tolerance(absolute=1e-9, reason="float64 coordinates and weights"))


@pytest.mark.gpu
@every_mode
def test_warp_affine_perspective_bad_device_matrix_is_fill(interpolation, border):
    backend = ("torch", "cuda")
    batch = images(backend, "float32")
    for bad in (np.full((2, 3), np.nan), np.zeros((2, 3)), np.array([[1, 2, 0], [2, 4, 0]]), with_entry(2, 2, np.inf)):
        M = np.stack([np.eye(3)[:2], bad, np.eye(3)[:2]])
        actual = to_numpy(
            cuaug.warp_affine(batch, put(M, backend), interpolation=interpolation, border=border, fill=0.625)
        )
        expected = to_numpy(batch)
        expected[1] = 0.625
        assert_equal(actual, expected, tolerance=TOLERANCES["float32"])
    for index, value in itertools.product(range(9), EXTREMES):
        M = with_entry(3, index, value)
        actual = to_numpy(cuaug.warp_perspective(batch, put(M, backend), interpolation=interpolation, border=border))
        assert np.isfinite(actual).all()
        if np.isfinite(value) and np.linalg.cond(M) < 1e6:
            same = cuaug.warp_perspective(to_numpy(batch), M, interpolation=interpolation, border=border, layout="NCHW")
            assert_equal(actual, same, tolerance=TOLERANCES["float32"])


def matrices_with_near_horizon(count, height, width):
    """Perspectives whose horizon is close to a corner or an edge of the output. [N, 3, 3]

    The depth is the denominator of the perspective, and 0 on the horizon.
    """
    rng = np.random.default_rng(20261123)
    angle = np.where(rng.integers(0, 2, count), rng.uniform(0, 2 * np.pi, count), rng.integers(0, 4, count) * np.pi / 2)
    gradient = np.stack([np.cos(angle), np.sin(angle)], -1)  # of the depth
    corner_depths = gradient @ np.array([(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)]).T
    least_depth = (corner_depths.max(1) - corner_depths.min(1)) * 10 ** rng.uniform(-7, -1.5, count)
    matrices = np.empty((count, 3, 3))
    matrices[:, 2] = np.column_stack([gradient, least_depth - corner_depths.min(1)])
    slopes = rng.uniform(-1, 1, (count, 2, 3)) / (width, height, 1)
    slopes *= (least_depth * 10 ** rng.uniform(0, 2, count))[:, None, None]
    # The source position is a point of the image + slopes @ (x, y, 1) / depth.
    source_points = rng.uniform(0, 300, (count, 2, 1))
    matrices[:, :2] = source_points * matrices[:, 2:] + slopes
    return matrices


@pytest.mark.gpu
def test_warp_perspective_near_horizon_reads_source_box_only():
    """Shared memory outside the source box holds old values, here NaN: no sample may read it."""
    import torch

    size, count, options = (40, 64), 1 << 14, {"inverse": True, "border": "edge", "layout": "NCHW"}
    nan_images = torch.full((1, 1, 400, 400), torch.nan, device="cuda").expand(count, -1, -1, -1)
    assert cuaug.warp_affine(nan_images, np.float32([[2, 0, 9], [0, 2, 9]]), size, **options).isnan().all()
    image = torch.rand((1, 1, 400, 400), device="cuda").expand(count, -1, -1, -1)
    matrices = torch.from_numpy(matrices_with_near_horizon(count, *size)).cuda()
    assert cuaug.warp_perspective(image, matrices, size, **options).isfinite().all()


@pytest.mark.gpu
@pytest.mark.parametrize("row", [row for row in MAIN_ROWS if "M" in row.parameters()], ids=str)
def test_op_bad_matrix_leaves_other_samples(row):
    backend, leading = ("torch", "cuda"), (8,)
    batch = images(backend, shape=(8, *SHAPE[1:]))
    M = row.parameters(leading)["M"]
    bad_M = M.copy()
    bad_M[5, 0, 1] = np.nan
    good, bad = (to_numpy(getattr(cuaug, row.op)(batch, put(m, backend), **row.keywords("uint8"))) for m in (M, bad_M))
    good[5] = round(row.options["fill"] * 255)
    assert_equal(bad, good)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("border", BORDERS)
def test_remap_bad_coordinate_leaves_other_samples(interpolation, border):
    rng = np.random.default_rng(7)
    maps = rng.uniform(-5, 20, (2, 8, 6, 7)).astype(np.float32)
    batch = noise((8, *SHAPE[1:]))
    good = cuaug.remap(batch, *maps, interpolation=interpolation, border=border, fill=9)
    maps[0, 5] = np.nan
    bad = cuaug.remap(batch, *maps, interpolation=interpolation, border=border, fill=9)
    good[5] = 9
    assert_equal(bad, good)


def coordinate_error(M, size):
    """The error of a float32 source position: four roundings of 2**-24 of the numerators' and the depth's terms,
    which the division by the depth ``w`` enlarges, most of all close to the horizon. [H, W]"""
    x, y = reference.grid(size)
    terms = np.einsum("ij,jhw->ihw", np.abs(M), np.stack([x, y, np.ones_like(x)]))
    u, v, w = np.einsum("ij,jhw->ihw", M, np.stack([x, y, np.ones_like(x)]))
    with np.errstate(all="ignore"):
        return (
            4 * 2.0**-24 * np.maximum(terms[0] + np.abs(u / w) * terms[2], terms[1] + np.abs(v / w) * terms[2]) / abs(w)
        )


@pytest.mark.parametrize("backend", [NUMPY, TORCH_CUDA], ids=str)
@every_mode
def test_warp_perspective_horizon_in_image(interpolation, border, backend):
    """w = 0, w < 0 and w -> 0 in the image: finite everywhere, fill where w is 0, else the reference, within the
    coordinates' error times a slope of at most 4 (Lanczos, both axes, values in 0..1)."""
    side, compared = 16, 0
    batch = put(FLOATS, backend)
    for gx, gy in ((-1 / 8, 0), (0, -1 / 8), (-1 / 16, -1 / 16), (-0.3, 0.01), (-1.0, 0), (1e-30, -1 / 4)):
        M = np.array([[1.0, 0.1, 0.3], [-0.1, 1.0, 0.7], [gx, gy, 1.0]])
        options = {"inverse": True, "interpolation": interpolation, "border": border, "fill": 0.625}
        actual = to_numpy(cuaug.warp_perspective(batch, M, (side, side), layout="NHWC", **options))
        assert np.isfinite(actual).all()
        x, y = reference.grid((side, side))
        zero = gx * x + gy * y + 1 == 0
        assert_equal(actual[:, zero], np.full_like(actual[:, zero], 0.625))
        if interpolation == "nearest":
            continue
        expected = np.stack([reference.warp(image, M, (side, side), **options) for image in FLOATS]).astype(np.float32)
        error, low = coordinate_error(M, (side, side)), 0.0
        for high in (1e-5, 1e-4, 1e-3, 1e-2):
            in_interval = (error > low) & (error <= high)
            tolerance = Tolerance(
                absolute=1e-4 + 4 * high, reason="README's accuracy, and the coordinates' error times the slope"
            )
            assert_equal(actual[:, in_interval], expected[:, in_interval], tolerance=tolerance)
            low, compared = high, compared + in_interval.sum()
    assert interpolation == "nearest" or compared > 6 * side * side * 0.9


def edges(n):
    """Every position where a rule changes, and the float32 neighbours of each."""
    positions = np.float32([-1.5, -1, -0.5, 0, 0.5, n - 1.5, n - 1, n - 0.5, n, 2 * n - 0.5])
    return np.concatenate(
        [positions, np.nextafter(positions, np.float32(np.inf)), np.nextafter(positions, np.float32(-np.inf))]
    )


def is_unambiguous(coordinates):
    """Whether nearest is unambiguous: x + 0.5 rounds in float32, so a neighbour of a tie may go to either side."""
    phase = (coordinates.astype(float) + 0.5) % 1
    return (phase == 0) | (np.minimum(phase, 1 - phase) > 1e-5)


@every_mode
@pytest.mark.parametrize("shape", [(17, 11), (1, 1), (1, 5), (4, 1), (2, 2)])
def test_remap_coordinates_at_edges_equal_reference(interpolation, border, shape):
    batch = noise((2, *shape, 3), "float32")
    map_x, map_y = np.meshgrid(edges(shape[1]), edges(shape[0]))
    options = {"interpolation": interpolation, "border": border, "fill": 0.625}
    actual = cuaug.remap(batch, map_x, map_y, **options)
    expected = np.stack(
        [reference.remap(image, map_x.astype(float), map_y.astype(float), **options) for image in batch]
    )
    if interpolation != "nearest":
        assert_equal(actual, expected.astype(np.float32), tolerance=TOLERANCES["float32"])
        return
    unambiguous = is_unambiguous(map_x) & is_unambiguous(map_y)
    assert unambiguous.mean() > 0.3
    assert_equal(actual[:, unambiguous], expected[:, unambiguous].astype(np.float32))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
def test_hflip_dtype_converts_nonfinite_pixels_to_limits(dtype):
    broken = FLOATS.copy()
    broken[0, 3, 4], broken[1, 5, 6], broken[2, 7, 8] = np.nan, np.inf, -np.inf
    limits = np.iinfo(dtype)
    actual = cuaug.hflip(broken, dtype=dtype)
    expected = np.clip(
        np.rint(np.nan_to_num(broken, nan=0, posinf=limits.max, neginf=limits.min)), limits.min, limits.max
    )
    assert_equal(actual, expected[:, :, ::-1].astype(dtype))


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_warp_affine_overshoot_is_clamped(interpolation):
    checker = np.uint8(255) * (np.indices((16, 16)).sum(0) % 2).astype(np.uint8)[None, ..., None]
    M = np.array([[1, 0, 0.43], [0, 1, 0.57]])
    actual = cuaug.warp_affine(checker, M, interpolation=interpolation, border="reflect")
    expected = np.stack([reference.warp(checker[0].astype(float), M, interpolation=interpolation, border="reflect")])
    assert_equal(actual, expected, library="numpy", dtype="uint8", tolerance=TOLERANCES["uint8"])


def test_hflip_dtype_rounds_half_to_even():
    levels = np.arange(0, 254, dtype=np.float32)
    ramp = np.repeat((levels + 0.5)[None, None, :, None], 2, 1)
    assert_equal(cuaug.hflip(ramp, False, dtype="uint8"), np.rint(ramp).astype(np.uint8))


@pytest.mark.parametrize("backend", [TORCH, TORCH_CUDA], ids=str)
@pytest.mark.parametrize("antialias", [True, False])
def test_resized_crop_box_too_far_outside_is_zero(antialias, backend):
    """The image is 1 everywhere: a single pixel of it in a box would be visible."""
    batch = put(np.ones((1, 17, 11, 3), np.float32).transpose(0, 3, 1, 2).copy(), backend)
    for box in ((-65537, 0, 65537 + 17, 11), (0, 0, 17, 65536 + 12), (-(2**29), -(2**29), 2**30, 2**30)):
        actual = cuaug.resized_crop(batch, *box, (1, 1), antialias=antialias, interpolation="bilinear")
        assert not to_numpy(actual).any(), box
    within = cuaug.resized_crop(batch, -65536, 0, 65536 + 17, 11, (65536 + 17, 1), antialias=antialias)
    assert to_numpy(within)[0, :, -17:].min() > 0.999


@pytest.mark.parametrize("backend", [TORCH, TORCH_CUDA], ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("interpolation", ["bilinear", "lanczos"])
def test_resized_crop_box_too_far_outside_is_zero_although_it_keeps_its_size(interpolation, dtype, backend):
    """The image has more rows than a task of the CPU, so that some of the tasks lie in the image."""
    size = (1300 + 65537, 1)
    batch = put(np.ones((1, 1, 1300, 1), dtype), backend)
    assert not to_numpy(cuaug.resized_crop(batch, 0, 0, *size, size, interpolation)).any()
