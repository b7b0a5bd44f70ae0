"""`Compose.plan`: passes, launches, bytes, and the reason for each pass."""

import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import noise

import cuaug
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._fusion import execute
from cuaug._passes.parameters import NULL_ARRAY


def test_compose_plan_counts_passes_launches_and_bytes():
    """Fields of the plan; documentation/test_pages.py compares its text."""
    fused = [T.RandomResizedCrop(224, antialias=False), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.1)]
    aug = T.Compose([*fused, T.RandomGrayscale(), T.ToDtype("float16", scale=True), T.Normalize(0.5, 0.5)], seed=0)
    plan = aug.plan(size=(256, 256))
    assert [pass_.transforms for pass_ in plan.passes] == [
        ("RandomResizedCrop", "RandomHorizontalFlip", "ColorJitter"),
        ("ColorJitter", "RandomGrayscale", "ToDtype", "Normalize"),
    ]
    assert plan.bytes_per_sample == 256 * 256 * 3 + 2 * 224 * 224 * 3 + 224 * 224 * 3 * 2
    assert (plan.launches, [pass_.means for pass_ in plan.passes]) == (3, [0, 0])
    assert aug.state_dict()["step"] == 0
    batch = np.zeros((2, 256, 256, 3), np.uint8)
    assert str(aug.plan(batch)) == repr(plan) == str(aug.plan(torch.from_numpy(batch), layout="NHWC"))


def test_compose_plan_counts_channels_after_grayscale():
    plan = T.Compose([T.Grayscale(1), T.Resize((8, 8))]).plan(noise((2, 16, 16, 3)))
    assert [pass_.channels for pass_ in plan.passes] == [(3, 1), (1, 1)]
    assert plan.bytes_per_sample == 16 * 16 * (3 + 1) + 16 * 16 + 8 * 8
    assert "uint8 [16, 16, 3] -> uint8 [16, 16, 1]" in str(plan)


CROP, JITTER = T.RandomResizedCrop(64, antialias=False), T.ColorJitter(0.4, 0.4, 0.4, 0.1)
BEFORE, AFTER = ["JitterBeforeMean"], ["JitterAfterMean"]


@pytest.mark.parametrize(
    ("transforms", "chains", "passes_that_sum_mean"),
    [
        ([CROP, JITTER, T.RandomGrayscale()], [BEFORE, [*AFTER, "RandomGrayscale"]], [0]),
        ([CROP, T.RandomInvert(), JITTER], [["Solarize", *BEFORE], AFTER], [0]),
        ([CROP, JITTER, JITTER], [BEFORE, [*AFTER, "ColorJitter"]], [0]),
        ([CROP, T.ToDtype("float32", True), JITTER], [[], ["Rescale", "ColorJitter"]], []),
        ([CROP, T.ToDtype("float32", True), T.ToDtype("uint8", True), JITTER], [["Rescale", *BEFORE], AFTER], [0]),
        ([JITTER], [["ColorJitter"]], []),
        ([JITTER, CROP, JITTER], [["ColorJitter"], BEFORE, AFTER], [1]),
        # Antialiased: the warp kernel shrinks at most twofold, and applies ops; the resample kernel applies none.
        ([T.RandomResizedCrop(64), JITTER], [BEFORE, AFTER], [0]),
        ([T.RandomResizedCrop(40), JITTER], [[], BEFORE, AFTER], [1]),
        ([T.RandomResizedCrop(40), T.ToDtype("float32", True), JITTER], [[], ["Rescale", "ColorJitter"]], []),
        ([T.RandomResizedCrop(40), T.ToDtype("float32", True), T.Normalize(0.5, 0.5)], [["Rescale", "Normalize"]], []),
        ([T.RandomResizedCrop(40), T.RandomSolarize(9), JITTER], [[], ["Solarize", *BEFORE], AFTER], [1]),
        ([T.RandomResizedCrop(40), T.RandomErasing()], [[], ["Erase"]], []),
        ([T.RandomResizedCrop(40), *[T.RandomSolarize(9)] * 9], [[], ["Solarize"] * 9], []),
        ([T.GaussianBlur(3), JITTER], [[], ["ColorJitter"]], []),
        ([T.GaussianBlur(3), T.RandomGrayscale()], [[], ["RandomGrayscale"]], []),
        ([T.GaussianBlur(3), T.RandomErasing()], [[], ["Erase"]], []),
        # A blur or a resize applies the ops after it only if each of them changes every channel by itself.
        ([T.GaussianBlur(3), T.RandomSolarize(9), T.RandomErasing()], [[], ["Solarize", "Erase"]], []),
        ([T.GaussianBlur(3), *[T.RandomSolarize(9)] * 9], [[], ["Solarize"] * 9], []),
        (
            [T.ToDtype("float32", True), T.GaussianBlur(3), T.ToDtype("uint8", True), T.ToDtype("float16", True)],
            [["Rescale"], ["Rescale"], ["Rescale"]],
            [],
        ),
        ([T.ToDtype("float32", True), T.GaussianBlur(3), T.ToDtype("float16", True)], [["Rescale"], ["Rescale"]], []),
        ([T.GaussianBlur(3), T.RandomSolarize(9), T.ToDtype("float32", True)], [["Solarize"]], []),
        ([T.GaussianBlur(3), T.ToDtype("float32", True), T.Normalize(0.5, 0.5)], [["Rescale", "Normalize"]], []),
        ([CROP, T.ColorJitter(0.4, 0.4, contrast_about=99.0)], [["ColorJitter"]], []),
    ],
    ids=str,
)
def test_compose_pass_before_mean_applies_preceding_ops(transforms, chains, passes_that_sum_mean):
    batch = noise((2, 100, 90, 3))
    plan = T.Compose(transforms)._fused.plans.plan(cuaug._arrays.images.describe_images(batch))
    assert [[op.functor for op in pass_.chain] for pass_ in plan.passes] == chains
    assert [i for i, pass_ in enumerate(plan.passes) if pass_.mean_output] == passes_that_sum_mean
    for pass_ in plan.passes:
        indices = [column.index for column in pass_.chain_columns]
        assert indices == [indices[0] + i for i in range(len(indices))]
        if pass_.mean_from:
            assert pass_.mean_from.mean_output is pass_.chain[pass_.mean_op_indices[0]].mean
            assert pass_.input_dtype == pass_.mean_from.output_dtype


