"""Gradients of roi_align and roi_pool on a CPU: against float64 NumPy, by gradcheck, and equal in every run."""

import numpy as np
import pytest
from helpers.arrays import seeded
from helpers.compare import assert_equal, to_numpy
from helpers.regions import INF, NAN, ROIS, ROTATED_ROIS, SCALES, TOLERANCE, C, H, N, W, bins_of, maps, pyramid
from tables import detection as reference_ops

import cuaug
from cuaug import _native as native


def expected_gradient(features, rois, gradient, mode="avg", **options):
    out = np.zeros(features.shape)
    for roi, roi_gradient in zip(rois, gradient, strict=True):
        n = int(roi[0])
        out[n] += reference_ops.pooled_gradient(features[n], bins_of(roi, **options), mode, roi_gradient)
    return out


@pytest.mark.parametrize("mode", ["avg", "max", "pool"])
@pytest.mark.parametrize("bad", [NAN, INF, -1e30])
def test_roi_align_roi_pool_invalid_region_has_no_gradient(bad, mode):
    torch = pytest.importorskip("torch")
    rois = torch.tensor([(1, 1, 2, 5, 6.0)] * 4 + [(1, -3e9, -3e9, 3e9, 3e9)], dtype=torch.float64)
    rois[torch.arange(4), torch.arange(1, 5)] = bad
    features = torch.from_numpy(maps()).requires_grad_()
    out = cuaug.roi_pool(features, rois, 2) if mode == "pool" else cuaug.roi_align(features, rois, 2, mode=mode)
    out.sum().backward()
    assert not features.grad.any()


KINDS = {
    "avg": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), aligned=True, **o), ROIS, "avg"),
    "max": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), mode="max", aligned=True, **o), ROIS, "max"),
    "rotated": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), aligned=True, **o), ROTATED_ROIS, "avg"),
    "rotated max": (
        lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), mode="max", aligned=True, **o),
        ROTATED_ROIS,
        "max",
    ),
    "pool": (lambda f, r, **o: cuaug.roi_pool(f, r, (3, 2), **o), ROIS, "pixels"),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
def test_roi_align_roi_pool_gradient_equals_reference(channels_last, dtype, kind):
    torch = pytest.importorskip("torch")
    call, rois, mode = KINDS[kind]
    values = maps(dtype)
    features = torch.from_numpy(values).to(getattr(torch, dtype))
    memory_format = torch.channels_last if channels_last else torch.contiguous_format
    features = features.to(memory_format=memory_format).requires_grad_()
    out = call(features, torch.from_numpy(rois))
    gradient = torch.from_numpy(seeded("gradient").normal(0, 1, out.shape)).to(out.dtype)
    out.backward(gradient)
    if mode == "pixels":
        expected = np.zeros(values.shape)
        for roi, roi_gradient in zip(rois, to_numpy(gradient), strict=True):
            bins = reference_ops.roi_pixels(roi[1:].tolist(), (3, 2), (H, W))
            expected[int(roi[0])] += reference_ops.pooled_gradient(values[int(roi[0])], bins, "max", roi_gradient)
    else:
        expected = expected_gradient(values, rois, to_numpy(gradient), mode, output_size=(3, 2), aligned=True)
    assert_equal(features.grad, expected, tolerance=TOLERANCE[dtype], library="torch", dtype=dtype)


@every_kind
def test_roi_align_roi_pool_gradcheck(kind):
    torch = pytest.importorskip("torch")
    call, rois, _ = KINDS[kind]
    features = torch.from_numpy(maps()[:, :2, :7, :6].copy()).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: call(f, torch.from_numpy(rois[:4])), (features,))


def test_roi_align_gradient_of_levels():
    torch = pytest.importorskip("torch")
    levels, rois = pyramid()
    levels = [torch.from_numpy(level[:, :2, :6, :5].copy()).requires_grad_() for level in levels]
    rois = torch.from_numpy(rois)
    assert torch.autograd.gradcheck(lambda *tensors: cuaug.roi_align(list(tensors), rois, 2, SCALES, 2, True), levels)


def test_roi_align_gradient_is_deterministic_on_cpu():
    torch = pytest.importorskip("torch")
    rng, gradients = seeded("runs"), []
    corner = rng.uniform(0, 8, (300, 2))
    rois = np.concatenate([rng.integers(0, N, (300, 1)), corner, corner + rng.uniform(1, 5, (300, 2))], 1)
    gradient = torch.from_numpy(rng.normal(0, 1, (300, C, 7, 7))).float()
    try:
        for threads in (1, 2, 7, 7):
            native.set_threads(threads)
            features = torch.from_numpy(maps("float32")).float().requires_grad_()
            cuaug.roi_align(features, torch.from_numpy(rois), 7).backward(gradient)
            gradients.append(features.grad)
    finally:
        native.set_threads(0)
    assert all(torch.equal(gradients[0], other) for other in gradients[1:])


def test_roi_align_rejects_second_derivative():
    torch = pytest.importorskip("torch")
    features = torch.from_numpy(maps()).requires_grad_()
    out = cuaug.roi_align(features, torch.from_numpy(ROIS), 2)
    (first,) = torch.autograd.grad((out * out).sum(), features, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        first.sum().backward()


def test_roi_align_without_grad_records_nothing():
    torch = pytest.importorskip("torch")
    features, rois = torch.from_numpy(maps()).requires_grad_(), torch.from_numpy(ROIS).requires_grad_()
    with torch.no_grad():
        assert not cuaug.roi_align(features, rois, 2).requires_grad
    assert not cuaug.roi_align(features.detach(), rois, 2).requires_grad
    with torch.inference_mode():
        assert not cuaug.roi_align(features, rois, 2).requires_grad
    cuaug.roi_align(features, rois, 2).sum().backward()
    assert rois.grad is None
