"""Options, skips, and the summary: registers of compiled kernels, tests not run without a GPU or a JPEG decoder."""

import ctypes
import functools
import gc
import os

import hypothesis
import pytest
from helpers.torchvision import define_missing_operators

hypothesis.settings.register_profile("pr", derandomize=True, deadline=None, max_examples=60, database=None)
hypothesis.settings.load_profile("pr")

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX reserves three quarters of a GPU
# Two devices on the CPU, to test where results go; other flags of the user stay.
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count=2 {os.environ.get('XLA_FLAGS', '')}".strip()
define_missing_operators()
NO_GPU = "no NVIDIA GPU"
NO_JPEG = "no JPEG decoder"
DESELECTED_WITHOUT_GPU = pytest.StashKey[int]()


@functools.cache
def gpu_count():
    """GPUs that the driver reports. torch or CuPy would report 0 where they fail to load."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    return count.value if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0


def pytest_addoption(parser):
    parser.addoption("--require-gpu", action="store_true", help="fail where there is no GPU, instead of skipping")
    parser.addoption(
        "--kernel-table", action="store_true", help="list all compiled kernels, not only the 10 with the most registers"
    )


def pytest_configure(config):
    if config.getoption("--require-gpu") and not gpu_count():
        raise pytest.UsageError("--require-gpu: this machine has no NVIDIA GPU that the driver can see")


@functools.cache
def has_jpeg():
    try:
        from cuaug import _native
    except ImportError:
        return False
    return hasattr(_native, "jpeg_decode")


@pytest.hookimpl(trylast=True)  # after the deselection by markers and names
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.get_closest_marker("jpeg") and not has_jpeg():
            item.add_marker(pytest.mark.skip(reason=f"{NO_JPEG}: the extension was built without libjpeg-turbo"))
    without_gpu = {item for item in items if needed_gpus(item) > gpu_count()}
    if len(without_gpu) == len(items):  # of GPU tests alone the user sees the names
        for item in without_gpu:
            reason = f"{NO_GPU}: needs {needed_gpus(item)}, found {gpu_count()}"
            item.add_marker(pytest.mark.skip(reason=reason))
    else:  # to skip thousands of tests takes half a minute
        items[:] = [item for item in items if item not in without_gpu]
        config.hook.pytest_deselected(items=list(without_gpu))
        config.stash[DESELECTED_WITHOUT_GPU] = len(without_gpu)


def needed_gpus(item):
    return max((mark.kwargs.get("count", 1) for mark in item.iter_markers("gpu")), default=0)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # a process of pytest-xdist; each collects all tests
        session.config.workeroutput["without_gpu"] = session.config.stash.get(DESELECTED_WITHOUT_GPU, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    count = getattr(node, "workeroutput", {}).get("without_gpu", 0)  # a process that crashed has no output
    node.config.stash[DESELECTED_WITHOUT_GPU] = max(count, node.config.stash.get(DESELECTED_WITHOUT_GPU, 0))


def pytest_collection_finish():
    # Over a million objects of the collected tests stay until the end. Without this, each gc.collect() of a test visits
    # them, for more than a second.
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter, config):
    without_gpu = [r for r in terminalreporter.stats.get("skipped", []) if NO_GPU in str(r.longrepr)]
    reports = [r for outcome in ("passed", "failed") for r in terminalreporter.stats.get(outcome, [])]
    compilations = [value for r in reports if r.when == "call" for key, value in r.user_properties if key == "kernel"]
    if compilations:
        write_kernel_table(terminalreporter, compilations, config.getoption("--kernel-table"))
    count = len(without_gpu) + config.stash.get(DESELECTED_WITHOUT_GPU, 0)
    terminalreporter.write_line(f"{count} not run without a GPU")
    if without_jpeg := [r for r in terminalreporter.stats.get("skipped", []) if NO_JPEG in str(r.longrepr)]:
        terminalreporter.write_line(f"{len(without_jpeg)} skipped without a JPEG decoder")


def write_kernel_table(terminalreporter, compilations, all_kernels):
    """Registers of each kernel on each architecture, in descending order; spilled bytes follow a plus sign."""
    architectures = sorted({architecture for _, architecture, _, _ in compilations})
    kernels = {}
    for name, architecture, registers, spilled in compilations:
        kernels.setdefault(name, {})[architecture] = f"{registers}+{spilled}" if spilled else str(registers)
    max_registers = {name: max(registers for n, _, registers, _ in compilations if n == name) for name in kernels}
    names = sorted(kernels, key=lambda name: (-max_registers[name], name))
    terminalreporter.section(f"registers (+ spilled bytes) of {len(names)} kernels")
    terminalreporter.write_line("".join(f"{f'sm_{a}':>8}" for a in architectures) + "  kernel")
    for name in names if all_kernels else names[:10]:
        cells = (kernels[name].get(a, "-") for a in architectures)
        terminalreporter.write_line("".join(f"{cell:>8}" for cell in cells) + f"  {name}")


@pytest.fixture
def replays(monkeypatch):
    """The number of replayed calls of functions, in a list."""
    from cuaug._passes import recording, replay

    replay.forget_plans()
    counts, call = [0], recording.LaunchPlan.__call__

    def counted(plan, *arguments):
        counts[0] += 1
        return call(plan, *arguments)

    monkeypatch.setattr(recording.LaunchPlan, "__call__", counted)
    yield counts
    replay.forget_plans()
