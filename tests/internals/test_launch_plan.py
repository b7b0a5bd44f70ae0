"""What a recipe launches once it is traced is what its passes launch: shown without a GPU, by one that is pretended."""

import ctypes
import itertools
import math
import random
import struct
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.replace import replace_everywhere
from tables.recipes import CASES

from cuaug import _check
from cuaug import transforms as T
from cuaug._arrays import images as _images
from cuaug._arrays import protocol, torch_library
from cuaug._arrays.images import describe_images
from cuaug._arrays.registry import library_of
from cuaug._fusion import batched_launch, draw, execute, memory
from cuaug._fusion import launch_plan as traced
from cuaug._fusion.draw_kernel import Draws
from cuaug._gpu import cupy_import, devices, kernels, streams
from cuaug._gpu import driver as _driver
from cuaug._gpu import failures as _failures
from cuaug._gpu import launch as _launch
from cuaug._gpu import launch_sequence as _launches
from cuaug._gpu.launch_sequence import Launch
from cuaug._passes import grids as _grids
from cuaug._passes.parameters import StridedArray
from cuaug._program import records as _records

torch = pytest.importorskip("torch")

TOGETHER = ", cuaug::BatchedLaunch>"
PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)  # of cuLaunchKernelEx


class Launched(NamedTuple):
    """What the driver was asked for."""

    kernel: str
    config: tuple  # grid, block, shared, stream, attributes
    record: bytes


class Kernel(NamedTuple):
    """A compiled kernel, as `launch.launch_arguments` reads it."""

    handles: dict
    uses_pdl: bool


class Driver:
    """Pretends to launch."""

    def __init__(self):
        self.launched, self.names, self.statuses = [], [], {}
        self.cuLaunchKernelEx = PROTOTYPE(self.launch)

    def kernel(self, name, stream):
        self.names.append(name)
        return Kernel({0: len(self.names)}, self.uses_pdl(name))

    @staticmethod
    def uses_pdl(name):
        return "warp" in name or "pointwise" in name

    def launch(self, config, handle, arguments, extra):
        *numbers, attributes, count = struct_of(config)
        name = self.names[handle - 1]
        record = ctypes.c_void_p.from_address(arguments).value
        of_one = ctypes.string_at(attributes, 72) if count else b""
        assert extra is None
        size = _records.record_of(name).size * (batched_launch.MAX_BATCHED if name.endswith(TOGETHER) else 1)
        self.launched.append(Launched(name, (*numbers, of_one), ctypes.string_at(record, size)))
        return self.statuses.get(len(self.launched), 0)


def struct_of(config):
    return _launch._CONFIG.unpack(ctypes.string_at(config, _launch._CONFIG.size))


class Named:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def refuse(status):
    raise ValueError(f"CUDA_ERROR {status}")


@pytest.fixture(params=["extension", "python"])
def gpu(request, monkeypatch):
    """Torch's CPU memory as that of a GPU. All that has been given is in `gpu.given`."""
    driver, library = Driver(), library_of(torch.Tensor)
    driver.given, driver.stream = [], 7
    describe, empty = library.describe, library.empty

    def given(shape, dtype, device, order):
        driver.given.append(empty(shape, dtype, -1, order))
        return driver.given[-1]

    monkeypatch.setattr(library, "describe", lambda array, stream=None: describe(array)._replace(device=0))
    monkeypatch.setattr(library, "empty", given)
    monkeypatch.setattr(library, "current_stream", lambda device: driver.stream)
    monkeypatch.setattr(library, "from_numpy", lambda values, device: torch.from_numpy(values))
    replace_everywhere(monkeypatch, _driver, "driver", lambda: driver)
    replace_everywhere(monkeypatch, kernels, "kernel", driver.kernel)
    runtime = Named(getDevice=lambda: 0)
    replace_everywhere(
        monkeypatch, cupy_import, "cupy", lambda: Named(cuda=Named(runtime=runtime, driver=Named(check_status=refuse)))
    )
    monkeypatch.setattr(devices.thread_state, "devices", {0})
    replace_everywhere(monkeypatch, _launch, "_supports_pdl", lambda index: True)
    replace_everywhere(monkeypatch, devices, "context_users", [])
    replace_everywhere(monkeypatch, devices, "check_not_forked", lambda: None)
    replace_everywhere(monkeypatch, devices, "multiprocessor_count", lambda index: 132)
    replace_everywhere(monkeypatch, streams, "is_capturing", lambda stream: False)
    replace_everywhere(monkeypatch, streams, "synchronize_stream", lambda stream, index: None)
    if request.param == "python":
        monkeypatch.setattr(_launches, "_launch_plan_class", lambda: _launches._PythonLaunchPlan)
    else:
        from cuaug import _native as native

        assert _launches._launch_plan_class() is native.LaunchPlan
    return driver


