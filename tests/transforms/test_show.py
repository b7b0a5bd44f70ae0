"""`Compose.show` draws the images and targets before and after a call, and is not counted as a call."""

import builtins

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import assert_equal
from helpers.figures import axes_of, captions, drawn_boxes, drawn_points, pixels, titles

from cuaug import transforms as T

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")

N, H, W = 3, 17, 11
BATCH = noise((N, H, W, 3))
TENSOR = torch.from_numpy(BATCH).permute(0, 3, 1, 2)
RAGGED = [noise((9, 8, 3)), noise((7, 10, 3)), noise((9, 8, 3))]
BOXES = np.array([[[1.0, 2, 5, 9], [2, 1, 10, 16]], [[0, 0, 4, 4], [3, 3, 9, 9]], [[2, 5, 8, 14], [1, 1, 3, 3]]])
MASKS = np.zeros((N, H, W), np.uint8)
MASKS[:, 3:9, 2:7] = 1
KEYPOINTS = np.array([[[2.0, 3, 2], [8, 3, 1], [5, 9, 0]]] * N)
LABELS = np.array([4, 0, 7])
CROP_LEFT = T.Compose([T.CenterCrop((H, 5))], seed=0)  # the columns 3 to 7


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def moves(**options):
    return T.Compose([T.RandomAffine(20, (0.1, 0.1)), T.RandomHorizontalFlip()], seed=3, **options)


def pillow_images():
    image = pytest.importorskip("PIL.Image")
    return [image.fromarray(array) for array in BATCH]


CALLS = {  # the arguments, and the images in the result
    "numpy": (lambda: [BATCH], lambda result: result),
    "torch": (lambda: [TENSOR], lambda result: result),
    "sizes": (lambda: [RAGGED], lambda result: result),
    "pillow": (lambda: [pillow_images()], lambda result: result),
    "arguments": (lambda: [BATCH, MASKS * 0, BOXES, KEYPOINTS, LABELS], lambda result: result[0]),
    "pair": (lambda: [(TENSOR, LABELS)], lambda result: result[0]),
    "labels": (lambda: [BATCH, LABELS], lambda result: result[0]),
    "dict": (lambda: [{"inputs": {"image": BATCH}, "boxes": BOXES}], lambda result: result["inputs"]["image"]),
    "targets": (lambda: [list(TENSOR), [{"boxes": boxes} for boxes in BOXES]], lambda result: result[0]),
    "samples": (
        lambda: [[{"image": image, "label": 1, "file": "a.jpg"} for image in BATCH]],
        lambda result: [sample["image"] for sample in result],
    ),
}


@pytest.mark.parametrize("options", [{"ids": [5, 6, 9], "step": 7}, {"ids": 4}, {}], ids=str)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_compose_show_draws_the_images_of_a_call(call, options):
    arguments, images_of = call[0](), call[1]
    recipe = moves()
    recipe(BATCH)  # the next step is 1
    axes = axes_of(recipe.show(*arguments, **options))
    results = recipe(*arguments, **options)
    sides = (arguments if len(arguments) > 1 else arguments[0]), results
    for axes_of_side, side in zip(axes, sides, strict=True):
        for axis, image in zip(axes_of_side, map(np.asarray, images_of(side)), strict=True):
            assert_equal(pixels(axis), np.moveaxis(image, 0, -1) if len(image) == 3 else image)


def test_compose_show_draws_tv_tensors(tv):
    sample = [tv.BoundingBoxes(torch.tensor([[1.0, 2, 4, 7]]), format="XYWH", canvas_size=(H, W)), tv.Image(TENSOR[0])]
    (before,), (after,) = axes_of(moves().show(sample))
    boxes, image = moves()(sample)
    assert_equal(pixels(after), np.moveaxis(image.as_subclass(torch.Tensor).numpy(), 0, -1))
    assert [edges for edges, _ in drawn_boxes(before)] == [[1, 2, 5, 9]]
    x, y, width, height = boxes.as_subclass(torch.Tensor)[0].tolist()
    assert [edges for edges, _ in drawn_boxes(after)] == [pytest.approx([x, y, x + width, y + height])]


def test_compose_show_draws_the_targets_of_a_call():
    recipe = moves(keypoints=T.Keypoints(flip_pairs=[(0, 1)]))
    targets = {"boxes": BOXES, "keypoints": KEYPOINTS}
    before, after = axes_of(recipe.show(BATCH, ids=[5, 6, 9], step=7, **targets))
    _, boxes, keypoints = recipe(BATCH, ids=[5, 6, 9], step=7, **targets)
    assert not np.array_equal(boxes, BOXES)
    for axes, side in ((before, (BOXES, KEYPOINTS)), (after, (boxes, keypoints))):
        for axis, sample_boxes, sample_keypoints in zip(axes, *side, strict=True):
            assert [edges for edges, _ in drawn_boxes(axis)] == sample_boxes.tolist()
            assert drawn_points(axis) == sample_keypoints[sample_keypoints[:, 2] > 0, :2].tolist()


