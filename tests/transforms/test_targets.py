"""Boxes and keypoints that follow their images. Oracles: OpenCV, kornia, and float64 NumPy, box by box."""

import doctest
import math

import cv2
import numpy as np
import pytest
import torch
from helpers.arrays import HOMES, home_id, nobody_waits, put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from hypothesis import given
from hypothesis import strategies as st

from cuaug._arrays import convert
from cuaug._arrays import small_matrices as _matrices
from cuaug.transforms import boxes as _boxes
from cuaug.transforms import keypoints as _keypoints
from cuaug.transforms import point_map as _map

Boxes, Keypoints = _boxes.Boxes, _keypoints.Keypoints
move_boxes, move_keypoints = _boxes.transform_boxes, _keypoints.transform_keypoints

every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
FLOAT64 = Tolerance(1e-9, 1e-10, reason="float64 against float64 in another order")
FLOAT32 = Tolerance(2e-3, 1e-4, reason="float32 sums of some hundred pixels")
SIZE, OUT_SIZE = (200, 300), (160, 240)
HFLIP = np.array([[-1.0, 0, 299], [0, 1, 0], [0, 0, 1]])
EYE = np.eye(3)


def maps(count, kind="perspective", seed=0):
    """Turned, mirrored, scaled, moved and tilted, so that much of the image stays in sight. [N, 3, 3]"""
    rng, found = seeded("maps", kind, seed), []
    for _ in range(count):
        turn, scale = rng.uniform(-math.pi, math.pi), rng.uniform(0.5, 1.5)
        linear = scale * np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        linear = linear @ np.diag([rng.choice([-1, 1]), 1]) @ [[1, rng.uniform(-0.3, 0.3)], [0, 1]]
        M = np.eye(3)
        M[:2, :2] = linear
        M[:2, 2] = np.array([120, 80]) - linear @ [150, 100] + rng.uniform(-30, 30, 2)
        if kind == "perspective":
            M[2, :2] = rng.uniform(-1e-3, 1e-3, 2)
        found.append(M)
    return np.array(found)


def some_boxes(shape, seed=0):
    """Left, top, right, bottom within `SIZE`, some beyond its edges. [..., 4]"""
    rng = seeded("boxes", shape, seed)
    low = rng.uniform(-20, (260, 160), (*shape, 2))
    return np.concatenate([low, low + rng.uniform(4, 90, (*shape, 2))], -1)


def formatted(edges, format):
    left, top, right, bottom = np.moveaxis(np.asarray(edges, float), -1, 0)
    width, height = right - left, bottom - top
    return np.stack(
        {
            "XYXY": (left, top, right, bottom),
            "XYWH": (left, top, width, height),
            "CXCYWH": (left + width / 2, top + height / 2, width, height),
        }[format],
        -1,
    )


def unformatted(box, format):
    a, b, c, d = box
    return {
        "XYXY": (a, b, c, d),
        "XYWH": (a, b, a + c, b + d),
        "CXCYWH": (a - c / 2, b - d / 2, a + c / 2, b + d / 2),
    }[format]


def carried(points, M):
    """OpenCV's. [P, 2]"""
    return cv2.perspectiveTransform(np.array(points, np.float64)[None], M)[0]


def expected_box(box, M, format, out_size, whole=False):
    """One box, in float64: what it becomes, its area, and the area before clipping."""
    left, top, right, bottom = unformatted(np.asarray(box, np.float64), format)
    corners = carried([(x - 0.5, y - 0.5) for x in (left, right) for y in (top, bottom)], M) + 0.5
    edges = np.array([*corners.min(0), *corners.max(0)])
    edges = np.rint(edges) if whole else edges
    before = (edges[2] - edges[0]) * (edges[3] - edges[1])
    height, width = out_size
    edges = np.clip(edges, 0, (width, height, width, height))
    return formatted(edges, format), (edges[2] - edges[0]) * (edges[3] - edges[1]), before


def expected_boxes(boxes, M, format="XYXY", out_size=OUT_SIZE, min_area=0, min_visibility=0, whole=False):
    """[N, B, 4] and [N, B]"""
    found = [[expected_box(box, m, format, out_size, whole) for box in own] for own, m in zip(boxes, M, strict=True)]
    moved = np.array([[box for box, _, _ in own] for own in found])
    valid = [[a > 0 and a >= min_area and a >= min_visibility * b for _, a, b in own] for own in found]
    return moved, np.array(valid)


def assert_boxes(actual, expected, home, dtype, tolerance):
    (boxes, valid), (want, want_valid) = actual, expected
    place = {"library": home[0], "device": "cuda:0" if home[1] == "cuda" else "cpu"}
    assert_equal(boxes, want, dtype=dtype, tolerance=tolerance, **place)
    assert_equal(valid, want_valid, dtype="bool", **place)


# Boxes.


