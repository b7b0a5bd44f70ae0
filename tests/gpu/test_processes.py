"""Processes around a GPU: damaged, shared and unusable kernel caches, fork, exit, and a lost CUDA context."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.child_process import finish, python, start

pytestmark = pytest.mark.gpu

# `forget_kernels` makes the next call read the disk cache again.
CHECK = """
import hashlib, os, pathlib, random, sys, warnings
import cupy, numpy, cuaug
from cuaug._gpu import kernels
from cuaug._passes import replay

image = numpy.random.default_rng(0).integers(0, 256, (2, 40, 50, 3), numpy.uint8)
M = numpy.array([[0.9, -0.2, 3], [0.2, 0.9, 1]])
device = cupy.asarray(image)

def assert_gpu_equals_cpu():
    for call in (lambda x: cuaug.warp_affine(x, M), lambda x: cuaug.hflip(x)):
        difference = call(device).get().astype(int) - call(image)
        assert abs(difference).max() <= 1 and (difference == 0).mean() > 0.98

def forget_kernels():
    kernels.compiled_kernels.clear()
    replay.forget_plans()  # which hold loaded kernels
    cupy.clear_memo()

def entries():
    return sorted(path for path in pathlib.Path(os.environ["CUPY_CACHE_DIR"]).iterdir() if path.is_file())
"""

DAMAGED = """
cuaug.hflip(device)
(entry,) = entries()
good, expected = entry.read_bytes(), cuaug.hflip(image)
rng = random.Random(20261120)

def with_flipped_bit(data):
    offset = rng.choice([rng.randrange(100), rng.randrange(len(data))])
    return data[:offset] + bytes([data[offset] ^ 1 << rng.randrange(8)]) + data[offset + 1 :]

