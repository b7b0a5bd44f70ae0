"""Matrices and points drawn for the tests of geometry."""

import importlib
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, settings
from hypothesis import strategies as st

from helpers.compare import Tolerance

FLOAT64 = Tolerance(absolute=1e-8, relative=1e-10, reason="float64 against float64 in another order")
LIBRARIES = [
    "numpy",
    "torch",
    "jax",
    pytest.param("cupy", marks=pytest.mark.gpu),
    pytest.param("cuda", marks=pytest.mark.gpu),  # torch on the GPU
]


def put(values, library, dtype="float64"):
    """The values as an array of one of `LIBRARIES`."""
    values = np.asarray(values)
    if library in ("torch", "cuda"):
        return torch.tensor(values, dtype=getattr(torch, dtype), device="cuda" if library == "cuda" else "cpu")
    if library == "jax":
        return pytest.importorskip("jax.numpy").asarray(values, dtype=dtype)
    return importlib.import_module(library).asarray(values, dtype=dtype)


def move(points, M):
    """Points [..., P, 2] transformed by matrices [..., 2 or 3, 3], in float64."""
    points, M = np.asarray(points, np.float64), np.asarray(M, np.float64)
    moved = np.concatenate([points, np.ones_like(points[..., :1])], -1) @ np.swapaxes(M, -1, -2)
    return moved[..., :2] / moved[..., 2:] if M.shape[-2] == 3 else moved


def fixed_settings():
    return settings(derandomize=True, max_examples=100, deadline=None, database=None)


def numbers(low, high):
    return st.floats(low, high)


@st.composite
def batches(draw, points=3, max_offset=3000):
    """Well-spread points: corners of a square, then of a triangle, jittered, rotated and shifted. [N, points, 2]"""
    shape = np.array([(0, 0), (100, 0), (100, 100), (0, 100), (50, 20), (30, 70), (80, 60)], np.float64)[:points]
    samples = []
    for _ in range(draw(st.integers(1, 3))):
        jitter = np.array(draw(st.lists(numbers(-20, 20), min_size=2 * points, max_size=2 * points)))
        center = np.array([draw(numbers(-max_offset, max_offset)), draw(numbers(-max_offset, max_offset))])
        angle = draw(numbers(-math.pi, math.pi))
        rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        samples.append((shape + jitter.reshape(points, 2)) @ rotation.T + center)
    return np.array(samples).astype(np.float32).astype(np.float64)  # cv2 reads points as float32


@st.composite
def matrices(draw, rows=2):
    """Invertible maps that scale by 0.25 to 4 and shift by up to 500 pixels. [rows, 3]"""
    angle, shear = draw(numbers(-math.pi, math.pi)), draw(numbers(-1, 1))
    along, across = draw(numbers(0.25, 4)), draw(numbers(0.25, 4))
    rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    linear = rotation @ [[along, shear], [0, across]]
    M = np.column_stack([linear, [draw(numbers(-500, 500)), draw(numbers(-500, 500))]])
    tilt = [draw(numbers(-1e-4, 1e-4)), draw(numbers(-1e-4, 1e-4)), 1.0]
    if rows == 2:
        return M
    M = np.vstack([M, tilt])
    assume(np.linalg.det(M) > 0.01)  # a tilt of 1e-4 at 500 pixels may make the product of the smallest scales singular
    return M
