"""Transforms whose results have sizes of their own: torchvision's results and draws, batches, later recipe parts."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.detection_samples import SIZE, boxes, detection
from helpers.draws import SEED

from cuaug import transforms as T
from cuaug._fusion.host_draws import HostDraws
from cuaug._sizes import resized_size
from cuaug.transforms.placement import Placement

TRANSFORMS = {
    "RandomZoomOut": ((114, 0, 7), (1.0, 3.0), 0.8),
    "RandomIoUCrop": (0.4, 0.9, 0.6, 1.8, [0.1, 0.5, 2.0], 20),
    "ScaleJitter": ((40, 30), (0.3, 1.8)),
    "RandomShortestSize": ([20, 31, 47], 55),
    "RandomResize": (12, 40),
}
ROUNDED = Tolerance(absolute=1, exact=0.8, reason="torchvision rounds twice: between rows and columns, and at the end")
MOVED = Tolerance(absolute=1e-4, reason="the matrix and torchvision's ratio are rounded to float32 at different places")


def transform(name, library=T):
    return getattr(library, name)(*TRANSFORMS[name])


def placement_of(name, params, size):
    """The placement of a sample for the parameters that torchvision's `make_params` returned."""
    whole = (0, 0, *size)
    if name == "RandomZoomOut":
        left, top, right, bottom = params["padding"]
        box = (-top, -left, size[0] + top + bottom, size[1] + left + right)
    elif name == "RandomIoUCrop":
        box = tuple(params[key] for key in ("top", "left", "height", "width")) if params else whole
    else:
        new_size = params["size"] if len(params["size"]) == 2 else resized_size(size, *params["size"], None)
        return Placement(np.array([whole]), np.array([new_size]))
    return Placement(np.array([box]), np.array([box[2:]]))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_size_transform_equals_torchvision_with_its_parameters(name, v2, real_tv, monkeypatch):
    expected_transform, actual_transform = transform(name, v2), transform(name)
    if name == "RandomZoomOut":  # masks get 0
        expected_transform = v2.RandomZoomOut(
            {real_tv.Image: TRANSFORMS[name][0], real_tv.Mask: 0}, *TRANSFORMS[name][1:]
        )
    resizes = name not in ("RandomZoomOut", "RandomIoUCrop")
    for seed in range(6):
        torch.manual_seed(seed)
        image, target = detection(seed=seed)
        entries = {
            "image": real_tv.Image(image),
            "boxes": real_tv.BoundingBoxes(target["boxes"], format="XYXY", canvas_size=SIZE),
            "masks": real_tv.Mask(target["masks"]),
        }
        params = expected_transform.make_params([*entries.values()])
        expected = {key: expected_transform.transform(entry, params) for key, entry in entries.items()}
        placement = placement_of(name, params, SIZE)
        monkeypatch.setattr(type(actual_transform), "place", lambda *_, placement=placement: placement)
        result = actual_transform({**entries, "labels": target["labels"]})
        assert_equal(result["image"].numpy(), expected["image"].numpy(), tolerance=ROUNDED if resizes else EXACT)
        assert type(result["boxes"]) is real_tv.BoundingBoxes
        assert type(result["image"]) is real_tv.Image
        assert result["boxes"].canvas_size == expected["boxes"].canvas_size
        valid, actual_boxes = result["valid"].numpy(), result["boxes"].numpy()
        extents = expected["boxes"].numpy()[:, 2:] - expected["boxes"].numpy()[:, :2]
        assert valid.tolist() == (extents > 0).all(1).tolist()
        assert_equal(actual_boxes[valid], expected["boxes"].numpy()[valid], tolerance=MOVED)
        assert not (actual_boxes[~valid, 2:] - actual_boxes[~valid, :2]).prod(1).any()
        assert result["masks"].shape == expected["masks"].shape
        assert result["labels"] is target["labels"]
        if not resizes:  # torchvision reads "nearest" at another point
            assert_equal(result["masks"].numpy(), expected["masks"].numpy())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_size_transform_draws_sizes_as_torchvision(name, v2, real_tv):
    """Mean and mean square of heights, widths and positions differ by less than 4 standard errors."""
    count, rows = 400, boxes(SIZE, 3)
    inputs = [real_tv.Image(torch.zeros(1, *SIZE)), real_tv.BoundingBoxes(rows, format="XYXY", canvas_size=SIZE)]
    reference = transform(name, v2)
    torch.manual_seed(1)
    params = [reference.make_params(inputs) for _ in range(count)]
    expected = [placement_of(name, values, SIZE) for values in params]
    expected = np.array([[*placement.box[0], *placement.size[0]] for placement in expected], float)
    # torchvision's `make_params` draws a zoom whatever `p` is.
    instance = getattr(T, name)(*TRANSFORMS[name][:2], 1.0) if name == "RandomZoomOut" else transform(name)
    draws = HostDraws(instance.write_draws, name, 0)
    draw = lambda ids, repetition: draws.table(ids, SEED, 0, repetition)  # noqa: E731
    placement = instance.place(np.tile(np.array(SIZE), (4 * count, 1)), draw, [rows.numpy()] * (4 * count))
    actual = np.concatenate([placement.box, placement.size], 1).astype(float)
    for power in (1, 2):
        a, e = actual**power, expected**power
        error = np.sqrt(a.var(0) / len(a) + e.var(0) / len(e))
        assert (abs(a.mean(0) - e.mean(0)) <= 4 * error + 1e-9).all(), (power, a.mean(0), e.mean(0), error)


