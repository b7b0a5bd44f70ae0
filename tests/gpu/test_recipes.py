"""Recipes on a GPU: what is compiled, who waits, graphs, streams, and very many samples."""

import struct
import threading

import numpy as np
import pytest
from helpers.arrays import images, nobody_waits
from helpers.busy_gpu import busy
from helpers.compare import assert_equal, to_numpy

import cuaug

torch = pytest.importorskip("torch")
from tables.recipes import BY_NAME, CASES, JITTER, MEAN, STD  # noqa: E402

from cuaug import transforms as T  # noqa: E402
from cuaug._gpu import kernels as _kernels  # noqa: E402
from cuaug._gpu import launch as _launch  # noqa: E402
from cuaug._gpu import launch_sequence as _launches  # noqa: E402
from cuaug._gpu.launch_sequence import Launch, LaunchSequence  # noqa: E402
from cuaug._program import records  # noqa: E402

pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def batch_of(case, samples=6):
    return images(GPU, case.dtypes[0], "NCHW", (samples, 17, 11, case.channels[-1]))


@every_case
def test_compose_gpu_second_call_compiles_and_waits_for_nothing(case):
    batch, aug = batch_of(case), case.compose(case.dtypes[0])
    aug(batch)
    torch.cuda.synchronize()
    kernels = set(_kernels.compiled_kernels)
    assert kernels
    with nobody_waits():
        aug(batch)
        aug(batch, ids=1 << 40)
    assert set(_kernels.compiled_kernels) == kernels


def recipe(p, size, fill, reach, degrees):
    """The same transforms with other numbers in them."""
    return T.Compose(
        [
            T.RandomCrop(size + 3, padding=2, fill=fill),
            T.RandomHorizontalFlip(p),
            T.RandomRotation(degrees, interpolation="bilinear", fill=fill),
            T.RandomCrop(size),
            T.ColorJitter(reach, reach, reach, reach / 4),
            T.RandomGrayscale(p),
            T.RandomErasing(p, value=fill),
            T.ToDtype("float16", scale=True),
            T.Normalize(MEAN, [s * (1 + p) for s in STD]),
        ],
        seed=3,
    )


def test_compose_gpu_other_parameters_compile_nothing():
    batch = images(GPU, "uint8", "NCHW", (4, 21, 21, 3))
    recipe(0.5, 8, 7.0, 0.4, 30)(batch)
    kernels = set(_kernels.compiled_kernels)
    for numbers in (
        (0.1, 8, 7.0, 0.4, 30),
        (0.5, 12, 200.0, 0.1, (3, 99)),
        (1.0, 8, 0.0, 0.9, 1),
        (0.9, 12, 9.0, 0.2, 5),
    ):
        recipe(*numbers)(batch)
    recipe(0.5, 8, 7.0, 0.4, 30)(images(GPU, "uint8", "NCHW", (9, 29, 35, 3)))
    assert set(_kernels.compiled_kernels) == kernels


REPLAYED = [
    "flips",
    "imagenet-of-bytes",
    "imagenet",
    "antialiased-recipe",
    "rotation-affine",
    "jitter",
    "erase-rotation",
    "elastic-jitter-normalize",
    "blend-crop-blend",
]


def captured(call):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph, result


@pytest.mark.parametrize("name", REPLAYED)
def test_compose_gpu_graph_replay_draws_anew(name):
    """As many steps on as it was replayed."""
    case = BY_NAME[name]
    batch, aug = batch_of(case, 40), case.compose(case.dtypes[0])
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        aug(batch)
    torch.cuda.current_stream().wait_stream(side)
    first = aug.state_dict()["step"]
    graph, result = captured(lambda: aug(batch))
    eager, seen = case.compose(case.dtypes[0]), []
    for step in range(first, first + 4):
        graph.replay()
        seen.append(to_numpy(result))
        assert_equal(
            result, eager(batch, step=step), tolerance=case.between_devices(str(result.dtype)[6:], case.dtypes[0])
        )
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[1], seen[2])


def test_compose_gpu_graph_of_smaller_batch():
    """Also one whose branches' launches go together."""
    many = images(GPU, "uint8", "NCHW", (40, 50, 60, 3))
    few, aug = many[:9].clone(), T.Compose([T.AugMix()], seed=5)
    aug(many)
    torch.cuda.synchronize()
    graph, result = captured(lambda: aug(few))
    graph.replay()
    assert torch.equal(result, T.Compose([T.AugMix()], seed=5)(few, step=1))


def test_compose_gpu_graphs_count_steps_separately():
    case = BY_NAME["flips"]
    batch, aug = batch_of(case, 40), case.compose("uint8")
    aug(batch)
    (one, first), (two, second) = captured(lambda: aug(batch)), captured(lambda: aug(batch))
    for step in (1, 2, 3):
        one.replay()
        assert_equal(first, aug(batch, step=step))
    two.replay()
    assert_equal(second, aug(batch, step=2))


