"""Masks, boxes, keypoints and labels follow the images of a `Compose`."""

import numpy as np
import pytest
import torch
from helpers.arrays import MASK_DTYPES, Exporter, every_backend, images, noise, put, seeded
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.mask_recipes import CROPS, MASK_RECIPES, SHAPE, random_masks, recipe

from cuaug import transforms as T
from cuaug._fusion import launch_plan, recipe_ops
from cuaug.transforms import transform

FLOAT64 = Tolerance(1e-9, 1e-9, reason="float64 against float64 in another order")
every_mask_recipe = pytest.mark.parametrize("name", MASK_RECIPES)


@every_backend
@every_mask_recipe
def test_compose_masks_move_as_label_images(backend, name):
    """A mask moves like an image of the same labels in a recipe with nearest interpolation."""
    make, nearest_transforms = MASK_RECIPES[name]
    _, moved = recipe(name)(images(backend, shape=SHAPE), put(random_masks(), backend), step=2)
    as_images = T.Compose(make("nearest") if nearest_transforms is None else nearest_transforms, seed=7)
    planes = put(random_masks()[..., None] if backend[0] != "torch" else random_masks()[:, None], backend)
    expected = as_images(planes, step=2)
    assert_equal(moved, expected[..., 0] if backend[0] != "torch" else expected[:, 0])


@pytest.mark.parametrize("name", ["rotated", "perspective", "resized", "antialiased"])
def test_compose_masks_follow_matrices(name):
    """Against float64 NumPy: the inverse matrix maps a result pixel to the nearest pixel of the mask; 0 outside."""
    aug, batch, masks = recipe(name), noise(SHAPE), random_masks("int64")
    params = aug.draw(batch, step=2)
    _, moved = aug(batch, masks, step=2)
    compared = 0
    for sample in range(5):
        height, width = params.result_size
        x, y = np.meshgrid(np.arange(width), np.arange(height))
        source = np.linalg.inv(params.matrices[sample]) @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
        source = source[:2] / source[2]
        tie = (np.abs(source - np.floor(source) - 0.5) < 1e-4).any(0).reshape(height, width)
        across, down = np.rint(source).astype(int)
        inside = (across >= 0) & (across < 17) & (down >= 0) & (down < 23)
        expected = np.where(inside, masks[sample, down.clip(0, 22), across.clip(0, 16)], 0).reshape(height, width)
        assert_equal(np.where(tie, 0, moved[sample]), np.where(tie, 0, expected))
        compared += (~tie).sum()
    assert compared > 0.8 * moved.size


@pytest.mark.parametrize("dtype", MASK_DTYPES)
def test_compose_masks_of_every_dtype_move(dtype):
    masks = random_masks(dtype)
    aug = T.Compose([T.RandomCrop((15, 12)), T.RandomHorizontalFlip()], seed=1)
    params = aug.draw(noise(SHAPE), step=0)
    _, moved = aug(noise(SHAPE), masks, step=0)
    assert moved.dtype == masks.dtype
    for i in range(5):
        top, left = (int(params[f"0.RandomCrop.{name}"][i]) for name in ("top", "left"))
        expected = masks[i, top : top + 15, left : left + 12]
        assert_equal(moved[i], expected[:, ::-1] if params["1.RandomHorizontalFlip.flip"][i] else expected)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_compose_several_masks_per_sample_equal_single_masks(library):
    backend = (library, "cpu")
    masks = noise((5, 23, 17, 4), seed=3)
    aug, batch = recipe("rotated"), images(backend, shape=SHAPE)
    expected = np.stack([to_numpy(aug(batch, put(masks[..., k], backend), step=2)[1]) for k in range(4)], -1)
    last = aug(batch, put(masks, backend), step=2)[1]
    first = aug(batch, put(np.moveaxis(masks, -1, 1), backend), step=2)[1]
    assert_equal(to_numpy(last), expected)
    assert_equal(to_numpy(first), np.moveaxis(expected, -1, 1))
    listed = aug(batch, [put(masks[i, ..., : i + 1], backend) for i in range(5)], step=2)[1]
    for i, sample_masks in enumerate(listed):
        assert_equal(to_numpy(sample_masks), expected[i, ..., : i + 1])


MASK_FORMS = {
    "batch": lambda stacks: stacks[..., 0],
    "stacks": lambda stacks: stacks,
    "view of stacks": lambda stacks: stacks[..., 1],
    "stacks of several lengths": lambda stacks: [stack[..., : i % 3 + 1] for i, stack in enumerate(stacks)],
}


