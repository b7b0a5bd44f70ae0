"""`layout=` of a call, after a part of the recipe that converts images to another type."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T


@pytest.mark.parametrize("layout", ["HWC", "CHW", None])
@pytest.mark.parametrize("as_array", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", ["ToImage", "ToTensor", "PILToTensor", "ToPILImage"])
def test_compose_layout_after_a_conversion_is_that_of_the_library(name, as_array, layout):
    if name == "ToImage":
        pytest.importorskip("torchvision.tv_tensors")
    channels_last = noise((5, 7, 3))
    default = "HWC" if as_array is np.asarray else "CHW"
    values = channels_last if (layout or default) == "HWC" else np.moveaxis(channels_last, 2, 0).copy()
    recipe = T.Compose([T.RandomVerticalFlip(1.0), getattr(T, name)(), T.RandomHorizontalFlip(1.0), T.CenterCrop(3)])
    result = np.asarray(recipe(as_array(values), layout=layout))
    if result.dtype == np.float32:
        result = np.rint(result * 255).astype(np.uint8)
    is_last = name == "ToPILImage" or (name == "PILToTensor" and as_array is np.asarray)
    expected = channels_last[::-1, ::-1][1:4, 2:5]
    assert np.array_equal(result, expected if is_last else np.moveaxis(expected, 2, 0))


def test_compose_layout_reaches_crops_but_not_functions():
    images = torch.from_numpy(noise((5, 7, 3)))
    crops = T.Compose([T.RandomHorizontalFlip(1.0), lambda image: image, T.FiveCrop(2)])(images, layout="HWC")
    assert np.array_equal(crops[1], images.flip(1)[:2, -2:])
    assert len(T.TenCrop(2)(images, layout="HWC")) == 10
    with pytest.raises(TypeError, match=r"SanitizeBoundingBoxes is not fused: .* got layout="):
        T.SanitizeBoundingBoxes()(images, layout="HWC")
    with pytest.raises(ValueError, match=r"layout 'NHWC' needs 4 axes, got shape \(5, 7, 3\)"):
        T.Compose([T.ToTensor(), T.FiveCrop(2)])(images, layout="NHWC")


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
