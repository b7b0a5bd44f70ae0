"""Functions that make, compose, invert and convert matrices, against OpenCV, torchvision and other samplers."""

import cv2
import numpy as np
import pytest
import torch
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.matrices import FLOAT64, fixed_settings, matrices, move, numbers, put
from helpers.replace import replace_everywhere
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cuaug._arrays import convert
from cuaug.geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    get_rotation_matrix,
    invert_affine,
    transform_points,
)


def to_3x3(M):
    return M if M.shape[-2] == 3 else np.concatenate([M, np.broadcast_to([[0.0, 0.0, 1.0]], (*M.shape[:-2], 1, 3))], -2)


def torchvision_inverse(angle, translate, scale, shear):
    """The formula in the comment of torchvision's ``_get_inverse_affine_matrix``, relative to the centre. [2, 3]

    The inverse of: scale, shear and rotate, then translate.
    """
    radians, sx, sy = np.radians(angle), *np.radians(shear)
    rotate = np.array([[np.cos(radians), -np.sin(radians)], [np.sin(radians), np.cos(radians)]])
    shear_x, shear_y = np.array([[1, -np.tan(sx)], [0, 1]]), np.array([[1, 0], [-np.tan(sy), 1]])
    forward = np.eye(3)
    forward[:2, :2] = scale * rotate @ shear_y @ shear_x
    forward[:2, 2] = translate
    return np.linalg.inv(forward)[:2]


angles = st.tuples(numbers(-60, 60), numbers(-60, 60))
shifts = st.tuples(numbers(-300, 300), numbers(-300, 300))
sizes = st.tuples(st.integers(1, 2000), st.integers(1, 2000))


@fixed_settings()
@given(numbers(-720, 720), shifts, numbers(0.25, 4), angles, sizes)
def test_affine_matrix_equals_torchvision(angle, translate, scale, shear, size):
    height, width = size
    M = affine_matrix(angle, translate, scale, shear, center=(width / 2, height / 2))
    expected = torchvision_inverse(angle, translate, scale, shear)
    assert_equal(convert_matrix(M, "cuaug", "torchvision", size=size), expected, tolerance=FLOAT64)


MIRROR, SHIFT = np.array([[-1.0, 0, 9], [0, 1, 0]], np.float32), np.array([[1.0, 0, 5], [0, 1, 2]], np.float32)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_compose_affine_takes_device_arrays_of_two_libraries(monkeypatch, library):
    """Here every array counts as a device array: values of the second library must arrive through DLPack."""
    replace_everywhere(monkeypatch, convert, "is_host", lambda value: False)
    M = compose_affine(put(MIRROR, library, "float32"), SHIFT)
    assert type(M) is type(put(MIRROR, library, "float32"))
    assert_equal(to_numpy(M), np.array([[-1.0, 0, 14], [0, 1, 2]], np.float32))


@pytest.mark.gpu
@pytest.mark.parametrize(("first", "second"), [("cuda", "cupy"), ("cupy", "cuda")])
def test_compose_affine_takes_arrays_of_two_libraries_on_gpu(first, second):
    M = compose_affine(put(MIRROR, first, "float32"), put(SHIFT, second, "float32"))
    assert type(M) is type(put(MIRROR, first, "float32"))
    assert_equal(to_numpy(M), np.array([[-1.0, 0, 14], [0, 1, 2]], np.float32))


