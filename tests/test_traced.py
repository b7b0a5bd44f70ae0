"""What a recipe launches once it is traced is what its passes launch: shown without a GPU, by one that is pretended."""

import numpy as np
import pytest
from recipe_cases import CASES

from cuaug import _array, _cuda, _images
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
