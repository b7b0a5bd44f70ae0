"""Launch plans on a CPU: loops recorded once and replayed give the bits of the passes, run one by one."""

import copy
import itertools
import math
import pickle
import sys
import threading

import numpy as np
import pytest
from helpers.arrays import noise, seeded
from helpers.compare import EXACT, assert_equal
from tables.recipes import OTHER_TRANSFORMS, RECIPES

from cuaug import _native as native
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._arrays.registry import library_of
from cuaug._fusion import draw, execute, launch_plan
from cuaug._fusion.draw_kernel import Draws
from cuaug._passes import memory
from cuaug._program import records

ELASTIC = [T.ElasticTransform(30.0, 4.0), T.RandomPerspective(0.4, 1.0)]
RECIPES_BY_NAME = {
    **{name: T.Compose(transforms, seed=1) for name, transforms in (OTHER_TRANSFORMS | {"elastic": ELASTIC}).items()},
    **{str(recipe): recipe.compose("uint8") for recipe in RECIPES if "uint8" in recipe.dtypes},
}


@pytest.fixture
def random_memory(monkeypatch):
    """New arrays hold random bytes, so that a value that nothing has written differs between two calls."""
    library, random = library_of(np.ndarray), seeded("memory")
    empty = library.empty

    def filled(self, *args):
        array = empty(*args)
        if array.flags.c_contiguous:
            array.reshape(-1).view(np.uint8)[...] = random.integers(0, 256, array.nbytes, np.uint8)
        return array

    monkeypatch.setattr(type(library), "empty", filled)


@pytest.mark.parametrize("samples", [1, 5, 9])
@pytest.mark.parametrize("name", RECIPES_BY_NAME)
def test_launch_plan_of_cpu_equals_passes(name, samples, random_memory):
    aug = RECIPES_BY_NAME[name]
    for step in range(4):  # the first call runs the passes, the second records, the others replay
        batch = np.roll(noise((9, 40, 50, 3)), 7 * step)[:samples]
        images = describe_images(batch, "NHWC")
        plan, draws = aug._fused.plans.plan(images), Draws(0, 0, 1, step, 5, None)
        table = draw.draw_table(plan, images, draws, with_matrix=False)
        expected = execute.apply(plan, images, table)
        assert_equal(launch_plan.apply(plan, images, table), expected, tolerance=EXACT)
        assert_equal(launch_plan.draw_and_apply(plan, images, draws), expected, tolerance=EXACT)


def test_launch_plan_of_cpu_is_called_by_several_threads():
    aug = T.Compose([T.RandomResizedCrop(24), T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.GaussianBlur(5)], seed=1)
    batches = [np.roll(noise((4, 40, 50, 3)), i) for i in range(8)]
    expected = [aug(batch, step=i) for i, batch in enumerate(batches)]
    wrong = []

    def call(i):
        for _ in range(20):
            if not np.array_equal(aug(batches[i], step=i), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_launch_plan_is_added_while_another_thread_looks_for_the_oldest(monkeypatch):
    monkeypatch.setattr(launch_plan, "_MAX_PLANS", 1)
    aug, batch, added = T.Compose([T.RandomHorizontalFlip()], seed=1), noise((2, 4, 4, 3)), []
    plan = aug._fused.plans.plan(describe_images(batch, "NHWC"))
    expected = [aug(batch, step=0) for _ in range(2)][1]

    def add_plan(frame, event, function):
        if event == "c_return" and function is iter and frame.f_locals.get("cache") is plan.launch_plans and not added:
            added.append(plan.launch_plans.setdefault("of another thread"))

    aug(batch[:1], step=0)
    sys.setprofile(add_plan)
    try:
        aug(batch[:1], step=0)
    finally:
        sys.setprofile(None)
    assert len(added) == 1
    assert_equal(aug(batch, step=0), expected, tolerance=EXACT)


def test_launch_plan_of_cpu_is_recorded_at_the_second_call_of_a_kind():
    """Images of a size that occurs once leave no launch plan behind; many data sets consist of them."""
    aug, images = T.Compose([T.RandomHorizontalFlip(), T.RandomInvert()], seed=1), noise((1, 40, 50, 3))
    plan = aug._fused.plans.plan(describe_images(images, "NHWC"))
    for call, plans in enumerate((0, 1, 1)):
        aug(images, step=call)
        assert len(plan.launch_plans) == plans


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda params: pickle.loads(pickle.dumps(params))])
def test_copied_params_point_to_the_array_that_they_hold(copied):
    """They have no address of a launch plan's memory nor, if the array is copied too, of the original's."""
    aug, batch = T.Compose([T.RandomAffine(30), T.RandomResizedCrop(24)], seed=1), noise((5, 40, 50, 3))
    result, params = aug(batch, step=0), aug.draw(batch, step=0)
    expected, copied_params = aug.inverse(result, params), copied(params)
    assert copied_params.table.pointer == copied_params.table.owner.ctypes.data
    if copied is not copy.copy:
        params.table.owner[:] = 0.0
    assert_equal(aug.inverse(result, copied_params), expected, tolerance=EXACT)
    assert_equal(copied_params.matrices, aug.draw(batch, step=0).matrices, tolerance=EXACT)