@every_home
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["affine", "perspective"])
def test_boxes_are_clipped_bounds_of_moved_corners(home, format, dtype, kind):
    M, given = maps(5, kind), formatted(some_boxes((5, 7)), format).astype(dtype)
    options = Boxes(format, min_area=400, min_visibility=0.6)
    moved = move_boxes(put(given, home), put(M.astype(dtype), home), OUT_SIZE, options)
    want = expected_boxes(given, M.astype(dtype).astype(float), format, OUT_SIZE, 400, 0.6)
    assert 0 < want[1].mean() < 1
    assert_boxes(moved, want, home, dtype, FLOAT64 if dtype == "float64" else FLOAT32)


@every_home
@pytest.mark.parametrize("format", ["XYXY", "XYWH"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "int16"])
def test_boxes_integer_edges_are_rounded(home, format, dtype):
    M, given = maps(4), formatted(np.rint(some_boxes((4, 6))), format).astype(dtype)
    moved = move_boxes(put(given, home), put(M.astype("f4"), home), OUT_SIZE, Boxes(format, min_visibility=0.5))
    want = expected_boxes(given, M.astype("f4").astype(float), format, OUT_SIZE, 0, 0.5, whole=True)
    assert_boxes(moved, want, home, dtype, EXACT)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_boxes_half_precision_moves_in_float32(dtype):
    given = torch.tensor([[[10, 20, 30, 44.0]]], dtype=getattr(torch, dtype))
    moved, valid = move_boxes(given, torch.tensor([[[2.0, 0, 3], [0, 2, 0], [0, 0, 1]]]), (400, 400), Boxes())
    assert_equal(moved, torch.tensor([[[22.5, 39.5, 62.5, 87.5]]]).to(given.dtype))
    assert valid.tolist() == [[True]]


@every_home
def test_boxes_ragged_equal_dense(home):
    M, lengths = maps(4).astype("f4"), [3, 0, 1, 5]
    given = [some_boxes((n,), seed=n).astype("f4") for n in lengths]
    options = Boxes(min_visibility=0.5)
    moved, valid = move_boxes([put(own, home) for own in given], put(M, home), OUT_SIZE, options)
    assert [tuple(own.shape) for own in moved] == [(n, 4) for n in lengths]
    assert [tuple(own.shape) for own in valid] == [(n,) for n in lengths]
    for i, own in enumerate(given):
        if len(own):
            want = expected_boxes(own[None], M[i : i + 1].astype(float), min_visibility=0.5)
            assert_boxes((moved[i][None], valid[i][None]), want, home, "float32", FLOAT32)


@every_home
def test_boxes_canvas_per_sample(home):
    M, sizes = maps(3).astype("f4"), np.array([(160, 240), (50, 300), (200, 40)])
    given = some_boxes((3, 4)).astype("f4")
    want = [expected_boxes(given[i : i + 1], M[i : i + 1].astype(float), out_size=tuple(sizes[i])) for i in range(3)]
    want = tuple(np.concatenate(part) for part in zip(*want, strict=True))
    for canvas in (sizes, put(sizes.astype("i4"), home), [tuple(map(int, size)) for size in sizes]):
        dense = move_boxes(put(given, home), put(M, home), canvas, Boxes())
        assert_boxes(dense, want, home, "float32", FLOAT32)
        boxes, valid = move_boxes([put(own, home) for own in given], put(M, home), canvas, Boxes())
        for i in range(3):
            assert_boxes((boxes[i], valid[i]), (want[0][i], want[1][i]), home, "float32", FLOAT32)


@pytest.mark.parametrize("kind", ["affine", "perspective"])
def test_boxes_unrotated_equal_kornia(kind):
    """kornia carries two corners, about which it must not turn, and leaves half a pixel to its caller."""
    bbox = pytest.importorskip("kornia.geometry.bbox")
    M = np.stack([np.diag([-1.3, 0.7, 1.0]), np.diag([0.6, -1.5, 1.0])])
    M[:, :2, 2] = 230, 90
    if kind == "perspective":
        M = np.stack([np.diag([0.9, 1.2, 1.25]), np.diag([1.5, 0.8, 0.8])])
    given = some_boxes((2, 5))
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    want = bbox.transform_bbox(torch.from_numpy(half @ M @ np.linalg.inv(half)), torch.from_numpy(given)).numpy()
    want = np.clip(want, 0, (240, 160, 240, 160))
    moved, _ = move_boxes(given, M, OUT_SIZE, Boxes())
    assert_equal(moved, want, tolerance=FLOAT64)


