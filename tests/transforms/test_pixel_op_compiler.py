"""PixelOp: the C++ compiler, its cache folder, processes, threads and instruction sets."""

import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.arrays import noise
from helpers.child_process import finish, python, start
from helpers.compare import EXACT, assert_equal
from helpers.compiler import require_compiler

from cuaug import transforms as T
from cuaug._host import compiler

require_compiler()
SHAPE = (5, 17, 11, 3)


def test_pixel_op_pickled_recipe_runs_in_other_process():
    batch = noise(SHAPE)
    aug = T.Compose([T.PixelOp("Vignette", "px * (1 - k * r2)", k=(0, 0.5))], seed=4)
    program = f"""
import pickle, numpy as np
batch = pickle.loads({pickle.dumps(batch)!r})
print(pickle.dumps(pickle.loads({pickle.dumps(aug)!r})(batch, step=0)).hex())
"""
    message, _ = python(program)
    assert_equal(pickle.loads(bytes.fromhex(message)), aug(batch, step=0))


PROGRAM = """
import numpy as np
from cuaug import transforms as T
print(T.PixelOp("Raced", "px * k", k=0.5)(np.full((1, 2, 2, 1), 100, np.uint8)).ravel().tolist())
"""
HALVED = "[50, 50, 50, 50]"


def counting_compiler(folder):
    """A compiler that counts the programs that it compiles, and the function that returns the count."""
    log, script = folder / "compiled", folder / "compiler"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *op.cpp*) echo "$$" >> {log};; esac\nexec {compiler.compiler_command()[0]} "$@"\n'
    )
    script.chmod(0o755)
    return str(script), lambda: len(log.read_text().split()) if log.exists() else 0


def test_pixel_op_compiled_once_for_processes(tmp_path):
    script, count = counting_compiler(tmp_path)
    environment = {"CXX": script, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        assert python(PROGRAM, **environment)[0] == HALVED
        assert count() == 1
    assert python(PROGRAM.replace("px * k", "k * px"), **environment)[0] == HALVED
    assert python(PROGRAM.replace("k=0.5", "k=(0.5, 0.5)"), **environment)[0] == HALVED  # the C++ text is the same
    assert count() == 2
    assert python(PROGRAM, **{**environment, "CXX": f"{script} -O1"})[0] == HALVED
    assert count() == 3
    assert (tmp_path / "cache" / "cuaug").stat().st_mode & 0o777 == 0o700


def test_pixel_op_concurrent_processes_leave_one_library(tmp_path):
    script, count = counting_compiler(tmp_path)
    children = [start(PROGRAM, CXX=script, XDG_CACHE_HOME=str(tmp_path)) for _ in range(5)]
    assert [finish(child)[0] for child in children] == [HALVED] * 5
    assert count() >= 1
    (library,) = (tmp_path / "cuaug").iterdir()  # a process that finishes later leaves no other file
    assert library.suffix == ".so"


def test_pixel_op_threads_compile_once(tmp_path, monkeypatch):
    script, count = counting_compiler(tmp_path)
    monkeypatch.setenv("CXX", script)
    monkeypatch.setattr(compiler, "cache_dir", lambda: tmp_path)  # else each run adds a library to the user's cache
    op, barrier = T.PixelOp("Threads", "px * 0.125 + 0.5"), threading.Barrier(6)

    def call(_):
        aug = T.Compose([op], seed=0)
        barrier.wait()
        return aug(noise(SHAPE, "float32"))

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(call, range(6)))
    assert count() == len(list(tmp_path.glob("*.so"))) == 1
    for result in results:
        assert_equal(result, noise(SHAPE, "float32") * np.float32(0.125) + np.float32(0.5), tolerance=EXACT)


def test_pixel_op_error_without_compiler_says_what_to_do(tmp_path):
    program = PROGRAM.replace(
        "print(", "import pytest\nfrom cuaug import BackendError\nwith pytest.raises(BackendError) as e: ("
    )
    program += "print(e.value)"
    for variables, message in (
        ({"CXX": None, "PATH": str(tmp_path)}, "none is installed: apt install g++"),
        ({"CXX": "no-such-compiler -O2"}, "CXX names no-such-compiler, which does not exist"),
        ({"CXX": f"{tmp_path} -O2"}, f"CXX names {tmp_path}, which is not a program"),
        ({"CXX": 'g++ "'}, """CXX is 'g++ "' (No closing quotation): set it to a C++17 compiler"""),
        ({"CXX": "false"}, "failed: set CXX to a C++17 compiler"),
    ):
        printed, _ = python(program, XDG_CACHE_HOME=str(tmp_path), **variables)
        assert message in printed, printed


def test_pixel_op_missing_compiler_breaks_nothing_else(tmp_path):
    program = """
import numpy as np
from cuaug import transforms as T
aug = T.Compose([T.RandomInvert(1.0), T.ColorJitter(contrast=(1, 1.01))])
T.PixelOp("Unused", "px")
print(aug(np.zeros((1, 2, 2, 3), np.uint8)).min())
"""
    assert python(program, PATH=str(tmp_path), CXX=None)[0] == "255"


@pytest.mark.parametrize("state", ["cannot be created", "a file", "open to others"])
def test_pixel_op_runs_without_usable_cache_folder(state, tmp_path):
    cache = tmp_path / "cache"
    if state == "a file":
        cache.write_text("")
    elif state == "open to others":
        (cache / "cuaug").mkdir(parents=True)
        (cache / "cuaug").chmod(0o777)
    folder = "/proc/nothing" if state == "cannot be created" else str(cache)
    message, _ = python(PROGRAM, XDG_CACHE_HOME=folder, TMPDIR=str(tmp_path))
    assert message == HALVED
    assert state != "open to others" or not list((cache / "cuaug").iterdir())
    assert not list(tmp_path.glob("cuaug-*"))  # the temporary folder of the process was removed


def test_pixel_op_creates_its_cache_folder_again(tmp_path):
    program = f"{PROGRAM}\nimport shutil\nshutil.rmtree({str(tmp_path)!r})\n{PROGRAM.replace('px * k', 'k * px')}"
    assert python(program, XDG_CACHE_HOME=str(tmp_path))[0].split("\n") == [HALVED] * 2
    assert len(list((tmp_path / "cuaug").iterdir())) == 1


def test_pixel_op_instruction_sets_agree(tmp_path):
    from cuaug import _native as native

    program = """
import sys, numpy as np
from cuaug import _native, transforms as T
_native.set_instruction_set(sys.argv[1])
x = np.linspace(0, 1, 2 * 40 * 50 * 3, dtype=np.float32).reshape(2, 40, 50, 3)
sys.stdout.buffer.write(T.PixelOp("Long", "pow(px, 1.5) * (1 - 0.3 * r2) + 0.1 * sin(20 * u)")(x).tobytes())
"""

    def child(isa):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, "-c", program, isa], capture_output=True, check=True, env=environment
        ).stdout

    first, *others = (np.frombuffer(child(isa), np.float32) for isa in native.instruction_sets())
    assert len(first) == 2 * 40 * 50 * 3
    for other in others:
        # A fused multiply-add rounds once, not twice: measured 1.2e-7.
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-6)
    assert len(list((tmp_path / "cuaug").iterdir())) == len(native.instruction_sets())
