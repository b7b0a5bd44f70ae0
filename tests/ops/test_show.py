"""``grid`` places known pixels, and ``show`` draws its arguments."""

import builtins

import numpy as np
import pytest
from helpers.arrays import noise, put
from helpers.compare import describe
from helpers.figures import drawn_points

import cuaug

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")


def test_grid_places_every_image_and_fills_the_rest():
    batch = np.stack([np.full((4, 6, 3), value, np.uint8) for value in (10, 20, 30)])
    sheet = cuaug.grid(batch, ncols=2, pad=1, fill=200)
    expected = np.full((9, 13, 3), 200, np.uint8)
    expected[:4, :6], expected[:4, 7:], expected[5:, :6] = 10, 20, 30
    np.testing.assert_array_equal(sheet, expected)


def test_grid_centres_smaller_images():
    sheet = cuaug.grid([np.full((2, 2, 3), 50, np.uint8), np.zeros((4, 6, 3), np.uint8)], ncols=1, pad=0)
    assert np.argwhere((sheet == 50).all(-1)).tolist() == [[1, 2], [1, 3], [2, 2], [2, 3]]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (255, "uint8", 255), (65535, "uint16", 255), (32767, "int16", 255), (-5, "int16", 0), (True, "bool", 255),
        (0.5, "float32", 128), (1.5, "float64", 255), (-1, "float16", 0), (np.nan, "float32", 0),
    ],
)  # fmt: skip
def test_grid_shows_each_dtype_over_its_range(value, dtype, expected):
    assert cuaug.grid(np.full((1, 3, 5, 1), value, dtype)).tolist() == np.full((3, 5, 3), expected).tolist()


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_grid_shows_bfloat16_as_float32(library):
    values = np.array([np.nan, -np.inf, 0.0, 0.5, 2.0], np.float32).reshape(1, 1, 5, 1)
    sheet = cuaug.grid(put(values, (library, "cpu"), "bfloat16"), layout="NHWC")
    assert sheet[0, :, 0].tolist() == [0, 0, 0, 128, 255]


@pytest.mark.parametrize(
    ("pixel", "expected"),
    [
        ([10], [10, 10, 10]), ([10, 99], [10, 10, 10]), ([1, 2, 3], [1, 2, 3]),
        ([0, 0, 0, 0], [200, 200, 200]), ([9, 8, 7, 255], [9, 8, 7]), ([1, 2, 3, 4, 5], [1, 2, 3]),
    ],
)  # fmt: skip
def test_grid_shows_any_number_of_channels(pixel, expected):
    batch = np.broadcast_to(np.array(pixel, np.uint8), (1, 7, 9, len(pixel)))
    assert (cuaug.grid(batch, fill=200) == expected).all()


@pytest.mark.parametrize("mean", [0.5, np.float32(0.5), [0.2, 0.5, 0.7]])
@pytest.mark.parametrize("std", [0.25, np.array([0.1, 0.2, 0.3])])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_grid_and_show_undo_normalize(library, std, mean):
    batch = put(noise((2, 5, 7, 3)), (library, "cpu"))
    normalized = cuaug.normalize(batch, mean, std, layout="NHWC")
    expected = cuaug.grid(batch, layout="NHWC")
    assert (cuaug.grid(normalized, layout="NHWC") != expected).any()
    np.testing.assert_array_equal(cuaug.grid(normalized, layout="NHWC", mean=mean, std=std), expected)
    figure = cuaug.show(normalized, layout="NHWC", mean=mean, std=std)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), cuaug.grid(batch[:1], layout="NHWC"))
    mpl.pyplot.close(figure)


def test_grid_and_show_check_mean_and_std():
    for call in (cuaug.grid, cuaug.show):
        with pytest.raises(ValueError, match=r"^cuaug\.\w+: mean must be a number or one per channel, 3, got \["):
            call(np.zeros((2, 5, 7, 3), np.float32), mean=[0.5, 0.5])
        with pytest.raises(ValueError, match=r"^cuaug\.\w+: mean and std must be left out for uint8 images"):
            call(np.zeros((2, 5, 7, 3), np.uint8), std=0.5)


