"""Matrices and points. Oracles: OpenCV, scikit-image, float64 NumPy, and the samplers of the libraries converted to."""

import doctest
import importlib
import math

import cv2
import numpy as np
import pytest
import skimage.transform
import torch
from helpers.arrays import nobody_waits
from helpers.compare import Tolerance, assert_equal, to_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cuaug import fit, geometry
from cuaug._arrays import small_matrices as _matrices
from cuaug.fit import estimate_affine, get_affine_transform, get_perspective_transform
from cuaug.geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    get_rotation_matrix,
    invert_affine,
    transform_boxes,
    transform_points,
)

FLOAT64 = Tolerance(absolute=1e-8, relative=1e-10, reason="float64 against float64 in another order")
SOLVED = Tolerance(absolute=1e-6, relative=1e-8, reason="their solvers work about the origin, not about the centre")
FLOAT32 = Tolerance(absolute=2e-3, relative=1e-4, reason="float32 sums of some hundred pixels")

LIBRARIES = [
    "numpy",
    "torch",
    "jax",
    pytest.param("cupy", marks=pytest.mark.gpu),
    pytest.param("cuda", marks=pytest.mark.gpu),  # torch on the GPU
]


def put(values, library, dtype="float64"):
    """The values as an array of a library."""
    values = np.asarray(values)
    if library in ("torch", "cuda"):
        return torch.tensor(values, dtype=getattr(torch, dtype), device="cuda" if library == "cuda" else "cpu")
    if library == "jax":
        return pytest.importorskip("jax.numpy").asarray(values, dtype=dtype)
    return importlib.import_module(library).asarray(values, dtype=dtype)


def move(points, M):
    """Points [..., P, 2] under [..., 2 or 3, 3], in float64."""
    points, M = np.asarray(points, np.float64), np.asarray(M, np.float64)
    moved = np.concatenate([points, np.ones_like(points[..., :1])], -1) @ np.swapaxes(M, -1, -2)
    return moved[..., :2] / moved[..., 2:] if M.shape[-2] == 3 else moved


def square(M):
    return M if M.shape[-2] == 3 else np.concatenate([M, np.broadcast_to([[0.0, 0.0, 1.0]], (*M.shape[:-2], 1, 3))], -2)


def examples(count=100):
    return settings(derandomize=True, max_examples=count, deadline=None, database=None)


def numbers(low, high):
    return st.floats(low, high)


@st.composite
def batches(draw, points=3, far=3000):
    """Well-spread points: a triangle and a square, jittered, turned, moved. [N, points, 2]"""
    shape = np.array([(0, 0), (100, 0), (100, 100), (0, 100), (50, 20), (30, 70), (80, 60)], np.float64)[:points]
    samples = []
    for _ in range(draw(st.integers(1, 3))):
        jitter = np.array(draw(st.lists(numbers(-20, 20), min_size=2 * points, max_size=2 * points)))
        center = np.array([draw(numbers(-far, far)), draw(numbers(-far, far))])
        turn = draw(numbers(-math.pi, math.pi))
        rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        samples.append((shape + jitter.reshape(points, 2)) @ rotation.T + center)
    return np.array(samples).astype(np.float32).astype(np.float64)  # cv2 reads points as float32


@st.composite
def matrices(draw, rows=2):
    """Invertible maps of everyday size. [rows, 3]"""
    turn, lean = draw(numbers(-math.pi, math.pi)), draw(numbers(-1, 1))
    along, across = draw(numbers(0.25, 4)), draw(numbers(0.25, 4))
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    linear = rotation @ [[along, lean], [0, across]]
    M = np.column_stack([linear, [draw(numbers(-500, 500)), draw(numbers(-500, 500))]])
    tilt = [draw(numbers(-1e-4, 1e-4)), draw(numbers(-1e-4, 1e-4)), 1.0]
    return M if rows == 2 else np.vstack([M, tilt])


def pair(draw_src, draw_dst):
    """Two batches of one length."""
    count = min(len(draw_src), len(draw_dst))
    return draw_src[:count], draw_dst[:count]


# Solvers against other people's.


@examples()
@given(batches(3), batches(3))
def test_get_affine_transform_equals_opencv(src, dst):
    src, dst = pair(src, dst)
    want = np.stack([cv2.getAffineTransform(*ends) for ends in zip(src.astype("f4"), dst.astype("f4"), strict=True)])
    assert_equal(get_affine_transform(src, dst), want, tolerance=SOLVED)
    assert_equal(transform_points(src, get_affine_transform(src, dst)), dst, tolerance=FLOAT64)


@examples()
@given(batches(4), batches(4))
def test_get_perspective_transform_maps_corners(src, dst):
    src, dst = pair(src, dst)
    M = get_perspective_transform(src, dst)
    assert_equal(transform_points(src, M), dst, tolerance=Tolerance(1e-5, reason="horizons close to the origin"))