@pytest.mark.parametrize(
    "M",
    [
        [(-1, 0, 39), (0, 1, 0), (0, 0, 1)],  # horizontal flip of 40 columns
        [(0, 1, 0), (-1, 0, 39), (0, 0, 1)],  # quarter turn
        [(2, 0, 0.5), (0, 2, 0.5), (0, 0, 1)],  # each pixel becomes 2x2
        [(1, 0, -14), (0, 1, 3), (0, 0, 1)],  # the canvas cuts it
    ],
)
def test_boxes_cover_pixels_that_opencv_moves(M):
    image = np.zeros((40, 40), np.uint8)
    image[5:9, 12:18] = 255
    M = np.array([M], np.float64)
    rows, columns = np.nonzero(cv2.warpAffine(image, M[0, :2], (36, 36), flags=cv2.INTER_NEAREST))
    want = np.array([[(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)]])
    moved, valid = move_boxes(np.array([[(12, 5, 18, 9)]]), M, (36, 36), Boxes())
    assert_equal(moved, want)
    assert valid.all()


edges = st.tuples(st.integers(0, 250), st.integers(0, 150), st.integers(1, 50), st.integers(1, 50))


@given(st.lists(edges, min_size=1, max_size=4), st.sampled_from(["XYXY", "XYWH", "CXCYWH"]))
def test_boxes_identity_and_double_flip(boxes, format):
    given = formatted([[(x, y, x + w, y + h) for x, y, w, h in boxes]], format)
    options = Boxes(format, min_visibility=1)
    moved, valid = move_boxes(given, EYE[None], SIZE, options)
    assert_equal(moved, given)
    assert valid.all()
    there, _ = move_boxes(given, HFLIP[None], SIZE, options)
    back, _ = move_boxes(there, HFLIP[None], SIZE, options)
    assert_equal(back, given)


@given(edges, st.integers(0, 50), st.floats(0, 1), st.floats(0, 1))
def test_boxes_contain_moved_points(box, seed, across, down):
    x, y, w, h = box
    M = maps(1, seed=seed)
    (px, py), (height, width) = carried([(x + across * w - 0.5, y + down * h - 0.5)], M[0])[0] + 0.5, OUT_SIZE
    moved, _ = move_boxes(np.array([[(x, y, x + w, y + h)]], float), M, OUT_SIZE, Boxes())
    left, top, right, bottom = moved[0, 0]
    if 0 <= px <= width and 0 <= py <= height:
        assert left - 1e-9 <= px <= right + 1e-9
        assert top - 1e-9 <= py <= bottom + 1e-9
    assert 0 <= left <= right <= width
    assert 0 <= top <= bottom <= height


def test_boxes_limits_are_inclusive():
    given = np.array([[(0, 0, 10, 10), (-5, 0, 5, 10), (-5.01, 0, 4.99, 10)]])
    move = lambda **limits: move_boxes(given, EYE[None], SIZE, Boxes(**limits))[1].tolist()  # noqa: E731
    assert move(min_visibility=0.5) == [[True, True, False]]
    assert move(min_area=50) == [[True, True, False]]
    assert move(min_area=100) == [[True, False, False]]
    assert move(min_area=100.1) == [[False, False, False]]


@every_home
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_invalid_stay_invalid(home, ragged):
    nan, inf = math.nan, math.inf
    rows = [(nan, 1, 2, 3), (1, 1, 5, inf), (4, 4, 4, 9), (9, 4, 4, 9), (0, 0, 0, 0), (1, 2, 3, 4)]
    given = put(np.array([rows], "f4"), home)
    boxes, valid = move_boxes(
        given[0:1] if not ragged else [given[0]], put(EYE[None].astype("f4"), home), SIZE, Boxes()
    )
    boxes, valid = (boxes[0], valid[0])
    assert to_numpy(valid).tolist() == [False] * 5 + [True]
    assert to_numpy(boxes).tolist() == [[0, 0, 0, 0]] * 5 + [[1, 2, 3, 4]]


@every_home
def test_boxes_outside_are_invalid(home):
    given = put(np.array([[(-30, 5, -10, 9), (300, 5, 310, 9), (5, 200, 9, 230), (299, 199, 310, 230)]], "f4"), home)
    boxes, valid = move_boxes(given, put(EYE[None].astype("f4"), home), SIZE, Boxes())
    assert to_numpy(valid).tolist() == [[False, False, False, True]]
    assert to_numpy(boxes)[0].tolist() == [[0, 5, 0, 9], [300, 5, 300, 9], [5, 200, 9, 200], [299, 199, 300, 200]]


