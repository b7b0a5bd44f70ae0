"""A recorded launch plan launches what the passes of its recipe launch. A fake driver stands for the GPU."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.fake_driver import TOGETHER, Launched, bytes_of, seen
from helpers.replace import replace_everywhere
from tables.recipes import RECIPES

from cuaug import _check
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._fusion import batched_launch, draw, execute, launch_plan
from cuaug._fusion.draw_kernel import Draws
from cuaug._gpu import failures as _failures
from cuaug._gpu import launch as _launch
from cuaug._gpu import streams
from cuaug._passes.parameters import StridedArray

torch = pytest.importorskip("torch")


def inside(word, array):
    return 0 <= word - array.data_ptr() < bytes_of(array)


class Moved(NamedTuple):
    """An allocation of the passes: its address in the recorded plan, and the launches that need it."""

    array: Any
    begin: int
    first: int
    last: int

    @property
    def size(self):
        return bytes_of(self.array)

    @property
    def end(self):
        return self.begin + self.size

    @property
    def room(self):
        return -(-self.size // 512) * 512


def parted(launched):
    """Launches with their positions; a batched launch is split, the first records of neighbours before the second."""
    alone, joint = [], []
    for i, each in enumerate([*launched, None]):
        if each and each.kernel.endswith(TOGETHER):
            joint.append((i, each))
            continue
        assert len({own.config[2] for _, own in joint}) <= 1
        for j in range(joint[0][1].config[2] if joint else 0):
            for at, (kernel, (x, y, _, *rest), record) in joint:
                size = len(record) // batched_launch.MAX_BATCHED
                own = Launched(kernel.removesuffix(TOGETHER) + ">", (x, y, 1, *rest), record[j * size : (j + 1) * size])
                alone.append((at, own))
        joint = []
        alone += [(i, each)] if each else []
    return alone


def assert_same_launches(replayed, passes):
    """Assert that both launch the same but for addresses and batching; return the plan's memory."""
    alone = parted(replayed.launched)
    assert [(each.kernel, each.config) for _, each in alone] == [(each.kernel, each.config) for each in passes.launched]
    moved = {}
    for (i, own), other in zip(alone, passes.launched, strict=True):
        for word, known in zip(*(np.frombuffer(each.record, np.int64).tolist() for each in (own, other)), strict=True):
            place = next((k for k, array in enumerate(passes.given) if inside(known, array)), None)
            if place is None:
                assert word == known
                continue
            array = passes.given[place]
            begin = word - (known - array.data_ptr())
            before = moved.get(place, Moved(array, begin, i, i))
            assert begin == before.begin  # one address while it is needed
            moved[place] = before._replace(first=min(i, before.first), last=max(i, before.last))
    return list(moved.values())


def assert_in_its_memory(moved, replayed, passes):
    """Assert that memory needed at the same time does not overlap, and that the block is no larger than needed."""
    result, block = replayed.given
    own = next(each for each in moved if each.array is passes.made)
    assert own.begin == result.data_ptr()
    assert replayed.made is result
    assert (result.shape, result.stride(), result.dtype) == (
        passes.made.shape,
        passes.made.stride(),
        passes.made.dtype,
    )
    for each in moved:
        home = result if inside(each.begin, result) else block
        assert (each.begin - home.data_ptr()) % 512 == 0
        assert each.end <= home.data_ptr() + bytes_of(home)
    for each, other in itertools.combinations(moved, 2):
        if each.first <= other.last and other.first <= each.last:
            assert each.end <= other.begin or other.end <= each.begin
    others = [each for each in moved if each is not own]
    needed = (sum(each.room for each in others if each.first <= i <= each.last) for i in range(len(replayed.launched)))
    assert bytes_of(block) <= max(needed)


every_layout = pytest.mark.parametrize("layout", ["NHWC", "NCHW"])


@every_layout
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_launch_plan_equals_passes(recipe, layout, gpu):
    for dtype in recipe.dtypes:
        assert_traced(gpu, recipe.compose(dtype), dtype, layout)


OTHERS = {
    "trivialaugment": [T.TrivialAugmentWide()],
    "randaugment": [T.RandomResizedCrop(48), T.RandAugment(), T.ToDtype("float16", scale=True)],
    "autoaugment": [T.AutoAugment(), T.Normalize(0.5, 0.2)],
    "augmix": [T.AugMix(mixture_width=2, chain_depth=2), T.ToDtype("float32", scale=True)],
    "levels": [T.RandomAutocontrast(), T.RandomEqualize(), T.RandomAdjustSharpness(2.0), T.Grayscale(1)],
    "mixes": [T.MixUp(num_classes=3), T.CutMix(num_classes=3), T.GaussianBlur(5)],
}


