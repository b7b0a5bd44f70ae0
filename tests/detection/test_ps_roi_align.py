"""ps_roi_align against float64 NumPy: values, layouts, dtypes, libraries and gradients."""

import numpy as np
import pytest
from helpers.arrays import every_backend, put, seeded
from helpers.compare import assert_equal, describe, to_numpy
from helpers.regions import ROIS, TOLERANCE, H, N, W, bins_of, in_layout, maps
from tables import detection as reference_ops

import cuaug

SIZE, CHANNELS = (3, 2), 3 * 2 * 4
OPTIONS = [(1.0, -1), (0.5, 2), (1.25, 3)]  # spatial_scale, sampling_ratio


def expected_result(features, rois, scale=1.0, ratio=-1):
    bins = [bins_of(roi, SIZE, scale, ratio, aligned=True) for roi in rois]
    return np.stack(
        [
            reference_ops.own_channels(reference_ops.pooled(features[int(roi[0])], b, "avg"))
            for roi, b in zip(rois, bins, strict=True)
        ]
    )


@every_backend
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_ps_roi_align_equals_reference(dtype, layout, backend):
    values = maps(dtype, shape=(N, CHANNELS, H, W))
    features, rois = put(in_layout(values, layout), backend, dtype), put(ROIS, backend, "float32")
    library, device, _ = describe(features)
    for scale, ratio in OPTIONS:
        actual = cuaug.ps_roi_align(features, rois, SIZE, scale, ratio, layout)
        expected = in_layout(expected_result(values, ROIS, scale, ratio), layout)
        kind = {"library": library, "device": device, "dtype": dtype}
        assert_equal(actual, expected, tolerance=TOLERANCE[dtype], **kind)


def test_ps_roi_align_result_is_a_copy_of_its_own_size():
    for layout in ("NCHW", "NHWC"):
        features = in_layout(maps(shape=(N, CHANNELS, H, W)), layout)
        result = cuaug.ps_roi_align(features, ROIS, SIZE, layout=layout)
        assert result.flags.c_contiguous
        assert result.flags.writeable
        assert result.base is None or result.base.nbytes == result.nbytes
    assert cuaug.ps_roi_align(features, np.zeros((0, 5)), SIZE).shape == (0, *SIZE, 4)


def test_ps_roi_align_takes_a_list_of_boxes():
    features, rois = maps(shape=(N, CHANNELS, H, W)), ROIS[np.argsort(ROIS[:, 0], kind="stable")]
    boxes = [rois[rois[:, 0] == n, 1:] for n in range(N)]
    actual = cuaug.ps_roi_align(features, boxes, SIZE, layout="NCHW")
    assert_equal(actual, cuaug.ps_roi_align(features, rois, SIZE, layout="NCHW"))


@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
def test_ps_roi_align_gradient_equals_reference(channels_last):
    torch = pytest.importorskip("torch")
    values = maps(shape=(N, CHANNELS, H, W))
    memory_format = torch.channels_last if channels_last else torch.contiguous_format
    features = torch.from_numpy(values).to(memory_format=memory_format).requires_grad_()
    result = cuaug.ps_roi_align(features, torch.from_numpy(ROIS), SIZE, 1.0, 2)
    gradient = seeded("gradient").normal(0, 1, result.shape)
    assert result.is_contiguous(memory_format=memory_format)
    result.backward(torch.from_numpy(gradient))
    expected = np.zeros(values.shape)
    for roi, roi_gradient in zip(ROIS, gradient, strict=True):
        n, bins = int(roi[0]), bins_of(roi, SIZE, 1.0, 2, aligned=True)
        for c, y, x in np.ndindex(*roi_gradient.shape):
            channel = (c * SIZE[0] + y) * SIZE[1] + x
            if len(bins[y, x]):
                expected[n, channel] += roi_gradient[c, y, x] * bins[y, x].mean(0)
    assert_equal(to_numpy(features.grad), expected, tolerance=TOLERANCE["float64"])


def test_ps_roi_align_compiled_equals_eager():
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    features = torch.from_numpy(maps("float32", shape=(N, CHANNELS, H, W))).float().requires_grad_()
    rois = torch.from_numpy(ROIS).float()
    compiled = torch.compile(cuaug.ps_roi_align, fullgraph=True, backend="aot_eager")
    results = []
    for function in (cuaug.ps_roi_align, compiled):
        result = function(features, rois, SIZE, 1.0, 2)
        (gradient,) = torch.autograd.grad(result.square().sum(), features)
        results += [result.detach(), gradient]
    assert torch.equal(results[0], results[2])
    assert torch.equal(results[1], results[3])