@examples()
@given(batches(4, far=100), batches(4, far=100))
def test_get_perspective_transform_equals_opencv(src, dst):
    src, dst = pair(src, dst)
    for sample, a, b in zip(get_perspective_transform(src, dst), src.astype("f4"), dst.astype("f4"), strict=True):
        want = move((a + a.mean(0)) / 2, cv2.getPerspectiveTransform(a, b))
        assert_equal(move((a + a.mean(0)) / 2, sample), want, tolerance=Tolerance(1e-5, reason="OpenCV's 8x8 solver"))


def test_get_perspective_transform_last_entry_is_one():
    src = np.array([(10, 10), (200, 20), (190, 180), (15, 170)], np.float64)
    dst = np.array([(0, 0), (224, 0), (224, 224), (0, 224)], np.float64)
    want = cv2.getPerspectiveTransform(src.astype("f4"), dst.astype("f4"))
    assert_equal(get_perspective_transform(src, dst), want, tolerance=FLOAT64)


def test_get_perspective_transform_origin_on_horizon():
    # x' = (x + 1) / x, y' = y / x: the last entry is exactly 0, so no division can make it 1.
    src, horizon = np.array([(2, -1), (8, -2), (8, 2), (2, 1)], np.float64), np.array([(1, 0, 1), (0, 1, 0), (1, 0, 0)])
    M = get_perspective_transform(src, move(src, horizon))
    assert M[2, 2] == 0
    probe = np.array([(1.5, 0.5), (4, 3)])
    assert_equal(transform_points(probe, M), move(probe, horizon), tolerance=FLOAT64)


KINDS = ["affine", "similarity", "rigid"]


def best(src, dst, kind):
    """Least squares in float64. Not scikit-image's affine estimate, which is *total* least squares. [P, 2] to [2, 3]"""
    if kind != "affine":
        peer = {"similarity": skimage.transform.SimilarityTransform, "rigid": skimage.transform.EuclideanTransform}
        return peer[kind].from_estimate(src, dst).params[:2]
    center = src.mean(0)  # about the origin, lstsq would be the less accurate of the two
    solved = np.linalg.lstsq(np.column_stack([src - center, np.ones(len(src))]), dst, rcond=None)[0].T
    return np.column_stack([solved[:, :2], solved[:, 2] - solved[:, :2] @ center])


@pytest.mark.parametrize("kind", KINDS)
@examples()
@given(batches(5), batches(5))
def test_estimate_affine_is_least_squares(kind, src, dst):
    src, dst = pair(src, dst)
    want = np.stack([best(*ends, kind) for ends in zip(src, dst, strict=True)])
    assert_equal(estimate_affine(src, dst, kind), want, tolerance=SOLVED)


@pytest.mark.parametrize("kind", KINDS)
def test_estimate_affine_weights_are_repetitions(kind):
    rng = np.random.default_rng(0)
    src, dst, times = rng.uniform(0, 99, (6, 2)), rng.uniform(0, 99, (6, 2)), np.array([1, 3, 0, 2, 1, 1])
    want = best(np.repeat(src, times, 0), np.repeat(dst, times, 0), kind)
    assert_equal(estimate_affine(src, dst, kind, weights=times), want, tolerance=FLOAT64)


@pytest.mark.parametrize("kind", ["similarity", "rigid"])
def test_estimate_affine_never_reflects(kind):
    src = np.array([(0, 0), (9, 1), (8, 7), (-1, 4)], np.float64)
    dst = src * (-1, 1) + (50, 3)
    M = estimate_affine(src, dst, kind)
    assert np.linalg.det(M[:, :2]) > 0
    assert_equal(M, best(src, dst, kind), tolerance=FLOAT64)


@pytest.mark.parametrize("kind", ["similarity", "rigid"])
def test_estimate_affine_similarity_of_two_points(kind):
    src, dst = np.array([(1, 1), (3, 1)], np.float64), np.array([(5, 5), (5, 7)], np.float64)
    assert_equal(transform_points(src, estimate_affine(src, dst, kind)), dst, tolerance=FLOAT64)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 5, 68, 20000])
def test_estimate_affine_float32_far_from_origin(library, kind, count):
    rng = np.random.default_rng(count)
    face = np.array([(-20, -18), (21, -17), (1, 2), (-16, 22), (17, 21)], np.float64)
    face = face[:count] if count <= 5 else np.vstack([face, rng.uniform(-25, 25, (count - 5, 2))])
    src = (face + rng.normal(0, 2, (8, count, 2)) + 3000).astype("f4")
    dst = (face * 1.7 @ [[0.6, 0.8], [-0.8, 0.6]] + rng.normal(0, 1, (8, count, 2)) + 2900).astype("f4")
    M = estimate_affine(put(src, library, "float32"), put(dst, library, "float32"), kind)
    assert str(M.dtype).endswith("float32")
    src, dst = src.astype(np.float64), dst.astype(np.float64)
    want = np.stack([best(*ends, kind) for ends in zip(src, dst, strict=True)])
    error = np.abs(move(src, to_numpy(M)) - move(src, want))
    assert error.max() < 0.01, f"{error.max():.4f} px"


