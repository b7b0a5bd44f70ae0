"""Detection functions on the GPU against the CPU: soft_nms, nms of rotated boxes, and the functions of ARRAY_CALLS.

Tests of the torch operators of nms and roi_align with opcheck and torch.compile.
"""

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.arrays import no_synchronization, seeded
from helpers.compare import to_numpy
from helpers.cuda_graphs import capture_graph, warm_up
from helpers.gpu_regions import features, regions
from numpy.testing import assert_allclose, assert_array_equal

import cuaug
from cuaug._detection.torch_ops import define_operators

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("method", ["linear", "gaussian"])
@pytest.mark.parametrize("count", [1, 65, 1024, 1025, 4000])
@pytest.mark.parametrize("scene", ["random", "clustered", "degenerate", "chain", "distant"])
def test_soft_nms_gpu_equals_cpu(scene, count, method):
    boxes, scores = (torch.from_numpy(values) for values in box_cases.SCENES[scene](count))
    expected, expected_scores = cuaug.soft_nms(boxes, scores, method=method)
    indices, actual = cuaug.soft_nms(boxes.cuda(), scores.cuda(), method=method)
    assert_array_equal(to_numpy(indices), expected)
    assert_allclose(to_numpy(actual), expected_scores, rtol=1e-10)


def test_soft_nms_gpu_in_cuda_graph():
    boxes, scores = (torch.from_numpy(values).float().cuda() for values in box_cases.clustered_samples(4, 700))
    counts = torch.tensor([700, 0, 1, 65], device="cuda")

    def call():
        return cuaug.soft_nms(boxes, scores, counts=counts, fixed_size=True, max_output=50)

    warm_up(call)
    with no_synchronization():
        call()
    graph, results = capture_graph(call)
    graph.replay()
    expected = cuaug.soft_nms(boxes.cpu(), scores.cpu(), counts=counts.cpu(), fixed_size=True, max_output=50)
    for actual, expected_array in zip(results, expected, strict=True):
        assert_allclose(to_numpy(actual), expected_array, rtol=1e-6)


POOLER = cuaug.MultiScaleRoIAlign(["0", "1"], 3, 2)
ARRAY_CALLS = {
    "box_convert": lambda boxes, _: cuaug.box_convert(boxes, "cxcywhr", "xyxyxyxy"),
    "box_iou": lambda boxes, _: cuaug.box_iou(boxes, boxes[:9], fmt="xywhr"),
    "generalized_box_iou": lambda boxes, _: cuaug.generalized_box_iou(boxes[:, :4], boxes[:9, :4]),
    "distance_box_iou": lambda boxes, _: cuaug.distance_box_iou(boxes[:, :4], boxes[:9, :4]),
    "complete_box_iou": lambda boxes, _: cuaug.complete_box_iou(boxes[:, :4], boxes[:9, :4]),
    "clip_boxes_to_image": lambda boxes, _: cuaug.clip_boxes_to_image(boxes[:, :4], (20, 20)),
    "masks_to_boxes": lambda _, maps: cuaug.masks_to_boxes(maps[:, 0] > 2),
    "ps_roi_align": lambda boxes, maps: cuaug.ps_roi_align(maps, [boxes[:9, :4], boxes[9:, :4]], (3, 2), 1.0, 2),
    "ps_roi_pool": lambda boxes, maps: cuaug.ps_roi_pool(maps, [boxes[:9, :4], boxes[9:, :4]], (3, 2), 1.0),
    "MultiScaleRoIAlign": lambda boxes, maps: POOLER(
        {"0": maps, "1": maps[..., ::2, ::2]}, [boxes[:9, :4], boxes[9:, :4]], [(128, 96)] * 2
    ),
}


@pytest.mark.parametrize("name", ARRAY_CALLS)
def test_ops_gpu_equal_cpu_without_synchronization(name):
    boxes = torch.from_numpy(rotated_boxes(150)).float()
    maps = torch.from_numpy(seeded("maps", name).normal(0, 1, (2, 12, 32, 24))).float()
    device_boxes, device_maps = boxes.cuda(), maps.cuda()
    ARRAY_CALLS[name](device_boxes, device_maps)  # compiles kernels
    torch.cuda.synchronize()
    with no_synchronization():
        actual = ARRAY_CALLS[name](device_boxes, device_maps)
    assert_allclose(to_numpy(actual), ARRAY_CALLS[name](boxes, maps), atol=1e-4, rtol=1e-4)


