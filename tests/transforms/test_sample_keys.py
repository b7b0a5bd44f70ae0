"""Dicts of samples with unusual keys: a result has the keys of its sample, and those of the masks of boxes."""

import enum

import pytest
import torch

from cuaug import transforms as T


class Text(str, enum.Enum):
    FIRST = "first"


@pytest.mark.parametrize("keys", [(1, 2), (True, 2), (1.0, 2), ("first", 2), (Text.FIRST, 2)], ids=str)
def test_sample_with_equal_keys_of_other_types_keeps_their_names(keys, tv):
    boxes = tv.BoundingBoxes(torch.tensor([[1.0, 2, 6, 7]]), format="XYXY", canvas_size=(8, 8))
    for other in (keys, ("first", 2), (1, 2), (1.0, 2), keys):
        result = T.RandomHorizontalFlip()({"image": torch.zeros(3, 8, 8), **dict.fromkeys(other, boxes)})
        assert list(result)[1:] == [*other, *(f"valid_{key}" for key in other)]


class GetsKeys(dict):
    __getattr__ = dict.get


class RaisesOfKeys(dict):
    __getattr__ = dict.__getitem__


class AddsKeys(dict):
    def __getattr__(self, key):
        return self.setdefault(key, AddsKeys())


@pytest.mark.parametrize("kind", [GetsKeys, RaisesOfKeys, AddsKeys])
def test_sample_of_dicts_with_keys_as_attributes_gains_no_key(kind):
    image, boxes = torch.zeros(3, 8, 8), torch.tensor([[1.0, 2, 6, 7]])
    aug = T.Compose([T.RandomHorizontalFlip()], seed=1)
    for _ in range(2):
        sample = kind(image=image, target=kind(boxes=boxes, labels=3))
        result = aug(sample)
        assert list(sample) == list(result) == ["image", "target"]
        assert list(result["target"]) == ["boxes", "labels", "valid"]
        assert aug((image, kind(labels=3)))[1] == {"labels": 3}
