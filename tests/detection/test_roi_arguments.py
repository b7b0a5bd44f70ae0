"""Regions that are NaN, infinite or huge, calls without regions, and arguments that roi_align and roi_pool reject."""

import types

import numpy as np
import pytest
import torch
from helpers import emulator
from helpers.arrays import every_backend, put
from helpers.compare import describe
from helpers.regions import INF, NAN, C, H, N, W, in_layout, maps
from numpy.testing import assert_allclose

import cuaug
from cuaug._detection import roi_arrays
from cuaug._host import extension
from cuaug._program import sources
from cuaug._program.detection_records import ROI, ROI_ARGMAX


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 1e20, -1e35])
@pytest.mark.parametrize("mode", ["avg", "max", "pool"])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align_roi_pool_invalid_region_is_zero(aligned, mode, bad):
    rois = np.array([(0, 1, 2, 5, 6.0)] * 5)
    rois[np.arange(4), np.arange(1, 5)] = bad
    rotated = np.array([(0, 3, 4, 4, 5, 20.0)] * 6)
    rotated[np.arange(5), np.arange(1, 6)] = bad
    for regions in (rois,) if mode == "pool" else (rois, rotated):
        if mode == "pool":
            actual = cuaug.roi_pool(maps(), regions, 2, layout="NCHW")
        else:
            actual = cuaug.roi_align(maps(), regions, 2, mode=mode, aligned=aligned, layout="NCHW")
        assert not actual[:-1].any()
        assert actual[-1].all()


def test_roi_align_huge_region_terminates():
    huge = np.array([(0, -1e8, -1e8, 1e8, 1e8)])
    rotated = np.array([(0, 4, 5, 2e8, 1e8, 30.0)])
    ones = np.ones((1, 1, H, W))
    for rois in (huge, rotated):
        for mode in ("avg", "max"):
            actual = cuaug.roi_align(ones, rois, 3, mode=mode, layout="NCHW")
            assert (actual[0, 0, 1, 1] > 0) if mode == "avg" else (actual[0, 0, 1, 1] == 1)
            assert actual[0, 0, 0, 0] == 0


def test_roi_pool_stays_inside_a_map_whose_width_float32_cannot_hold():
    width = 2**24 + 3  # 2**24 + 4 in float32
    memory = torch.zeros(width + 1, dtype=torch.float16)
    memory[-2:] = torch.tensor([1, 2])  # of the last column, and behind the map
    features = memory[:-1].view(1, 1, 1, width).requires_grad_()
    actual = cuaug.roi_pool(features, torch.tensor([[0, 0, 0, float(width), 0]]), 1)
    actual.sum().backward()
    assert actual == 1
    assert features.grad.sum() == features.grad[..., -1] == 1


def test_ps_roi_pool_leaves_out_a_last_column_that_float32_cannot_hold():
    features = np.zeros((1, 1, 2, 2**24 + 4), np.float16)
    features[..., -1] = 1000
    assert not cuaug.ps_roi_pool(features, np.array([(0, 0, 0, 2.0**24 + 4, 1)]), 1, layout="NCHW").any()


def test_roi_align_ignores_pixels_of_weight_0():
    """A pixel of weight 0 does not change a sampling point, even if it is infinite or NaN."""
    features = maps("float32", shape=(1, 3, 8, 8)).astype(np.float32)
    bad = features.copy()
    bad[0, :, 3, :] = np.inf
    bad[0, :, :, 3] = np.nan
    rois = np.array([(0, 0, 0, 8, 8.0)])
    is_bad = np.zeros((8, 8), bool)
    is_bad[3], is_bad[:, 3] = True, True
    for array, layout in ((bad, "NCHW"), (in_layout(bad, "NHWC"), "NHWC")):
        for mode in ("avg", "max"):
            actual = cuaug.roi_align(array, rois, 8, 1.0, 1, True, mode, layout)
            actual = actual if layout == "NCHW" else np.moveaxis(actual, -1, 1)
            assert_allclose(actual[0][:, ~is_bad], features[0][:, ~is_bad], rtol=1e-6)
            assert not np.isfinite(actual[0][:, is_bad]).any()
    assert np.isnan(cuaug.roi_align(bad, rois, 1, 1.0, 8, True, "max", "NCHW")).all()
    assert np.isnan(cuaug.roi_pool(bad, rois, 1, layout="NCHW")).all()


