"""What a user sees of `Compose`. Oracles: NumPy's slices, float64 NumPy, functions of cuaug on their own oracles."""

import copy
import doctest
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.arrays import HOMES, MASK_DTYPES, home_id, images, noise, put, seeded
from helpers.child_process import python
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from tables import warp_reference as reference

import cuaug
from cuaug import transforms as T
from cuaug._fusion import recipe_ops
from cuaug.transforms import compose
from cuaug.transforms import transform as _transform

every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
SHARES = np.zeros((5, 7))  # of classes
SHAPE = (5, 23, 17, 3)
FLOAT64 = Tolerance(1e-9, 1e-9, reason="float64 against float64 in another order")
FLOAT32 = Tolerance(1e-4, 1e-5, reason="JAX keeps matrices in float32")
CROPS = [T.RandomCrop((15, 12), padding=2), T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
# Each with the recipe by which its images move as its masks do: nearest, 0 outside, no colours.
MOVES = {
    "crops": (lambda how: [*CROPS], CROPS),
    "nothing": (lambda how: [], []),
    "colours": (lambda how: [T.ColorJitter(0.4, 0.4, 0.4, 0.1)], []),
    "resized": (lambda how: [T.RandomResizedCrop((13, 14), interpolation=how, antialias=False)], None),
    "antialiased": (lambda how: [T.RandomResizedCrop((13, 14), interpolation=how), T.RandomHorizontalFlip()], None),
    "turned": (lambda how: [T.RandomRotation(50, how), T.RandomHorizontalFlip()], None),
    "crop turned": (lambda how: [T.RandomCrop((15, 12)), T.RandomRotation(50, how)], None),
    "perspective": (lambda how: [T.RandomPerspective(0.5, 1.0, how)], None),
    "two passes": (
        lambda how: [
            T.RandomRotation(50, how),
            T.RandomCrop((9, 8)),
            T.RandomAffine(20, (0.1, 0.2), interpolation=how),
        ],
        None,
    ),
    "displaced": (lambda how: [T.RandomVerticalFlip(), T.ElasticTransform(250.0, 3.0, how)], None),
    "edges": (lambda how: [T.Pad(3, padding_mode="reflect"), T.RandomCrop((24, 20)), T.RandomRotation(9, how)], None),
}
every_move = pytest.mark.parametrize("name", MOVES)


def recipe(name, seed=7, how="bilinear", **options):
    return T.Compose(MOVES[name][0](how), seed=seed, **options)


def labels(dtype="uint8", shape=SHAPE[:3], seed=0):
    return noise(shape, dtype, seed)


# The call: what comes back, and in what.


@every_home
def test_compose_returns_array_or_tuple_in_signature_order(home):
    batch, classes = images(home, shape=SHAPE), put(np.arange(5, dtype=np.int32), home)
    masks = put(labels(), home)
    boxes, points = (put(np.full((5, 2, n), 4, np.float32), home) for n in (4, 2))
    aug = recipe("crops")
    alone = aug(batch, step=3)
    both = aug(batch, masks=masks, labels=classes, step=3)
    everything = aug(batch, masks, boxes, points, classes, step=3)
    assert type(alone) is type(batch)
    assert [type(result) for result in both] == [type(batch)] * 3
    assert [tuple(result.shape) for result in everything[1:]] == [(5, 15, 12), (5, 2, 4), (5, 2, 2), (5,)]
    for result in (both, everything):
        assert isinstance(result, tuple)
        assert_equal(result[0], alone, device=home[1])
    assert both[2] is classes
    assert_equal(both[1], everything[1], device=home[1])


@every_home
def test_compose_returns_sample_in_its_structure(home):
    batch, masks = images(home, shape=SHAPE), put(labels(), home)
    aug, given = recipe("turned"), {"image": batch, "extra": ["kept"], "more": {"mask": masks}}
    result = aug(given, step=1)
    own, moved = aug(batch, masks, step=1)
    assert list(result) == list(given)
    assert result["extra"] is given["extra"]
    assert_equal(result["image"], own, device=home[1])
    assert_equal(result["more"]["mask"], moved, device=home[1])
    pair = aug((batch, "label"), step=1)
    assert isinstance(pair, tuple)
    assert pair[1] == "label"
    assert_equal(pair[0], own, device=home[1])


def test_compose_samples_equal_batch():
    batch, masks = noise(SHAPE), labels()
    boxes = [np.full((n, 4), (2, 2, 9, 9), np.float32) for n in range(5)]
    aug = recipe("turned")
    own, moved = aug(batch, masks, step=1)
    given = [{"image": batch[i], "mask": masks[i], "boxes": boxes[i]} for i in range(5)]
    listed = aug(given, step=1)
    for i, sample in enumerate(listed):
        assert_equal(sample["image"], own[i])
        assert_equal(sample["mask"], moved[i])
        assert sample["boxes"].shape == (i, 4)
        single = aug(given[i], step=1, ids=i)
        assert_equal(single["image"], own[i])
        assert_equal(single["mask"], moved[i])
        assert_equal(single["boxes"], sample["boxes"])


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_compose_ragged_draws_by_position(library):
    sizes = [(23, 17), (30, 18), (23, 17)]
    batch = [images((library, "cpu"), shape=(1, *size, 3), seed=i)[0] for i, size in enumerate(sizes)]
    masks = [put(labels(shape=size, seed=i), (library, "cpu")) for i, size in enumerate(sizes)]
    points = [put(np.array([[3.0, 4.0]]), (library, "cpu")) for _ in sizes]
    aug = recipe("crops", seed=2)
    result = aug(batch, masks, keypoints=points, step=4, ids=np.array([8, 3, 5]))
    assert [type(part) for part in result] == [list] * 3
    for i, number in enumerate((8, 3, 5)):
        one, mask, point = aug(batch[i], masks[i], keypoints=points[i], step=4, ids=number)
        assert_equal(result[0][i], one)
        assert_equal(result[1][i], mask)
        assert_equal(result[2][i], point)


def test_compose_shared_draws_need_one_size():
    left, right = noise(SHAPE, seed=1), noise((*SHAPE[:3], 1), "float32", seed=2)
    aug = recipe("crops")
    result = aug({"left": {"image": left}, "right": {"image": right}}, step=1)
    assert_equal(result["left"]["image"], aug(left, step=1))
    assert_equal(result["right"]["image"], aug(right, step=1))
    with pytest.raises(ValueError, match=r"cuaug.Compose: images of one sample must have one size, got \(23, 17\)"):
        aug({"left": {"image": left}, "right": {"image": right[:, :-1]}})


def test_compose_step_counts_calls():
    aug, batch = recipe("crops"), noise(SHAPE)
    aug(batch)
    aug(batch, labels())
    aug({"image": list(batch), "other": 1})
    aug(batch, step=9)
    assert aug.state_dict() == {"seed": 7, "step": 3}


# Masks.


@every_home
@every_move
def test_compose_masks_move_as_label_images(home, name):
    """The same recipe with nearest interpolation, on labels as if they were images."""
    make, still = MOVES[name]
    _, moved = recipe(name)(images(home, shape=SHAPE), put(labels(), home), step=2)
    as_images = T.Compose(make("nearest") if still is None else still, seed=7)
    planes = put(labels()[..., None] if home[0] != "torch" else labels()[:, None], home)
    expected = as_images(planes, step=2)
    assert_equal(moved, expected[..., 0] if home[0] != "torch" else expected[:, 0], device=home[1])


@pytest.mark.parametrize("name", ["turned", "perspective", "resized", "antialiased"])
def test_compose_masks_follow_matrices(name):
    """float64 NumPy: the pixel under the centre that the inverse matrix leads to, and 0 outside."""
    aug, batch, masks = recipe(name), noise(SHAPE), labels("int64")
    params = aug.draw(batch, step=2)
    _, moved = aug(batch, masks, step=2)
    compared = 0
    for sample in range(5):
        height, width = params.result_size
        x, y = np.meshgrid(np.arange(width), np.arange(height))
        at = np.linalg.inv(params.matrices[sample]) @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
        at = at[:2] / at[2]
        tie = (np.abs(at - np.floor(at) - 0.5) < 1e-4).any(0).reshape(height, width)
        across, down = np.rint(at).astype(int)
        inside = (across >= 0) & (across < 17) & (down >= 0) & (down < 23)
        expected = np.where(inside, masks[sample, down.clip(0, 22), across.clip(0, 16)], 0).reshape(height, width)
        assert_equal(np.where(tie, 0, moved[sample]), np.where(tie, 0, expected))
        compared += (~tie).sum()
    assert compared > 0.8 * moved.size


@pytest.mark.parametrize("dtype", MASK_DTYPES)
def test_compose_masks_of_every_dtype(dtype):
    masks = labels(dtype)
    aug = T.Compose([T.RandomCrop((15, 12)), T.RandomHorizontalFlip()], seed=1)
    params = aug.draw(noise(SHAPE), step=0)
    _, moved = aug(noise(SHAPE), masks, step=0)
    assert moved.dtype == masks.dtype
    for i in range(5):
        top, left = (int(params[f"0.RandomCrop.{name}"][i]) for name in ("top", "left"))
        expected = masks[i, top : top + 15, left : left + 12]
        assert_equal(moved[i], expected[:, ::-1] if params["1.RandomHorizontalFlip.flip"][i] else expected)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_compose_several_masks_per_sample(library):
    home = (library, "cpu")
    masks = noise((5, 23, 17, 4), seed=3)
    aug, batch = recipe("turned"), images(home, shape=SHAPE)
    expected = np.stack([to_numpy(aug(batch, put(masks[..., k], home), step=2)[1]) for k in range(4)], -1)
    last = aug(batch, put(masks, home), step=2)[1]
    first = aug(batch, put(np.moveaxis(masks, -1, 1), home), step=2)[1]
    assert_equal(to_numpy(last), expected)
    assert_equal(to_numpy(first), np.moveaxis(expected, -1, 1))
    listed = aug(batch, [put(masks[i, ..., : i + 1], home) for i in range(5)], step=2)[1]
    for i, own in enumerate(listed):
        assert_equal(to_numpy(own), expected[i, ..., : i + 1])


@pytest.mark.parametrize("home", HOMES, ids=home_id)
@pytest.mark.parametrize("moved", [T.RandomCrop((24, 24)), T.Resize((8, 8))], ids=["cropped", "resized"])
def test_compose_noise_before_mean_differs_between_frames(moved, home):
    """What comes before the mean of a ColorJitter is stored by the pass that takes the mean."""
    grey = put(np.full((2, 4, 32, 32, 3), 128, np.uint8), home)
    aug = T.Compose([moved, T.GaussianNoise(sigma=0.1), T.ColorJitter(contrast=(0.999, 0.9991))], seed=1)
    made = to_numpy(aug(grey, layout="NTHWC", step=0)).astype(int)
    frames = made.reshape(8, -1)
    assert np.abs(frames - 128).max() > 5
    assert all(np.any(frames[i] != frames[j]) for i in range(8) for j in range(i))


def test_compose_video_masks_follow_frames():
    video, masks = np.moveaxis(noise((2, 3, 23, 17, 3)), -1, 2), noise((2, 3, 23, 17), seed=1)
    aug = recipe("crops")
    _, moved = aug(video, masks, step=1, layout="NTCHW")
    frames = [aug(np.moveaxis(video[:, t], 1, -1), masks[:, t], step=1)[1] for t in range(3)]
    assert_equal(moved, np.stack(frames, 1))


@pytest.mark.parametrize(
    ("masks", "error", "said"),
    [
        (noise((5, 23, 16)), ValueError, r"masks must be one mask.*\(23, 17\), got shape \(5, 23, 16\)"),
        (noise((5, 17, 23, 3)), ValueError, r"got shape \(5, 17, 23, 3\)"),
        (noise((4, 23, 17)), ValueError, "masks at .* must hold 5 entries"),
        (np.zeros((5, 23, 17), complex), TypeError, "complex128"),
        ("masks", TypeError, "masks must be an array, or a list of arrays, got str"),
    ],
)
def test_compose_rejects_unfit_masks(masks, error, said):
    with pytest.raises(error, match=rf"cuaug.Compose: .*({said})"):
        recipe("crops")(noise(SHAPE), masks)


# Boxes, keypoints, labels.


@every_home
def test_compose_boxes_and_keypoints_follow_matrices(home):
    batch = images(home, shape=SHAPE)
    edges = seeded("boxes").uniform(0, (10, 12, 10, 12), (5, 3, 4)).astype(np.float32)
    edges[..., 2:] += edges[..., :2] + 1
    points = seeded("points").uniform(0, 17, (5, 4, 2)).astype(np.float32)
    aug = T.Compose([T.RandomAffine(30, (0.1, 0.1), (0.8, 1.2)), *CROPS], seed=5)
    M = to_numpy(aug.draw(batch, step=2).matrices).astype(float)
    _, boxes, moved = aug(batch, boxes=put(edges, home), keypoints=put(points, home), step=2)
    homogeneous = np.concatenate([points, np.ones((5, 4, 1))], -1) @ np.swapaxes(M, 1, 2)
    near = Tolerance(2e-3, 1e-5, reason="coordinates in float32, of integers and of matrices")
    assert_equal(to_numpy(moved).astype(float), homogeneous[..., :2] / homogeneous[..., 2:], tolerance=near)
    corners = edges[..., [0, 1, 2, 1, 2, 3, 0, 3]].reshape(5, 12, 2) - 0.5
    corners = (np.concatenate([corners, np.ones((5, 12, 1))], -1) @ np.swapaxes(M, 1, 2))[..., :2].reshape(5, 3, 4, 2)
    low, high = corners.min(2) + 0.5, corners.max(2) + 0.5
    limit = np.array([12, 15])
    expected = np.concatenate([low.clip(0, limit), high.clip(0, limit)], -1)
    assert_equal(to_numpy(boxes).astype(float), expected, tolerance=near)


def test_compose_keypoint_stays_on_its_pixel():
    batch = np.zeros((40, 23, 17, 1), np.uint8)
    places = seeded("places").integers(0, (17, 23), (40, 1, 2))
    batch[np.arange(40), places[:, 0, 1], places[:, 0, 0]] = 255
    moved, points = T.Compose(CROPS, seed=3)(batch, keypoints=places.astype(float))
    seen = moved.reshape(40, -1).max(1) > 0
    assert 5 < seen.sum() < 40
    down, across = np.unravel_index(moved.reshape(40, -1).argmax(1), (15, 12))
    assert_equal(points[seen, 0], np.stack([across, down], -1)[seen].astype(float), tolerance=FLOAT64)


def test_compose_box_and_keypoint_options():
    batch, boxes = noise((2, 20, 30, 3)), np.array([[[0.0, 0, 10, 10]], [[25, 15, 5, 5]]])
    aug = T.Compose([T.CenterCrop((10, 10))], boxes=T.Boxes("XYWH", compact=True))
    _, kept, classes = aug(batch, boxes=boxes, labels=np.array([[3], [4]]))
    assert [own.tolist() for own in kept] == [[], []]
    assert [own.tolist() for own in classes] == [[], []]
    flip = T.Compose([T.RandomHorizontalFlip(1.0)], keypoints=T.Keypoints(flip_pairs=[(0, 1)]))
    _, points = flip(batch[:1], keypoints=np.array([[[1.0, 2.0], [5.0, 6.0]]]))
    assert points.tolist() == [[[24.0, 6.0], [28.0, 2.0]]]
    _, with_valid = T.Compose([T.CenterCrop((10, 10))])(
        batch, boxes={"boxes": np.array([[[12.0, 8, 18, 12]], [[0, 0, 5, 5]]])}
    )
    assert with_valid["valid"].tolist() == [[True], [False]]
    assert with_valid["boxes"][0].tolist() == [[2.0, 3.0, 8.0, 7.0]]


class Mixes(_transform.Transform):
    """Each sample with the one before, by a share that is drawn."""

    def write(self, recipe):
        partner, lam = recipe.constant("partner", -1.0), recipe.uniform("lam", 0.2, 0.8, 1.0)
        recipe.add(recipe_ops.Mix("Mixup", [partner, lam], lam, 4))


@every_home
def test_compose_labels_are_mixed_with_samples(home):
    batch, classes = images(home, shape=SHAPE), np.array([0, 3, 1, 2, 2])
    aug = T.Compose([T.RandomHorizontalFlip(), Mixes()], seed=1)
    lam = to_numpy(aug.draw(batch, step=0)["1.Mixes.lam"]).astype(float)[:, None]
    mixed, shares = aug(batch, labels=put(classes.astype(np.int32), home), step=0)
    own = np.eye(4)[classes]
    expected = lam * own + (1 - lam) * np.roll(own, 1, 0)
    assert_equal(to_numpy(shares), expected.astype(np.float32), tolerance=Tolerance(1e-6, reason="float32"))
    assert_equal(mixed, aug(batch, step=0), device=home[1])
    one_hot = aug(batch, labels=put(own.astype(np.float32), home), step=0)[1]
    assert_equal(to_numpy(one_hot), to_numpy(shares), tolerance=EXACT)


@pytest.mark.parametrize("kind", ["masks", "boxes", "keypoints"])
def test_compose_mixing_rejects_per_sample_targets(kind):
    value = {"masks": labels(), "boxes": np.ones((5, 1, 4)), "keypoints": np.ones((5, 1, 2))}[kind]
    with pytest.raises(ValueError, match=rf"cuaug.Compose: {kind} must not be given where samples are mixed \(Mixup\)"):
        T.Compose([Mixes()])(noise(SHAPE), **{kind: value})
    with pytest.raises(ValueError, match="images must have one shape where samples are mixed"):
        T.Compose([Mixes()])([noise((23, 17, 3)), noise((23, 18, 3))])


# The plan.


def test_compose_plan_counts_passes_launches_and_bytes():
    """README's test holds the text."""
    fused = [T.RandomResizedCrop(224, antialias=False), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.1)]
    aug = T.Compose([*fused, T.RandomGrayscale(), T.ToDtype("float16", scale=True), T.Normalize(0.5, 0.5)], seed=0)
    plan = aug.plan(size=(256, 256))
    assert [each.transforms for each in plan.passes] == [
        ("RandomResizedCrop", "RandomHorizontalFlip", "ColorJitter"),
        ("ColorJitter", "RandomGrayscale", "ToDtype", "Normalize"),
    ]
    assert plan.bytes_per_sample == 256 * 256 * 3 + 2 * 224 * 224 * 3 + 224 * 224 * 3 * 2
    assert (plan.launches, [each.means for each in plan.passes]) == (3, [0, 0])
    assert aug.state_dict()["step"] == 0
    batch = np.zeros((2, 256, 256, 3), np.uint8)
    assert str(aug.plan(batch)) == repr(plan) == str(aug.plan(torch.from_numpy(batch), layout="NHWC"))