def test_compose_gpu_cold_recipe_is_refused_in_capture():
    case = BY_NAME["flips"]
    batch, aug = batch_of(case), case.compose("uint8")
    case.compose("uint8")(batch)  # kernels are warm
    said = []

    def call():
        try:
            aug(batch)
        except cuaug.BackendError as error:
            said.append(str(error))
        return batch + 1  # of an empty graph torch would warn

    captured(call)
    assert said
    assert "must be called once" in said[0]


@every_case
def test_compose_gpu_side_stream_gives_the_same(case):
    """The images are made on that stream too, behind work that takes a while."""
    batch = batch_of(case)
    expected = case.compose(case.dtypes[0])(batch)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy(20)
        made = case.compose(case.dtypes[0])(batch.clone())
    stream.synchronize()
    assert_equal(made, expected, tolerance=case.between_devices(str(made.dtype)[6:], case.dtypes[0]))


@every_case
def test_compose_gpu_same_parameters_same_bits(case):
    """Of many samples and regions, so that blocks end in any order."""
    batch = images(GPU, case.dtypes[0], "NCHW", (64, 150, 170, case.channels[-1]))
    aug = case.compose(case.dtypes[0])
    params = aug.draw(batch)
    first = aug.apply(batch, params)
    for _ in range(3):
        assert torch.equal(aug.apply(batch, params).view(torch.uint8), first.view(torch.uint8))


POLICIES = [T.TrivialAugmentWide(), T.RandAugment(), T.AutoAugment(), T.AugMix()]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)


@every_policy
def test_compose_gpu_without_extension_launches_the_same(policy, monkeypatch):
    batch = images(GPU, "uint8", "NCHW", (20, 50, 60, 3))
    expected = T.Compose([policy], seed=4)(batch, step=3)
    monkeypatch.setattr(_launches, "_launch_plan_class", lambda: _launches._PythonLaunchPlan)
    aug = T.Compose([policy], seed=4)
    for _ in range(2):
        assert torch.equal(aug(batch, step=3), expected)


@every_policy
def test_compose_gpu_threads_share_a_recipe(policy):
    """Each on a stream of its own, with images and a step of its own."""
    batches = [images(GPU, "uint8", "NCHW", (20, 50, 60, 3), seed=seed) for seed in range(6)]
    expected = [T.Compose([policy], seed=4)(batch, step=step) for step, batch in enumerate(batches)]
    torch.cuda.synchronize()
    aug, made, barrier = T.Compose([policy], seed=4), {}, threading.Barrier(len(batches))

    def work(step):
        stream = torch.cuda.Stream()
        barrier.wait()
        with torch.cuda.stream(stream):
            made[step] = [aug(batches[step], step=step) for _ in range(20)]
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(step,)) for step in range(len(batches))]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    for step, known in enumerate(expected):
        assert len(made[step]) == 20
        for own in made[step]:
            assert torch.equal(own, known)


@every_policy
def test_policy_gpu_memory_is_bounded(policy):
    """Of the result, and of what is read and written at a time besides: two, of AugMix by each of three branches."""
    batch = torch.zeros((64, 3, 224, 224), dtype=torch.uint8, device="cuda")
    aug = T.Compose([policy], seed=4)
    aug(batch)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    made = aug(batch)
    room = 6.1 if isinstance(policy, T.AugMix) else 2.1
    assert torch.cuda.max_memory_allocated() - before <= room * batch.nbytes
    assert torch.cuda.memory_allocated() - before <= 1.01 * made.nbytes


@every_policy
def test_policy_gpu_graph_keeps_intermediate_memory(policy):
    batch, aug = images(GPU, "uint8", "NCHW", (20, 50, 60, 3)), T.Compose([policy], seed=4)
    expected = [aug(batch, step=step) for step in range(3)]
    aug.load_state_dict({"seed": 4, "step": 0})
    torch.cuda.synchronize()
    graph, result = captured(lambda: aug(batch))
    for known in expected:
        other = [torch.full((1 << 20,), 99, dtype=torch.uint8, device="cuda") for _ in range(8)]
        graph.replay()
        assert torch.equal(result, known)
        assert all(bool((each == 99).all()) for each in other)


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


def test_compose_gpu_driver_error_breaks_nothing():
    """More shared memory than there is."""
    record = struct.pack(f"{records.DRAW.size}x")
    launches = LaunchSequence([Launch("cuaug::draw", (1, 1, 1), 256, 1 << 30, record, ())], 0)
    for _ in range(2):
        with pytest.raises(cuaug.BackendError, match="CUDA_ERROR_INVALID_VALUE"):
            launches(0, ())
    with pytest.raises(cuaug.BackendError, match="CUDA_ERROR_INVALID_VALUE"):
        _launch.launch("cuaug::draw", record, (1, 1, 1), 256, 1 << 30, 0, 0)
    test_compose_gpu_second_call_compiles_and_waits_for_nothing(BY_NAME["flips"])


SMALL = [
    *("padded-crop-rotation", "imagenet-of-bytes", "jitter", "antialiased-recipe", "flips"),
    *("elastic", "blend-crop-blend"),
]


