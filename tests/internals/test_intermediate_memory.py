"""Memory of a launch plan: intermediate images, parameter tables and kernel arguments.

Guards the promise that a recipe needs little memory beside its result.
"""

import itertools
import math

import numpy as np
import pytest
from helpers.fake_driver import bytes_of, record_call

from cuaug import transforms as T
from cuaug._arrays import images, protocol, torch_library
from cuaug._arrays.registry import library_of
from cuaug._passes import batched_launch, grids, memory
from cuaug._program import records

torch = pytest.importorskip("torch")


def test_launch_plan_intermediate_memory_does_not_overlap():
    """Arrays of random lifetimes never overlap while both live. Tests of recipes show that scratch memory is small."""
    random = np.random.default_rng(0)
    for _ in range(300):
        sizes, first, duration = random.integers(1, 5000, 13), random.integers(0, 8, 13), random.integers(0, 4, 13)
        result, *lifetimes = (
            memory.Lifetime(int(s), int(a), int(a + n)) for s, a, n in zip(sizes, first, duration, strict=True)
        )
        result = result._replace(last=max(lifetime.last for lifetime in lifetimes))
        allocations, scratch_size = memory.assign_offsets(result, lifetimes)
        for lifetime, allocation in zip(lifetimes, allocations, strict=True):
            assert allocation.offset % 512 == 0
            assert allocation.offset + lifetime.size <= (result.size if allocation.in_result else scratch_size)
            assert lifetime.last < result.first or not allocation.in_result
        for (a, allocation_a), (b, allocation_b) in itertools.combinations(zip(lifetimes, allocations, strict=True), 2):
            if allocation_a.in_result == allocation_b.in_result and a.first <= b.last and b.first <= a.last:
                assert (
                    allocation_a.offset + a.size <= allocation_b.offset
                    or allocation_b.offset + b.size <= allocation_a.offset
                )
        assert scratch_size <= sum(math.ceil(lifetime.size / 512) * 512 for lifetime in lifetimes)
    assert memory.assign_offsets(memory.Lifetime(1000, 2, 2), []) == ([], 0)


@pytest.mark.parametrize(
    ("policy", "batches"),
    [(T.TrivialAugmentWide(), 1), (T.RandAugment(), 1), (T.AutoAugment(), 1), (T.AugMix(), 5)],
    ids=lambda value: type(value).__name__,
)
def test_launch_plan_policy_needs_memory_of_few_batches(policy, batches, gpu):
    """A policy needs one batch beside its result. AugMix has three branches: each reads one batch and writes one."""
    batch = torch.zeros((16, 3, 224, 224), dtype=torch.uint8)
    *_, allocations = record_call(gpu, lambda: T.Compose([policy], seed=1)(batch))
    result, scratch = allocations[-2:]
    assert bytes_of(result) == batch.nbytes
    assert bytes_of(scratch) <= (batches + 0.05) * batch.nbytes


def test_launch_plan_sequence_takes_memory_of_two_images():
    """A sequence of passes needs two images. A result twice as large holds both until the last pass writes it."""
    chain = [memory.Lifetime(1024, i, i + 1) for i in range(6)]
    assert memory.assign_offsets(memory.Lifetime(1024, 6, 6), chain)[1] == 1024
    assert memory.assign_offsets(memory.Lifetime(2048, 6, 6), chain)[1] == 1024
    assert memory.assign_offsets(memory.Lifetime(2048, 7, 7), chain)[1] == 0


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_launch_plan_table_has_room_for_partial_sums(dtype, channels):
    """A recipe may convert before a mean: the table has room for the partial sums of any dtype."""
    for size in ((1, 1), (224, 224), (65, 33), (1080, 1920)):
        for samples in (1, 7, 256, 3000):
            image = images.placeholder((samples, *size, channels), dtype)._replace(device=0)
            counts = grids.partial_sum_count(image), grids.mean_block_count(1, size)
            assert 0 < min(counts) <= max(counts) <= grids.max_partial_sum_count(1, size)


def test_launch_plan_torch_memory_on_current_device_only(monkeypatch):
    """torch's fast allocator works on the current device alone: memory on other devices comes from `torch.empty`."""
    guards = torch._C._dynamo.guards
    shapes = []

    def raw_empty(shape, strides, dtype):
        shapes.append(tuple(shape))
        return guards._empty_strided_cpu(shape, strides, dtype)

    library = library_of(torch.Tensor)
    monkeypatch.setattr(library, "raw_empty", raw_empty)
    monkeypatch.setattr(library, "current_device", lambda: 1)
    monkeypatch.setattr(torch_library, "_torch_device", lambda device: torch.device("cpu"))
    for shape, order in (((), None), ((0, 3), None), (torch.Size((2, 3, 4)), None), ((2, 3, 4, 5), (0, 2, 3, 1))):
        for dtype in ("uint8", "int64", "bfloat16"):
            expected = library.empty(shape, dtype, 0, order)
            assert not shapes
            result = library.empty(shape, dtype, 1, order)
            assert shapes.pop() == protocol.memory_shape(shape, order)[0]
            assert (result.shape, result.stride(), result.dtype) == (expected.shape, expected.stride(), expected.dtype)


def test_launch_plan_arguments_have_room_for_batched_records():
    assert (
        batched_launch.MAX_BATCHED * max(records.POINTWISE.size, *(record.size for record in records.WARPS.values()))
        <= 4096
    )