CROP, JITTER = T.RandomResizedCrop(64, antialias=False), T.ColorJitter(0.4, 0.4, 0.4, 0.1)
BEFORE, AFTER = ["JitterBeforeMean"], ["JitterAfterMean"]


@pytest.mark.parametrize(
    ("transforms", "chains", "measured"),
    [
        ([CROP, JITTER, T.RandomGrayscale()], [BEFORE, [*AFTER, "RandomGrayscale"]], [0]),
        ([CROP, T.RandomInvert(), JITTER], [["Solarize", *BEFORE], AFTER], [0]),
        ([CROP, JITTER, JITTER], [BEFORE, [*AFTER, "ColorJitter"]], [0]),
        ([CROP, T.ToDtype("float32", True), JITTER], [[], ["Rescale", "ColorJitter"]], []),
        ([CROP, T.ToDtype("float32", True), T.ToDtype("uint8", True), JITTER], [["Rescale", *BEFORE], AFTER], [0]),
        ([JITTER], [["ColorJitter"]], []),
        ([JITTER, CROP, JITTER], [["ColorJitter"], BEFORE, AFTER], [1]),
        ([T.RandomResizedCrop(64), JITTER], [BEFORE, AFTER], [0]),
        ([T.RandomResizedCrop(40), JITTER], [[], BEFORE, AFTER], [1]),  # by a kernel of its own, as it may shrink more
        ([T.RandomResizedCrop(40), T.ToDtype("float32", True), JITTER], [[], ["Rescale", "ColorJitter"]], []),
        ([T.GaussianBlur(3), JITTER], [[], ["ColorJitter"]], []),
        ([CROP, T.ColorJitter(0.4, 0.4, contrast_about=99.0)], [["ColorJitter"]], []),
    ],
    ids=str,
)
def test_compose_pass_before_mean_does_what_precedes_it(transforms, chains, measured):
    batch = noise((2, 100, 90, 3))
    plan = T.Compose(transforms)._plans.plan(cuaug._arrays.images.describe_images(batch))
    assert [[op.op for op in each.chain] for each in plan.passes] == chains
    assert [i for i, each in enumerate(plan.passes) if each.mean_output] == measured
    for pass_ in plan.passes:
        indices = [column.index for column in pass_.chain_columns]
        assert indices == [indices[0] + i for i in range(len(indices))]
        if pass_.mean_from:
            assert pass_.mean_from.mean_output is pass_.chain[pass_.mean_ops[0]].mean
            assert pass_.input_dtype == pass_.mean_from.output_dtype