def test_get_perspective_transform_float32_far_from_origin():
    rng = np.random.default_rng(0)
    quad = np.array([(0, 0), (400, 0), (400, 400), (0, 400)])
    src, dst = ((quad + rng.uniform(-40, 40, (500, 4, 2)) + 2800).astype("f4") for _ in range(2))
    error = np.abs(move(src, get_perspective_transform(src, dst)) - dst)
    assert error.max() < 0.01, f"{error.max():.4f} px"


# Builders.


@examples()
@given(numbers(-720, 720), numbers(0.1, 10), numbers(-4000, 4000), numbers(-4000, 4000))
def test_get_rotation_matrix_equals_opencv(angle, scale, x, y):
    center = float(np.float32(x)), float(np.float32(y))  # OpenCV's point is float32
    want = cv2.getRotationMatrix2D(center, angle, scale)
    assert_equal(get_rotation_matrix(angle, scale, center), want, tolerance=FLOAT64)


def torchvision_inverse(angle, translate, scale, shear):
    """``_get_inverse_affine_matrix`` about the centre, as its comment defines it: the inverse of T @ RSS. [2, 3]"""
    turn, sx, sy = np.radians(angle), *np.radians(shear)
    rotate = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    shear_x, shear_y = np.array([[1, -np.tan(sx)], [0, 1]]), np.array([[1, 0], [-np.tan(sy), 1]])
    forward = np.eye(3)
    forward[:2, :2] = scale * rotate @ shear_y @ shear_x
    forward[:2, 2] = translate
    return np.linalg.inv(forward)[:2]


angles = st.tuples(numbers(-60, 60), numbers(-60, 60))
shifts = st.tuples(numbers(-300, 300), numbers(-300, 300))
sizes = st.tuples(st.integers(1, 2000), st.integers(1, 2000))


@examples()
@given(numbers(-720, 720), shifts, numbers(0.25, 4), angles, sizes)
def test_affine_matrix_equals_torchvision(angle, translate, scale, shear, size):
    height, width = size
    M = affine_matrix(angle, translate, scale, shear, center=(width / 2, height / 2))
    want = torchvision_inverse(angle, translate, scale, shear)
    assert_equal(convert_matrix(M, "cuaug", "torchvision", size=size), want, tolerance=FLOAT64)


def test_affine_matrix_turns_clockwise_about_center():
    M = affine_matrix(90, (0, 0), 1.0, (0, 0), center=(2, 2))  # of a 4x4 image
    assert_equal(transform_points([(0, 0), (3, 0), (3, 3)], M), np.array([(3.0, 0), (3, 3), (0, 3)]), tolerance=FLOAT64)


def test_affine_matrix_parameters_per_sample():
    M = affine_matrix([0, 90], (0, 0), 1.0, (0, 0), center=[(2, 2), (3, 3)])
    one_by_one = [affine_matrix(0, (0, 0), 1.0, (0, 0), (2, 2)), affine_matrix(90, (0, 0), 1.0, (0, 0), (3, 3))]
    assert_equal(M, np.stack(one_by_one))
    assert_equal(get_rotation_matrix([0, 90])[1], get_rotation_matrix(90))


# Algebra.


@examples()
@given(matrices())
def test_invert_affine_equals_opencv(M):
    assert_equal(invert_affine(M), cv2.invertAffineTransform(M), tolerance=FLOAT64)


@examples()
@given(st.sampled_from([2, 3]).flatmap(lambda rows: matrices(rows)))
def test_invert_affine_undoes(M):
    identity = Tolerance(1e-9, reason="translations of 500 px, scales down to 1/4")
    assert_equal(square(compose_affine(M, invert_affine(M))), np.eye(3), tolerance=identity)
    assert_equal(square(compose_affine(invert_affine(M), M)), np.eye(3), tolerance=identity)


def test_invert_affine_thin_matrix_is_not_singular():
    for M in ([(1e-6, 0, 9), (0, 1e-6, 9)], [(1.0, 1e6, 0), (0, 1.0, 0)], [(1e6, 0, 3000), (0, 1e-6, 3000)]):
        assert_equal(compose_affine(invert_affine(M), M), np.eye(2, 3), tolerance=Tolerance(1e-3, reason="3000 * 1e6"))


@examples()
@given(matrices(), matrices(3), matrices())
def test_compose_affine_applies_left_to_right(first, second, third):
    M = compose_affine(first, second, third)
    want = square(third) @ square(second) @ square(first)
    assert_equal(M, want, tolerance=Tolerance(1e-6, 1e-9, reason="entries up to 1e4"))
    points = np.array([(3.0, 4.0), (100, 20)])
    step_by_step = transform_points(transform_points(transform_points(points, first), second), third)
    assert_equal(transform_points(points, M), step_by_step, tolerance=Tolerance(1e-6, 1e-9, reason="three divisions"))


