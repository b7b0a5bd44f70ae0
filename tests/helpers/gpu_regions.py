"""Feature maps, regions and tolerances for the GPU tests of roi_align and roi_pool."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers.arrays import seeded
from helpers.compare import Tolerance, to_numpy

torch = pytest.importorskip("torch")
TOLERANCE = {
    torch.float16: Tolerance(4e-3, 2e-3, reason="a rounding to float16, or the next number"),
    torch.bfloat16: Tolerance(3e-2, 1.6e-2, reason="a rounding to bfloat16, or the next number"),
    torch.float32: Tolerance(1e-5, 1e-5, reason="float32 sums in another order"),
    torch.float64: Tolerance(1e-12, 1e-12, reason="float64 sums in another order"),
}


def regions(count, rotated=False, spread=(150.0, 110.0), seed=0):
    """Regions in float64: many within the map, some across an edge, some outside, some empty. [count, 5 or 6]"""
    rng = seeded("regions", count, rotated, seed)
    centre, size = rng.uniform(-10, np.array(spread) + 10, (count, 2)), np.exp(rng.uniform(0.5, 4.5, (count, 2)))
    size[::17] = 0
    sample = rng.integers(0, 2, (count, 1))
    if rotated:
        return np.concatenate([sample, centre, size, rng.uniform(-200, 200, (count, 1))], 1)
    return np.concatenate([sample, centre - size / 2, centre + size / 2], 1)


def features(dtype, channels=40, channels_last=False, shape=(60, 77), seed=0):
    """Maps on the GPU. Their values are distinct in float32 and float64, so that the maximum of a bin is unique."""
    values = seeded("features", seed, channels, *shape).permutation(2 * channels * shape[0] * shape[1])
    maps = torch.from_numpy(values.reshape(2, channels, *shape) / values.size - 0.5).to(dtype).cuda()
    return maps.contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


def assert_alike(actual, expected, dtype):
    tolerance = TOLERANCE[dtype]
    actual, expected = to_numpy(actual).astype(float), to_numpy(expected).astype(float)
    # Relative to the largest value: the terms of a gradient may cancel.
    magnitude = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    assert_allclose(actual, expected, tolerance.relative, tolerance.absolute * magnitude, err_msg=tolerance.reason)
