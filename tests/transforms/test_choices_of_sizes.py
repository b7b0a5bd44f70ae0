"""`RandomChoice` with a transform that draws sizes: batches without samples, and lists of one sample."""

import pytest
import torch

from cuaug import transforms as T


def choice():
    return T.RandomChoice([T.RandomResize(10, 20), T.RandomHorizontalFlip(p=0)])


def test_choice_of_size_transform_takes_a_batch_without_samples():
    sample = {"images": torch.zeros(0, 3, 20, 20), "masks": torch.zeros(0, 20, 20, dtype=torch.uint8)}
    result = T.Compose([choice(), T.CenterCrop(8)], seed=0)(sample)
    assert tuple(result["images"].shape) == (0, 3, 8, 8)
    assert tuple(result["masks"].shape) == (0, 8, 8)
    assert tuple(T.Compose([choice()], seed=0)(sample)["images"].shape) == (0, 3, 20, 20)


@pytest.mark.parametrize("shape", [(3, 20, 24), (1, 20, 24)], ids=["RGB", "grey"])
@pytest.mark.parametrize("form", [lambda x: [{"image": x}], lambda x: [(x, 7)], lambda x: {"samples": [{"image": x}]}])
def test_choice_of_size_transform_takes_a_list_of_one_sample(form, shape):
    image, flipped = torch.rand(shape), 0
    for step in range(4):
        result = T.Compose([choice(), T.RandomHorizontalFlip(p=1)], seed=0)(form(image), step=step)
        result = result["samples"] if isinstance(result, dict) else result
        assert isinstance(result, list)
        pixels = result[0]["image"] if isinstance(result[0], dict) else result[0][0]
        assert pixels.ndim == image.ndim
        if pixels.shape == image.shape:
            assert torch.equal(pixels, image.flip(-1))
            flipped += 1
    assert 0 < flipped < 4
