"""The state of a `Loader`: its position in an epoch, `state_dict`, and several iterators at once."""

import pytest
from helpers.compare import assert_equal
from helpers.loader import RECIPES
from tables.untrusted import VALUES, mutations

from cuaug import transforms as T
from cuaug.data import Loader

pytestmark = pytest.mark.jpeg


def test_loader_state_dict_resumes(files):
    def loader():
        return Loader(files, 3, T.Compose(RECIPES["crop and flip"], seed=1), shuffle=True, library="numpy", prefetch=4)

    first = loader()
    first.epoch = 4
    before, state, after = [], None, []
    for batch in first:
        (before if state is None else after).append(batch)
        if len(before) == 3 and state is None:
            state = first.state_dict()
    assert state == {"seed": 1, "epoch": 4, "samples": 9}
    second = loader()
    second.load_state_dict(state)
    again = list(second)
    assert [batch.ids.tolist() for batch in again] == [batch.ids.tolist() for batch in after]
    for batch, expected in zip(again, after, strict=True):
        assert_equal(batch.images, expected.images)
    assert second.state_dict() == {"seed": 1, "epoch": 5, "samples": 0}
    with pytest.raises(ValueError, match=r"seed must be 1, got 2: give both Loaders the same seed="):
        second.load_state_dict({"seed": 2, "epoch": 0, "samples": 0})
    with pytest.raises(ValueError, match=r"must divide the 9 samples that have been taken, got 2 \* 1"):
        Loader(files, 2, seed=1, library="numpy").load_state_dict(state)


@pytest.mark.parametrize("last", ["drop", "partial", "pad"])
def test_loader_state_dict_after_the_last_batch_is_the_next_epoch(files, last):
    files = files[:10]
    loader = Loader(files, 4, [T.RandomResizedCrop(8)], seed=1, last=last, library="numpy")
    expected = [batch.ids.tolist() for batch in loader]
    loader.epoch = 0
    for _ in loader:
        state = loader.state_dict()
    assert state == {"seed": 1, "epoch": 1, "samples": 0}
    other = Loader(files, 2, [T.RandomResizedCrop(8)], seed=1, last=last, library="numpy")
    other.load_state_dict(state)
    assert len(list(other)) == len(other)
    assert other.state_dict() == {"seed": 1, "epoch": 2, "samples": 0}
    loader.load_state_dict({"seed": 1, "epoch": 6, "samples": 4 * len(loader)})
    assert loader.state_dict() == {"seed": 1, "epoch": 7, "samples": 0}
    assert [batch.ids.tolist() for batch in loader] == expected
    with pytest.raises(ValueError, match=r"^cuaug.data.Loader.load_state_dict: samples must be within the epoch of 10"):
        loader.load_state_dict({"seed": 1, "epoch": 6, "samples": 4 * len(loader) + 4})
    assert loader.state_dict() == {"seed": 1, "epoch": 8, "samples": 0}


def test_loader_load_state_dict_refuses_values_that_are_no_state(files):
    loader = Loader(files, 4, [T.RandomResizedCrop(8)], seed=1, library="numpy")
    true_state = {"seed": 1, "epoch": 3, "samples": 4}
    states = [*mutations(true_state), *((f"the state is VALUES[{i}]", value) for i, value in enumerate(VALUES))]
    accepted = []  # changes after which the state is valid
    for change, state in states:
        loader.load_state_dict(true_state)
        try:
            loader.load_state_dict(state)
            accepted.append(change)
        except (TypeError, ValueError):
            assert loader.state_dict() == true_state, change
        assert next(iter(loader)).images.shape[1:] == (8, 8, 3), change
    epochs = [f"'epoch' is {epoch}" for epoch in (0, 7, 100_000, 10**9)]
    assert sorted(accepted) == sorted(["another key", *epochs, "'samples' is 0"])
    for epoch in (2**63, 10**400):
        with pytest.raises(ValueError, match="epoch must be at most 9223372036854775807"):
            loader.epoch = epoch


def test_loader_iterators_are_independent(files):
    files = files * 10
    loader = Loader(files, 4, T.Compose(RECIPES["crop and flip"], seed=1), library="numpy")
    expected = list(loader), list(loader)
    loader.epoch = 0
    for batches in zip(loader, loader, *expected, strict=True):
        assert_equal(batches[0].images, batches[2].images)
        assert_equal(batches[1].images, batches[3].images)


def test_loader_epoch_set_during_iteration_is_next(files):
    loader = Loader(files, 4, T.Compose(RECIPES["crop and flip"], seed=1), library="numpy")
    for _ in loader:
        loader.epoch = 7
    assert loader.state_dict() == {"seed": 1, "epoch": 7, "samples": 0}
