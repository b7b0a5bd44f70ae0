"""Recipes on a GPU: compilation, synchronization, CUDA graphs, streams, and very many samples."""

import struct

import numpy as np
import pytest
import torch
from helpers.arrays import images, no_synchronization
from helpers.busy_gpu import busy
from helpers.compare import assert_equal, to_numpy
from helpers.cuda_graphs import capture_graph, warm_up
from tables.recipe import JITTER, MEAN, STD
from tables.recipes import BY_NAME, RECIPES

import cuaug
from cuaug import transforms as T
from cuaug._gpu import kernels as kernels_module
from cuaug._gpu import launch
from cuaug._gpu.launch_sequence import Launch, LaunchSequence
from cuaug._program import records

pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=str)


def batch_of(recipe, samples=6):
    return images(GPU, recipe.dtypes[0], "NCHW", (samples, 17, 11, recipe.channels[-1]))


@every_recipe
def test_compose_gpu_second_call_compiles_and_waits_for_nothing(recipe):
    batch, aug = batch_of(recipe), recipe.compose(recipe.dtypes[0])
    aug(batch)
    torch.cuda.synchronize()
    kernels = set(kernels_module.compiled_kernels)
    assert kernels
    with no_synchronization():
        aug(batch)
        aug(batch, ids=1 << 40)
    assert set(kernels_module.compiled_kernels) == kernels


def recipe_with(p, size, fill, strength, degrees):
    """One list of transforms with different numbers."""
    return T.Compose(
        [
            T.RandomCrop(size + 3, padding=2, fill=fill),
            T.RandomHorizontalFlip(p),
            T.RandomRotation(degrees, interpolation="bilinear", fill=fill),
            T.RandomCrop(size),
            T.ColorJitter(strength, strength, strength, strength / 4),
            T.RandomGrayscale(p),
            T.RandomErasing(p, value=fill),
            T.ToDtype("float16", scale=True),
            T.Normalize(MEAN, [s * (1 + p) for s in STD]),
        ],
        seed=3,
    )


def test_compose_gpu_other_parameters_compile_nothing():
    batch = images(GPU, "uint8", "NCHW", (4, 21, 21, 3))
    recipe_with(0.5, 8, 7.0, 0.4, 30)(batch)
    kernels = set(kernels_module.compiled_kernels)
    for numbers in (
        (0.1, 8, 7.0, 0.4, 30),
        (0.5, 12, 200.0, 0.1, (3, 99)),
        (1.0, 8, 0.0, 0.9, 1),
        (0.9, 12, 9.0, 0.2, 5),
    ):
        recipe_with(*numbers)(batch)
    recipe_with(0.5, 8, 7.0, 0.4, 30)(images(GPU, "uint8", "NCHW", (9, 29, 35, 3)))
    assert set(kernels_module.compiled_kernels) == kernels


REPLAYED_RECIPES = [
    "flips",
    "imagenet-of-bytes",
    "imagenet",
    "antialiased-recipe",
    "rotation-affine",
    "jitter",
    "erase-rotation",
    "elastic-jitter-normalize",
    "blend-crop-blend",
]


@pytest.mark.parametrize("name", REPLAYED_RECIPES)
def test_compose_gpu_graph_replay_draws_anew(name):
    """Each replay advances the step by one."""
    recipe = BY_NAME[name]
    batch, aug = batch_of(recipe, 40), recipe.compose(recipe.dtypes[0])
    warm_up(lambda: aug(batch))
    first = aug.state_dict()["step"]
    graph, result = capture_graph(lambda: aug(batch))
    eager, results = recipe.compose(recipe.dtypes[0]), []
    for step in range(first, first + 4):
        graph.replay()
        results.append(to_numpy(result))
        assert_equal(
            result, eager(batch, step=step), tolerance=recipe.between_devices(str(result.dtype)[6:], recipe.dtypes[0])
        )
    assert not np.array_equal(results[0], results[1])
    assert not np.array_equal(results[1], results[2])


def test_compose_gpu_graph_of_smaller_batch():
    """A recipe with branches, whose launches are batched."""
    batch = images(GPU, "uint8", "NCHW", (40, 50, 60, 3))
    smaller, aug = batch[:9].clone(), T.Compose([T.AugMix()], seed=5)
    aug(batch)
    torch.cuda.synchronize()
    graph, result = capture_graph(lambda: aug(smaller))
    graph.replay()
    assert torch.equal(result, T.Compose([T.AugMix()], seed=5)(smaller, step=1))