def test_assign_offsets_for_loops_shares_memory_of_arrays_with_equal_places():
    """Arrays overlap only if they live at different times and their samples lie at the same places (`places`)."""
    random = np.random.default_rng(0)
    for _ in range(300):
        kinds, first, duration = random.integers(1, 4, 13), random.integers(0, 8, 13), random.integers(0, 4, 13)
        result, *lifetimes = (
            memory.Lifetime(700 * int(kind), int(a), int(a + n), int(kind))
            for kind, a, n in zip(kinds, first, duration, strict=True)
        )
        result = result._replace(last=max(lifetime.last for lifetime in (result, *lifetimes)))
        allocations, scratch_size = memory.assign_offsets_for_loops(result, lifetimes)
        placed = [(result, memory.Allocation(True, 0)), *zip(lifetimes, allocations, strict=True)]
        for (a, place_a), (b, place_b) in itertools.combinations(placed, 2):
            if place_a.in_result != place_b.in_result:
                continue
            disjoint = place_a.offset + a.size <= place_b.offset or place_b.offset + b.size <= place_a.offset
            may_share = a.places == b.places and place_a == place_b and (a.last < b.first or b.last < a.first)
            assert disjoint or may_share
        assert all(p.offset + a.size <= scratch_size for a, p in placed if not p.in_result)
        arrays, needed = [result, *lifetimes], 0
        for kind in {array.places for array in arrays}:
            alive = max(sum(a.places == kind and a.first <= t <= a.last for a in arrays) for t in range(12))
            needed += (alive - (kind == result.places)) * math.ceil(700 * int(kind) / 512) * 512
        assert scratch_size == needed


def invert_loop():
    values = {"samples": 1, "frames": 1, "channels": 3, "out_height": 2, "out_width": 2}
    data = bytearray(records.POINTWISE.size)
    for name, value in values.items():
        offset, size = records.POINTWISE.offsets[name]
        data[offset : offset + size] = value.to_bytes(size, "little")
    return native.pointwise(bytes(data), "uint8", "uint8", ["Invert"], 3), bytes(data)


def test_loop_sequence_rejects_too_few_values_and_relocations_outside_the_record():
    (loop, record), (offset, _) = invert_loop(), records.POINTWISE.offsets["out.data"]
    with pytest.raises(ValueError, match="the records need 3 values"):
        native.LoopSequence([(loop, record, [(offset, 2, 0)])]).run((1, 2))
    for wrong in (records.POINTWISE.size, records.POINTWISE.size - 4, 4, 2**64 - 8):
        with pytest.raises(ValueError, match="a relocation is eight aligned bytes of the record"):
            native.LoopSequence([(loop, record, [(wrong, 0, 0)])])
    with pytest.raises(ValueError, match=r"a value's index is at most 2\*\*31 - 1"):
        native.LoopSequence([(loop, record, [(offset, 2**64 - 1, 0)])])