@every_backend
@every_mask_recipe
@pytest.mark.parametrize("form", MASK_FORMS)
def test_compose_masks_of_later_calls_equal_those_of_passes(backend, name, form, monkeypatch):
    aug = recipe(name)
    for step in range(3):  # the second call of a CPU records the loops, the third one replays them
        batch = images(backend, shape=SHAPE, seed=step)
        masks = MASK_FORMS[form](put(noise((*SHAPE[:-1], 3), "int32", seed=step), backend))
        moved = aug(batch, masks, step=step)[1]
        with monkeypatch.context() as patched:
            patched.setattr(launch_plan, "_launch_plan", lambda *arguments, **options: None)
            expected = aug(batch, masks, step=step)[1]
        pairs = zip(moved, expected, strict=True) if isinstance(moved, list) else [(moved, expected)]
        for result, other in pairs:
            assert_equal(result, other)


@every_backend
@pytest.mark.parametrize("transform", [T.RandomCrop((24, 24)), T.Resize((8, 8))], ids=["cropped", "resized"])
def test_compose_noise_before_mean_differs_between_frames(transform, backend):
    """The noise runs in the pass that sums the mean for ColorJitter, and draws for each frame there too."""
    grey = put(np.full((2, 4, 32, 32, 3), 128, np.uint8), backend)
    aug = T.Compose([transform, T.GaussianNoise(sigma=0.1), T.ColorJitter(contrast=(0.999, 0.9991))], seed=1)
    result = to_numpy(aug(grey, layout="NTHWC", step=0)).astype(int)
    frames = result.reshape(8, -1)
    assert np.abs(frames - 128).max() > 5
    assert all(np.any(frames[i] != frames[j]) for i in range(8) for j in range(i))


def test_compose_video_masks_follow_frames():
    video, masks = np.moveaxis(noise((2, 3, 23, 17, 3)), -1, 2), noise((2, 3, 23, 17), seed=1)
    aug = recipe("crops")
    _, moved = aug(video, masks, step=1, layout="NTCHW")
    frames = [aug(np.moveaxis(video[:, t], 1, -1), masks[:, t], step=1)[1] for t in range(3)]
    assert_equal(moved, np.stack(frames, 1))


@pytest.mark.parametrize(
    ("library", "layout", "shape"),
    [
        ("numpy", None, (8, 9, 8, 3)),
        ("numpy", "NCHW", (8, 3, 9, 8)),
        ("torch", None, (3, 3, 9, 8)),
        ("torch", "NHWC", (8, 9, 8, 3)),
    ],
)
def test_compose_labels_of_any_number_of_classes_are_no_mask(library, layout, shape):
    """Also of as many classes as the images have channels, rows or columns."""
    batch, aug = put(np.zeros(shape, np.uint8), (library, "cpu")), T.Compose([T.RandomHorizontalFlip(1.0)])
    for classes in (*shape[1:], 4):
        labels = put(np.eye(shape[0], classes), (library, "cpu"))
        _, result = aug(batch, labels, layout=layout)
        assert_equal(to_numpy(result), to_numpy(labels))
    one_mask = put(np.zeros((9, 8)), (library, "cpu"))
    with pytest.raises(ValueError, match=r"masks (must be one mask|at .* must hold)"):
        aug(put(np.zeros((9, *shape[1:]), np.uint8), (library, "cpu")), one_mask, layout=layout)


@pytest.mark.parametrize(
    ("masks", "error", "message"),
    [
        (noise((5, 23, 16)), ValueError, r"masks must be one mask.*\(23, 17\), got shape \(5, 23, 16\)"),
        (noise((5, 17, 23, 3)), ValueError, r"got shape \(5, 17, 23, 3\)"),
        (noise((4, 23, 17)), ValueError, "masks at .* must hold 5 entries"),
        (np.zeros((5, 23, 17), complex), TypeError, "complex128"),
        ("masks", TypeError, "masks must be an array, or a list of arrays, got str"),
    ],
)
def test_compose_rejects_unfit_masks(masks, error, message):
    with pytest.raises(error, match=rf"cuaug.transforms.Compose: .*({message})"):
        recipe("crops")(noise(SHAPE), masks)


