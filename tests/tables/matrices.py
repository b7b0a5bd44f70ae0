"""Functions of matrices and points with arguments of five samples."""

import cv2
import numpy as np

from cuaug.fit import estimate_affine, get_affine_transform, get_perspective_transform
from cuaug.geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    get_rotation_matrix,
    invert_affine,
    transform_boxes,
    transform_points,
)

RNG = np.random.default_rng(1)
QUADS = np.array([(0, 0), (100, 0), (110, 90), (5, 120)]) + RNG.uniform(-15, 15, (5, 4, 2))
QUADS_OUT = np.array([(10, 5), (80, 0), (90, 95), (0, 100)]) + RNG.uniform(-15, 15, (5, 4, 2))
MAPS = np.stack([cv2.getRotationMatrix2D((40, 30), 25 * i, 0.5 + 0.3 * i) for i in range(5)])
BOXES = np.array([(5, 6, 20, 30), (1, 1, 90, 80)]) + RNG.uniform(0, 1, (5, 2, 4))
WEIGHTS = RNG.uniform(0.5, 2, (5, 4))

# By test id: a function, and its arguments with one sample per row.
CASES = {
    "get_affine_transform": (get_affine_transform, (QUADS[:, :3], QUADS_OUT[:, :3])),
    "estimate_affine": (estimate_affine, (QUADS, QUADS_OUT)),
    "estimate_similarity": (lambda a, b, w: estimate_affine(a, b, "similarity", w), (QUADS, QUADS_OUT, WEIGHTS)),
    "estimate_rigid": (lambda a, b: estimate_affine(a, b, "rigid"), (QUADS, QUADS_OUT)),
    "get_perspective_transform": (get_perspective_transform, (QUADS, QUADS_OUT)),
    "get_rotation_matrix": (get_rotation_matrix, (QUADS[:, 0, 0], WEIGHTS[:, 0], QUADS[:, 1])),
    "affine_matrix": (
        affine_matrix, (QUADS[:, 0, 0], QUADS[:, 1], WEIGHTS[:, 0], QUADS[:, 0], QUADS[:, 2])
    ),
    "invert_affine": (invert_affine, (MAPS,)),
    "compose_affine": (compose_affine, (MAPS, np.flip(MAPS, 0).copy())),
    "transform_points": (transform_points, (QUADS, MAPS)),
    "transform_boxes": (transform_boxes, (BOXES, MAPS)),
    "convert_matrix": (lambda M: convert_matrix(M, "cuaug", "torch", size=(60, 90)), (MAPS,)),
}  # fmt: skip
