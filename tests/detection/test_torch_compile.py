"""torch.compile: the operators it calls, and graphs of them against eager calls."""

import itertools

import numpy as np
import pytest
from helpers import boxes as box_cases
from helpers.compare import Tolerance, assert_equal
from helpers.thinning import thinned
from numpy.testing import assert_array_equal

import cuaug
from cuaug._detection.torch_ops import define_operators

torch = pytest.importorskip("torch")
ROUNDING = Tolerance(relative=1e-12, absolute=1e-12, reason="the loop of box_iou adds areas in another order")


@pytest.fixture(autouse=True)
def reset_compiler():
    torch._dynamo.reset()
    define_operators()


def assert_passes_opcheck(operator, arguments):
    outcomes = torch.library.opcheck(operator, arguments)
    assert set(outcomes.values()) == {"SUCCESS"}, outcomes


def features_and_rois(channels_last=False, samples=2, levels=1, dtype=torch.float32):
    generator = torch.Generator().manual_seed(5)
    features = []
    for i in range(levels):
        level = torch.randn(samples, 6, 32 >> i, 24 >> i, generator=generator, dtype=dtype)
        level = level.to(memory_format=torch.channels_last) if channels_last else level
        features.append(level.requires_grad_())
    corner = torch.rand(9, 2, generator=generator, dtype=dtype) * 30
    size = torch.rand(9, 2, generator=generator, dtype=dtype) * 90
    rois = torch.cat([torch.arange(9).remainder(samples)[:, None].to(dtype), corner, corner + size], 1)
    return features, rois


SCALES = [0.25, 0.125, 0.0625]
OPTIONS = {  # sampling_ratio, aligned, mode, layout, canonical_size, canonical_level
    "avg": (-1, False, "avg", "NCHW", 224.0, 4),
    "max": (2, True, "max", "NCHW", 224.0, 4),
    "pixel_max": (-1, False, "pixel_max", "NCHW", 224.0, 4),
    "pixel_avg": (-1, False, "pixel_avg", "NCHW", 224.0, 4),
}
ROI_ALIGN_CASES = itertools.product(["planes", "channels last"], [1, 3], OPTIONS)
QUICK = {("planes", 1, "avg"), ("channels last", 3, "pixel_max")}


@pytest.mark.parametrize(("memory", "levels", "kind"), thinned(ROI_ALIGN_CASES, is_quick=lambda *row: row in QUICK))
def test_roi_align_operator_passes_opcheck(memory, levels, kind):
    features, rois = features_and_rois(memory == "channels last", levels=levels)
    arguments = (features, rois, [3, 2], SCALES[:levels], *OPTIONS[kind])
    assert_passes_opcheck(torch.ops.cuaug.roi_align.default, arguments)
    gradient = torch.ops.cuaug.roi_align(*arguments).detach()  # any values of the shape of the result serve
    detached = [level.detach() for level in features]
    assert_passes_opcheck(torch.ops.cuaug.roi_align_backward.default, (gradient, detached, *arguments[1:]))


NMS_CASES = itertools.product([False, True], [None, 7], [False, True])


@pytest.mark.parametrize(
    ("with_classes", "max_output", "fixed_size"),
    # Quick: all three options, or none.
    thinned(NMS_CASES, is_quick=lambda classes, limit, fixed: classes == fixed == (limit is not None)),
)
def test_nms_operator_passes_opcheck(with_classes, max_output, fixed_size):
    boxes, scores = (torch.from_numpy(values) for values in box_cases.clustered(60))
    classes = torch.arange(60) % 3 if with_classes else None
    arguments = (boxes, scores, classes, None, 0.5, 0.1, max_output, fixed_size)
    assert_passes_opcheck(torch.ops.cuaug.nms.default, arguments)


