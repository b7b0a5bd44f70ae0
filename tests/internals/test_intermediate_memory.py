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
from cuaug._fusion import batched_launch, memory
from cuaug._passes import grids
from cuaug._program import records

torch = pytest.importorskip("torch")


def test_launch_plan_intermediate_memory_does_not_overlap():
    """Random spans never overlap in memory while both are needed. Tests of recipes show that the block is small."""
    random = np.random.default_rng(0)
    for _ in range(300):
        sizes, first, duration = random.integers(1, 5000, 13), random.integers(0, 8, 13), random.integers(0, 4, 13)
        result, *spans = (
            memory.Lifetime(int(s), int(a), int(a + n)) for s, a, n in zip(sizes, first, duration, strict=True)
        )
        result = result._replace(last=max(span.last for span in spans))
        placements, block_size = memory.assign_offsets(result, spans)
        for span, placement in zip(spans, placements, strict=True):
            assert placement.offset % 512 == 0
            assert placement.offset + span.size <= (result.size if placement.in_result else block_size)
            assert span.last < result.first or not placement.in_result
        for (a, placement_a), (b, placement_b) in itertools.combinations(zip(spans, placements, strict=True), 2):
            if placement_a.in_result == placement_b.in_result and a.first <= b.last and b.first <= a.last:
                assert (
                    placement_a.offset + a.size <= placement_b.offset
                    or placement_b.offset + b.size <= placement_a.offset
                )
        assert block_size <= sum(math.ceil(span.size / 512) * 512 for span in spans)
    assert memory.assign_offsets(memory.Lifetime(1000, 2, 2), []) == ([], 0)


@pytest.mark.parametrize(
    ("policy", "batches"),
    [(T.TrivialAugmentWide(), 1), (T.RandAugment(), 1), (T.AutoAugment(), 1), (T.AugMix(), 5)],
    ids=lambda value: type(value).__name__,
)
def test_launch_plan_policy_needs_memory_of_few_batches(policy, batches, gpu):
    """A policy needs one batch beside its result; each branch of AugMix reads one and writes one at a time."""
    batch = torch.zeros((16, 3, 224, 224), dtype=torch.uint8)
    *_, allocations = record_call(gpu, lambda: T.Compose([policy], seed=1)(batch))
    result, block = allocations[-2:]
    assert bytes_of(result) == batch.nbytes
    assert bytes_of(block) <= (batches + 0.05) * batch.nbytes


def test_launch_plan_sequence_takes_memory_of_two_images():
    """A sequence of passes needs two images: the result's own memory serves as one, or as both if it is wider."""
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
            assert 0 < grids.partial_sum_count(image) <= grids.max_partial_sum_count(1, size)


def test_launch_plan_torch_memory_on_current_device_only(monkeypatch):
    guards = torch._C._dynamo.guards
    shapes = []

    def raw(shape, strides, dtype):
        shapes.append(tuple(shape))
        return guards._empty_strided_cpu(shape, strides, dtype)

    library = library_of(torch.Tensor)
    monkeypatch.setattr(library, "raw_empty", raw)
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