def test_grid_torch_is_channels_first_and_video_is_a_row():
    torch = pytest.importorskip("torch")
    batch = torch.arange(2 * 3 * 5 * 7, dtype=torch.uint8).reshape(2, 3, 5, 7)
    channels_last = batch.permute(0, 2, 3, 1).numpy()
    np.testing.assert_array_equal(cuaug.grid(batch), cuaug.grid(channels_last))
    video = np.zeros((2, 5, 4, 6, 3), np.uint8)
    assert cuaug.grid(video, pad=0, layout="NTHWC").shape == (2 * 4, 5 * 6, 3)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_grid_copies_device_batches(library):
    batch = noise((2, 5, 7, 3))
    device_batch = put(batch, (library, "cuda"))
    if describe(device_batch)[1] == "cpu":
        pytest.skip("JAX without support for CUDA")
    np.testing.assert_array_equal(cuaug.grid(device_batch, layout="NHWC"), cuaug.grid(batch))


def test_show_draws_boxes_masks_and_titles():
    batch = np.zeros((3, 8, 12, 3), np.uint8)
    boxes = np.array([[[1, 2, 5, 6], [0, 0, 12, 8]]] * 3, np.float32)
    masks = np.zeros((3, 8, 12), np.int64)
    masks[1, 2:4, 5:9] = 2
    figure = cuaug.show(batch, boxes, masks, titles=["a", "b", "c"], ncols=2)
    first, second, third, empty = figure.axes
    assert [axis.get_title() for axis in (first, second, third)] == ["a", "b", "c"]
    assert [patch.get_path().get_extents().bounds for patch in first.patches] == [(0.5, 1.5, 4, 4), (-0.5, -0.5, 12, 8)]
    pixels = second.images[0].get_array()
    assert (pixels.any(-1) == (masks[1] == 2)).all()
    assert not third.images[0].get_array().any()
    assert not empty.images
    assert mpl.colors.to_rgb(first.patches[0].get_edgecolor()) != mpl.colors.to_rgb(first.patches[1].get_edgecolor())
    mpl.pyplot.close(figure)


@pytest.mark.parametrize("empty", [[], np.zeros(0), np.zeros((0, 4))], ids=["list", "one axis", "two axes"])
def test_show_draws_image_without_boxes(empty):
    first, second = cuaug.show(np.zeros((2, 8, 12, 3), np.uint8), boxes=[empty, [[1, 2, 5, 6]]]).axes
    assert not first.patches
    assert len(second.patches) == 1
    mpl.pyplot.close("all")


def test_show_draws_keypoints_that_are_visible_and_finite():
    keypoints = np.array([[[1, 2, 2], [3, 4, 0], [np.nan, 5, 2], [30, 40, 1]]] * 2, np.float32)
    with_visibility = cuaug.show(np.zeros((2, 8, 12, 3), np.uint8), keypoints=keypoints)
    without = cuaug.show(np.zeros((2, 8, 12, 3), np.uint8), keypoints=list(keypoints[..., :2]))
    assert drawn_points(with_visibility.axes[1]) == [[1, 2], [30, 40]]
    assert drawn_points(without.axes[1]) == [[1, 2], [3, 4], [30, 40]]
    for figure in (with_visibility, without):  # a point outside of the image does not change what is shown
        figure.draw_without_rendering()
        assert figure.axes[0].get_xlim() == (-0.5, 11.5)
        mpl.pyplot.close(figure)


@pytest.mark.parametrize(
    ("shape", "colors"), [((4, 2), [0, 1, 2, 3]), ((2, 2, 2), [0, 0, 1, 1]), ((1, 2, 2, 2), [0, 0, 1, 1])]
)
def test_show_colors_points_by_number_or_by_object(shape, colors):
    """An object's keypoints have the colour of the box with its number."""
    points = np.arange(8.0).reshape(shape)
    boxes = np.array([[0, 0, 1, 1]] * 4)
    (axis,) = cuaug.show(np.zeros((1, 8, 12, 3), np.uint8), boxes[None], keypoints=points[None]).axes
    assert drawn_points(axis) == points.reshape(4, 2).tolist()
    box_colors = [patch.get_edgecolor() for patch in axis.patches]
    point_colors = np.concatenate([points.get_facecolors() for points in axis.collections])
    np.testing.assert_array_equal(point_colors, [box_colors[i] for i in colors])
    mpl.pyplot.close("all")