def test_compose_plan_splits_jitter_at_its_mean():
    """Where a pass before can take the mean, none is launched for it."""
    plan = T.Compose([T.RandomResizedCrop(40), JITTER, JITTER]).plan(size=(100, 90))
    crop, jitter = ("RandomResizedCrop",), ("ColorJitter",)
    assert [each.transforms for each in plan.passes] == [crop, jitter, jitter]
    assert [each.means for each in plan.passes] == [0, 0, 1]
    plan = T.Compose([CROP, T.ToDtype("float32", scale=True), JITTER]).plan(size=(100, 90))
    assert [each.transforms for each in plan.passes] == [crop, ("ToDtype", *jitter)]
    assert (plan.launches, [each.means for each in plan.passes]) == (4, [0, 1])


@every_home
def test_compose_second_argument_is_labels(home):
    batch, labels = images(home), put(np.array([0, 2, 1]), home)
    aug = T.CutMix(num_classes=3)
    made, shares = aug(batch, labels)
    again, expected = T.Compose([T.CutMix(num_classes=3)], seed=aug._own_recipe.seed)(batch, labels=labels)
    assert_equal(to_numpy(made), to_numpy(again))
    assert_equal(to_numpy(shares), to_numpy(expected))
    assert to_numpy(shares).shape == (3, 3)


