"""`Compose.show` draws pixels in 0..255: it undoes normalization, and stretches other floats outside 0..1."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal
from helpers.figures import axes_of, pixels

from cuaug import transforms as T

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")

N, H, W = 3, 17, 11
BATCH = noise((N, H, W, 3))
TENSOR = torch.from_numpy(BATCH).permute(0, 3, 1, 2)
BOXES = np.array([[[1.0, 2, 5, 9], [2, 1, 10, 16]]])
TO_FLOAT = T.ToDtype("float32", scale=True)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALIZED = {
    "float32": (BATCH, [TO_FLOAT, T.Normalize(MEAN, STD)]),
    "float16": (TENSOR, [T.ToDtype("float16", scale=True), T.Normalize(MEAN, STD)]),
    "bfloat16": (TENSOR, [T.ToDtype("bfloat16", scale=True), T.Normalize(0.5, 2.0)]),
    "of integers": (BATCH, [T.Normalize(MEAN, STD)]),
    "numbers": (BATCH, [T.Normalize(0.5, 0.5)]),
    "inside": (BATCH, [T.Compose([TO_FLOAT, T.Normalize(MEAN, STD)]), T.RandomHorizontalFlip(p=0.0)]),
    "the last": (BATCH, [TO_FLOAT, T.Normalize(0.0, 1.0), T.Normalize(MEAN, STD)]),
    "back in integers": (BATCH, [TO_FLOAT, T.Normalize(0.0, 1.0), T.ToDtype("uint8", scale=True)]),
    "levels": (BATCH.astype(np.float32), [T.Normalize(123.0, 58.0)]),
    "shifted": (BATCH.astype(np.float32) / 255 - 0.5, [T.Normalize(-0.5, 3.0)]),
}


@pytest.mark.parametrize(("images", "transforms"), NORMALIZED.values(), ids=NORMALIZED)
def test_compose_show_undoes_normalization(images, transforms):
    before, after = axes_of(T.Compose(transforms, seed=0).show(images))
    for old, new, image in zip(before, after, BATCH, strict=True):
        assert np.abs(pixels(old).astype(int) - image).max() <= 1
        assert np.abs(pixels(new).astype(int) - image).max() <= 1


def test_compose_show_stretches_floats_of_unknown_scale():
    """All images are stretched together, so that a darker image stays darker."""
    images = np.stack([np.full((6, 5, 3), value, np.float32) for value in (-2, 0, 2)])
    optional = T.Compose([T.RandomApply([T.Normalize(0.0, 0.5)], p=1.0)])
    for axes in axes_of(optional.show(images)):
        assert [int(pixels(axis)[0, 0, 0]) for axis in axes] == [0, 128, 255]
    within = T.Compose([T.RandomHorizontalFlip()]).show(np.full((1, 6, 5, 3), 0.5, np.float32))
    for (axis,) in axes_of(within):
        assert (pixels(axis) == 128).all()
    grey = T.Compose([TO_FLOAT, T.Normalize(MEAN, STD), T.Grayscale()])  # one channel, but three means: not undone
    (_, *_), after = axes_of(grey.show(BATCH))
    assert (min(pixels(axis).min() for axis in after), max(pixels(axis).max() for axis in after)) == (0, 255)
    assert all((pixels(axis) == pixels(axis)[..., :1]).all() for axis in after)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([np.nan, np.nan], [0, 0]), ([3, 3], [0, 0]), ([-2, 0, 2, np.nan, np.inf], [0, 128, 255, 0, 255])],
    ids=str,
)
def test_compose_show_stretches_finite_values(values, expected):
    images = np.tile(np.array(values, np.float32).reshape(1, 1, -1, 1), (1, 6, 1, 3))
    for (axis,) in axes_of(T.Compose([T.RandomHorizontalFlip(p=0.0)]).show(images)):
        assert pixels(axis)[0, :, 0].tolist() == expected


def test_compose_show_draws_huge_floats_and_captions_with_dollars_without_warnings():
    images = np.full((1, H, W, 3), 1e300)
    images[0, 0] = 0
    sample = {"images": images, "boxes": BOXES, "labels": [["$$", "$a_b$"]]}
    figure = T.Compose([T.RandomHorizontalFlip(1.0)]).show(sample)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["$$", "$a_b$"]
    assert figure.axes[0].images[0].get_array()[1:].min() == 255


@pytest.mark.parametrize("coordinate", [1e8, -1e8, 1e30])
def test_compose_show_draws_captions_of_boxes_far_outside(coordinate):
    """matplotlib raises an error for a text at such a place."""
    low, high = sorted([coordinate, 2 * coordinate])
    boxes = np.array([[[low, low, high, high], [1, 1, 4, 5]]])
    sample = {"images": np.zeros((1, H, W, 3), np.uint8), "boxes": boxes, "labels": [["far", "near"]]}
    figure = T.Compose([T.Identity()]).show(sample)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].texts] == ["far", "near"]
    assert figure.axes[0].texts[1].get_position() == (0.5, 0.5)


GREY = {
    "one": lambda: BATCH[0, ..., 0],
    "sizes": lambda: [BATCH[0, ..., 0], BATCH[0, :5, :, 0]],
    "torch": lambda: TENSOR[0, 0],
    "Pillow": lambda: pytest.importorskip("PIL.Image").fromarray(BATCH[0, ..., 0]),
    "target": lambda: {"image": BATCH[0, ..., 0], "masks": np.zeros((H, W), np.uint8)},
}


@pytest.mark.parametrize("transform", [T.RGB(), T.Grayscale(3)], ids=repr)
@pytest.mark.parametrize("name", GREY)
def test_compose_show_draws_grey_images_that_become_rgb(name, transform):
    """Images [H, W] gain a channel axis."""
    layout = "HW" if name == "torch" else None
    before, after = axes_of(T.Compose([transform], seed=0).show(GREY[name](), layout=layout))
    for old, new in zip(before, after, strict=True):
        assert_equal(pixels(new), pixels(old))
    assert_equal(pixels(after[0]), np.repeat(BATCH[0, ..., :1], 3, -1))
