"""Laws of both boxes and keypoints."""

import doctest
import functools
import importlib.util
import math

import numpy as np
import pytest
import torch
from helpers.arrays import no_synchronization, put
from helpers.compare import assert_equal
from helpers.targets import (
    FLIP_PAIRS,
    FLOAT32,
    FLOAT64,
    HFLIP,
    SIZE,
    Boxes,
    Keypoints,
    formatted,
    maps,
    move_boxes,
    move_keypoints,
    some_boxes,
    some_points,
)

from cuaug import transforms as T
from cuaug._arrays import convert, small_matrices
from cuaug.transforms import boxes as boxes_module
from cuaug.transforms import keypoints, point_map
from cuaug.transforms.moves import Move, merge_moves


@pytest.mark.parametrize("flip", ["horizontal_flip", "vertical_flip"])
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
def test_boxes_keypoints_flips_equal_torchvision(flip, format):
    """Box coordinates are edges, keypoint coordinates are pixel centres."""
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    torchvision_format = pytest.importorskip("torchvision.tv_tensors").BoundingBoxFormat[format]
    M = HFLIP if flip == "horizontal_flip" else np.array([[1.0, 0, 0], [0, -1, 199], [0, 0, 1]])
    boxes = torch.from_numpy(formatted(some_boxes((1, 6)) / 2 + 20, format))
    expected = getattr(functional, f"{flip}_bounding_boxes")(boxes[0], format=torchvision_format, canvas_size=SIZE)
    moved, _ = move_boxes(boxes, torch.from_numpy(M[None]), SIZE, Boxes(format))
    assert_equal(moved[0], expected, tolerance=FLOAT64)
    points = torch.from_numpy(some_points((1, 6), with_visibility=False))
    expected = getattr(functional, f"{flip}_keypoints")(points[0], canvas_size=SIZE)
    assert_equal(move_keypoints(points, torch.from_numpy(M[None]), SIZE, Keypoints())[0], expected, tolerance=FLOAT64)


def targets(ragged):
    boxes, points = some_boxes((3, 4)).astype("f4"), some_points((3, 7)).astype("f4")
    return (list(boxes), list(points)) if ragged else (boxes, points)


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_inputs_are_unchanged(ragged):
    M, canvas, inputs = maps(3), np.array([SIZE] * 3), targets(ragged)
    before = [np.array(array).copy() for array in (M, canvas, *inputs)]
    move_boxes(inputs[0], M, canvas, Boxes())
    move_keypoints(inputs[1], M, canvas, Keypoints(FLIP_PAIRS))
    for array, copy in zip((M, canvas, *inputs), before, strict=True):
        assert np.array_equal(np.array(array), copy)


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_never_read_device_values(ragged, monkeypatch):
    """Meta tensors stand for device tensors: reading a value of one raises."""

    def meta(value, dtype="float32"):
        return torch.as_tensor(value, dtype=getattr(torch, dtype), device="meta")

    def asarray(value, like, dtype, parameter=None):
        return meta(value, dtype) if isinstance(like, torch.Tensor) else np.asarray(value, dtype)

    monkeypatch.setattr(small_matrices, "is_host", lambda array: False)
    monkeypatch.setattr(small_matrices, "asarray", asarray)
    monkeypatch.setattr(convert, "asarray", asarray)
    boxes, points = ([meta(array) for array in target] if ragged else meta(target) for target in targets(ragged))
    mask = [meta(np.ones(4), dtype="bool")] * 3 if ragged else meta(np.ones((3, 4)), dtype="bool")
    for canvas in (SIZE, np.array([SIZE] * 3)):
        moved, valid = move_boxes(boxes, meta(maps(3)), canvas, Boxes("XYWH", 5, 0.5), mask)
        moved_points = move_keypoints(points, meta(maps(3)), canvas, Keypoints(FLIP_PAIRS))
        for array in (moved, valid, moved_points):
            assert {entry.device.type for entry in array} == {"meta"}
            assert [tuple(entry.shape[:1]) for entry in array] == [(4 if array is not moved_points else 7,)] * 3


@pytest.mark.gpu
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
@pytest.mark.parametrize("canvas", [SIZE, np.array([SIZE] * 3)], ids=["one canvas", "three"])
def test_boxes_keypoints_do_not_synchronize(ragged, canvas):
    boxes, points = ([put(array, ("torch", "cuda")) for array in target] for target in targets(True))
    boxes, points = (boxes, points) if ragged else (torch.stack(boxes), torch.stack(points))
    M = torch.tensor(maps(3), device="cuda")
    with no_synchronization():
        move_boxes(boxes, M, canvas, Boxes(min_visibility=0.5))
        move_keypoints(points, M, canvas, Keypoints(FLIP_PAIRS))