def test_compose_plan_gives_each_pass_its_reason():
    """Five rules, each of which alone begins the pass that names it; without its cause the pass is not there."""
    turned, nearest = T.RandomRotation(9, "bilinear"), T.RandomRotation(9)
    reasons = {}
    for cause, transforms in {
        "neighbours": [T.RandomCrop(24), T.GaussianBlur(3)],
        "interpolation": [nearest, turned],
        "pixels": [T.RandomErasing(), T.RandomHorizontalFlip()],
        "displacement": [T.RandomHorizontalFlip(), T.ElasticTransform()],
        "branches": [T.RandomHorizontalFlip(), T.AugMix(chain_depth=1, mixture_width=1, all_ops=False)],
    }.items():
        plan = T.Compose(transforms, seed=0).plan(size=(32, 40))
        assert [len(T.Compose([one]).plan(size=(32, 40)).passes) for one in transforms[:1]] == [1]
        reasons[cause] = plan.passes[1].why
        assert reasons[cause] in str(plan)
        assert plan.passes[1].transforms == (type(transforms[1]).__name__,)
    assert all(cause in reason for cause, reason in reasons.items()), reasons
    assert len(set(reasons.values())) == 5
    assert len(T.Compose([T.RandomHorizontalFlip(), turned]).plan(size=(32, 40)).passes) == 1
    assert len(T.Compose([T.RandomHorizontalFlip(), T.RandomErasing()]).plan(size=(32, 40)).passes) == 1