def test_compose_affine_keeps_affine_rows():
    assert compose_affine(np.eye(2, 3)).shape == (2, 3)
    assert compose_affine(np.eye(2, 3), np.ones((4, 2, 3))).shape == (4, 2, 3)
    assert compose_affine(np.eye(2, 3), np.eye(3)).shape == (3, 3)


# Points and boxes.


@examples()
@given(batches(4), matrices(), matrices(3))
def test_transform_points_equals_opencv(points, affine, perspective):
    affine_want = np.stack([cv2.transform(sample[None], affine)[0] for sample in points])
    assert_equal(transform_points(points, affine), affine_want, tolerance=FLOAT64)
    near = points % 400  # the horizon of the drawn maps is 5000 px away
    perspective_want = np.stack([cv2.perspectiveTransform(sample[None], perspective)[0] for sample in near])
    assert_equal(transform_points(near, perspective), perspective_want, tolerance=FLOAT64)


def test_transform_points_keeps_missing_points():
    moved = transform_points([(1, 2), (math.nan, math.nan)], [(1, 0, 1), (0, 1, 1)])
    assert_equal(moved, np.array([(2, 3), (math.nan, math.nan)]))


def test_transform_points_horizon_is_infinite():
    assert np.isinf(transform_points([(0, 2)], [(1, 0, 1), (0, 1, 0), (1, 0, 0)])).all()


TO_XYXY = {
    "XYXY": lambda a, b, c, d: (a, b, c, d),
    "XYWH": lambda x, y, w, h: (x, y, x + w, y + h),
    "CXCYWH": lambda x, y, w, h: (x - w / 2, y - h / 2, x + w / 2, y + h / 2),
}


@pytest.mark.parametrize("format", TO_XYXY)
@pytest.mark.parametrize("rows", [2, 3])
def test_transform_boxes_bounds_moved_corners(format, rows):
    @examples()
    @given(st.tuples(numbers(0, 200), numbers(0, 200), numbers(201, 400), numbers(201, 400)), matrices(rows))
    def check(box, M):
        x1, y1, x2, y2 = TO_XYXY[format](*box)
        corners = move(np.array([(x1, y1), (x2, y1), (x2, y2), (x1, y2)]) - 0.5, M) + 0.5
        moved = transform_boxes([box], M, format)
        want = np.array([(*corners.min(0), *corners.max(0))])
        assert_equal(np.stack(TO_XYXY[format](*moved.T), -1), want, tolerance=FLOAT64)

    check()


@pytest.mark.parametrize(
    "M",
    [
        [(-1, 0, 39), (0, 1, 0)],  # horizontal flip of 40 columns
        [(0, 1, 0), (-1, 0, 39)],  # quarter turn
        [(2, 0, 0.5), (0, 2, 0.5)],  # each pixel becomes 2x2
        [(1, 0, 7), (0, 1, -3)],
    ],
)
def test_transform_boxes_cover_their_pixels(M):
    image = np.zeros((40, 40), np.uint8)
    image[5:9, 12:18] = 255
    rows, columns = np.nonzero(cv2.warpAffine(image, np.array(M, np.float64), (90, 90), flags=cv2.INTER_NEAREST))
    want = np.array([(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)], np.float64)
    assert_equal(transform_boxes([(12, 5, 18, 9)], M), want)


# Conventions: every library samples an image of its own coordinates, so each result pixel says where it came from.

SIZE, OUT_SIZE = (60, 90), (48, 70)
TURN = np.array([(0.75, 0.27, -6.0), (-0.27, 0.75, 11.0)])
TILT = np.vstack([TURN, [4e-4, -6e-4, 1.0]])
COORDINATES = np.stack(np.meshgrid(np.arange(90.0), np.arange(60.0)), -1).astype("f4")  # [H, W, 2] of (x, y)


def torch_sample(grid):
    image = torch.from_numpy(COORDINATES).permute(2, 0, 1)[None]
    return torch.nn.functional.grid_sample(image, grid, align_corners=False)[0].permute(1, 2, 0).numpy()


def sample_torch(M):
    theta = torch.from_numpy(M).float()[None]
    if M.shape[-2] == 2:
        return torch_sample(torch.nn.functional.affine_grid(theta, [1, 2, *OUT_SIZE], align_corners=False))
    grid = torch.nn.functional.affine_grid(torch.eye(2, 3)[None], [1, 2, *OUT_SIZE], align_corners=False)
    moved = torch.cat([grid, torch.ones_like(grid[..., :1])], -1) @ theta[0].T
    return torch_sample(moved[..., :2] / moved[..., 2:])


