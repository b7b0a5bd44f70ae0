"""Laws of ``rotate`` and ``affine``: multiples of 90 degrees are exact; sizes and margins of ``expand=True``."""

import numpy as np
import pytest
from helpers.arrays import (
    IMAGE_DTYPES,
    TORCH,
    default_layout,
    device_of,
    every_backend,
    every_backend_slow_on_jax,
    from_layout,
    images,
    noise,
    put,
    to_layout,
)
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from tables import warp_reference as reference
from tables.warps import INEXACT_ROW_OF_OP, INTERPOLATIONS

import cuaug

SIZES = [(8, 8), (7, 7), (6, 10), (7, 10), (1, 6), (33, 20)]
RIGHT_ANGLES = [0, 90, 180, 270, -90, 360, 450, 90 * 10**17]
every_dtype = pytest.mark.parametrize("dtype", IMAGE_DTYPES)
every_interpolation = pytest.mark.parametrize("interpolation", INTERPOLATIONS)


def check_quarter_turns(batch, backend, dtype, count, actual):
    layout = default_layout(backend)
    turned = np.rot90(from_layout(to_numpy(batch), layout), count, (1, 2))
    expected_kind = {"library": backend[0], "device": device_of(backend), "dtype": dtype}
    assert_equal(actual, np.ascontiguousarray(to_layout(turned, layout)), **expected_kind)


@every_dtype
@every_interpolation
@every_backend_slow_on_jax
def test_rotate_multiples_of_90_equal_rot90(backend, interpolation, dtype):
    for height, width in SIZES:
        batch = images(backend, dtype, shape=(2, height, width, 3))
        for angle in RIGHT_ANGLES:
            turns = angle // 90
            actual = cuaug.rotate(batch, angle, interpolation, expand=True, fill=1)
            check_quarter_turns(batch, backend, dtype, turns, actual)
            if height == width or turns % 2 == 0:
                actual = cuaug.rotate(batch, angle, interpolation, fill=1)
                check_quarter_turns(batch, backend, dtype, turns, actual)


@every_interpolation
@every_backend
def test_affine_multiples_of_90_equal_rot90(backend, interpolation):
    for side in (7, 8):
        batch = images(backend, shape=(2, side, side, 3))
        for angle in RIGHT_ANGLES:
            actual = cuaug.affine(batch, angle, (0, 0), 1, (0, 0), interpolation, fill=1)
            check_quarter_turns(batch, backend, "uint8", -angle // 90, actual)


@every_interpolation
@pytest.mark.parametrize("convert", [list, np.array, np.float32], ids=["list", "float64", "float32"])
@pytest.mark.parametrize("angles", [[0, 90, 180], [90, 31.3, -118.7], [45, 45, 270]], ids=str)
def test_rotate_expand_sample_equals_sample_alone(angles, convert, interpolation):
    """Each sample is in the middle of the result, on whole pixels; an odd margin's last pixel is to the right or below.

    Around it, pixels are 0 at right angles; at other angles "bicubic" and "lanczos" reach beyond the sample's own size.
    """
    shifted = Tolerance(absolute=1, exact=0.99, reason="coordinates that are shifted by the place in the result")
    if interpolation == "nearest":
        shifted = Tolerance(beyond=0.03, reason="a position that is nearly in the middle between two pixels")
    for size in SIZES:
        batch = noise((3, *size, 3))
        samples = zip(batch, convert(angles), strict=True)
        alone = [cuaug.rotate(image, float(angle), interpolation, expand=True) for image, angle in samples]
        height, width = np.max([image.shape[:2] for image in alone], 0)
        actual = cuaug.rotate(batch, convert(angles), interpolation, expand=True)
        assert actual.shape == (3, height, width, 3)
        for result, expected, angle in zip(actual, alone, angles, strict=True):
            top, left = (height - expected.shape[0]) // 2, (width - expected.shape[1]) // 2
            middle = slice(top, top + expected.shape[0]), slice(left, left + expected.shape[1])
            is_right_angle = angle % 90 == 0
            tolerance = EXACT if is_right_angle else shifted
            assert_equal(np.ascontiguousarray(result[middle]), expected, tolerance=tolerance)
            if is_right_angle:
                result[middle] = 0
                assert not result.any()


SQUARE = np.array([(0, 0), (10, 0), (10, 16), (0, 16)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.rotate(x, [[1, 2]]), r"angle must be one number or one per sample, got \[\[1, 2\]\]"),
        (lambda x: cuaug.rotate(x, put(np.zeros((3, 1)), TORCH), expand=True), "angle must be one number or one per"),
        (
            lambda x: cuaug.rotate(x, 1, center=np.zeros((1, 3, 2))),
            r"center must have shape \(2,\) or \(N, 2\), got \(1",
        ),
        (lambda x: cuaug.affine(x, 1, (0, 0), [[1]], 0), r"scale must be one number or one per sample, got \[\[1\]\]"),
        (lambda x: cuaug.affine(x, 1, [[[0, 0]]], 1, 0), r"translate must have shape .*, got \(1, 1, 2\)"),
        (lambda x: cuaug.affine(x, [1, 2, 3], (0, 0), 1, [[[0, 0]]]), r"shear must have shape .*, got \(1, 1, 2\)"),
        (
            lambda x: cuaug.perspective(x, SQUARE, SQUARE[None, None]),
            r"endpoints must have shape \(4, 2\) or \(N, 4, 2\), got \(1, 1, 4, 2\)",
        ),
    ],
)
def test_rotate_affine_perspective_name_a_parameter_with_two_batch_axes(call, message):
    with pytest.raises(ValueError, match=rf"^cuaug\.\w+: {message}"):
        call(noise())


def test_rotate_expand_accepts_no_samples_and_no_angles():
    assert cuaug.rotate(noise((0, 17, 11, 3)), [], expand=True).shape == (0, 17, 11, 3)


@pytest.mark.parametrize("angle", [45, 30, 60, 31.3, -118.7, 1, 90, 450])
def test_rotate_expand_size_equals_torchvision(angle):
    """torchvision truncates corners to 1e-4 of a pixel; this decides the height of (38, 59) at -118.7 degrees."""
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    for height, width in [*SIZES, (38, 59), (45, 32), (17, 60), (31, 31), (240, 321)]:
        image = noise((1, height, width))
        expected = functional.rotate(put(image, TORCH), angle, expand=True).shape
        actual = cuaug.rotate(image, angle, expand=True, layout="CHW")
        assert actual.shape == expected, (height, width)


@every_backend
def test_rotate_expand_equals_reference(backend):
    batch, layout = images(backend), default_layout(backend)
    for angle in (31.3, -118.7, 90.0, 180.0):
        for interpolation in ("nearest", "bilinear") if angle % 90 else ("bilinear",):
            source = from_layout(to_numpy(batch), layout).astype(float)
            expected = np.stack([reference.rotate(image, angle, interpolation, expand=True) for image in source])
            actual = cuaug.rotate(batch, angle, interpolation, expand=True)
            expected_kind = {"library": backend[0], "device": device_of(backend), "dtype": "uint8"}
            tolerance = INEXACT_ROW_OF_OP["rotate"].tolerance("uint8")
            assert_equal(actual, to_layout(expected, layout), **expected_kind, tolerance=tolerance)