class Seen(NamedTuple):
    """A call: what it returned, what it launched, and the memory that it was given."""

    made: Any
    launched: list
    given: list


def seen(gpu, call):
    gpu.launched.clear()
    gpu.given.clear()
    return Seen(call(), list(gpu.launched), list(gpu.given))


def bytes_of(array):
    return array.numel() * array.element_size()


def inside(word, array):
    return 0 <= word - array.data_ptr() < bytes_of(array)


class Moved(NamedTuple):
    """Memory of the passes, where a trace has it, and from which launch to which it is needed."""

    array: Any
    begin: int
    first: int
    last: int

    @property
    def size(self):
        return bytes_of(self.array)

    @property
    def end(self):
        return self.begin + self.size

    @property
    def room(self):
        return -(-self.size // 512) * 512


def parted(launched):
    """Each with its place; those of several launches at once parted, the first of all before the second ones."""
    alone, joint = [], []
    for i, each in enumerate([*launched, None]):
        if each and each.kernel.endswith(TOGETHER):
            joint.append((i, each))
            continue
        assert len({own.config[2] for _, own in joint}) <= 1
        for j in range(joint[0][1].config[2] if joint else 0):
            for at, (kernel, (x, y, _, *rest), record) in joint:
                size = len(record) // batched_launch.MAX_BATCHED
                own = Launched(kernel.removesuffix(TOGETHER) + ">", (x, y, 1, *rest), record[j * size : (j + 1) * size])
                alone.append((at, own))
        joint = []
        alone += [(i, each)] if each else []
    return alone


def assert_same_launches(replayed, passes):
    """But for where memory lies, and that some go together; returns where it went."""
    alone = parted(replayed.launched)
    assert [(each.kernel, each.config) for _, each in alone] == [(each.kernel, each.config) for each in passes.launched]
    moved = {}
    for (i, own), other in zip(alone, passes.launched, strict=True):
        for word, known in zip(*(np.frombuffer(each.record, np.int64).tolist() for each in (own, other)), strict=True):
            place = next((k for k, array in enumerate(passes.given) if inside(known, array)), None)
            if place is None:
                assert word == known
                continue
            array = passes.given[place]
            begin = word - (known - array.data_ptr())
            before = moved.get(place, Moved(array, begin, i, i))
            assert begin == before.begin  # it does not move while it is needed
            moved[place] = before._replace(first=min(i, before.first), last=max(i, before.last))
    return list(moved.values())


def assert_in_its_memory(moved, replayed, passes):
    """Nothing lies where something else is needed; and no more is taken than is needed at a time."""
    result, block = replayed.given
    own = next(each for each in moved if each.array is passes.made)
    assert own.begin == result.data_ptr()
    assert replayed.made is result
    assert (result.shape, result.stride(), result.dtype) == (
        passes.made.shape,
        passes.made.stride(),
        passes.made.dtype,
    )
    for each in moved:
        home = result if inside(each.begin, result) else block
        assert (each.begin - home.data_ptr()) % 512 == 0
        assert each.end <= home.data_ptr() + bytes_of(home)
    for each, other in itertools.combinations(moved, 2):
        if each.first <= other.last and other.first <= each.last:
            assert each.end <= other.begin or other.end <= each.begin
    others = [each for each in moved if each is not own]
    needed = (sum(each.room for each in others if each.first <= i <= each.last) for i in range(len(replayed.launched)))
    assert bytes_of(block) <= max(needed)


every_layout = pytest.mark.parametrize("layout", ["NHWC", "NCHW"])


@every_layout
@pytest.mark.parametrize("case", CASES, ids=str)
def test_launch_plan_equals_passes(case, layout, gpu):
    for dtype in case.dtypes:
        assert_traced(gpu, case.compose(dtype), dtype, layout)


OTHERS = {
    "trivialaugment": [T.TrivialAugmentWide()],
    "randaugment": [T.RandomResizedCrop(48), T.RandAugment(), T.ToDtype("float16", scale=True)],
    "autoaugment": [T.AutoAugment(), T.Normalize(0.5, 0.2)],
    "augmix": [T.AugMix(mixture_width=2, chain_depth=2), T.ToDtype("float32", scale=True)],
    "levels": [T.RandomAutocontrast(), T.RandomEqualize(), T.RandomAdjustSharpness(2.0), T.Grayscale(1)],
    "mixes": [T.MixUp(num_classes=3), T.CutMix(num_classes=3), T.GaussianBlur(5)],
}


@every_layout
@pytest.mark.parametrize("name", OTHERS)
def test_launch_plan_of_other_transforms_equals_passes(name, layout, gpu):
    assert_traced(gpu, T.Compose(OTHERS[name], seed=1), "uint8", layout)


def assert_traced(gpu, aug, dtype, layout):
    pixels = torch.zeros(5 * 64 * 80 * 3 + 64, dtype=getattr(torch, dtype))
    shape = (5, 64, 80, 3) if layout == "NHWC" else (5, 3, 64, 80)
    for offset in (0, 64, 1):  # other memory, aligned alike; then not
        image = describe_images(pixels[offset : offset + 5 * 64 * 80 * 3].reshape(shape), layout)
        plan = aug._plans.plan(image)
        draw._device_program(plan, image)
        for step in range(2):
            draws = Draws(1000 + step, 2000 + step, 2**63 - 1 - step, step, -3 - step, None)
            rows = torch.zeros((5, plan.columns), dtype=torch.float64)
            table = StridedArray(rows.data_ptr(), plan.columns, 0, 1, 1, rows)
            for by_passes, by_trace in (
                (lambda: execute.apply(plan, image, table), lambda: traced.apply(plan, image, table)),  # noqa: B023
                (lambda: called(plan, image, draws), lambda: traced.call(plan, image, draws)),  # noqa: B023
            ):
                passes, replayed = seen(gpu, by_passes), seen(gpu, by_trace)
                assert passes.launched
                assert_in_its_memory(assert_same_launches(replayed, passes), replayed, passes)
    assert len(plan.launch_plans) == 4


def called(plan, image, draws):
    return execute.apply(plan, image, draw.draw_table(plan, image, draws, with_matrix=False))


def test_launch_plan_call_is_one_driver_call(gpu, monkeypatch):
    aug = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(5), T.RandomInvert()], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)
    replace_everywhere(monkeypatch, _launch, "launch", None)
    for step in (5, 6):
        gpu.stream = 100 + step
        known = seen(gpu, lambda: aug(batch, ids=4, step=step))  # noqa: B023
        assert len(known.launched) == aug.plan(batch).launches
        numbers = np.frombuffer(known.launched[0].record, np.int64)
        assert known.launched[0].kernel == "cuaug::draw"
        assert numbers[5:8].tolist() == [3, step, 4]  # kernels/draws/draw_values.cuh
        assert [each.config[7] for each in known.launched] == [gpu.stream] * len(known.launched)
        assert {each.kernel: bool(each.config[8]) for each in known.launched} == {
            each.kernel: gpu.uses_pdl(each.kernel) for each in known.launched
        }


