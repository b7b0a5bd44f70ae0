"""Drawn angles have the sign of the arguments: counter-clockwise in rotations, clockwise in affine maps."""

import json

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T

IMAGES = torch.from_numpy(noise((4, 3, 23, 17)))
ROTATION, AFFINE = T.RandomRotation((5, 85), "bilinear"), T.RandomAffine((5, 85), interpolation="bilinear")


def draw(transform):
    """The drawn angles, read back from JSON, and the images transformed with them."""
    recipe = T.Compose([transform], seed=3)
    params = recipe.draw(IMAGES)
    described = json.loads(json.dumps(params.to_dict()))
    (angles,) = (values for name, values in described["drawn"].items() if name.endswith("angle"))
    return angles, recipe.apply(IMAGES, recipe.params_from_dict(described, IMAGES))


@pytest.mark.parametrize("transform", [ROTATION, AFFINE], ids=["rotation", "affine"])
def test_params_angles_are_within_degrees(transform):
    angles, _ = draw(transform)
    assert all(5 <= angle <= 85 for angle in angles)


def test_params_angles_are_those_of_functions():
    angles, result = draw(ROTATION)
    assert_equal(cuaug.rotate(IMAGES, angles, "bilinear"), result)
    angles, result = draw(AFFINE)
    assert_equal(cuaug.affine(IMAGES, angles, (0, 0), 1.0, (0, 0), "bilinear"), result)


def test_params_angles_are_those_of_torchvision():
    """Not exactly: torchvision computes positions in float32."""
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    bilinear = functional.InterpolationMode.BILINEAR
    angles, result = draw(ROTATION)
    expected = [functional.rotate(image, angle, bilinear) for image, angle in zip(IMAGES, angles, strict=True)]
    _check_near(torch.stack(expected), result)
    angles, result = draw(AFFINE)
    pairs = zip(IMAGES, angles, strict=True)
    expected = [functional.affine(image, angle, [0, 0], 1.0, [0.0, 0.0], bilinear) for image, angle in pairs]
    _check_near(torch.stack(expected), result)


def _check_near(expected, result):
    """At least 90 % of the values are within a level: torchvision computes positions in float32."""
    difference = np.abs(expected.numpy().astype(int) - result.numpy().astype(int))
    assert (difference <= 1).mean() > 0.9


def test_params_angles_of_policies_are_counter_clockwise():
    recipe = T.Compose([T.TrivialAugmentWide()], seed=3)
    images = IMAGES[:1].expand(64, -1, -1, -1).contiguous()
    params = recipe.draw(images)
    angles = params["0.TrivialAugmentWide.Rotate"]
    rows = torch.nonzero(angles).ravel().tolist()
    assert rows
    moved = recipe.apply(images, params)
    for row in rows:
        assert_equal(cuaug.rotate(images[row], float(angles[row]), "nearest"), moved[row])