def test_compose_plan_reaches_into_nested_recipes():
    transforms = [T.RandomCrop(24), T.GaussianBlur(3), T.RandomAffine(30), T.RandomRotation(9, "bilinear")]
    plan = T.Compose([T.Compose(transforms), T.RandomErasing(), T.RandomHorizontalFlip()], seed=0).plan(size=(32, 40))
    assert [each.transforms for each in plan.passes] == [
        ("RandomCrop",),
        ("GaussianBlur",),
        ("RandomAffine",),
        ("RandomRotation", "RandomErasing"),
        ("RandomHorizontalFlip",),
    ]
    assert plan.launches == 6


def test_elastic_transform_plan_reports_field():
    displaced = [T.RandomHorizontalFlip(), T.ElasticTransform(), T.RandomInvert(), T.ToDtype("float32", scale=True)]
    plan = T.Compose([*displaced, T.RandomRotation(9)], seed=0).plan(size=(100, 200))
    own = plan.passes[1]
    assert [each.transforms for each in plan.passes] == [
        ("RandomHorizontalFlip",),
        ("ElasticTransform", "RandomInvert", "ToDtype"),
        ("RandomRotation",),
    ]
    assert "displacement field" in own.why
    assert own.lines[0] == (
        "ElasticTransform: one resample, bilinear, by a field of noise, smoothed by 41 x 41 taps: "
        "2 launches, 0.64 MB a sample"
    )
    assert own.field == 100 * 200 * 2 * 4 * 4  # the noise is written and read, and so is what the Gaussian makes of it
    assert plan.launches == 1 + 2 + 3
    rough = T.Compose([T.ElasticTransform(sigma=0)]).plan(size=(100, 200))
    assert (rough.launches, rough.passes[0].field) == (3, 100 * 200 * 2 * 4 * 2)


def test_augmix_blends_branches_in_one_pass():
    aug = T.Compose([T.RandomHorizontalFlip(), T.AugMix(chain_depth=1, all_ops=False), T.Normalize(0.5, 0.5)], seed=0)
    plan = aug.plan(size=(100, 200))
    assert [each.why for each in plan.passes[1:]] == [
        "the branches start from the images at this point",
        "another branch starts from the images that the first one read",
        "another branch starts from the images that the first one read",
        "the results of the branches are blended",
    ]
    blend = plan.passes[4]
    assert blend.lines == ("AugMix: the image and 3 branches, in a sum that is rounded once", "Normalize")
    assert blend.read == 4 * 100 * 200 * 3 == blend.written
    assert plan.launches == 1 + 3 + 1  # levels are counted before the branches' passes, which go together


def test_compose_plan_needs_images_or_size():
    with pytest.raises(ValueError, match=r"cuaug.Compose.plan: images or size must be given"):
        T.Compose([]).plan()
    assert "float32 [8, 9, 1]" in str(T.Compose([]).plan(size=(8, 9), dtype="float32", channels=1))


# Back to the images.


@every_home
def test_compose_inverse_restores_crop(home):
    batch = noise(SHAPE)
    aug = T.Compose([T.RandomCrop((15, 12)), T.RandomHorizontalFlip(), T.RandomVerticalFlip()], seed=4)
    own = images(home, shape=SHAPE)
    params = aug.draw(own)
    back = aug.inverse(aug.apply(own, params), params, fill=9)
    expected = np.full_like(batch, 9)
    for i in range(5):
        top, left = (int(params[f"0.RandomCrop.{name}"][i]) for name in ("top", "left"))
        there = slice(top, top + 15), slice(left, left + 12)
        expected[i][there] = batch[i][there]
    assert_equal(to_numpy(back), np.moveaxis(expected, -1, 1) if home[0] == "torch" else expected)


@pytest.mark.parametrize("name", ["turned", "perspective", "two passes", "antialiased"])
@pytest.mark.parametrize("how", ["bilinear", "nearest"])
def test_compose_inverse_uses_inverse_matrices(name, how):
    """float64 NumPy, for heat maps: other channels and another dtype than the images'."""
    aug = recipe(name)
    params = aug.draw(noise(SHAPE))
    maps = noise((5, *params.result_size, 2), "float32", seed=8)
    back = aug.inverse(maps, params, interpolation=how, fill=0.5)
    assert back.shape == (5, 23, 17, 2)
    expected = np.stack(
        [
            reference.warp(maps[i].astype(float), M, (23, 17), inverse=True, interpolation=how, fill=0.5)
            for i, M in enumerate(params.matrices)
        ]
    )
    if how == "nearest":
        differing = (back != expected.astype(np.float32)).any(-1)
        assert differing.mean() < 0.005, "but for coordinates halfway between two pixels"
        back = np.where(differing[..., None], expected.astype(np.float32), back)
    near = Tolerance(1e-4, reason="the accuracy of every warp")
    assert_equal(back, expected.astype(np.float32), tolerance=near)


def test_compose_inverse_labels_are_nearest():
    aug, masks = recipe("turned"), labels("int64")
    params = aug.draw(noise(SHAPE))
    back = aug.inverse(masks[..., None], params, interpolation="nearest")
    assert back.dtype == np.int64
    assert np.isin(back, [0, *masks.ravel()]).all()