@pytest.mark.parametrize("name", SMALL)
def test_compose_gpu_more_samples_than_grid_rows(name):
    case, samples = BY_NAME[name], 65_537 + 30
    few = batch_of(case, 8)
    many = few.repeat(samples // 8 + 1, 1, 1, 1)[:samples]
    aug = case.compose(case.dtypes[0])
    made = aug(many, step=2)
    for n in (0, 65_534, 65_535, 65_536, samples - 1):
        expected = aug(many[n : n + 1], step=2, ids=n)
        assert_equal(made[n : n + 1], expected, tolerance=case.between_devices(str(made.dtype)[6:], case.dtypes[0]))


RAGGED = [T.RandomResizedCrop(64, antialias=False), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]
ANTIALIASED = [T.RandomResizedCrop(64), T.RandomHorizontalFlip(), JITTER, T.ToDtype("float16", scale=True)]


def photos(count, least=40, spread=90, seed=0):
    """Of different sizes."""
    sizes = np.random.default_rng(seed).integers(least, least + spread, (count, 2)).tolist()
    return [images(GPU, "uint8", "NCHW", (1, *size, 3), seed=i % 7)[0] for i, size in enumerate(sizes)]


@pytest.mark.parametrize("transforms", [RAGGED, ANTIALIASED], ids=["plain", "antialiased"])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_compose_gpu_ragged_takes_launches_of_one_batch(transforms, layout, monkeypatch):
    aug, given, launched = T.Compose(transforms, seed=2), photos(40), []
    if layout == "HWC":
        given = [one.permute(1, 2, 0).contiguous() for one in given]
    launch, all_at_once = _launch.launch, LaunchSequence.__call__

    def of_many(launches, *values):
        launched.extend(each.kernel for each in launches._launches)
        all_at_once(launches, *values)

    monkeypatch.setattr(_launch, "launch", lambda name, *rest: (launched.append(name), launch(name, *rest))[1])
    monkeypatch.setattr(LaunchSequence, "__call__", of_many)
    for _ in range(2):  # traced, and then replayed
        launched.clear()
        made = aug(given, step=3, layout=layout)
        assert len(launched) == aug.plan(given, layout=layout).launches < 6
        tag = "Planar" if layout == "CHW" else "Packed"
        assert sum(f"Ragged<cuaug::{tag}>" in name for name in launched) == 1
    for i in (0, 7, 39):
        near = BY_NAME["imagenet"].between_devices("float16", "uint8")
        assert_equal(made[i], aug(given[i], step=3, ids=i, layout=layout), tolerance=near)


def test_compose_gpu_ragged_other_sizes_compile_nothing():
    aug = T.Compose(RAGGED, seed=2)
    aug(photos(40))
    others = photos(40, 50, 60, seed=1)
    torch.cuda.synchronize()
    kernels = set(_kernels.compiled_kernels)
    with nobody_waits():
        aug(others)
    assert set(_kernels.compiled_kernels) == kernels


def test_compose_gpu_ragged_images_may_be_freed():
    """Before the kernels that read them have begun."""
    aug, given = T.Compose(RAGGED, seed=2), photos(64)
    expected = aug(given, step=0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        copies = [one.clone() for one in given]
        busy(20)
        made = aug(copies, step=0)
        del copies
        [torch.full((3, 140, 140), 99, dtype=torch.uint8, device="cuda") for _ in range(64)]
    stream.synchronize()
    for own, other in zip(made, expected, strict=True):
        assert torch.equal(own, other)


def test_compose_gpu_ragged_is_refused_in_capture():
    aug, given, said = T.Compose(RAGGED, seed=2), photos(4), []
    aug(given)

    def call():
        try:
            aug(given)
        except cuaug.BackendError as error:
            said.append(str(error))
        return given[0] + 1  # of an empty graph torch would warn

    captured(call)
    assert "images of different sizes cannot be captured" in said[0]


def test_compose_gpu_ragged_longer_than_grid_axis():
    aug = T.Compose([T.RandomResizedCrop(3), T.RandomHorizontalFlip()], seed=2)
    few = photos(8, 4, 9)
    given = (few * 8200)[:65_540]
    made = aug(given, step=0)
    for i in (0, 65_534, 65_535, 65_536, 65_539):
        assert_equal(
            made[i], aug(given[i], step=0, ids=i), tolerance=BY_NAME["flips"].between_devices("uint8", "uint8")
        )


def test_compose_gpu_mean_of_large_images():
    """Of many regions of each sample."""
    batch = images(GPU, "uint8", "NCHW", (3, 600, 700, 3))
    batch[:, :, :300] //= 3
    aug = T.Compose([T.RandomHorizontalFlip(), JITTER], seed=5)
    made, expected = aug(batch, step=0), aug(batch.cpu(), step=0)
    assert_equal(made.cpu(), expected, tolerance=BY_NAME["jitter"].between_devices("uint8", "uint8"))
