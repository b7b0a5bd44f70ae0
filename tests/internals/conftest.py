"""Fixtures of this folder."""

import pytest
from helpers.fake_driver import Driver, Named, refuse
from helpers.replace import replace_everywhere

from cuaug._arrays.registry import library_of
from cuaug._gpu import cupy_import, devices, kernels, streams
from cuaug._gpu import driver as _driver
from cuaug._gpu import launch as _launch
from cuaug._gpu import launch_sequence as _launches


@pytest.fixture(params=["extension", "python"])
def gpu(request, monkeypatch):
    """A fake GPU: torch's CPU memory stands for device memory. `gpu.given` holds all allocations."""
    torch = pytest.importorskip("torch")
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
        monkeypatch.setattr(_launches, "_sequence_class", lambda: _launches._PythonLaunchSequence)
    else:
        from cuaug import _native as native

        assert _launches._sequence_class() is native.LaunchSequence
    return driver
