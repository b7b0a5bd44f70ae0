"""Seeds, steps, epochs and ids have one check: an int of Python, NumPy, or another library on the host."""

import numpy as np
import pytest
import torch
from helpers.arrays import put

import cuaug
from cuaug import io
from cuaug import transforms as T
from cuaug.data import Collate

IMAGES = np.zeros((4, 8, 8, 3), np.float32)
NOISE = T.GaussianNoise(clip=False)
RECIPE = T.Compose([NOISE], seed=0)


def noise_of_assigned_seed(value):
    recipe = T.Compose([NOISE])
    recipe.seed = value
    return recipe(IMAGES, step=0)


def noise_of_loaded_seed(value):
    recipe = T.Compose([NOISE])
    recipe.load_state_dict({"seed": value, "step": 0})
    return recipe(IMAGES)


def decoded_noise(seed=0, epoch=0):
    collate = Collate([NOISE], seed=seed)
    collate.set_epoch(epoch)
    return collate([(io.encode_jpeg(np.zeros((8, 8, 3), np.uint8)), 0, 0)]).images.numpy()


CALLS = {  # by parameter and call; each but "step of check" returns a value that depends on the parameter
    "seed of Compose": lambda value: T.Compose([NOISE], seed=value)(IMAGES, step=0),
    "seed assigned": noise_of_assigned_seed,
    "seed of load_state_dict": noise_of_loaded_seed,
    "seed of gaussian_noise": lambda value: cuaug.gaussian_noise(IMAGES, seed=value),
    "seed of Collate": lambda value: decoded_noise(seed=value),
    "step of a call": lambda value: RECIPE(IMAGES, step=value),
    "step of a sample": lambda value: RECIPE({"images": IMAGES}, step=value)["images"],
    "step of draw": lambda value: RECIPE.apply(IMAGES, RECIPE.draw(IMAGES, step=value)),
    "step of check": lambda value: str(RECIPE.check(IMAGES, step=value)),
    "step of gaussian_noise": lambda value: cuaug.gaussian_noise(IMAGES, seed=0, step=value),
    "epoch of set_epoch": lambda value: decoded_noise(epoch=value),
    "ids of a call": lambda value: RECIPE(IMAGES, ids=value, step=0),
    "ids of a sample": lambda value: RECIPE({"images": IMAGES}, ids=value, step=0)["images"],
    "ids of gaussian_noise": lambda value: cuaug.gaussian_noise(IMAGES, seed=0, ids=value),
}
NUMBERS = {
    "int": lambda: 3,
    "np.int64": lambda: np.int64(3),
    "NumPy": lambda: np.array(3, np.uint8),
    "torch": lambda: torch.tensor(3),
    "JAX": lambda: pytest.importorskip("jax.numpy").int32(3),
}
REFUSED = {
    "True": (lambda: True, "got True$"),
    "np.True_": (lambda: np.True_, "got np.True_$"),
    "tensor of bool": (lambda: torch.tensor(True), r"dtype torch\.bool: pass a Python int$"),
    "1.0": (lambda: 1.0, "got 1.0: pass 1$"),
    "1.5": (lambda: 1.5, "got 1.5$"),
    "tensor of float": (lambda: torch.tensor(1.0), r"dtype torch\.float32: pass a Python int$"),
    "int": (lambda: int, "got <class 'int'>$"),
    "object": (object, "got <object object"),
    "on a device": (lambda: torch.tensor(3, device="meta"), r"dtype torch\.int64 on meta: pass a Python int$"),
    "key": (lambda: pytest.importorskip("jax").random.key(0), r"dtype key<\w+>: pass a Python int$"),
}
REFUSED_WITH_AXES = {
    "old key": (lambda: pytest.importorskip("jax").random.PRNGKey(0), r"shape \(2,\) and dtype uint32: pass a Python"),
    "two": (lambda: np.array([1, 2]), r"an array of shape \(2,\) and dtype int64: pass a Python int$"),
    "tensor of one": (lambda: torch.tensor([3]), r"shape \(1,\) and dtype torch\.int64: pass a Python int$"),
    "list": (lambda: [1, 2], r"got \[1, 2\]$"),
    "str": (lambda: "a", "got 'a'$"),
}


