"""Rotated boxes in recipes and functions: against polygons clipped in float64, and torchvision."""

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend_slow_on_jax, noise, put, seeded
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from helpers.targets import move_boxes
from tables import detection as reference_ops

import cuaug
from cuaug import transforms as T
from cuaug.transforms import Boxes
from cuaug.transforms import functional as F

SIZE = (60, 80)
FORMATS = {"CXCYWHR": 5, "XYWHR": 5, "XYXYXYXY": 8}
NEAR = Tolerance(5e-4, 1e-5, reason="float32 coordinates of up to 200, and angles")
every_format = pytest.mark.parametrize("format", FORMATS)


def box_corners(count, seed=0, margin=-5.0, angle_spread=45.0):
    """Corners of random boxes. [B, 4, 2]

    `margin`: the centres are at least this many pixels inside the canvas; negative: they may be outside.
    `angle_spread`: the largest difference of an angle from a diagonal, in degrees. With 45, some sides are parallel to
    the axes.
    """
    rng = seeded("rotated boxes", count, seed)
    centers = rng.uniform(margin, np.array(SIZE[::-1]) - margin, (count, 2))
    angles = rng.integers(-2, 2, count) * 90.0 + 45 + rng.uniform(-angle_spread, angle_spread, count)
    angles = np.where((rng.random(count) < 0.3) & (angle_spread == 45), rng.integers(-2, 3, count) * 90.0, angles)
    rows = np.concatenate([centers, rng.uniform(1, 40, (count, 2)), angles[:, None]], -1)
    return np.array([reference_ops.corners(row) for row in rows]).reshape(count, 4, 2)


def as_format(corners, format):
    """[..., 4, 2] to the format"""
    rows = corners.reshape(*corners.shape[:-2], 8)
    return cuaug.box_convert(rows, "xyxyxyxy", format.lower())


def as_corners(boxes, format):
    """A format to [..., 4, 2] in float64"""
    boxes = to_numpy(boxes).astype(np.float64)
    return cuaug.box_convert(boxes, format.lower(), "xyxyxyxy").reshape(*boxes.shape[:-1], 4, 2)


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def clipped_polygon(corners, size):
    """The corners of the polygon inside the canvas. [P, 2]"""
    polygon = [*corners]
    for normal, limit in (((1, 0), 0), ((-1, 0), -size[1]), ((0, 1), 0), ((0, -1), -size[0])):
        clipped = []
        for start, end in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
            before, after = (np.dot(normal, point) - limit for point in (start, end))
            if before >= 0:
                clipped.append(start)
            if (before >= 0) != (after >= 0):
                clipped.append(start + (end - start) * before / (before - after))
        polygon = clipped
    return np.array(polygon).reshape(-1, 2)


def clipped_box(corners, size):
    """The smallest box of the same angle around the polygon inside the canvas; zeros if there is none. [4, 2]"""
    polygon = clipped_polygon(corners, size)
    if not len(polygon):
        return np.zeros((4, 2))
    axes = [(corners[i] - corners[0]) / np.linalg.norm(corners[i] - corners[0]) for i in (1, 3)]
    distances = (polygon - corners[0]) @ np.array(axes).T
    (left, top), (right, bottom) = distances.min(0), distances.max(0)
    sides = ((left, top), (right, top), (right, bottom), (left, bottom))
    return np.array([corners[0] + u * axes[0] + v * axes[1] for u, v in sides])


def similarity(angle, scale, shift, mirrored):
    radians = np.radians(angle)
    M = scale * np.array([[np.cos(radians), -np.sin(radians)], [np.sin(radians), np.cos(radians)]])
    M = M @ np.diag([-1.0 if mirrored else 1.0, 1.0])
    return np.vstack([np.concatenate([M, np.array(shift)[:, None]], 1), (0, 0, 1)])


def moved_corners(corners, M, mirrored):
    """The corners of boxes under a similarity. A mirrored box keeps its upper left corner first."""
    moved = (corners - 0.5) @ M[:2, :2].T + M[:2, 2] + 0.5
    return moved[..., [1, 0, 3, 2], :] if mirrored else moved