@every_backend
def test_compose_boxes_and_keypoints_follow_matrices(backend):
    batch = images(backend, shape=SHAPE)
    edges = seeded("boxes").uniform(0, (10, 12, 10, 12), (5, 3, 4)).astype(np.float32)
    edges[..., 2:] += edges[..., :2] + 1
    points = seeded("points").uniform(0, 17, (5, 4, 2)).astype(np.float32)
    aug = T.Compose([T.RandomAffine(30, (0.1, 0.1), (0.8, 1.2)), *CROPS], seed=5)
    M = to_numpy(aug.draw(batch, step=2).matrices).astype(float)
    _, boxes, moved = aug(batch, boxes=put(edges, backend), keypoints=put(points, backend), step=2)
    homogeneous = np.concatenate([points, np.ones((5, 4, 1))], -1) @ np.swapaxes(M, 1, 2)
    near = Tolerance(2e-3, 1e-5, reason="coordinates and matrices in float32")
    assert_equal(to_numpy(moved).astype(float), homogeneous[..., :2] / homogeneous[..., 2:], tolerance=near)
    corners = edges[..., [0, 1, 2, 1, 2, 3, 0, 3]].reshape(5, 12, 2) - 0.5
    corners = (np.concatenate([corners, np.ones((5, 12, 1))], -1) @ np.swapaxes(M, 1, 2))[..., :2].reshape(5, 3, 4, 2)
    low, high = corners.min(2) + 0.5, corners.max(2) + 0.5
    limit = np.array([12, 15])
    expected = np.concatenate([low.clip(0, limit), high.clip(0, limit)], -1)
    assert_equal(to_numpy(boxes).astype(float), expected, tolerance=near)


def test_compose_keypoint_stays_on_its_pixel():
    batch = np.zeros((40, 23, 17, 1), np.uint8)
    pixels = seeded("places").integers(0, (17, 23), (40, 1, 2))
    batch[np.arange(40), pixels[:, 0, 1], pixels[:, 0, 0]] = 255
    moved, points = T.Compose(CROPS, seed=3)(batch, keypoints=pixels.astype(float))
    visible = moved.reshape(40, -1).max(1) > 0
    assert 5 < visible.sum() < 40
    down, across = np.unravel_index(moved.reshape(40, -1).argmax(1), (15, 12))
    assert_equal(points[visible, 0], np.stack([across, down], -1)[visible].astype(float), tolerance=FLOAT64)


def test_compose_box_and_keypoint_options_apply():
    batch, boxes = noise((2, 20, 30, 3)), np.array([[[0.0, 0, 10, 10]], [[25, 15, 5, 5]]])
    aug = T.Compose([T.CenterCrop((10, 10))], boxes=T.Boxes("XYWH", compact=True))
    _, compacted, classes = aug(batch, boxes=boxes, labels=np.array([[3], [4]]))
    assert [sample.tolist() for sample in compacted] == [[], []]
    assert [sample.tolist() for sample in classes] == [[], []]
    flip = T.Compose([T.RandomHorizontalFlip(1.0)], keypoints=T.Keypoints(flip_pairs=[(0, 1)]))
    _, points = flip(batch[:1], keypoints=np.array([[[1.0, 2.0], [5.0, 6.0]]]))
    assert points.tolist() == [[[24.0, 6.0], [28.0, 2.0]]]
    _, with_valid = T.Compose([T.CenterCrop((10, 10))])(
        batch, boxes={"boxes": np.array([[[12.0, 8, 18, 12]], [[0, 0, 5, 5]]])}
    )
    assert with_valid["valid"].tolist() == [[True], [False]]
    assert with_valid["boxes"][0].tolist() == [[2.0, 3.0, 8.0, 7.0]]


class Mixes(transform.Transform):
    """Mixes each sample with the one before, by a drawn share."""

    def write(self, recipe):
        partner, lam = recipe.constant("partner", -1.0), recipe.uniform("lam", 0.2, 0.8, 1.0)
        recipe.add(recipe_ops.Mix("Mixup", self.title, [partner, lam], lam, classes=4))


@every_backend
def test_compose_labels_are_mixed_with_samples(backend):
    batch, classes = images(backend, shape=SHAPE), np.array([0, 3, 1, 2, 2])
    aug = T.Compose([T.RandomHorizontalFlip(), Mixes()], seed=1)
    lam = to_numpy(aug.draw(batch, step=0)["1.Mixes.lam"]).astype(float)[:, None]
    mixed, shares = aug(batch, labels=put(classes.astype(np.int32), backend), step=0)
    one_hot = np.eye(4)[classes]
    expected = lam * one_hot + (1 - lam) * np.roll(one_hot, 1, 0)
    assert_equal(to_numpy(shares), expected.astype(np.float32), tolerance=Tolerance(1e-6, reason="float32"))
    assert_equal(mixed, aug(batch, step=0))
    from_one_hot = aug(batch, labels=put(one_hot.astype(np.float32), backend), step=0)[1]
    assert_equal(to_numpy(from_one_hot), to_numpy(shares), tolerance=EXACT)