def test_launch_plan_driver_error_ends_call(gpu, monkeypatch):
    aug = T.Compose([T.GaussianBlur(5), T.RandomInvert(1.0)], seed=3)
    batch = torch.zeros((5, 3, 64, 80), dtype=torch.uint8)
    aug(batch)

    monkeypatch.setattr(_failures, "_versions", lambda: "driver of no machine")
    gpu.statuses[2] = 719
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 719"):
        seen(gpu, lambda: aug(batch))
    assert len(gpu.launched) == 2
    gpu.statuses = {1: 1}
    with pytest.raises(_check.BackendError, match=r"the GPU failed .*CUDA_ERROR 1"):
        seen(gpu, lambda: aug.draw(batch))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_launch_plan_ragged_takes_launches_of_one_batch(layout, antialias, gpu):
    """Of sizes that it has not met as well: where images lie, and their sizes, are in a table that the kernels read."""
    crop = T.RandomResizedCrop((13, 14), antialias=antialias)
    aug = T.Compose([crop, T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4), T.ToDtype("float16", scale=True)])
    tag = "Planar" if layout == "CHW" else "Packed"
    shape = (lambda h, w: (3, h, w)) if layout == "CHW" else (lambda h, w: (h, w, 3))
    known = []
    for sizes in ([(40, 30), (90, 60), (1, 1)], [(41, 33), (700, 60), (2, 9)]):
        given = [torch.zeros(shape(*size), dtype=torch.uint8) for size in sizes]
        made, launched, _ = seen(gpu, lambda: aug(given, layout=layout, step=0))  # noqa: B023
        assert [tuple(own.shape) for own in made] == [shape(13, 14)] * 3
        assert len(launched) == aug.plan(given, layout=layout).launches
        names = [each.kernel for each in launched]
        assert names[0] == "cuaug::draw"
        assert f"cuaug::Ragged<cuaug::{tag}>" in names[1]
        assert not any("Ragged" in name for name in names[2:])
        known.append([(each.kernel, each.config) for each in launched])
    assert known[0] == known[1]
    assert len(aug._plans._plans) == 1
    with pytest.raises(_check.BackendError, match="images of different sizes cannot be captured"):
        captured(aug, given, layout)


