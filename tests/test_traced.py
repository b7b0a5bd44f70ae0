"""What a recipe launches once it is traced is what its passes launch: shown without a GPU, by one that is pretended."""

import numpy as np
import pytest
from recipe_cases import CASES

from cuaug import _array, _check, _cuda, _grids, _images
from cuaug import transforms as T
from cuaug._parameters import Table
from cuaug.fusion import run, traced

torch = pytest.importorskip("torch")


@pytest.fixture
def launches(monkeypatch):
    """Torch's CPU memory as that of a GPU whose launches are written down; each call gets the same memory again."""
    library = _array.library(torch.Tensor)
    done, pool, taken = [], {}, [0]
    describe, empty = library.describe, library.empty

    def given(shape, dtype, device, order):
        asked = taken[0], tuple(shape), dtype, order
        taken[0] += 1
        if asked not in pool:
            pool[asked] = empty(shape, dtype, -1, order)
        return pool[asked]

    monkeypatch.setattr(library, "describe", lambda array, stream=None: describe(array)._replace(device=0))
    monkeypatch.setattr(library, "empty", given)
    monkeypatch.setattr(library, "stream", lambda device: 7)
    monkeypatch.setattr(library, "load", lambda values, device: torch.from_numpy(values))
    monkeypatch.setattr(_cuda, "launch", lambda *launch: done.append(launch))
    monkeypatch.setattr(_cuda, "ready", lambda: None)
    monkeypatch.setattr(_cuda, "processors", lambda index: 132)
    monkeypatch.setattr(_cuda, "is_capturing", lambda stream: False)
    monkeypatch.setattr(_cuda, "wait", lambda stream, index: None)

    def written(call):
        done.clear()
        taken[0] = 0
        return call(), list(done)

    return written


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_trace_launches_what_the_passes_launch(case, layout, launches):
    for dtype in case.dtypes:
        memory = torch.zeros(5 * 64 * 80 * 3 + 64, dtype=getattr(torch, dtype))
        shape = (5, 64, 80, 3) if layout == "NHWC" else (5, 3, 64, 80)
        aug = case.compose(dtype)
        for offset in (0, 64, 1):  # other memory, aligned alike; then not
            batch = memory[offset : offset + 5 * 64 * 80 * 3].reshape(shape)
            image = _images.images(batch, layout)
            plan = aug._plan(image)
            rows = np.zeros((5, plan.columns))
            table = Table(rows.ctypes.data, plan.columns, 0, 1, 1, rows)
            expected, passes = launches(lambda: run.apply(plan, image, table))  # noqa: B023
            for _ in range(2):
                made, replayed = launches(lambda: traced.apply(plan, image, table))  # noqa: B023
                assert made is expected
                assert replayed == passes
            assert passes
        assert len(plan.traces) == 2


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
def test_a_list_of_different_sizes_takes_the_launches_of_a_batch(layout, antialias, launches):
    """Of sizes that it has not met as well: where images lie, and their sizes, are in a table that the kernels read."""
    crop = T.RandomResizedCrop((13, 14), antialias=antialias)
    aug = T.Compose([crop, T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4), T.ToDtype("float16", scale=True)])
    tag = "Planar" if layout == "CHW" else "Packed"
    shape = (lambda h, w: (3, h, w)) if layout == "CHW" else (lambda h, w: (h, w, 3))
    seen = []
    for sizes in ([(40, 30), (90, 60), (1, 1)], [(41, 33), (700, 60), (2, 9)]):
        given = [torch.zeros(shape(*size), dtype=torch.uint8) for size in sizes]
        made, launched = launches(lambda: aug(given, layout=layout, step=0))  # noqa: B023
        assert [tuple(own.shape) for own in made] == [shape(13, 14)] * 3
        assert len(launched) == aug.plan(given, layout=layout).launches
        names = [name for name, *_ in launched]
        assert names[0] == "cuaug::draw"
        assert f"cuaug::Ragged<cuaug::{tag}>" in names[1]
        assert not any("Ragged" in name for name in names[2:])
        seen.append([(name, grid) for name, _, grid, *_ in launched])
    assert seen[0] == seen[1]
    assert len(aug._plans) == 1
    with pytest.raises(_check.BackendError, match="images of different sizes cannot be captured"):
        launches(lambda: captured(aug, given, layout))


def captured(aug, given, layout):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_cuda, "is_capturing", lambda stream: True)
        aug(given, layout=layout)


def test_memory_that_no_later_step_reads_is_given_back(launches):
    case = next(case for case in CASES if len(case.compose("uint8").plan(size=(64, 80)).passes) > 2)
    image = _images.images(torch.zeros((5, 64, 80, 3), dtype=torch.uint8), "NHWC")
    plan = case.compose("uint8")._plan(image)
    rows = np.zeros((5, plan.columns))
    traced.apply(plan, image, Table(rows.ctypes.data, plan.columns, 0, 1, 1, rows))
    (trace,) = plan.traces.values()
    slots = {step.name for step in trace.steps if isinstance(step, traced.Slot)}
    freed = [name for names in trace.last.values() for name in names]
    assert sorted([*freed, trace.result]) == sorted(slots)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_table_has_room_for_the_parts_of_a_mean_whatever_the_pass_reads(dtype, channels):
    """A recipe may convert before it measures: room is kept without knowing what it will be."""
    for size in ((1, 1), (224, 224), (65, 33), (1080, 1920)):
        for samples in (1, 7, 256, 3000):
            image = _images.imagined((samples, *size, channels), dtype)._replace(device=0)
            assert 0 < _grids.mean_parts(image) <= _grids.most_mean_parts(1, size)


def test_memory_of_torch_comes_the_short_way_on_the_current_device_alone(monkeypatch):
    guards = torch._C._dynamo.guards
    taken = []

    def raw(shape, strides, dtype):
        taken.append(tuple(shape))
        return guards._empty_strided_cpu(shape, strides, dtype)

    library = _array.library(torch.Tensor)
    monkeypatch.setattr(library, "raw_empty", raw)
    monkeypatch.setattr(library, "current_device", lambda: 1)
    monkeypatch.setattr(_array, "_torch_device", lambda device: torch.device("cpu"))
    for shape, order in (((), None), ((0, 3), None), (torch.Size((2, 3, 4)), None), ((2, 3, 4, 5), (0, 2, 3, 1))):
        for dtype in ("uint8", "int64", "bfloat16"):
            expected = library.empty(shape, dtype, 0, order)
            assert not taken
            made = library.empty(shape, dtype, 1, order)
            assert taken.pop() == _array.permuted(shape, order)[0]
            assert (made.shape, made.stride(), made.dtype) == (expected.shape, expected.stride(), expected.dtype)