def test_show_draws_each_mask_of_a_stack_in_the_color_of_its_box():
    image, stack = np.zeros((8, 12, 3), np.uint8), np.zeros((2, 8, 12), bool)
    stack[0, 1:3, 1:3] = stack[1, 4:6, 4:9] = True
    boxes = np.array([[[1, 1, 3, 3], [4, 4, 9, 6]]])
    (axis,) = cuaug.show([image], boxes, [stack]).axes
    pixels = axis.images[0].get_array()
    assert (pixels.any(-1) == stack.any(0)).all()
    for patch, mask in zip(axis.patches, stack, strict=True):
        color = np.rint(np.multiply(mpl.colors.to_rgb(patch.get_edgecolor()), 255))
        expected = color // 2  # blended with a black image
        assert (pixels[mask] == expected).all()
    (stack_of_one,) = cuaug.show([image], masks=[stack[:1].astype(np.int16) * 2]).axes
    (label_mask,) = cuaug.show([image], masks=[stack[0].astype(np.int16) * 2]).axes
    np.testing.assert_array_equal(stack_of_one.images[0].get_array(), label_mask.images[0].get_array())
    (empty,) = cuaug.show([image], masks=[stack[:0]], keypoints=[np.zeros((0, 3, 2))]).axes
    assert not empty.images[0].get_array().any()
    mpl.pyplot.close("all")


def test_show_names_the_extra_without_matplotlib(monkeypatch):
    real_import = builtins.__import__

    def import_without_matplotlib(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_matplotlib)
    with pytest.raises(ImportError, match=r"^cuaug\.show: .*pip install .*matplotlib"):
        cuaug.show(np.zeros((1, 4, 4, 3), np.uint8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.grid(x, ncols=0), "grid: ncols must be at least 1, got 0"),
        (lambda x: cuaug.grid(x, pad=-1), "grid: pad must be at least 0, got -1"),
        (lambda x: cuaug.show(x, 3), "show: boxes must be an array or a list, with one entry per image, got int"),
        (lambda x: cuaug.show(x, titles="ab"), "show: titles must be an array or a list, .*, got str"),
        (lambda x: cuaug.show(x, titles={"a": 1, "b": 2}), "show: titles must be an array or a list, .*, got dict"),
        (lambda x: cuaug.grid([]), "grid: images must hold at least one image"),
        (lambda x: cuaug.show(x, titles=["a"]), "show: titles must have one entry per image, 2, got 1"),
        (lambda x: cuaug.show(x, masks=x[:1, ..., 0]), "show: masks must have one entry per image, 2, got 1"),
        (lambda x: cuaug.show(x, keypoints=x[:1]), "show: keypoints must have one entry per image, 2, got 1"),
        (lambda x: cuaug.show(x, x[..., 0]), r"show: boxes must be \[P, 4\] for each image, got shape \(6, 5\)"),
        (
            lambda x: cuaug.show(x, keypoints=x[..., 0]),
            r"show: keypoints must be \[K, 2\|3\] or \[P, K, 2\|3\] for each image, got shape \(6, 5\)",
        ),
        (
            lambda x: cuaug.show(x, masks=x),
            r"show: masks must be \[6, 5\] or \[P, 6, 5\] for each image, got shape \(6, 5, 3\)",
        ),
    ],
)
def test_grid_show_reject_invalid_arguments(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(np.zeros((2, 6, 5, 3), np.uint8))


@pytest.mark.parametrize("parameter", ["boxes", "masks", "keypoints"])
def test_show_names_the_argument_that_holds_complex_numbers(parameter):
    batch = np.zeros((2, 4, 6, 3), np.uint8)
    with pytest.raises(TypeError, match=f"show: {parameter} must hold real numbers, got complex128"):
        cuaug.show(batch, **{parameter: np.zeros((2, 4, 6), complex)})
    mpl.pyplot.close("all")


def test_show_draws_values_that_are_not_finite_without_warnings():
    images = np.full((2, 6, 5, 3), 1e300)
    images[0, 0] = np.nan, np.inf, -np.inf
    boxes = np.array([[[0.0, 0, 2, 3], [-np.inf, 0, np.inf, 5], [np.nan] * 4]] * 2)
    masks = np.tile([np.nan, np.inf, -np.inf, 0, 0], (2, 6, 1))
    figure = cuaug.show(images, boxes, masks, ["$$", "$a_b$"])
    figure.canvas.draw()
    for axes in figure.axes:
        assert len(axes.patches) == 1
        assert axes.images[0].get_array()[1:].min() == 255
    assert [axes.get_title() for axes in figure.axes] == ["$$", "$a_b$"]
    assert not any(axes.title.get_parse_math() for axes in figure.axes)
    mpl.pyplot.close("all")
