"""Feature maps and regions for the tests of roi_align and roi_pool, with their float64 references."""

import numpy as np
import pytest
from tables import detection as reference_ops

from helpers.arrays import seeded
from helpers.compare import Tolerance

TOLERANCE = {
    "float16": Tolerance(1e-5, 2**-11, reason="float32 sums, one rounding to float16"),
    "bfloat16": Tolerance(1e-5, 2**-8, reason="float32 sums, one rounding to bfloat16"),
    "float32": Tolerance(1e-5, 1e-5, reason="float32 coordinates and sums"),
    "float64": Tolerance(1e-12, reason="float64"),
}
GPU_TOLERANCE = TOLERANCE | {
    "float16": Tolerance(2e-3, 1e-3, reason="one rounding to float16, after sums in another order"),
    "bfloat16": Tolerance(2e-2, 8e-3, reason="one rounding to bfloat16, after sums in another order"),
}
NAN, INF = float("nan"), float("inf")
N, C, H, W = 2, 21, 12, 9
ROIS = np.array(
    [  # sample, left, top, right, bottom
        (0, 1.25, 2.5, 6.75, 9.0),
        (1, 0.0, 0.0, 9.0, 12.0),  # the whole map
        (1, -3.5, -2.25, 4.0, 5.5),  # beyond the left and upper edges
        (0, 5.0, 7.5, 13.0, 18.0),  # beyond the right and lower edges
        (0, 3.125, 4.25, 3.5, 4.5),  # smaller than a pixel
        (1, 4.0, 4.0, 4.0, 4.0),  # empty
        (0, 7.0, 8.0, 2.0, 3.0),  # inverted
        (1, 40.0, 50.0, 60.0, 70.0),  # outside the map
        (0, -2.0, 3.0, 20.0, 4.0),  # beyond the left and right edges
        (1, 0.5, 1.5, 8.5, 11.5),
    ]
)
ROTATED_ROIS = np.array(
    [  # sample, centre x, centre y, width, height, degrees counter-clockwise
        (0, 4.0, 6.0, 5.0, 3.0, 30.0),
        (1, 4.5, 6.0, 9.0, 12.0, 0.0),
        (1, 4.0, 5.0, 7.0, 2.5, -75.0),
        (0, 8.0, 11.0, 6.0, 6.0, 45.0),
        (1, 2.0, 3.0, 0.25, 0.5, 200.0),
        (0, 50.0, 3.0, 4.0, 4.0, 10.0),
        (0, 4.0, 4.0, 3.0, 5.0, 90.0),
    ]
)


def maps(dtype="float64", seed=0, shape=(N, C, H, W)):
    """Maps rounded to the dtype, in float64. [N, C, H, W]"""
    values = seeded("maps", seed).normal(0, 1, shape)
    if dtype == "bfloat16":
        return values.astype(pytest.importorskip("ml_dtypes").bfloat16).astype(np.float64)
    return values.astype(dtype).astype(np.float64)


def bins_of(roi, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False, extent=(H, W)):
    size = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    return reference_ops.roi_bins(roi[1:].tolist(), size, extent, spatial_scale, sampling_ratio, aligned)


def in_layout(array, layout):
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if layout == "NHWC" else array


PYRAMID = [(2, 5, 64, 48), (2, 5, 32, 24), (2, 5, 16, 12), (2, 5, 8, 6)]
SCALES = [1 / 4, 1 / 8, 1 / 16, 1 / 32]


def pyramid():
    """Maps of an image of 256 x 192, and regions of all levels, some at the sizes where the level changes."""
    rng = seeded("pyramid")
    sizes = [10, 60, 111.9, 112, 112.1, 160, 223.99, 224, 300, 447, 448, 449, 900, 0, 2000]
    rois = []
    for i, size in enumerate(sizes):
        # The sizes where the level changes, 112, 224 and 448, are multiples of 7: their regions stay squares.
        stretch, corner = rng.uniform(0.7, 1.4) if size % 7 else 1.0, rng.uniform(-20, 60, 2)
        rois.append((i % 2, *corner, *(corner + np.array([size * stretch, size / stretch]))))
    return [maps(seed=i, shape=shape) for i, shape in enumerate(PYRAMID)], np.array(rois)