@pytest.mark.jpeg
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("call", CALLS)
def test_integer_of_every_library_equals_int(call, number):
    result = CALLS[call](NUMBERS[number]())
    np.testing.assert_array_equal(result, CALLS[call](3))
    assert call == "step of check" or not np.array_equal(result, CALLS[call](4))  # no step changes the report


@pytest.mark.parametrize("value", REFUSED)
@pytest.mark.parametrize("call", CALLS)
def test_integer_refuses_other_types(call, value):
    make, message = REFUSED[value]
    with pytest.raises(TypeError, match=f"{call.partition(' ')[0]} must be an int, .*{message}"):
        CALLS[call](make())


@pytest.mark.parametrize("value", REFUSED_WITH_AXES)
@pytest.mark.parametrize("call", [call for call in CALLS if not call.startswith("ids")])
def test_integer_refuses_arrays_with_axes(call, value):
    make, message = REFUSED_WITH_AXES[value]
    with pytest.raises(TypeError, match=f"{call.partition(' ')[0]} must be an int, .*{message}"):
        CALLS[call](make())


@pytest.mark.parametrize("call", [call for call in CALLS if call.startswith("ids")])
def test_ids_must_be_whole_numbers(call):
    """Fractions are refused, not truncated; floats that are whole numbers are accepted."""
    for value in (["a"] * 4, [True] * 4):
        with pytest.raises(TypeError, match="ids must be integers, got"):
            CALLS[call](value)
    with pytest.raises(ValueError, match="ids must be whole numbers of 64 bits, got"):
        CALLS[call](np.full(4, 2**63, np.uint64))
    mixed = [np.uint64(2**60 + 1), 0, 0, 0]  # of which NumPy makes float64
    for value in ([0.5, 1.5, 2.5, 3.5], [float("nan")] * 4, [1e30] * 4, mixed):
        with pytest.raises(ValueError, match=r"ids must be whole numbers at most 2\*\*53 if they are floats, got"):
            CALLS[call](value)


@pytest.mark.parametrize("call", ["ids of a call", "ids of a sample"])
def test_ids_may_be_the_largest_int64(call):
    """float64 rounds this number to 2**63. `gaussian_noise` takes ids below 2**48."""
    expected, before = (CALLS[call]([number] * 4) for number in (2**63 - 1, 2**63 - 2))
    assert not np.array_equal(before, expected)
    for dtype in (np.int64, np.uint64):
        np.testing.assert_array_equal(CALLS[call](np.full(4, 2**63 - 1, dtype)), expected)


@pytest.mark.parametrize("call", CALLS)
def test_integer_refuses_tracers_of_jax(call):
    jax = pytest.importorskip("jax")
    for value in (3, *([jax.numpy.arange(4)] if call.startswith("ids") else [])):
        with pytest.raises(TypeError, match=r"cuaug runs outside of jax\.jit.*jax\.pure_callback"):
            jax.jit(CALLS[call])(value)


def test_gaussian_noise_takes_the_id_of_the_first_sample():
    """One number is the id of the first sample; each sample after it has the next id, as in `Compose`."""
    expected = cuaug.gaussian_noise(IMAGES, seed=1, ids=[5, 6, 7, 8])
    np.testing.assert_array_equal(cuaug.gaussian_noise(IMAGES, seed=1, ids=5), expected)
    assert (expected[0] != expected[1]).any()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: T.LinearTransformation([[10**400]], [1]), "transforms.LinearTransformation"),
        (lambda: cuaug.remove_small_boxes(torch.ones(2, 4), 2**64), "remove_small_boxes"),
        (
            lambda: cuaug.remove_small_boxes(put(np.ones((2, 4), np.float32), ("jax", "cpu")), 2**64),
            "remove_small_boxes",
        ),
    ],
    ids=["numpy", "torch", "jax"],
)
def test_int_that_a_library_cannot_convert_is_a_value_error(call, name):
    """OverflowErrors of cuaug's code, and of the library that it calls."""
    with pytest.raises(ValueError, match=rf"^cuaug\.{name}: "):
        call()
