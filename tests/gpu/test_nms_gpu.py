"""nms on the GPU: against the CPU, against torchvision, in graphs, on streams, and with many boxes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from helpers import boxes as box_cases
from helpers.arrays import no_synchronization
from helpers.busy_gpu import busy, occupied_multiprocessors
from helpers.compare import assert_equal, to_numpy
from helpers.cuda_graphs import capture_graph, warm_up
from helpers.sanitizer import skip_under_sanitizer
from numpy.testing import assert_array_equal

import cuaug
from cuaug._detection import nms_plan
from cuaug._gpu import devices

pytestmark = pytest.mark.gpu

every_scene = pytest.mark.parametrize("scene", box_cases.SCENES)


def boxes_and_scores(scene, count, seed=0, dtype=torch.float32):
    """Boxes and scores on the GPU."""
    return [torch.from_numpy(values).to(dtype).cuda() for values in box_cases.SCENES[scene](count, seed)]


def clustered_samples(samples, count):
    """Boxes [samples, count, 4] and scores [samples, count] on the GPU."""
    return [torch.from_numpy(values).float().cuda() for values in box_cases.clustered_samples(samples, count)]


@every_scene
@pytest.mark.parametrize("count", [64, 1024, 1025, 5000, 30_000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_nms_gpu_equals_cpu(scene, count, dtype):
    boxes, scores = boxes_and_scores(scene, count, dtype=dtype)
    classes = torch.from_numpy(box_cases.labels(count)).cuda()
    for threshold in (0.0, 0.5, 0.7):
        actual = cuaug.nms(boxes, scores, threshold)
        assert_array_equal(to_numpy(actual), cuaug.nms(boxes.cpu(), scores.cpu(), threshold))
        actual = cuaug.batched_nms(boxes, scores, classes, threshold)
        assert_array_equal(to_numpy(actual), cuaug.batched_nms(boxes.cpu(), scores.cpu(), classes.cpu(), threshold))


@pytest.mark.parametrize("scene", ["random", "clustered", "distant"])
@pytest.mark.parametrize("count", [10, 1000, 10_000])
def test_nms_gpu_equals_torchvision(scene, count):
    """Equal scores are ordered by index.

    torchvision's IoU is in float32; none here is so near to a threshold that its rounding changes a decision.
    """
    ops = pytest.importorskip("torchvision.ops")
    boxes, scores = boxes_and_scores(scene, count)
    classes = torch.arange(count, device="cuda") % 7
    for threshold in (0.3, 0.5, 0.7):
        assert torch.equal(cuaug.nms(boxes, scores, threshold), ops.nms(boxes, scores, threshold))
        expected = torch.cat(
            [indices[ops.nms(boxes[indices], scores[indices], threshold)] for indices in by_class(classes, 7)]
        )
        expected = expected.sort().values
        actual = cuaug.batched_nms(boxes, scores, classes, threshold)
        assert torch.equal(actual, expected[scores[expected].argsort(descending=True, stable=True)])


def by_class(classes, count):
    return [torch.nonzero(classes == c)[:, 0] for c in range(count)]


def test_nms_gpu_is_deterministic():
    """The order in which blocks run does not change the result."""
    boxes, scores = boxes_and_scores("clustered", 20_000)
    classes = torch.from_numpy(box_cases.labels(20_000)).cuda()
    first = cuaug.nms(boxes, scores, 0.5), cuaug.batched_nms(boxes, scores, classes, 0.5)
    for _ in range(300):
        assert torch.equal(cuaug.nms(boxes, scores, 0.5), first[0])
        assert torch.equal(cuaug.batched_nms(boxes, scores, classes, 0.5), first[1])


@pytest.mark.parametrize("count", [1000, 3000, 17_000])
def test_nms_gpu_fixed_size_in_graph(count):
    batches = [boxes_and_scores("clustered", count, seed) for seed in range(4)]
    classes = torch.from_numpy(box_cases.labels(count)).cuda()
    boxes, scores = (values.clone() for values in batches[0])

    def call():
        return cuaug.batched_nms(boxes, scores, classes, 0.5, fixed_size=True, max_output=100)

    warm_up(call)
    with no_synchronization():
        call()
    graph, (indices, kept_count) = capture_graph(call)
    for new_boxes, new_scores in [*batches, *batches]:
        boxes.copy_(new_boxes)
        scores.copy_(new_scores)
        graph.replay()
        expected = call()
        assert_equal(indices, expected[0])
        assert_equal(kept_count, expected[1])
        assert int(kept_count) > 10


@pytest.mark.parametrize("count", [2000, 17_000])
def test_nms_gpu_runs_on_current_stream(count):
    boxes, scores = boxes_and_scores("clustered", count)
    other = boxes_and_scores("clustered", count, 1)
    expected = cuaug.nms(*other, 0.5)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy(20)
        boxes.copy_(other[0])
        scores.copy_(other[1])
        actual = cuaug.nms(boxes, scores, 0.5)
    assert torch.equal(actual, expected)


@pytest.mark.parametrize("images", [16, 40])
def test_nms_gpu_batch_in_one_call(images):
    """16 images take the method that compares all pairs; 40 have too many pairs for it."""
    boxes, scores = clustered_samples(images, 3000)
    counts = torch.arange(images, device="cuda") * 200 % 3100
    indices, kept_counts = cuaug.nms(boxes, scores, 0.5, fixed_size=True, counts=counts)
    for n in range(images):
        count = int(counts[n])
        expected = cuaug.nms(boxes[n, :count], scores[n, :count], 0.5)
        assert torch.equal(indices[n, : int(kept_counts[n])], expected)
        assert (indices[n, int(kept_counts[n]) :] == -1).all()


@every_scene
@pytest.mark.parametrize("count", [1025, 5000, 10_000])
def test_nms_gpu_last_block_resolves_the_rest(scene, count):
    """A block stops waiting for blocks that cannot become resident: otherwise the call would never end."""
    multiprocessors = devices.multiprocessor_count(torch.cuda.current_device())
    launches = nms_plan.plan_nms(1, count, "float32", True, multiprocessors).launches
    assert "cuaug::nms_resolve" in [kernel for kernel, *_ in launches]
    boxes, scores = boxes_and_scores(scene, count)
    classes = torch.from_numpy(box_cases.labels(count)).cuda()
    expected = cuaug.batched_nms(boxes.cpu(), scores.cpu(), classes.cpu(), 0.5)
    cuaug.batched_nms(boxes, scores, classes, 0.5)  # compiles and allocates
    torch.cuda.synchronize()
    with occupied_multiprocessors():
        actual = to_numpy(cuaug.batched_nms(boxes, scores, classes, 0.5))
    assert_array_equal(actual, expected)


def test_nms_gpu_stream_priorities_terminate():
    """Two calls that each need most of the GPU run at two priorities, beside a third stream that holds a part of it."""
    boxes, scores = boxes_and_scores("clustered", 10_000)
    expected = cuaug.nms(boxes, scores, 0.5)
    torch.cuda.synchronize()
    low, high, third = torch.cuda.Stream(priority=0), torch.cuda.Stream(priority=-1), torch.cuda.Stream()
    work = torch.randn(4096, 4096, device="cuda")
    for _ in range(50):
        with torch.cuda.stream(third):
            work @ work
        results = []
        for stream in (low, high):
            with torch.cuda.stream(stream):
                results.append(cuaug.nms(boxes, scores, 0.5, fixed_size=True))
        for stream in (low, high):
            stream.synchronize()
        for indices, count in results:
            assert torch.equal(indices[: int(count)], expected)


def test_nms_gpu_more_samples_than_resident_blocks():
    """Each sample has three blocks of nms_resolve.cu, of 1,024 threads each, that wait for each other."""
    boxes, scores = clustered_samples(220, 1100)
    indices, kept_counts = cuaug.nms(boxes, scores, 0.5, fixed_size=True)
    expected = cuaug.nms(boxes.cpu(), scores.cpu(), 0.5, fixed_size=True)
    assert_array_equal(to_numpy(indices), expected[0])
    assert_array_equal(to_numpy(kept_counts), expected[1])


@pytest.mark.parametrize("count", [100_000, 400_000])
def test_nms_gpu_many_boxes_take_little_memory(count):
    """A bit mask of all pairs of boxes would take N^2 / 8 bytes: 1.25 and 20 GB."""
    boxes, scores = boxes_and_scores("clustered", count)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    actual = cuaug.nms(boxes, scores, 0.5)
    assert torch.cuda.max_memory_allocated() - before < 100 * count
    assert_array_equal(to_numpy(actual), cuaug.nms(boxes.cpu(), scores.cpu(), 0.5))


def test_nms_gpu_more_samples_than_grid_axis():
    boxes, scores = boxes_and_scores("random", 70_000 * 4)
    indices, kept_counts = cuaug.nms(boxes.view(-1, 4, 4), scores.view(-1, 4), 0.1, fixed_size=True)
    expected = cuaug.nms(boxes.view(-1, 4, 4).cpu(), scores.view(-1, 4).cpu(), 0.1, fixed_size=True)
    assert_array_equal(to_numpy(indices), expected[0])
    assert_array_equal(to_numpy(kept_counts), expected[1])


@every_scene
@pytest.mark.parametrize(
    "count",
    [1, 31, 32, 33, 63, 65, 255, 256, 257, 513, 1023, 1024, 1025, 2048, 2049, 2113, 3072, 3073, 8193, 10_240, 10_241],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_nms_gpu_word_block_and_method_boundaries(scene, count, dtype):
    """Counts around a word of 32 boxes, a group of 32 words, and the methods' limits: 1,024, and 10,240 on an H100."""
    boxes, scores = boxes_and_scores(scene, count, 3, dtype)
    classes = torch.from_numpy(box_cases.labels(count)).cuda()
    actual = cuaug.nms(boxes, scores, 0.5)
    assert_array_equal(to_numpy(actual), cuaug.nms(boxes.cpu(), scores.cpu(), 0.5))
    actual = cuaug.batched_nms(boxes, scores, classes, 0.5, max_output=40)
    expected = cuaug.batched_nms(boxes.cpu(), scores.cpu(), classes.cpu(), 0.5, max_output=40)
    assert_array_equal(to_numpy(actual), expected)