@every_layout
@pytest.mark.parametrize("name", OTHERS)
def test_launch_plan_of_other_transforms_equals_passes(name, layout, gpu):
    assert_traced(gpu, T.Compose(OTHERS[name], seed=1), "uint8", layout)


def assert_traced(gpu, aug, dtype, layout):
    pixels = torch.zeros(5 * 64 * 80 * 3 + 64, dtype=getattr(torch, dtype))
    shape = (5, 64, 80, 3) if layout == "NHWC" else (5, 3, 64, 80)
    for offset in (0, 64, 1):  # other memory of the same alignment; then of another
        image = describe_images(pixels[offset : offset + 5 * 64 * 80 * 3].reshape(shape), layout)
        plan = aug._plans.plan(image)
        draw._device_program(plan, image)
        for step in range(2):
            draws = Draws(1000 + step, 2000 + step, 2**63 - 1 - step, step, -3 - step, None)
            rows = torch.zeros((5, plan.column_count), dtype=torch.float64)
            table = StridedArray(rows.data_ptr(), plan.column_count, 0, 1, 1, rows)
            for by_passes, by_trace in (
                (lambda: execute.apply(plan, image, table), lambda: launch_plan.apply(plan, image, table)),  # noqa: B023
                (lambda: called(plan, image, draws), lambda: launch_plan.draw_and_apply(plan, image, draws)),  # noqa: B023
            ):
                passes, replayed = seen(gpu, by_passes), seen(gpu, by_trace)
                assert passes.launched
                assert_in_its_memory(assert_same_launches(replayed, passes), replayed, passes)
    assert len(plan.launch_plans) == 4


def called(plan, image, draws):
    return execute.apply(plan, image, draw.draw_table(plan, image, draws, with_matrix=False))


def test_launch_plan_call_is_one_driver_call(gpu, monkeypatch):
    aug = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(5), T.RandomInvert()], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)
    replace_everywhere(monkeypatch, _launch, "launch", None)
    for step in (5, 6):
        gpu.stream = 100 + step
        call = seen(gpu, lambda: aug(batch, ids=4, step=step))  # noqa: B023
        assert len(call.launched) == aug.plan(batch).launches
        numbers = np.frombuffer(call.launched[0].record, np.int64)
        assert call.launched[0].kernel == "cuaug::draw"
        assert numbers[5:8].tolist() == [3, step, 4]  # kernels/draws/draw_values.cuh
        assert [launch.config[7] for launch in call.launched] == [gpu.stream] * len(call.launched)
        assert {launch.kernel: bool(launch.config[8]) for launch in call.launched} == {
            launch.kernel: gpu.uses_pdl(launch.kernel) for launch in call.launched
        }


def test_launch_plan_driver_error_ends_call(gpu, monkeypatch):
    aug = T.Compose([T.GaussianBlur(5), T.RandomInvert(1.0)], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)

    monkeypatch.setattr(_failures, "_versions", lambda: "driver of no machine")
    gpu.statuses[2] = 719
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 719"):
        seen(gpu, lambda: aug(batch))
    assert len(gpu.launched) == 2
    gpu.statuses = {1: 1}
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 1"):
        seen(gpu, lambda: aug.draw(batch))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_launch_plan_ragged_takes_launches_of_one_batch(layout, antialias, gpu):
    """Also for new sizes: kernels read the addresses and sizes of images from a table."""
    crop = T.RandomResizedCrop((13, 14), antialias=antialias)
    aug = T.Compose([crop, T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4), T.ToDtype("float16", scale=True)])
    tag = "Planar" if layout == "CHW" else "Packed"
    shape = (lambda h, w: (3, h, w)) if layout == "CHW" else (lambda h, w: (h, w, 3))
    configurations = []
    for sizes in ([(40, 30), (90, 60), (1, 1)], [(41, 33), (700, 60), (2, 9)]):
        ragged = [torch.zeros(shape(*size), dtype=torch.uint8) for size in sizes]
        results, launched, _ = seen(gpu, lambda: aug(ragged, layout=layout, step=0))  # noqa: B023
        assert [tuple(image.shape) for image in results] == [shape(13, 14)] * 3
        assert len(launched) == aug.plan(ragged, layout=layout).launches
        names = [launch.kernel for launch in launched]
        assert names[0] == "cuaug::draw"
        assert f"cuaug::Ragged<cuaug::{tag}>" in names[1]
        assert not any("Ragged" in name for name in names[2:])
        configurations.append([(launch.kernel, launch.config) for launch in launched])
    assert configurations[0] == configurations[1]
    assert len(aug._plans._plans) == 1
    with pytest.raises(_check.BackendError, match="images of different sizes cannot be captured"):
        captured(aug, ragged, layout)


def captured(aug, images, layout):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "is_capturing", lambda stream: True)
        aug(images, layout=layout)