@every_home
@pytest.mark.parametrize("sign", [1, -1])
def test_boxes_beyond_horizon_are_invalid(home, sign):
    tilt = np.array([[1.0, 0, 0], [0, 1, 0], [-0.01, 0, 1]])  # the horizon is at x = 100
    given = np.array([[(10, 10, 40, 40), (80, 10, 120, 40), (150, 10, 190, 40)]], "f4")
    boxes, valid = move_boxes(put(given, home), put(sign * tilt[None].astype("f4"), home), SIZE, Boxes())
    assert to_numpy(valid).tolist() == [[True, False, False]]
    want, _ = expected_boxes(given[:, :1], tilt[None], out_size=SIZE)
    assert_equal(to_numpy(boxes)[:, :1].astype(float), want, tolerance=FLOAT32)
    assert not to_numpy(boxes)[:, 1:].any()


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 0, 2)], ids=["x", "y"])
@pytest.mark.parametrize(("extent", "shown"), [(300, 0), (800, 1)])
def test_boxes_horizon_side_is_that_of_canvas_center(axes, extent, shown):
    """x' = (400 - 3 x) / (1 - 0.01 x), y' about 50: beyond x = 100 x' is below 300, else above; the same for y."""
    M = np.array([[-3.0, 0, 400], [-0.5, 1, 50], [-0.01, 0, 1]])[np.ix_(axes, axes)]
    given = np.array([[(200, 0, 210, 10), (10, 0, 20, 10)]], float)
    given, size = (given, (100, extent)) if axes[0] == 0 else (given[..., [1, 0, 3, 2]], (extent, 100))
    boxes, valid = move_boxes(given, M[None], size, Boxes())
    assert valid.tolist() == [[shown == 0, shown == 1]]
    want, _ = expected_boxes(given, M[None], out_size=size)
    assert_equal(boxes[:, shown], want[:, shown], tolerance=FLOAT64)
    points = np.array([[(200.0, 5, 2), (10, 5, 2)]])[..., [*axes]]
    visible = move_keypoints(points, M[None], size, Keypoints())[..., 2]
    assert visible.tolist() == [[2 * (shown == 0), 2 * (shown == 1)]]


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_padding_stays_invalid(ragged):
    given, mask = some_boxes((2, 3)) % 50 + (0, 0, 50, 50), np.array([[True, False, True], [False, True, True]])
    given[0, 2] = 0
    M = np.stack([EYE, EYE])
    _, valid = move_boxes(*((list(given), M) if ragged else (given, M)), SIZE, Boxes(), list(mask) if ragged else mask)
    assert np.stack(valid).tolist() == [[True, False, False], [False, True, True]]


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_boxes_none_and_no_samples(library):
    home = (library, "cpu")
    none = put(np.zeros((0, 3, 3), "f4"), home)
    boxes, valid = move_boxes(put(np.zeros((0, 5, 4), "f4"), home), none, SIZE, Boxes())
    assert (tuple(boxes.shape), tuple(valid.shape)) == ((0, 5, 4), (0, 5))
    assert move_boxes([], none, SIZE, Boxes()) == ([], [])
    one = put(EYE[None].astype("f4"), home)
    boxes, valid = move_boxes(put(np.zeros((1, 0, 4), "f4"), home), one, SIZE, Boxes())
    assert (tuple(boxes.shape), tuple(valid.shape)) == ((1, 0, 4), (1, 0))
    boxes, valid = move_boxes([put(np.zeros((0, 4), "f4"), home)], one, SIZE, Boxes())
    assert (tuple(boxes[0].shape), tuple(valid[0].shape)) == ((0, 4), (0,))
    assert move_keypoints([], none, SIZE, Keypoints([(0, 1)])) == []
    assert tuple(move_keypoints(put(np.zeros((1, 0, 2), "f4"), home), one, SIZE, Keypoints([(0, 1)])).shape) == (
        1,
        0,
        2,
    )
    assert tuple(move_keypoints([put(np.zeros((0, 4, 3), "f4"), home)], one, SIZE, Keypoints([(0, 1)]))[0].shape) == (
        0, 4, 3,
    )  # fmt: skip


@every_home
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_compact_keeps_valid_and_companions(home, ragged, monkeypatch):
    given, mask = some_boxes((3, 4)).astype("f4"), seeded("mask").random((3, 4)) < 0.5
    mask[1] = False
    classes, names = np.arange(12, dtype="i4").reshape(3, 4), [[f"{n}.{b}" for b in range(4)] for n in range(3)]
    waits, to_host = [], convert.to_host
    monkeypatch.setattr(convert, "to_host", lambda value: waits.append(1) or to_host(value))
    arrays = [put(array, home) for array in (mask, given, classes)]
    valid, boxes, labels = ([array[i] for i in range(3)] for array in arrays) if ragged else arrays
    kept = _boxes.compact(valid, boxes, labels, names)
    assert len(waits) == 1
    for n in range(3):
        assert_equal(kept[0][n], put(given[n][mask[n]], home))
        assert_equal(kept[1][n], put(classes[n][mask[n]], home))
        assert kept[2][n] == [name for name, flag in zip(names[n], mask[n], strict=True) if flag]
    assert _boxes.compact([], [], []) == [[], []]


