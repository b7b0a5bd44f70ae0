"""Broken environments: no CuPy, a broken one, two; no extension; no usable cache folder; a full disk; fork."""

import os
import shutil
import stat
import sys
import threading
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.child_process import python
from helpers.replace import replace_everywhere

import cuaug
from cuaug import _warmup
from cuaug._arrays import protocol
from cuaug._gpu import cupy_import, devices, failures, kernels, launch, streams
from cuaug._program import sources


@pytest.fixture
def empty_gpu_caches(monkeypatch):
    """Clear the caches of the GPU modules before and after the test."""
    modules = cupy_import, devices, kernels, launch, streams
    caches = [value for module in modules for value in vars(module).values() if hasattr(value, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(kernels, "compiled_kernels", {})
    monkeypatch.setattr(cupy_import, "prepare_cache", lambda: None)
    yield
    for cache in caches:
        cache.cache_clear()


def pretend_installed(monkeypatch, *names, module=None):
    """Pretend that these wheels are installed, and that importing cupy gives ``module``, or fails if it is None."""
    wheels = [SimpleNamespace(metadata={"Name": name}) for name in ("numpy", *names)]
    monkeypatch.setattr(metadata, "distributions", lambda: wheels)
    monkeypatch.setitem(sys.modules, "cupy", module)


def fake_cupy(version="14.2.0", available=True):
    return SimpleNamespace(__version__=version, cuda=SimpleNamespace(is_available=lambda: available))


def test_backend_error_cupy_missing(empty_gpu_caches, monkeypatch):
    pretend_installed(monkeypatch)
    with pytest.raises(cuaug.BackendError, match=r'pip install "cupy-cuda13x'):
        cupy_import.cupy()
    assert cuaug.is_available() is False
    assert cuaug.hflip(np.eye(3, dtype=np.uint8)[..., None]).shape == (3, 3, 1)


def test_backend_error_cupy_broken(empty_gpu_caches, monkeypatch):
    pretend_installed(monkeypatch, "cupy-cuda13x")
    with pytest.raises(cuaug.BackendError, match=r"cupy-cuda13x cannot be imported.*pip install"):
        cupy_import.cupy()


def test_backend_error_two_cupys(empty_gpu_caches, monkeypatch):
    pretend_installed(monkeypatch, "cupy-cuda12x", "cupy-cuda13x", module=fake_cupy())
    with pytest.raises(cuaug.BackendError, match=r"pip uninstall cupy-cuda12x cupy-cuda13x"):
        cupy_import.cupy()


@pytest.mark.parametrize("name", ["cupy", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-5-0"])
def test_backend_error_not_for_packages_that_use_cupy(empty_gpu_caches, monkeypatch, name):
    pretend_installed(monkeypatch, name, "cupy-xarray", "cupy_backends_stubs", "cupyx", module=fake_cupy())
    assert cupy_import.cupy() is sys.modules["cupy"]
    cupy_import.cupy.cache_clear()
    pretend_installed(monkeypatch, name, "cupy-cuda11x", module=fake_cupy())
    with pytest.raises(cuaug.BackendError, match="several CuPy wheels"):
        cupy_import.cupy()


def test_backend_error_cupy_too_old(empty_gpu_caches, monkeypatch):
    pretend_installed(monkeypatch, "cupy-cuda12x", module=fake_cupy("14.1.1"))
    with pytest.raises(cuaug.BackendError, match=r"14\.2.*14\.1\.1.*pip install"):
        cupy_import.cupy()


def test_backend_error_bfloat16_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    protocol.numpy_dtype.cache_clear()
    with pytest.raises(cuaug.BackendError, match="pip install ml-dtypes"):
        cuaug.to_dtype(np.zeros((2, 2, 3), np.uint8), "bfloat16", scale=True)


def test_backend_error_no_driver(empty_gpu_caches, monkeypatch):
    pretend_installed(monkeypatch, "cupy-cuda13x", module=fake_cupy(available=False))
    with pytest.raises(cuaug.BackendError, match="no NVIDIA driver found"):
        cupy_import.cupy()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            RuntimeError("CuPy failed to load libnvrtc.so.13: cannot open shared object file"),
            ["NVRTC", "cupy-cuda13x"],
        ),
        (RuntimeError("nvrtc: error: invalid value for --gpu-architecture (-arch)"), ["driver CUDA", "runtime CUDA"]),
        (RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"), ["driver CUDA", "update"]),
        (RuntimeError("CUDA_ERROR_NO_BINARY_FOR_GPU"), ["driver CUDA", "pip install"]),
        (RuntimeError("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"), ["cuaug.warmup()"]),
        (RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS"), ["restart the process"]),
    ],
)
def test_backend_error_names_cause_and_repair(error, words, empty_gpu_caches, monkeypatch):
    runtime = SimpleNamespace(driverGetVersion=lambda: 12040, runtimeGetVersion=lambda: 13000)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))

    def fail():
        raise error

    with pytest.raises(cuaug.BackendError) as refusal:
        kernels._with_cache_fallback(fail)
    assert not [word for word in words if word not in str(refusal.value)], refusal.value
    assert refusal.value.__cause__ is error


def test_out_of_memory_error_is_that_of_the_library(empty_gpu_caches):
    class OutOfMemoryError(MemoryError):
        pass

    def fail():
        raise OutOfMemoryError("out of memory allocating 1,000 bytes")

    with pytest.raises(OutOfMemoryError):
        kernels._with_cache_fallback(fail)


def test_kernel_cache_full_disk_keeps_kernels_in_memory(empty_gpu_caches, monkeypatch):
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "")  # so that monkeypatch removes what the call sets
    monkeypatch.delenv("CUPY_CACHE_IN_MEMORY")
    answers = iter([OSError(28, "No space left on device"), "kernel"])

    def make():
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    with pytest.warns(RuntimeWarning, match="No space left on device") as warned:
        assert kernels._with_cache_fallback(make) == "kernel"
    assert len(warned) == 1
    assert os.environ["CUPY_CACHE_IN_MEMORY"] == "1"