@pytest.mark.parametrize("samples", [1, 3, 200])
@pytest.mark.parametrize("count", [1, 33, 300, 1024, 1025])
def test_nms_gpu_counts_per_sample(count, samples):
    boxes, scores = clustered_samples(samples, count)
    classes = torch.from_numpy(np.stack([box_cases.labels(count, seed) for seed in range(samples)])).cuda()
    counts = torch.arange(samples, device="cuda") * 7 % (count + 1)  # the first sample has no boxes
    options = {"fixed_size": True, "max_output": 50, "score_threshold": 0.1}
    actual = cuaug.batched_nms(boxes, scores, classes, 0.5, counts=counts, **options)
    host = (array.cpu() for array in (boxes, scores, classes))
    expected = cuaug.batched_nms(*host, 0.5, counts=counts.cpu(), **options)
    for actual_array, expected_array in zip(actual, expected, strict=True):
        assert_array_equal(to_numpy(actual_array), expected_array)
    assert int(actual[1][0]) == 0


@pytest.mark.parametrize("scale", [1e-25, 1e25])
@pytest.mark.parametrize("count", [200, 3000, 17_000])
def test_nms_gpu_areas_beyond_float32(count, scale):
    boxes, scores = box_cases.clustered(count)
    boxes, scores = torch.from_numpy(boxes * scale).float().cuda(), torch.from_numpy(scores).float().cuda()
    actual = cuaug.nms(boxes, scores, 0.5)
    assert len(actual) < count
    assert_array_equal(to_numpy(actual), cuaug.nms(boxes.cpu(), scores.cpu(), 0.5))