def test_boxes_labels_are_told_from_image_labels():
    dense, ragged = np.zeros((2, 3, 4)), [np.zeros((3, 4)), np.zeros((1, 4))]
    assert _boxes.has_label_per_box(np.zeros((2, 3)), dense)
    assert _boxes.has_label_per_box(np.zeros((2, 3, 80)), dense)
    assert not _boxes.has_label_per_box(np.zeros(2), dense)
    assert not _boxes.has_label_per_box(np.zeros((2, 80)), dense)
    assert not _boxes.has_label_per_box([1, 2], dense)
    assert _boxes.has_label_per_box([np.zeros(3), [7]], ragged)
    assert not _boxes.has_label_per_box([5, 7], ragged)
    assert not _boxes.has_label_per_box(["cat", "dog"], ragged)
    assert not _boxes.has_label_per_box([np.array(5), np.array(7)], ragged)
    assert not _boxes.has_label_per_box(np.zeros(2), ragged)
    with pytest.raises(ValueError, match=r"labels\[1\] must hold one label per box, 1, got 2"):
        _boxes.has_label_per_box([[1, 2, 3], [4, 5]], ragged)
    with pytest.raises(ValueError, match="labels must hold 2 entries, one per sample, got 1"):
        _boxes.has_label_per_box([[1, 2, 3]], ragged)


# Keypoints.


def expected_points(points, M, out_size=OUT_SIZE, pairs=(), hide=True, whole=False):
    """Sample by sample, point by point, in float64. [N, P, 2 or 3]"""
    result = np.array(points, np.float64)
    for n, m in enumerate(M):
        middle = np.linalg.solve(m, [(out_size[1] - 1) / 2, (out_size[0] - 1) / 2, 1])
        middle = middle[:2] / middle[2]
        origin, right, below = carried(middle + np.array([(0, 0), (1e-3, 0), (0, 1e-3)]), m)
        mirrored = np.linalg.det(np.stack([right - origin, below - origin], -1)) < 0
        own = np.array(points[n], np.float64)
        for left, right in pairs if mirrored else ():
            own[[left, right]] = own[[right, left]]
        result[n] = own
        result[n, :, :2] = carried(own[:, :2], m)
        if own.shape[-1] == 3:
            for point in result[n]:
                inside = -0.5 <= point[0] < out_size[1] - 0.5 and -0.5 <= point[1] < out_size[0] - 0.5
                point[2] *= inside or not hide
                point[:2] *= point[2] > 0
    return np.rint(result) if whole else result


def some_points(shape, visible=True, seed=0):
    rng = seeded("points", shape, seed)
    points = rng.uniform(0, (299, 199), (*shape, 2))
    return np.concatenate([points, rng.integers(0, 3, (*shape, 1))], -1) if visible else points


PAIRS = [(1, 2), (5, 3)]


@every_home
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("visible", [False, True], ids=["xy", "xyv"])
@pytest.mark.parametrize("options", [Keypoints(PAIRS), Keypoints(), Keypoints(PAIRS, hide_outside=False)])
def test_keypoints_move_swap_and_hide(home, dtype, visible, options):
    M, whole = maps(6).astype("f4"), "int" in dtype
    given = some_points((6, 7), visible)
    given = (np.rint(given) if whole else given).astype(dtype)
    moved = move_keypoints(put(given, home), put(M, home), OUT_SIZE, options)
    want = expected_points(given, M.astype(float), OUT_SIZE, options.flip_pairs, options.hide_outside, whole)
    if visible and options.hide_outside:
        assert 0 < (want[..., 2] > 0).mean() < (given[..., 2] > 0).mean()
    place = {"library": home[0], "device": "cuda:0" if home[1] == "cuda" else "cpu"}
    assert_equal(moved, want, dtype=dtype, tolerance=EXACT if whole else FLOAT32, **place)


@every_home
def test_keypoints_ragged_equal_dense(home):
    M, counts = maps(4).astype("f4"), [2, 0, 1, 3]
    M[2:] = M[:1] @ np.diag([1, np.sign(np.linalg.det(M[0, :2, :2])) * -1, 1]).astype("f4")  # mirrored, and not first
    given = [some_points((n, 7), seed=n).astype("f4") for n in counts]
    moved = move_keypoints([put(own, home) for own in given], put(M, home), OUT_SIZE, Keypoints(PAIRS))
    for i, own in enumerate(given):
        want = expected_points(own, np.repeat(M[i : i + 1].astype(float), len(own), 0), pairs=PAIRS)
        place = {"library": home[0], "device": "cuda:0" if home[1] == "cuda" else "cpu"}
        assert_equal(moved[i], want.reshape(own.shape), dtype="float32", tolerance=FLOAT32, **place)


@every_home
def test_keypoints_instance_axes_are_kept(home):
    M, given = maps(3).astype("f4"), some_points((3, 2, 7)).astype("f4")
    moved = move_keypoints(put(given, home), put(M, home), OUT_SIZE, Keypoints(PAIRS))
    want = expected_points(given.reshape(6, 7, 3), np.repeat(M.astype(float), 2, 0), pairs=PAIRS).reshape(given.shape)
    assert_equal(to_numpy(moved), want.astype("f4"), tolerance=FLOAT32)