RECIPES = {
    **{name: [name] for name in TRANSFORMS},
    "SSD": ["RandomZoomOut", "RandomIoUCrop", T.RandomHorizontalFlip(), T.Resize((30, 30), antialias=False)],
    "segmentation": ["RandomResize", T.RandomHorizontalFlip(), T.RandomCrop(20, pad_if_needed=True)],
    "padded": ["ScaleJitter", T.PadBatch(size_divisor=16, fill=9), T.RandomInvert()],
}


def recipe(name):
    return T.Compose([transform(t) if isinstance(t, str) else t for t in RECIPES[name]], seed=5)


def batch(count=5):
    samples = [detection(seed=seed) for seed in range(count)]
    entries = {"image": torch.stack([image for image, _ in samples])}
    for key in ("boxes", "labels", "masks"):
        entries[key] = torch.stack([target[key] for _, target in samples])
    points = torch.from_numpy(np.random.default_rng(1).uniform(0, 37, (count, 4, 2)).astype(np.float32))
    return entries | {"keypoints": points}


@pytest.mark.parametrize("name", RECIPES)
def test_batch_of_several_sizes_equals_samples_and_lists(name):
    aug, entries = recipe(name), batch()
    result = aug(entries, step=3)
    sizes = {tuple(image.shape[-2:]) for image in result["image"]}
    has_one_size = name in ("SSD", "segmentation", "padded")
    assert len(sizes) == 1 if has_one_size else len(sizes) > 1
    assert isinstance(result["image"], torch.Tensor if has_one_size else list)
    assert isinstance(result["masks"], torch.Tensor if has_one_size else list)
    as_list = aug(entries | {"image": list(entries["image"]), "masks": list(entries["masks"])}, step=3)
    for i in range(5):
        sample = {key: value[i] for key, value in entries.items()}
        single = aug(sample, step=3, ids=i)
        for key, value in single.items():
            tolerance = EXACT if key != "boxes" and key != "keypoints" else MOVED
            if name == "padded" and key in ("image", "masks", "pixel_mask"):  # a sample is padded to its own size
                height, width = (min(pair) for pair in zip(value.shape[-2:], result[key][i].shape[-2:], strict=True))
                assert_equal(result[key][i][..., :height, :width].numpy(), value[..., :height, :width].numpy())
                continue
            assert_equal(np.asarray(result[key][i]), np.asarray(value), tolerance=tolerance)
            assert_equal(np.asarray(as_list[key][i]), np.asarray(value), tolerance=tolerance)
    if "RandomIoUCrop" not in RECIPES[name]:
        for image, expected in zip(aug(entries["image"], step=3), result["image"], strict=True):
            assert torch.equal(image, expected)


@pytest.mark.parametrize("name", ["RandomZoomOut", "ScaleJitter", "segmentation", "padded"])
def test_images_of_several_sizes_agree_between_layouts(name):
    aug, images = recipe(name), batch()["image"]
    packed = images.permute(0, 2, 3, 1).numpy()
    expected = aug(images, step=1)
    for result in (aug(packed, step=1), aug(packed, step=1, layout="NHWC")):
        assert isinstance(result, np.ndarray) == isinstance(expected, torch.Tensor)
        for image, expected_image in zip(result, expected, strict=True):
            assert_equal(image, expected_image.permute(1, 2, 0).numpy(), tolerance=ROUNDED)