damages = [lambda data: b"", lambda data: data[:10], lambda data: data + b"more", lambda data: bytes(len(data))]
damages += [lambda data, k=k: data[: len(data) * k // 20] for k in range(20)]
damages += [with_flipped_bit] * 40
def hflip_on_gpu():
    forget_kernels()
    return cuaug.hflip(device).get()

for number, damage in enumerate(damages):
    entry.write_bytes(damage(good))
    assert (hflip_on_gpu() == expected).all(), number
    # The bytes need not equal the first ones: NVRTC names a file's constants after the time and process of compilation.
    new_bytes, written = entry.read_bytes(), entry.stat().st_mtime_ns
    assert len(new_bytes) > 1000, number
    assert new_bytes[:40].decode() == hashlib.sha1(new_bytes[40:]).hexdigest(), f"damage {number} was left"
    assert (hflip_on_gpu() == expected).all(), number
    assert entry.stat().st_mtime_ns == written, f"the entry that replaced damage {number} was not used"
print(len(damages))
"""


def test_kernel_cache_damaged_entries_are_replaced(tmp_path):
    output, errors = python(CHECK + DAMAGED, timeout=500, CUPY_CACHE_DIR=str(tmp_path))
    assert int(output) == 64
    assert errors == ""


FOLDERS = """
assert_gpu_equals_cpu()
assert entries()
for path in entries():
    path.unlink()
    path.mkdir()
forget_kernels()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert_gpu_equals_cpu()
    forget_kernels()
    assert_gpu_equals_cpu()
print(len(caught), *{str(w.message)[:60] for w in caught}, sep="|")
"""


def test_kernel_cache_folders_in_place_of_entries(tmp_path):
    message, _ = python(CHECK + FOLDERS, CUPY_CACHE_DIR=str(tmp_path))
    assert int(message.partition("|")[0]) <= 1, message  # at most one warning


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_kernel_cache_unreadable_entries(tmp_path):
    program = """
assert_gpu_equals_cpu()
assert entries()
for path in entries():
    path.chmod(0)
forget_kernels()
assert_gpu_equals_cpu()
"""
    python(CHECK + program, CUPY_CACHE_DIR=str(tmp_path))


COUNT_WARNINGS = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert_gpu_equals_cpu()
    assert_gpu_equals_cpu()
print(len([w for w in caught if issubclass(w.category, RuntimeWarning)]))
"""
UNUSABLE = """
import os, warnings, numpy, cuaug
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert cuaug.is_available()
    assert cuaug.is_available()
    import cupy
    image = numpy.arange(60, dtype="uint8").reshape(1, 4, 5, 3)
    assert (cuaug.hflip(cupy.asarray(image)).get() == image[:, :, ::-1]).all()
print(len([w for w in caught if issubclass(w.category, RuntimeWarning)]), os.environ["CUPY_CACHE_DIR"])
"""


@pytest.mark.parametrize("case", ["a file as home", "a home that cannot be written", "an unusable CUPY_CACHE_DIR"])
def test_kernel_cache_unusable_folder_becomes_private(case, tmp_path):
    a_file = tmp_path / "file"
    a_file.write_text("")
    variables = {
        "a file as home": {"HOME": str(a_file), "CUPY_CACHE_DIR": None},
        "a home that cannot be written": {"HOME": "/proc/self", "CUPY_CACHE_DIR": None},
        "an unusable CUPY_CACHE_DIR": {"CUPY_CACHE_DIR": str(a_file / "cache")},
    }[case]
    message, _ = python(UNUSABLE, TMPDIR=str(tmp_path), **variables)
    count, folder = message.split()
    assert count == "1"
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()  # the child has removed the folder at its exit


def test_kernel_cache_folder_lost_while_running_warns_once(tmp_path):
    """A file takes the place of the folder, so that CuPy, already imported, fails when it saves a kernel."""
    remove = "folder = pathlib.Path(os.environ['CUPY_CACHE_DIR'])\nfolder.rmdir()\nfolder.touch()\n"
    assert python(CHECK + remove + COUNT_WARNINGS, CUPY_CACHE_DIR=str(tmp_path / "cache"))[0] == "1"


def test_kernel_cache_full_disk(tmp_path):
    """A tmpfs of 16 KB holds no kernel; only some users may mount one."""
    small = tmp_path / "small"
    small.mkdir()
    mount = shutil.which("mount")
    process = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if not process or process.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        message, _ = python(CHECK + COUNT_WARNINGS, CUPY_CACHE_DIR=str(small))
        assert message == "1"
    finally:
        subprocess.run(["umount", str(small)], check=True)


LOAD_TOGETHER = """
import os, pathlib, sys, time
import cupy, numpy, cuaug
from cuaug import _warmup
from cuaug._gpu import kernels
names = _warmup.warmup_names()[:8]
cupy.zeros(1)
flag = pathlib.Path(os.environ["BARRIER"])
pathlib.Path(flag.parent, f"ready{os.getpid()}").touch()
while not flag.exists():
    time.sleep(0.001)
for name in names:
    kernels._with_cache_fallback(lambda: kernels.kernel(name).load(0))
image = numpy.random.default_rng(0).integers(0, 256, (2, 40, 50, 3), numpy.uint8)
M = numpy.array([[0.9, -0.2, 3], [0.2, 0.9, 1]])
assert abs(cuaug.warp_affine(cupy.asarray(image), M).get().astype(int) - cuaug.warp_affine(image, M)).max() <= 1
print(len(names))
"""


def test_kernel_cache_sixteen_processes(tmp_path):
    """All processes start together, when a file appears; three rounds, each with its own cache."""
    for number in range(3):
        folder, cache = tmp_path / str(number), tmp_path / f"cache{number}"
        folder.mkdir()
        variables = {"CUPY_CACHE_DIR": str(cache), "BARRIER": str(folder / "go")}
        children = [start(LOAD_TOGETHER, **variables) for _ in range(16)]
        while sum(child.poll() is None for child in children) == 16 and len(list(folder.glob("ready*"))) < 16:
            pass
        (folder / "go").touch()
        assert {finish(child, 300) for child in children} == {("8", "")}
        entries = sorted(path.name for path in cache.iterdir())
        assert not [name for name in entries if "lock" in name or "tmp" in name], entries
        assert python(LOAD_TOGETHER, **variables) == ("8", "")
        assert sorted(path.name for path in cache.iterdir()) == entries  # every entry existed and was readable


FORKED = """
import os, signal, sys
import numpy, cuaug
LIBRARY
image = numpy.random.default_rng(0).integers(0, 256, (8, 64, 64, 3), numpy.uint8)
M = numpy.array([[0.9, -0.2, 3], [0.2, 0.9, 1]])
device = put(image)
expected = cuaug.warp_affine(image, M)
cuaug.warp_affine(device, M, layout="NHWC")

def child():
    assert (cuaug.warp_affine(image, M) == expected).all()
    try:
        cuaug.warp_affine(device, M, layout="NHWC")
    except cuaug.BackendError as error:
        assert "fork" in str(error) and "spawn" in str(error), error
        return 0
    return 2

for _ in range(50):
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)  # ends the process if it hangs
        code = 1
        try:
            code = child()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
print("50 forks")
"""


FORKED_AFTER_IS_AVAILABLE = """
import os, cuaug
assert cuaug.is_available()
pid = os.fork()
if pid == 0:
    try:
        cuaug.warmup()
    except cuaug.BackendError as error:
        os._exit(0 if "fork" in str(error) and "spawn" in str(error) else 1)
    os._exit(2)
print(os.waitpid(pid, 0)[1])
"""


def test_fork_after_is_available_is_refused():
    """`is_available` counts the GPUs, which initializes the driver. A forked child cannot use that driver."""
    assert python(FORKED_AFTER_IS_AVAILABLE, PYTHONWARNINGS="ignore")[0] == "0"


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_fork_leaves_cpu_working_and_gpu_refused(library):
    put = {
        "torch": "import torch\nput = lambda array: torch.from_numpy(array).cuda()",
        "cupy": "import cupy\nput = cupy.asarray",
    }
    message, _ = python(FORKED.replace("LIBRARY", put[library]), PYTHONWARNINGS="ignore")
    assert message == "50 forks"


EXIT_WITH_QUEUED_WORK = """
import torch, cuaug
x = torch.rand(8, 3, 512, 512, device="cuda")
M = torch.eye(3, device="cuda")
cuaug.warp_affine(x, M)
torch.cuda._sleep(200_000_000)
results = [cuaug.warp_affine(x, M) for _ in range(50)]
"""


def test_exit_with_queued_work_is_silent():
    for _ in range(5):
        assert python(EXIT_WITH_QUEUED_WORK) == ("", "")


LOST = """
import cupy, numpy, cuaug
image = cupy.zeros((2, 8, 8, 3), "uint8")
cuaug.hflip(image)
wild = cupy.RawKernel('extern "C" __global__ void wild(int* at) { *at = 1; }', "wild")
wild((1,), (1,), (numpy.uint64(8),))
try:
    cupy.cuda.runtime.deviceSynchronize()
except cupy.cuda.runtime.CUDARuntimeError:
    pass
try:
    cuaug.hflip(image)
except cuaug.BackendError as error:
    print(error, flush=True)
import os
os._exit(0)  # without the messages that CuPy prints at exit in a broken context
"""


def test_lost_context_is_named():
    message, _ = python(LOST)
    assert "restart the process" in message
    assert python("import cupy; print(int(cupy.arange(3).sum()))")[0] == "3"
