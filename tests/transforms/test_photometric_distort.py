"""RandomPhotometricDistort gives torchvision's result for the same parameters; its parameters are replayed."""

import json

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import Tolerance, assert_equal

from cuaug import transforms as T

FACTORS = "brightness", "contrast", "saturation", "hue"


def torchvision_parameters(drawn, n):
    """Sample n's parameters as torchvision's ``make_params`` names them."""
    values = {name.split(".")[-1]: column[n] for name, column in drawn.items()}
    factors = {f"{name}_factor": values[f"{name}_factor"] if values[f"apply_{name}"] else None for name in FACTORS}
    permutation = torch.tensor([int(values[f"permutation_{c}"]) for c in range(3)])
    return {
        **factors,
        "contrast_before": bool(values["contrast_before"]),
        "channel_permutation": permutation if values["apply_permutation"] else None,
    }


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        ("float32", Tolerance(absolute=1e-5, reason="up to five steps in float32")),
        ("uint8", Tolerance(absolute=1, exact=0.99, reason="the exact value is nearly a tie")),
    ],
)
def test_random_photometric_distort_equals_torchvision(dtype, tolerance):
    """torchvision gets floats: it truncates integers after each step, cuaug rounds once."""
    reference = pytest.importorskip("torchvision.transforms.v2").RandomPhotometricDistort()
    images = torch.from_numpy(noise((64, 3, 17, 11), dtype))
    aug = T.Compose([T.RandomPhotometricDistort()], seed=3)
    params = aug.draw(images)
    drawn = params.to_dict()["drawn"]
    scale = 255 if dtype == "uint8" else 1
    expected = torch.stack(
        [reference.transform(image / scale, torchvision_parameters(drawn, n)) for n, image in enumerate(images)]
    )
    assert len({tuple(drawn[f"0.RandomPhotometricDistort.apply_{f}"][n] for f in FACTORS) for n in range(64)}) > 9
    expected = (expected * scale).round().byte() if dtype == "uint8" else expected
    assert_equal(aug.apply(images, params), expected, tolerance=tolerance)


def test_random_photometric_distort_is_replayed_from_json():
    images = noise((8, 17, 11, 3))
    aug = T.Compose([T.RandomPhotometricDistort(), T.RandomChannelPermutation()], seed=3)
    params = aug.draw(images)
    other = T.Compose([T.RandomPhotometricDistort(), T.RandomChannelPermutation()], seed=9)
    restored = other.params_from_dict(json.loads(json.dumps(params.to_dict())), images)
    assert_equal(other.apply(images, restored), aug.apply(images, params))
    description = params.to_dict()
    description["drawn"]["1.RandomChannelPermutation.permutation_2"][5] = 3
    with pytest.raises(ValueError, match=r"integers in 0\.\.2 as 1\.RandomChannelPermutation\.permutation_2, got 3"):
        other.params_from_dict(description, images)


@pytest.mark.parametrize(
    ("transform", "channels", "message"),
    [
        (T.RandomPhotometricDistort(), 2, "RandomPhotometricDistort: images must have 1 or 3 channels, got 2"),
        (T.RandomChannelPermutation(), 5, "RandomChannelPermutation: images must have 1 or 2 or 3 or 4 channels"),
    ],
    ids=repr,
)
def test_random_photometric_distort_and_permutation_reject_channels(transform, channels, message):
    with pytest.raises(ValueError, match=message):
        T.Compose([transform])(np.zeros((2, 9, 9, channels), np.uint8), layout="NHWC")


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_random_channel_permutation_of_any_channels(channels):
    images = noise((40, 9, 7, channels))
    aug = T.Compose([T.RandomChannelPermutation()], seed=3)
    params = aug.draw(images, layout="NHWC")
    order = np.stack([params[name] for name in params.names], -1).astype(int)
    assert len(np.unique(order, axis=0)) >= {1: 1, 2: 2, 4: 15}[channels]
    expected = np.take_along_axis(images, order[:, None, None], -1)
    assert_equal(aug.apply(images, params, layout="NHWC"), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [(1, 1), (5, 1023), (3, 4100), (224, 224)])
@pytest.mark.parametrize("is_crop", [False, True])
def test_random_photometric_distort_and_color_jitter_in_one_pass_on_gpu_equal_cpu(size, is_crop):
    """The first mean of a pass is computed by several blocks, the second by one.

    Both skip samples whose contrast is not adjusted: their ops need no mean.
    """
    padded = torch.from_numpy(noise((9, 3, size[0] + 3, size[1] + 5)))
    window = (..., slice(2, -1), slice(4, -1)) if is_crop else (..., slice(size[0]), slice(size[1]))
    images, on_gpu = padded[window], padded.cuda()[window]
    if not is_crop:
        images, on_gpu = images.contiguous(), on_gpu.contiguous()
    aug = T.Compose([T.RandomPhotometricDistort(), T.ColorJitter(0.4, 0.4, 0.4, 0.1)], seed=7)
    assert str(aug.plan(images)).startswith("1 pass, 4 launches")
    nearly_tie = Tolerance(absolute=1, exact=0.99, reason="the exact value is nearly a tie")
    assert_equal(aug(on_gpu, step=2).cpu(), aug(images, step=2), tolerance=nearly_tie)