@pytest.mark.parametrize(
    "stacked",
    [
        lambda masks: masks,
        lambda masks: np.stack([masks * 0, masks], 1),
        lambda masks: np.stack([masks * 0, masks], -1),
        lambda masks: list(masks),
        lambda masks: torch.from_numpy(masks).bool(),
    ],
)
def test_compose_show_blends_the_masks_of_a_call(stacked):
    recipe = moves()
    axes = axes_of(recipe.show(BATCH, stacked(MASKS), step=2))
    images, masks = recipe(BATCH, MASKS, step=2)
    for axes_of_side, *side in zip(axes, (BATCH, images), (MASKS, masks), strict=True):
        for axis, image, mask in zip(axes_of_side, *side, strict=True):
            is_background = (pixels(axis) == image).all(-1)
            assert_equal(is_background[mask == 0], np.ones(np.count_nonzero(mask == 0), bool))
            assert np.count_nonzero(is_background[mask != 0]) < 5  # pixels that have the colour of the mask


def test_compose_show_is_no_call():
    """The draws of the next call are the same, and so are the arguments."""
    images, expected = BATCH.copy(), moves()(BATCH)
    recipe = moves()
    recipe.show(images)
    recipe.show(images, labels=LABELS, ids=[4, 5, 6], step=9)
    assert recipe.state_dict() == {"seed": 3, "step": 0}
    assert_equal(images, BATCH)
    assert_equal(recipe(images), expected)


def test_compose_show_draws_the_first_samples():
    recipe = T.Compose([T.RandomHorizontalFlip()], seed=0)
    many = np.zeros((10, 4, 5, 3), np.uint8)
    assert titles(recipe.show(many, n=1)) == ["0 before", "0 after"]
    assert len(recipe.show(many, n=1).axes) == 2
    assert len(titles(recipe.show(many))) == 16
    assert len(titles(recipe.show(many, n=99))) == 20
    figure = recipe.show(many, n=3)
    assert [axis.get_subplotspec().colspan.start for axis in figure.axes] == [0, 1, 2, 3] * 2
    assert titles(figure) == ["0 before", "0 after", "1 before", "1 after", "2 before", "2 after"]


def test_compose_show_mixes_with_samples_that_are_not_shown():
    """The partner of the first sample is the last one of the call."""
    recipe = T.Compose([T.MixUp(alpha=1.0, num_classes=8)], seed=2)
    _, (after,) = axes_of(figure := recipe.show(BATCH, LABELS, n=1))
    images, weights = recipe(BATCH, LABELS, step=0)
    assert_equal(pixels(after), images[0])
    assert 0.2 < weights[0, 7] < weights[0, 4]
    assert titles(figure) == ["0 before, label 4", f"0 after, label 4: {weights[0, 4]:.0%}, 7: {weights[0, 7]:.0%}"]


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (LABELS, "4"), (torch.from_numpy(LABELS), "4"), (["cat", "dog", "owl"], "cat"),
        (np.float32([0.25, 1, 2]), "0.25"),
        (np.int64([[1, 2], [3, 4], [5, 6]]), "1, 2"), (np.float32([[0, 1, 0]] * 3), "1: 100%"),
        (np.float32([[0.5, 3]] * 3), "0.5, 3"), ([["a", "b"]] * 3, "a, b"), ([[1, [2, 3]]] * 3, "1, 2, 3"),
        ([np.arange(99)] * 3, "0, 1, 2, 3, 4, 5, 6, ..."),
    ],
)  # fmt: skip
def test_compose_show_labels_are_titles(labels, text):
    figure = T.Compose([T.RandomInvert()]).show(BATCH, labels=labels, n=1)
    assert titles(figure) == [f"0 before, label {text}", f"0 after, label {text}"]


@pytest.mark.parametrize("labels", [None, "a text", {"other": 3}, 5, [1, 2]])
def test_compose_show_leaves_other_values_out(labels):
    figure = T.Compose([T.RandomInvert()]).show({"image": BATCH, "labels": labels})
    assert titles(figure) == ["0 before", "0 after", "1 before", "1 after", "2 before", "2 after"]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("wrap", [np.asarray, list], ids=["array", "lists"])