@every_backend
def test_roi_align_no_regions_and_no_samples(backend):
    no_regions = put(np.zeros((0, 5)), backend, "float32")
    for shape in ((N, C, H, W), (0, C, H, W)):
        actual = cuaug.roi_align(put(np.zeros(shape), backend, "float32"), no_regions, (2, 3), layout="NCHW")
        assert tuple(actual.shape) == (0, C, 2, 3)
        assert describe(actual) == describe(no_regions)
    features, no_boxes = put(np.zeros((N, C, H, W)), backend, "float32"), [no_regions[:, 1:]] * N
    assert tuple(cuaug.roi_align(features, no_boxes, 2, layout="NCHW").shape) == (0, C, 2, 2)


VALID = np.zeros((2, 8, 8, 3)), np.zeros((4, 5))
INVALID_CALLS = [
    (ValueError, "boxes must have shape", lambda: cuaug.roi_align(VALID[0], np.zeros((4, 4)), 2)),
    (ValueError, r"boxes must have shape \(K, 5\), or be", lambda: cuaug.roi_pool(VALID[0], np.zeros((4, 6)), 2)),
    (ValueError, "input must have the axes NHWC", lambda: cuaug.roi_align(VALID[0][0], VALID[1], 2)),
    (ValueError, "input must have channels", lambda: cuaug.roi_align(VALID[0][..., :0], VALID[1], 2)),
    (TypeError, "input must be one of float16", lambda: cuaug.roi_align(VALID[0].astype(int), VALID[1], 2)),
    (TypeError, "input must be an array", lambda: cuaug.roi_align(3, VALID[1], 2)),
    (TypeError, "boxes must be one of float16", lambda: cuaug.roi_align(VALID[0], VALID[1].astype(int), 2)),
    (ValueError, "boxes must be empty, as input has no samples", lambda: cuaug.roi_align(VALID[0][:0], rois_of(0), 2)),
    (ValueError, "boxes must be arrays of one library, got numpy and torch", lambda: cuaug.roi_align(
        VALID[0], [np.zeros((1, 4)), torch.zeros(1, 4)], 2)),
    (TypeError, r"boxes\[1\] must be one of float16, .*, got complex64$", lambda: cuaug.roi_align(
        VALID[0], [np.zeros((1, 4)), np.zeros((1, 4), "complex64")], 2)),
    (TypeError, r"boxes\[0\] must be one of .*, got int64: pass boxes\[0\].astype\('float32'\)",
     lambda: cuaug.roi_align(VALID[0], [np.zeros((1, 4), int)] * 2, 2)),
    (ValueError, "sample index in 0..1, got 2.0 in region 1", lambda: cuaug.roi_align(VALID[0], rois_of(0, 2), 2)),
    (ValueError, "sample index in 0..1, got -1.0 in region 0", lambda: cuaug.roi_align(VALID[0], rois_of(-1, 0), 2)),
    (ValueError, "sample index in 0..1, got 0.5 in region 1", lambda: cuaug.roi_align(VALID[0], rois_of(1, 0.5), 2)),
    (ValueError, "sample index in 0..1, got nan in region 0", lambda: cuaug.roi_align(VALID[0], rois_of(np.nan, 9), 2)),
    (ValueError, "output_size must be", lambda: cuaug.roi_align(*VALID, (2, 2, 2))),
    (ValueError, "output_size must be at least 1", lambda: cuaug.roi_align(*VALID, 0)),
    (ValueError, "spatial_scale must be in 1e-30..1e.30, got 0", lambda: cuaug.roi_align(*VALID, 2, 0)),
    (ValueError, "spatial_scale must be in", lambda: cuaug.roi_align([VALID[0]] * 2, VALID[1], 2, [1e-300, 1e-301])),
    (ValueError, "output_size must have fewer than 2..31 bins", lambda: cuaug.roi_align(*VALID, (65536, 32768))),
    (ValueError, "input must have fewer than 2..31 samples and channels", lambda: cuaug.roi_align(
        np.broadcast_to(np.float32(1), (2**31, 4, 4, 1)), np.zeros((1, 5), np.float32), 2)),
    (ValueError, "spatial_scale must have an entry", lambda: cuaug.roi_align(*VALID, 2, [1.0, 0.5])),
    (ValueError, "spatial_scale must become smaller", lambda: cuaug.roi_align(
        [VALID[0]] * 2, VALID[1], 2, [0.5, 0.5])),
    (ValueError, r"multiple of 2 \* 2 channels, got 3", lambda: cuaug.ps_roi_align(*VALID, 2)),
    (TypeError, "input must be one array", lambda: cuaug.ps_roi_align([VALID[0]], VALID[1], 2)),
    (TypeError, "input and features are names of one argument", lambda: cuaug.roi_align(
        input=VALID[0], features=VALID[0], boxes=VALID[1], output_size=2)),
    (ValueError, "or 1 to 8 levels, got 9", lambda: cuaug.roi_align([VALID[0]] * 9, VALID[1], 2, [1.0] * 9)),
    (ValueError, "one library, device and dtype", lambda: cuaug.roi_align(
        [VALID[0], VALID[0].astype(np.float32)], VALID[1], 2, [1.0, 0.5])),
    (ValueError, "same samples and channels", lambda: cuaug.roi_align(
        [VALID[0], VALID[0][:1]], VALID[1], 2, [1.0, 0.5])),
    (ValueError, "mode must be one of", lambda: cuaug.roi_align(*VALID, 2, mode="mean")),
    (ValueError, "layout must be one of", lambda: cuaug.roi_align(*VALID, 2, layout="CHW")),
    (TypeError, "sampling_ratio must be an int", lambda: cuaug.roi_align(*VALID, 2, 1.0, 2.0)),
    (TypeError, "aligned must be True or False", lambda: cuaug.roi_align(*VALID, 2, aligned=1)),
    (ValueError, "boxes must have an entry for each image", lambda: cuaug.roi_align(VALID[0], [], 2)),
    (ValueError, r"boxes\[1\] must be an array of shape", lambda: cuaug.roi_align(
        VALID[0], [np.zeros((1, 4)), np.zeros((1, 6))], 2)),
    (ValueError, "boxes must have an array for each of 2 images, got 3", lambda: cuaug.roi_pool(
        VALID[0], [np.zeros((1, 4))] * 3, 2)),
    (TypeError, "input must be one array", lambda: cuaug.roi_pool([VALID[0]] * 2, VALID[1], 2, [1.0, 0.5])),
    (ValueError, "all upright", lambda: cuaug.roi_align(VALID[0], [np.zeros((1, 4)), np.zeros((1, 5))], 2)),
]  # fmt: skip


