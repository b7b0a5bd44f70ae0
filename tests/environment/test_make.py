"""`make demo` installs a wheel of ``dist`` instead of compiling, if the wheel fits and no source is newer."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")
# In place of the environment's Python: runs programs of `-c`, and records the arguments of all other calls. It fails
# for the wheel `refused`, as pip does for one that does not fit.
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then exec {python} "$@"; fi
echo "$*" >> {calls}
case "$*" in *{refused}*) exit 1 ;; esac
"""
VERSION = f"cp{sys.version_info[0]}{sys.version_info[1]}"
WHEEL = f"cuaug-0.1.0-{VERSION}-{VERSION}{sys.abiflags}-linux_{platform.machine()}.whl"


@pytest.fixture
def tree(tmp_path):
    """A source tree of one file per kind, with an environment whose Python records its calls."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    native = "cuaug/cpu/loop.cpp", "cuaug/cpu/jpeg/libjpeg.cmake", "cuaug/kernels/op.cuh"
    for name in ("pyproject.toml", "cuaug/__init__.py", "cuaug/_info.py", *native):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def cuda_extra(): pass\n" if path.suffix == ".py" else "")
        make_older(path, 300)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/.build").touch()
    make_older(tmp_path / ".venv/.build", 200)
    write_python(tmp_path)
    return tmp_path


def write_python(tree, refused="refused.whl"):
    path = tree / ".venv/bin/python"
    path.write_text(PYTHON.format(python=sys.executable, calls=tree / "calls", refused=refused))
    path.chmod(0o755)


def make_older(path, seconds):
    time = path.stat().st_mtime_ns - seconds * 10**9
    os.utime(path, ns=(time, time))


def write_wheel(tree, name=WHEEL, age=100):
    path = tree / "dist" / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    make_older(path, age)


def make_demo(tree):
    """Run `make demo`; return what it brought into the environment: "wheel", "compilation", both, or neither."""
    (tree / "calls").write_text("")
    command = ["make", "--silent", "demo", f"PYTHON={sys.executable}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    for stamp in (tree / ".venv").glob(".*"):
        make_older(stamp, 50)  # a source that is touched next is newer, although the clock of files is coarse
    calls = (tree / "calls").read_text().splitlines()
    assert calls[-1] == "notebooks/demo.py"
    ways = {"wheel": ".whl", "compilation": "--editable"}
    return [way for way, word in ways.items() if any(word in call for call in calls)]


def test_make_demo_compiles_without_a_wheel(tree):
    assert make_demo(tree) == ["compilation"]
    assert make_demo(tree) == []


def test_make_demo_installs_the_wheel(tree):
    write_wheel(tree)
    assert make_demo(tree) == ["wheel"]
    assert make_demo(tree) == []


@pytest.mark.parametrize(
    "source",
    [
        "cuaug/cpu/loop.cpp",
        "cuaug/cpu/jpeg/libjpeg.cmake",
        "cuaug/kernels/op.cuh",
        "cuaug/__init__.py",
        "pyproject.toml",
    ],
)
def test_make_demo_compiles_if_a_source_is_newer_than_the_wheel(tree, source):
    write_wheel(tree)
    assert make_demo(tree) == ["wheel"]
    (tree / source).touch()
    assert make_demo(tree) == ["compilation"]


@pytest.mark.parametrize("name", [WHEEL.replace(VERSION, "cp39"), WHEEL.replace(platform.machine(), "other")])
def test_make_demo_compiles_if_the_wheel_is_for_another_interpreter(tree, name):
    write_wheel(tree, name)
    assert make_demo(tree) == ["compilation"]


def test_make_demo_compiles_if_pip_refuses_the_wheel(tree):
    write_wheel(tree)
    write_python(tree, refused=WHEEL)
    assert make_demo(tree) == ["wheel", "compilation"]


def test_make_demo_keeps_an_editable_install(tree):
    assert make_demo(tree) == ["compilation"]
    write_wheel(tree, age=-100)
    (tree / "cuaug/__init__.py").touch()  # Python files are read where they stand
    assert make_demo(tree) == []
    assert (tree / ".venv/.install").exists()


def test_make_demo_with_a_wheel_marks_the_editable_install_as_outdated(tree):
    assert make_demo(tree) == ["compilation"]
    (tree / "cuaug/cpu/loop.cpp").touch()
    write_wheel(tree, age=-100)
    assert make_demo(tree) == ["wheel"]
    assert not (tree / ".venv/.install").exists()
