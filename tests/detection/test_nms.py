"""nms and batched_nms against float64 NumPy written from the definition."""

import functools
from itertools import product

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.arrays import every_backend, put
from helpers.child_process import python
from helpers.compare import describe, to_numpy
from numpy.testing import assert_array_equal
from PIL import Image
from tables import detection as reference_ops

import cuaug
from cuaug import _native as native
from cuaug._detection import nms as nms_module
from cuaug._detection import nms_plan

every_scene = pytest.mark.parametrize("scene", box_cases.SCENES)
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def assert_indices(actual, expected, like):
    library, device, _ = describe(like)
    assert describe(actual)[:2] == (library, device)
    assert describe(actual)[2] == ("int32" if library == "jax" else "int64")
    assert_array_equal(to_numpy(actual), expected)


@functools.cache
def expected_by_threshold(scene, dtype):
    """For some numbers of boxes: boxes, scores, and the kept indices by threshold."""
    scenes = []
    for count in (1, 65, 130):
        boxes, scores = (box_cases.rounded(values, dtype) for values in box_cases.SCENES[scene](count))
        thresholds = (0.0, 0.3, 0.5, 1.0)
        scenes.append((boxes, scores, {t: reference_ops.nms(boxes, scores, t) for t in thresholds}))
    return scenes


@every_backend
@pytest.mark.parametrize("dtype", FLOATS)
@every_scene
def test_nms_equals_reference(scene, dtype, backend):
    for boxes, scores, expected in expected_by_threshold(scene, dtype):
        arrays = put(boxes, backend, dtype), put(scores, backend, dtype)
        for threshold, indices in expected.items():
            assert_indices(cuaug.nms(*arrays, threshold), indices, arrays[0])


