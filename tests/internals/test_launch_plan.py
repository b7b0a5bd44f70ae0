"""A recorded launch plan makes the launches of the passes of its recipe. A fake driver stands for the GPU.

Later calls of a recipe, which replay the plan, give the results of the first.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.fake_driver import BATCHED, FakeLaunch, bytes_of, inside, record_call
from helpers.replace import replace_everywhere
from tables.recipes import OTHER_TRANSFORMS, RECIPES

from cuaug import _check
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._fusion import draw, execute, launch_plan
from cuaug._fusion.draw_kernel import Draws
from cuaug._fusion.recipe import Recipe
from cuaug._gpu import failures, streams
from cuaug._gpu import launch as launch_module
from cuaug._gpu.launch_sequence import LaunchSequence
from cuaug._passes import batched_launch
from cuaug._passes.parameters import StridedArray
from cuaug.transforms.policy_slot import ANY_MAGNITUDE

torch = pytest.importorskip("torch")


class Placement(NamedTuple):
    """An allocation of the passes: its address in the recorded plan, and the first and last launch that use it."""

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
    def aligned_size(self):
        return -(-self.size // 512) * 512


def split_batched(launches):
    """Single launches with their positions. Records of adjacent batched launches alternate.

    First come the first record of each launch, then the second of each, and so on.
    """
    single, batched = [], []
    for i, launch in enumerate([*launches, None]):
        if launch and launch.kernel.endswith(BATCHED):
            batched.append((i, launch))
            continue
        assert len({other.config[2] for _, other in batched}) <= 1
        for j in range(batched[0][1].config[2] if batched else 0):
            for position, (kernel, (x, y, _, *rest), record) in batched:
                size = len(record) // batched_launch.MAX_BATCHED
                name = kernel.removesuffix(BATCHED) + ">"
                single.append((position, FakeLaunch(name, (x, y, 1, *rest), record[j * size : (j + 1) * size])))
        batched = []
        single += [(i, launch)] if launch else []
    return single


def assert_same_launches(replayed, passes):
    """Assert that both launch the same but for addresses and batching; return the placements in the plan's memory."""
    single = split_batched(replayed.launches)
    actual, expected = (
        [(launch.kernel, launch.config) for launch in launches]
        for launches in ([launch for _, launch in single], passes.launches)
    )
    assert actual == expected
    placements = {}
    for (i, launch), expected_launch in zip(single, passes.launches, strict=True):
        words, expected_words = (np.frombuffer(x.record, np.int64).tolist() for x in (launch, expected_launch))
        for word, expected_word in zip(words, expected_words, strict=True):
            index = next((k for k, array in enumerate(passes.allocations) if inside(expected_word, array)), None)
            if index is None:
                assert word == expected_word
                continue
            array = passes.allocations[index]
            begin = word - (expected_word - array.data_ptr())
            placement = placements.get(index, Placement(array, begin, i, i))
            assert begin == placement.begin  # one address while it is needed
            placements[index] = placement._replace(first=min(i, placement.first), last=max(i, placement.last))
    return list(placements.values())


def assert_memory_is_small_and_disjoint(placements, replayed, passes):
    """Assert that memory needed at the same time does not overlap, and that scratch memory is not too large."""
    result, scratch = (*replayed.allocations, torch.empty(0))[:2]  # no scratch memory without intermediates
    assert len(replayed.allocations) <= 2
    result_placement = next(placement for placement in placements if placement.array is passes.result)
    assert result_placement.begin == result.data_ptr()
    assert replayed.result is result
    expected = passes.result
    assert (result.shape, result.stride(), result.dtype) == (expected.shape, expected.stride(), expected.dtype)
    for placement in placements:
        memory = result if inside(placement.begin, result) else scratch
        assert (placement.begin - memory.data_ptr()) % 512 == 0
        assert placement.end <= memory.data_ptr() + bytes_of(memory)
    for a, b in itertools.combinations(placements, 2):
        if a.first <= b.last and b.first <= a.last:
            assert a.end <= b.begin or b.end <= a.begin
    others = [placement for placement in placements if placement is not result_placement]
    needed = (sum(p.aligned_size for p in others if p.first <= i <= p.last) for i in range(len(replayed.launches)))
    assert bytes_of(scratch) <= max(needed)


every_layout = pytest.mark.parametrize("layout", ["NHWC", "NCHW"])