def rotated_boxes(count, seed=0, spread=30.0):
    rng = seeded("rotated", count, seed)
    angles = np.where(rng.random(count) < 0.3, 90.0 * rng.integers(-5, 6, count), rng.uniform(-400, 400, count))
    return np.stack([*rng.uniform(0, spread, (2, count)), *rng.uniform(2, 30, (2, count)), angles], 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_box_iou_gpu_rotated_equals_cpu(dtype):
    boxes = torch.from_numpy(rotated_boxes(150)).to(dtype)
    actual = cuaug.box_iou(boxes.cuda(), boxes[:37].cuda())
    assert_allclose(to_numpy(actual), cuaug.box_iou(boxes, boxes[:37]), atol=1e-6 if dtype != torch.float64 else 1e-12)
    batch = boxes.view(3, 50, 5).cuda()
    assert torch.equal(cuaug.box_iou(batch, batch[:, :7])[1], cuaug.box_iou(batch[1], batch[1, :7]))


@pytest.mark.parametrize("count", [1, 64, 65, 300, 500, 1025, 5000])
def test_nms_gpu_rotated_equals_cpu(count):
    boxes, scores = (
        torch.from_numpy(rotated_boxes(count, 1, 300.0)),
        torch.from_numpy(seeded("scores", count).random(count)),
    )
    scores[::7] = 0.5
    classes = torch.arange(count) % 5
    for threshold in (0.1, 0.5):
        expected = cuaug.nms(boxes, scores, threshold)
        assert len(expected) < count or threshold == 0.5 or count == 1  # the scene has boxes to suppress
        assert_array_equal(to_numpy(cuaug.nms(boxes.cuda(), scores.cuda(), threshold)), expected)
        expected = cuaug.batched_nms(boxes, scores, classes, threshold)
        actual = cuaug.batched_nms(boxes.cuda(), scores.cuda(), classes.cuda(), threshold)
        assert_array_equal(to_numpy(actual), expected)
    indices, kept_count = cuaug.nms(boxes.cuda(), scores.cuda(), 0.5, max_output=7, fixed_size=True)
    assert_array_equal(to_numpy(indices)[: int(kept_count)], cuaug.nms(boxes, scores, 0.5, max_output=7))


@pytest.mark.parametrize("fixed_size", [False, True])
def test_nms_gpu_operator_passes_opcheck(fixed_size):
    define_operators()
    boxes, scores = (torch.from_numpy(values).cuda() for values in box_cases.clustered(60))
    torch.library.opcheck(torch.ops.cuaug.nms.default, (boxes, scores, None, None, 0.5, 0.1, None, fixed_size))


def test_roi_align_gpu_operator_passes_opcheck():
    define_operators()
    maps, rois = features(torch.float64, 3, shape=(9, 8)).requires_grad_(), torch.from_numpy(regions(5)).cuda()
    options = ([3, 2], [0.5], 2, True, "avg", "NCHW", 224.0, 4)
    torch.library.opcheck(torch.ops.cuaug.roi_align.default, ([maps], rois, *options))


def test_nms_and_roi_align_gpu_compiled():
    def keep(boxes, scores):
        return cuaug.nms(boxes * 2, scores, 0.5, max_output=30, fixed_size=True)

    tensors = [torch.from_numpy(values).cuda() for values in box_cases.clustered(300)]
    compiled_keep = torch.compile(keep, fullgraph=True, backend="aot_eager")
    for actual, expected in zip(compiled_keep(*tensors), keep(*tensors), strict=True):
        assert torch.equal(actual, expected)

    def pool(maps, rois):
        return cuaug.roi_align(maps * 2, rois, 3, 0.5, 2, True)

    maps, rois = features(torch.float32, 8), torch.from_numpy(regions(20)).cuda()
    compiled_pool = torch.compile(pool, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled_pool(maps, rois), pool(maps, rois))