def captured(aug, given, layout):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "is_capturing", lambda stream: True)
        aug(given, layout=layout)


def test_launch_plan_intermediate_memory_does_not_overlap():
    """Of any spans: whether it is as little as can be is shown of recipes."""
    random = np.random.default_rng(0)
    for _ in range(300):
        sizes, first, long = random.integers(1, 5000, 13), random.integers(0, 8, 13), random.integers(0, 4, 13)
        result, *spans = (memory.Span(int(s), int(a), int(a + n)) for s, a, n in zip(sizes, first, long, strict=True))
        result = result._replace(last=max(span.last for span in spans))
        places, room = memory.placed(result, spans)
        for span, place in zip(spans, places, strict=True):
            assert place.offset % 512 == 0
            assert place.offset + span.size <= (result.size if place.in_result else room)
            assert span.last < result.first or not place.in_result
        for (a, own), (b, other) in itertools.combinations(zip(spans, places, strict=True), 2):
            if own.in_result == other.in_result and a.first <= b.last and b.first <= a.last:
                assert own.offset + a.size <= other.offset or other.offset + b.size <= own.offset
        assert room <= sum(math.ceil(span.size / 512) * 512 for span in spans)
    assert memory.placed(memory.Span(1000, 2, 2), []) == ([], 0)


@pytest.mark.parametrize(
    ("policy", "batches"),
    [(T.TrivialAugmentWide(), 1), (T.RandAugment(), 1), (T.AutoAugment(), 1), (T.AugMix(), 5)],
    ids=lambda given: type(given).__name__,
)
def test_launch_plan_policy_takes_turns_with_few_batches(policy, batches, gpu):
    """One is the result's; of AugMix each branch reads one and makes one, all at once."""
    batch = torch.zeros((16, 3, 224, 224), dtype=torch.uint8)
    *_, given = seen(gpu, lambda: T.Compose([policy], seed=1)(batch))
    result, block = given[-2:]
    assert bytes_of(result) == batch.nbytes
    assert bytes_of(block) <= (batches + 0.05) * batch.nbytes


def test_launch_plan_sequence_takes_memory_of_two_images():
    """One of which is the result's, or that of two of them if it is wider."""
    chain = [memory.Span(1024, i, i + 1) for i in range(6)]
    assert memory.placed(memory.Span(1024, 6, 6), chain)[1] == 1024
    assert memory.placed(memory.Span(2048, 6, 6), chain)[1] == 1024
    assert memory.placed(memory.Span(2048, 7, 7), chain)[1] == 0


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_launch_plan_table_has_room_for_partial_sums(dtype, channels):
    """A recipe may convert before it measures: room is kept without knowing what it will be."""
    for size in ((1, 1), (224, 224), (65, 33), (1080, 1920)):
        for samples in (1, 7, 256, 3000):
            image = _images.placeholder((samples, *size, channels), dtype)._replace(device=0)
            assert 0 < _grids.partial_sum_count(image) <= _grids.max_partial_sum_count(1, size)


