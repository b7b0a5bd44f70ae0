"""Arguments for sizes: a scalar of any library equals the Python int, and values that are no size are refused."""

import numpy as np
import pytest
import torch

import cuaug
from cuaug import transforms as T

IMAGE = np.zeros((100, 400), np.uint8)
MAX_SIZES = [np.uint8(200), np.array(200, np.uint8), torch.tensor(200, dtype=torch.uint8)]


@pytest.mark.parametrize("max_size", MAX_SIZES, ids=lambda value: f"{type(value).__name__}, {value.dtype}")
def test_resize_max_size_of_a_narrow_dtype_equals_int(max_size):
    """100 * 200 wraps in these dtypes."""
    assert cuaug.resize(IMAGE, 100, max_size=max_size).shape == (50, 200)
    assert T.Resize(100, max_size=max_size)(IMAGE).shape == (50, 200)
    assert type(T.Resize(100, max_size=max_size).max_size) is int


def test_resize_max_size_of_int16_equals_int():
    """400 * 200 wraps in int16."""
    assert cuaug.resize(IMAGE, 200, max_size=np.int16(400)).shape == (100, 400)
    assert T.Resize(200, max_size=np.int16(400))(IMAGE).shape == (100, 400)
    assert type(T.Resize(200, max_size=np.int16(400)).max_size) is int


WITHOUT_POSITIONS = {
    "set": {3, 4},
    "frozenset": frozenset([3, 4]),
    "keys": {3: 0, 4: 0}.keys(),
    "values": {3: 4}.values(),
}
CALLS = {
    "padding of Pad": lambda value: T.Pad(value),
    "padding of pad": lambda value: cuaug.pad(IMAGE, value),
    "size of Resize": lambda value: T.Resize(value),
    "size of CenterCrop": lambda value: T.CenterCrop(value),
    "size of warp_affine": lambda value: cuaug.warp_affine(IMAGE, np.eye(3), value),
    "kernel_size of gaussian_blur": lambda value: cuaug.gaussian_blur(IMAGE, value),
}


@pytest.mark.parametrize("kind", WITHOUT_POSITIONS)
@pytest.mark.parametrize("call", CALLS)
def test_size_refuses_containers_without_positions(call, kind):
    parameter = call.partition(" ")[0]
    with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.\S+: {parameter} must be .*, got "):
        CALLS[call](WITHOUT_POSITIONS[kind])


@pytest.mark.parametrize("size", [[], (1, 2, 3), np.zeros((0,), int)])
@pytest.mark.parametrize("cls", [T.CenterCrop, T.RandomResizedCrop, T.Resize])
def test_size_of_a_wrong_length_names_the_int(cls, size):
    with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.{cls.__name__}: size must be an int or \(H, W\), got "):
        cls(size)