@functools.cache
def expected_by_class(scene, count):
    """Boxes, scores and classes; the kept indices without and with the classes."""
    boxes, scores = (box_cases.rounded(values, "float32") for values in box_cases.SCENES[scene](count, 1))
    classes = (box_cases.labels(count) // 10**11).astype(np.int32)  # labels differ by 10**11 or more
    indices = reference_ops.nms(boxes, scores, 0.5), reference_ops.nms(boxes, scores, 0.5, classes)
    return boxes, scores, classes, *indices


@pytest.mark.parametrize("count", box_cases.COUNTS)
@every_scene
@every_backend
def test_nms_any_number_of_boxes(scene, count, backend):
    boxes, scores, classes, expected, expected_of_classes = expected_by_class(scene, count)
    arrays = put(boxes, backend, "float32"), put(scores, backend, "float32")
    assert_indices(cuaug.nms(*arrays, 0.5), expected, arrays[0])
    assert_indices(cuaug.batched_nms(*arrays, put(classes, backend), 0.5), expected_of_classes, arrays[0])


@every_backend
@pytest.mark.parametrize("max_output", [None, 0, 1, 40, 400])
def test_nms_fixed_size_is_padded_and_counted(max_output, backend):
    boxes, scores = (box_cases.rounded(values, "float32") for values in box_cases.degenerate(300))
    arrays = put(boxes, backend, "float32"), put(scores, backend, "float32")
    expected = reference_ops.nms(boxes, scores, 0.5, None, 0.25, max_output)
    options = {"score_threshold": 0.25, "max_output": max_output}
    assert_indices(cuaug.nms(*arrays, 0.5, **options), expected, arrays[0])
    indices, count = cuaug.nms(*arrays, 0.5, **options, fixed_size=True)
    padded = np.full(300 if max_output is None else max_output, -1)
    padded[: len(expected)] = expected
    assert_indices(indices, padded, arrays[0])
    assert_indices(count, np.array(len(expected)), arrays[0])


@every_backend
@pytest.mark.parametrize("count", [70, 1030])
@pytest.mark.parametrize("with_classes", [False, True])
def test_nms_batch_equals_samples(with_classes, count, backend):
    counts = np.array([count, 0, 1, count - 5, 66])
    boxes, scores = (box_cases.rounded(values, "float32") for values in box_cases.clustered_samples(len(counts), count))
    classes = box_cases.labels(5 * count).reshape(5, count) % 7
    arrays = [put(boxes, backend, "float32"), put(scores, backend, "float32")]
    if with_classes:
        arrays.append(put(classes.astype(np.int32), backend))
    call = cuaug.batched_nms if with_classes else cuaug.nms
    indices, kept_counts = call(
        *arrays, 0.4, fixed_size=True, counts=put(counts.astype(np.int32), backend), max_output=50
    )
    for n, sample_count in enumerate(counts):
        sample_classes = classes[n, :sample_count] if with_classes else None
        expected = reference_ops.nms(boxes[n, :sample_count], scores[n, :sample_count], 0.4, sample_classes, None, 50)
        assert_array_equal(to_numpy(indices)[n, : len(expected)], expected)
        assert (to_numpy(indices)[n, len(expected) :] == -1).all()
        assert int(kept_counts[n]) == len(expected)


VIEWS = {
    "every second": (lambda a: a[::2], lambda a: a[::2]),
    "Fortran order": (lambda a: np.asfortranarray(a), lambda a: a),
    "backwards": (lambda a: a[::-1, ::-1], lambda a: a[::-1]),
    "one box repeated": (lambda a: np.broadcast_to(a[:1], a.shape), lambda a: np.broadcast_to(a[:1], a.shape)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_nms_of_view_equals_reference(view):
    boxes, scores = box_cases.clustered(300)
    boxes, scores = VIEWS[view][0](boxes), VIEWS[view][1](scores)
    classes = VIEWS[view][1](box_cases.labels(300))
    assert_array_equal(cuaug.nms(boxes, scores, 0.5), reference_ops.nms(boxes, scores, 0.5))
    actual = cuaug.batched_nms(boxes, scores, classes, 0.5)
    assert_array_equal(actual, reference_ops.nms(boxes, scores, 0.5, classes))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "int64"])
def test_batched_nms_takes_classes_of_label_dtypes(dtype):
    boxes, scores = box_cases.clustered(300)
    classes = (box_cases.labels(300) // 10**11 % 3).astype(dtype)
    actual = cuaug.batched_nms(boxes, scores, classes, 0.5)
    assert_array_equal(actual, reference_ops.nms(boxes, scores, 0.5, classes))
    assert len(actual) > len(cuaug.nms(boxes, scores, 0.5))


def test_nms_threshold_is_strict_and_coordinates_unbounded():
    """An IoU of exactly 1/2, 1/3 and 0.7, near the origin and where float32 resolves 1/8 of a pixel."""
    for far in (0.0, 2.0**20):
        for a, b, iou in (
            ((0, 0, 4, 4), (0, 0, 4, 2), 1 / 2),
            ((0, 0, 2, 2), (1, 0, 3, 2), 1 / 3),
            ((0, 0, 10, 1), (0, 0, 7, 1), 0.7),
        ):
            boxes, scores = (np.array([a, b]) + far).astype(np.float32), np.array([1, 0.5], np.float32)
            assert_array_equal(cuaug.nms(boxes, scores, iou), [0, 1])
            assert_array_equal(cuaug.nms(boxes, scores, np.nextafter(iou, 0)), [0])


@pytest.mark.parametrize("scale", [1e-25, 1e-18, 1e18, 1e30])
def test_nms_areas_beyond_float32(scale):
    boxes, scores = box_cases.clustered(200)
    boxes, scores = (boxes * scale).astype(np.float32), scores.astype(np.float32)
    assert_array_equal(cuaug.nms(boxes, scores, 0.5), reference_ops.nms(boxes, scores, 0.5))


def test_nms_boxes_with_nan_in_score_or_coordinates_come_last():
    boxes = np.array([(0, 0, 4, 4), (0, 0, np.nan, 4), (0, 0, 4, 4), (0, 0, 4, 4), (0, 0, 4, 3.9)])
    scores = np.array([np.nan, 9.0, 0.5, np.nan, -np.inf])
    assert_array_equal(cuaug.nms(boxes, scores, 0.5), [2, 0, 1, 3])
    assert_array_equal(cuaug.nms(boxes, scores, 0.5, score_threshold=-np.inf), [2, 1])


@every_backend
def test_nms_of_no_boxes_is_empty(backend):
    no_boxes = put(np.zeros((0, 4)), backend, "float32"), put(np.zeros(0), backend, "float32")
    assert_indices(cuaug.nms(*no_boxes, 0.5), np.zeros(0), no_boxes[0])
    indices, count = cuaug.nms(*no_boxes, 0.5, fixed_size=True, max_output=3)
    assert_indices(indices, np.full(3, -1), no_boxes[0])
    assert_indices(count, np.array(0), no_boxes[0])
    samples = put(np.zeros((0, 5, 4)), backend, "float32"), put(np.zeros((0, 5)), backend, "float32")
    assert cuaug.nms(*samples, 0.5, fixed_size=True)[0].shape == (0, 5)


def test_nms_instruction_sets_agree():
    isa, (boxes, scores) = native.instruction_set(), box_cases.clustered(2000)
    boxes = boxes.astype(np.float32)
    try:
        for other in native.instruction_sets():
            native.set_instruction_set(other)
            assert_array_equal(cuaug.nms(boxes, scores, 0.5), reference_ops.nms(boxes, scores, 0.5))
    finally:
        native.set_instruction_set(isa)


MEMORY = """
import resource
import numpy, cuaug
from helpers.boxes import clustered

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

boxes, scores = (values.astype("float32") for values in clustered(400_000))
cuaug.nms(boxes[:1000], scores[:1000], 0.5)
before = peak()
kept = cuaug.nms(boxes, scores, 0.5)
print(peak() - before, len(kept), len(set(kept.tolist())))
"""


@pytest.mark.alone
@pytest.mark.slow
def test_nms_memory_is_proportional_to_boxes():
    """A bit for each pair of 400,000 boxes would be 20 GB."""
    kilobytes, count, distinct = map(int, python(MEMORY)[0].split())
    assert kilobytes < 64 << 10
    assert distinct == count > 1000


def test_nms_ignores_requires_grad():
    torch = pytest.importorskip("torch")
    boxes, scores = (torch.from_numpy(values).requires_grad_() for values in box_cases.clustered(50))
    assert_array_equal(cuaug.nms(boxes, scores, 0.5), cuaug.nms(boxes.detach(), scores.detach(), 0.5))


def test_nms_repeated_call_reads_new_arrays(monkeypatch):
    """Calls on torch tensors are cached by everything but the addresses: a cached call must read the new arrays."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(nms_module, "_calls", {})
    samples = [[torch.from_numpy(values) for values in box_cases.clustered(200, seed)] for seed in range(3)]
    classes = [torch.from_numpy(box_cases.labels(200, seed) % 3) for seed in range(3)]
    cache_sizes = []
    for _ in range(2):
        for (boxes, scores), sample_classes in zip(samples, classes, strict=True):
            for inputs in (
                (boxes, scores),
                (boxes.float(), scores),
                (boxes[::2], scores[1::2]),
                (-boxes, scores),
                edges_first(boxes, scores),
            ):
                for options in ({}, {"max_output": 7}, {"score_threshold": 0.5}, {"max_output": 7, "fixed_size": True}):
                    arrays = [array.numpy() for array in inputs]
                    assert_same(cuaug.nms(*inputs, 0.5, **options), cuaug.nms(*arrays, 0.5, **options))
            actual = cuaug.batched_nms(boxes, scores, sample_classes, 0.25)
            assert_same(actual, cuaug.batched_nms(boxes.numpy(), scores.numpy(), sample_classes.numpy(), 0.25))
            cache_sizes.append(len(nms_module._calls))
    assert len(set(cache_sizes)) == 1  # arrays of the same shapes, dtypes and strides share an entry
    # Four kinds of inputs, since boxes and -boxes share entries, with four options each; and batched_nms.
    assert cache_sizes[0] == 4 * 4 + 1
    pairs = torch.complex(boxes, -boxes)
    for view in (pairs.imag, pairs.conj().imag):  # the second has its negative bit set
        expected = cuaug.nms(view.resolve_neg().numpy(), scores.numpy(), 0.5)
        assert_same(cuaug.nms(view, scores, 0.5), expected)
    assert view.is_neg()
    for threshold in (True, np.array(0.5), torch.tensor(0.5)):
        cuaug.nms(boxes, scores, 1.0)  # True equals 1.0, so it would find the cached call
        with pytest.raises(TypeError, match=r"cuaug\.nms: iou_threshold must be a number"):
            cuaug.nms(boxes, scores, threshold)
    for wrong in (scores[1:], scores.to("meta"), scores.to_sparse(), scores.long()):
        with pytest.raises((TypeError, ValueError), match=r"cuaug\.nms: "):
            cuaug.nms(boxes, wrong, 0.5)


def test_nms_call_cache_is_bounded(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(nms_module, "_calls", {})
    monkeypatch.setattr(nms_module, "_MAX_CALLS", 8)
    boxes, scores = (torch.from_numpy(values) for values in box_cases.clustered(30))
    for count in range(1, 31):
        assert_same(cuaug.nms(boxes[:count], scores[:count], 0.5), cuaug.nms(*first_boxes(boxes, scores, count), 0.5))
        assert 1 <= len(nms_module._calls) <= 8


def edges_first(boxes, scores):
    """Boxes whose memory holds all left edges first, then all tops."""
    return boxes.T.contiguous().T, scores


def first_boxes(boxes, scores, count):
    return boxes.numpy()[:count], scores.numpy()[:count]


def assert_same(actual, expected):
    for tensor, array in zip(as_tuple(actual), as_tuple(expected), strict=True):
        assert_array_equal(tensor.numpy(), array)


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("compute_type", ["float32", "float64"])
def test_plan_nms_resolve_has_several_blocks_per_sample(compute_type):
    """nms_resolve.cu has no case for a sample of one block, and needs a thread per word of 32 boxes."""
    counts = set()
    for samples, count, multiprocessors in product((1, 3, 16), range(1, 16_500, 8), (1, 2, 3, 46, 132, 1024)):
        plan = nms_plan.plan_nms.__wrapped__(samples, count, compute_type, False, multiprocessors)
        for kernel, grid, threads in plan.launches:
            if kernel == "cuaug::nms_resolve":
                words = -(-count // 32)
                words_per_resolve_block = threads // 32 // -(-words // 32)
                assert grid == (samples * -(-words // words_per_resolve_block), 1, 1)
                assert grid[0] >= 3 * samples
                assert threads >= words
                counts.add(count)
    assert (min(counts), max(counts)) == (1025, 16_377)


VALID = np.zeros((3, 4)), np.zeros(3)
BATCH = np.zeros((1, 3, 4)), np.zeros((1, 3))
PIL_IMAGE = Image.new("L", (4, 3))
INVALID_CALLS = [
    (ValueError, "iou_threshold must be in 0..1", lambda: cuaug.nms(*VALID, 1.5)),
    (TypeError, "iou_threshold must be a number", lambda: cuaug.nms(*VALID, "0.5")),
    (ValueError, "scores must have shape", lambda: cuaug.nms(VALID[0], np.zeros(4), 0.5)),
    (ValueError, "boxes must have shape", lambda: cuaug.nms(np.zeros((3, 6)), VALID[1], 0.5)),
    (ValueError, "boxes must have shape", lambda: cuaug.nms(np.zeros(4), VALID[1], 0.5)),
    (TypeError, "boxes must be one of float16", lambda: cuaug.nms(np.zeros((3, 4), int), VALID[1], 0.5)),
    (TypeError, "boxes must be an array", lambda: cuaug.nms([(0, 0, 1, 1)], VALID[1], 0.5)),
    (TypeError, "boxes must be an array of torch, .*, got Image", lambda: cuaug.nms(PIL_IMAGE, VALID[1], 0.5)),
    (TypeError, "idxs must be one of uint8", lambda: cuaug.batched_nms(*VALID, np.zeros(3), 0.5)),
    (TypeError, "idxs must be an array", lambda: cuaug.batched_nms(*VALID, None, 0.5)),
    (ValueError, "max_output must be at least 0", lambda: cuaug.nms(*VALID, 0.5, max_output=-1)),
    (ValueError, "fixed_size must be True", lambda: cuaug.nms(np.zeros((2, 3, 4)), np.zeros((2, 3)), 0.5)),
    (ValueError, "counts must be None for .* one sample", lambda: cuaug.nms(*VALID, 0.5, counts=np.array([2]))),
    (
        ValueError,
        r"counts must have shape \(1,\), an entry for each sample, got \(\)",
        lambda: cuaug.nms(*BATCH, 0.5, fixed_size=True, counts=2),
    ),
    (ValueError, "counts must be whole numbers", lambda: cuaug.nms(*BATCH, 0.5, fixed_size=True, counts=[1.5])),
    (ValueError, "counts must be whole numbers", lambda: cuaug.nms(*BATCH, 0.5, fixed_size=True, counts=[np.inf])),
    (
        ValueError,
        "GiB of scratch memory",
        lambda: cuaug.nms(np.broadcast_to(0.0, (1 << 31, 4)), np.broadcast_to(0.0, (1 << 31,)), 0.5),
    ),
]


@pytest.mark.parametrize(("counts", "expected"), [([1e30], 2), (np.array([(1 << 63) + 1], np.uint64), 2), ([-1e30], 0)])
def test_nms_counts_beyond_the_boxes_take_all_or_none(counts, expected):
    boxes, scores = np.array([[[0, 0, 1, 1], [2, 2, 3, 3.0]]]), np.ones((1, 2))
    assert cuaug.nms(boxes, scores, 0.5, fixed_size=True, counts=counts)[1].tolist() == [expected]


@pytest.mark.parametrize(("kind", "message", "call"), INVALID_CALLS, ids=[message for _, message, _ in INVALID_CALLS])
def test_nms_batched_nms_reject_invalid_arguments(kind, message, call):
    with pytest.raises(kind, match=r"^cuaug\.\w+: .*" + message):
        call()


def test_nms_rejects_freed_tensor():
    torch = pytest.importorskip("torch")
    boxes = torch.rand(30, 4)
    boxes.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="a tensor has no storage"):
        cuaug.nms(boxes, torch.rand(30), 0.5)
    assert len(cuaug.nms(torch.rand(0, 4), torch.rand(0), 0.5)) == 0
