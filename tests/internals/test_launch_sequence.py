"""Launch sequences of the extension and of Python: a function replaces ``cuLaunchKernelEx`` and logs the launches.

Both make the same launches on the right stream and device; an error ends a call.
"""

import ctypes
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.fake_driver import PROTOTYPE
from helpers.gil import releases_gil
from helpers.replace import replace_everywhere

from cuaug import _check
from cuaug import _native as native
from cuaug._gpu import cupy_import, devices, failures, kernels, launch_sequence
from cuaug._gpu import driver as driver_module
from cuaug._gpu import launch as launch_module
from cuaug._gpu.launch_sequence import LaunchSequence


@pytest.fixture(params=["extension", "python"])
def sequence_class(request):
    if request.param == "python":
        return launch_sequence._PythonLaunchSequence
    return native.LaunchSequence


def config(grid=(1, 2, 3), attributes=0):
    return launch_module._CONFIG.pack(*grid, 4, 5, 6, 7, 8, ctypes.addressof(launch_module._PDL_ATTRIBUTE), attributes)


def record(*numbers):
    return np.array(numbers, np.int64).tobytes()


class Driver:
    """Records launches; each returns the next status, and 0 after the last."""

    def __init__(self, *statuses):
        self.statuses, self.calls = list(statuses), []
        self.function = PROTOTYPE(self.launch)
        self.address = driver_module.function_address(self.function)

    def launch(self, config, kernel, arguments, extra):
        fields = launch_module._CONFIG.unpack(ctypes.string_at(config, launch_module._CONFIG.size))
        record_address = ctypes.c_void_p.from_address(arguments).value
        numbers = np.frombuffer(ctypes.string_at(record_address, 24), np.int64).tolist()
        self.calls.append((threading.get_ident(), fields, kernel, numbers, extra))
        return self.statuses.pop(0) if self.statuses else 0


def test_launch_sequence_passes_kernels_configurations_and_records(sequence_class):
    driver = Driver()
    # A relocation is (offset in the record, index of the call value, number added to the value).
    first = 101, config(attributes=1), record(10, 20, 30), [(8, 1, 5), (16, 0, 0)]
    second = 102, config((9, 8, 7)), record(40, 50, 60), [(0, 1, 1 << 39)]
    launches = sequence_class(driver.address, [first, second, (103, config(), record(-1, 0, 1), [])])
    for stream, values in ((77, (1 << 46, -3)), ((1 << 47) - 8, (1, 2))):
        assert launches.run(stream, values) == 0
        (_, *one), (_, *two), (_, *three) = driver.calls
        driver.calls.clear()
        pdl_attribute = ctypes.addressof(launch_module._PDL_ATTRIBUTE)
        assert one == [(1, 2, 3, 4, 5, 6, 7, stream, pdl_attribute, 1), 101, [10, values[1] + 5, values[0]], None]
        assert two == [(9, 8, 7, 4, 5, 6, 7, stream, pdl_attribute, 0), 102, [values[1] + (1 << 39), 50, 60], None]
        assert three == [(1, 2, 3, 4, 5, 6, 7, stream, pdl_attribute, 0), 103, [-1, 0, 1], None]


def test_launch_sequence_stops_at_first_failure(sequence_class):
    driver = Driver(0, 719)
    launches = sequence_class(driver.address, [(n, config(), record(n, 0, 0), []) for n in range(1, 5)])
    assert launches.run(0, ()) == 719
    assert [kernel for _, _, kernel, *_ in driver.calls] == [1, 2]
    assert launches.run(0, ()) == 0  # the sequence does not remember the failure


