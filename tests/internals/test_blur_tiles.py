"""Limits of the Gaussian blur's kernels, and the ops that they apply."""

import itertools
import re

import numpy as np
import pytest
from helpers.arrays import noise, seeded

from cuaug._arrays.images import OutputArray, describe_images
from cuaug._gpu import devices
from cuaug._passes import blur_tiles, filters, op_chain, parameters, pointwise
from cuaug._program.names import snake_case
from cuaug._program.sources import KERNELS


def test_max_tile_width_is_that_of_the_widest_tile():
    assert max(width for width, _ in blur_tiles._BLUR_TILES) == blur_tiles.MAX_TILE_WIDTH


# Of the second width, the row fits, and the end of its last tile does not.
@pytest.mark.parametrize(("width", "channels"), [(715_829_000, 3), (715_827_880, 3), (1 << 29, 4)])
def test_gaussian_blur_refuses_packed_rows_beyond_32_bits(width, channels):
    image = np.zeros((1, 2, 1, channels), np.uint8)
    small = describe_images(image)
    strides = (0, 0, 1, width * channels, channels)
    axes = small.axes._replace(extents=(1, 1, channels, 2, width), strides=strides)
    batch = small._replace(device=0, axes=axes)
    with pytest.raises(ValueError, match=rf"^rows must have fewer than 2\*\*31 numbers, .*, got {width} pixels"):
        filters._blur_config(batch, OutputArray(image, 0, axes), "uint8", (), (27, 1))


@pytest.mark.parametrize(("height", "fits"), [((1 << 31) - 20_000, True), ((1 << 31) - 6_000, False)])
def test_gaussian_blur_by_matrix_products_counts_rows_in_32_bits(height, fits, monkeypatch):
    """The last run of rows, rounded up, must end below 2^31."""
    image = np.zeros((1, 2, 2, 3), np.uint8)
    small = describe_images(image)
    axes = small.axes._replace(extents=(1, 1, 3, height, 2))
    monkeypatch.setattr(devices, "has_fast_integer_mma", lambda device: True)
    batch = small._replace(device=0, axes=axes)
    assert filters.uses_matrix_products(batch, OutputArray(image, 0, axes), (3, 23)) == fits


@pytest.mark.parametrize("op_count", [0, op_chain.MAX_CHANNEL_OPS])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_gaussian_blur_tiles_fit_shared_memory(dtype, op_count):
    """So that every kernel size launches without opting in to more than 48 KiB of shared memory.

    The kernel declares at most 16 bytes, and two parameters of each op for seven channels.
    """
    available = (48 << 10) - 16 - op_count * 2 * 7 * (8 if dtype == "float64" else 4)
    max_channels = 1 if dtype == "float64" else 4  # channels that one tile holds
    for channels, x, y in itertools.product(range(1, max_channels + 1), range(1, 128, 2), range(1, 128, 2)):
        tile = blur_tiles.blur_tile.__wrapped__(dtype, channels, 1000, 1000, x, y, op_count)
        assert tile.shared_bytes <= available, (channels, x, y)


def param_counts(op):
    """`sample_params` and `channel_params` of the op's struct."""
    text = (KERNELS / "ops" / f"{snake_case(op)}.cuh").read_text()
    return [int(count) for count in re.search(r"sample_params = (\d+), channel_params = (\d+)", text).groups()]


@pytest.mark.parametrize("op", sorted(op_chain.CHANNEL_OPS))
def test_channel_op_changes_each_channel_and_pixel_by_itself(op):
    sample_params, channel_params = param_counts(op)
    assert sample_params + channel_params <= blur_tiles._MAX_OP_PARAMETERS
    random, images = seeded(op), noise((2, 3, 5, 6), "float32")
    by_sample = random.uniform(0.2, 0.8, (2, sample_params))
    by_channel = random.uniform(0.5, 2, (2, channel_params, 3))

    def apply(images, channel_parameters):
        table = np.concatenate([by_sample, channel_parameters.reshape(2, -1), np.zeros((2, 1))], 1)
        array = parameters.StridedArray(table.ctypes.data, table.shape[1], 0, 1, 1, table)
        batch = describe_images(np.ascontiguousarray(images), "NCHW")
        return pointwise.pointwise(batch, (op,), parameters.SampleParameters(array, ()), "float32", None)

    whole = apply(images, by_channel)
    assert not np.array_equal(whole, images) or op in ("Rescale", "ConvertRange")  # floats have one range
    for channel, y, x in itertools.product(range(3), range(5), range(6)):
        pixel = np.s_[:, channel : channel + 1, y : y + 1, x : x + 1]
        np.testing.assert_array_equal(apply(images[pixel], by_channel[:, :, channel]), whole[pixel])