def compiled(function):
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
def test_roi_align_compiled_equals_eager_with_gradient(channels_last):
    def head(features, rois):
        return (cuaug.roi_align(features * 2, rois, (3, 2), 0.25, 2, True) + 1).relu()

    values = []
    for call in (head, compiled(head)):
        (features,), rois = features_and_rois(channels_last)
        out = call(features, rois)
        out.square().sum().backward()
        values.append((out, features.grad))
    assert torch.equal(values[0][0], values[1][0])
    assert torch.equal(values[0][1], values[1][1])


def test_roi_align_roi_pool_compiled_with_levels_and_lists_equal_eager():
    def head(features, boxes):
        pooled = cuaug.roi_align(features, boxes, 3, SCALES, mode="max")
        return pooled + cuaug.roi_pool(features[0], boxes, 3, 0.25)

    features, rois = features_and_rois(levels=3)
    boxes = [rois[rois[:, 0] == n, 1:] for n in range(2)]
    assert torch.equal(compiled(head)(features, boxes), head(features, boxes))


def test_roi_align_compiled_recompiles_once_for_other_batches():
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    call = torch.compile(lambda f, r: cuaug.roi_align(f, r, 2, 0.25), fullgraph=True, backend=counter)
    for samples in (2, 3, 4, 5):
        (features,), rois = features_and_rois(samples=samples)
        assert torch.equal(call(features.detach(), rois), cuaug.roi_align(features.detach(), rois, 2, 0.25))
    assert counter.frame_count <= 2


def test_nms_compiled_has_dynamic_length():
    def keep(boxes, scores):
        indices = cuaug.nms(boxes, scores, 0.5)
        return boxes[indices] * 2

    def fixed(boxes, scores):
        return cuaug.batched_nms(boxes, scores, torch.zeros_like(scores).long(), 0.5, max_output=20, fixed_size=True)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        keep_in_graph = compiled(keep)
        for seed in (0, 1):
            tensors = [torch.from_numpy(values) for values in box_cases.clustered(80, seed)]
            assert torch.equal(keep_in_graph(*tensors), keep(*tensors))
    for actual, expected in zip(compiled(fixed)(*tensors), fixed(*tensors), strict=True):
        assert_array_equal(np.asarray(actual), np.asarray(expected))


BOX_CALLS = {
    **{kind: lambda a, b, kind=kind: cuaug.box_iou(a, b, kind) for kind in ("iou", "giou", "diou", "ciou")},
    "complete_box_iou": cuaug.complete_box_iou,
    "box_iou, xywh": lambda a, b: cuaug.box_iou(a, b, fmt="xywh"),
    "box_convert": lambda a, b: cuaug.box_convert(a, "xyxy", "cxcywh"),
    "clip_boxes_to_image": lambda a, b: cuaug.clip_boxes_to_image(a, (20, 30)),
    "masks_to_boxes": lambda a, b: cuaug.masks_to_boxes(a[:, :, None] > 20),
}


@pytest.mark.parametrize("name", BOX_CALLS)
def test_box_functions_compiled_equal_eager(name):
    a, b = (torch.from_numpy(box_cases.random(9, seed=seed, spread=60.0)[0]) for seed in (0, 1))
    # Eager first: the first lookup of an array type calls a function with a cache, and tracing that call would warn.
    expected = BOX_CALLS[name](a, b)
    assert_equal(compiled(BOX_CALLS[name])(a, b), expected, tolerance=ROUNDING)


def test_multi_scale_roi_align_compiled_equals_eager():
    features, rois = features_and_rois(levels=3)
    pooler, levels = cuaug.MultiScaleRoIAlign(["0", "1", "2"], 3, 2), dict(zip("012", features, strict=True))
    boxes = [rois[rois[:, 0] == n, 1:] for n in range(2)]
    results = []
    for function in (pooler, compiled(pooler)):
        out = function(levels, boxes, [(128, 96)] * 2)
        results.append((out.detach(), *torch.autograd.grad(out.square().sum(), features)))
    for eager, traced in zip(*results, strict=True):
        assert torch.equal(eager, traced)
