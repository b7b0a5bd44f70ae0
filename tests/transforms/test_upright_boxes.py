"""The loop and the kernel that move upright boxes give the results of the array operations that move other boxes."""

import itertools
import types

import numpy as np
import pytest
from helpers import emulator
from helpers.arrays import CUPY_CUDA, TORCH_CUDA, backend_id, put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.record_memory import array_at

from cuaug._gpu import launch
from cuaug._program import sources
from cuaug._program.detection_records import MAX_BOX_MOVES, MOVE_BOXES
from cuaug._program.dtypes import ITEM_SIZE
from cuaug.transforms import upright_boxes
from cuaug.transforms.boxes import Boxes, transform_boxes
from cuaug.transforms.moves import Move

SAMPLES, COUNT = 5, 40
CANVAS = 0, 0, 60, 40
ROUNDING = Tolerance(relative=1e-6, absolute=1e-9, reason="float64 sums in another order, stored as float32")
FUSED = Tolerance(relative=1e-6, absolute=1e-9, reason="a GPU fuses multiplications and additions")


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
        patch.setattr(upright_boxes, "move_boxes", lambda *_, **__: None)
        return by_loop, transform_boxes(*arguments)


FORMATS = "XYXY", "XYWH", "CXCYWH"
DTYPES = "float32", "float64", "int16", "int32", "int64"
every_format = pytest.mark.parametrize("format", FORMATS)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)
every_path = pytest.mark.parametrize(
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


@every_dtype
@every_format
@every_path
def test_upright_boxes_equal_operations_on_arrays(kinds, format, dtype, monkeypatch):
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


@every_path
def test_move_boxes_kernel_equals_loop(kinds, monkeypatch):
    """The kernel, run by the emulator, writes what the loop has written."""
    loops, launches = upright_boxes.extension(), []

    def run(record):
        loops.move_boxes(record)
        count = SAMPLES * COUNT
        sizes = {"out": count * 4 * ITEM_SIZE[dtype], "valid": count}
        arrays = [array_at(record, MOVE_BOXES, field, size, np.uint8) for field, size in sizes.items()]
        expected = [array.copy() for array in arrays]
        for array in arrays:
            array[:] = 0x5A
        blocks = -(-count // upright_boxes._THREADS)
        kernel = emulator.kernel("cuaug::move_boxes", sources.kernel_source("cuaug::move_boxes")[0])
        fault = kernel(record, (blocks, 1, 1), upright_boxes._THREADS)
        assert not fault, fault
        assert [array.tobytes() for array in arrays] == [array.tobytes() for array in expected]
        launches.append(blocks)

    monkeypatch.setattr(upright_boxes, "extension", lambda: types.SimpleNamespace(move_boxes=run))
    for i, (dtype, format) in enumerate(itertools.product(DTYPES, FORMATS)):
        rng = seeded("box kernel", dtype, format, *kinds)
        valid = rng.random((SAMPLES, 2 * COUNT))[:, ::2] < 0.9 if i % 2 else None
        boxes = random_boxes(rng, dtype, (SAMPLES, 2 * COUNT))[:, ::2]
        transform_boxes(boxes, random_moves(rng, kinds), Boxes(format, min_area=20 * (i % 3)), valid)
    assert len(launches) == len(DTYPES) * len(FORMATS)


@pytest.fixture
def launched(monkeypatch):
    """The names of all launched kernels."""
    names, launch_arguments = [], launch.launch_arguments
    monkeypatch.setattr(
        launch, "launch_arguments", lambda name, *rest: (names.append(name), launch_arguments(name, *rest))[1]
    )
    return names


def put_moves(moves, backend):
    """The moves with matrices and source boxes on the backend; canvases stay on the host, as for lists of sizes."""
    return [
        move._replace(
            matrices=put(move.matrices, backend),
            source_box=None if move.source_box is None else put(move.source_box, backend),
        )
        for move in moves
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("backend", [TORCH_CUDA, CUPY_CUDA], ids=backend_id)
@every_dtype
@every_format
@every_path
def test_one_kernel_moves_upright_boxes_as_the_loop_does(kinds, format, dtype, backend, launched):
    rng = seeded("boxes on a GPU", dtype, format, *kinds)
    options, moves = Boxes(format, min_area=2, min_visibility=0.02), random_moves(rng, kinds)
    boxes, valid = random_boxes(rng, dtype, (SAMPLES, COUNT)), rng.random((SAMPLES, COUNT)) < 0.9
    expected, expected_mask = transform_boxes(boxes, moves, options, valid)
    gpu_boxes = put(np.repeat(boxes, 2, 1), backend)[:, ::2]
    gpu_valid = put(valid, backend) if format == "XYWH" else valid
    result, mask = transform_boxes(gpu_boxes, put_moves(moves, backend), options, gpu_valid)
    assert launched == ["cuaug::move_boxes"]
    kind = {"library": backend[0], "device": "cuda:0"}
    assert expected_mask.any()
    assert_equal(mask, expected_mask, dtype="bool", tolerance=EXACT, **kind)
    assert_equal(result, expected, dtype=dtype, tolerance=FUSED if dtype.startswith("float") else EXACT, **kind)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", [TORCH_CUDA, CUPY_CUDA], ids=backend_id)
@pytest.mark.parametrize("boxes_are_on_gpu", [False, True])
def test_one_kernel_moves_a_list_of_boxes_with_host_arrays_among_the_arguments(boxes_are_on_gpu, backend, launched):
    rng = seeded("lists of boxes on a GPU")
    boxes = [random_boxes(rng, "float32", (count,)) for count in (3, 0, 7, 1, 30)]
    moves = random_moves(rng, ["affine", "scale and shift"])
    expected = transform_boxes(boxes, moves, Boxes())
    if boxes_are_on_gpu:
        results = transform_boxes([put(sample, backend) for sample in boxes], moves, Boxes())
    else:
        results = transform_boxes(boxes, put_moves(moves, backend), Boxes())
    assert launched == ["cuaug::move_boxes"]
    kind = {"library": backend[0], "device": "cuda:0"}
    for arrays, expected_arrays in zip(results, expected, strict=True):
        for array, expected_array in zip(arrays, expected_arrays, strict=True):
            assert_equal(array, expected_array, dtype=str(expected_array.dtype), tolerance=FUSED, **kind)


@pytest.mark.gpu
def test_boxes_that_require_a_gradient_move_by_operations_of_torch(launched):
    boxes = put(random_boxes(seeded("gradient"), "float64", (SAMPLES, COUNT)), ("torch", "cuda")).requires_grad_()
    moves = random_moves(seeded("moves"), ["affine"])
    moved, _ = transform_boxes(boxes, put_moves(moves, ("torch", "cuda")), Boxes())
    moved.sum().backward()
    assert not launched
    assert boxes.grad.abs().sum() > 0


@pytest.mark.parametrize("kinds", [["affine"], ["affine", "scale and shift"]], ids=", ".join)
def test_upright_boxes_with_an_infinite_area_equal_operations_on_arrays(kinds, monkeypatch):
    boxes = np.array([[[-1e200, -1e200, 1e200, 1e200], [-1e160, 3, 1e160, 9], [2, -1e308, 9, 1e308]]] * SAMPLES)
    for seed in range(20):
        moves = random_moves(seeded("infinite areas", seed), kinds)
        with np.errstate(over="ignore"):
            (result, mask), (expected, expected_mask) = both(monkeypatch, boxes, moves, Boxes())
        assert_equal(mask, expected_mask, tolerance=EXACT)
        assert_equal(result, expected, tolerance=EXACT)


def test_upright_boxes_of_lists_of_several_lengths(monkeypatch):
    rng = seeded("box loop lists")
    boxes = [random_boxes(rng, "float32", (count,)) for count in (3, 0, 7, 1, 30)]
    moves = random_moves(rng, ["affine", "scale and shift"])
    results, expected = both(monkeypatch, boxes, moves, Boxes())
    for arrays, expected_arrays in zip(results, expected, strict=True):
        for array, expected_array in zip(arrays, expected_arrays, strict=True):
            assert_equal(array, expected_array, tolerance=EXACT)


def test_strided_upright_boxes_are_read_and_left_as_they_are(monkeypatch):
    rng = seeded("box loop strides")
    memory = random_boxes(rng, "float32", (SAMPLES, 2 * COUNT))
    boxes, before = memory[::-1, ::2], memory.copy()
    results, expected = both(monkeypatch, boxes, random_moves(rng, ["affine"]), Boxes())
    for array, expected_array in zip(results, expected, strict=True):
        assert_equal(array, expected_array, tolerance=EXACT)
    assert memory.tobytes() == before.tobytes()


def test_upright_boxes_after_more_than_max_box_moves_take_operations_on_arrays():
    rng = seeded("box loop moves")
    boxes, moves = random_boxes(rng, "float32", (SAMPLES, COUNT)), random_moves(rng, ["affine"] * MAX_BOX_MOVES)
    more_moves = [*moves, Move(np.tile(np.eye(3), (SAMPLES, 1, 1)), moves[-1].canvas)]  # the last one changes nothing
    arguments = {"format": "XYXY", "min_area": 0, "min_visibility": 0}
    assert upright_boxes.move_boxes(boxes, moves, None, None, **arguments) is not None
    assert upright_boxes.move_boxes(boxes, more_moves, None, None, **arguments) is None
    (result, mask), (expected, expected_mask) = (transform_boxes(boxes, m, Boxes()) for m in (more_moves, moves))
    assert expected_mask.any()
    assert_equal(mask, expected_mask, tolerance=EXACT)
    assert_equal(result[mask], expected[mask], tolerance=ROUNDING)


def test_boxes_under_a_matrix_that_is_not_finite_are_invalid():
    boxes = np.array([[[1.0, 2, 9, 9]]] * 2)
    for value in (np.nan, np.inf):
        for row, column in ((0, 0), (1, 2), (2, 1)):
            M = np.tile(np.eye(3), (2, 1, 1))
            M[0, row, column] = value
            result, mask = transform_boxes(boxes, [Move(M, CANVAS, is_affine=row < 2)], Boxes())
            assert mask.tolist() == [[False], [True]]
            assert_equal(result, np.array([[[0.0] * 4], [[1, 2, 9, 9]]]), tolerance=EXACT)
