"""`Compose.plan(images, measure=True)` on a GPU: host and device time, on the caller's stream."""

import pytest
from helpers.arrays import images

from cuaug import transforms as T

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("shape", [(64, 96, 96, 3), (2, 9, 8, 3)], ids=["batch", "small batch"])
@pytest.mark.parametrize("as_list", [False, True], ids=["array", "list"])
def test_compose_gpu_plan_measures_a_call(shape, as_list):
    batch = images(("torch", "cuda"), "uint8", "NHWC", shape)
    arguments = [image[i % 2 :].contiguous() for i, image in enumerate(batch)] if as_list else batch
    layout = "HWC" if as_list else "NHWC"
    transforms = [T.RandomResizedCrop(64, antialias=False), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4)]
    aug, expected = T.Compose(transforms, seed=2), T.Compose(transforms, seed=2)(batch, layout="NHWC")
    with torch.cuda.stream(torch.cuda.Stream()):
        plan = aug.plan(arguments, layout=layout, measure=True)
    assert plan.samples == shape[0]
    assert plan.host_us > 0
    assert plan.device_us > 0
    assert plan.peak_bandwidth > 1e11
    assert plan.memory_us == pytest.approx(plan.bytes_per_sample * shape[0] / plan.peak_bandwidth * 1e6)
    assert "; its bytes take " in str(plan)
    assert torch.equal(aug(batch, layout="NHWC"), expected)  # the step is still 0