def test_affine_matrix_turns_clockwise_about_center():
    M = affine_matrix(90, (0, 0), 1.0, (0, 0), center=(2, 2))  # the centre of a 4x4 image
    assert_equal(transform_points([(0, 0), (3, 0), (3, 3)], M), np.array([(3.0, 0), (3, 3), (0, 3)]), tolerance=FLOAT64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_rotation_multiples_of_90_are_exact(library, dtype):
    quarters = np.array([0, 1, 2, 3, -1, 4, 5, 100_003])
    cosine, sine = np.array([1, 0, -1, 0])[quarters % 4], np.array([0, 1, 0, -1])[quarters % 4]
    linear = np.moveaxis(np.array([[cosine, sine], [-sine, cosine]]), -1, 0)
    expected = np.concatenate([linear, np.zeros((8, 2, 1))], -1)
    angles = put(90 * quarters, library, dtype)
    assert_equal(to_numpy(get_rotation_matrix(angles)), expected.astype(dtype))
    M = affine_matrix(-angles, (0, 0), 1, (0, 0), (0.5, 0.5))
    assert_equal(to_numpy(M), expected.astype(dtype))


def test_rotation_multiples_of_90_keep_their_gradient():
    angles = torch.tensor([0.0, 90, 45, 270], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(get_rotation_matrix, [angles], atol=1e-4)
    assert torch.autograd.gradcheck(lambda a: affine_matrix(a, (1, 2), 1.5, (10, 20), (3, 4)), [angles], atol=1e-4)


def test_affine_matrix_parameters_per_sample():
    M = affine_matrix([0, 90], (0, 0), 1.0, (0, 0), center=[(2, 2), (3, 3)])
    one_by_one = [affine_matrix(0, (0, 0), 1.0, (0, 0), (2, 2)), affine_matrix(90, (0, 0), 1.0, (0, 0), (3, 3))]
    assert_equal(M, np.stack(one_by_one))
    assert_equal(get_rotation_matrix([0, 90])[1], get_rotation_matrix(90))


@fixed_settings()
@given(matrices())
def test_invert_affine_equals_opencv(M):
    assert_equal(invert_affine(M), cv2.invertAffineTransform(M), tolerance=FLOAT64)


@fixed_settings()
@given(st.sampled_from([2, 3]).flatmap(lambda rows: matrices(rows)))
def test_invert_affine_undoes(M):
    tolerance = Tolerance(1e-9, reason="translations of 500 px, scales down to 1/4")
    assert_equal(to_3x3(compose_affine(M, invert_affine(M))), np.eye(3), tolerance=tolerance)
    assert_equal(to_3x3(compose_affine(invert_affine(M), M)), np.eye(3), tolerance=tolerance)


def test_invert_affine_ill_conditioned_matrix_is_not_singular():
    tolerance = Tolerance(1e-3, reason="translations of 3000 * 1e6 cancel")
    for M in ([(1e-6, 0, 9), (0, 1e-6, 9)], [(1.0, 1e6, 0), (0, 1.0, 0)], [(1e6, 0, 3000), (0, 1e-6, 3000)]):
        assert_equal(compose_affine(invert_affine(M), M), np.eye(2, 3), tolerance=tolerance)


@fixed_settings()
@given(matrices(), matrices(3), matrices())
def test_compose_affine_applies_left_to_right(first, second, third):
    M = compose_affine(first, second, third)
    expected = to_3x3(third) @ to_3x3(second) @ to_3x3(first)
    assert_equal(M, expected, tolerance=Tolerance(1e-6, 1e-9, reason="entries up to 1e4"))
    points = np.array([(3.0, 4.0), (100, 20)])
    step_by_step = transform_points(transform_points(transform_points(points, first), second), third)
    assert_equal(transform_points(points, M), step_by_step, tolerance=Tolerance(1e-6, 1e-9, reason="three divisions"))


def test_compose_affine_keeps_affine_rows():
    assert compose_affine(np.eye(2, 3)).shape == (2, 3)
    assert compose_affine(np.eye(2, 3), np.ones((4, 2, 3))).shape == (4, 2, 3)
    assert compose_affine(np.eye(2, 3), np.eye(3)).shape == (3, 3)


SIZE, OUT_SIZE = (60, 90), (48, 70)
TURN = np.array([(0.75, 0.27, -6.0), (-0.27, 0.75, 11.0)])
TILT = np.vstack([TURN, [4e-4, -6e-4, 1.0]])
COORDINATES = np.stack(np.meshgrid(np.arange(90.0), np.arange(60.0)), -1).astype("f4")  # [H, W, 2] of (x, y)


def sample_grid(grid):
    image = torch.from_numpy(COORDINATES).permute(2, 0, 1)[None]
    return torch.nn.functional.grid_sample(image, grid, align_corners=False)[0].permute(1, 2, 0).numpy()


def sample_torch(M):
    theta = torch.from_numpy(M).float()[None]
    if M.shape[-2] == 2:
        return sample_grid(torch.nn.functional.affine_grid(theta, [1, 2, *OUT_SIZE], align_corners=False))
    grid = torch.nn.functional.affine_grid(torch.eye(2, 3)[None], [1, 2, *OUT_SIZE], align_corners=False)
    moved = torch.cat([grid, torch.ones_like(grid[..., :1])], -1) @ theta[0].T
    return sample_grid(moved[..., :2] / moved[..., 2:])


def sample_torchvision(M):
    """``_affine_grid`` of torchvision: pixel centres relative to the middle, divided by half of the input's size."""
    (height, width), (rows, columns) = SIZE, OUT_SIZE
    x, y = np.meshgrid(np.arange(columns) + 0.5 - columns / 2, np.arange(rows) + 0.5 - rows / 2)
    source = move(np.stack([x, y], -1), M)
    return sample_grid(torch.from_numpy(source / (0.5 * width, 0.5 * height)).float()[None])


def sample_kornia(M):
    transform = pytest.importorskip("kornia.geometry.transform")
    warp = transform.warp_affine if M.shape[-2] == 2 else transform.warp_perspective
    image = torch.from_numpy(COORDINATES).permute(2, 0, 1)[None]
    return warp(image, torch.from_numpy(M).float()[None], OUT_SIZE)[0].permute(1, 2, 0).numpy()


def sample_opencv(M):
    warp = cv2.warpAffine if M.shape[-2] == 2 else cv2.warpPerspective
    return np.stack([warp(COORDINATES[..., i], M, OUT_SIZE[::-1]) for i in range(2)], -1)


def sample_pillow(M):
    method = Image.Transform.AFFINE if M.shape[-2] == 2 else Image.Transform.PERSPECTIVE
    data = M.ravel() if M.shape[-2] == 2 else (M / M[2, 2]).ravel()[:8]
    planes = [Image.fromarray(np.ascontiguousarray(COORDINATES[..., i])) for i in range(2)]
    return np.stack([p.transform(OUT_SIZE[::-1], method, data, Image.Resampling.BILINEAR) for p in planes], -1)


def sample_dali(M):
    """DALI's ``WarpAffine`` kernel: source = M @ (x + 0.5, y + 0.5), where a pixel's centre is at +0.5."""
    x, y = np.meshgrid(np.arange(OUT_SIZE[1]) + 0.5, np.arange(OUT_SIZE[0]) + 0.5)
    return move(np.stack([x, y], -1), M) - 0.5


SAMPLERS = {
    "opencv": sample_opencv,
    "kornia": sample_kornia,
    "torch": sample_torch,
    "torchvision": sample_torchvision,
    "pillow": sample_pillow,
    "dali": sample_dali,
}


@pytest.mark.parametrize("M", [TURN, TILT], ids=["affine", "perspective"])
@pytest.mark.parametrize("target", SAMPLERS)
def test_convert_matrix_samples_same_pixels(target, M):
    x, y = np.meshgrid(np.arange(OUT_SIZE[1]), np.arange(OUT_SIZE[0]))
    expected = move(np.stack([x, y], -1), np.linalg.inv(to_3x3(M)))
    actual = SAMPLERS[target](convert_matrix(M, "cuaug", target, size=SIZE, out_size=OUT_SIZE))
    inside = ((expected > 1) & (expected < np.array(SIZE[::-1]) - 2)).all(-1)
    assert inside.mean() > 0.5
    assert_equal(
        actual[inside].astype(np.float64),
        expected[inside],
        tolerance=Tolerance(2e-3, reason="float32 grids, 90 px wide"),
    )


def test_convert_matrix_moves_known_pixel():
    image = torch.zeros(1, 1, 6, 8)
    image[0, 0, 2, 3] = 1
    theta = convert_matrix(torch.tensor([[1.0, 0, 2], [0, 1, 1]]), "cuaug", "torch", size=(6, 8))
    grid = torch.nn.functional.affine_grid(theta[None], [1, 1, 6, 8], align_corners=False)
    moved = torch.nn.functional.grid_sample(image, grid, align_corners=False)[0, 0]
    expected = np.zeros((6, 8), np.float32)
    expected[3, 5] = 1
    assert_equal(moved, expected, library="torch", dtype="float32", tolerance=Tolerance(1e-5, reason="float32 grid"))


NAMES = ["cuaug", *SAMPLERS]


@fixed_settings()
@given(
    st.sampled_from([2, 3]).flatmap(lambda rows: matrices(rows)), *[st.sampled_from(NAMES)] * 3, sizes, sizes
)  # fmt: skip
def test_convert_matrix_routes_agree(M, first, second, third, size, out_size):
    def convert(M, source, target):
        return convert_matrix(M, source, target, size=size, out_size=out_size)

    probe = np.array([(0.0, 0), (0.5, 0.25), (-0.5, 0.75), (0.9, -0.9)])
    M = convert(M, "cuaug", first)
    expected = move(probe, convert(M, first, third))
    close = Tolerance(1e-6, 1e-7, reason="inverses have shifts of 2000 px, which are divided by sizes down to 1 px")
    assert_equal(move(probe, convert(convert(M, first, second), second, third)), expected, tolerance=close)


def test_compose_affine_rejects_no_matrices():
    with pytest.raises(TypeError, match="compose_affine: M must be at least one matrix, got none"):
        compose_affine()