def test_compose_inverse_rejects_wrong_size():
    aug = recipe("crops")
    params = aug.draw(noise(SHAPE))
    with pytest.raises(
        ValueError, match=r"cuaug.Compose.inverse: images must be 5 of size \(15, 12\).* got 5 of \(23, 17\)"
    ):
        aug.inverse(noise(SHAPE), params)


# Written down and read again.

EVERYTHING = {
    "AugMix": T.AugMix(5, 2, 2, 0.5, False, "nearest", 3),
    "AutoAugment": T.AutoAugment("svhn", "bilinear", 3),
    "CutMix": T.CutMix(alpha=0.5, num_classes=4),
    "ElasticTransform": T.ElasticTransform((30.0, 40.0), (2.0, 3.0), "nearest", 7),
    "GaussianNoise": T.GaussianNoise(0.1, 0.2, False),
    "Grayscale": T.Grayscale(3),
    "Identity": T.Identity(),
    "MixUp": T.MixUp(alpha=0.3),
    "RandAugment": T.RandAugment(1, 5, 11, "bilinear", 2),
    "RandomAdjustSharpness": T.RandomAdjustSharpness(2.0, 0.4),
    "RandomApply": T.RandomApply([T.RandomInvert(), T.RandomHorizontalFlip()], 0.3),
    "RandomAutocontrast": T.RandomAutocontrast(0.4),
    "RandomChoice": T.RandomChoice([T.RandomInvert(), T.RandomVerticalFlip()], [1, 2]),
    "RandomEqualize": T.RandomEqualize(0.4),
    "RandomMask": T.RandomMask(0.9, "grid", 0.3, 4, 7),
    "RandomOrder": T.RandomOrder([T.RandomInvert(1.0), T.RandomSolarize(99, 1.0)]),
    "TrivialAugmentWide": T.TrivialAugmentWide(11, "bilinear", 2),
    "Boxes": T.Boxes("XYWH", 2.0, 0.5),
    "CenterCrop": T.CenterCrop((9, 8)),
    "ColorJitter": T.ColorJitter(0.4, (0.5, 1.5), None, 0.1, contrast_about=100),
    "Compose": T.Compose(CROPS, seed=3, boxes=T.Boxes("CXCYWH"), keypoints=T.Keypoints([(0, 1)])),
    "GaussianBlur": T.GaussianBlur((3, 5), (0.2, 1.0)),
    "Keypoints": T.Keypoints([(0, 1), (2, 3)], hide_outside=False),
    "Normalize": T.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7)),
    "PixelOp": T.PixelOp("Vignette", "px * (1 - k * r2) + b", k=(0, 0.5), b=0.1),
    "Pad": T.Pad([1, 2], 7, "edge"),
    "RandomAffine": T.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), (1, 2, 3, 4), "bilinear", [1, 2, 3], (4, 5)),
    "RandomCrop": T.RandomCrop(9, (1, 2), True, 3, "reflect"),
    "RandomErasing": T.RandomErasing(0.7, (0.1, 0.2), (0.5, 2.0), (1, 2, 3)),
    "RandomGrayscale": T.RandomGrayscale(0.5),
    "RandomHorizontalFlip": T.RandomHorizontalFlip(0.3),
    "RandomInvert": T.RandomInvert(0.4),
    "RandomPerspective": T.RandomPerspective(0.4, 0.9, "nearest", 3),
    "RandomPosterize": T.RandomPosterize(3),
    "RandomResizedCrop": T.RandomResizedCrop((9, 8), (0.2, 0.9), (0.5, 2.0), "bicubic"),
    "RandomRotation": T.RandomRotation((10, 30), "bilinear", False, (3, 4), 2),
    "RandomSolarize": T.RandomSolarize(100),
    "RandomVerticalFlip": T.RandomVerticalFlip(0.3),
    "Resize": T.Resize(10, max_size=20),
    "ToDtype": T.ToDtype(torch.float16, scale=True),
}


def test_to_dict_covers_every_class():
    classes = {name for name in T.__all__ if isinstance(getattr(T, name), type)}
    assert set(EVERYTHING) == classes - {"Params"}


@pytest.mark.parametrize("name", EVERYTHING)
def test_from_dict_restores_class_and_draws(name):
    own = EVERYTHING[name]
    if not isinstance(own, _transform.Transform):
        described = T.Compose([], **{name.lower(): own}).to_dict()[name.lower()]
        assert T.from_dict(json.loads(json.dumps(described))) == own
        return
    described = own.to_dict()
    made = T.from_dict(json.loads(json.dumps(described)))
    assert type(made) is type(own)
    assert made.to_dict() == described
    assert repr(made).replace("[", "(").replace("]", ")") == repr(own).replace("[", "(").replace("]", ")")
    results = [T.Compose([transform], seed=5)(noise(SHAPE), step=2) for transform in (own, made)]
    assert_equal(*results)


def test_from_dict_rejects_unknown_names():
    for name in ("Nothing", "annotations", "from_dict", None):
        with pytest.raises(ValueError, match=r"cuaug.from_dict: name must be that of a transform"):
            T.from_dict({"name": name})


class TwoOfAName(_transform.Transform):
    """Two draws that have one name."""

    def write(self, recipe):
        for _ in range(2):
            recipe.add_pointwise("RandomGrayscale", [recipe.bernoulli("grey", 0.4)])


def all_kinds(seed=6):
    padded = T.RandomCrop((20, 30), padding=1, pad_if_needed=True)  # which pads twice
    heads = [
        padded,
        T.RandomResizedCrop((16, 18)),
        T.RandomHorizontalFlip(),
        T.GaussianBlur(3),
        T.RandomPerspective(p=1.0),
    ]
    return T.Compose(
        [*heads, T.ColorJitter(0.4, 0.4, 0.4, 0.1), TwoOfAName(), T.RandomErasing(), T.Normalize(0.5, 0.5)], seed=seed
    )