def test_compose_show_objects_keep_their_color_and_caption(compact, wrap):
    """Of each sample, the first box leaves the crop; the second one is drawn as before, with its mask and points."""
    boxes = np.array([[[0.0, 0, 2, 9], [2, 1, 10, 16]]] * N)
    masks = np.zeros((N, 2, H, W), bool)
    masks[:, 0, :, :2] = masks[:, 1, 2:4, 4:7] = True
    keypoints = np.stack([boxes[..., [0, 1]], boxes[..., [0, 1]] + 4], 2)
    labels = np.array([["far", "near"]] * N) if wrap is np.asarray else [["far", "near"]] * N
    recipe = T.Compose(CROP_LEFT.transforms, boxes=T.Boxes(compact=compact))
    figure = recipe.show(BATCH * 0, wrap(masks), wrap(boxes), wrap(keypoints), labels)
    (before, *_), (after, *_) = axes_of(figure)
    (_, color_before), (_, color) = drawn_boxes(before)
    assert color_before != color
    assert drawn_boxes(after) == [([0, 1, 5, 16], color)]
    assert (captions(before), captions(after)) == (["far", "near"], ["near"])
    assert not any("label" in title for title in titles(figure))
    blended = np.rint(np.multiply(color[:3], 255)) // 2
    for axis, area in ((before, np.s_[2:4, 4:7]), (after, np.s_[2:4, 1:4])):
        assert (pixels(axis)[area] == blended).all()
    assert [tuple(c) for c in after.collections[0].get_facecolors()][-2:] == [color] * 2
    assert drawn_points(after)[-2:] == (keypoints[0, 1] - [3, 0]).tolist()


def test_compose_show_label_mask_keeps_its_colors_beside_one_box():
    boxes = np.array([[[0.0, 0, 2, 9], [2, 1, 10, 16]]] * N)
    recipe = T.Compose(CROP_LEFT.transforms, boxes=T.Boxes(compact=True))
    (before, *_), (after, *_) = axes_of(recipe.show(BATCH * 0, MASKS, boxes))
    assert_equal(pixels(after), pixels(before)[:, 3:8])
    assert pixels(after).any()


def test_compose_show_leaves_invalid_boxes_out():
    boxes = np.array([[[0.0, 0, 4, 9], [2, 1, 10, 16], [4, 4, 4, 9], [np.nan, 0, 9, 9], [3, 2, 8, 9]]])
    recipe = T.Compose(CROP_LEFT.transforms, boxes=T.Boxes(min_visibility=0.5))
    sample = {"image": BATCH[:1], "boxes": boxes, "valid": np.array([[True] * 4 + [False]])}
    (before,), (after,) = axes_of(recipe.show(sample))
    assert [edges for edges, _ in drawn_boxes(before)] == boxes[0, :2].tolist()
    assert [edges for edges, _ in drawn_boxes(after)] == [[0, 1, 5, 16]]
    del sample["valid"]
    (before,), (after,) = axes_of(recipe.show(sample))
    assert [edges for edges, _ in drawn_boxes(before)] == boxes[0, [0, 1, 4]].tolist()
    assert [edges for edges, _ in drawn_boxes(after)] == [[0, 1, 5, 16], [0, 2, 5, 9]]


def test_compose_show_reads_the_format_of_boxes():
    recipe = moves(boxes=T.Boxes("XYWH"))
    (before,), _ = axes_of(recipe.show({"image": TENSOR[0], "boxes": np.array([[1.0, 2, 4, 7]])}))
    assert [edges for edges, _ in drawn_boxes(before)] == [[1, 2, 5, 9]]


SINGLE = {
    "HWC": (BATCH[0], None),
    "CHW": (TENSOR[0], None),
    "HW": (BATCH[0, ..., 0], None),
    "HWC of torch": (torch.from_numpy(BATCH[0]), "HWC"),
    "one of a batch": (torch.from_numpy(BATCH[:1]), "NHWC"),
    "frames": (BATCH[:1, None], "NTHWC"),
}


@pytest.mark.parametrize(("image", "layout"), SINGLE.values(), ids=SINGLE)
def test_compose_show_draws_one_image(image, layout):
    (before,), (after,) = axes_of(T.Compose([T.RandomInvert(p=1.0)]).show(image, layout=layout))
    expected = BATCH[0] if getattr(image, "ndim", 0) > 2 else np.repeat(BATCH[0, ..., :1], 3, -1)
    assert_equal(pixels(before), expected)
    assert_equal(pixels(after), 255 - expected)


