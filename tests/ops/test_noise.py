"""gaussian_noise: its dependence on seed, step, id and position, and its distribution."""

import random

import numpy as np
import pytest
from helpers.arrays import every_backend, from_layout, noise, put, to_layout
from helpers.compare import Tolerance, assert_equal, to_numpy
from tables import color_reference

import cuaug
from cuaug import noise as noise_module
from cuaug import transforms as T


@every_backend
def test_gaussian_noise_depends_on_seed_step_id_and_position(backend):
    """Noise is the same in any batch, layout and dtype, and differs for another seed, step or id."""
    grey = np.full((4, 11, 13, 6), 0.5, np.float32)

    def noisy(images=grey, layout="NHWC", **options):
        result = cuaug.gaussian_noise(put(to_layout(images, layout), backend), layout=layout, **{"seed": 1, **options})
        return from_layout(to_numpy(result), layout)

    reference = noisy()
    expected = np.stack([color_reference.gaussian_noise(g, seed=1, ids=n, max_value=1) for n, g in enumerate(grey)])
    close = Tolerance(absolute=1e-6, reason="float32")
    assert_equal(reference, expected.astype(np.float32), tolerance=close)
    assert_equal(noisy(layout="NCHW"), reference, tolerance=close)
    assert_equal(noisy(grey[:3]), reference[:3])
    assert_equal(noisy(grey[:2], ids=[3, 1]), reference[[3, 1]])
    assert_equal(noisy(grey[:1], ids=2), reference[2:3])
    assert_equal(noisy(grey[..., :4]), reference[..., :4], tolerance=close)
    assert_equal(
        noisy(grey.astype(np.float16)),
        reference,
        tolerance=Tolerance(absolute=1e-3, reason="float16"),
        dtype="float16",
        library="numpy",
    )
    for other in (
        noisy(seed=2),
        noisy(seed=1 + 2**63),
        noisy(step=1),
        noisy(step=2**31),
        noisy(ids=np.arange(4) + 2**40),
    ):
        assert np.abs(np.corrcoef(other.ravel(), reference.ravel())[0, 1]) < 0.05
    by_sample = reference.reshape(4, -1)
    assert np.abs(np.corrcoef(by_sample) - np.eye(4)).max() < 0.15  # 4.4 standard deviations of 858 pairs


def test_gaussian_noise_divides_ids_of_jax_as_integers(monkeypatch):
    """Ids on a GPU are not read but divided in JAX. Its widest float may be float32, which rounds these ids."""
    ids = pytest.importorskip("jax.numpy").asarray([2**24 + 1, 2**24])
    monkeypatch.setattr(noise_module, "is_host", lambda value: False)
    low, high = noise_module._low_and_high_bits(ids)
    assert (low.tolist(), high.tolist()) == ([1, 0], [1, 1])


@every_backend
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("channels", [3, 5, 6, 7])
def test_gaussian_noise_after_a_warp_is_that_of_the_cpu(backend, layout, channels):
    """The last group of channels may have fewer than the kernel's four, each of which has noise of its own."""
    recipe = T.Compose([T.RandomCrop((30, 29), padding=4, padding_mode="reflect"), T.GaussianNoise(0.0, 0.2)], seed=3)
    grey = np.full((3, 31, 33, channels), 0.5, np.float32)
    actual = recipe(put(to_layout(grey, layout), backend), step=1, layout=layout)
    close = Tolerance(absolute=1e-6, reason="float32")
    assert_equal(from_layout(to_numpy(actual), layout), recipe(grey, step=1, layout="NHWC"), tolerance=close)


@every_backend
def test_gaussian_noise_differs_between_frames(backend):
    clips = np.full((2, 3, 20, 21, 5), 0.5, np.float32)
    actual = to_numpy(cuaug.gaussian_noise(put(clips, backend), seed=1, layout="NTHWC"))
    by_frame = actual.reshape(6, -1)
    assert np.abs(np.corrcoef(by_frame) - np.eye(6)).max() < 0.09  # 4.1 standard deviations of 2100 pairs
    by_channel = actual.reshape(-1, 5).T
    assert np.abs(np.corrcoef(by_channel) - np.eye(5)).max() < 0.09  # 4.5 of 2520 pairs


@every_backend
def test_gaussian_noise_is_normal(backend):
    flat = put(np.zeros((2, 400, 500, 3), np.float32), backend)
    z = to_numpy(cuaug.gaussian_noise(flat, 0.5, 2.0, False, seed=9, layout="NHWC")).ravel() / 2 - 0.25
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert abs(z.var() - 1) < 4 * np.sqrt(2 / z.size)
    for limit, share in ((1, 0.158655), (2, 0.0227501), (3, 0.0013499)):  # shares of the upper tail
        for tail in (z > limit, z < -limit):
            assert abs(tail.mean() - share) < 4 * np.sqrt(share / z.size)
    assert 4.5 < np.abs(z).max() < 6.6


def test_gaussian_noise_default_seed_is_python_random():
    batch = noise()
    random.seed(5)
    first, second = cuaug.gaussian_noise(batch), cuaug.gaussian_noise(batch)
    random.seed(5)
    assert_equal(cuaug.gaussian_noise(batch), first)
    assert not np.array_equal(first, second)
