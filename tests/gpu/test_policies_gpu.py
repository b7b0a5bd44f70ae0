"""Policies on a GPU: launches, threads, intermediate memory and a second device."""

import threading

import pytest
from helpers.arrays import images
from helpers.cuda_graphs import capture_graph

from cuaug import transforms as T
from cuaug._gpu import launch_sequence

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
POLICIES = [T.TrivialAugmentWide(), T.RandAugment(), T.AutoAugment(), T.AugMix()]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)


@every_policy
def test_compose_gpu_without_extension_equals_extension(policy, monkeypatch):
    batch = images(GPU, "uint8", "NCHW", (20, 50, 60, 3))
    expected = T.Compose([policy], seed=4)(batch, step=3)
    monkeypatch.setattr(launch_sequence, "_sequence_class", lambda: launch_sequence._PythonLaunchSequence)
    aug = T.Compose([policy], seed=4)
    for _ in range(2):
        assert torch.equal(aug(batch, step=3), expected)


@every_policy
def test_compose_gpu_threads_share_a_recipe(policy):
    """Each thread has its own stream, images and step."""
    batches = [images(GPU, "uint8", "NCHW", (20, 50, 60, 3), seed=seed) for seed in range(6)]
    expected = [T.Compose([policy], seed=4)(batch, step=step) for step, batch in enumerate(batches)]
    torch.cuda.synchronize()
    aug, results, barrier = T.Compose([policy], seed=4), {}, threading.Barrier(len(batches))

    def work(step):
        stream = torch.cuda.Stream()
        barrier.wait()
        with torch.cuda.stream(stream):
            results[step] = [aug(batches[step], step=step) for _ in range(20)]
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(step,)) for step in range(len(batches))]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    for step, expected_batch in enumerate(expected):
        assert len(results[step]) == 20
        for result in results[step]:
            assert torch.equal(result, expected_batch)


@every_policy
def test_policy_gpu_memory_is_bounded(policy):
    """At most two batches, the result included: a pass's input and output; in AugMix, two in each of three branches."""
    batch = torch.zeros((64, 3, 224, 224), dtype=torch.uint8, device="cuda")
    aug = T.Compose([policy], seed=4)
    aug(batch)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = aug(batch)
    batches = 6.1 if isinstance(policy, T.AugMix) else 2.1
    assert torch.cuda.max_memory_allocated() - before <= batches * batch.nbytes
    assert torch.cuda.memory_allocated() - before <= 1.01 * result.nbytes


@every_policy
def test_policy_gpu_graph_keeps_intermediate_memory(policy):
    batch, aug = images(GPU, "uint8", "NCHW", (20, 50, 60, 3)), T.Compose([policy], seed=4)
    expected = [aug(batch, step=step) for step in range(3)]
    aug.load_state_dict({"seed": 4, "step": 0})
    torch.cuda.synchronize()
    graph, result = capture_graph(lambda: aug(batch))
    for expected_batch in expected:
        blocks = [torch.full((1 << 20,), 99, dtype=torch.uint8, device="cuda") for _ in range(8)]
        graph.replay()
        assert torch.equal(result, expected_batch)
        assert all(bool((block == 99).all()) for block in blocks)


@pytest.mark.gpu(count=2)
@every_policy
def test_policy_gpu_runs_on_second_gpu(policy):
    aug, batch = T.Compose([policy], seed=4), images(GPU, "uint8", "NCHW", (20, 50, 60, 3))
    first = aug(batch, step=3)
    for _ in range(2):
        second = aug(batch.to("cuda:1"), step=3)
        assert second.device.index == 1
        assert torch.cuda.current_device() == 0
        assert torch.equal(second.cpu(), first.cpu())