def test_launch_plan_torch_memory_on_current_device_only(monkeypatch):
    guards = torch._C._dynamo.guards
    taken = []

    def raw(shape, strides, dtype):
        taken.append(tuple(shape))
        return guards._empty_strided_cpu(shape, strides, dtype)

    library = library_of(torch.Tensor)
    monkeypatch.setattr(library, "raw_empty", raw)
    monkeypatch.setattr(library, "current_device", lambda: 1)
    monkeypatch.setattr(torch_library, "_torch_device", lambda device: torch.device("cpu"))
    for shape, order in (((), None), ((0, 3), None), (torch.Size((2, 3, 4)), None), ((2, 3, 4, 5), (0, 2, 3, 1))):
        for dtype in ("uint8", "int64", "bfloat16"):
            expected = library.empty(shape, dtype, 0, order)
            assert not taken
            made = library.empty(shape, dtype, 1, order)
            assert taken.pop() == protocol.memory_shape(shape, order)[0]
            assert (made.shape, made.stride(), made.dtype) == (expected.shape, expected.stride(), expected.dtype)


def test_launch_plan_arguments_have_room_for_batched_records():
    assert (
        batched_launch.MAX_BATCHED * max(_records.POINTWISE.size, *(record.size for record in _records.WARPS.values()))
        <= 4096
    )


def random_launches(generator, count):
    """Of kernels that go together and others, each of which writes memory of a few places and reads some more."""
    launches = []
    for i in range(count):
        kernel = generator.choice(
            ["cuaug::warp_image<a>", "cuaug::warp_image<b>", "cuaug::histogram_lut<a>", "cuaug::draw"]
        )
        kernel = generator.choice([kernel, "cuaug::warp_image<a, cuaug::StoreAndMean>"])
        written, *read = generator.sample(range(8), 3)
        relocations = (0, read[0], 16), (48, written, 0), (56, read[1], 8)
        launches.append(Launch(kernel, (5, 1, 1), 256, 0, struct.pack("2q48x", -1, i), relocations))
    return launches


@pytest.mark.parametrize("seed", range(40))
def test_batched_launch_waits_for_dependencies(seed):
    """Of launches that touch one place, of which one writes it, the first stays the first."""
    launches = random_launches(random.Random(seed), 24)
    known = {"cuaug::warp_image<a>", "cuaug::warp_image<b>", "cuaug::histogram_lut<a>"}
    at = {}
    for place, one in enumerate(batched_launch.merge_launches(launches)):
        x, y, count = one.grid
        assert (x, y) == (5, 1)
        assert len(one.record) == 64 * (1 if count == 1 else batched_launch.MAX_BATCHED)
        assert one.kernel.endswith(TOGETHER) == (count > 1)
        for i in range(count):
            (number,) = struct.unpack_from("q", one.record, 64 * i + 8)
            own = launches[number]
            assert count == 1 or own.kernel in known
            assert one.kernel in (own.kernel, own.kernel[:-1] + TOGETHER)
            assert one.record[64 * i :][:64] == own.record
            assert [(a - 64 * i, *rest) for a, *rest in one.relocations if a // 64 == i] == list(own.relocations)
            assert at.setdefault(number, place) == place
    assert sorted(at) == list(range(24))

    def wrote(launch):
        return {name for place, name, _ in launch.relocations if place == 48 or launch.kernel not in known}

    def used(launch):
        return {name for _, name, _ in launch.relocations}

    for first, second in itertools.combinations(range(24), 2):
        a, b = launches[first], launches[second]
        if wrote(a) & used(b) or wrote(b) & used(a):
            assert at[first] < at[second], (first, second)


def test_batched_launch_groups_as_early_as_possible():
    """Chains of three steps, one behind the other: three launches, of at most four records each."""
    chain = ["cuaug::warp_image<a>", "cuaug::histogram_lut<a>", "cuaug::warp_image<a>"]
    launches = [
        Launch(kernel, (5, 1, 1), 256, 0, bytes(64), ((0, 10 * i + step, 0), (48, 10 * i + step + 1, 0)))
        for i in range(5)
        for step, kernel in enumerate(chain)
    ]
    two = [(each.kernel, each.grid[2]) for each in batched_launch.merge_launches(launches[:6])]
    assert two == [(kernel[:-1] + TOGETHER, 2) for kernel in chain]
    assert [each.grid[2] for each in batched_launch.merge_launches(launches)] == [4, 4, 4, 1, 1, 1]