def sample_torchvision(M):
    """``_affine_grid`` of torchvision: pixel centres about the middle, over half of the input's size."""
    (height, width), (rows, columns) = SIZE, OUT_SIZE
    x, y = np.meshgrid(np.arange(columns) + 0.5 - columns / 2, np.arange(rows) + 0.5 - rows / 2)
    middle = move(np.stack([x, y], -1), M)
    return torch_sample(torch.from_numpy(middle / (0.5 * width, 0.5 * height)).float()[None])


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
    want = move(np.stack([x, y], -1), np.linalg.inv(square(M)))
    got = SAMPLERS[target](convert_matrix(M, "cuaug", target, size=SIZE, out_size=OUT_SIZE))
    inside = ((want > 1) & (want < np.array(SIZE[::-1]) - 2)).all(-1)
    assert inside.mean() > 0.5
    assert_equal(
        got[inside].astype(np.float64), want[inside], tolerance=Tolerance(2e-3, reason="float32 grids, 90 px wide")
    )


def test_convert_matrix_known_pixel():
    image = torch.zeros(1, 1, 6, 8)
    image[0, 0, 2, 3] = 1
    theta = convert_matrix(torch.tensor([[1.0, 0, 2], [0, 1, 1]]), "cuaug", "torch", size=(6, 8))
    grid = torch.nn.functional.affine_grid(theta[None], [1, 1, 6, 8], align_corners=False)
    moved = torch.nn.functional.grid_sample(image, grid, align_corners=False)[0, 0]
    want = np.zeros((6, 8), np.float32)
    want[3, 5] = 1
    assert_equal(moved, want, library="torch", dtype="float32", tolerance=Tolerance(1e-5, reason="float32 grid"))


NAMES = ["cuaug", *SAMPLERS]


@examples()
@given(
    st.sampled_from([2, 3]).flatmap(lambda rows: matrices(rows)), *[st.sampled_from(NAMES)] * 3, sizes, sizes
)  # fmt: skip
def test_convert_matrix_routes_agree(M, first, second, third, size, out_size):
    def convert(M, source, target):
        return convert_matrix(M, source, target, size=size, out_size=out_size)

    probe = np.array([(0.0, 0), (0.5, 0.25), (-0.5, 0.75), (0.9, -0.9)])
    M = convert(M, "cuaug", first)
    want = move(probe, convert(M, first, third))
    close = Tolerance(1e-6, 1e-7, reason="inverses of maps with scale 1/4 and shifts of 2000 px, on axes of 1 px")
    assert_equal(move(probe, convert(convert(M, first, second), second, third)), want, tolerance=close)


# Laws of every function.

RNG = np.random.default_rng(1)
QUADS = np.array([(0, 0), (100, 0), (110, 90), (5, 120)]) + RNG.uniform(-15, 15, (5, 4, 2))
QUADS_OUT = np.array([(10, 5), (80, 0), (90, 95), (0, 100)]) + RNG.uniform(-15, 15, (5, 4, 2))
MAPS = np.stack([cv2.getRotationMatrix2D((40, 30), 25 * i, 0.5 + 0.3 * i) for i in range(5)])
BOXES = np.array([(5, 6, 20, 30), (1, 1, 90, 80)]) + RNG.uniform(0, 1, (5, 2, 4))
WEIGHTS = RNG.uniform(0.5, 2, (5, 4))

# function -> arguments, one sample per row
CASES = {
    "get_affine_transform": (get_affine_transform, (QUADS[:, :3], QUADS_OUT[:, :3])),
    "estimate_affine": (estimate_affine, (QUADS, QUADS_OUT)),
    "estimate_similarity": (lambda a, b, w: estimate_affine(a, b, "similarity", w), (QUADS, QUADS_OUT, WEIGHTS)),
    "estimate_rigid": (lambda a, b: estimate_affine(a, b, "rigid"), (QUADS, QUADS_OUT)),
    "get_perspective_transform": (get_perspective_transform, (QUADS, QUADS_OUT)),
    "get_rotation_matrix": (get_rotation_matrix, (QUADS[:, 0, 0], WEIGHTS[:, 0], QUADS[:, 1])),
    "affine_matrix": (
        affine_matrix, (QUADS[:, 0, 0], QUADS[:, 1], WEIGHTS[:, 0], QUADS[:, 0], QUADS[:, 2])
    ),
    "invert_affine": (invert_affine, (MAPS,)),
    "compose_affine": (compose_affine, (MAPS, np.flip(MAPS, 0).copy())),
    "transform_points": (transform_points, (QUADS, MAPS)),
    "transform_boxes": (transform_boxes, (BOXES, MAPS)),
    "convert_matrix": (lambda M: convert_matrix(M, "cuaug", "torch", size=(60, 90)), (MAPS,)),
}  # fmt: skip
every_function = pytest.mark.parametrize(("function", "arguments"), CASES.values(), ids=CASES)


def test_matrix_functions_have_cases():
    assert {*geometry.__all__, *fit.__all__} <= {*CASES}


@every_function
def test_matrix_function_batch_equals_samples(function, arguments):
    together = function(*arguments)
    one_by_one = np.stack([function(*sample) for sample in zip(*arguments, strict=True)])
    rounding = Tolerance(1e-10, reason="NumPy sums one sample in another order")
    assert_equal(together, one_by_one, tolerance=rounding)
    assert_equal(function(*(a[:1] for a in arguments)), one_by_one[:1], tolerance=rounding)
    assert_equal(function(*(a[:0] for a in arguments)), one_by_one[:0])