@pytest.mark.gpu
@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
def test_boxes_keypoints_host_targets_follow_device_images(ragged):
    boxes, points = targets(ragged)
    M = torch.tensor(maps(3), dtype=torch.float32, device="cuda")
    on_device = [
        move_boxes([torch.tensor(array) for array in boxes] if ragged else torch.tensor(boxes), M, SIZE, Boxes())[0],
        move_keypoints(
            [torch.tensor(array) for array in points] if ragged else torch.tensor(points), M, SIZE, Keypoints()
        ),
    ]
    on_host = [
        move_boxes(boxes, maps(3).astype("f4"), SIZE, Boxes())[0],
        move_keypoints(points, maps(3).astype("f4"), SIZE, Keypoints()),
    ]
    for moved, expected in zip(on_device, on_host, strict=True):
        for array, expected_array in zip(moved, expected, strict=True):
            assert_equal(array, expected_array, library="torch", device="cuda:0", dtype="float32", tolerance=FLOAT32)


def test_boxes_keypoints_lists_are_split_where_joined():
    lengths = [2, 0, 3]
    entries, samples = point_map.entries_and_samples([np.full((length, 4), i) for i, length in enumerate(lengths)])
    assert entries[:, 0, 0].tolist() == samples.tolist() == [0, 0, 2, 2, 2]
    assert [array.tolist() for array in point_map.split(np.arange(5), lengths)] == [[0, 1], [], [2, 3, 4]]


@pytest.mark.parametrize("ragged", [False, True], ids=["dense", "ragged"])
@pytest.mark.parametrize(("dtype", "width"), [("bfloat16", 4000), ("float16", 40_000), ("int16", 40_000)])
def test_boxes_that_their_dtype_makes_empty_are_not_valid(dtype, width, ragged):
    """Their edges differ by less than the dtype's resolution there, or are beyond its range."""
    boxes = torch.tensor([[[1.0, 2, 6, 7], [1, 2, width / 2, 7]]] * 2, dtype=getattr(torch, dtype))
    flip = torch.tensor([[[-1.0, 0, width - 1], [0, 1, 0], [0, 0, 1]]] * 2, dtype=torch.float32)
    options = Boxes(min_area=1.0, min_visibility=0.9)
    moved, valid = move_boxes([*boxes] if ragged else boxes, flip, (9, width), options)
    for sample_boxes, sample_valid in zip(moved, valid, strict=True):
        assert sample_boxes.dtype == boxes.dtype
        assert (sample_boxes[:, 2] > sample_boxes[:, 0]).tolist() == sample_valid.tolist() == [False, True]


@pytest.mark.parametrize("sizes", [False, True], ids=["one size", "sizes"])
@pytest.mark.parametrize("compact", [False, True])
def test_boxes_keypoints_of_a_list_equal_those_of_its_samples(compact, sizes):
    """Libraries and dtypes of samples differ. Those of one sample do not change the results of the others."""
    boxes = np.array([[1, 2, 4, 5], [3, 3, 5, 2]])
    arrays = [boxes, boxes.astype("f4"), np.zeros((0, 4)), torch.tensor(boxes).bfloat16(), torch.tensor(boxes)]
    arrays += [torch.tensor(boxes, dtype=torch.float32, requires_grad=True), boxes[::-1]]
    if importlib.util.find_spec("jax"):
        arrays.append(importlib.import_module("jax.numpy").asarray(boxes, "float32"))
    images = [np.zeros((9 - i * sizes, 8, 3), np.uint8) for i in range(len(arrays))]
    options = {"boxes": Boxes("XYWH", min_visibility=0.5, compact=compact), "keypoints": Keypoints([(0, 1)])}
    aug = T.Compose([T.RandomHorizontalFlip(0.7), T.RandomAffine(20, (0.3, 0.3))], seed=3, **options)
    pairs = zip(images, arrays, strict=True)
    samples = [{"image": image, "boxes": array, "keypoints": array[:, :2]} for image, array in pairs]
    for i, (sample, result) in enumerate(zip(samples, aug(samples, step=0), strict=True)):
        expected = aug(sample, ids=i, step=0)
        for key in ("boxes", "keypoints", *(() if compact else ("valid",))):
            assert type(result[key]) is type(sample["boxes"])
            assert result[key].dtype == expected[key].dtype
            assert key == "valid" or result[key].dtype == sample[key].dtype
            values = (convert.to_host(convert.detach(entry[key])) for entry in (result, expected))
            np.testing.assert_array_equal(*values)