def test_backend_error_extension_missing():
    program = """
import sys, numpy
sys.modules["cuaug._native"] = None
import cuaug
try:
    cuaug.warp_affine(numpy.zeros((1, 4, 4, 3), "u1"), numpy.eye(3))
except cuaug.BackendError as error:
    print(error)
"""
    message, _ = python(program)
    assert "extension" in message
    assert "pip install" in message


PREPARE = """
import os, stat, sys
from cuaug._gpu.cupy_import import prepare_cache
prepare_cache()
prepare_cache()
folder = os.environ.get("CUPY_CACHE_DIR", "")
print(folder, oct(stat.S_IMODE(os.stat(folder).st_mode)) if os.path.isdir(folder) else "")
"""


@pytest.mark.parametrize(
    "case", ["a file as home", "a home that cannot be written", "an unusable CUPY_CACHE_DIR", "no home"]
)
def test_kernel_cache_unusable_folder_is_replaced_by_private_one(case, tmp_path):
    a_file = tmp_path / "file"
    a_file.write_text("")
    variables = {
        "a file as home": {"HOME": str(a_file), "CUPY_CACHE_DIR": None},
        "a home that cannot be written": {"HOME": "/proc/self", "CUPY_CACHE_DIR": None},
        "an unusable CUPY_CACHE_DIR": {"CUPY_CACHE_DIR": str(a_file / "cache")},
        "no home": {"HOME": "", "CUPY_CACHE_DIR": None},
    }[case]
    if case == "no home" and os.access("/", os.W_OK):
        pytest.skip("the home is then the root folder, which this user may write")
    message, errors = python(PREPARE, TMPDIR=str(tmp_path), **variables)
    folder, mode = message.split()
    assert Path(folder).parent == tmp_path
    assert mode == oct(0o700)
    assert errors.count("RuntimeWarning") == 1
    assert "CUPY_CACHE_DIR" in errors
    assert not Path(folder).exists()  # removed when the process ended


@pytest.mark.parametrize("error", [MemoryError("full"), cuaug.BackendError("lost")])
def test_backend_error_is_not_its_own_cause(error):
    """Code that walks the causes of an error, as loggers do, would not end."""

    def fail():
        raise error

    with pytest.raises(type(error)) as raised:
        kernels._with_cache_fallback(fail)
    assert raised.value is error
    assert error.__cause__ is None
    with pytest.raises(type(error)) as raised, failures.translate_errors():
        fail()
    assert raised.value is error
    assert error.__cause__ is None


def test_kernel_cache_usable_folder_is_kept(tmp_path):
    message, errors = python(PREPARE, CUPY_CACHE_DIR=str(tmp_path / "mine"))
    assert message.split()[0] == str(tmp_path / "mine")
    assert errors == ""
    assert stat.S_ISDIR((tmp_path / "mine").stat().st_mode)


def test_kernel_compiles_once_for_many_threads(empty_gpu_caches, monkeypatch):
    """The compilation waits until eight threads have asked for the kernel."""
    compilations, barrier, arrived, all_arrived = [], threading.Barrier(8), threading.Semaphore(0), threading.Event()

    class Module:
        def __init__(self, **_):
            compilations.append(self)

        def get_function(self, name):
            assert all_arrived.wait(30)
            return name

    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(RawModule=Module))
    name, kernels_of_threads = _warmup.warmup_names()[0], []

    def work():
        barrier.wait()
        arrived.release()
        kernels_of_threads.append(kernels.kernel(name))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert arrived.acquire(timeout=30)
    all_arrived.set()
    for thread in threads:
        thread.join()
    assert [compiled.function for compiled in kernels_of_threads] == [name] * 8
    assert len(compilations) == 1


def test_kernel_text_depends_on_headers(monkeypatch, tmp_path):
    name = _warmup.warmup_names()[0]
    before = sources.kernel_source(name)
    assert before == sources.kernel_source(name)
    shutil.copytree(sources.KERNELS, tmp_path / "kernels")
    monkeypatch.setattr(sources, "KERNELS", tmp_path / "kernels")
    sources.kernels_digest.cache_clear()
    assert sources.kernel_source(name)[0] == before[0]
    header = next((tmp_path / "kernels").rglob("*.cuh"))
    header.write_text(header.read_text() + "\n// edited\n")
    sources.kernels_digest.cache_clear()
    assert sources.kernel_source(name)[0] != before[0]


FORKED = """
import os, signal, sys, time
import numpy, cuaug
from cuaug._gpu import cupy_import, devices

image = numpy.random.default_rng(0).integers(0, 256, (8, 64, 64, 3), numpy.uint8)
M = numpy.array([[0.9, -0.2, 3], [0.2, 0.9, 1]])
expected = cuaug.warp_affine(image, M)
cupy_import.cuda_users.append("a kernel")

def child():
    assert (cuaug.warp_affine(image, M) == expected).all()
    try:
        devices.check_not_forked()
    except cuaug.BackendError as error:
        assert "fork" in str(error) and "spawn" in str(error), error
        return 0
    return 2

for _ in range(40):
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)  # ends the process if it hangs
        code = 1
        try:
            code = child()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
print("40 forks")
"""


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_leaves_cpu_working_and_gpu_refused():
    message, _ = python(FORKED)
    assert message == "40 forks"
