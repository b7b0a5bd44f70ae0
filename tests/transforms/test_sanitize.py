"""Which values `SanitizeBoundingBoxes` changes beside the boxes that it removes."""

import collections

import pytest
import torch

from cuaug import transforms as T

GOOD, BAD = [1.0, 1, 6, 6], [1.0, 1, 1, 1]
Triple = collections.namedtuple("Triple", "a b c")


def boxes_of(tv, *rows):
    return tv.BoundingBoxes(torch.tensor(rows), format="XYXY", canvas_size=(12, 12))


@pytest.mark.parametrize("key", ["labels", "masks"])
def test_sanitize_bounding_boxes_refuses_entries_of_two_arrays(key, tv):
    """The two arrays of boxes disagree about which entries to remove."""
    getter = "default" if key == "labels" else None
    values = {key: torch.ones(3, 12, 12) if key == "masks" else torch.arange(3)}
    sample = {"boxes": boxes_of(tv, GOOD, BAD, GOOD), "gt_boxes": boxes_of(tv, BAD, BAD, GOOD), **values}
    message = rf"^cuaug.transforms.SanitizeBoundingBoxes: entries at \['{key}'\] must belong to one array of Bound"
    with pytest.raises(ValueError, match=message):
        T.SanitizeBoundingBoxes(labels_getter=getter)(sample)


def test_sanitize_bounding_boxes_keeps_entries_of_two_arrays_that_agree(tv):
    boxes = boxes_of(tv, GOOD, BAD, GOOD)
    result = T.SanitizeBoundingBoxes()({"boxes": boxes, "gt_boxes": boxes, "labels": torch.arange(3)})
    assert [len(result[key]) for key in ("boxes", "gt_boxes")] == [2, 2]
    assert result["labels"].tolist() == [0, 2]


@pytest.mark.parametrize(("shape", "expected_shape"), [((3, 12), (3, 12)), ((3, 1, 12), (2, 1, 12))], ids=str)
def test_sanitize_bounding_boxes_keeps_a_mask_whose_height_is_the_number_of_boxes(shape, expected_shape, tv):
    """A mask [H, W] stays; masks [B, H, W] are those of the boxes."""
    sample = {"boxes": boxes_of(tv, GOOD, BAD, GOOD), "masks": tv.Mask(torch.zeros(shape)), "labels": torch.arange(3)}
    result = T.SanitizeBoundingBoxes()(sample)
    assert type(result["masks"]) is tv.Mask
    assert tuple(result["masks"].shape) == expected_shape


@pytest.mark.parametrize("key", ["area", "iscrowd", "difficult"])
def test_sanitize_bounding_boxes_removes_entries_of_lists(key, tv):
    sample = {"boxes": boxes_of(tv, GOOD, BAD, GOOD), "labels": ["a", "b", "c"], key: [1.5, 2.5, 3.5]}
    result = T.SanitizeBoundingBoxes()(sample)
    assert (result["labels"], result[key]) == (["a", "c"], [1.5, 3.5])


def test_sanitize_bounding_boxes_of_a_namedtuple_of_labels_gives_a_tuple(tv):
    result = T.SanitizeBoundingBoxes()({"boxes": boxes_of(tv, GOOD, BAD, GOOD), "labels": Triple(1, 2, 3)})
    assert result["labels"] == (1, 3)


def sanitize_two_samples(tv, labels):
    boxes = boxes_of(tv, GOOD, BAD, GOOD)
    return T.SanitizeBoundingBoxes()({"boxes": [boxes, boxes], "labels": labels})


@pytest.mark.parametrize("labels", [[4, 5], (4, 5), torch.tensor([4, 5])], ids=type)
def test_sanitize_bounding_boxes_keeps_a_label_per_sample(labels, tv):
    result = sanitize_two_samples(tv, labels)
    assert list(map(len, result["boxes"])) == [2, 2]
    assert result["labels"] is labels


@pytest.mark.parametrize(
    "labels", [[torch.arange(3)], [], torch.zeros(2, 3), torch.arange(3), 5], ids=lambda value: repr(value)[:20]
)
def test_sanitize_bounding_boxes_refuses_labels_without_an_entry_per_sample(labels, tv):
    message = r"SanitizeBoundingBoxes: labels at \['labels'\] must be a list with an entry for each of the 2 arrays at "
    with pytest.raises(ValueError, match=message):
        sanitize_two_samples(tv, labels)