@every_backend_slow_on_jax
@every_format
@pytest.mark.parametrize("mirrored", [False, True])
def test_rotated_boxes_follow_a_similarity_and_are_clipped(backend, format, mirrored):
    maps = (20, 1.2, (3, -9)), (-90, 0.7, (70, 20)), (0, 1.0, (60 if mirrored else 5, 9))
    matrices = [similarity(*arguments, mirrored) for arguments in maps]
    corners = np.stack([box_corners(40, seed) for seed in range(3)])
    expected = np.stack([moved_corners(*entry, mirrored) for entry in zip(corners, matrices, strict=True)])
    clipped = np.array([[clipped_box(box, SIZE) for box in sample] for sample in expected])
    boxes, M = put(as_format(corners, format).astype("f4"), backend), put(np.array(matrices, "f4"), backend)
    moved, valid = move_boxes(boxes, M, SIZE, Boxes(format, min_visibility=0.3))
    assert_equal(as_corners(moved, format), clipped, tolerance=NEAR)
    clipped_sides = [np.linalg.norm(clipped[..., i, :] - clipped[..., 0, :], axis=-1) for i in (1, 3)]
    full_sides = [np.linalg.norm(expected[..., i, :] - expected[..., 0, :], axis=-1) for i in (1, 3)]
    visible = np.prod(clipped_sides, 0) / np.prod(full_sides, 0)
    is_clear = abs(visible - 0.3) > 1e-3
    assert (to_numpy(valid) == (visible >= 0.3))[is_clear].all()
    assert 0 < to_numpy(valid).mean() < 1
    assert describe(moved) == describe(boxes)
    assert tuple(moved.shape) == (3, 40, FORMATS[format])


def test_rotated_boxes_inside_the_canvas_stay_as_they_are():
    corners = np.array([[[[0.0, 0], [80, 0], [80, 60], [0, 60]], [[40, 0], [70, 30], [40, 60], [10, 30]]]])
    boxes = corners.reshape(1, 2, 8)
    moved, valid = move_boxes(boxes, np.eye(3)[None], SIZE, Boxes("XYXYXYXY"))
    assert_equal(moved, boxes, tolerance=Tolerance(1e-13, reason="lengths of sides are square roots"))
    assert valid.all()
    clamped = F.clamp_bounding_boxes(boxes, "XYXYXYXY", SIZE, "soft")
    np.testing.assert_array_equal(clamped, boxes)


def test_rotated_boxes_clipped_again_stay_as_they_are():
    """After the first clipping a side of a box may run through a corner of the canvas."""
    rng = np.random.default_rng(3)
    centre = rng.uniform(-10, 1.1 * np.array(SIZE)[::-1], (20_000, 2))
    boxes = np.column_stack([centre, rng.uniform(1, 60, (20_000, 2)), rng.uniform(-180, 180, 20_000)])
    once = F.clamp_bounding_boxes(boxes, "CXCYWHR", SIZE, "soft")
    is_wide = once[:, 2:4].min(1) > 1e-3
    assert 0.5 < is_wide.mean() < 1
    clipped = once
    for _ in range(3):
        clipped = F.clamp_bounding_boxes(clipped, "CXCYWHR", SIZE, "soft")
        np.testing.assert_allclose(clipped[is_wide], once[is_wide], atol=1e-7)


def test_rotated_boxes_under_shear_are_tight_along_the_longer_side():
    corners, M = box_corners(100, 5, margin=25.0), np.array([[1.2, 0.4, -9], [0.1, 0.9, 2]])
    moved = cuaug.transform_boxes(corners.reshape(100, 8), M, "XYXYXYXY").reshape(100, 4, 2)
    sheared = (corners - 0.5) @ M[:, :2].T + M[:, 2] + 0.5
    for box, parallelogram in zip(moved, sheared, strict=True):
        sides = [parallelogram[i] - parallelogram[0] for i in (1, 3)]
        longer = max(sides, key=np.linalg.norm)
        axes = [(box[i] - box[0]) / np.linalg.norm(box[i] - box[0]) for i in (1, 3)]
        assert abs(np.dot(*axes)) < 1e-9
        assert max(abs(cross(longer, axis)) / np.linalg.norm(longer) for axis in axes) == pytest.approx(1)
        assert min(abs(cross(longer, axis)) / np.linalg.norm(longer) for axis in axes) < 1e-9
        distances = (parallelogram - box[0]) @ np.array(axes).T
        size = [np.linalg.norm(box[i] - box[0]) for i in (1, 3)]
        np.testing.assert_allclose(distances.min(0), 0, atol=1e-9)
        np.testing.assert_allclose(distances.max(0), size, atol=1e-9)


