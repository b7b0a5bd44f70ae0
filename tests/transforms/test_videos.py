"""torchvision's Video: a clip [T, C, H, W] is one sample, whose frames share its draws; [N, T, C, H, W] is a batch."""

import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T

CLIP = torch.from_numpy(noise((6, 3, 9, 8)))
BATCH = torch.from_numpy(noise((5, 2, 3, 9, 8)))


def assert_equal_videos(actual, expected):
    assert type(actual) is type(expected)
    assert_equal(actual.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor))


@pytest.mark.parametrize("frames", [CLIP, BATCH], ids=["clip", "batch"])
@pytest.mark.parametrize(
    "transforms",
    [[T.RandomHorizontalFlip()], [T.RandomResizedCrop((5, 6)), T.GaussianBlur(3), T.ColorJitter(0.9)]],
    ids=["one pass", "several passes"],
)
def test_compose_draw_and_apply_of_a_video_equal_the_call(tv, frames, transforms):
    recipe, video = T.Compose(transforms, seed=0), tv.Video(frames)
    result, params = recipe(video, step=3), recipe.draw(video, step=3)
    assert params.samples == (1 if frames is CLIP else len(frames))
    assert_equal_videos(recipe.apply(video, params), result)
    assert_equal_videos(recipe.apply(video, recipe.params_from_dict(params.to_dict(), video)), result)


@pytest.mark.parametrize("frames", [CLIP, BATCH], ids=["clip", "batch"])
def test_compose_inverse_moves_a_video_back(tv, frames):
    recipe, video = T.Compose([T.RandomHorizontalFlip(p=1.0)], seed=0), tv.Video(frames)
    params = recipe.draw(video)
    assert torch.equal(torch.Tensor(recipe.apply(video, params)), torch.Tensor(video).flip(-1))
    assert_equal_videos(recipe.inverse(recipe.apply(video, params), params, interpolation="nearest"), video)


@pytest.mark.parametrize("frames", [CLIP, BATCH], ids=["clip", "batch"])
def test_compose_plan_of_a_video_is_that_of_its_layout(tv, frames):
    recipe, batch = T.Compose([T.ColorJitter(0.9)], seed=0), frames if frames is BATCH else frames[None]
    assert str(recipe.plan(tv.Video(frames))) == str(recipe.plan(batch, layout="NTCHW"))


AFTER_SIZES = r"images at .* must not be a batch of videos after a transform that draws sizes, nor in a choice with one"


@pytest.mark.parametrize(
    "transforms",
    [
        [T.RandomResize(8, 9), T.ColorJitter(0.9)],
        [T.RandomResize(8, 9), T.RandomCrop(4)],
        [T.RandomResize(8, 9), T.PadBatch(16)],
        [T.RandomApply([T.RandomResize(8, 9)], 0.5)],
        [T.RandomApply([T.RandomResize(8, 9)], 0.0)],
    ],
    ids=repr,
)
def test_compose_rejects_a_batch_of_videos_after_a_transform_that_draws_sizes(real_tv, transforms):
    recipe, videos = T.Compose(transforms, seed=0), real_tv.Video(BATCH)
    for sample in (videos, {"image": videos}, (videos, torch.arange(5))):
        with pytest.raises(ValueError, match=AFTER_SIZES):
            recipe(sample)
    with pytest.raises(ValueError, match=AFTER_SIZES):
        recipe(BATCH, layout="NTCHW")
    assert len(recipe(real_tv.Video(CLIP))) == len(CLIP)


def test_compose_batch_of_videos_may_end_in_a_transform_that_draws_sizes(tv):
    videos = T.Compose([T.ColorJitter(0.9), T.RandomResize(8, 30)], seed=0)(tv.Video(BATCH))
    assert [(type(video), tuple(video.shape[:2])) for video in videos] == [(tv.Video, (2, 3))] * 5


@pytest.mark.parametrize("form", [list, tuple])
def test_compose_rejects_a_list_of_videos(tv, form):
    recipe, videos = T.Compose([T.ColorJitter(0.9)], seed=0), form([tv.Video(CLIP)] * 4)
    for sample in (videos, (videos, torch.arange(4)), {"image": videos}):
        with pytest.raises(ValueError, match="not batches or videos: pass videos as one batch"):
            recipe(sample)
    assert len(recipe(form(videos[:1]))) == 1