@every_home
def test_keypoints_canvas_per_sample(home):
    M, sizes = maps(3).astype("f4"), [(160, 240), (80, 300), (150, 90)]
    given = some_points((3, 7)).astype("f4")
    want = [expected_points(given[i : i + 1], M[i : i + 1].astype(float), sizes[i], PAIRS) for i in range(3)]
    moved = move_keypoints(put(given, home), put(M, home), np.array(sizes), Keypoints(PAIRS))
    assert_equal(to_numpy(moved).astype(float), np.concatenate(want), tolerance=FLOAT32)


@given(st.lists(st.tuples(st.integers(0, 299), st.integers(0, 199)), min_size=6, max_size=6), st.booleans())
def test_keypoints_identity_and_double_flip(points, flip):
    given, M = np.array([points], float), HFLIP if flip else EYE
    once = move_keypoints(given, M[None], SIZE, Keypoints(PAIRS))
    assert_equal(move_keypoints(once, M[None], SIZE, Keypoints(PAIRS)), given)
    want = given[:, [0, 2, 1, 5, 4, 3]] * (-1, 1) + (299, 0) if flip else given
    assert_equal(once, want)


@pytest.mark.parametrize(
    ("M", "mirrored"),
    [
        (HFLIP, True),
        (np.diag([1.0, -1, 1]), True),
        (np.diag([-1.0, -1, 1]), False),  # half a turn
        (np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]]), True),  # a transpose
        (np.array([[0.0, 1, 0], [-1, 0, 99], [0, 0, 1]]), False),  # a quarter turn
        (-HFLIP, True),  # the same map as HFLIP
        (-EYE, False),
        (np.array([[1.0, 0, 0], [0, 1, 0], [1e-3, 1e-3, 1]]), False),
        (HFLIP @ np.array([[1.0, 0, 0], [0, 1, 0], [1e-3, 1e-3, 1]]), True),
    ],
)
def test_keypoints_swap_only_under_mirrors(M, mirrored):
    given = np.array([[(10, 10, 1), (10, 10, 2.0)]])
    moved = move_keypoints(given, M[None], (500, 500), Keypoints([(0, 1)], hide_outside=False))
    assert moved[0, :, 2].tolist() == ([2, 1] if mirrored else [1, 2])


def test_keypoints_beyond_horizon_or_missing():
    tilt = np.array([[[1.0, 0, 0], [0, 1, 0], [-0.01, 0, 1]]])
    given = np.array([[(50, 20), (100, 20), (150, 20), (math.nan, 3), (3, math.inf)]])
    assert_equal(move_keypoints(given, tilt, SIZE, Keypoints()), np.array([[(100, 40)] + [(math.nan,) * 2] * 4]))
    whole = move_keypoints(given[:, :3].astype(int), tilt, SIZE, Keypoints())
    assert whole.tolist() == [[[100, 40], [0, 0], [0, 0]]]
    seen = np.concatenate([given, np.full((1, 5, 1), 2.0)], -1)
    for options in (Keypoints(), Keypoints(hide_outside=False)):
        assert move_keypoints(seen, tilt, SIZE, options).tolist() == [[[100, 40, 2]] + [[0, 0, 0]] * 4]


@every_home
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_keypoints_integers_saturate(home, dtype):
    M = np.array([[[1e9, 0, 0], [0, -1e9, 0], [0, 0, 1]]], "f4")
    most = 2**15 - 1 if dtype == "int16" else 2**30
    least = -(2**15) if dtype == "int16" else -(2**30)
    moved = move_keypoints(put(np.array([[(9, 9)]], dtype), home), put(M, home), SIZE, Keypoints())
    assert to_numpy(moved).tolist() == [[[most, least]]]


def test_keypoints_pixel_belongs_to_canvas():
    edge = [(-0.5, 0), (-0.51, 0), (299.49, 0), (299.5, 0), (0, -0.5), (0, -0.51), (0, 199.49), (0, 199.5)]
    given = np.array([[(*point, 2) for point in edge]])
    moved = move_keypoints(given, EYE[None], SIZE, Keypoints())
    assert moved[0, :, 2].tolist() == [2, 0, 2, 0] * 2


# Both.


@pytest.mark.parametrize("flip", ["horizontal_flip", "vertical_flip"])
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
def test_boxes_keypoints_flips_equal_torchvision(flip, format):
    """The coordinates meant: edges for boxes, pixel centres for keypoints."""
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    theirs = pytest.importorskip("torchvision.tv_tensors").BoundingBoxFormat[format]
    M = HFLIP if flip == "horizontal_flip" else np.array([[1.0, 0, 0], [0, -1, 199], [0, 0, 1]])
    boxes = torch.from_numpy(formatted(some_boxes((1, 6)) / 2 + 20, format))
    want = getattr(functional, f"{flip}_bounding_boxes")(boxes[0], format=theirs, canvas_size=SIZE)
    moved, _ = move_boxes(boxes, torch.from_numpy(M[None]), SIZE, Boxes(format))
    assert_equal(moved[0], want, tolerance=FLOAT64)
    points = torch.from_numpy(some_points((1, 6), visible=False))
    want = getattr(functional, f"{flip}_keypoints")(points[0], canvas_size=SIZE)
    assert_equal(move_keypoints(points, torch.from_numpy(M[None]), SIZE, Keypoints())[0], want, tolerance=FLOAT64)