@every_home
def test_params_from_dict_give_the_same_bits(home):
    batch, aug = images(home, shape=SHAPE), all_kinds()
    params = aug.draw(batch, ids=100)
    text = json.dumps(params.to_dict(), allow_nan=False)
    other = all_kinds(seed=1)
    restored = other.params_from_dict(json.loads(text), batch)
    assert_equal(other.apply(batch, restored), aug.apply(batch, params), device=home[1])
    assert restored.names == params.names
    assert json.dumps(restored.to_dict()) == text
    assert_equal(to_numpy(restored.matrices), to_numpy(params.matrices))
    drawn = json.loads(text)["drawn"]
    for name in params.names:
        np.testing.assert_array_equal(np.float32(drawn[name]), to_numpy(params[name]).astype(np.float32), name)


def test_compose_rejects_foreign_params():
    aug, batch = all_kinds(), noise(SHAPE)
    description = aug.draw(batch).to_dict()
    with pytest.raises(
        ValueError, match=r"cuaug.Compose.params_from_dict: params must be of the same images, .*'samples': 4"
    ):
        aug.params_from_dict(description, batch[:4])
    with pytest.raises(ValueError, match="params must be of the same recipe"):
        recipe("crops").params_from_dict(description, batch)
    with pytest.raises(ValueError, match="which has 'recipe', got "):
        aug.params_from_dict({}, batch)


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda aug: pickle.loads(pickle.dumps(aug))])
def test_compose_copy_continues_as_original(again):
    aug, batch = all_kinds(), noise(SHAPE)
    aug(batch)
    same = again(aug)
    assert type(same) is type(aug)
    assert same.state_dict() == aug.state_dict() == {"seed": 6, "step": 1}
    assert_equal(same(batch), aug(batch))
    alone = T.RandomHorizontalFlip(1.0)
    assert_equal(alone(batch), batch[:, :, ::-1])
    assert_equal(again(alone)(batch), batch[:, :, ::-1])


# A torch module.


def test_compose_is_a_torch_module():
    for own in EVERYTHING.values():
        if isinstance(own, _transform.Transform):
            assert isinstance(own, torch.nn.Module)
            assert type(own).__name__ in T.__all__
            assert isinstance(own, getattr(T, type(own).__name__))
            assert not list(own.parameters())
            assert not list(own.children())


def test_compose_is_a_layer_of_a_model():
    batch = images(("torch", "cpu"), shape=SHAPE)
    aug = T.Compose([*CROPS, T.ToDtype("float32", scale=True)], seed=3)
    model = torch.nn.Sequential(aug, T.RandomHorizontalFlip(0.0), torch.nn.Flatten(), torch.nn.Linear(15 * 12 * 3, 2))
    model.to("cpu").train().requires_grad_(False).apply(lambda layer: None)
    expected = model[3](aug(batch, step=0).flatten(1))
    assert torch.equal(model(batch), expected)
    assert not model.eval()[0].training
    assert "RandomCrop(size=(15, 12)" in repr(model)
    state = model.state_dict()
    assert set(state) == {"0._extra_state", "3.weight", "3.bias"}
    assert state["0._extra_state"] == aug.state_dict() == {"seed": 3, "step": 1}
    other = copy.deepcopy(model)
    other[0].load_state_dict({"seed": 8, "step": 5})
    assert other[0].state_dict() == {"seed": 8, "step": 5}
    other.load_state_dict(state)
    assert other[0].state_dict() == {"seed": 3, "step": 1}
    assert torch.equal(other(batch), model(batch))


def test_compose_apply_serves_recipe_and_module():
    aug, batch, seen = recipe("crops"), noise(SHAPE), []
    params = aug.draw(batch, step=0)
    assert_equal(aug.apply(batch, params), aug(batch, step=0))
    assert_equal(aug.apply(images=batch, params=params), aug(batch, step=0))
    assert aug.apply(seen.append) is aug
    assert seen == [aug]


def test_transforms_hide_no_module_attribute():
    allowed = {"__call__", "forward", "apply", "state_dict", "load_state_dict", "get_extra_state", "set_extra_state"}
    for own in (own for own in EVERYTHING.values() if isinstance(own, _transform.Transform)):
        names = {name for cls in type(own).__mro__[:-2] if cls.__module__.startswith("cuaug") for name in vars(cls)}
        names |= set(own._init_arguments())
        hidden = {name for name in names & set(dir(torch.nn.Module())) if not name.startswith("__")}
        assert hidden <= allowed, type(own).__name__


def test_compose_torch_may_be_imported_later():
    program = """
import sys, copy, pickle
import numpy as np
from cuaug import transforms as T
aug = T.Compose([T.RandomHorizontalFlip(1.0)], seed=1)
batch = np.arange(12, dtype="u1").reshape(1, 2, 2, 3)
assert (aug(batch) == batch[:, :, ::-1]).all() and "torch" not in sys.modules
written = pickle.dumps(aug)
import torch
assert not isinstance(aug, torch.nn.Module)
flipped = aug(torch.from_numpy(batch).movedim(-1, 1))
assert isinstance(flipped, torch.Tensor)
for later in (copy.deepcopy(aug), T.Compose([T.RandomHorizontalFlip(1.0)], seed=1), pickle.loads(written)):
    assert isinstance(later, torch.nn.Module)
    assert torch.equal(torch.nn.Sequential(later)(torch.from_numpy(batch).movedim(-1, 1)), flipped)
sys.stdout.buffer.write(pickle.dumps(T.Compose([T.Resize(4)], seed=2)).hex().encode())
"""
    written, _ = python(program)
    alone = f"""
import sys, pickle
aug = pickle.loads(bytes.fromhex("{written}"))
import numpy
print(aug(numpy.zeros((1, 8, 8, 3), "u1")).shape, aug.state_dict())
"""
    said, _ = python(alone)
    assert said == "(1, 4, 4, 3) {'seed': 2, 'step': 1}"


# Words.


