"""roi_align and roi_pool on the GPU, against the CPU, which has oracles of its own."""

import numpy as np
import pytest
from helpers.arrays import no_synchronization, seeded
from helpers.compare import assert_equal
from helpers.cuda_graphs import capture_graph, warm_up
from helpers.gpu_regions import TOLERANCE, assert_alike, features, regions
from helpers.regions import SCALES

import cuaug

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
KINDS = {
    "avg": (lambda f, r, **o: cuaug.roi_align(f, r, (5, 4), 0.5, 2, True, **o), False),
    "avg, adaptive": (lambda f, r, **o: cuaug.roi_align(f, r, 7, 0.5, **o), False),
    "avg, many bins": (lambda f, r, **o: cuaug.roi_align(f, r, (70, 3), 0.5, 1, True, **o), False),
    "max": (lambda f, r, **o: cuaug.roi_align(f, r, (5, 4), 0.5, 2, True, "max", **o), False),
    "rotated": (lambda f, r, **o: cuaug.roi_align(f, r, (5, 4), 0.5, -1, True, **o), True),
    "rotated max": (lambda f, r, **o: cuaug.roi_align(f, r, (5, 4), 0.5, 2, True, "max", **o), True),
    "roi_pool": (lambda f, r, **o: cuaug.roi_pool(f, r, (5, 4), 0.5, **o), False),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


@pytest.fixture(params=[False, True], ids=["atomic additions", "deterministic"])
def backward_mode(request):
    """Both backward passes: by atomic additions, and deterministic."""
    torch.use_deterministic_algorithms(request.param)
    yield
    torch.use_deterministic_algorithms(False)


def gpu_and_cpu_results(call, maps, rois):
    """Result and gradient, on the GPU and on the CPU."""
    results = []
    for device in ("cuda", "cpu"):
        leaf = maps.detach().to(device).requires_grad_()
        out = call(leaf, rois.to(device))
        gradient = torch.from_numpy(seeded("gradient", 0).normal(0, 1, tuple(out.shape))).to(out)
        out.backward(gradient)
        results.append((out.detach(), leaf.grad))
    return results


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_gpu_gradient_of_a_narrow_region_at_the_edge(mode, backward_mode):
    """The points of the first four of seven bins have the coordinate 64 in float32, and belong to the last pixel."""
    right = float(np.nextafter(np.float32(64.5), np.float32(65)))
    maps, rois = features(torch.float32, 3, shape=(64, 64)), torch.tensor([[0, 64.5, 20, right, 24]])
    for _ in range(3):  # shared memory may hold values of the run before
        (out, gradient), (expected, expected_gradient) = gpu_and_cpu_results(
            lambda f, r: cuaug.roi_align(f, r, (1, 7), 1.0, 1, True, mode), maps, rois
        )
        assert_alike(out, expected, torch.float32)
        assert_alike(gradient, expected_gradient, torch.float32)


@every_kind
@every_dtype
@pytest.mark.parametrize("channels", [3, 40])
@pytest.mark.parametrize("channels_last", [False, True], ids=["planes", "channels last"])
def test_roi_align_gpu_equals_cpu(channels_last, channels, dtype, kind, backward_mode):
    call, rotated = KINDS[kind]
    maps, rois = features(dtype, channels, channels_last), torch.from_numpy(regions(60, rotated))
    (out, gradient), (expected, expected_gradient) = gpu_and_cpu_results(call, maps, rois)
    assert_alike(out, expected, dtype)
    assert_alike(gradient, expected_gradient, dtype)
    for array in (out, gradient):
        assert array.is_contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


@every_kind
@pytest.mark.parametrize("view", ["every second channel", "rows and columns swapped", "expanded"])
def test_roi_align_gpu_strided_features_and_gradients(view, kind):
    call, rotated = KINDS[kind]
    maps = features(torch.float32, 12)
    maps = {
        "every second channel": lambda: maps[:, ::2],
        "rows and columns swapped": lambda: maps.transpose(2, 3),
        "expanded": lambda: maps[:1].expand(2, -1, -1, -1),
    }[view]()
    rois = torch.from_numpy(regions(40, rotated)).cuda().float()
    assert_equal(call(maps, rois), call(maps.contiguous(), rois), tolerance=TOLERANCE[torch.float32])
    leaf = maps.detach().clone().requires_grad_()
    call(leaf, rois).sum().backward()  # the gradient is an expanded tensor
    other = maps.detach().clone().requires_grad_()
    out = call(other, rois)
    out.backward(torch.ones_like(out))
    assert_alike(leaf.grad, other.grad, torch.float32)


@every_kind
def test_roi_align_gpu_ignores_previous_memory(kind, backward_mode):
    call, rotated = KINDS[kind]
    rois = torch.from_numpy(regions(50, rotated)).cuda()
    results = []
    for fill in (float("nan"), 1e30):
        # torch has a pool for memory up to 1 MiB and one for larger memory, and takes the smallest hole that fits.
        torch.cuda.empty_cache()
        blocks = [torch.full((count,), fill, device="cuda") for count in [1 << 22] * 8 + [1 << 14] * 256]
        del blocks
        leaf = features(torch.float32).requires_grad_()
        out = call(leaf, rois)
        out.backward(torch.ones_like(out))
        results += [out.detach(), leaf.grad]
    assert torch.equal(results[0], results[2])
    assert_alike(results[1], results[3], torch.float32)
    assert bool(torch.isfinite(results[1]).all())


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("rotated", [False, True])
def test_roi_align_gpu_levels(rotated, mode, backward_mode):
    levels = [features(torch.float32, 33, shape=(64 >> i, 80 >> i), seed=i) for i in range(4)]
    rois = torch.from_numpy(regions(200, rotated, (310.0, 250.0))).float()
    results = []
    for device in ("cuda", "cpu"):
        leaves = [level.detach().to(device).requires_grad_() for level in levels]
        out = cuaug.roi_align(leaves, rois.to(device), 7, SCALES, 2, True, mode, canonical_size=60)
        out.backward(torch.from_numpy(seeded("levels").normal(0, 1, tuple(out.shape))).to(out))
        results.append([out.detach(), *(level.grad for level in leaves)])
    for actual, expected in zip(*results, strict=True):
        assert_alike(actual, expected, torch.float32)


@every_kind
def test_roi_align_gpu_gradcheck(kind, backward_mode):
    call, rotated = KINDS[kind]
    maps = features(torch.float64, 2, shape=(7, 6)).requires_grad_()
    rois = torch.from_numpy(regions(4, rotated, (13.0, 13.0))).cuda()
    assert torch.autograd.gradcheck(lambda f: call(f, rois), (maps,), nondet_tol=1e-12)


@pytest.mark.parametrize("shape", [(3, 32767), (3, 32768), (32768, 3)], ids=str)
def test_roi_pool_gpu_positions_of_maxima_beyond_15_bits(shape, backward_mode):
    """The row and column of a maximum are packed into four bytes if both sides are below 2^15, else into eight."""
    rois = torch.tensor([(0, 0, 0, shape[1], shape[0]), (1, shape[1] - 9, shape[0] - 9, shape[1], shape[0])]) * 2.0
    rois[:, 0] /= 2
    results = []
    for device in ("cuda", "cpu"):
        leaf = features(torch.float32, 3, shape=shape).to(device).requires_grad_()
        out = cuaug.roi_pool(leaf, rois.to(device), (2, 5), 0.5)
        out.backward(torch.arange(1.0, 1 + out.numel()).view(out.shape).to(device))
        results.append((out.detach(), leaf.grad))
    for actual, expected in zip(*results, strict=True):
        assert_alike(actual, expected, torch.float32)


@every_kind
@pytest.mark.parametrize("backward_mode", [True], ids=["deterministic"], indirect=True)
def test_roi_align_gpu_gradient_is_deterministic(kind, backward_mode):
    call, rotated = KINDS[kind]
    rois, gradients = torch.from_numpy(regions(600, rotated)).cuda(), []
    for _ in range(10):
        leaf = features(torch.float32).requires_grad_()
        out = call(leaf, rois)
        out.backward(torch.sin(torch.arange(out.numel(), device="cuda")).view_as(out).float())
        gradients.append(leaf.grad)
    assert all(torch.equal(gradients[0], other) for other in gradients[1:])


HOSTILE = np.array(
    [
        (0, 1, 2, 30, 40),
        (1, np.nan, 2, 30, 40),
        (1, 1, 2, np.inf, 40),
        (0, 1e30, 2, 1e31, 40),
        (np.nan, 1, 2, 30, 40),
        (-1, 1, 2, 30, 40),
        (2, 1, 2, 30, 40),
        (0, -1e6, -1e6, 1e6, 1e6),
        (1, 30, 40, 1, 2),
        (0, 1e8, 1e8, 1.1e8, 1.1e8),
        (1, 5, 5, 5, 5),
        (0.5, 1, 2, 30, 40),
    ]
)


@pytest.mark.parametrize("kind", [kind for kind, (_, rotated) in KINDS.items() if not rotated])
def test_roi_align_gpu_invalid_or_huge_regions_terminate(kind, backward_mode):
    """On the GPU a region of a sample that does not exist is 0; the CPU raises, and gets the valid regions alone."""
    call, _ = KINDS[kind]
    leaf = features(torch.float32, 8).requires_grad_()
    out = call(leaf, torch.from_numpy(HOSTILE).cuda())
    out.sum().backward()
    assert bool(torch.isfinite(leaf.grad).all())
    valid = np.array([0, 1, 2, 3, 7, 8, 9, 10])
    other = leaf.detach().cpu().requires_grad_()
    expected = call(other, torch.from_numpy(HOSTILE[valid]))
    expected.sum().backward()
    assert_alike(out[valid].detach(), expected.detach(), torch.float32)
    assert_alike(leaf.grad, other.grad, torch.float32)
    assert not out[[1, 2, 3, 4, 5, 6, 9, 11]].any()


def test_roi_align_gpu_rotated_invalid_or_huge_regions_terminate(backward_mode):
    rois = np.array(
        [(0, 30, 30, 1e6, 1e6, 30.0), (0, 30, 30, np.nan, 5, 0), (0, 30, 30, 9, 9, np.inf), (1, 9, 9, 8, 8, 1e9)]
    )
    for mode in ("avg", "max"):
        leaf = features(torch.float32, 8).requires_grad_()
        out = cuaug.roi_align(leaf, torch.from_numpy(rois).cuda(), 3, mode=mode, aligned=True)
        out.sum().backward()
        assert bool(torch.isfinite(leaf.grad).all())
        with torch.no_grad():
            expected = cuaug.roi_align(leaf.detach().cpu(), torch.from_numpy(rois), 3, mode=mode, aligned=True)
        assert_alike(out, expected, torch.float32)


@pytest.mark.parametrize("kind", ["max", "roi_pool"])
def test_roi_align_gpu_max_gradient_goes_to_first_of_equal_maxima(kind, backward_mode):
    call, _ = KINDS[kind]
    maps, rois = features(torch.float32, 8), torch.from_numpy(regions(40))
    maps = torch.round(maps * 4)
    maps[:, :, ::7, ::5] = float("nan")
    (out, gradient), (expected, expected_gradient) = gpu_and_cpu_results(call, maps, rois)
    assert_alike(out, expected, torch.float32)
    assert_alike(gradient, expected_gradient, torch.float32)


@pytest.mark.parametrize("size", [14, 28, (32, 32), (40, 3), (3, 40)], ids=str)
def test_roi_align_gpu_many_bins(size, backward_mode):
    """More bins than a warp sums at once."""
    maps, rois = features(torch.float32, 19), torch.from_numpy(regions(40))
    (out, gradient), (expected, expected_gradient) = gpu_and_cpu_results(
        lambda f, r: cuaug.roi_align(f, r, size, 0.5, 2, True), maps, rois
    )
    assert_alike(out, expected, torch.float32)
    assert_alike(gradient, expected_gradient, torch.float32)


@every_dtype
@pytest.mark.parametrize("channels", [5, 20, 70])
def test_roi_align_gpu_many_columns(channels, dtype):
    """A warp of roi_average.cu takes several rounds beyond 32 columns, and fewer channels beyond 144 (float64: 128)."""
    maps = features(dtype, channels, shape=(30, 250))
    corners = [(0, 1, 1, 200, 20), (1, 30, 2, 240, 28), (0, -3, 0, 255, 30), (1, 0, 0, 160, 29), (0, 9, 3, 60, 9)]
    rois = torch.tensor(corners, dtype=torch.float64)
    assert_alike(cuaug.roi_align(maps, rois.cuda(), 3), cuaug.roi_align(maps.cpu(), rois, 3), dtype)


def test_roi_align_gpu_no_regions_and_no_samples(backward_mode):
    leaf = features(torch.float32, 8).requires_grad_()
    out = cuaug.roi_align(leaf, torch.zeros(0, 5, device="cuda"), 3)
    assert tuple(out.shape) == (0, 8, 3, 3)
    out.sum().backward()
    assert not leaf.grad.any()
    assert tuple(cuaug.roi_align(leaf.detach()[:0], torch.zeros(0, 5, device="cuda"), 3).shape) == (0, 8, 3, 3)


def test_roi_align_gpu_in_cuda_graph(backward_mode):
    maps, rois = features(torch.float32), torch.from_numpy(regions(300)).float().cuda()
    gradient = torch.ones(300, 40, 7, 7, device="cuda")

    def step():
        leaf = maps.detach().requires_grad_()  # a leaf of the current stream
        out = cuaug.roi_align(leaf, rois, 7, 0.5, 2, True)
        return out, torch.autograd.grad(out, leaf, gradient)[0]

    warm_up(step)
    with no_synchronization():
        step()
    graph, graph_results = capture_graph(step)
    for seed in range(3):
        maps.copy_(features(torch.float32, seed=seed))
        rois.copy_(torch.from_numpy(regions(300, seed=seed)))
        graph.replay()
        for replayed, expected in zip(graph_results, step(), strict=True):
            assert_alike(replayed.detach(), expected.detach(), torch.float32)


@every_dtype
@pytest.mark.parametrize("size", [(1, 1), (7, 7), (3, 1), (20, 9), (2, 64), (70, 3)], ids=str)
def test_roi_pool_gpu_wide_regions(size, dtype):
    """Maxima of large regions, of which some are equal, and some NaN."""
    rng = seeded("wide", size, str(dtype))
    values = rng.integers(-3, 3, (2, 5, 24, 700)).astype(float)
    values[rng.random(values.shape) < 1e-3] = np.nan
    values[:, 3], values[:, 4, 5] = -np.inf, np.nan
    maps = torch.from_numpy(values).to(dtype).cuda()
    corners = [(0, 0, 0, 699, 23), (1, 3, 2, 640, 20), (1, 600, 5, 610, 9), (0, 100, 0, 355, 23), (0, 100, 0, 356, 5)]
    corners += [(1, -50, 3, 900, 30), (0, 5, 5, 4, 4), (0, 900, 0, 950, 9), (1, 8, 2, 11, 2)]
    rois = torch.tensor(corners, dtype=torch.float64)
    (out, gradient), (expected, expected_gradient) = gpu_and_cpu_results(
        lambda f, r: cuaug.roi_pool(f, r, size), maps, rois
    )
    assert torch.equal(out.isnan(), expected.isnan().cuda())
    assert torch.equal(out.nan_to_num(), expected.nan_to_num().cuda())
    assert_alike(gradient, expected_gradient, dtype)
