"""Ragged batches on a GPU: launches, compilation, freed images, capture, and more images than a grid axis allows."""

import numpy as np
import pytest
from helpers.arrays import images, nobody_waits
from helpers.busy_gpu import busy
from helpers.compare import assert_equal
from helpers.cuda_graphs import captured
from tables.recipe import JITTER
from tables.recipes import BY_NAME

import cuaug
from cuaug import transforms as T
from cuaug._gpu import kernels as _kernels
from cuaug._gpu import launch as _launch
from cuaug._gpu.launch_sequence import LaunchSequence

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
RAGGED = [T.RandomResizedCrop(64, antialias=False), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]
ANTIALIASED = [T.RandomResizedCrop(64), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]


def photos(count, least=40, spread=90, seed=0):
    """Of different sizes."""
    sizes = np.random.default_rng(seed).integers(least, least + spread, (count, 2)).tolist()
    return [images(GPU, "uint8", "NCHW", (1, *size, 3), seed=i % 7)[0] for i, size in enumerate(sizes)]


@pytest.mark.parametrize("transforms", [RAGGED, ANTIALIASED], ids=["plain", "antialiased"])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_compose_gpu_ragged_takes_launches_of_one_batch(transforms, layout, monkeypatch):
    aug, given, launched = T.Compose(transforms, seed=2), photos(40), []
    if layout == "HWC":
        given = [one.permute(1, 2, 0).contiguous() for one in given]
    launch, all_at_once = _launch.launch, LaunchSequence.__call__

    def of_many(launches, *values):
        launched.extend(each.kernel for each in launches._launches)
        all_at_once(launches, *values)

    monkeypatch.setattr(_launch, "launch", lambda name, *rest: (launched.append(name), launch(name, *rest))[1])
    monkeypatch.setattr(LaunchSequence, "__call__", of_many)
    for _ in range(2):  # traced, and then replayed
        launched.clear()
        made = aug(given, step=3, layout=layout)
        assert len(launched) == aug.plan(given, layout=layout).launches < 6
        tag = "Planar" if layout == "CHW" else "Packed"
        assert sum(f"Ragged<cuaug::{tag}>" in name for name in launched) == 1
    for i in (0, 7, 39):
        near = BY_NAME["imagenet"].between_devices("float16", "uint8")
        assert_equal(made[i], aug(given[i], step=3, ids=i, layout=layout), tolerance=near)


def test_compose_gpu_ragged_other_sizes_compile_nothing():
    aug = T.Compose(RAGGED, seed=2)
    aug(photos(40))
    others = photos(40, 50, 60, seed=1)
    torch.cuda.synchronize()
    kernels = set(_kernels.compiled_kernels)
    with nobody_waits():
        aug(others)
    assert set(_kernels.compiled_kernels) == kernels


def test_compose_gpu_ragged_images_may_be_freed():
    """Before the kernels that read them have begun."""
    aug, given = T.Compose(RAGGED, seed=2), photos(64)
    expected = aug(given, step=0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        copies = [one.clone() for one in given]
        busy(20)
        made = aug(copies, step=0)
        del copies
        [torch.full((3, 140, 140), 99, dtype=torch.uint8, device="cuda") for _ in range(64)]
    stream.synchronize()
    for own, other in zip(made, expected, strict=True):
        assert torch.equal(own, other)


def test_compose_gpu_ragged_is_refused_in_capture():
    aug, given, said = T.Compose(RAGGED, seed=2), photos(4), []
    aug(given)

    def call():
        try:
            aug(given)
        except cuaug.BackendError as error:
            said.append(str(error))
        return given[0] + 1  # of an empty graph torch would warn

    captured(call)
    assert "images of different sizes cannot be captured" in said[0]


def test_compose_gpu_ragged_longer_than_grid_axis():
    aug = T.Compose([T.RandomResizedCrop(3), T.RandomHorizontalFlip()], seed=2)
    few = photos(8, 4, 9)
    given = (few * 8200)[:65_540]
    made = aug(given, step=0)
    for i in (0, 65_534, 65_535, 65_536, 65_539):
        assert_equal(
            made[i], aug(given[i], step=0, ids=i), tolerance=BY_NAME["flips"].between_devices("uint8", "uint8")
        )