def test_compose_repr_reads_as_written():
    assert repr(T.Compose([], seed=4)) == "Compose([], seed=4)"
    nested = T.Compose([T.RandomHorizontalFlip(), T.Compose([T.RandomInvert(0.25)], 1)], 2, boxes=T.Boxes("XYWH"))
    assert repr(nested).splitlines() == [
        "Compose([",
        "    RandomHorizontalFlip(p=0.5),",
        "    Compose([",
        "        RandomInvert(p=0.25),",
        "    ], seed=1),",
        "], seed=2, boxes=Boxes(format='XYWH', min_area=0.0, min_visibility=0.0, compact=False))",
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: T.RandomCrop(0), r"^cuaug.RandomCrop: size must be at least 1, got 0$"),
        (lambda: T.Normalize(0.5, 0), r"^cuaug.Normalize: std must not be 0"),
        (
            lambda: T.Compose([T.RandomInvert(), T.RandomCrop(99)])(noise(SHAPE)),
            r"^cuaug.Compose: RandomCrop: size must fit",
        ),
        (lambda: T.RandomCrop(99)(noise(SHAPE)), r"^cuaug.Compose: RandomCrop: size must fit"),
        (lambda: T.Compose([len]), r"^cuaug.Compose: every transform must come from cuaug.transforms, got builtin"),
        (lambda: T.Compose(T.RandomInvert()), r"^cuaug.Compose: transforms must be a list of transforms, got RandomI"),
        (lambda: T.RandomApply([]), r"^cuaug.RandomApply: transforms must be at least one, got none$"),
        (lambda: T.ToDtype({"image": "float32"}), r"^cuaug.ToDtype: dtype must be that of the images"),
        (lambda: T.RandomInvert()(noise(SHAPE), SHARES), r"masks must be one mask.*labels are given as labels="),
        (lambda: T.MixUp()(noise(SHAPE), SHARES), r"masks must not be given .* labels are given as labels="),
        (lambda: T.Compose([], seed=-1), r"^cuaug.Compose: seed must be at least 0, got -1"),
        (lambda: T.Compose([], boxes="XYXY"), r"^cuaug.Compose: boxes must be Boxes\(...\), got 'XYXY'"),
        (lambda: T.Compose([])("images"), r"^cuaug.Compose: no image found in the argument \(a str\)"),
    ],
)
def test_compose_error_names_the_transform(call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call()


def test_compose_seed_is_drawn_at_construction():
    aug, other = T.Compose(CROPS), T.Compose(CROPS)
    assert aug.seed != other.seed
    assert 0 <= aug.seed < 1 << 63
    assert aug.to_dict()["seed"] == aug.seed == copy.deepcopy(aug).seed


@pytest.mark.parametrize(
    "thing", [T.Compose, T.Compose.plan, T.PixelOp, T.from_dict], ids=lambda thing: thing.__qualname__
)
def test_transforms_docstring_example_runs(thing):
    test = doctest.DocTestParser().get_doctest(thing.__doc__, vars(compose).copy(), thing.__qualname__, None, 0)
    assert [example for example in test.examples if example.want]
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_compose_accepts_module_list():
    made = T.RandomApply(torch.nn.ModuleList([T.RandomInvert(), T.GaussianBlur(3)]), p=0.5)
    assert [type(each).__name__ for each in made.transforms] == ["RandomInvert", "GaussianBlur"]


def test_params_repr_names_draws():
    params = T.Compose([T.RandomHorizontalFlip(), T.RandomErasing()]).draw(noise(SHAPE))
    assert repr(params) == f"Params of {SHAPE[0]} samples: {', '.join(params.names)}"
    assert params.names[0] in repr(params)


# The documentation.

DOCS = Path(__file__).parents[2]


def blocks(name, heading=""):
    """The Python of a page, section by section, and what stands in plain blocks."""
    text = (DOCS / name).read_text().partition(heading)[2] if heading else (DOCS / name).read_text()
    section = text.partition("\n## ")[0] if heading else text
    return re.findall(r"```python\n(.*?)```", section, re.S), re.findall(r"\n\n```\n(.*?)```", section, re.S)


def test_readme_recipe_runs_and_prints_its_plan(capsys):
    (program,), (printed,) = blocks("README.md", "## Transforms\n")
    batch = images(("torch", "cpu"), shape=(2, 256, 256, 3))
    names = {"loader": [(batch, None)], "device": "cpu"}
    exec(program, names)
    assert capsys.readouterr().out == printed
    assert names["images"].dtype == torch.float16
    assert tuple(names["images"].shape) == (2, 3, 224, 224)


@pytest.mark.parametrize("page", ["recipes", "migration"])
def test_documentation_programs_run(page):
    programs, names = blocks(f"docs/{page}.md")[0], {}
    assert len(programs) >= 4
    for program in programs:  # one after the other: what one makes, the next may use
        exec(program, names)


@pytest.mark.parametrize("page", ["README.md", "docs/recipes.md", "docs/migration.md"])
def test_documentation_names_and_links_exist(page):
    text = (DOCS / page).read_text()
    named = [(T, name) for name in re.findall(r"\bT\.(\w+)", text)]
    named += [(cuaug, name) for name in re.findall(r"\bcuaug\.(\w+)", text)]
    text = re.sub("```.*?```", "", text, flags=re.S)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [name for owner, name in named if not hasattr(owner, name) and name != "RandomZoomOut"] == []
    assert named
    assert [link for link in links if not (DOCS / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"step": 2**63}, "step must be at most"),
        ({"step": -1}, "step must be at least 0"),
        ({"ids": 2**63}, "ids must be at most"),
        ({"ids": -(2**63)}, "ids must be at least"),
    ],
)
def test_compose_rejects_seed_step_ids_beyond_63_bits(how, message):
    aug, batch = T.Compose([T.RandomHorizontalFlip()], seed=1), np.zeros((2, 4, 4, 3), np.uint8)
    with pytest.raises(ValueError, match=message):
        aug(batch, **how)
    with pytest.raises(ValueError, match="seed must be at most"):
        aug.load_state_dict({"seed": 2**63, "step": 0})
    assert aug.state_dict()["seed"] == 1
    aug(batch, step=2**63 - 1, ids=2**63 - 3)
