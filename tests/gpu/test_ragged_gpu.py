"""Ragged batches on a GPU: launches, compilation, freed images, capture, and more images than a grid axis allows."""

import numpy as np
import pytest
import torch
from helpers.arrays import images, no_synchronization
from helpers.busy_gpu import busy
from helpers.compare import assert_equal, to_numpy
from helpers.cuda_graphs import capture_graph
from helpers.targets import FLOAT32
from tables.recipe import JITTER
from tables.recipes import BY_NAME

import cuaug
from cuaug import transforms as T
from cuaug._gpu import kernels as kernels_module
from cuaug._gpu import launch as launch_module
from cuaug._gpu.launch_sequence import LaunchSequence

pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
RAGGED = [T.RandomResizedCrop(64, antialias=False), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]
ANTIALIASED = [T.RandomResizedCrop(64), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]


def photos(count, min_side=40, spread=90, seed=0):
    """Images of different sizes."""
    sizes = np.random.default_rng(seed).integers(min_side, min_side + spread, (count, 2)).tolist()
    return [images(GPU, "uint8", "NCHW", (1, *size, 3), seed=i % 7)[0] for i, size in enumerate(sizes)]


@pytest.mark.parametrize("transforms", [RAGGED, ANTIALIASED], ids=["not antialiased", "antialiased"])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_compose_gpu_ragged_takes_launches_of_one_batch(transforms, layout, monkeypatch):
    aug, ragged, launched = T.Compose(transforms, seed=2), photos(40), []
    if layout == "HWC":
        ragged = [photo.permute(1, 2, 0).contiguous() for photo in ragged]
    launch, run_sequence = launch_module.launch, LaunchSequence.__call__

    def record_and_run(launches, *values):
        launched.extend(launch_record.kernel for launch_record in launches._launches)
        run_sequence(launches, *values)

    monkeypatch.setattr(launch_module, "launch", lambda name, *rest: (launched.append(name), launch(name, *rest))[1])
    monkeypatch.setattr(LaunchSequence, "__call__", record_and_run)
    for _ in range(2):  # recorded, then replayed
        launched.clear()
        result = aug(ragged, step=3, layout=layout)
        assert len(launched) == aug.plan(ragged, layout=layout).launches < 6
        tag = "Planar" if layout == "CHW" else "Packed"
        assert sum(f"Ragged<cuaug::{tag}>" in name for name in launched) == 1
    for i in (0, 7, 39):
        tolerance = BY_NAME["imagenet"].between_devices("float16", "uint8")
        assert_equal(result[i], aug(ragged[i], step=3, ids=i, layout=layout), tolerance=tolerance)


def test_compose_gpu_ragged_other_sizes_compile_nothing():
    aug = T.Compose(RAGGED, seed=2)
    aug(photos(40))
    other_sizes = photos(40, 50, 60, seed=1)
    torch.cuda.synchronize()
    kernels = set(kernels_module.compiled_kernels)
    with no_synchronization():
        aug(other_sizes)
    assert set(kernels_module.compiled_kernels) == kernels


def test_compose_gpu_ragged_images_may_be_freed():
    """The images are freed before the kernels that read them start."""
    aug, ragged = T.Compose(RAGGED, seed=2), photos(64)
    expected = aug(ragged, step=0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        copies = [photo.clone() for photo in ragged]
        busy(20)
        result = aug(copies, step=0)
        del copies
        # These would overwrite the freed copies.
        [torch.full((3, 140, 140), 99, dtype=torch.uint8, device="cuda") for _ in range(64)]
    stream.synchronize()
    for image, expected_image in zip(result, expected, strict=True):
        assert torch.equal(image, expected_image)


def test_compose_gpu_ragged_is_refused_in_capture():
    aug, ragged, messages = T.Compose(RAGGED, seed=2), photos(4), []
    aug(ragged)

    def call():
        try:
            aug(ragged)
        except cuaug.BackendError as error:
            messages.append(str(error))
        return ragged[0] + 1  # torch warns about an empty graph

    capture_graph(call)
    assert "images of different sizes cannot be captured" in messages[0]


def test_compose_gpu_ragged_longer_than_grid_axis():
    aug = T.Compose([T.RandomResizedCrop(3), T.RandomHorizontalFlip()], seed=2)
    eight_photos = photos(8, 4, 9)
    ragged = (eight_photos * 8200)[:65_540]
    result = aug(ragged, step=0)
    for i in (0, 65_534, 65_535, 65_536, 65_539):
        assert_equal(
            result[i], aug(ragged[i], step=0, ids=i), tolerance=BY_NAME["flips"].between_devices("uint8", "uint8")
        )


def test_compose_gpu_list_of_two_libraries_moves_boxes():
    """One image in NumPy and two on a GPU: the boxes of each sample are those of a call with the sample alone."""
    aug = T.Compose([T.RandomAffine(20), T.CenterCrop(24)], seed=2)
    boxes = np.array([[5.0, 6, 30, 28]])
    samples = [{"image": photo, "boxes": boxes} for photo in (photos(1)[0].permute(1, 2, 0).cpu().numpy(), *photos(2))]
    for order in (samples, samples[::-1]):
        for i, result in enumerate(aug(order, ids=[0, 1, 2], step=0)):
            (expected,) = aug([order[i]], ids=[i], step=0)
            assert_equal(to_numpy(result["boxes"]), to_numpy(expected["boxes"]), tolerance=FLOAT32)
            assert type(result["image"]) is type(order[i]["image"])
