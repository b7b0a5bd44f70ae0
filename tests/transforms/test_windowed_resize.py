"""A resize and the crops and flips after it are one pass, which computes only a window of the resized image.

Padding after the resize is in that pass only where images of several sizes form one batch.
"""

import copy

import numpy as np
import pytest
from helpers.arrays import default_layout, every_backend, from_layout, images, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy

import cuaug
from cuaug import transforms as T

SHAPE = 6, 37, 53, 3
SIDE, RESIZED = 24, (24, 34)
MASK_FILL = 1000
FILTERS = [*[(name, True) for name in ("bilinear", "bicubic", "lanczos", "area")], ("bicubic", False)]
WINDOWS = {
    "centre crop": [T.CenterCrop((17, 20))],
    "random crop, flips": [T.RandomCrop(16), T.RandomHorizontalFlip(), T.RandomVerticalFlip()],
    "flips, crop, flip, crop": [
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.RandomCrop((20, 21)),
        T.RandomHorizontalFlip(),
        T.CenterCrop(11),
    ],
    "negative padding": [T.Pad((-3, -1, -4, -2)), T.RandomHorizontalFlip()],
}
PADDED_WINDOWS = {
    "padding": [T.RandomHorizontalFlip(), T.Pad((3, 0, 5, 9), fill=71), T.RandomVerticalFlip()],
    "fill of three channels": [
        T.Pad((40, 30, 40, 30), fill=(9, 1, 5)),
        T.RandomHorizontalFlip(),
        T.RandomCrop((25, 33)),
    ],
    "padding to the crop's size": [T.RandomVerticalFlip(), T.RandomCrop(40, pad_if_needed=True, fill=3)],
    "centre crop of more": [T.CenterCrop((30, 20)), T.RandomHorizontalFlip()],
}
RECIPES = WINDOWS | PADDED_WINDOWS
every_recipe = pytest.mark.parametrize("name", RECIPES)


def windowed_resize(name, filter_=FILTERS[0]):
    return T.Compose([T.Resize(SIDE, filter_[0], antialias=filter_[1]), *RECIPES[name]], seed=3)


def with_mask_fill(transform):
    """The transform with `MASK_FILL` around masks."""
    transform = copy.deepcopy(transform)
    if hasattr(transform, "fill"):
        transform.fill = {"images": transform.fill, "masks": MASK_FILL}
    return transform


def padded(view, left, top, fill):
    """The image with pixels of the fill to its left and top, and more than any recipe needs to its right and bottom."""
    canvas = np.empty((view.shape[0] + top + 100, view.shape[1] + left + 100, view.shape[2]), view.dtype)
    canvas[:] = fill
    canvas[top : top + view.shape[0], left : left + view.shape[1]] = view
    return canvas


def windows(pixels, params):
    """The crops and flips of the recipe that drew `params`, of resized images or masks. [N, H, W, ...]"""
    drawn = {name: to_numpy(params[name]) for name in params.names}
    results = []
    for n, view in enumerate(pixels):
        for position, transform in list(enumerate(params.recipe.plans.transforms))[1:]:
            numbers = {name.split(".")[2]: int(drawn[name][n]) for name in drawn if name.startswith(f"{position}.")}
            if isinstance(transform, T.RandomHorizontalFlip):
                view = view[:, ::-1] if numbers["flip"] else view
            elif isinstance(transform, T.RandomVerticalFlip):
                view = view[::-1] if numbers["flip"] else view
            else:
                fill = getattr(transform, "fill", 0)
                left, top = -numbers.get("pad_left", 0), -numbers.get("pad_top", 0)  # negative: pixels to remove
                view = padded(view, left, top, fill) if max(left, top) > 0 else view[-top:, -left:]
                if isinstance(transform, T.Pad):
                    right, bottom = transform.padding[2:]
                    height, width = RESIZED[0] + top + bottom, RESIZED[1] + left + right
                    view = view[:height, :width]
                else:
                    (top, left), (height, width) = (numbers["top"], numbers["left"]), transform.size
                    view = view[top : top + height, left : left + width]
        results.append(view)
    return np.stack(results)


def near(backend, dtype):
    """The tolerance to the function's result: GPUs may run the warp kernel, and divide the window into other tiles."""
    if backend[1] == "cpu":
        return EXACT
    if dtype == "uint8":
        return Tolerance(absolute=1, exact=0.97, reason="a value that is nearly a tie may be rounded either way")
    relative = {"float16": 2e-3, "float32": 2e-5}[dtype]
    return Tolerance(absolute=relative, relative=relative, reason="sums in another order, rounded to the dtype")


@every_backend
@every_recipe
@pytest.mark.parametrize("filter_", FILTERS, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
def test_compose_window_of_resize_equals_window_of_function(backend, name, filter_, dtype):
    layout, aug = default_layout(backend), windowed_resize(name, filter_)
    batch = images(backend, dtype, shape=SHAPE)
    assert len(aug.plan(batch).passes) == (2 if name in PADDED_WINDOWS else 1)
    function_result = to_numpy(cuaug.resize(batch, RESIZED, filter_[0], antialias=filter_[1]))
    expected = windows(from_layout(function_result, layout), aug.draw(batch, step=1))
    result = from_layout(to_numpy(aug(batch, step=1)), layout)
    assert_equal(result, expected, tolerance=near(backend, dtype))


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "fill of three channels"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("channels", [1, 2, 4, 5])
def test_compose_window_of_resize_accepts_any_layout_and_channels(name, layout, channels):
    aug, pixels = windowed_resize(name), noise((*SHAPE[:3], channels))
    batch = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)) if layout == "NCHW" else pixels
    expected = windows(cuaug.resize(pixels, RESIZED, layout="NHWC"), aug.draw(batch, step=1, layout=layout))
    assert_equal(from_layout(aug(batch, step=1, layout=layout), layout), expected)