def test_launch_sequence_threads_have_their_own_records(sequence_class):
    driver = Driver()
    launches = sequence_class(
        driver.address, [(n, config(), record(0, 0, 0), [(0, 0, n), (16, 0, 2 * n)]) for n in range(1, 20)]
    )
    numbers_of_threads = {}
    barrier = threading.Barrier(4)

    def run_many(number):
        numbers_of_threads[threading.get_ident()] = number
        barrier.wait()
        for _ in range(50):
            launches.run(number, (number,))

    threads = [threading.Thread(target=run_many, args=(1000 * i,)) for i in range(1, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(driver.calls) == 4 * 50 * 19
    for ident, fields, kernel, numbers, _ in driver.calls:
        number = numbers_of_threads[ident]
        assert (fields[7], numbers) == (number, [number + kernel, 0, number + 2 * kernel])


@pytest.mark.alone
def test_launch_sequence_releases_the_gil(sequence_class):
    """`nanosleep` replaces the driver: it reads the configuration as 0 seconds and 250,000,000 nanoseconds."""
    libc = ctypes.CDLL(None)
    quarter_second = launch_module._CONFIG.pack(0, 0, 250_000_000, *[0] * 7)
    launches = sequence_class(driver_module.function_address(libc.nanosleep), [(0, quarter_second, b"", [])])
    assert releases_gil(lambda: launches.run(0, ()))


class Runtime:
    """Stands in for CuPy's runtime in a process with three GPUs."""

    def __init__(self, current):
        self.current, self.set_devices = current, []

    def getDevice(self):
        return self.current

    def setDevice(self, index):
        self.current = index
        self.set_devices.append(index)


@pytest.mark.parametrize("status", [0, 719])
@pytest.mark.parametrize("before", [0, 2])
def test_launch_sequence_sets_current_device(before, status, sequence_class, monkeypatch):
    """A thread's first launch sets the device even if it is the current one, which may have no context yet."""
    runtime, loaded = Runtime(before), []
    driver = Driver()
    devices_of_launches, launch = [], driver.launch
    driver.function = PROTOTYPE(lambda *arguments: (devices_of_launches.append(runtime.current), launch(*arguments))[1])

    class Kernel:
        uses_pdl, handles = False, {}

        def load(self, index):
            loaded.append((index, runtime.current))
            return 5

    def check(status):
        raise ValueError(f"CUDA_ERROR {status}")

    cuda = SimpleNamespace(runtime=runtime, driver=SimpleNamespace(check_status=check))
    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(cuda=cuda))
    replace_everywhere(monkeypatch, driver_module, "driver", lambda: SimpleNamespace(cuLaunchKernelEx=driver.function))
    replace_everywhere(monkeypatch, kernels, "kernel", lambda name, stream: Kernel())
    monkeypatch.setattr(devices.thread_state, "devices", set())
    monkeypatch.setattr(failures, "_versions", lambda: "no driver")
    monkeypatch.setattr(launch_sequence, "_sequence_class", lambda: sequence_class)
    launches = LaunchSequence([launch_sequence.Launch("one", (1, 1, 1), 32, 0, record(1, 2, 3), ((8, 0, 0),))], 2)
    for call_count in (1, 2):
        driver.statuses = [status]
        if status:
            with pytest.raises(_check.BackendError, match="CUDA_ERROR 719"):
                launches(9, (44,))
        else:
            launches(9, (44,))
        assert runtime.current == before
        assert devices_of_launches == [2] * call_count
    assert loaded == [(2, 2)]
    assert runtime.set_devices == ([2] if before == 2 else [2, 0, 2, 0])
    assert [call[1:4] for call in driver.calls] == [driver.calls[0][1:4]] * 2
    assert driver.calls[0][3] == [1, 44, 3]


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ((1, config(), record(1), [(4, 0, 0)]), "a relocation is eight aligned bytes of the record"),
        ((1, config(), record(1), [(8, 0, 0)]), "a relocation is eight aligned bytes of the record"),
        ((1, config(), record(1), [(2**64 - 8, 0, 0)]), "a relocation is eight aligned bytes of the record"),
        ((1, config(), record(1), [(0, 2**64 - 1, 0)]), r"a value's index is at most 2\*\*31 - 1"),
        ((1, config()[:-1], record(1), []), "a configuration has 56 bytes"),
    ],
)
def test_launch_sequence_rejects_invalid_relocations_and_configurations(launch, message):
    with pytest.raises(ValueError, match=message):
        native.LaunchSequence(1, [launch])


def test_launch_sequence_rejects_too_few_values():
    driver = Driver()
    launches = native.LaunchSequence(driver.address, [(1, config(), record(1, 2, 3), [(0, 2, 0)])])
    with pytest.raises(ValueError, match="the records need 3 values"):
        launches.run(0, (1, 2))
    assert not driver.calls
