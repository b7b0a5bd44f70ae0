"""`layout=` of a call, after a choice that converts images to another type."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T


@pytest.mark.parametrize("name", ["ToImage", "ToTensor", "PILToTensor", "ToPILImage"])
def test_random_apply_of_a_conversion_sets_the_layout(name):
    """After it, images have the layout of their library, not that of the call."""
    if name == "ToImage":
        pytest.importorskip("torchvision.tv_tensors")
    values, convert = noise((6, 8, 3)), getattr(T, name)()
    image = torch.from_numpy(values) if name == "ToPILImage" else values
    expected = np.asarray(T.Compose([convert, T.CenterCrop(2)])(image, layout="HWC"))
    for choice in (T.RandomApply([convert], 1.0), T.RandomApply([T.RandomOrder([convert])], 1.0)):
        assert_equal(np.asarray(T.Compose([choice, T.CenterCrop(2)])(image, layout="HWC")), expected)
    unchanged = T.Compose([T.RandomApply([convert], 0.0), T.CenterCrop(2)])(image, layout="HWC")
    assert_equal(np.asarray(unchanged), values[2:4, 3:5])


def test_random_apply_refuses_a_layout_if_some_images_are_converted():
    images = [torch.from_numpy(noise((6, 8, 3), seed=seed)) for seed in range(8)]
    aug = T.Compose([T.RandomApply([T.ToPILImage()], 0.5), T.CenterCrop(2)], seed=1)
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose: RandomApply: layout must not be given if"):
        aug(images, layout="HWC")
