"""`Compose.apply` with parameters of other images or of another recipe: the message says which."""

import copy

import numpy as np
import pytest

from cuaug import transforms as T

SHAPE = (4, 8, 9, 3)


@pytest.mark.parametrize(
    ("images", "difference"),
    [
        (np.zeros((2, 8, 9, 3), np.uint8), "got 2 of uint8, 8x9 pixels with 3 channels"),
        (np.zeros(SHAPE, np.float32), "got 4 of float32, 8x9 pixels with 3 channels"),
        (np.zeros((4, 6, 9, 3), np.uint8), "got 4 of uint8, 6x9 pixels with 3 channels"),
        (np.zeros((4, 8, 9, 1), np.uint8), "got 4 of uint8, 8x9 pixels with 1 channels"),
    ],
    ids=["samples", "dtype", "size", "channels"],
)
def test_apply_says_how_images_differ_from_those_of_the_draw(images, difference):
    recipe = T.Compose([T.RandomHorizontalFlip()], seed=0)
    params = recipe.draw(np.zeros(SHAPE, np.uint8))
    expected = "4 of uint8, 8x9 pixels with 3 channels"
    with pytest.raises(ValueError, match=f"params were drawn for, {expected}, {difference}: draw again$"):
        recipe.apply(images, params)
    with pytest.raises(ValueError, match=r"params must have been drawn by this Compose, .*from_dict"):
        copy.deepcopy(recipe).apply(np.zeros(SHAPE, np.uint8), params)