def test_roi_align_roi_pool_batched_nms_take_second_names():
    features, rois = maps(), rois_of(0, 1)
    for function in (cuaug.roi_align, cuaug.roi_pool):
        expected = function(features, rois, 2, layout="NCHW")
        assert expected.any()
        for name in ("input", "features"):
            actual = function(**{name: features}, boxes=rois, output_size=2, layout="NCHW")
            assert_allclose(actual, expected, rtol=0)
    boxes, scores, classes = rois[:, 1:], np.array([0.5, 0.75]), np.array([1, 2])
    for name in ("idxs", "classes"):
        assert cuaug.batched_nms(boxes, scores, **{name: classes}, iou_threshold=0.5).tolist() == [1, 0]


def test_roi_align_boxes_of_half_precision_in_a_list_keep_their_sample():
    """257 is no bfloat16 number."""
    features = torch.arange(300.0).reshape(300, 1, 1, 1).expand(300, 1, 4, 4)
    boxes = [torch.tensor([[0.0, 0, 3, 3]], dtype=torch.bfloat16)] * 300
    assert torch.equal(cuaug.roi_align(features, boxes, 1).flatten(), torch.arange(300.0))


def test_roi_pool_kernel_gives_0_for_samples_that_do_not_exist(monkeypatch):
    """The kernel, run by the emulator: on a GPU, no check reads the indices."""
    features, rois = np.float32([5, 7]).repeat(16).reshape(2, 1, 4, 4), rois_of(0, 1, 0.5, 1.9, -0.5, -1, 2, NAN)

    def pool(record, *_):
        name = "cuaug::roi_by_point<cuaug::float32, cuaug::RoiPoolBins, 1, 0>"
        record += bytes(ROI_ARGMAX.size - ROI.size)  # no argmax is requested
        fault = emulator.kernel(name, sources.kernel_source(name)[0])(record, (len(rois), 1, 1), 128)
        assert not fault, fault

    monkeypatch.setattr(roi_arrays, "_check_sample_indices", lambda *_: None)
    monkeypatch.setattr(extension, "extension", lambda: types.SimpleNamespace(pooling=pool))
    assert cuaug.roi_pool(features, rois, 1, layout="NCHW").ravel().tolist() == [5, 7, 0, 0, 0, 0, 0, 0]


def rois_of(*samples):
    return np.array([(n, 0, 0, 4, 4) for n in samples], float)


@pytest.mark.parametrize(("kind", "message", "call"), INVALID_CALLS, ids=[message for _, message, _ in INVALID_CALLS])
def test_roi_align_roi_pool_reject_invalid_arguments(kind, message, call):
    with pytest.raises(kind, match=r"^cuaug\.(ps_)?roi_\w+: .*" + message):
        call()
