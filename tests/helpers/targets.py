"""Random boxes, keypoints and matrices, and points transformed by OpenCV."""

import math

import cv2
import numpy as np
from hypothesis import strategies as st

from cuaug.transforms import boxes, keypoints
from cuaug.transforms.moves import Move
from helpers.arrays import seeded
from helpers.compare import Tolerance

Boxes, Keypoints = boxes.Boxes, keypoints.Keypoints
FLOAT64 = Tolerance(1e-9, 1e-10, reason="float64 against float64 in another order")
FLOAT32 = Tolerance(2e-3, 1e-4, reason="float32 coordinates of a few hundred pixels")
SIZE, OUT_SIZE = (200, 300), (160, 240)
HFLIP = np.array([[-1.0, 0, 299], [0, 1, 0], [0, 0, 1]])
EYE = np.eye(3)


def moves_to(matrices, size):
    """One move, to a canvas of this size: (H, W), or an array with one per sample. [N, 2]"""
    height, width = np.moveaxis(np.asarray(size), -1, 0)
    return [Move(matrices, np.stack([0 * width, 0 * height, width, height], -1))]


def move_boxes(source, matrices, size, options, valid=None):
    return boxes.transform_boxes(source, moves_to(matrices, size), options, valid)


def move_keypoints(source, matrices, size, options):
    return keypoints.transform_keypoints(source, moves_to(matrices, size), options)


def maps(count, kind="perspective", seed=0):
    """Maps that rotate, mirror, scale, shift and tilt, and keep much of the image inside. [N, 3, 3]"""
    rng, matrices = seeded("maps", kind, seed), []
    for _ in range(count):
        angle, scale = rng.uniform(-math.pi, math.pi), rng.uniform(0.5, 1.5)
        linear = scale * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        linear = linear @ np.diag([rng.choice([-1, 1]), 1]) @ [[1, rng.uniform(-0.3, 0.3)], [0, 1]]
        M = np.eye(3)
        M[:2, :2] = linear
        M[:2, 2] = np.array([120, 80]) - linear @ [150, 100] + rng.uniform(-30, 30, 2)
        if kind == "perspective":
            M[2, :2] = rng.uniform(-1e-3, 1e-3, 2)
        matrices.append(M)
    return np.array(matrices)


def some_boxes(shape, seed=0):
    """Boxes (left, top, right, bottom) near an image of `SIZE`: some cross its edges or lie outside. [..., 4]"""
    rng = seeded("boxes", shape, seed)
    low = rng.uniform(-20, (260, 160), (*shape, 2))
    return np.concatenate([low, low + rng.uniform(4, 90, (*shape, 2))], -1)


def formatted(edges, format):
    left, top, right, bottom = np.moveaxis(np.asarray(edges, float), -1, 0)
    width, height = right - left, bottom - top
    return np.stack(
        {
            "XYXY": (left, top, right, bottom),
            "XYWH": (left, top, width, height),
            "CXCYWH": (left + width / 2, top + height / 2, width, height),
        }[format],
        -1,
    )


def opencv_points(points, M):
    """Points transformed by OpenCV. [P, 2]"""
    return cv2.perspectiveTransform(np.array(points, np.float64)[None], M)[0]


left_top_width_height = st.tuples(st.integers(0, 250), st.integers(0, 150), st.integers(1, 50), st.integers(1, 50))


def some_points(shape, with_visibility=True, seed=0):
    """Points (x, y) within `SIZE`, with a visibility of 0, 1 or 2 in a third column. [..., 2 or 3]"""
    rng = seeded("points", shape, seed)
    points = rng.uniform(0, (299, 199), (*shape, 2))
    return np.concatenate([points, rng.integers(0, 3, (*shape, 1))], -1) if with_visibility else points


FLIP_PAIRS = [(1, 2), (5, 3)]
