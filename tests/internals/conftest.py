"""Fixtures of this folder."""

from types import SimpleNamespace

import pytest
from helpers import emulator
from helpers.fake_driver import FakeDriver, raise_status
from helpers.replace import replace_everywhere

from cuaug._arrays.registry import library_of
from cuaug._gpu import cupy_import, devices, kernels, launch_sequence, streams
from cuaug._gpu import driver as driver_module
from cuaug._gpu import launch as launch_module


@pytest.fixture(params=["extension", "python"])
def gpu(request, monkeypatch):
    """A fake GPU: torch's CPU memory stands for device memory. `gpu.allocations` holds all allocations.

    Each test runs with the launch sequences of the extension, and with those of Python.
    """
    torch = pytest.importorskip("torch")
    driver, library = FakeDriver(), library_of(torch.Tensor)
    driver.stream = 7
    describe, empty = library.describe, library.empty

    def allocate(shape, dtype, device, order):
        driver.allocations.append(empty(shape, dtype, -1, order))
        return driver.allocations[-1]

    monkeypatch.setattr(library, "describe", lambda array, stream=None: describe(array)._replace(device=0))
    monkeypatch.setattr(library, "empty", allocate)
    monkeypatch.setattr(library, "current_stream", lambda device: driver.stream)
    monkeypatch.setattr(library, "from_numpy", lambda values, device: torch.from_numpy(values))
    replace_everywhere(monkeypatch, driver_module, "driver", lambda: driver)
    replace_everywhere(monkeypatch, kernels, "kernel", driver.kernel)
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDevice=lambda: 0), driver=SimpleNamespace(check_status=raise_status)
    )
    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(devices.thread_state, "devices", {0})
    replace_everywhere(monkeypatch, launch_module, "_supports_pdl", lambda index: True)
    replace_everywhere(monkeypatch, devices, "check_not_forked", lambda: None)
    replace_everywhere(monkeypatch, devices, "multiprocessor_count", lambda index: 132)
    replace_everywhere(monkeypatch, devices, "has_fast_integer_mma", lambda index: True)
    replace_everywhere(monkeypatch, streams, "is_capturing", lambda stream: False)
    replace_everywhere(monkeypatch, streams, "synchronize_stream", lambda stream, index: None)
    if request.param == "python":
        monkeypatch.setattr(launch_sequence, "_sequence_class", lambda: launch_sequence._PythonLaunchSequence)
    else:
        from cuaug import _native as native

        assert launch_sequence._sequence_class() is native.LaunchSequence
    return driver


@pytest.fixture
def emulate(monkeypatch):
    """`emulator.patch` for one skeleton, of which at least one pass must run before the test ends."""
    launches_by_skeleton = {}

    def patch(skeleton="warp_image"):
        launches_by_skeleton[skeleton] = emulator.patch(monkeypatch, [skeleton])
        return launches_by_skeleton[skeleton]

    yield patch
    for skeleton, launches in launches_by_skeleton.items():
        assert launches, f"no pass of {skeleton} ran in the emulator"