def test_compose_gpu_graphs_count_steps_separately():
    recipe = BY_NAME["flips"]
    batch, aug = batch_of(recipe, 40), recipe.compose("uint8")
    aug(batch)
    (first_graph, first_result), (second_graph, second_result) = (
        capture_graph(lambda: aug(batch)),
        capture_graph(lambda: aug(batch)),
    )
    for step in (1, 2, 3):
        first_graph.replay()
        assert_equal(first_result, aug(batch, step=step))
    second_graph.replay()
    assert_equal(second_result, aug(batch, step=2))


def test_compose_gpu_cold_recipe_is_refused_in_capture():
    recipe = BY_NAME["flips"]
    batch, aug = batch_of(recipe), recipe.compose("uint8")
    recipe.compose("uint8")(batch)  # kernels are warm
    messages = []

    def call():
        try:
            aug(batch)
        except cuaug.BackendError as error:
            messages.append(str(error))
        return batch + 1  # torch warns about an empty graph

    capture_graph(call)
    assert messages
    assert "must be called once" in messages[0]


@every_recipe
def test_compose_gpu_side_stream_equals_default_stream(recipe):
    """The images are copied on the side stream too, after work that takes a while."""
    batch = batch_of(recipe)
    expected = recipe.compose(recipe.dtypes[0])(batch)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy(20)
        result = recipe.compose(recipe.dtypes[0])(batch.clone())
    stream.synchronize()
    assert_equal(result, expected, tolerance=recipe.between_devices(str(result.dtype)[6:], recipe.dtypes[0]))


@every_recipe
def test_compose_gpu_same_parameters_give_same_bits(recipe):
    """Many samples and regions, so that blocks end in any order."""
    batch = images(GPU, recipe.dtypes[0], "NCHW", (64, 150, 170, recipe.channels[-1]))
    aug = recipe.compose(recipe.dtypes[0])
    params = aug.draw(batch)
    first = aug.apply(batch, params)
    for _ in range(3):
        assert torch.equal(aug.apply(batch, params).view(torch.uint8), first.view(torch.uint8))


def test_compose_gpu_driver_error_breaks_nothing():
    """A launch that asks for more shared memory than a block can have."""
    record = struct.pack(f"{records.DRAW.size}x")
    launches = LaunchSequence([Launch("cuaug::draw", (1, 1, 1), 256, 1 << 30, record, ())], 0)
    for _ in range(2):
        with pytest.raises(cuaug.BackendError, match="CUDA_ERROR_INVALID_VALUE"):
            launches(0, ())
    with pytest.raises(cuaug.BackendError, match="CUDA_ERROR_INVALID_VALUE"):
        launch.launch("cuaug::draw", record, (1, 1, 1), 256, 1 << 30, 0, 0)
    test_compose_gpu_second_call_compiles_and_waits_for_nothing(BY_NAME["flips"])


RECIPES_OF_MANY_SAMPLES = [
    "padded-crop-rotation",
    "imagenet-of-bytes",
    "jitter",
    "antialiased-recipe",
    "flips",
    "elastic",
    "blend-crop-blend",
]


@pytest.mark.parametrize("name", RECIPES_OF_MANY_SAMPLES)
def test_compose_gpu_more_samples_than_grid_axis(name):
    recipe, samples = BY_NAME[name], 65_537 + 30
    eight = batch_of(recipe, 8)
    batch = eight.repeat(samples // 8 + 1, 1, 1, 1)[:samples]
    aug = recipe.compose(recipe.dtypes[0])
    result = aug(batch, step=2)
    for n in (0, 65_534, 65_535, 65_536, samples - 1):
        expected = aug(batch[n : n + 1], step=2, ids=n)
        assert_equal(
            result[n : n + 1], expected, tolerance=recipe.between_devices(str(result.dtype)[6:], recipe.dtypes[0])
        )


def test_compose_gpu_mean_of_large_images():
    """The mean is summed from many regions per sample."""
    batch = images(GPU, "uint8", "NCHW", (3, 600, 700, 3))
    batch[:, :, :300] //= 3
    aug = T.Compose([T.RandomHorizontalFlip(), JITTER], seed=5)
    result, expected = aug(batch, step=0), aug(batch.cpu(), step=0)
    assert_equal(result.cpu(), expected, tolerance=BY_NAME["jitter"].between_devices("uint8", "uint8"))
