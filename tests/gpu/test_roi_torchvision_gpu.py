"""roi_align, roi_pool and ps_roi_align on the GPU, against torchvision."""

import pytest
from helpers.gpu_regions import assert_alike, features, regions

import cuaug

torch = pytest.importorskip("torch")
tv_ops = pytest.importorskip("torchvision.ops")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, -1])
def test_roi_align_gpu_equals_torchvision(ratio, aligned, dtype, channels_last):
    maps, rois = features(dtype, 64, channels_last), torch.from_numpy(regions(200)).to(dtype).cuda()
    results = []
    for function in (cuaug.roi_align, tv_ops.roi_align):
        inputs = maps, rois
        if function is tv_ops.roi_align and dtype == torch.float16:
            inputs = maps.float(), rois.float()  # torchvision's coordinates would have the 11 bits of float16
        leaf = inputs[0].clone().requires_grad_()
        out = function(leaf, inputs[1], 7, 0.5, ratio, aligned)
        (out.float() * torch.sin(torch.arange(49, device="cuda").float()).view(7, 7)).sum().backward()
        results.append((out.detach(), leaf.grad))
    for actual, expected in zip(*results, strict=True):
        assert_alike(actual, expected, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_roi_pool_gpu_equals_torchvision(dtype):
    maps, rois = features(dtype, 16), torch.from_numpy(regions(200)).to(dtype).cuda()
    assert torch.equal(cuaug.roi_pool(maps, rois, 7, 0.5), tv_ops.roi_pool(maps, rois, 7, 0.5))


@pytest.mark.parametrize("ratio", [2, -1])
def test_ps_roi_align_gpu_equals_torchvision(ratio):
    maps, rois = features(torch.float64, 24), torch.from_numpy(regions(200)).double().cuda()
    rois[:, 3:] = torch.maximum(rois[:, 3:], rois[:, 1:3] + 0.5)  # without area, torchvision gives NaN for ratio -1
    results = []
    for function in (cuaug.ps_roi_align, tv_ops.ps_roi_align):
        leaf = maps.clone().requires_grad_()
        out = function(leaf, rois, (3, 2), 0.5, ratio)
        out.square().sum().backward()
        results.append((out.detach(), leaf.grad))
    for actual, expected in zip(*results, strict=True):
        assert_alike(actual, expected, torch.float64)