REFUSED = {
    "format": (
        lambda: Boxes("xyxy"),
        r"^cuaug.transforms.Boxes: format must be one of 'XYXY', 'XYWH', .*'XYXYXYXY', got 'xyxy': pass 'XYXY'$",
    ),
    "area": (lambda: Boxes(min_area=-1), "^cuaug.transforms.Boxes: min_area must be at least 0, got -1$"),
    "area of NaN": (lambda: Boxes(min_area=math.nan), "min_area must be at least 0, got nan"),
    "type of area": (lambda: Boxes(min_area="1"), "^cuaug.transforms.Boxes: min_area must be a number, got '1'$"),
    "area of True": (lambda: Boxes(min_area=True), "min_area must be a number, got True"),
    "visibility": (lambda: Boxes(min_visibility=1.1), "min_visibility must be in 0..1, got 1.1"),
    "compact": (lambda: Boxes(compact=1), "^cuaug.transforms.Boxes: compact must be True or False, got 1$"),
    "pairs": (
        lambda: Keypoints(5),
        r"^cuaug.transforms.Keypoints: flip_pairs must be pairs .*\[\(left, right\), ...\], got 5$",
    ),
    "pair": (lambda: Keypoints([(1, 2, 3)]), r"flip_pairs must be pairs of .*, got \(1, 2, 3\)"),
    "flat pairs": (lambda: Keypoints([1, 2]), "flip_pairs must be pairs of keypoint numbers, .*, got 1"),
    "number": (lambda: Keypoints([(1, 2.0)]), r"transforms.Keypoints: flip_pairs\[0\]\[1\] must be an int, got 2.0"),
    "negative": (lambda: Keypoints([(1, -2)]), r"flip_pairs\[0\]\[1\] must be at least 0, got -2"),
    "twice": (lambda: Keypoints([(1, 2), (2, 3)]), "flip_pairs must name a keypoint once, got 2 twice"),
    "itself": (lambda: Keypoints([(1, 1)]), "flip_pairs must name a keypoint once, got 1 twice"),
    "hide": (lambda: Keypoints(hide_outside=None), "hide_outside must be True or False, got None"),
    "bytes as boxes": (
        lambda: move_boxes(np.ones((3, 1, 4), np.uint8), maps(3), SIZE, Boxes()),
        r"boxes must be floats, or integers of 16 bits or more, got uint8: convert them to float32$",
    ),
    **{
        f"{name} as keypoints": (
            functools.partial(move_keypoints, np.ones((3, 1, 2), name), maps(3), SIZE, Keypoints()),
            rf"keypoints must be floats, or integers of 16 bits or more, got {name}: convert them to float32$",
        )
        for name in ("bool", "int8", "object", "complex64")
    },
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
        "valid must hold 1 entry, one per sample, got 0",
    ),
    "points": (
        lambda: move_keypoints(np.ones((1, 5, 4)), maps(1), SIZE, Keypoints()),
        r"shape \[N, ..., P, 2\|3\], got \[1, 5, 4\]",
    ),
    "flat points": (lambda: move_keypoints(np.ones((1, 2)), maps(1), SIZE, Keypoints()), r"keypoints must have shape"),
    "samples of points": (
        lambda: move_keypoints(np.ones((2, 5, 2)), maps(1), SIZE, Keypoints()),
        "keypoints must hold 1 entry, .*, got 2",
    ),
    "no array of points": (
        lambda: move_keypoints([[1, 2]], maps(1), SIZE, Keypoints()),
        r"keypoints\[0\] must be an array, got list",
    ),
    "columns": (
        lambda: move_keypoints([np.ones((5, 2)), np.ones((5, 3))], maps(2), SIZE, Keypoints()),
        "keypoints must all have 2 columns, got 3 in sample 1",
    ),
    "pair beyond keypoints": (
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


@pytest.mark.parametrize("module", [boxes_module, keypoints], ids=["boxes", "keypoints"])
def test_boxes_keypoints_docstring_examples_run(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_merge_moves_concatenates_matrices_of_several_libraries():
    """Samples of a list may be in several libraries, with a group of moves for each. The first is a tensor's here."""
    matrices = maps(5)
    groups = [torch.from_numpy(matrices[:2]), matrices[2:].astype(np.float32)]
    boxes = [torch.ones(2, 4, dtype=torch.float64), np.zeros((3, 4), np.float32)]
    moves = [[Move(group, (0, 0, 9, 8), box)] for group, box in zip(groups, boxes, strict=True)]
    (merged,) = merge_moves(moves, np.array([4, 0, 2, 1, 3]))
    expected = np.concatenate([matrices[:2], matrices[2:].astype(np.float32)])[[4, 0, 2, 1, 3]]
    assert_equal(merged.matrices, torch.from_numpy(expected))
    assert merged.source_box[:, 0].tolist() == [0, 1, 0, 1, 0]
    assert merged.canvas.tolist() == [[0, 0, 9, 8]] * 5
