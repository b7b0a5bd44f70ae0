"""PixelOp: damaged caches, killed and forked processes, full disks, and a compiler that does not end."""

import errno
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from helpers.child_process import python
from helpers.compiler import require_compiler

from cuaug import BackendError
from cuaug import transforms as T
from cuaug._host import compiler, library_file

require_compiler()
PROGRAM = """
import numpy as np
from cuaug import transforms as T
print(T.PixelOp("Damaged", "px * k", k=0.5)(np.full((1, 2, 2, 1), 100, np.uint8)).ravel().tolist())
"""
HALVED = "[50, 50, 50, 50]"
IMAGE = np.full((1, 2, 2, 1), 100, np.uint8)


def damaged(content, kind):
    middle = len(content) // 2
    return {
        "emptied": b"",
        "cut": content[:middle],
        "cut by one byte": content[:-1],
        "half of zeros": content[:middle] + bytes(len(content) - middle),
        "a flipped byte": content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :],
        "text": b"not a library",
    }[kind]


@pytest.fixture(scope="module")
def compiled_library(tmp_path_factory):
    """Name and content of the library of PROGRAM's op."""
    cache = tmp_path_factory.mktemp("cache")
    assert python(PROGRAM, XDG_CACHE_HOME=str(cache))[0] == HALVED
    (library,) = (cache / "cuaug").iterdir()
    assert library_file.is_intact(library)
    return library.name, library.read_bytes()


@pytest.mark.parametrize(
    "kind", ["emptied", "cut", "cut by one byte", "half of zeros", "a flipped byte", "text", "a folder", "a dead link"]
)
def test_pixel_op_rebuilds_damaged_library(kind, compiled_library, tmp_path):
    name, content = compiled_library
    (tmp_path / "cuaug").mkdir(mode=0o700)
    library = tmp_path / "cuaug" / name
    if kind == "a folder":
        (library / "inside").mkdir(parents=True)
    elif kind == "a dead link":
        library.symlink_to(tmp_path / "nothing")
    else:
        library.write_bytes(damaged(content, kind))
    assert python(PROGRAM, XDG_CACHE_HOME=str(tmp_path))[0] == HALVED
    assert [path.name for path in (tmp_path / "cuaug").iterdir()] == [name]
    assert library_file.is_intact(library)


def test_pixel_op_removes_old_files_of_killed_processes(tmp_path):
    folder = tmp_path / "cuaug"
    folder.mkdir(mode=0o700)
    for name, age in (("old", 7200), ("new", 60)):
        (folder / f"compiling-{name}" / "inside").mkdir(parents=True)
        (folder / f"writing-{name}").write_text("")
        for path in folder.glob(f"*-{name}"):
            os.utime(path, (time.time() - age,) * 2)
    assert python(PROGRAM, XDG_CACHE_HOME=str(tmp_path))[0] == HALVED
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".so") == ["compiling-new", "writing-new"]


@pytest.mark.parametrize("step", ["compiling", "writing"])
@pytest.mark.parametrize("disks", ["cache", "cache and temporary"])
def test_pixel_op_full_disk_uses_a_private_folder_or_says_so(step, disks, tmp_path, monkeypatch):
    cache, private = tmp_path / "cache", tmp_path / "private"
    cache.mkdir()
    private.mkdir()
    full = [str(cache), str(private)] if "temporary" in disks else [str(cache)]
    monkeypatch.setattr(compiler, "cache_dir", lambda: cache)
    monkeypatch.setattr(compiler, "private_folder", lambda: private)
    run, write = compiler._run, library_file.write

    def full_run(command, name):
        is_full = step == "compiling" and "-o" in command and command[-2].startswith(tuple(full))
        return (1, "ld: final link failed: No space left on device") if is_full else run(command, name)

    def full_write(path, library):
        if step == "writing" and str(path).startswith(tuple(full)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, library)

    monkeypatch.setattr(compiler, "_run", full_run)
    monkeypatch.setattr(library_file, "write", full_write)
    op = T.PixelOp("Full" + step + str(len(full)), "px * 0.5")
    if len(full) == 2:
        with pytest.raises(BackendError, match=r"free space, or set XDG_CACHE_HOME or TMPDIR"):
            op(IMAGE)
    else:
        assert op(IMAGE).ravel().tolist() == [50] * 4
        assert [path.suffix for path in private.iterdir()] == [".so"]
    assert list(cache.iterdir()) == []


