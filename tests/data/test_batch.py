"""`Batch`: the pair that a loader yields, with the ids of its samples."""

import copy
import pickle

import numpy as np
import pytest

from cuaug.data import Batch

IMAGES, LABELS, IDS, VALID = np.zeros((2, 4, 5, 3), np.uint8), np.array([3, 4]), np.array([0, 1]), np.ones(2, bool)


@pytest.mark.parametrize("arguments", [(IMAGES, LABELS, IDS, VALID), (IMAGES, LABELS, IDS), (IMAGES, LABELS)])
def test_batch_keeps_every_argument(arguments):
    batch = Batch(*arguments)
    expected = (*arguments, None, None)[:4]
    for same in (batch, copy.copy(batch)):
        actual = *same, same.ids, same.valid
        assert all(value is entry for value, entry in zip(actual, expected, strict=True))
    assert (batch.images, batch.targets) == tuple(batch)
    assert Batch(IMAGES, None) == (IMAGES, None)


def test_batch_of_the_pair_alone():
    """torch's `pin_memory` rebuilds a tuple in this way; the result can be copied to another process."""
    batch = Batch([IMAGES, LABELS])
    assert batch.images is IMAGES
    assert batch.labels is LABELS
    assert (batch.ids, batch.valid) == (None, None)
    for same in (batch, copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert type(same) is Batch
        assert same.images.shape == IMAGES.shape
        assert same.labels.tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"cuaug\.data\.Batch: images must be the pair .*got 3 entries"):
        Batch(IMAGES[:1].repeat(3, 0))
