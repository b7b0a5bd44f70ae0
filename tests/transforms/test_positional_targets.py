"""Targets by position: labels after tv_tensors, numbers and None beside one image, vectors beside a grey image."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T

SIZE = 8, 9
LABELS = torch.tensor([1, 2])
FLIPS = {
    "alone": lambda: T.RandomHorizontalFlip(p=1.0),
    "fused": lambda: T.Compose([T.RandomHorizontalFlip(p=1.0)]),
    "in two parts": lambda: T.Compose([T.RandomHorizontalFlip(p=1.0), T.Lambda(lambda x: x)]),
}


@pytest.fixture(params=FLIPS)
def flip(request):
    return FLIPS[request.param]()


def targets(tv):
    """An image, two boxes, a mask and a keypoint."""
    numbers = torch.tensor([[1.0, 1, 3, 3], [2, 2, 4, 5]])
    return (
        tv.Image(torch.from_numpy(noise((3, *SIZE)))),
        tv.BoundingBoxes(numbers, format="XYXY", canvas_size=SIZE),
        tv.Mask(torch.from_numpy(noise(SIZE))),
        tv.KeyPoints(torch.tensor([[1.0, 2]]), canvas_size=SIZE),
    )


@pytest.mark.parametrize("places", ["ib", "im", "ik", "imb", "ibm", "ibk", "imbk"])
def test_labels_may_follow_tv_tensors_by_position(tv, flip, places):
    by_letter = dict(zip("ibmk", targets(tv), strict=True))
    inputs = [by_letter[letter] for letter in places]
    expected = flip(dict(zip(places, inputs, strict=True)))
    result = flip(*inputs, LABELS)
    assert len(result) == len(places) + 1
    assert result[-1] is LABELS
    for letter, value in zip(places, result, strict=False):
        assert type(value) is type(by_letter[letter])
        assert torch.equal(value.as_subclass(torch.Tensor), expected[letter].as_subclass(torch.Tensor))


@pytest.mark.parametrize("places", ["iblk", "imlb", "ibml"])
def test_results_are_in_the_order_of_the_arguments(tv, flip, places):
    by_letter = dict(zip("ibmkl", (*targets(tv), LABELS), strict=True))
    result = flip(*[by_letter[letter] for letter in places])
    assert [type(value) for value in result] == [type(by_letter[letter]) for letter in places]
    assert result[places.index("l")] is LABELS


@pytest.mark.parametrize("name", ["boxes", "keypoints"])
def test_targets_by_name_are_no_labels(tv, flip, name):
    image, _, mask, _ = targets(tv)
    with pytest.raises(ValueError, match=f"{name}.* must have shape"):
        flip(image, mask, **{name: LABELS})


@pytest.mark.parametrize("labels", [torch.zeros(0), torch.zeros(0).long(), torch.tensor([0.5, 1]), 3], ids=repr)
def test_labels_after_bounding_boxes_have_any_dtype(tv, flip, labels):
    image, boxes, *_ = targets(tv)
    for images in (image, image.as_subclass(torch.Tensor)):
        assert flip(images, boxes, labels)[2] is labels


def test_floats_of_one_axis_after_a_mask_are_no_labels(tv, flip):
    """They may be one box without its axis."""
    image, _, mask, _ = targets(tv)
    with pytest.raises(ValueError, match=r"boxes\[0\] must have shape \[\*, 4\], got \[4\]"):
        flip(image, mask, torch.ones(4))


def test_arrays_of_one_axis_after_plain_arrays_are_no_labels(flip):
    batch = noise((4, *SIZE, 3))
    with pytest.raises(ValueError, match=r"boxes must have shape \[4, \*, 4\], got \[4\]"):
        flip(batch, batch[..., 0], np.arange(4))


def images_of_one_sample():
    pillow = pytest.importorskip("PIL.Image")
    arrays = [noise((*SIZE, 3)), noise(SIZE), torch.from_numpy(noise((3, *SIZE)))]
    return [*arrays, *map(pillow.fromarray, arrays[:2])]


def test_none_after_an_image_is_returned(flip):
    for image in images_of_one_sample():
        result, target = flip(image, None)
        assert type(result) is type(image)
        assert target is None
        assert len(flip(image, None, None)) == 3
        assert type(flip(image, masks=None)) is type(image)  # by name: no target
    batch = noise((2, *SIZE, 3))
    assert len(flip(batch, None, np.ones((2, 1, 4)))) == 2
    assert len(flip(batch, None, keypoints=np.ones((2, 1, 2)))) == 2


@pytest.mark.parametrize("label", [3, np.int64(3), torch.tensor(3), np.array(3)], ids=repr)
def test_a_number_beside_one_image_is_a_label(flip, label):
    for image in images_of_one_sample():
        result, returned = flip(image, label)
        assert type(result) is type(image)
        assert returned is label


@pytest.mark.parametrize("value", [3.5, True, "cat"])
def test_other_values_beside_one_image_are_refused(flip, value):
    for image in images_of_one_sample():
        with pytest.raises(TypeError, match="masks must be an array, or a list of arrays, got"):
            flip(image, value)


def test_labels_of_one_axis_beside_one_image_in_a_tuple(flip):
    for image in images_of_one_sample():
        vector = np.zeros(10)
        result, returned = flip((image, vector))
        assert returned is vector
        assert_equal(np.asarray(result), np.asarray(flip(image)))
        assert flip([(image, vector)])[0][1] is vector
