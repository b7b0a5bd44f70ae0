"""Scenes of boxes for nms: random, clustered, and special cases."""

import numpy as np
import pytest

from helpers.arrays import seeded

NAN, INF = float("nan"), float("inf")
COUNTS = [1, 2, 63, 64, 65, 128, 129, 300, 1024, 1025, 2100]


def random(count, seed=0, spread=400.0):
    rng = seeded("boxes", count, seed)
    corner = rng.uniform(0, spread, (count, 2))
    return np.concatenate([corner, corner + rng.uniform(2, 90, (count, 2))], 1), rng.random(count)


def clustered(count, seed=0):
    """Clusters of boxes that suppress each other in chains."""
    rng = seeded("clusters", count, seed)
    cluster_boxes = random(max(count // 12, 1), seed)[0]
    return cluster_boxes[rng.integers(0, len(cluster_boxes), count)] + rng.normal(0, 4, (count, 4)), rng.random(count)


def clustered_samples(samples, count):
    """Boxes [samples, count, 4] and scores [samples, count]."""
    return [np.stack(arrays) for arrays in zip(*[clustered(count, seed) for seed in range(samples)], strict=True)]


def on_grid(count, seed=0):
    """Boxes on a coarse grid, with few scores: IoU at the threshold, duplicates, touching edges and ties."""
    rng = seeded("grid", count, seed)
    corner = rng.integers(0, 12, (count, 2)) * 4.0
    return np.concatenate([corner, corner + rng.integers(0, 4, (count, 2)) * 4.0], 1), rng.integers(0, 5, count) / 4


def degenerate(count, seed=0):
    """Clusters with NaN, infinite, inverted and empty boxes, and scores of NaN, infinity and both zeros."""
    rng = seeded("odd", count, seed)
    boxes, scores = clustered(count, seed)
    defect = rng.integers(0, 8, count)
    boxes[defect == 1, rng.integers(0, 4)] = NAN
    boxes[defect == 2] = boxes[defect == 2][:, [2, 3, 0, 1]]
    boxes[defect == 3, 2] = boxes[defect == 3, 0]
    boxes[defect == 4, 3] = INF
    scores[rng.random(count) < 0.1] = NAN
    scores[rng.random(count) < 0.1] = INF
    scores[rng.random(count) < 0.1] = -INF
    scores[rng.random(count) < 0.1] = 0.0
    scores[rng.random(count) < 0.1] = -0.0
    return boxes, scores


def chain(count, seed=0):
    """A row of boxes: the IoU of neighbours is 0.5, that of other pairs at most 0.2.

    At thresholds from 0.2 to below 0.5 a box can suppress only the next one: each decision depends on the one before.
    """
    left = 2.0 * np.arange(count)
    return np.stack([left, 0 * left, left + 6, 0 * left + 5], 1), -np.arange(count) / count


def distant(count, seed=0):
    """Boxes without overlap: all are kept."""
    left = 10.0 * seeded("distant", count, seed).permutation(count)
    return np.stack([left, 0 * left, left + 6, 0 * left + 5], 1), seeded("scores", count).random(count)


def equal(count, seed=0):
    """Equal boxes, and one that differs."""
    boxes = np.tile([[3.0, 4.0, 9.0, 8.0]], (count, 1))
    boxes[-1] += 50
    return boxes, np.full(count, 0.5)


SCENES = {f.__name__: f for f in (random, clustered, on_grid, degenerate, chain, distant, equal)}


def labels(count, seed=0):
    """Classes with very different numbers of boxes; one has a single box."""
    rng = seeded("labels", count, seed)
    classes = np.minimum(rng.geometric(0.3, count), 9) * 10**11 - 3 * 10**11
    classes[0] = np.iinfo(np.int64).max
    return classes


def rounded(values, dtype):
    """The values rounded to the dtype, in float64."""
    if dtype == "bfloat16":
        bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
        return values.astype(bfloat16).astype(np.float64)
    with np.errstate(over="ignore"):
        return values.astype(dtype).astype(np.float64)
