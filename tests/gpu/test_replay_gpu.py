"""Replayed calls of functions on a GPU: values, streams, CUDA graphs, threads, memory."""

import inspect
import threading

import pytest
from helpers.compare import EXACT, assert_equal
from helpers.replay import undecorated
from tables.function_calls import CALLS, IDS

import cuaug

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


def random_parameter(kind):
    return {
        "matrices": lambda: torch.eye(3, device="cuda")[:2] + 0.1 * torch.rand(4, 2, 3, device="cuda"),
        "matrix": lambda: torch.eye(3, dtype=torch.float64, device="cuda") + 0.1 * torch.rand(3, 3, device="cuda"),
        "points": lambda: (
            torch.tensor([[0.0, 0], [20, 0], [20, 20], [0, 20]], device="cuda") + torch.rand(4, 4, 2, device="cuda")
        ),
        "numbers": lambda: torch.rand(4, device="cuda"),
        "doubles": lambda: torch.rand(4, dtype=torch.float64, device="cuda") / 2,
        "number": lambda: torch.rand((), device="cuda") + 0.5,
    }[kind]()


PER_SAMPLE = [
    (cuaug.warp_affine, "matrices", {}),
    (cuaug.warp_affine, "matrix", {"border": "wrap", "inverse": True}),
    (cuaug.rotate, "numbers", {"interpolation": "bilinear"}),
    (cuaug.rotate, "doubles", {"center": (3.0, 4.0)}),
    (cuaug.affine, "numbers", {"translate": (1, 2), "scale": 0.9, "shear": (5.0, 0.0)}),
    (cuaug.perspective, "points", {"endpoints": [[0, 0], [22, 1], [23, 19], [0, 18]]}),
    (cuaug.adjust_brightness, "numbers", {}),
    (cuaug.adjust_contrast, "numbers", {}),
    (cuaug.adjust_saturation, "number", {}),
    (cuaug.adjust_hue, "doubles", {}),
    (cuaug.solarize, "numbers", {}),
    (cuaug.adjust_sharpness, "numbers", {}),
]


def images_of(library, dtype=torch.float32):
    images = torch.rand(4, 3, 32, 28, device="cuda")
    images = images if dtype is torch.float32 else (images * 255).to(dtype)
    if library == "torch":
        return images
    cupy = pytest.importorskip("cupy")
    return cupy.from_dlpack(images.permute(0, 2, 3, 1).contiguous())


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS, ids=IDS)
def test_replayed_call_equals_the_function(function, args, kwargs, library, replays):
    kwargs = {k: v for k, v in kwargs.items() if not (k == "layout" and library == "cupy")}
    results = []
    for _ in range(4):
        images = images_of(library)
        results.append((function(images, *args, **kwargs), undecorated(function)(images, *args, **kwargs)))
    assert replays == [3]
    for actual, expected in results:
        assert type(actual) is type(expected)
        assert_equal(actual, expected, tolerance=EXACT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
@pytest.mark.parametrize(("function", "parameter", "kwargs"), PER_SAMPLE)
@pytest.mark.parametrize("is_keyword", [False, True])
def test_replayed_call_with_parameters_on_the_device(function, parameter, kwargs, dtype, is_keyword, replays):
    name = list(inspect.signature(function).parameters)[1]
    results = []
    for _ in range(4):
        images, values = images_of("torch", dtype), random_parameter(parameter)
        args, keywords = ((), {**kwargs, name: values}) if is_keyword else ((values,), kwargs)
        results.append((function(images, *args, **keywords), undecorated(function)(images, values, **kwargs)))
    assert replays == [3]
    for actual, expected in results:
        assert_equal(actual, expected, tolerance=EXACT)


def test_replayed_call_runs_on_the_current_stream(replays):
    """The images are written on the stream after a long sum: a call on another stream would read them too early."""
    images, busy, stream = (
        torch.zeros(4, 3, 32, 28, device="cuda"),
        torch.rand(1 << 26, device="cuda"),
        torch.cuda.Stream(),
    )
    for _ in range(3):
        cuaug.adjust_contrast(images, 0.5)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(20):
            busy.cumsum(0)
        images.fill_(0.75)
        result = cuaug.adjust_contrast(images, 0.5)
    stream.synchronize()
    assert replays[0] >= 3
    assert_equal(result, undecorated(cuaug.adjust_contrast)(images, 0.5), tolerance=EXACT)
    assert abs(float(result.mean()) - 0.75) < 1e-4  # the weights of the luma add up to 0.9999


@pytest.mark.parametrize("calls_before", [0, 1, 3])
def test_replayed_call_in_a_cuda_graph(calls_before, replays):
    images, factors = torch.rand(4, 3, 32, 28, device="cuda"), torch.rand(4, device="cuda")
    undecorated(cuaug.adjust_contrast)(images, factors)  # compiles
    for _ in range(calls_before):
        cuaug.adjust_contrast(images, factors)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = cuaug.adjust_contrast(images, factors)
    for _ in range(2):
        images.uniform_()
        factors.uniform_()
        graph.replay()
        assert_equal(result, undecorated(cuaug.adjust_contrast)(images, factors), tolerance=EXACT)


def test_threads_replay_one_plan(replays):
    images = [torch.rand(4, 3, 32, 28, device="cuda") for _ in range(8)]
    wrong = []

    def work(image):
        for _ in range(200):
            if not torch.equal(cuaug.autocontrast(image), undecorated(cuaug.autocontrast)(image)):
                wrong.append(image)

    threads = [threading.Thread(target=work, args=(image,)) for image in images]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert replays[0] > 1000


def test_parameters_on_the_host_with_images_on_a_gpu(replays):
    images = torch.rand(4, 3, 32, 28, device="cuda")
    for _ in range(4):
        factors = torch.rand(4)
        expected = undecorated(cuaug.adjust_brightness)(images, factors)
        assert_equal(cuaug.adjust_brightness(images, factors), expected, tolerance=EXACT)
    assert replays == [0]