@every_function
def test_matrix_function_broadcasts_one_argument(function, arguments):
    one, *rest = arguments
    repeated = function(np.repeat(one[:1], len(one), 0), *rest)
    assert_equal(function(one[0], *rest), repeated[0] if not rest else repeated)


@every_function
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_function_keeps_library_and_values(function, arguments, library, dtype):
    if (library, dtype) == ("jax", "float64"):
        pytest.skip("JAX holds 64-bit numbers only with jax_enable_x64")
    given = [put(a, library, dtype) for a in arguments]
    before = [to_numpy(a) for a in given]
    got = function(*given)
    want = function(*arguments)
    assert_equal(
        got,
        want,
        library="torch" if library == "cuda" else library,
        device="cuda:0" if library in ("cuda", "cupy") else "cpu",
        dtype=dtype,
        tolerance=FLOAT64 if dtype == "float64" else FLOAT32,
    )
    for array, copy in zip(given, before, strict=True):
        assert np.array_equal(to_numpy(array), copy), "an input was written"


@every_function
def test_matrix_function_widens_small_dtypes(function, arguments):
    assert function(*(np.rint(10 * a).astype(np.int32).tolist() for a in arguments)).dtype == np.float64
    assert function(*(np.rint(10 * a).astype(np.int64) for a in arguments)).dtype == np.float64
    assert function(*(torch.tensor(a).to(torch.float16) for a in arguments)).dtype == torch.float32
    assert function(*(torch.tensor(a).to(torch.bfloat16) for a in arguments)).dtype == torch.float32


@every_function
def test_matrix_function_lists_follow_array_dtype(function, arguments):
    first, *rest = arguments
    assert function(torch.tensor(first).float(), *(a.tolist() for a in rest)).dtype == torch.float32


@every_function
def test_matrix_function_reads_strided_views(function, arguments):
    views = [np.repeat(a, 2, 0)[::2] for a in arguments]
    assert_equal(function(*views), function(*arguments), tolerance=Tolerance(1e-10, reason="another order of sums"))


@pytest.fixture
def unread(monkeypatch):
    """Values that cannot be read, where there is no GPU: meta tensors, for which the bridge has no place."""
    monkeypatch.setattr(_matrices, "is_host", lambda array: False)
    monkeypatch.setattr(_matrices, "asarray", lambda value, like, dtype: torch.as_tensor(value, device="meta"))
    return lambda values: torch.tensor(values, device="meta")


@every_function
def test_matrix_function_never_reads_device_values(function, arguments, unread):
    result = function(*map(unread, arguments))
    assert result.device.type == "meta"
    assert result.shape == function(*arguments).shape


@every_function
def test_matrix_function_gradients_flow(function, arguments):
    assert torch.autograd.gradcheck(function, [torch.tensor(a, requires_grad=True) for a in arguments], atol=1e-4)


@every_function
@pytest.mark.gpu
def test_matrix_function_does_not_synchronize(function, arguments):
    given = [torch.tensor(a, device="cuda") for a in arguments]
    with nobody_waits():
        function(*given)


@pytest.mark.parametrize("kind", KINDS)
@examples()
@given(batches(7), batches(7), st.permutations(range(7)))
def test_estimate_affine_ignores_point_order(kind, src, dst, order):
    src, dst = pair(src, dst)
    permuted = estimate_affine(src[:, order], dst[:, order], kind)
    assert_equal(permuted, estimate_affine(src, dst, kind), tolerance=FLOAT64)


@examples()
@given(batches(4), batches(4), st.permutations(range(4)))
def test_get_perspective_transform_ignores_corner_order(src, dst, order):
    src, dst = pair(src, dst)
    M, permuted = get_perspective_transform(src, dst), get_perspective_transform(src[:, order], dst[:, order])
    assert_equal(transform_points(src, permuted), transform_points(src, M), tolerance=Tolerance(1e-5, reason="horizon"))


# What is refused on the host, and NaN on a device.

LINE = [(0, 0), (1, 1), (3, 3)]
TRIANGLE = [(0, 0), (4, 0), (0, 4)]
QUAD = [(0, 0), (4, 0), (4, 4), (0, 4)]
KITE = [(0, 0), (4, 0), (2, 2), (0, 4)]  # the third lies on the line of the second and the fourth
POINT = [(3, 3)] * 4
MIRRORED = (np.array(QUAD) * (-1, 1) @ [(math.cos(0.3), -math.sin(0.3)), (math.sin(0.3), math.cos(0.3))] + 7).tolist()
EYE, FLAT = [(1, 0, 0), (0, 1, 0)], [(1, 2, 0), (2, 4, 0)]
NAN, INF = math.nan, math.inf