@every_format
def test_rotated_boxes_in_recipes_follow_their_images(format):
    """The corners lie where the recipe moves keypoints at the same places."""
    corners = box_corners(12, 3, margin=20.0)
    boxes, images = as_format(np.stack([corners] * 4), format), noise((4, *SIZE, 3))
    recipe = T.Compose([T.RandomHorizontalFlip(), T.RandomRotation(40), T.RandomCrop(48)], boxes=Boxes(format), seed=3)
    moved, valid = (recipe({"image": images, "boxes": boxes}, step=2)[name] for name in ("boxes", "valid"))
    points = T.Compose([*recipe.transforms], seed=3)(
        {"image": images, "keypoints": np.stack([corners.reshape(-1, 2) - 0.5] * 4)}, step=2
    )["keypoints"]
    expected = (points + 0.5).reshape(4, 12, 4, 2)
    for box, reference, is_valid in zip(
        as_corners(moved, format).reshape(-1, 4, 2), expected.reshape(-1, 4, 2), valid.reshape(-1), strict=True
    ):
        ordered = (
            reference[[1, 0, 3, 2]]
            if cross(reference[1] - reference[0], reference[3] - reference[0]) < 0
            else reference
        )
        assert_equal(box, clipped_box(ordered, (48, 48)), tolerance=Tolerance(1e-3, reason="float32 matrices"))
        assert is_valid == (len(clipped_polygon(ordered, (48, 48))) > 0)


def test_rotated_boxes_in_recipes_of_lists_are_compacted():
    boxes = [np.array([(40, 30, 9, 5, 30.0), (400, 30, 9, 5, 30)]), np.zeros((0, 5)), []]
    sample = {"image": list(noise((3, *SIZE, 3))), "boxes": boxes, "labels": [[1, 2], [], []]}
    result = T.Compose([T.RandomHorizontalFlip(1.0)], boxes=Boxes("CXCYWHR", compact=True))(sample)
    assert [entry.shape for entry in result["boxes"]] == [(1, 5), (0, 5), (0, 5)]
    np.testing.assert_allclose(result["boxes"][0], [(40, 30, 9, 5, -30)], atol=1e-9)
    assert [list(labels) for labels in result["labels"]] == [[1], [], []]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_rotated_boxes_without_area_are_not_valid(bad):
    boxes = np.array([[(40, 30, bad, 5, 30.0), (40, 30, 9, 5, 30)]])
    moved, valid = move_boxes(boxes, np.eye(3)[None], SIZE, Boxes("CXCYWHR"))
    assert valid.tolist() == [[False, True]]
    assert not moved[0, 0].any()


CALLS = {
    "horizontal_flip": lambda F, boxes: F.horizontal_flip(boxes),
    "vertical_flip": lambda F, boxes: F.vertical_flip(boxes),
    "resize of equal ratio": lambda F, boxes: F.resize(boxes, [90, 120]),
    "rotate": lambda F, boxes: F.rotate(boxes, 30.0),
    "rotate, expand": lambda F, boxes: F.rotate(boxes, 90.0, expand=True),
    "affine": lambda F, boxes: F.affine(boxes, 20.0, [3, 4], 1.2, [0.0, 0.0]),
    "crop": lambda F, boxes: F.crop(boxes, 5, 6, 40, 50),
    "pad": lambda F, boxes: F.pad(boxes, [3, 4]),
    "clamp_bounding_boxes": lambda F, boxes: F.clamp_bounding_boxes(boxes),
}


@every_format
@pytest.mark.parametrize("mode", ["soft", None])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_functional_of_rotated_boxes_equals_torchvision(real_tv, v2, call, mode, format):
    """A clamped box may begin with another of its corners; torchvision's box outside the canvas is (0, H), (0, H), ...

    torchvision loses boxes that are nearly upright: `angle_spread` avoids them.
    """
    numbers = torch.from_numpy(as_format(box_corners(80, 7, angle_spread=7.0), format))
    boxes = real_tv.BoundingBoxes(numbers, format=format, canvas_size=SIZE, clamping_mode=mode)
    result, expected = call(F, boxes), call(v2.functional, boxes)
    assert (type(result), result.format, result.canvas_size) == (
        real_tv.BoundingBoxes,
        expected.format,
        expected.canvas_size,
    )
    actual, reference = (as_corners(value.as_subclass(torch.Tensor), format) for value in (result, expected))
    is_inside = np.abs(actual).max((-2, -1)) > 0
    assert is_inside.mean() > 0.5
    assert mode is None or (reference.reshape(-1, 4, 2)[~is_inside] == [0, expected.canvas_size[0]]).all()
    assert mode == "soft" or is_inside.all()
    rolled = [np.abs(actual - np.roll(reference, i, -2)).max((-2, -1)) for i in range(4)]
    assert np.min(rolled, 0)[is_inside].max() < 1e-9