def slow_compiler(folder, seconds):
    """A compiler that waits, in a program of its own, before it compiles an op."""
    script = folder / "slow"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *op.cpp*) sleep {seconds};; esac\nexec {compiler.compiler_command()[0]} "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


def test_pixel_op_compiler_has_a_time_limit(tmp_path, monkeypatch):
    command = slow_compiler(tmp_path, 60)
    monkeypatch.setenv("CXX", command)
    compiler._version(command)  # queried with the usual limit: it may take longer than 0.5 s
    monkeypatch.setattr(compiler, "_TIME_LIMIT", 0.5)
    start = time.perf_counter()
    with pytest.raises(BackendError, match=r"Slow: .* took more than 0 s|Slow: .* took more than 1 s"):
        T.PixelOp("Slow", "px * 0.25")(IMAGE)
    assert time.perf_counter() - start < 20


FORK = """
import os, sys, threading, time
import numpy as np
from cuaug import transforms as T
image = np.full((1, 2, 2, 1), 100, np.uint8)
loaded, compiled = T.PixelOp("Loaded", "px * 0.5"), T.PixelOp("Compiled", "px * 0.25")
loaded(image)
os.environ["CXX"] = sys.argv[1]
thread = threading.Thread(target=compiled, args=(image,))
thread.start()
time.sleep(1)
child = os.fork()
if child == 0:
    os._exit(int(loaded(image).max() != 50 or compiled(image).max() != 25))
for _ in range(400):
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    os._exit(9)
thread.join()
os._exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
def test_pixel_op_child_forked_during_a_compile_does_not_hang(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(
        [sys.executable, "-c", FORK, slow_compiler(tmp_path, 4)], env=environment, timeout=120, check=False
    )
    assert process.returncode == 0


EXIT = """
import os, sys
import numpy as np
from cuaug import transforms as T
image = np.full((1, 2, 2, 1), 100, np.uint8)
T.PixelOp("First", "px * 0.5")(image)
child = os.fork()
if child == 0:
    T.PixelOp("Second", "px * 0.25")(image)
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
print(len(os.listdir(os.environ["TMPDIR"])), T.PixelOp("Third", "px * 0.75")(image).max())
"""


def test_pixel_op_forked_child_leaves_its_parents_private_folder(tmp_path):
    printed, _ = python(EXIT, XDG_CACHE_HOME="/proc/nothing", TMPDIR=str(tmp_path))
    assert printed == "1 75"
    assert list(tmp_path.iterdir()) == []


def test_pixel_op_interrupted_compile_is_compiled_by_the_thread_that_waits(monkeypatch):
    op, started, interrupted = T.PixelOp("Interrupted", "px * 0.5"), threading.Event(), threading.Event()
    compiled_library, calls = compiler.compiled_library, []

    def first_is_interrupted(*arguments):
        calls.append(threading.get_ident())
        if len(calls) == 1:
            started.set()
            interrupted.wait(10)
            raise KeyboardInterrupt
        return compiled_library(*arguments)

    def call(results):
        try:
            results.append(op(IMAGE).max())
        except KeyboardInterrupt:
            results.append("interrupted")

    monkeypatch.setattr(compiler, "compiled_library", first_is_interrupted)
    results = [], []
    threads = [threading.Thread(target=call, args=(each,)) for each in results]
    threads[0].start()
    started.wait(10)
    threads[1].start()
    time.sleep(0.2)
    interrupted.set()
    for thread in threads:
        thread.join(60)
    assert results == (["interrupted"], [50])