def test_nms_gpu_threads_on_their_own_streams():
    """Calls reuse pinned host counters; calls of different threads must not get the same counter at once."""
    inputs = [boxes_and_scores("clustered", 400 + 200 * k, k) for k in range(8)]
    expected = [cuaug.nms(boxes.cpu(), scores.cpu(), 0.5) for boxes, scores in inputs]
    torch.cuda.synchronize()

    def call_repeatedly(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            return [to_numpy(cuaug.nms(*inputs[k], 0.5)) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        for results, expected_indices in zip(pool.map(call_repeatedly, range(8)), expected, strict=True):
            for actual in results:
                assert_array_equal(actual, expected_indices)


@pytest.mark.parametrize("count", [2, 64, 1000, 1024, 5000])
def test_nms_gpu_chain_in_any_order(count):
    """Each box depends on the one before it, which another warp or block decides: as many rounds as boxes."""
    boxes, scores = boxes_and_scores("chain", count)
    for seed in range(5):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(count)).cuda()
        actual = cuaug.nms(boxes[order], scores[order], 0.3)
        assert len(actual) == -(-count // 2)
        assert_array_equal(to_numpy(actual), cuaug.nms(boxes[order].cpu(), scores[order].cpu(), 0.3))


@pytest.mark.parametrize("count", [1000, 3000, 30_000])
def test_nms_gpu_result_is_ready_for_every_stream(count):
    """The host sees the count only after the indices are written. 1,000 boxes use the scratch memory of a host
    counter; 3,000 and 30,000 need more, which is allocated."""
    inputs = [boxes_and_scores("clustered", count, seed) for seed in range(4)]
    expected = [cuaug.nms(boxes.cpu(), scores.cpu(), 0.5) for boxes, scores in inputs]
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    for k in [0, 1, 2, 3] * 25:
        with torch.cuda.stream(side):
            actual = cuaug.nms(*inputs[k], 0.5)
        copy = actual.clone()  # on a stream that does not wait for the other
        actual.record_stream(torch.cuda.current_stream())
        assert_array_equal(to_numpy(copy), expected[k])


@pytest.mark.parametrize("count", [1025, 3000, 10_000, 100_000])
def test_nms_gpu_dependencies_across_blocks(count):
    """Dependencies pass from block to block: 1 to 1,000 chains side by side, whose boxes are not ranked in order."""
    rng = np.random.default_rng(count)
    for chains in (1, 3, 64, 1000):
        left, top = 2.0 * (np.arange(count) // chains), 10.0 * (np.arange(count) % chains)
        boxes = torch.from_numpy(np.stack([left, top, left + 6, top + 5], 1)).float().cuda()
        scores = torch.from_numpy(-np.arange(count) - rng.uniform(0, 200, count)).float().cuda()
        actual = cuaug.nms(boxes, scores, 0.3)
        assert_array_equal(to_numpy(actual), cuaug.nms(boxes.cpu(), scores.cpu(), 0.3))
        classes = torch.arange(count, device="cuda") % chains
        actual = cuaug.batched_nms(boxes, scores, classes, 0.3)
        assert_array_equal(to_numpy(actual), cuaug.batched_nms(boxes.cpu(), scores.cpu(), classes.cpu(), 0.3))


def test_nms_gpu_thread_new_to_the_device():
    boxes, scores = boxes_and_scores("clustered", 500)
    expected = cuaug.nms(boxes, scores, 0.5)
    with ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(cuaug.nms, boxes, scores, 0.5).result(), expected)


def test_nms_gpu_dynamic_length_is_refused_in_capture():
    skip_under_sanitizer("torch's memory cache is off, so that the call allocates memory before it is refused")
    boxes, scores = boxes_and_scores("clustered", 300)
    cuaug.nms(boxes, scores, 0.5)
    message = ""
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            try:
                cuaug.nms(boxes, scores, 0.5)
            except cuaug.BackendError as error:
                message = str(error)
    except RuntimeError:
        pass  # torch reports that the capture was invalidated
    assert "fixed_size=True" in message
    torch.cuda.synchronize()
    assert len(cuaug.nms(boxes, scores, 0.5)) > 10
