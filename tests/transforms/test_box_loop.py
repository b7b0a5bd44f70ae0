"""The loop that moves boxes on the host gives the results of the operations on arrays, which other boxes take."""

import numpy as np
import pytest
from helpers.arrays import seeded
from helpers.compare import EXACT, Tolerance, assert_equal

from cuaug._program.detection_records import MAX_BOX_MOVES
from cuaug.transforms import box_loop
from cuaug.transforms.boxes import Boxes, transform_boxes
from cuaug.transforms.moves import Move

SAMPLES, COUNT = 5, 40
CANVAS = 0, 0, 60, 40
ROUNDING = Tolerance(relative=1e-6, absolute=1e-9, reason="float64 sums in another order, stored as float32")


def matrices(rng, kind):
    M = np.tile(np.eye(3), (SAMPLES, 1, 1))
    M[:, :2, 2] = rng.uniform(-8, 12, (SAMPLES, 2))
    if kind == "scale and shift":
        M[:, [0, 1], [0, 1]] = rng.uniform(0.3, 2, (SAMPLES, 2))
    else:
        M[:, :2, :2] += rng.uniform(-0.6, 0.6, (SAMPLES, 2, 2))
    if kind == "perspective":
        M[:, 2, :2] = rng.uniform(-0.02, 0.02, (SAMPLES, 2))
    return M


def random_moves(rng, kinds):
    moves = []
    for kind in kinds:
        canvas = (
            CANVAS
            if rng.random() < 0.5
            else np.concatenate([np.zeros((SAMPLES, 2), int), rng.integers(8, 70, (SAMPLES, 2))], 1)
        )
        source = np.concatenate([rng.uniform(-5, 10, (SAMPLES, 2)), rng.uniform(15, 60, (SAMPLES, 2))], 1)
        moves.append(
            Move(
                matrices(rng, kind),
                canvas,
                source if rng.random() < 0.5 else None,
                is_affine=kind != "perspective",
                is_scale_and_shift=kind == "scale and shift",
            )
        )
    return moves


def random_boxes(rng, dtype, shape):
    boxes = rng.uniform(-10, 60, (*shape, 4))
    boxes[..., 2:] = np.abs(boxes[..., 2:]) + np.where(rng.random((*shape, 1)) < 0.8, boxes[..., :2], -30)
    if np.dtype(dtype).kind == "f":
        boxes[rng.random(shape) < 0.05] = [np.nan, 1, 5, 5]
        boxes[rng.random(shape) < 0.05] = [1, 1, np.inf, 5]
    return boxes.astype(dtype)


def both(monkeypatch, *arguments):
    """The results of the loop, and of the operations on arrays."""
    by_loop = transform_boxes(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(box_loop, "can_move", lambda *_: False)
        return by_loop, transform_boxes(*arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int32", "int64"])
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize(
    "kinds",
    [
        ["affine"],
        ["scale and shift"],
        ["perspective"],
        ["scale and shift", "affine"],
        ["affine", "perspective", "affine"],
    ],
    ids=", ".join,
)
def test_box_loop_equals_operations_on_arrays(kinds, format, dtype, monkeypatch):
    rng = seeded("box loop", dtype, format, *kinds)
    for limits in ({}, {"min_area": 20, "min_visibility": 0.2}):
        options, moves = Boxes(format, **limits), random_moves(rng, kinds)
        boxes, valid = random_boxes(rng, dtype, (SAMPLES, COUNT)), rng.random((SAMPLES, COUNT)) < 0.9
        (result, mask), (expected, expected_mask) = both(monkeypatch, boxes, moves, options, valid)
        assert result.dtype == boxes.dtype
        assert not mask.all()
        assert limits or mask.any()
        assert_equal(mask, expected_mask, tolerance=EXACT)
        assert_equal(result, expected, tolerance=ROUNDING if "perspective" in kinds else EXACT)


@pytest.mark.parametrize("kinds", [["affine"], ["affine", "scale and shift"]], ids=", ".join)
def test_box_loop_of_boxes_with_an_infinite_area_equals_operations_on_arrays(kinds, monkeypatch):
    boxes = np.array([[[-1e200, -1e200, 1e200, 1e200], [-1e160, 3, 1e160, 9], [2, -1e308, 9, 1e308]]] * SAMPLES)
    for seed in range(20):
        moves = random_moves(seeded("infinite areas", seed), kinds)
        with np.errstate(over="ignore"):
            (result, mask), (expected, expected_mask) = both(monkeypatch, boxes, moves, Boxes())
        assert_equal(mask, expected_mask, tolerance=EXACT)
        assert_equal(result, expected, tolerance=EXACT)


def test_box_loop_moves_lists_of_several_lengths(monkeypatch):
    rng = seeded("box loop lists")
    boxes = [random_boxes(rng, "float32", (count,))[:, ::-1][:, ::-1] for count in (3, 0, 7, 1, 30)]
    moves = random_moves(rng, ["affine", "scale and shift"])
    results, expected = both(monkeypatch, boxes, moves, Boxes())
    for arrays, expected_arrays in zip(results, expected, strict=True):
        for array, expected_array in zip(arrays, expected_arrays, strict=True):
            assert_equal(array, expected_array, tolerance=EXACT)


def test_box_loop_reads_strided_boxes_and_leaves_them_as_they_are(monkeypatch):
    rng = seeded("box loop strides")
    memory = random_boxes(rng, "float32", (SAMPLES, 2 * COUNT))
    boxes, before = memory[::-1, ::2], memory.copy()
    results, expected = both(monkeypatch, boxes, random_moves(rng, ["affine"]), Boxes())
    for array, expected_array in zip(results, expected, strict=True):
        assert_equal(array, expected_array, tolerance=EXACT)
    assert memory.tobytes() == before.tobytes()


def test_box_loop_has_room_for_the_moves_of_a_recipe():
    rng = seeded("box loop moves")
    boxes, moves = random_boxes(rng, "float32", (SAMPLES, 2)), random_moves(rng, ["affine"] * (MAX_BOX_MOVES + 1))
    assert box_loop.can_move(boxes, moves[1:], "XYXY")
    assert not box_loop.can_move(boxes, moves, "XYXY")
    transform_boxes(boxes, moves, Boxes())


def test_boxes_under_a_matrix_that_is_not_finite_are_invalid():
    boxes = np.array([[[1.0, 2, 9, 9]]] * 2)
    for value in (np.nan, np.inf):
        for row, column in ((0, 0), (1, 2), (2, 1)):
            M = np.tile(np.eye(3), (2, 1, 1))
            M[0, row, column] = value
            result, mask = transform_boxes(boxes, [Move(M, CANVAS, is_affine=row < 2)], Boxes())
            assert mask.tolist() == [[False], [True]]
            assert_equal(result, np.array([[[0.0] * 4], [[1, 2, 9, 9]]]), tolerance=EXACT)