every_recipe_slow_in_one_layout = pytest.mark.parametrize(
    ("recipe", "layout"),
    [
        pytest.param(recipe, layout, marks=[] if (layout == "NHWC") == (i % 2 == 0) else pytest.mark.slow)
        for i, recipe in enumerate(RECIPES)
        for layout in ("NHWC", "NCHW")
    ],
    ids=str,
)


@every_recipe_slow_in_one_layout
def test_launch_plan_equals_passes(recipe, layout, gpu):
    for dtype in recipe.dtypes:
        assert_plan_equals_passes(gpu, recipe.compose(dtype), dtype, layout)


@every_layout
@pytest.mark.parametrize("name", OTHER_TRANSFORMS)
def test_launch_plan_of_other_transforms_equals_passes(name, layout, gpu):
    assert_plan_equals_passes(gpu, T.Compose(OTHER_TRANSFORMS[name], seed=1), "uint8", layout)


def assert_plan_equals_passes(gpu, aug, dtype, layout):
    pixels = torch.empty(5 * 64 * 80 * 3 + 64, dtype=getattr(torch, dtype))  # no kernel reads the values
    shape = (5, 64, 80, 3) if layout == "NHWC" else (5, 3, 64, 80)
    for offset in (0, 64, 1):  # other memory of the same alignment; then of another
        image = describe_images(pixels[offset : offset + 5 * 64 * 80 * 3].reshape(shape), layout)
        plan = aug._fused.plans.plan(image)
        draw._device_program(plan, image)
        for step in range(2):
            draws = Draws(1000 + step, 2000 + step, 2**63 - 1 - step, step, -3 - step, None)
            rows = torch.zeros((5, plan.column_count), dtype=torch.float64)
            table = StridedArray(rows.data_ptr(), plan.column_count, 0, 1, 1, rows)
            for by_passes, by_plan in (
                (lambda: execute.apply(plan, image, table), lambda: launch_plan.apply(plan, image, table)),  # noqa: B023
                (lambda: draw_and_execute(plan, image, draws), lambda: launch_plan.draw_and_apply(plan, image, draws)),  # noqa: B023
            ):
                passes, replayed = record_call(gpu, by_passes), record_call(gpu, by_plan)
                assert passes.launches
                placements = assert_same_launches(replayed, passes)
                assert_memory_is_small_and_disjoint(placements, replayed, passes)
    assert len(plan.launch_plans) == 4  # two entry points, two alignments


@every_recipe_slow_in_one_layout
def test_launch_plan_of_masks_equals_passes(recipe, layout, gpu):
    aug = recipe.compose("uint8")
    plan = aug._fused.plans.plan(describe_images(torch.empty((5, 3, 64, 80), dtype=torch.uint8), "NCHW"))
    rows = torch.zeros((5, plan.column_count), dtype=torch.float64)
    for dtype, stack in itertools.product((torch.uint8, torch.int64), (1, 7)):
        shape = (5, stack, 64, 80) if layout == "NCHW" else (5, 64, 80, stack)
        masks = describe_images(torch.empty(shape, dtype=dtype), layout)
        # Addresses equal modulo 16 bytes: for UniformNoise the table is also the input image, whose alignment counts.
        for first_row in (0, 2):
            pointer = rows.data_ptr() + 8 * plan.column_count * first_row
            table = StridedArray(pointer, plan.column_count, 0, 1, 1, rows)
            passes = record_call(gpu, lambda: execute.apply_to_masks(plan, masks, table))  # noqa: B023
            replayed = record_call(gpu, lambda: launch_plan.apply_to_masks(plan, masks, table))  # noqa: B023
            assert passes.launches
            placements = assert_same_launches(replayed, passes)
            assert_memory_is_small_and_disjoint(placements, replayed, passes)
    assert len(plan.launch_plans) == (0 if plan.casts_moved_masks else 4)


def test_launch_plan_of_masks_replaces_no_other_plan(gpu):
    aug, images = T.Compose([T.RandomHorizontalFlip()]), torch.zeros((1, 3, 64, 80), dtype=torch.uint8)
    for stack in range(1, launch_plan._MAX_PLANS + 9):
        aug(images, torch.zeros((1, stack, 64, 80), dtype=torch.uint8))
    plan = aug._fused.plans.plan(describe_images(images))
    entry_points = [entry_point for _, entry_point, *_ in plan.launch_plans]
    assert entry_points.count("masks") == launch_plan._MAX_PLANS - 1
    assert entry_points.count("apply") == 1


