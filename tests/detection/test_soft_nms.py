"""soft_nms against float64 NumPy written from the paper."""

import functools

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.arrays import every_backend, every_backend_slow_on_jax, put
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from numpy.testing import assert_allclose, assert_array_equal
from tables import detection as reference_ops

import cuaug
from cuaug import _native as native

every_method = pytest.mark.parametrize("method", ["linear", "gaussian"])
TOLERANCE = {
    "float16": Tolerance(1e-4, 1e-3, reason="one rounding to float16"),
    "bfloat16": Tolerance(1e-4, 8e-3, reason="one rounding to bfloat16"),
    "float32": Tolerance(1e-7, 1e-6, reason="one rounding to float32"),
    "float64": Tolerance(1e-12, 1e-12, reason="float64"),
}


@functools.cache
def scenes_with_expected(scene, dtype, method):
    """For some numbers of boxes: boxes, scores, and options with the indices and scores that they give."""
    scenes = []
    for count in (1, 3, 65, 130):
        boxes, scores = (box_cases.rounded(values, dtype) for values in box_cases.SCENES[scene](count))
        cases = ({}, {"iou_threshold": 0.6, "sigma": 0.1, "score_threshold": 0.2})
        expected = [(options, *reference_ops.soft_nms(boxes, scores, method, **options)) for options in cases]
        scenes.append((boxes, scores, expected))
    return scenes


@every_backend_slow_on_jax
@every_method
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("scene", box_cases.SCENES)
def test_soft_nms_equals_reference(scene, dtype, method, backend):
    for boxes, scores, expected in scenes_with_expected(scene, dtype, method):
        arrays = put(boxes, backend, dtype), put(scores, backend, dtype)
        for options, expected_indices, expected_scores in expected:
            indices, actual_scores = cuaug.soft_nms(*arrays, method=method, **options)
            assert_array_equal(to_numpy(indices), expected_indices)
            assert describe(indices)[:2] == describe(arrays[0])[:2]
            library, device, name = describe(arrays[1])
            kind = {"library": library, "device": device, "dtype": name}
            assert_equal(actual_scores, expected_scores, tolerance=TOLERANCE[dtype], **kind)


@every_backend
@every_method
@pytest.mark.parametrize("max_output", [None, 0, 1, 40, 400])
def test_soft_nms_fixed_size_is_padded_and_counted(max_output, method, backend):
    boxes, scores = (box_cases.rounded(values, "float32") for values in box_cases.degenerate(150))
    arrays = put(boxes, backend, "float32"), put(scores, backend, "float32")
    expected_indices, expected_scores = reference_ops.soft_nms(boxes, scores, method, max_output=max_output)
    indices, actual_scores, count = cuaug.soft_nms(*arrays, method=method, max_output=max_output, fixed_size=True)
    length = 150 if max_output is None else max_output
    assert tuple(indices.shape) == tuple(actual_scores.shape) == (length,)
    assert int(count) == len(expected_indices)
    assert_array_equal(
        to_numpy(indices), np.concatenate([expected_indices, np.full(length - len(expected_indices), -1)])
    )
    library, device, dtype = describe(arrays[1])
    kind = {"library": library, "device": device, "dtype": dtype, "tolerance": TOLERANCE["float32"]}
    padding = np.zeros(length - len(expected_indices))
    assert_equal(actual_scores, np.concatenate([expected_scores, padding]), **kind)
    assert not to_numpy(actual_scores)[len(expected_indices) :].any()
    indices, actual_scores = cuaug.soft_nms(*arrays, method=method, max_output=max_output)
    assert_array_equal(to_numpy(indices), expected_indices)
    assert_equal(actual_scores, expected_scores, **kind)


@every_backend
@every_method
def test_soft_nms_batch_equals_samples(method, backend):
    counts = np.array([70, 0, 1, 65])
    boxes, scores = (np.stack(values) for values in zip(*(box_cases.clustered(70, n) for n in range(4)), strict=True))
    arrays = put(boxes, backend, "float32"), put(scores, backend, "float32")
    indices, actual_scores, counts_kept = cuaug.soft_nms(
        *arrays, method=method, fixed_size=True, counts=put(counts, backend, "int32")
    )
    for n, sample_count in enumerate(counts):
        single = cuaug.soft_nms(arrays[0][n, :sample_count], arrays[1][n, :sample_count], method=method)
        assert int(counts_kept[n]) == len(single[0])
        assert_array_equal(to_numpy(indices[n])[: int(counts_kept[n])], to_numpy(single[0]))
        assert_array_equal(to_numpy(actual_scores[n])[: int(counts_kept[n])], to_numpy(single[1]))
        assert (to_numpy(indices[n])[int(counts_kept[n]) :] == -1).all()