DEGENERATE = {
    "affine from a line": (get_affine_transform, (LINE, TRIANGLE), "src must not be collinear"),
    "affine from a steep line": (get_affine_transform, ([(2, 0), (2, 5), (2, 9)], TRIANGLE), "src must not be collin"),
    "affine from a level line": (get_affine_transform, ([(0, 2), (5, 2), (9, 2)], TRIANGLE), "src must not be collin"),
    "affine from a rounded line": (
        get_affine_transform, ([(0.1, 0.3), (0.2, 0.6), (0.3, 0.9)], TRIANGLE), "src must not be collinear"
    ),
    "affine from one point": (estimate_affine, (POINT, QUAD), "src must not be collinear or coincident"),
    "affine from two weighted points": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, 0, 1, 0]), "src must not be collinear"
    ),
    "similarity from one point": (
        lambda a, b: estimate_affine(a, b, "similarity"), (POINT, QUAD), "src must not be coincident"
    ),
    "similarity of far equal points": (
        lambda a, b: estimate_affine(a, b, "similarity"), ([(0.1, 3000.7)] * 3, TRIANGLE), "src must not be coincident"
    ),
    "rigid onto one point": (lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, POINT), "dst must have a best rota"),
    "rigid onto a mirror image": (
        lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, [QUAD[i] for i in (1, 0, 3, 2)]), "dst must have a best"
    ),
    "rigid onto a rounded mirror image": (
        lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, MIRRORED), "dst must have a best rotation"
    ),
    "weights of 0": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [0, 0, 0, 0]), "weights must not be negative"
    ),
    "weights below 0": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, -1, 1, 1]), "weights must not be negative"
    ),
    "quad from a triangle": (get_perspective_transform, (KITE, QUAD), "src must not have three collinear points"),
    "quad onto a triangle": (get_perspective_transform, (QUAD, KITE), "dst must not have three collinear points"),
    "quad from a point": (get_perspective_transform, (POINT, QUAD), "src must not have three collinear points"),
    "flat affine": (invert_affine, (FLAT,), "M must not be singular"),
    "rounded flat affine": (invert_affine, ([(0.1, 0.3, 0), (0.3, 0.9, 0)],), "M must not be singular"),
    "zero affine": (invert_affine, ([(0, 0, 0), (0, 0, 0)],), "M must not be singular"),
    "flat perspective": (invert_affine, ([(1, 2, 3), (0.1, 0.3, 0.7), (0.2, 0.6, 1.4)],), "M must not be singular"),
    "flat to torch": (
        lambda M: convert_matrix(M, "cuaug", "torch", size=(4, 4)), (FLAT,), "convert_matrix: M must not be singular"
    ),
    "points of NaN": (get_affine_transform, ([(0, 0), (1, 0), (0, NAN)], TRIANGLE), "src must be finite"),
    "points at infinity": (estimate_affine, (TRIANGLE, [(0, 0), (INF, 0), (0, 1)]), "dst must be finite"),
    "quad of NaN": (get_perspective_transform, ([*TRIANGLE, (NAN, 1)], QUAD), "src must be finite"),
    "weights of NaN": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, NAN, 1, 1]), "weights must be finite"
    ),
    "inverse of NaN": (invert_affine, ([(NAN, 0, 0), (0, 1, 0)],), "M must be finite"),
}  # fmt: skip
every_degenerate = pytest.mark.parametrize(("function", "arguments", "message"), DEGENERATE.values(), ids=DEGENERATE)


@every_degenerate
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_function_rejects_degenerate_host_input(function, arguments, message, library, dtype):
    dtype = "float32" if library == "jax" else dtype
    with pytest.raises(ValueError, match=f"{message}.*in sample 0"):
        function(*(put(a, library, dtype) for a in arguments))


@every_degenerate
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_matrix_function_degenerate_device_input_is_nan(function, arguments, message, library, monkeypatch):
    monkeypatch.setattr(_matrices, "is_host", lambda array: False)  # a CPU tensor stands in where there is no GPU
    result = to_numpy(function(*(put(a, library, "float32") for a in arguments)))
    assert np.isnan(result).any()
    assert not np.isinf(result).any()
    assert np.isnan(result).all() or "finite" in message


def test_matrix_function_degenerate_device_sample_is_isolated(monkeypatch):
    want = get_affine_transform(np.array(TRIANGLE), np.array(TRIANGLE))
    monkeypatch.setattr(_matrices, "is_host", lambda array: False)
    M = get_affine_transform(torch.tensor([TRIANGLE, LINE, TRIANGLE]), torch.tensor(TRIANGLE))
    assert_equal(M, np.stack([want, want * NAN, want]), library="torch", dtype="float64", tolerance=FLOAT64)