def test_size_transform_draws_depend_on_seed_step_id_and_position():
    images = batch()["image"]

    def sizes(aug, **options):
        return [tuple(image.shape) for image in aug(images, **{"step": 0, "ids": 0, **options})]

    aug = T.Compose([T.RandomResize(12, 1000)], seed=1)
    first = sizes(aug)
    assert sizes(aug) == first == sizes(T.Compose([T.RandomResize(12, 1000)], seed=1))
    assert sizes(aug, ids=[3, 1, 0, 9, 2])[1:3] == [first[1], first[0]]
    later = T.Compose([T.Identity(), T.RandomResize(12, 1000)], seed=1)
    assert sizes(later.after(1)) == sizes(later)
    assert len({str(s) for s in (first, sizes(aug, step=1), sizes(aug, ids=7), sizes(later))}) == 4


def test_size_transform_of_videos_and_pillow_images(real_tv):
    video = real_tv.Video(torch.from_numpy(noise((4, 3, *SIZE))))
    result = T.Compose([T.RandomResize(20, 21)])(video)
    assert type(result) is real_tv.Video
    assert tuple(result.shape) == (4, 3, 20, 27)
    assert torch.equal(result[2], T.RandomResize(20, 21)(video[2]))
    pillow = pytest.importorskip("PIL.Image").fromarray(noise((*SIZE, 3)))
    result, target = T.RandomShortestSize(20)(pillow, {"boxes": [[1, 2, 11, 12]]})
    assert result.size == (27, 20)
    assert type(result) is type(pillow)
    assert target["valid"].tolist() == [True]


@pytest.mark.parametrize("shape", [(4, *SIZE), (4, 2, *SIZE), (4, 0, *SIZE), (0,)], ids=str)
@pytest.mark.parametrize(
    "transforms",
    [[T.Resize(20)], [T.RandomZoomOut(0, (2, 2), 1.0)], [T.RandomZoomOut(0, (2, 2), 1.0), T.RandomHorizontalFlip(1.0)]],
    ids=["fused", "size", "size, fused"],
)
def test_compose_masks_of_one_video_follow_its_frames(transforms, shape, real_tv):
    """Masks [T, H, W] or [T, B, H, W], or of shape (0,) without objects. Each frame equals an image with its masks."""
    video, masks = noise((4, 3, *SIZE)), noise(shape, "bool")
    aug = T.Compose(transforms, seed=1)
    sample = real_tv.Video(torch.from_numpy(video)), real_tv.Mask(torch.from_numpy(masks))
    moved, moved_masks = aug(sample, step=2)
    for t in range(4):
        frame = {"image": video[t], "masks": masks[t] if len(shape) > 1 else masks}
        expected = aug(frame, step=2, layout="CHW")
        assert_equal(moved[t].numpy(), expected["image"])
        assert_equal(moved_masks[t].numpy(), expected["masks"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.RandomZoomOut(side_range=(0.5, 2)), "RandomZoomOut: side_range must be at least 1.0, got 0.5"),
        (lambda: T.RandomIoUCrop(0.5, 0.3), "RandomIoUCrop: max_scale must be in 0.5..1.0, got 0.3"),
        (lambda: T.RandomIoUCrop(sampler_options=[]), "RandomIoUCrop: sampler_options must be at least one number"),
        (lambda: T.ScaleJitter((9, 9), (0, 1)), "ScaleJitter: scale_range must be greater than 0"),
        (lambda: T.RandomResize(9, 9), "RandomResize: max_size must be at least 10, got 9"),
        (lambda: T.RandomShortestSize([]), "RandomShortestSize: min_size must be at least one number"),
        (
            lambda: T.PadBatch((4, 9))(noise((5, 7, 3))),
            r"PadBatch: images must fit into size \(4, 9\), got a largest height of 5 and a largest width of 7",
        ),
        (
            lambda: T.Compose([T.RandomResize(4, 9)]).draw(noise((5, 7, 3))),
            "Compose.draw: RandomResize is not fused with other",
        ),
        (lambda: T.RandomResize(4, 9)(noise((2, 5, 7, 3)), ids=[1]), r"ids must be 2 integers, got shape \(1,\)"),
    ],
)
def test_size_transform_error_says_what_to_do(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


CHOICES = {
    "apply": lambda: T.RandomApply([T.RandomResize(4, 9)]),
    "nested": lambda: T.RandomOrder([T.RandomApply([T.ScaleJitter((9, 9))]), T.RandomHorizontalFlip()]),
    "choice, one branch with one size": lambda: T.RandomChoice(
        [T.Compose([T.RandomResize(4, 9), T.Resize((5, 6))]), T.Identity(), T.RandomZoomOut(p=1.0)]
    ),
}


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("make", CHOICES.values(), ids=CHOICES)
def test_choice_of_size_transform_makes_a_batch_a_list(make, step):
    """Whatever the choice draws, the results equal those of the same images passed as a list."""
    images, masks = noise((4, 15, 17, 3)), noise((4, 15, 17), seed=1)
    recipe = T.Compose([make()], seed=2)
    batch, batch_masks = recipe(images, masks, step=step)
    listed, listed_masks = recipe(list(images), list(masks), step=step)
    assert isinstance(batch, list)
    for image, mask, expected_image, expected_mask in zip(batch, batch_masks, listed, listed_masks, strict=True):
        assert_equal(image, expected_image)
        assert_equal(mask, expected_mask)


def test_transform_to_one_size_after_choice_of_size_transform_returns_a_batch(real_tv):
    images = real_tv.Image(torch.from_numpy(noise((4, 3, 15, 17))))
    recipe = T.Compose([T.RandomApply([T.RandomResize(4, 9)]), T.Resize((5, 6))], seed=2)
    result, expected = recipe(images, layout="NCHW", step=3), recipe(list(images), step=3)
    assert isinstance(result, real_tv.Image)
    assert_equal(result.as_subclass(torch.Tensor), torch.stack(expected))


@pytest.mark.parametrize("name", ["RandomZoomOut", "ScaleJitter", "RandomShortestSize", "RandomResize"])
def test_transform_of_torchvision_after_size_transform_gets_a_list(name, v2, real_tv):
    """torch's pytree treats a subclass of list as a leaf: torchvision would not transform the images in it."""
    images = torch.from_numpy(noise((5, 3, 15, 17)))
    sample = {"image": real_tv.Image(images), "mask": real_tv.Mask(images[:, 0])}
    alone = T.Compose([transform(name)], seed=3)(sample, step=1)
    assert type(alone["image"]) is type(alone["mask"]) is list
    assert type(T.Compose([T.RandomApply([transform(name)])], seed=3)(images, step=1)) is list
    flipped = T.Compose([transform(name), v2.RandomHorizontalFlip(p=1.0)], seed=3)(sample, step=1)
    for result, expected in zip(flipped["image"], alone["image"], strict=True):
        assert isinstance(result, real_tv.Image)
        assert_equal(result.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor).flip(-1))


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_transform_to_one_size_after_a_function_returns_a_batch(p):
    """Also if a function before the transform was called with some of the samples only."""

    def look(images, labels):
        assert type(images) is list
        return images, labels

    aug = T.Compose([T.RandomResize(4, 9), T.RandomApply([look], p=p), look, T.Resize((5, 6))], seed=2)
    images, labels = torch.from_numpy(noise((5, 3, 15, 17))), torch.arange(5)
    result, result_labels = aug(images, labels=labels, step=3)
    expected = T.Compose([T.RandomResize(4, 9), T.Resize((5, 6))], seed=2)(images, step=3)
    assert_equal(result, expected)
    assert_equal(result_labels, labels)


