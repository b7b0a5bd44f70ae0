"""The loader decodes only the region that the recipe needs, at the lowest resolution that suffices."""

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal
from helpers.loader import encoded_file, photo_parts
from helpers.loader_checks import ONE_LEVEL, expected_batch

import cuaug
import cuaug.io
from cuaug import transforms as T
from cuaug.data import Loader
from cuaug.data.crops import group_by_size
from cuaug.data.decode_regions import CropBoxes, crop_plan, decode_regions

pytestmark = pytest.mark.jpeg
COORDINATES = Tolerance(1e-9, reason="float64 coordinates of up to 2000, rounded a few times")


def test_loader_decodes_large_image_at_reduced_resolution():
    """`Resize` from 300 to 150 needs half the resolution: the pixels equal those of a decoder that halves."""
    image = next(photo_parts(1, 300, 301))
    file = encoded_file(image)
    ((images, labels),) = Loader([file], 1, [T.Resize((150, 150))], library="numpy")
    assert labels is None
    half = cuaug.io.decode_jpeg(file, scale=1 / 2)
    assert_equal(images, half[None], tolerance=ONE_LEVEL)
    resized = cuaug.resize(cuaug.io.decode_jpeg(file), (150, 150)).astype(int)
    differences = [np.abs(half[1:-1, 1:-1] - np.roll(resized, by, 1)[1:-1, 1:-1]).mean() for by in (-1, 0, 1)]
    assert differences[1] < min(differences[0], differences[2]) / 2


def test_loader_boxes_follow_reduced_resolution():
    """Levels are linear in x and y, so that a reduced resolution keeps them and an error in a position shifts them."""
    y, x = np.mgrid[:400, :600]
    ramp = np.stack([y / 400, x / 600, (x + y) / 1000], 2)
    file = encoded_file((ramp * 255).round().astype("uint8"), subsampling=0, quality=100)
    recipe = T.Compose([T.RandomResizedCrop(16, antialias=False)], seed=1)
    for epoch in range(5):
        loader = Loader([file] * 8, 8, recipe, library="numpy")
        loader.epoch = epoch
        ((images, _),) = loader
        expected = expected_batch([(file, 0)] * 8, recipe, range(8), epoch)
        error = images.astype(int) - expected
        assert np.abs(error).max() <= 6  # the loss of JPEG
        assert np.abs(error.mean((1, 2))).max() < 0.6  # an offset of half a pixel at 1/8 would be 2.5 levels


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos", "area"])
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize(
    "recipe",
    [
        lambda **options: [T.Resize((24, 29), **options)],
        lambda **options: [T.Resize(64, **options), T.CenterCrop(56)],
        lambda **options: [T.Resize(24, **options), T.CenterCrop(24)],
        lambda **options: [T.Resize(25, **options), T.CenterCrop(24)],  # leaves out one pixel, at the end
        lambda **options: [T.RandomResizedCrop((29, 24), **options)],
    ],
)
def test_loader_decode_box_equals_recipe_box(recipe, antialias, interpolation):
    """Boxes larger and smaller than the result in one batch: no pixel of a neighbour or of old memory appears."""
    rng = np.random.default_rng(0)
    sizes = [
        (1, 1),
        (1, 50),
        (40, 1),
        (30, 30),
        (450, 450),
        (100, 96),
        (96, 100),
        *rng.integers(8, 200, (20, 2)).tolist(),
    ]
    images = [rng.integers(128, 256, (*size, 3), "uint8") for size in sizes]
    recipe = T.Compose(recipe(interpolation=interpolation, antialias=antialias), seed=4)
    source = [encoded_file(image, format="PNG") for image in images]
    ((result, _),) = Loader(source, len(images), recipe, library="numpy")
    expected = [recipe(image[None], ids=[i], step=0)[0] for i, image in enumerate(images)]
    assert_equal(result, np.stack(expected), tolerance=ONE_LEVEL)


