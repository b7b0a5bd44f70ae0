"""`ReplayCounters`: the counters of CUDA graphs that capture a recipe, with a library that only allocates."""

import types

import numpy as np
import pytest

from cuaug._fusion import draw
from cuaug._fusion.draw_kernel import SAMPLES_PER_BLOCK


class Library:
    name = "fake"

    def __init__(self, while_allocating=lambda: None):
        self.arrays, self.while_allocating = [], while_allocating

    def current_stream(self, device):
        return 0

    def from_numpy(self, values, device):
        self.arrays.append(values)
        self.while_allocating()
        return values

    def pointer(self, array):
        return 1000 * (1 + next(i for i, other in enumerate(self.arrays) if other is array))


@pytest.fixture
def address(monkeypatch):
    """Function of the counters, the library and the number of samples: the address that a call or a capture gets."""

    def call(counters, library, samples=1, capturing=False):
        monkeypatch.setattr(draw.streams, "is_capturing", lambda stream: capturing)
        monkeypatch.setattr(draw.streams, "synchronize_stream", lambda stream, device: None)
        return counters.address(types.SimpleNamespace(device=0, library=library, samples=samples))

    return call


def test_replay_counters_of_two_first_calls_at_once_are_the_same(address):
    """While the first call allocates, another one does so too, and a graph captures the recipe."""
    counters, addresses = draw.ReplayCounters(), []

    def second_call():
        library.while_allocating = lambda: None
        addresses.append(address(counters, library))
        addresses.append(address(counters, library, capturing=True))

    library = Library(second_call)
    assert address(counters, library) == 0
    addresses.append(address(counters, library, capturing=True))
    assert len(library.arrays) == 2
    assert addresses == [0, 2000, 2008]


def test_replay_counters_of_a_refused_capture_stay_free(address):
    counters, library = draw.ReplayCounters(), Library()
    address(counters, library)
    blocks = draw._MAX_COUNTERS
    assert address(counters, library, SAMPLES_PER_BLOCK, capturing=True) == 1000
    with pytest.raises(draw.BackendError, match=f"for {SAMPLES_PER_BLOCK * blocks} samples in all"):
        address(counters, library, SAMPLES_PER_BLOCK * blocks, capturing=True)
    assert address(counters, library, SAMPLES_PER_BLOCK * (blocks - 1), capturing=True) == 1008
    assert all(array.dtype == np.int64 and array.shape == (blocks,) for array in library.arrays)
