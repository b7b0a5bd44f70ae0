"""Results of several sizes on a GPU: equal to the CPU's, in one launch for a batch, without a wait for the device."""

import pytest
from helpers.arrays import no_synchronization, noise
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.cuda_graphs import capture_graph

import cuaug
from cuaug import transforms as T
from cuaug._gpu import launch as launch_module

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
WITHIN_A_LEVEL = Tolerance(absolute=1, exact=0.97, reason="sums of float32 in another order, rounded once")
RESIZED = Tolerance(absolute=1, exact=0.9, reason="a GPU resizes with fixed-point coordinates")
TRANSFORMS = {
    "zoom out": (T.RandomZoomOut((9, 8, 7), (1.0, 3.0), 0.8), EXACT),
    "IoU crop": (T.RandomIoUCrop(), EXACT),
    "scale": (T.ScaleJitter((70, 60), (0.1, 2.0)), WITHIN_A_LEVEL),
    "scale, not antialiased": (T.ScaleJitter((70, 60), (0.2, 3.0), antialias=False), WITHIN_A_LEVEL),
    "shortest size": (T.RandomShortestSize([33, 64, 130], 150, "bicubic"), WITHIN_A_LEVEL),
    "nearest": (T.RandomResize(20, 200, "nearest"), EXACT),
}


def detection_batch(count=24, seed=0):
    """Images [N, 3, 75, 111] with masks and boxes."""
    boxes = torch.tensor([[5.0, 6, 60, 70], [30, 20, 100, 50], [0, 0, 9, 8]]).repeat(count, 1, 1)
    # Odd sides: with an even one, centres of a result's pixels may lie on the edge between two source pixels, and
    # rounding errors would decide which of them nearest takes.
    images = torch.from_numpy(noise((count, 3, 75, 111), seed=seed))
    return {"image": images, "masks": torch.from_numpy(noise((count, 75, 111), seed=seed + 1)), "boxes": boxes}


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_sizes_on_gpu_equal_those_on_cpu(name, channels_last):
    transform, tolerance = TRANSFORMS[name]
    sample = detection_batch()
    if channels_last:
        sample["image"] = sample["image"].contiguous(memory_format=torch.channels_last)
    aug = T.Compose([transform], seed=4)
    expected = aug(sample, step=1)
    result = aug({key: value.cuda() for key, value in sample.items()}, step=1)
    assert len({tuple(image.shape) for image in expected["image"]}) > 2
    for key, tolerance_of_key in (("image", tolerance), ("masks", EXACT), ("boxes", Tolerance(1e-3, reason="float32"))):
        for actual, expected_value in zip(result[key], expected[key], strict=True):
            assert actual.is_cuda
            assert_equal(actual.cpu().numpy(), expected_value.numpy(), tolerance=tolerance_of_key)
    assert torch.equal(result["valid"].cpu(), expected["valid"])
    for i in (0, 5):
        single = aug({key: value[i].cuda() for key, value in sample.items()}, step=1, ids=i)
        assert_equal(result["image"][i].cpu().numpy(), single["image"].cpu().numpy(), tolerance=tolerance)
        assert torch.equal(result["masks"][i], single["masks"])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_sizes_on_gpu_take_at_most_one_launch_for_images_and_do_not_wait(name, monkeypatch):
    transform, _ = TRANSFORMS[name]
    aug, sample = T.Compose([transform], seed=4), detection_batch()
    images = sample["image"].cuda()
    call = {"image": images, "boxes": sample["boxes"]} if name == "IoU crop" else images  # boxes on the host
    aug(call, step=0)
    launched, launch = [], launch_module.launch
    monkeypatch.setattr(
        launch_module, "launch", lambda kernel, *rest: (launched.append(kernel), launch(kernel, *rest))[1]
    )
    torch.cuda.synchronize()
    with no_synchronization():
        aug(call, step=1)
    assert len(launched) == (0 if name == "IoU crop" else 1)  # crops are views


def test_ssd_recipe_on_gpu_is_one_batch_and_pad_batch_equals_cpu():
    sample = detection_batch()
    on_gpu = {"image": sample["image"].cuda(), "masks": sample["masks"].cuda(), "boxes": sample["boxes"]}
    crops = [T.RandomZoomOut(side_range=(1.0, 2.0)), T.RandomIoUCrop(), T.RandomHorizontalFlip()]
    for last in (T.Resize((60, 60)), T.PadBatch(size_divisor=32, fill=5)):
        aug = T.Compose([*crops, last], seed=2)
        expected, result = aug(sample, step=1), aug(on_gpu, step=1)
        assert result["image"].shape == expected["image"].shape
        for key in expected:
            tolerance = {"image": RESIZED, "boxes": Tolerance(1e-3, reason="float32")}.get(key, EXACT)
            assert_equal(result[key].cpu().numpy(), expected[key].numpy(), tolerance=tolerance)


def test_sizes_on_gpu_are_refused_in_capture():
    images, messages = detection_batch()["image"].cuda(), []
    aug = T.Compose([T.RandomResize(20, 40)])
    aug(images)

    def call():
        try:
            aug(images)
        except cuaug.BackendError as error:
            messages.append(str(error))
        return images + 1  # torch warns about an empty graph

    capture_graph(call)
    assert "RandomResize cannot be captured" in messages[0]
