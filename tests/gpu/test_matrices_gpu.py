"""Matrix builders on the GPU: against the CPU, in CUDA graphs, on streams, and within warps."""

import numpy as np
import pytest
from helpers.arrays import images, no_synchronization, seeded
from helpers.compare import Tolerance, assert_equal
from helpers.cuda_graphs import capture_graph
from tables.matrices import CASES

import cuaug

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

GPU = ("torch", "cuda")
ROUNDING = Tolerance(absolute=1e-9, relative=1e-11, reason="float64 sums in another order, and fused multiplications")
every_function = pytest.mark.parametrize(("function", "arguments"), CASES.values(), ids=CASES)


@every_function
def test_matrix_function_graph_reads_new_values(function, arguments):
    tensors = [torch.tensor(a, device="cuda") for a in arguments]
    function(*tensors)
    graph, result = capture_graph(lambda: function(*tensors))
    for order in ([1, 2, 3, 4, 0], [4, 3, 2, 1, 0]):
        for tensor, values in zip(tensors, arguments, strict=True):
            tensor.copy_(torch.from_numpy(values[order].copy()))
        graph.replay()
        expected = function(*(a[order] for a in arguments))
        assert_equal(result, expected, library="torch", device="cuda:0", dtype="float64", tolerance=ROUNDING)


@every_function
def test_matrix_function_runs_on_the_current_stream(function, arguments):
    expected = function(*arguments)
    stream = torch.cuda.Stream()
    for _ in range(3):
        with torch.cuda.stream(stream):
            tensors = [torch.empty(a.shape, dtype=torch.float64, device="cuda") for a in arguments]
            torch.cuda._sleep(20_000_000)
            for tensor, values in zip(tensors, arguments, strict=True):
                tensor.copy_(torch.from_numpy(values).cuda())
            result = function(*tensors)
        stream.synchronize()
        assert_equal(result, expected, library="torch", device="cuda:0", dtype="float64", tolerance=ROUNDING)


@every_function
def test_matrix_function_with_gradient_equals_without_on_gpu(function, arguments):
    tensors = [torch.tensor(a, device="cuda") for a in arguments]
    expected = function(*tensors)
    traced = function(*(tensor.requires_grad_() for tensor in tensors))
    assert traced.requires_grad
    assert_equal(traced.detach(), expected, tolerance=ROUNDING)


@pytest.mark.filterwarnings("ignore:Dynamo")  # Dynamo warns of cached functions
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch 2.11 itself calls it
@pytest.mark.parametrize("name", [name for name in CASES if name != "transform_boxes"])
def test_matrix_function_is_one_graph_in_torch_compile(name):
    torch.compiler.reset()
    function, arguments = CASES[name]
    tensors = [torch.tensor(a, device="cuda") for a in arguments]
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert_equal(compiled(*tensors), function(*tensors), tolerance=ROUNDING)


@pytest.mark.parametrize("count", [2, 31, 33, 600, 20_000])
@pytest.mark.parametrize("kind", ["affine", "similarity", "rigid"])
def test_estimate_affine_of_many_points_equals_cpu(kind, count):
    rng = seeded("fits", count)
    count = max(count, 3 if kind == "affine" else 2)
    src, noise, weights = rng.uniform(0, 300, (9, count, 2)), rng.normal(0, 1, (9, count, 2)), rng.random((9, count))
    dst = src @ [[0.9, 0.3], [-0.2, 1.1]] + noise + 40
    expected = cuaug.estimate_affine(src, dst, kind, weights)
    actual = cuaug.estimate_affine(*(torch.tensor(a, device="cuda") for a in (src, dst)), kind, torch.tensor(weights))
    assert_equal(actual, expected, library="torch", device="cuda:0", dtype="float64", tolerance=ROUNDING)


def test_matrix_functions_of_many_samples():
    rng = seeded("many")
    M, points = rng.normal(0, 1, (70_001, 2, 3)), rng.normal(0, 90, (70_001, 3, 2))
    on_gpu = [torch.tensor(a, device="cuda") for a in (M, points)]
    tolerance = Tolerance(absolute=1e-7, relative=1e-7, reason="some of so many matrices are close to singular")
    assert_equal(
        cuaug.invert_affine(on_gpu[0]),
        cuaug.invert_affine(M),
        library="torch",
        device="cuda:0",
        dtype="float64",
        tolerance=tolerance,
    )
    expected = cuaug.transform_points(points, M)
    assert_equal(
        cuaug.transform_points(*on_gpu[::-1]),
        expected,
        library="torch",
        device="cuda:0",
        dtype="float64",
        tolerance=ROUNDING,
    )


def corners(a):
    zero = a[:, 0] * 0
    return stack(a[:, 0], zero, zero + 9, a[:, 1], zero + 9, zero + 9, zero, zero + 8).reshape((len(a), 4, 2))


def coefficients(a):
    zero = a[:, 0] * 0
    return stack(zero + 1, a[:, 0] / 20, a[:, 1], zero, zero + 1, zero, zero, zero + 0.001)


def stack(*columns):
    return (torch if isinstance(columns[0], torch.Tensor) else np).stack(columns, -1)


SQUARE = [(0, 0), (9, 0), (9, 9), (0, 9)]
WARPS = {
    "rotate": (lambda x, a: cuaug.rotate(x, a[:, 0], "bilinear"), (10.0, 90.0, -123.0)),
    "rotate about a center": (lambda x, a: cuaug.rotate(x, a[:, 0], "bilinear", center=a + 3), (10.0, 90.0, -123.0)),
    "affine": (lambda x, a: cuaug.affine(x, a[:, 0], a, a[:, 0] * 0 + 0.9, (3, 4), "bilinear"), (5.0, -7.0, 9.0)),
    "perspective": (lambda x, a: cuaug.perspective(x, SQUARE, corners(a)), (0.5, 1.0, 1.5)),
    "coefficients": (
        lambda x, a: cuaug.perspective(x, None, None, coefficients=coefficients(a)), (0.5, -1.0, 1.5)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("warp", "numbers"), WARPS.values(), ids=WARPS)
def test_warp_with_device_parameters_equals_host_parameters(warp, numbers):
    batch = images(GPU, "float32")
    values = torch.tensor([(n, n / 2) for n in numbers], dtype=torch.float64)
    expected, on_gpu = warp(batch, values.numpy()), values.cuda()
    for _ in range(2):
        with no_synchronization():
            actual = warp(batch, on_gpu)
        assert_equal(actual, expected, tolerance=Tolerance(1e-5, reason="matrices that differ in the last bit"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
def test_rotate_by_device_multiples_of_90_equals_rot90(interpolation, dtype):
    batch = images(GPU, shape=(5, 33, 33, 3))
    turns = torch.tensor([0, 1, 2, 3, -5])
    actual = cuaug.rotate(batch, (90 * turns).to("cuda", dtype), interpolation, fill=1)
    expected = [torch.rot90(image, count, (1, 2)) for image, count in zip(batch, turns.tolist(), strict=True)]
    assert_equal(actual, torch.stack(expected))
