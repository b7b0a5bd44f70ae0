"""Wheels that `make wheels` has built: names, libraries, symbols, size and contents.

The environment variable ``CUAUG_WHEELS`` names their folder. Runs without the conftest. Needs pytest and readelf; one
test also needs auditwheel.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

MAX_BYTES = 5 << 20
NAME = re.compile(r"cuaug-[\w.]+-(cp3\d+)-\1-manylinux_2_28_(x86_64|aarch64)\.whl")
# Those of glibc and GCC; manylinux_2_28 allows libstdc++ only with the symbols of GCC 8.
LIBRARIES = re.compile(r"(libc|libm|libpthread|libgcc_s|libstdc\+\+|ld-linux-(x86-64|aarch64))\.so\.\d")


FOLDER = os.environ.get("CUAUG_WHEELS")
if not FOLDER:
    pytest.skip("CUAUG_WHEELS names no folder with wheels", allow_module_level=True)


@pytest.fixture(params=sorted(Path(FOLDER).glob("*.whl")), ids=lambda path: path.name)
def wheel(request):
    return request.param


@pytest.fixture
def extension(wheel, tmp_path):
    """The compiled extension, unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".so")]
        return Path(archive.extract(name, tmp_path))


def readelf(extension, option):
    command = ["readelf", "--wide", option, extension]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_wheel_name_and_tags_agree(wheel):
    python, arch = NAME.fullmatch(wheel.name).groups()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (wheel_file,) = [name for name in names if name.endswith(".dist-info/WHEEL")]
        tags = Parser().parsestr(archive.read(wheel_file).decode()).get_all("Tag")
    assert tags == [f"{python}-{python}-manylinux_2_28_{arch}"]
    assert f"cuaug/_native.cpython-{python[2:]}-{arch}-linux-gnu.so" in names


def test_wheel_symbols_are_those_of_manylinux_2_28(wheel):
    pytest.importorskip("auditwheel")
    command = [sys.executable, "-m", "auditwheel", "show", "--json", wheel]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    glibc = re.fullmatch(r"manylinux_2_(\d+)_\w+", report["overall_tag"])
    assert glibc, report["overall_tag"]
    assert int(glibc[1]) <= 28
    assert report["external_libs"] == {}


def test_wheel_size(wheel):
    assert wheel.stat().st_size <= MAX_BYTES


def test_wheel_needs_only_libraries_that_every_system_has(extension):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf(extension, "--dynamic"))
    assert needed
    assert [name for name in needed if not LIBRARIES.fullmatch(name)] == []


def test_wheel_exports_the_module_only(extension):
    symbols = [line.split() for line in readelf(extension, "--dyn-syms").splitlines() if re.match(r"\s*\d+:", line)]
    exported = [fields[7] for fields in symbols if len(fields) > 7 and fields[6] not in ("UND", "ABS")]
    assert [name.partition("@")[0] for name in exported] == ["PyInit__native"]


def test_wheel_has_no_undefined_symbols_but_those_of_python_and_glibc(extension):
    """Symbols of manylinux_2_28's libraries have versions; auditwheel ignores symbols without one."""
    symbols = [line.split() for line in readelf(extension, "--dyn-syms").splitlines() if re.match(r"\s*\d+:", line)]
    undefined = [fields[7] for fields in symbols if len(fields) > 7 and fields[6] == "UND" and fields[4] == "GLOBAL"]
    assert [name for name in undefined if "@" not in name and not re.match("_?Py", name)] == []


def test_wheel_contains_jpeg_with_its_licences(wheel, extension):
    with zipfile.ZipFile(wheel) as archive:
        licences = [name for name in archive.namelist() if "/licenses/" in name]
        texts = b"".join(archive.read(name) for name in licences)
    assert b"Independent JPEG Group" in texts
    assert b"libjpeg-turbo version" in extension.read_bytes()
