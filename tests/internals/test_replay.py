"""Repeated calls replay recorded launches or loops. Their results are those of a first call."""

import os

import numpy as np
import pytest
from helpers.compare import EXACT, assert_equal
from helpers.fake_driver import inside, record_call
from helpers.replace import replace_everywhere
from helpers.replay import undecorated
from PIL.Image import Resampling, Transpose
from tables.function_calls import CALLS, IDS

import cuaug
from cuaug._arrays import convert
from cuaug._arrays.symbolic_array import SymbolicArray
from cuaug._passes import replay

torch = pytest.importorskip("torch")


def batch(library, seed):
    images = torch.rand(4, 3, 32, 28, generator=torch.Generator().manual_seed(seed))
    return images if library == "torch" else images.permute(0, 2, 3, 1).numpy()


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS, ids=IDS)
def test_replayed_call_on_a_cpu_equals_the_function(function, args, kwargs, library, replays):
    kwargs = {k: v for k, v in kwargs.items() if not (k == "layout" and library == "numpy")}
    results = []
    for seed in range(4):
        images = batch(library, seed)
        results.append((function(images, *args, **kwargs), undecorated(function)(images, *args, **kwargs)))
    assert replays == [3]
    for actual, expected in results:  # at the end: a result must not lie in memory that a later call writes
        assert type(actual) is type(expected)
        assert_equal(actual, expected, tolerance=EXACT)


PER_SAMPLE = [
    (cuaug.warp_affine, (torch.eye(3)[:2].repeat(4, 1, 1),), {}),
    (cuaug.warp_affine, (torch.eye(3, dtype=torch.float64),), {"border": "wrap", "inverse": True}),
    (cuaug.warp_affine, (), {"fill": 0.25, "M": torch.rand(4, 2, 3)}),
    (cuaug.rotate, (90 * torch.rand(4),), {}),
    (cuaug.rotate, (90 * torch.rand(4, dtype=torch.float64), "bilinear", False, (3.0, 4.0)), {}),
    (cuaug.affine, (torch.rand(4), torch.rand(4, 2), 0.9, (5.0, 0.0)), {}),
    (cuaug.perspective, ([[0, 0], [9, 0], [9, 9], [0, 9]], 9 * torch.rand(4, 4, 2)), {}),
    (cuaug.perspective, (None, None), {"coefficients": torch.rand(4, 8)}),
    (cuaug.adjust_brightness, (torch.rand(4),), {}),
    (cuaug.adjust_contrast, (torch.rand(4),), {}),
    (cuaug.adjust_hue, (torch.rand(4, dtype=torch.float64) / 2,), {}),
    (cuaug.gaussian_blur, (5, torch.rand(4) + 0.5), {}),
    (cuaug.adjust_sharpness, (torch.tensor(1.5),), {}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), [*PER_SAMPLE, *CALLS])
def test_replayed_call_on_a_gpu_makes_the_launches_of_the_function(function, args, kwargs, gpu, replays, monkeypatch):
    on_device = torch.Tensor, SymbolicArray
    replace_everywhere(monkeypatch, convert, "is_host", lambda value: not isinstance(value, on_device))
    for seed in range(3):
        images = batch("torch", seed)
        expected = record_call(gpu, lambda: undecorated(function)(images, *args, **kwargs))  # noqa: B023
        actual = record_call(gpu, lambda: function(images, *args, **kwargs))  # noqa: B023
        assert [(x.kernel, x.config) for x in actual.launches] == [(x.kernel, x.config) for x in expected.launches]
        for launch, expected_launch in zip(actual.launches, expected.launches, strict=True):
            words, expected_words = (np.frombuffer(x.record, np.int64) for x in (launch, expected_launch))
            differs = words != expected_words
            for call, addresses in (actual, words[differs]), (expected, expected_words[differs]):
                assert all(any(inside(address, array) for array in call.allocations) for address in addresses.tolist())
        assert actual.launches
    assert replays == [2]


