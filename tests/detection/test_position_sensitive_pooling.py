"""ps_roi_align and ps_roi_pool against float64 NumPy: values, layouts, dtypes, libraries and gradients."""

import numpy as np
import pytest
from helpers.arrays import every_backend, put, seeded
from helpers.compare import assert_equal, describe, to_numpy
from helpers.regions import GPU_TOLERANCE, ROIS, TOLERANCE, H, N, W, bins_of, in_layout, maps
from tables import detection as reference_ops

import cuaug

SIZE, CHANNELS = (3, 2), 3 * 2 * 4


def pixels_of(roi, scale):
    return reference_ops.roi_pixels(roi[1:].tolist(), SIZE, (H, W), scale, has_ends=False)


# By function: the arguments after the size, and the weights of the bins' sampling points for the same arguments.
FUNCTIONS = {
    "ps_roi_align": (
        [(1.0, -1), (0.5, 2), (1.25, 3)],
        lambda roi, scale, ratio: bins_of(roi, SIZE, scale, ratio, aligned=True),
    ),
    "ps_roi_pool": ([(1.0,), (0.5,), (1.25,)], pixels_of),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


@every_backend
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", TOLERANCE)
@every_function
def test_position_sensitive_pooling_equals_reference(name, dtype, layout, backend):
    values, (calls, bins) = maps(dtype, shape=(N, CHANNELS, H, W)), FUNCTIONS[name]
    features, rois = put(in_layout(values, layout), backend, dtype), put(ROIS, backend, "float32")
    library, device, _ = describe(features)
    for arguments in calls:
        actual = getattr(cuaug, name)(features, rois, SIZE, *arguments, layout=layout)
        pooled = [reference_ops.pooled(values[int(roi[0])], bins(roi, *arguments), "avg") for roi in ROIS]
        expected = in_layout(np.stack([reference_ops.position_sensitive_bins(region) for region in pooled]), layout)
        kind = {"library": library, "device": device, "dtype": dtype}
        tolerances = TOLERANCE if device == "cpu" else GPU_TOLERANCE
        assert_equal(actual, expected, tolerance=tolerances[dtype], **kind)


@every_function
def test_position_sensitive_pooling_result_is_no_view_of_a_larger_array(name):
    function = getattr(cuaug, name)
    for layout in ("NCHW", "NHWC"):
        features = in_layout(maps(shape=(N, CHANNELS, H, W)), layout)
        result = function(features, ROIS, SIZE, layout=layout)
        assert result.flags.c_contiguous
        assert result.flags.writeable
        assert result.base is None or result.base.nbytes == result.nbytes
    assert function(features, np.zeros((0, 5)), SIZE).shape == (0, *SIZE, 4)


@every_function
def test_position_sensitive_pooling_takes_a_list_of_boxes(name):
    function = getattr(cuaug, name)
    features, rois = maps(shape=(N, CHANNELS, H, W)), ROIS[np.argsort(ROIS[:, 0], kind="stable")]
    boxes = [rois[rois[:, 0] == n, 1:] for n in range(N)]
    assert_equal(function(features, boxes, SIZE, layout="NCHW"), function(features, rois, SIZE, layout="NCHW"))


@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
@every_function
def test_position_sensitive_pooling_gradient_equals_reference(name, channels_last):
    torch = pytest.importorskip("torch")
    values, (calls, bins_of_roi) = maps(shape=(N, CHANNELS, H, W)), FUNCTIONS[name]
    memory_format = torch.channels_last if channels_last else torch.contiguous_format
    features = torch.from_numpy(values).to(memory_format=memory_format).requires_grad_()
    result = getattr(cuaug, name)(features, torch.from_numpy(ROIS), SIZE, *calls[1])
    gradient = seeded("gradient").normal(0, 1, result.shape)
    assert result.is_contiguous(memory_format=memory_format)
    result.backward(torch.from_numpy(gradient))
    expected = np.zeros(values.shape)
    for roi, roi_gradient in zip(ROIS, gradient, strict=True):
        n, bins = int(roi[0]), bins_of_roi(roi, *calls[1])
        for c, y, x in np.ndindex(*roi_gradient.shape):
            channel = (c * SIZE[0] + y) * SIZE[1] + x
            if len(bins[y, x]):
                expected[n, channel] += roi_gradient[c, y, x] * bins[y, x].mean(0)
    assert_equal(to_numpy(features.grad), expected, tolerance=TOLERANCE["float64"])


@pytest.mark.slow
@every_function
def test_position_sensitive_pooling_compiled_equals_eager(name):
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    function, (calls, _) = getattr(cuaug, name), FUNCTIONS[name]
    features = torch.from_numpy(maps("float32", shape=(N, CHANNELS, H, W))).float().requires_grad_()
    rois = torch.from_numpy(ROIS).float()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    results = []
    for call in (function, compiled):
        result = call(features, rois, SIZE, *calls[1])
        (gradient,) = torch.autograd.grad(result.square().sum(), features)
        results += [result.detach(), gradient]
    assert torch.equal(results[0], results[2])
    assert torch.equal(results[1], results[3])


def test_ps_roi_pool_rejects_rotated_boxes_and_lists_of_maps():
    features = maps(shape=(N, CHANNELS, H, W))
    with pytest.raises(ValueError, match=r"^cuaug.ps_roi_pool: boxes must have shape \(K, 5\), or be a list"):
        cuaug.ps_roi_pool(features, np.ones((3, 6)), SIZE, layout="NCHW")
    with pytest.raises(TypeError, match=r"^cuaug.ps_roi_pool: input must be one array, got a list"):
        cuaug.ps_roi_pool([features], ROIS, SIZE, layout="NCHW")