REFUSED = {
    "sample": (
        lambda: get_affine_transform([TRIANGLE, TRIANGLE, LINE], TRIANGLE),
        r"^cuaug.get_affine_transform: src must not be collinear or coincident, got \[\[0.0, 0.0\], .*\] in sample 2$",
    ),
    "sample of weights": (
        lambda: estimate_affine(QUAD, QUAD, weights=[[1, 1, 1, 1], [0, 0, 0, 0]]),
        r"^cuaug.estimate_affine: weights must not .*, got \[0.0, 0.0, 0.0, 0.0\] in sample 1$",
    ),
    "sample of M": (lambda: invert_affine([EYE, FLAT]), "^cuaug.invert_affine: M must not be sing.* in sample 1$"),
    "long samples": (
        lambda: estimate_affine([(i, i) for i in range(999)], [(i, i) for i in range(999)]), r"\.\.\.\] in sample 0$"
    ),
    "points": (lambda: get_affine_transform(QUAD, TRIANGLE), r"src must have shape \[..., 3, 2\], got \[4, 2\]"),
    "planes": (lambda: get_affine_transform(TRIANGLE, np.ones((3, 3))), r"dst must have shape \[..., 3, 2\], got"),
    "corners": (lambda: get_perspective_transform(QUAD, TRIANGLE), r"dst must have shape \[..., 4, 2\], got \[3, 2\]"),
    "flat points": (lambda: estimate_affine([1, 2], [3, 4]), r"src must have shape \[..., P, 2\], got \[2\]"),
    "too few": (lambda: estimate_affine(QUAD[:2], QUAD[:2]), "src must have at least 3 points for 'affine', got 2"),
    "one": (lambda: estimate_affine([(1, 1)], [(1, 1)], "rigid"), "at least 2 points for 'rigid', got 1"),
    "none": (lambda: estimate_affine(np.ones((0, 2)), np.ones((0, 2)), "similarity"), "at least 2 points .*, got 0"),
    "unequal": (lambda: estimate_affine(QUAD, TRIANGLE), "dst must have as many points as src, 4, got 3"),
    "batches": (
        lambda: estimate_affine(np.ones((2, 4, 2)), np.ones((3, 4, 2))), r"src, dst must agree in their batch, got"
    ),
    "weights": (lambda: estimate_affine(QUAD, QUAD, weights=[1, 2]), "weights must have one number per point, 4, got"),
    "kind": (lambda: estimate_affine(QUAD, QUAD, "perspective"), "kind must be one of 'affine', .*, got 'persp"),
    "angle": (lambda: get_rotation_matrix([0, NAN]), "get_rotation_matrix: angle must be finite, got nan in sample 1"),
    "center": (lambda: get_rotation_matrix(0, 1, 5), r"center must have shape \[..., 2\], got \[\]"),
    "scale": (lambda: affine_matrix(0, (0, 0), [1, 0], (0, 0), (0, 0)), "scale must be greater than 0, got 0.0 in sam"),
    "shear": (lambda: affine_matrix(0, (0, 0), 1, 5, (0, 0)), r"affine_matrix: shear must have shape \[..., 2\]"),
    "translate": (lambda: affine_matrix(0, (INF, 0), 1, (0, 0), (0, 0)), "translate must be finite, got"),
    "matrix": (lambda: invert_affine(np.eye(4)), r"M must have shape \[..., 2|3, 3\], got \[4, 4\]"),
    "second matrix": (lambda: compose_affine(EYE, [1, 2]), r"compose_affine: M\[1\] must have shape"),
    "matrix of points": (lambda: transform_points(QUAD, [(NAN, 0, 0), (0, 1, 0)]), "transform_points: M must be fin"),
    "3-D points": (lambda: transform_points([(1, 2, 3)], EYE), r"points must have shape \[..., P, 2\]"),
    "boxes": (lambda: transform_boxes(QUAD, EYE), r"transform_boxes: boxes must have shape \[..., P, 4\]"),
    "format": (lambda: transform_boxes([(0, 0, 1, 1)], EYE, "xyxy"), "format must be one of 'XYXY', .*, got 'xyxy'"),
    "source": (lambda: convert_matrix(EYE, "cv", "torch"), "source must be one of 'cuaug', 'opencv', .*, got 'cv'"),
    "target": (lambda: convert_matrix(EYE, "dali", "jax"), "target must be one of 'cuaug', 'opencv', .*, got 'jax'"),
    "no size": (lambda: convert_matrix(EYE, "torch", "dali"), r"size must be \(H, W\) for 'torch', got None"),
    "size": (lambda: convert_matrix(EYE, "cuaug", "torch", size=(0, 4)), "size must be at least 1, got 0"),
    "out_size": (lambda: convert_matrix(EYE, "cuaug", "torch", size=(4, 4), out_size=(4,)), "out_size must be"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_matrix_function_rejects_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_compose_affine_rejects_no_matrices():
    with pytest.raises(TypeError, match="compose_affine: M must be at least one matrix, got none"):
        compose_affine()


@pytest.mark.parametrize("module", [geometry, fit], ids=["geometry", "fit"])
def test_geometry_docstring_examples_run(module):
    assert doctest.testmod(module).failed == 0
    for name in module.__all__:
        assert ">>>" in getattr(module, name).__doc__, f"{name} has no example"