def test_calls_with_other_values_are_of_another_kind(replays):
    images = batch("torch", 0)
    zeros = torch.zeros_like(images)
    for _ in range(3):
        assert cuaug.pad(zeros, 1, fill=-0.0)[0, 0, 0, 0].signbit()
        assert not cuaug.pad(zeros, 1, fill=0.0)[0, 0, 0, 0].signbit()
        assert_equal(cuaug.hflip(images, False), images, tolerance=EXACT)
        assert_equal(cuaug.hflip(images, 1), images.flip(-1), tolerance=EXACT)
        assert_equal(cuaug.crop(images, 0, 0, 5, 6), images[..., :5, :6], tolerance=EXACT)
        assert_equal(cuaug.crop(images[:, :1], 0, 0, 5, 6), images[:, :1, :5, :6], tolerance=EXACT)
        assert_equal(
            cuaug.crop(images.flip(-1)[..., ::2], 0, 0, 5, 6), images.flip(-1)[..., ::2][..., :5, :6], tolerance=EXACT
        )
        with pytest.raises(TypeError, match="interpolation must be a name"):
            cuaug.resize(images, 8, 2)
        with pytest.raises(ValueError, match="kernel_size"):
            cuaug.gaussian_blur(images, 4)
    assert replays[0] > 0


def test_members_of_enums_with_equal_numbers_are_of_different_kinds(replays):
    images = batch("torch", 0)
    for _ in range(3):
        cuaug.resize(images, 8, Resampling.BILINEAR)
        with pytest.raises(ValueError, match="interpolation must be one of"):
            cuaug.resize(images, 8, Transpose.ROTATE_90)
    assert Resampling.BILINEAR == Transpose.ROTATE_90
    assert replays == [2]


def test_values_that_cannot_be_a_key_raise_the_error_of_the_function():
    class Unhashable(type):
        __hash__ = None

    images, contains_itself = batch("torch", 0), [1]
    contains_itself.append(contains_itself)
    for _ in range(3):
        with pytest.raises(TypeError, match="brightness_factor must hold numbers"):
            cuaug.adjust_brightness(images, contains_itself)
        with pytest.raises(TypeError, match="must be one of uint8"):
            cuaug.to_dtype(images, Unhashable("Unhashable", (), {}))


def test_kinds_of_calls_that_raise_are_not_kept(replays):
    images = batch("torch", 0)
    for i in range(4):
        with pytest.raises(ValueError, match="interpolation"):
            cuaug.resize(images, 8, "x" * 1000 + str(i))
    assert not any(map(len, replay._caches))


def test_pointers_of_another_alignment_are_of_another_kind(replays):
    memory = torch.arange(10_000, dtype=torch.uint8)
    for offset in (0, 1, 3, 0, 1, 3, 0, 1, 3):
        images = memory[offset : offset + 3 * 32 * 32].view(3, 32, 32)
        assert_equal(cuaug.hflip(images), images.flip(-1), tolerance=EXACT)
    assert replays == [6]


@pytest.mark.parametrize("number_type", [np.float64, np.float32, np.int16])
def test_numpy_scalars_are_numbers(number_type, replays):
    images = batch("numpy", 0)
    for factor in (0, 1, 0, 1, 0, 1):
        expected = undecorated(cuaug.adjust_brightness)(images, number_type(factor))
        assert_equal(cuaug.adjust_brightness(images, number_type(factor)), expected, tolerance=EXACT)
    assert replays == [4]


def test_values_of_host_arrays_are_read_at_each_call(replays):
    images = batch("numpy", 0)
    factors = np.array([0.0, 0.25, 0.5, 1.0])
    for scale in (1.0, 0.5, 0.25, 0.125):
        expected = undecorated(cuaug.adjust_brightness)(images, factors * scale)
        assert_equal(cuaug.adjust_brightness(images, factors * scale), expected, tolerance=EXACT)
    assert replays == [0]


def test_out_tv_tensors_and_gradients_take_the_function(replays):
    images = batch("torch", 0)
    for _ in range(3):
        out = torch.full_like(images, torch.nan)
        assert cuaug.hflip(images, out=out) is out
        assert_equal(out, images.flip(-1), tolerance=EXACT)
        with pytest.raises(TypeError, match="requires grad"):
            cuaug.hflip(images.clone().requires_grad_())
    assert replays == [0]


def test_a_function_that_always_gets_new_numbers_keeps_few_plans(replays, monkeypatch):
    monkeypatch.setattr(replay, "_MAX_PLANS", 8)
    images = batch("torch", 0)
    for i in range(100):
        cuaug.rotate(images, float(i))
    assert max(map(len, replay._caches)) <= 8
    assert replays == [0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning")  # JAX, if an earlier test has imported it
def test_a_forked_child_forgets_the_plans(replays):
    images = batch("torch", 0)
    for _ in range(3):
        cuaug.hflip(images)
    assert any(map(len, replay._caches))
    child = os.fork()
    if not child:
        os._exit(sum(map(len, replay._caches)))
    assert os.waitpid(child, 0)[1] == 0
    assert any(map(len, replay._caches))