@every_format
def test_sanitize_bounding_boxes_of_rotated_boxes(real_tv, format):
    corners = box_corners(60, 11)
    boxes = real_tv.BoundingBoxes(torch.from_numpy(as_format(corners, format)), format=format, canvas_size=SIZE)
    result, valid = F.sanitize_bounding_boxes(boxes, min_size=5, min_area=100)
    sides = [np.linalg.norm(corners[:, i] - corners[:, 0], axis=-1) for i in (1, 3)]
    inside = ((corners >= 0) & (corners <= SIZE[::-1])).all((-2, -1))
    expected = (np.minimum(*sides) >= 5) & (sides[0] * sides[1] >= 100) & inside
    assert_equal(valid, torch.from_numpy(expected))
    assert 0 < expected.sum() < 60
    assert isinstance(result, real_tv.BoundingBoxes)
    assert_equal(result.as_subclass(torch.Tensor), boxes.as_subclass(torch.Tensor)[valid])


def test_clamp_bounding_boxes_of_corners_that_run_counter_clockwise():
    boxes = np.array([[-10.0, 30, 30, 30, 30, 10, -10, 10]])
    clamped = F.clamp_bounding_boxes(boxes, "XYXYXYXY", SIZE, "soft").reshape(4, 2)
    assert sorted(map(tuple, clamped.tolist())) == [(0, 10), (0, 30), (30, 10), (30, 30)]


def test_rotated_boxes_by_multiples_of_90_degrees_are_exact():
    boxes = np.array([[30, 40, 80, 60, angle] for angle in (90.0, -90, 270)])
    corners = cuaug.box_convert(boxes, "cxcywhr", "xyxyxyxy")
    assert sorted(set(corners.ravel().tolist())) == [0, 60, 80]
    assert F.sanitize_bounding_boxes(boxes, "CXCYWHR", (80, 60))[1].all()


@pytest.mark.parametrize("side", [0.0, 0.01, 0.5, 5.0])
def test_rotated_boxes_keep_short_sides(side):
    boxes = np.array([[40.0, 30, 0, side, 0], [40, 30, side, 0, 90]])
    flipped = cuaug.transform_boxes(boxes, [(-1.0, 0, 79), (0, 1, 0)], "CXCYWHR")
    np.testing.assert_allclose(np.sort(flipped[:, 2:4], -1), [[0, side]] * 2, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda boxes: F.clamp_bounding_boxes(boxes, clamping_mode="hard"), "must be 'soft' or None for rotated boxes"),
        (lambda boxes: F.convert_bounding_box_format(boxes, new_format="XYXY"), "both upright or both rotated"),
        (
            lambda boxes: T.RandomIoUCrop()({"image": noise((*SIZE, 3)), "boxes": boxes}),
            r"RandomIoUCrop: boxes must be upright, in the format XYXY, XYWH or CXCYWH, got CXCYWHR",
        ),
        (
            lambda boxes: T.Compose([T.RandomHorizontalFlip()], boxes=Boxes("CXCYWHR"))(
                {"image": noise((*SIZE, 3)), "boxes": np.zeros((3, 4))}
            ),
            r"boxes\[0\] must have shape \[\*, 5\], got \[3, 4\]",
        ),
        (
            lambda boxes: T.Compose([T.RandomHorizontalFlip()], boxes=Boxes("CXCYWHR"))(
                {"image": noise((*SIZE, 3)), "boxes": np.ones((3, 5), np.uint8)}
            ),
            r"boxes\[0\] must be floats if they are rotated, got uint8",
        ),
    ],
)
def test_rotated_boxes_errors_say_what_to_do(real_tv, call, message):
    boxes = real_tv.BoundingBoxes(torch.tensor([[40.0, 30, 10, 5, 20]]), format="CXCYWHR", canvas_size=SIZE)
    with pytest.raises((TypeError, ValueError), match=message):
        call(boxes)
