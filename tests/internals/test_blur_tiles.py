"""Limits of the Gaussian blur's tiles on a GPU."""

import numpy as np
import pytest

from cuaug._arrays.images import OutputArray, describe_images
from cuaug._gpu import devices
from cuaug._passes import blur_tiles, filters


def test_max_tile_width_is_that_of_the_widest_tile():
    assert max(width for width, _ in blur_tiles._BLUR_TILES) == blur_tiles.MAX_TILE_WIDTH


@pytest.mark.parametrize(("width", "channels"), [(715_829_000, 3), (715_827_880, 3), (1 << 29, 4)])
def test_gaussian_blur_refuses_packed_rows_beyond_32_bits(width, channels):
    image = np.zeros((1, 2, 1, channels), np.uint8)
    small = describe_images(image)
    strides = (0, 0, 1, width * channels, channels)
    axes = small.axes._replace(extents=(1, 1, channels, 2, width), strides=strides)
    batch = small._replace(device=0, axes=axes)
    with pytest.raises(ValueError, match=rf"^rows must have fewer than 2\*\*31 numbers, .*, got {width} pixels"):
        filters._blur_config(batch, OutputArray(image, 0, axes), "uint8", (27, 1))


@pytest.mark.parametrize(("height", "fits"), [((1 << 31) - 20_000, True), ((1 << 31) - 6_000, False)])
def test_gaussian_blur_by_matrix_products_counts_rows_in_32_bits(height, fits, monkeypatch):
    """The last run of rows, rounded up, must end below 2^31."""
    image = np.zeros((1, 2, 2, 3), np.uint8)
    small = describe_images(image)
    axes = small.axes._replace(extents=(1, 1, 3, height, 2))
    monkeypatch.setattr(devices, "has_fast_integer_mma", lambda device: True)
    batch = small._replace(device=0, axes=axes)
    assert filters.uses_matrix_products(batch, OutputArray(image, 0, axes), (3, 23)) == fits