def test_loader_crop_boxes_of_resize_by_a_list_equal_those_by_an_int():
    """A Loader decodes the crop alone, also if the recipe begins with ``Resize([30])`` and ``CenterCrop``."""
    sizes = np.array([(40, 50), (300, 200), (30, 30)])
    by_int, by_list = (crop_plan(T.Compose([T.Resize(size), T.CenterCrop(24)])) for size in (30, [30]))
    expected, boxes = (plan.crop_boxes(sizes, 0, 0, np.arange(3)) for plan in (by_int, by_list))
    for actual_array, expected_array in zip(boxes, expected, strict=True):
        np.testing.assert_array_equal(actual_array, expected_array)
    assert crop_plan(T.Compose([T.Resize([30]), T.CenterCrop(31)])) is None


class FlippedResize(T.Resize):
    def write(self, recipe):
        super().write(recipe)
        recipe.add_flip(recipe.constant("flip", 1), "x")


class FlippedCenterCrop(T.CenterCrop):
    def write(self, recipe):
        super().write(recipe)
        recipe.add_flip(recipe.constant("flip", 1), "x")


@pytest.mark.parametrize("transforms", [[FlippedResize((24, 29))], [T.Resize(24), FlippedCenterCrop(20)]])
def test_loader_runs_subclass_of_crop(transforms):
    """The loader does not replace a subclass with its base class."""
    image = np.random.default_rng(0).integers(0, 256, (60, 70, 3), "uint8")
    recipe = T.Compose(transforms)
    ((result, _),) = Loader([encoded_file(image, format="PNG")], 1, recipe, library="numpy")
    assert_equal(result, recipe(image[None]), tolerance=ONE_LEVEL)


def test_loader_decode_region_covers_box_at_lowest_resolution():
    rng = np.random.default_rng(20261121)
    sizes = rng.integers(1, 2000, (4000, 2))
    extent = rng.uniform(0.01, 1, sizes.shape) * sizes
    extent[::3] = np.maximum(np.rint(extent[::3]), 1)
    corner = rng.uniform(0, 1, sizes.shape) * (sizes - extent)
    corner[::2] = np.where(rng.random(corner[::2].shape) < 0.5, 0, (sizes - extent)[::2])
    resized_sizes, scalable = rng.integers(1, 200, sizes.shape), rng.random(len(sizes)) < 0.8
    regions, boxes_in_regions = decode_regions(
        CropBoxes(np.concatenate([corner, extent], 1), resized_sizes, np.zeros((4000, 4), int)), sizes, scalable
    )
    scale, first, count = regions[:, :1], regions[:, 1:3], regions[:, 3:]
    fits = [(extent >= by * resized_sizes).all(1) & scalable for by in (2, 4, 8)]
    assert scale[:, 0].tolist() == np.select(fits[::-1], [8, 4, 2], 1).tolist()
    assert {*scale[:, 0].tolist()} == {1, 2, 4, 8}
    assert (first == np.minimum(corner // scale, -(-sizes // scale) - 1)).all()
    assert (first + count == np.clip(np.ceil((corner + extent) / scale), first + 1, -(-sizes // scale))).all()
    assert_equal(boxes_in_regions[:, :2] + first, corner / scale, tolerance=COORDINATES)
    assert_equal(boxes_in_regions[:, 2:], extent / scale, tolerance=COORDINATES)
    assert (boxes_in_regions[:, :2] + boxes_in_regions[:, 2:] <= count).all()


def test_loader_slots_waste_little_memory():
    """Slots for a tall and a wide image together would each be as tall as the one and as wide as the other."""
    tall, wide = np.zeros((6000, 16, 3), "uint8"), np.zeros((16, 6000, 3), "uint8")
    extents = np.array([[60_000, 100], [100, 60_000]] * 16)
    groups = group_by_size(extents, np.zeros_like(extents))
    assert sorted(np.concatenate(groups).tolist()) == list(range(32))
    assert sum(len(group) * extents[group].max(0).prod() for group in groups) * 3 < 1 << 30
    files = [encoded_file(image + np.uint8(10 * i)) for i, image in enumerate([tall, wide] * 8)]
    ((images, _),) = Loader(files, 16, [T.Resize((8, 8))], library="numpy")
    assert np.abs(images.astype(int) - 10 * np.arange(16)[:, None, None, None]).max() <= 1