def targets(ragged):
    boxes, points = some_boxes((3, 4)).astype("f4"), some_points((3, 7)).astype("f4")
    return (list(boxes), list(points)) if ragged else (boxes, points)


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_inputs_are_unchanged(ragged):
    M, canvas, given = maps(3), np.array([SIZE] * 3), targets(ragged)
    copies = [np.array(array).copy() for array in (M, canvas, *given)]
    move_boxes(given[0], M, canvas, Boxes())
    move_keypoints(given[1], M, canvas, Keypoints(PAIRS))
    for array, copy in zip((M, canvas, *given), copies, strict=True):
        assert np.array_equal(np.array(array), copy)


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_never_read_device_values(ragged, monkeypatch):
    """Meta tensors stand in for a device: they have no values, and raise where one is asked for."""

    def meta(value, dtype="float32"):
        return torch.as_tensor(value, dtype=getattr(torch, dtype), device="meta")

    def asarray(value, like, dtype):
        return meta(value, dtype) if isinstance(like, torch.Tensor) else np.asarray(value, dtype)

    monkeypatch.setattr(_matrices, "is_host", lambda array: False)
    monkeypatch.setattr(_matrices, "asarray", asarray)
    monkeypatch.setattr(convert, "asarray", asarray)
    boxes, points = ([meta(own) for own in part] if ragged else meta(part) for part in targets(ragged))
    mask = [meta(np.ones(4), dtype="bool")] * 3 if ragged else meta(np.ones((3, 4)), dtype="bool")
    for canvas in (SIZE, np.array([SIZE] * 3)):
        moved, valid = move_boxes(boxes, meta(maps(3)), canvas, Boxes("XYWH", 5, 0.5), mask)
        marked = move_keypoints(points, meta(maps(3)), canvas, Keypoints(PAIRS))
        for array in (moved, valid, marked):
            assert {part.device.type for part in array} == {"meta"}
            assert [tuple(part.shape[:1]) for part in array] == [(4 if array is not marked else 7,)] * 3


@pytest.mark.gpu
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
@pytest.mark.parametrize("canvas", [SIZE, np.array([SIZE] * 3)], ids=["one canvas", "three"])
def test_boxes_keypoints_do_not_synchronize(ragged, canvas):
    boxes, points = ([put(own, ("torch", "cuda")) for own in part] for part in targets(True))
    boxes, points = (boxes, points) if ragged else (torch.stack(boxes), torch.stack(points))
    M = torch.tensor(maps(3), device="cuda")
    with nobody_waits():
        move_boxes(boxes, M, canvas, Boxes(min_visibility=0.5))
        move_keypoints(points, M, canvas, Keypoints(PAIRS))


@pytest.mark.gpu
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_host_targets_follow_device_images(ragged):
    boxes, points = targets(ragged)
    M = torch.tensor(maps(3), dtype=torch.float32, device="cuda")
    there = [
        move_boxes([torch.tensor(own) for own in boxes] if ragged else torch.tensor(boxes), M, SIZE, Boxes())[0],
        move_keypoints([torch.tensor(own) for own in points] if ragged else torch.tensor(points), M, SIZE, Keypoints()),
    ]
    here = [
        move_boxes(boxes, maps(3).astype("f4"), SIZE, Boxes())[0],
        move_keypoints(points, maps(3).astype("f4"), SIZE, Keypoints()),
    ]
    for moved, want in zip(there, here, strict=True):
        for own, one in zip(moved, want, strict=True):
            assert_equal(own, one, library="torch", device="cuda:0", dtype="float32", tolerance=FLOAT32)


def test_boxes_keypoints_lists_are_split_where_joined():
    lengths = [2, 0, 3]
    assert _map.sample_indices(lengths).tolist() == [0, 0, 2, 2, 2]
    assert [own.tolist() for own in _map.split(np.arange(5), lengths)] == [[0, 1], [], [2, 3, 4]]