def test_compose_plan_splits_jitter_at_its_mean():
    """The previous pass sums the mean while it stores; `means` counts the launches of other means.

    The mean of a second jitter in one pass has a launch of its own, and so has a mean after a change of dtype.
    """
    plan = T.Compose([T.RandomResizedCrop(40), JITTER, JITTER]).plan(size=(100, 90))
    crop, jitter = ("RandomResizedCrop",), ("ColorJitter",)
    assert [pass_.transforms for pass_ in plan.passes] == [crop, jitter, jitter]
    assert [pass_.means for pass_ in plan.passes] == [0, 0, 1]
    plan = T.Compose([CROP, T.ToDtype("float32", scale=True), JITTER]).plan(size=(100, 90))
    assert [pass_.transforms for pass_ in plan.passes] == [crop, ("ToDtype", *jitter)]
    assert (plan.launches, [pass_.means for pass_ in plan.passes]) == (4, [0, 1])


def test_compose_plan_gives_each_pass_its_reason():
    """Each of five rules begins a second pass, whose `why` names the rule. The first transform alone is one pass."""
    bilinear, nearest = T.RandomRotation(9, "bilinear"), T.RandomRotation(9)
    reasons = {}
    for cause, transforms in {
        "neighbours": [T.RandomCrop(24), T.GaussianBlur(3)],
        "interpolation": [nearest, bilinear],
        "pixels": [T.RandomErasing(), T.RandomHorizontalFlip()],
        "displacement": [T.RandomHorizontalFlip(), T.ElasticTransform()],
        "branches": [T.RandomHorizontalFlip(), T.AugMix(chain_depth=1, mixture_width=1, all_ops=False)],
    }.items():
        plan = T.Compose(transforms, seed=0).plan(size=(32, 40))
        assert len(T.Compose(transforms[:1]).plan(size=(32, 40)).passes) == 1
        reasons[cause] = plan.passes[1].why
        assert reasons[cause] in str(plan)
        assert plan.passes[1].transforms == (type(transforms[1]).__name__,)
    assert all(cause in reason for cause, reason in reasons.items()), reasons
    assert len(set(reasons.values())) == 5
    assert len(T.Compose([T.RandomHorizontalFlip(), bilinear]).plan(size=(32, 40)).passes) == 1
    assert len(T.Compose([T.RandomHorizontalFlip(), T.RandomErasing()]).plan(size=(32, 40)).passes) == 1


@pytest.mark.parametrize(
    ("transform", "channels", "line"),
    [
        (T.GaussianBlur(3), 3, "GaussianBlur: from neighbouring pixels"),
        (T.MixUp(), 3, "MixUp: from another sample's pixels"),
        (T.CutMix(), 3, "CutMix: from another sample's pixels"),
        (T.Grayscale(1), 3, "Grayscale: the luma"),
        (T.Grayscale(3), 1, "Grayscale: the channel, repeated"),
        (T.RGB(), 1, "RGB: the channel, repeated"),
    ],
)
def test_compose_plan_names_the_source_of_pixels(transform, channels, line):
    plan = T.Compose([transform]).plan(size=(32, 32), channels=channels)
    assert [pass_.lines for pass_ in plan.passes] == [(line,)]


