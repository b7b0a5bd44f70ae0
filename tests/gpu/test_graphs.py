"""CUDA graphs: a warm call is captured and replayed; a cold call is refused, and the capture continues."""

import pytest
from helpers.arrays import images, put
from helpers.child_process import python
from helpers.compare import assert_equal
from helpers.cuda_graphs import capture_graph, warm_up
from helpers.sanitizer import skip_under_sanitizer
from tables.warps import MAIN_ROWS

import cuaug

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

GPU = ("torch", "cuda")


def warm_and_capture(call):
    """The graph of a call that has run once, and the result whose memory each replay writes."""
    warm_up(call)
    return capture_graph(call)


@pytest.mark.parametrize("row", MAIN_ROWS, ids=str)
def test_op_graph_replay_equals_call(row):
    batch = images(GPU)
    parameters = {name: put(value, GPU) for name, value in row.parameters((3,)).items()}

    def call():
        return getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters)

    graph, result = warm_and_capture(call)
    for seed in range(100):
        batch.copy_(images(GPU, seed=seed % 5))
        graph.replay()
        if seed < 5 or seed == 99:
            assert_equal(result, call())


def test_warp_affine_graph_reads_new_matrices():
    batch, M = images(GPU, "float32"), torch.eye(3, device="cuda")[:2].repeat(3, 1, 1)
    graph, result = warm_and_capture(lambda: cuaug.warp_affine(batch, M))
    for shift in range(3):
        M[:, 0, 2] = shift
        graph.replay()
        assert_equal(result, cuaug.warp_affine(batch, M))


def test_compose_affine_graph_reads_new_pinned_matrices():
    identity = torch.eye(3)[:2].repeat(40, 1, 1)  # more than the 64 numbers that a capture writes as constants
    M, pinned = identity.cuda(), identity.pin_memory()
    graph, result = warm_and_capture(lambda: cuaug.compose_affine(M, pinned))
    for shift in range(3):
        pinned[:, 0, 2] = shift
        graph.replay()
        assert_equal(result, cuaug.compose_affine(M, pinned))


def test_warp_affine_graph_captures_host_matrix():
    batch = images(GPU)
    matrix = [[1.0, 0.1, 0.5], [-0.1, 1.0, 0.25]]
    graph, result = warm_and_capture(lambda: cuaug.warp_affine(batch, matrix))
    graph.replay()
    assert_equal(result, cuaug.warp_affine(batch, matrix))


COMPILE = """
import torch, cuaug
cuaug.warp_affine(torch.rand(2, 3, 16, 16, device="cuda"), torch.eye(3, device="cuda"))
"""
COLD = """
import torch, cuaug
x = torch.rand(2, 3, 16, 16, device="cuda")
M = torch.eye(3, device="cuda")[:2].contiguous()
if OTHER_KERNEL_FIRST:
    cuaug.warp_affine(x, M, interpolation="nearest")
torch.cuda.synchronize()
graph, message = torch.cuda.CUDAGraph(), None
with torch.cuda.graph(graph):
    doubled = x * 2
    try:
        cuaug.warp_affine(x, M)
    except cuaug.BackendError as error:
        message = str(error)
    result = doubled + 1
graph.replay()
torch.cuda.synchronize()
assert torch.equal(result, x * 2 + 1)
assert message is not None, "a cold kernel was loaded during a capture"
assert torch.equal(cuaug.warp_affine(x, M), x)  # the call works after the capture
print(message)
"""


@pytest.mark.parametrize("other_kernel_first", [True, False])
@pytest.mark.parametrize("compiled_before", [True, False])
def test_op_cold_kernel_is_refused_during_capture(other_kernel_first, compiled_before, tmp_path):
    """A kernel is cold if this process has not loaded it, even if the disk cache has it."""
    skip_under_sanitizer("torch's memory cache is off, so that a captured call cannot allocate its result")
    if compiled_before:
        python(COMPILE, CUPY_CACHE_DIR=str(tmp_path))
    message, _ = python(COLD.replace("OTHER_KERNEL_FIRST", str(other_kernel_first)), CUPY_CACHE_DIR=str(tmp_path))
    assert "cuaug.warmup()" in message
