"""Feature maps and regions for the GPU tests of roi_align and roi_pool."""

import numpy as np
import pytest

from helpers.arrays import seeded

torch = pytest.importorskip("torch")


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