@every_backend
@pytest.mark.parametrize("name", WINDOWS)
def test_compose_targets_follow_window_of_resize(backend, name):
    """Masks, boxes and keypoints equal those of the resize alone, cropped and flipped."""
    aug, resize, batch = windowed_resize(name), T.Compose([T.Resize(SIDE)]), images(backend, shape=SHAPE)
    masks = images(backend, "int32", "NHWC", shape=(*SHAPE[:3], 1), seed=1)[..., 0]
    resized_masks = to_numpy(resize(batch, masks, step=1)[1])
    params = aug.draw(batch, step=1)
    (height, width), scale = RESIZED, np.array([34 / 53, 24 / 37])
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1)[None].repeat(SHAPE[0], 0)
    pixels = windows(grid, params)  # (x, y) in the resized image, of the result's pixels
    points = (pixels[:, [0, 0, -1], [0, -1, -1]] + 0.5) / scale - 0.5  # of three corners, in the source [N, 3, 2]
    corners = np.array([(0, 0), (pixels.shape[2] - 1, 0), (pixels.shape[2] - 1, pixels.shape[1] - 1)])
    for matrix, source in zip(to_numpy(params.matrices), points, strict=True):
        moved = np.column_stack([source, np.ones(3)]) @ matrix.T
        np.testing.assert_allclose(moved, np.column_stack([corners, np.ones(3)]), atol=5e-5)  # float32 in JAX
    boxes = np.concatenate([points.min(1), points.max(1)], 1)[:, None] + 0.5  # a pixel's center is at 0.5 in boxes
    boxes, keypoints = (put(target.astype(np.float32), backend) for target in (boxes, points))
    _, result_masks, result_boxes, result_keypoints = aug(batch, masks, boxes, keypoints, step=1)
    assert_equal(to_numpy(result_masks), windows(resized_masks, params))
    expected_boxes = np.tile([0.5, 0.5, *(corners[2] + 0.5)], (SHAPE[0], 1, 1))
    np.testing.assert_allclose(to_numpy(result_boxes), expected_boxes, atol=5e-5)
    np.testing.assert_allclose(to_numpy(result_keypoints), np.tile(corners, (SHAPE[0], 1, 1)), atol=5e-5)


@every_backend
@pytest.mark.parametrize("name", PADDED_WINDOWS)
@pytest.mark.parametrize(
    "first", [T.Resize(SIDE, "bicubic"), T.RandomResizedCrop(RESIZED, interpolation="bicubic")], ids=str
)
def test_compose_targets_of_padded_resize_equal_those_of_two_recipes(backend, name, first):
    """The border begins at the edges of the resized box, which may be a part of the image."""
    transforms = [first, *[with_mask_fill(transform) for transform in PADDED_WINDOWS[name]]]
    aug, resize = T.Compose(transforms, seed=3), T.Compose(transforms[:1], seed=3)
    pixels, masks = (
        images(backend, shape=SHAPE),
        images(backend, "int32", "NHWC", shape=(*SHAPE[:3], 1), seed=1)[..., 0],
    )
    corners = np.sort(np.random.default_rng(0).uniform(-0.2, 1.2, (SHAPE[0], 9, 2, 2)) * (53, 37), axis=2)
    boxes, keypoints = (put(t.astype(np.float32), backend) for t in (corners.reshape(-1, 9, 4), corners[:, :, 0]))
    result = aug(pixels, masks, boxes, keypoints, step=1)
    expected = aug.after(1)(*resize(pixels, masks, boxes, keypoints, step=1), step=1)
    assert (to_numpy(result[1]) == MASK_FILL).any() == (name != "centre crop of more")
    ties = Tolerance(absolute=2**31, exact=0.99, reason="two labels are equally near to some pixels")
    assert_equal(to_numpy(result[1]), to_numpy(expected[1]), tolerance=EXACT if backend[1] == "cpu" else ties)
    for moved, expected_target in zip(result[2:], expected[2:], strict=True):
        np.testing.assert_allclose(to_numpy(moved), to_numpy(expected_target), atol=5e-5)


@every_backend
@every_recipe
def test_params_from_dict_keeps_window_of_resize(backend, name):
    aug, batch = windowed_resize(name), images(backend, shape=SHAPE)
    params = aug.draw(batch, step=1)
    restored = aug.params_from_dict(params.to_dict(), batch)
    assert_equal(to_numpy(aug.apply(batch, restored)), to_numpy(aug.apply(batch, params)))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**31, -2.0, 0.5])
@pytest.mark.parametrize("column", range(6))
def test_params_from_dict_rejects_window_outside_of_resize(number, column):
    aug, batch = windowed_resize("random crop, flips"), noise(SHAPE)
    description = aug.draw(batch, step=1).to_dict()
    windows_of_samples = description["matrices"][0]  # [N, 6]: extent, step and origin of y, then of x
    assert all((row[0], row[3]) == RESIZED for row in windows_of_samples)
    windows_of_samples[2][column] = number
    with pytest.raises(ValueError, match=r"windows of \(16, 16\) inside the resized images, \(24, 34\)"):
        aug.params_from_dict(description, batch)
