"""The loop and the kernel of box_iou give the results of its array formulas, used by autograd and torch.compile."""

import types

import numpy as np
import pytest
from helpers import emulator
from helpers.arrays import CUPY_CUDA, JAX, TORCH, TORCH_CUDA, backend_id, put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.record_memory import array_at

import cuaug
from cuaug._detection import box_iou, box_pairs
from cuaug._host import extension
from cuaug._program import sources
from cuaug._program.detection_records import BOX_PAIRS

KINDS = list(box_pairs.IOU_KINDS)
ROUNDING = {
    "float32": Tolerance(absolute=2e-6, relative=2e-6, reason="areas are added in another order, and fused"),
    "float64": Tolerance(absolute=1e-14, relative=1e-14, reason="areas are added in another order, and fused"),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def random_boxes(rng, shape, dtype="float64"):
    """Boxes that overlap, with empty, inverted and infinite ones and NaN among them."""
    corner = rng.uniform(0, 20, (*shape, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(0, 15, (*shape, 2))], -1)
    for special in ([3, 3, 3, 3], [9, 9, 2, 4], [1, 1, np.inf, 9], [np.nan, 1, 2, 3]):
        boxes[rng.random(shape) < 0.04] = special
    return boxes.astype(dtype)


def by_formulas(a, b, kind, eps):
    with np.errstate(all="ignore"):
        return box_iou._pairwise_iou(a, b, kind, eps)


@every_kind
@every_dtype
@pytest.mark.parametrize("eps", [0.0, 1e-3])
@pytest.mark.parametrize(("batch", "p", "q"), [((), 1, 1), ((3,), 33, 129), ((2, 2), 70, 31), ((), 300, 5)])
def test_box_iou_loop_equals_formulas(batch, p, q, eps, dtype, kind):
    rng = seeded("box pairs", batch, p, q, kind)
    a, b = random_boxes(rng, (*batch, p), dtype), random_boxes(rng, (*batch, q), dtype)
    a.reshape(-1, 4)[0] = b.reshape(-1, 4)[0] = [1, 2, 4, 6]
    result = box_pairs.compare_pairs(a, b, kind, eps)
    assert_equal(result, by_formulas(a, b, kind, eps), tolerance=ROUNDING[dtype])


@every_kind
@every_dtype
def test_box_iou_of_equal_boxes_is_1(dtype, kind):
    corner = seeded("equal boxes").uniform(-100, 100, (5000, 2))
    boxes = np.concatenate([corner, corner + seeded("sizes").uniform(0.01, 90, (5000, 2))], -1).astype(dtype)
    values = cuaug.box_iou(boxes[:, None], boxes[:, None], kind)
    assert (values == 1).all()


@every_kind
def test_box_iou_reads_strided_boxes(kind):
    memory = random_boxes(seeded("strided boxes"), (2, 80))
    a, b = memory[::-1, ::3], memory.transpose(1, 0, 2)[:50].transpose(1, 0, 2)
    expected = box_pairs.compare_pairs(np.ascontiguousarray(a), np.ascontiguousarray(b), kind)
    assert_equal(box_pairs.compare_pairs(a, b, kind), expected, tolerance=EXACT)


@pytest.mark.parametrize(("p", "q"), [(0, 3), (3, 0), (0, 0)])
def test_box_iou_without_boxes_is_empty(p, q):
    assert cuaug.box_iou(np.zeros((2, p, 4)), np.zeros((2, q, 4))).shape == (2, p, q)


@pytest.mark.parametrize("backend", [TORCH, JAX], ids=backend_id)
@every_kind
def test_box_iou_of_other_libraries_equals_numpy(kind, backend):
    a, b = (random_boxes(seeded("libraries", i), (2, 9), "float32") for i in range(2))
    expected = cuaug.box_iou(a, b, kind)
    result = cuaug.box_iou(put(a, backend), put(b, backend), kind)
    assert_equal(result, expected, library=backend[0], device="cpu", dtype="float32", tolerance=EXACT)


@every_kind
@every_dtype
def test_upright_pairs_kernel_equals_loop(dtype, kind, monkeypatch):
    """The kernel, run by the emulator, writes what the loop has written."""
    loops, launches = extension.extension(), []

    def run(record):
        loops.upright_iou(record)
        result = array_at(record, BOX_PAIRS, "out", 3 * 133 * 70, dtype)
        expected, result[:] = result.copy(), 1e30
        name = box_pairs._UPRIGHT_KERNELS[dtype]
        tiles = 3 * 2 * 3  # samples, 128 + 5 boxes, 2 * 32 + 6 boxes
        fault = emulator.kernel(name, sources.kernel_source(name)[0])(record, (tiles, 1, 1), box_pairs._UPRIGHT_THREADS)
        assert not fault, fault
        assert_equal(result, expected, tolerance=ROUNDING[dtype])
        launches.append(name)

    monkeypatch.setattr(extension, "extension", lambda: types.SimpleNamespace(upright_iou=run))
    rng = seeded("emulated pairs", kind)
    box_pairs.compare_pairs(random_boxes(rng, (3, 133), dtype), random_boxes(rng, (3, 70), dtype), kind, 1e-3)
    assert len(launches) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("backend", [TORCH_CUDA, CUPY_CUDA], ids=backend_id)
@every_kind
@every_dtype
@pytest.mark.parametrize(("batch", "p", "q"), [((), 1, 1), ((3,), 33, 129), ((2, 2), 70, 31), ((), 3000, 500)])
def test_box_iou_on_a_gpu_equals_loop(batch, p, q, dtype, kind, backend):
    rng = seeded("box pairs on a GPU", batch, p, q, kind)
    a, b = random_boxes(rng, (*batch, p), dtype), random_boxes(rng, (*batch, q), dtype)
    expected = box_pairs.compare_pairs(a, b, kind, 1e-3)
    result = box_pairs.compare_pairs(put(a, backend), put(b, backend), kind, 1e-3)
    assert_equal(result, expected, library=backend[0], device="cuda:0", dtype=dtype, tolerance=ROUNDING[dtype])


@pytest.mark.gpu
@pytest.mark.parametrize("backend", [TORCH_CUDA, CUPY_CUDA], ids=backend_id)
@every_dtype
def test_box_iou_of_equal_boxes_on_a_gpu_is_1(dtype, backend):
    corner = seeded("equal boxes").uniform(-100, 100, (5000, 2))
    boxes = np.concatenate([corner, corner + seeded("sizes").uniform(0.01, 90, (5000, 2))], -1).astype(dtype)
    boxes = put(boxes[:, None], backend)
    for kind in KINDS:
        assert (to_numpy(cuaug.box_iou(boxes, boxes, kind)) == 1).all()