def draw_and_execute(plan, image, draws):
    return execute.apply(plan, image, draw.draw_table(plan, image, draws, with_matrix=False))


def test_launch_plan_call_runs_one_launch_sequence(gpu, monkeypatch):
    sequence_runs, run_sequence = [], LaunchSequence.__call__

    def count_run(sequence, *arguments):
        sequence_runs.append(sequence)
        run_sequence(sequence, *arguments)

    monkeypatch.setattr(LaunchSequence, "__call__", count_run)
    aug = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(5), T.RandomInvert()], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)
    replace_everywhere(monkeypatch, launch_module, "launch", None)
    for step in (5, 6):
        gpu.stream = 100 + step
        sequence_runs.clear()
        call = record_call(gpu, lambda: aug(batch, ids=4, step=step))  # noqa: B023
        assert len(sequence_runs) == 1
        assert len(call.launches) == aug.plan(batch).launches > 1
        numbers = np.frombuffer(call.launches[0].record, np.int64)
        assert call.launches[0].kernel == "cuaug::draw"
        assert numbers[5:8].tolist() == [3, step, 4]  # seed, step, first_id: kernels/records/draw.cuh
        assert [launch.config[7] for launch in call.launches] == [gpu.stream] * len(call.launches)
        assert {launch.kernel: bool(launch.config[8]) for launch in call.launches} == {
            launch.kernel: gpu.uses_pdl(launch.kernel) for launch in call.launches
        }


def test_launch_plan_driver_error_ends_call(gpu, monkeypatch):
    aug = T.Compose([T.GaussianBlur(5), T.RandomInvert(1.0)], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)

    monkeypatch.setattr(failures, "_versions", lambda: "driver of no machine")
    gpu.statuses[2] = 719
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 719"):
        record_call(gpu, lambda: aug(batch))
    assert len(gpu.launches) == 2
    gpu.statuses = {1: 1}
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 1"):
        record_call(gpu, lambda: aug.draw(batch))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_launch_plan_ragged_takes_launches_of_one_batch(layout, antialias, gpu):
    """New sizes take the same launches: kernels read the addresses and sizes of images from a table."""
    crop = T.RandomResizedCrop((13, 14), antialias=antialias)
    aug = T.Compose([crop, T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4), T.ToDtype("float16", scale=True)])
    tag = "Planar" if layout == "CHW" else "Packed"
    shape = (lambda h, w: (3, h, w)) if layout == "CHW" else (lambda h, w: (h, w, 3))
    configurations = []
    for sizes in ([(40, 30), (90, 60), (1, 1)], [(41, 33), (700, 60), (2, 9)]):
        ragged = [torch.zeros(shape(*size), dtype=torch.uint8) for size in sizes]
        results, launches, _ = record_call(gpu, lambda: aug(ragged, layout=layout, step=0))  # noqa: B023
        assert [tuple(image.shape) for image in results] == [shape(13, 14)] * 3
        assert len(launches) == aug.plan(ragged, layout=layout).launches
        names = [launch.kernel for launch in launches]
        assert names[0] == "cuaug::draw"
        assert f"cuaug::Ragged<cuaug::{tag}>" in names[1]
        assert not any("Ragged" in name for name in names[2:])
        configurations.append([(launch.kernel, launch.config) for launch in launches])
    assert configurations[0] == configurations[1]
    assert len(aug._fused.plans._plans) == 1
    with pytest.raises(_check.BackendError, match="images of different sizes cannot be captured"):
        call_in_capture(aug, ragged, layout)


def call_in_capture(aug, images, layout):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "is_capturing", lambda stream: True)
        aug(images, layout=layout)


def test_recipe_is_random_if_an_entry_of_a_list_is_drawn():
    """Guards the warning of a `Collate` without an epoch that all epochs have the same draws."""
    recipe = Recipe((8, 8), 3, "uint8")
    recipe.begin("Mine")
    recipe.constant("index", 0.0)
    assert not recipe.is_random
    signed, otherwise, plus, entries = 0.0, 0.0, 0.0, (5.0, 6.0)
    recipe.draw("ListValue", ["x"], ANY_MAGNITUDE, signed, otherwise, plus, len(entries), *entries)  # an index is drawn
    assert recipe.is_random