def test_compose_show_draws_one_sample_with_targets():
    sample = {"image": BATCH[0], "masks": [MASKS[0]], "boxes": BOXES[0], "keypoints": KEYPOINTS[0], "label": "cat"}
    (before,), (after,) = axes_of(figure := CROP_LEFT.show(sample))
    assert titles(figure) == ["0 before, label cat", "0 after, label cat"]
    assert [edges for edges, _ in drawn_boxes(before)] == BOXES[0].tolist()
    assert [edges for edges, _ in drawn_boxes(after)] == [[0, 2, 2, 9], [0, 1, 5, 16]]
    assert drawn_points(before) == [[2, 3], [8, 3]]
    assert drawn_points(after) == []  # both are outside of the crop
    assert ((pixels(after) != BATCH[0, :, 3:8]).any(-1) <= (MASKS[0, :, 3:8] == 1)).all()
    assert (pixels(after) != BATCH[0, :, 3:8]).any()


def test_compose_show_draws_the_first_frame_with_its_mask():
    video = np.zeros((2, 4, H, W, 3), np.uint8)
    video[:, 1:] = 200
    masks = np.zeros((2, 4, H, W), np.uint8)
    masks[:, 0, :3], masks[:, 1:] = 1, 1
    before, after = axes_of(T.Compose([T.RandomVerticalFlip(p=1.0)]).show(video, masks, layout="NTHWC"))
    for axis, rows in ((before[1], np.s_[:3]), (after[1], np.s_[-3:])):
        expected = np.zeros((H, W), bool)
        expected[rows] = True
        assert_equal(pixels(axis).any(-1), expected)


def test_compose_show_draws_each_image_of_a_sample():
    sample = {"left": {"image": BATCH}, "right": {"image": 255 - BATCH}, "boxes": BOXES}
    figure = moves().show(sample, n=2)
    result = moves()(sample)
    axes = [axis for axis in figure.axes if axis.images]
    assert titles(figure) == ["0 before", "0 after"] * 2 + ["1 before", "1 after"] * 2
    assert_equal(pixels(axes[3]), result["right"]["image"][0])
    assert_equal(pixels(axes[5]), result["left"]["image"][1])
    assert drawn_boxes(axes[5]) == drawn_boxes(axes[7])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: CROP_LEFT.show({"x": BATCH}), ValueError, "no image found"),
        (
            lambda: CROP_LEFT.show(BATCH, n=0),
            ValueError,
            "n must be at least 1, got 0",
        ),
        (
            lambda: CROP_LEFT.show(BATCH, n=2.0),
            TypeError,
            r"n must be an int, got 2\.0: pass 2",
        ),
        (
            lambda: CROP_LEFT.show(BATCH[:0]),
            ValueError,
            "images must hold at least one image",
        ),
        (
            lambda: CROP_LEFT.show(BATCH, ids=[1, 2]),
            ValueError,
            "ids must be 3 integers",
        ),
        (
            lambda: CROP_LEFT.show(BATCH, step=-1),
            ValueError,
            "step must be at least 0, got -1",
        ),
        (
            lambda: CROP_LEFT.show(BATCH, boxes=BOXES[:, 0, 0]),
            ValueError,
            r"boxes must have shape \[3, \*, 4\], got \[3\]",
        ),
        (
            lambda: T.Compose([T.RandomEqualize()]).show(BATCH / 255),
            TypeError,
            "RandomEqualize: images must be uint8",
        ),
    ],
)
def test_compose_show_raises_what_a_call_raises(call, error, message):
    with pytest.raises(error, match=rf"^cuaug\.transforms\.Compose\.show: {message}"):
        call()


def test_compose_show_names_the_package_without_matplotlib(monkeypatch):
    real_import = builtins.__import__

    def import_without_matplotlib(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_matplotlib)
    with pytest.raises(
        ImportError, match=r"^cuaug\.transforms\.Compose\.show: matplotlib is not installed: pip install matplotlib"
    ):
        CROP_LEFT.show(BATCH)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_compose_show_copies_device_arrays(library):
    recipe = T.Compose([T.RandomHorizontalFlip(), T.CenterCrop(9)], seed=0)
    on_device = {"image": put(BATCH, (library, "cuda")), "boxes": put(BOXES, (library, "cuda"))}
    figures = [recipe.show(sample, layout="NHWC") for sample in (on_device, {"image": BATCH, "boxes": BOXES})]
    for on_gpu, on_host in zip(*map(axes_of, figures), strict=True):
        for axes in zip(on_gpu, on_host, strict=True):
            assert_equal(*map(pixels, axes))
            assert drawn_boxes(axes[0]) == drawn_boxes(axes[1])