REFUSED = {
    "format": (lambda: Boxes("xyxy"), r"^cuaug.Boxes: format must be one of 'XYXY', 'XYWH', 'CXCYWH', got 'xyxy'$"),
    "area": (lambda: Boxes(min_area=-1), "^cuaug.Boxes: min_area must be at least 0, got -1$"),
    "area of NaN": (lambda: Boxes(min_area=math.nan), "min_area must be at least 0, got nan"),
    "type of area": (lambda: Boxes(min_area="1"), "^cuaug.Boxes: min_area must be a number, got '1'$"),
    "area of True": (lambda: Boxes(min_area=True), "min_area must be a number, got True"),
    "visibility": (lambda: Boxes(min_visibility=1.1), "min_visibility must be in 0..1, got 1.1"),
    "compact": (lambda: Boxes(compact=1), "^cuaug.Boxes: compact must be True or False, got 1$"),
    "pairs": (lambda: Keypoints(5), r"^cuaug.Keypoints: flip_pairs must be pairs .*\[\(left, right\), ...\], got 5$"),
    "pair": (lambda: Keypoints([(1, 2, 3)]), r"flip_pairs must be pairs of .*, got \(1, 2, 3\)"),
    "flat pairs": (lambda: Keypoints([1, 2]), "flip_pairs must be pairs of keypoint numbers, .*, got 1"),
    "number": (lambda: Keypoints([(1, 2.0)]), "flip_pairs must be an int, got 2.0"),
    "negative": (lambda: Keypoints([(1, -2)]), "flip_pairs must be at least 0, got -2"),
    "twice": (lambda: Keypoints([(1, 2), (2, 3)]), "flip_pairs must name a keypoint once, got 2 twice"),
    "itself": (lambda: Keypoints([(1, 1)]), "flip_pairs must name a keypoint once, got 1 twice"),
    "hide": (lambda: Keypoints(hide_outside=None), "hide_outside must be True or False, got None"),
    "flat boxes": (
        lambda: move_boxes(np.ones((3, 4)), maps(3), SIZE, Boxes()),
        r"boxes must have shape \[3, \*, 4\], got \[3, 4\]",
    ),
    "samples": (
        lambda: move_boxes(np.ones((2, 1, 4)), maps(3), SIZE, Boxes()),
        r"boxes must have shape \[3, \*, 4\], got",
    ),
    "list of boxes": (
        lambda: move_boxes([np.ones((1, 4))], maps(3), SIZE, Boxes()),
        "boxes must hold 3 entries, one per",
    ),
    "ragged": (
        lambda: move_boxes([np.ones(4)], maps(1), SIZE, Boxes()),
        r"boxes\[0\] must have shape \[\*, 4\], got \[4\]",
    ),
    "no array": (
        lambda: move_boxes([[(1, 2, 3, 4)]], maps(1), SIZE, Boxes()),
        r"boxes\[0\] must be an array, got list",
    ),
    "valid": (
        lambda: move_boxes(np.ones((1, 2, 4)), maps(1), SIZE, Boxes(), np.ones((1, 3))),
        r"valid must have shape \[1, 2\]",
    ),
    "ragged valid": (
        lambda: move_boxes([np.ones((2, 4))], maps(1), SIZE, Boxes(), [np.ones(3)]),
        r"valid\[0\] must have shape \[2\], got",
    ),
    "valid lists": (
        lambda: move_boxes([np.ones((2, 4))], maps(1), SIZE, Boxes(), []),
        "valid must hold 1 entries, one per sample, got 0",
    ),
    "points": (
        lambda: move_keypoints(np.ones((1, 5, 4)), maps(1), SIZE, Keypoints()),
        r"shape \[N, ..., P, 2\|3\], got \[1, 5, 4\]",
    ),
    "flat points": (lambda: move_keypoints(np.ones((1, 2)), maps(1), SIZE, Keypoints()), r"keypoints must have shape"),
    "samples of points": (
        lambda: move_keypoints(np.ones((2, 5, 2)), maps(1), SIZE, Keypoints()),
        "keypoints must hold 1 entries, .*, got 2",
    ),
    "no points": (
        lambda: move_keypoints([[1, 2]], maps(1), SIZE, Keypoints()),
        r"keypoints\[0\] must be an array, got list",
    ),
    "columns": (
        lambda: move_keypoints([np.ones((5, 2)), np.ones((5, 3))], maps(2), SIZE, Keypoints()),
        "keypoints must all have 2 columns, got 3 in sample 1",
    ),
    "pair of others": (
        lambda: move_keypoints(np.ones((1, 5, 2)), maps(1), SIZE, Keypoints([(0, 5)])),
        r"flip_pairs must name keypoints below 5, got \(0, 5\)",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_boxes_keypoints_reject_invalid_arguments(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_boxes_keypoints_options_are_frozen():
    assert Keypoints([[1, 2]]) == Keypoints(((1, 2),))
    assert hash(Boxes(min_area=3)) == hash(Boxes(min_area=3))
    with pytest.raises(AttributeError):
        Boxes().format = "XYWH"


@pytest.mark.parametrize("module", [_boxes, _keypoints], ids=["boxes", "keypoints"])
def test_boxes_keypoints_docstring_examples_run(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