def test_choice_of_size_transform_leaves_one_image_an_image():
    assert T.RandomApply([T.RandomResize(4, 5)], p=1.0)(noise((15, 17, 3))).shape == (4, 4, 3)


@pytest.mark.parametrize("step", range(3))
@pytest.mark.parametrize("single", [False, True], ids=["batch", "image"])
def test_choice_of_size_transform_always_says_which_boxes_are_valid(single, step):
    sample = {"image": noise((4, 15, 17, 3)), "boxes": np.tile([[2.0, 1, 8, 7]], (4, 1, 1))}
    if single:
        sample = {key: value[0] for key, value in sample.items()}
    result = T.Compose([T.RandomApply([T.RandomZoomOut(p=1.0)])], seed=1)(sample, step=step)
    assert np.asarray(result["valid"]).all()


def test_transform_after_size_transform_reads_the_layout_of_each_image(real_tv):
    images = noise((2, 15, 17, 3))
    recipe = T.Compose([T.RandomResize(4, 9), T.ToImage()], seed=1)
    result = recipe(images, layout="NHWC", step=0)
    expected = T.Compose([T.RandomResize(4, 9)], seed=1)(images, step=0)
    for image, pixels in zip(result, expected, strict=True):
        assert isinstance(image, real_tv.Image)
        assert_equal(image.as_subclass(torch.Tensor), torch.from_numpy(pixels).permute(2, 0, 1))


@pytest.mark.parametrize("refused", [T.RandomIoUCrop(), T.PadBatch((4, 9))], ids=["RandomIoUCrop", "PadBatch"])
def test_size_transform_that_is_refused_does_not_count_a_step(refused):
    recipe = T.Compose([refused], seed=1)
    with pytest.raises((TypeError, ValueError)):
        recipe(noise((15, 17, 3)))
    assert recipe.state_dict()["step"] == 0