@every_backend
def test_soft_nms_of_no_boxes_is_empty(backend):
    no_boxes = put(np.zeros((0, 4)), backend, "float32"), put(np.zeros(0), backend, "float32")
    indices, actual_scores = cuaug.soft_nms(*no_boxes)
    assert tuple(indices.shape) == tuple(actual_scores.shape) == (0,)
    indices, actual_scores, count = cuaug.soft_nms(*no_boxes, fixed_size=True, max_output=3)
    assert_array_equal(to_numpy(indices), [-1, -1, -1])
    assert_array_equal(to_numpy(actual_scores), [0, 0, 0])
    assert int(count) == 0


def test_soft_nms_ties_go_to_lower_index():
    boxes = np.array([(0, 0, 4, 4), (10, 0, 14, 4), (0, 0, 4, 4), (10, 0, 14, 2.0)])
    indices, scores = cuaug.soft_nms(boxes, np.full(4, 0.5), 0.3)
    assert_array_equal(indices, [0, 1, 3])
    assert_array_equal(scores, [0.5, 0.5, 0.25])


@every_method
def test_soft_nms_negative_scores_take_no_part(method):
    boxes = np.array([(0, 0, 4, 4), (0, 0, 4, 3), (10, 0, 14, 4.0)])
    indices, scores = cuaug.soft_nms(boxes, np.array([-1, -2, 0.5]), score_threshold=0, method=method)
    assert_array_equal(indices, [2])
    assert_array_equal(scores, [0.5])


def test_soft_nms_instruction_sets_agree():
    isa, (boxes, scores) = native.instruction_set(), box_cases.clustered(500)
    expected_indices, expected_scores = reference_ops.soft_nms(boxes, scores, "gaussian")
    try:
        for other in native.instruction_sets():
            native.set_instruction_set(other)
            indices, actual_scores = cuaug.soft_nms(boxes, scores, method="gaussian")
            assert_array_equal(indices, expected_indices)
            assert_allclose(actual_scores, expected_scores, rtol=1e-12)
    finally:
        native.set_instruction_set(isa)


def test_nms_soft_nms_counts_on_a_device_are_integers():
    """No check reads the values there, and the conversion to int64 would drop fractions."""
    torch = pytest.importorskip("torch")
    boxes, scores = torch.zeros(1, 3, 4), torch.zeros(1, 3)
    counts = torch.empty(1, device="meta")  # no host array; needs no GPU
    for call in (cuaug.soft_nms, functools.partial(cuaug.nms, iou_threshold=0.5)):
        with pytest.raises(
            TypeError, match=r"counts must be one of uint8, .*, got float32: pass counts.to\(torch.int64"
        ):
            call(boxes, scores, fixed_size=True, counts=counts)


VALID = np.zeros((3, 4)), np.zeros(3)
INVALID_CALLS = [
    (ValueError, "iou_threshold must be in 0..1", lambda: cuaug.soft_nms(*VALID, 1.5)),
    (ValueError, "sigma must be at least", lambda: cuaug.soft_nms(*VALID, sigma=0)),
    (ValueError, "score_threshold must be at least 0", lambda: cuaug.soft_nms(*VALID, score_threshold=-10)),
    (TypeError, "score_threshold must be a number", lambda: cuaug.soft_nms(*VALID, score_threshold=None)),
    (ValueError, "method must be one of", lambda: cuaug.soft_nms(*VALID, method="hard")),
    (ValueError, "boxes must have shape", lambda: cuaug.soft_nms(np.zeros((3, 5)), VALID[1])),
    (ValueError, "scores must have shape", lambda: cuaug.soft_nms(VALID[0], np.zeros(2))),
    (ValueError, "fixed_size must be True", lambda: cuaug.soft_nms(np.zeros((2, 3, 4)), np.zeros((2, 3)))),
]


@pytest.mark.parametrize(("kind", "message", "call"), INVALID_CALLS, ids=[message for _, message, _ in INVALID_CALLS])
def test_soft_nms_rejects_invalid_arguments(kind, message, call):
    with pytest.raises(kind, match=r"^cuaug\.soft_nms: .*" + message):
        call()