def test_compose_plan_reaches_into_nested_recipes():
    transforms = [T.RandomCrop(24), T.GaussianBlur(3), T.RandomAffine(30), T.RandomRotation(9, "bilinear")]
    plan = T.Compose([T.Compose(transforms), T.RandomErasing(), T.RandomHorizontalFlip()], seed=0).plan(size=(32, 40))
    assert [pass_.transforms for pass_ in plan.passes] == [
        ("RandomCrop",),
        ("GaussianBlur",),
        ("RandomAffine",),
        ("RandomRotation", "RandomErasing"),
        ("RandomHorizontalFlip",),
    ]
    assert plan.launches == 6


def test_elastic_transform_plan_reports_displacement_field():
    displaced = [T.RandomHorizontalFlip(), T.ElasticTransform(), T.RandomInvert(), T.ToDtype("float32", scale=True)]
    plan = T.Compose([*displaced, T.RandomRotation(9)], seed=0).plan(size=(100, 200))
    field_pass = plan.passes[1]
    assert [pass_.transforms for pass_ in plan.passes] == [
        ("RandomHorizontalFlip",),
        ("ElasticTransform", "RandomInvert", "ToDtype"),
        ("RandomRotation",),
    ]
    assert "displacement field" in field_pass.why
    assert field_pass.lines[0] == (
        "ElasticTransform: one resample, bilinear, by a field of noise, smoothed by 41 x 41 taps: "
        "2 launches, 0.64 MB a sample"
    )
    assert field_pass.field == 100 * 200 * 2 * 4 * 4  # the noise is written and read, and so is the smoothed noise
    assert plan.launches == 1 + 2 + 3
    rough = T.Compose([T.ElasticTransform(sigma=0)]).plan(size=(100, 200))
    assert (rough.launches, rough.passes[0].field) == (3, 100 * 200 * 2 * 4 * 2)


def test_augmix_blends_branches_in_one_pass():
    aug = T.Compose([T.RandomHorizontalFlip(), T.AugMix(chain_depth=1, all_ops=False), T.Normalize(0.5, 0.5)], seed=0)
    plan = aug.plan(size=(100, 200))
    assert [pass_.why for pass_ in plan.passes[1:]] == [
        "the branches start from the images at this point",
        "another branch starts from the images that the first one read",
        "another branch starts from the images that the first one read",
        "the results of the branches are blended",
    ]
    blend = plan.passes[4]
    assert blend.lines == ("AugMix: the image and 3 branches, in a sum that is rounded once", "Normalize")
    assert blend.read == 4 * (100 * 200 * 3)  # the image and three branches, of uint8
    assert blend.written == 100 * 200 * 3 * 4  # float32
    # the draws; the flip, the branches in one batched launch, the blend; the branches' histogram
    assert plan.launches == 1 + 3 + 1


def test_compose_plan_needs_images_or_size():
    with pytest.raises(ValueError, match=r"cuaug.transforms.Compose.plan: images or size must be given"):
        T.Compose([]).plan()
    assert "float32 [8, 9, 1]" in str(T.Compose([]).plan(size=(8, 9), dtype="float32", channels=1))


def test_compose_holds_a_bounded_number_of_plans():
    """A recipe in a Dataset sees images of ever new sizes: its memory must not grow with them."""
    aug, images = T.Compose([T.RandomInvert()], seed=0), np.zeros((40, 40, 1), np.uint8)
    expected, params = aug(images, step=0), aug.draw(images[:9, :8], step=5)
    sizes = [(height, width) for height in range(1, 41) for width in range(1, 41)]
    for height, width in sizes:
        assert aug(images[:height, :width]).shape == (height, width, 1)
    assert 0 < len(aug._fused.plans._plans) < len(sizes)
    assert np.array_equal(aug(images, step=0), expected)
    for _ in range(2):  # parameters stay valid, however many sizes follow
        assert np.array_equal(aug.apply(images[:9, :8], params), aug(images[:9, :8], step=5))
    assert pickle.loads(pickle.dumps(aug)).seed == 0


def test_compose_plan_refuses_images_of_another_number_of_channels():
    plans = T.Compose([T.Normalize([0.5], [0.5])], seed=0)._fused.plans
    grey, coloured = (describe_images(noise((2, 9, 11, channels))) for channels in (1, 3))
    with pytest.raises(AssertionError, match="a pass for 1 channels got 3"):
        execute.apply(plans.plan(grey), coloured, NULL_ARRAY)