@every_backend
def test_compose_mixes_labels_in_lists_as_arrays(backend):
    """Numbers, and arrays without axes as a Dataset yields them."""
    batch, aug = images(backend, "float32"), T.Compose([T.MixUp(num_classes=4)], seed=1)
    classes = [3, 1, 0, 2, 2][: len(batch)]
    labels = put(np.array(classes), backend)
    expected = to_numpy(aug(batch, labels=labels, step=2)[1])
    assert_equal(to_numpy(aug(batch, labels=classes, step=2)[1]), expected)
    samples = aug([(batch[i], labels[i]) for i in range(len(batch))], step=2)
    assert_equal(np.stack([to_numpy(label) for _, label in samples]), expected)
    alone = aug({"image": batch[0], "label": labels[0]}, step=2)["label"]
    assert_equal(to_numpy(alone), np.float32([0, 0, 0, 1]))


@pytest.mark.parametrize("mix", [T.MixUp, T.CutMix])
def test_compose_mixing_with_num_classes_rejects_samples_without_labels(mix):
    """Labels under an unknown key stay as they are, and would not fit the mixed images."""
    batch, classes = torch.from_numpy(noise((4, 3, 8, 9))), torch.arange(4)
    recipe = T.Compose([T.RandomHorizontalFlip(), mix(num_classes=5)], seed=1)
    message = rf"^cuaug.transforms.Compose: labels must be given .* \({mix.__name__}\) with num_classes=5, found none"
    for sample in ({"image": batch, "target": classes}, {"image": batch}, (batch, None), [{"image": batch[0]}] * 2):
        with pytest.raises(ValueError, match=message):
            recipe(sample)
    assert recipe(batch).shape == batch.shape  # `mixed_labels` gives the labels of this draw
    assert mix()({"image": batch, "target": classes})["target"] is classes


@pytest.mark.parametrize("kind", ["masks", "boxes", "keypoints"])
def test_compose_mixing_rejects_masks_boxes_keypoints(kind):
    value = {"masks": random_masks(), "boxes": np.ones((5, 1, 4)), "keypoints": np.ones((5, 1, 2))}[kind]
    for mix, name in ((Mixes(), "Mixes"), (T.MixUp(), "MixUp"), (T.CutMix(), "CutMix")):
        message = rf"^cuaug.transforms.Compose: {kind} must not be given where samples are mixed \({name}\)"
        with pytest.raises(ValueError, match=message):
            T.Compose([mix])(noise(SHAPE), **{kind: value})
    with pytest.raises(ValueError, match="images must form one batch where samples are mixed"):
        T.Compose([Mixes()])([noise((23, 17, 3)), noise((23, 18, 3))])


@pytest.mark.parametrize("name", ["int8", "uint32", "uint64", "complex64"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_compose_names_masks_of_another_dtype(library, name):
    images, masks = noise((2, 8, 9, 3)), np.zeros((2, 8, 9), name)
    if library == "torch":
        images, masks = torch.from_numpy(images.transpose(0, 3, 1, 2).copy()), torch.from_numpy(masks)
    message = rf"RandomHorizontalFlip: masks must be one of bool, .*, got {name}: convert them to int32 or int64$"
    with pytest.raises(TypeError, match=message):
        T.RandomHorizontalFlip()(images, masks)


def test_compose_names_masks_of_images_of_several_sizes():
    images = [noise((8, 9, 3)), noise((7, 9, 3))]
    message = r"masks must be a list with an array per sample, as the images have several sizes, got one .* \(2, 8, 9\)"
    with pytest.raises(ValueError, match=message):
        T.RandomHorizontalFlip()(images, np.zeros((2, 8, 9), np.uint8))


@pytest.mark.parametrize(
    "sample_of",
    [
        lambda array: {"image": array, "masks": array[..., 0]},
        lambda array: [array, array[:3]],
        lambda array: (array, 1),
        lambda array: [{"image": array}, {"image": array[:, :4]}],
    ],
    ids=["dict", "list", "pair", "dicts"],
)
@pytest.mark.parametrize("others", [[], [lambda sample: sample]], ids=["one", "parts"])
def test_compose_reads_dlpack_objects_in_samples(sample_of, others):
    """Under names of targets and by position they become arrays of NumPy; under other names they stay."""
    recipe, array = T.Compose([T.RandomHorizontalFlip(p=1.0), *others]), noise((9, 11, 3))
    result = recipe(map_arrays(Exporter, sample_of(array)))
    assert map_arrays(np.ndarray.tolist, result) == map_arrays(np.ndarray.tolist, recipe(sample_of(array)))
    other = Exporter(array)
    assert recipe({"image": Exporter(array), "raw": other})["raw"] is other


def map_arrays(function, sample):
    if isinstance(sample, dict):
        return {key: map_arrays(function, value) for key, value in sample.items()}
    if isinstance(sample, (list, tuple)):
        return type(sample)(map_arrays(function, entry) for entry in sample)
    return function(sample) if isinstance(sample, np.ndarray) else sample
